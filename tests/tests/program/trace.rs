//! `trace`: the JSON output contains the whole schedule, or the selected nodes or steps.

use crate::support::tools::{left_out, runs_all};
use crate::support::{printed, swapmeet, words};
use predicates::prelude::*;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::process::Command;
use swapmeet_core::delivery::boxes::{Axis, NodeSet};
use swapmeet_core::delivery::byte_counts::{
    ALL_BYTES, ByteCountUnits, ByteSelection, ByteSend, Redistribution,
};
use swapmeet_core::delivery::exchange::{Division, Rule};
use swapmeet_core::network::topology::{self, Route};
use swapmeet_core::simulation::Simulation;
use swapmeet_core::simulation::step::Totals;
use swapmeet_workloads::Workload;

fn document(topology: &str, algorithm: &str, workload: &str, more: &[&str]) -> Value {
    let line = format!(
        "trace --format json --topology {topology} --algorithm {algorithm} --workload {workload}"
    );
    let args = words(&line);
    let output = swapmeet(&[&args, more].concat()).output().unwrap();
    // There may be millions of sends, so the program writes them without `serde_json`. The text
    // must be the same as that of `serde_json`.
    for line in std::str::from_utf8(&output.stdout).unwrap().lines() {
        let line = line.strip_prefix(',').unwrap_or(line);
        let event = serde_json::from_str::<Value>(line).unwrap_or_default();
        if event.get("from").is_some() {
            assert_eq!(event.to_string(), line);
        }
    }
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().map(|list| list.iter().map(number).collect()).unwrap_or_default()
}

/// Converts a list of runs of numbers to a set of bits. `to` maps each number to the index of its
/// bit.
fn bits(runs: &Value, most: u64, to: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut words = vec![0; most.div_ceil(64) as usize];
    for run in runs.as_array().unwrap() {
        for at in number(&run[0])..=number(&run[1]) {
            words[(to(at) / 64) as usize] |= 1 << (to(at) % 64);
        }
    }
    words
}

fn replay(document: &Value) -> Totals {
    let head = &document["schedule"];
    let topology = topology::parse(head["topology"].as_str().unwrap()).unwrap();
    let workload = Workload::parse(head["workload"].as_str().unwrap()).unwrap();
    let task = workload.task(&topology, number(&head["seed"])).unwrap();
    let is_summed = task.collective.kind().sums;
    let mut simulation = Simulation::new(task, Vec::new()).unwrap();
    let mut homes: Vec<u64> = (0..topology.nodes()).collect();
    let (mut grid, mut segments) = (topology.nodes(), 1);
    // A schedule of byte counts needs a layout with its units before the first event.
    let events = document["events"].as_array().unwrap();
    if events.iter().any(|event| event["redistribute"].is_object()) {
        let units = ByteCountUnits {
            block_bytes: workload.block_bytes(),
            element_bytes: workload.element_bytes(),
        };
        simulation.layout(&[], Division::WHOLE, Some(units)).unwrap();
    }
    for event in events {
        if let Some(name) = event["phase"].as_str() {
            simulation.phase(name).unwrap();
        } else if event["rearrange"].is_boolean() {
            simulation.rearrange().unwrap();
        } else if let Some(r) = event["redistribute"].as_object() {
            let list =
                |key: &str| numbers(&r[key]).into_iter().map(|n| n as u32).collect::<Vec<u32>>();
            let (starts, firsts) = (list("starts"), list("firsts"));
            let [node, buckets, cycle, first] =
                ["node", "buckets", "cycle", "first"].map(|key| number(&r[key]));
            let redistribution =
                Redistribution { node, buckets, cycle, first, starts: &starts, firsts: &firsts };
            simulation.redistribute(&redistribution).unwrap();
        } else if event["layout"].is_object() {
            segments = number(&event["layout"]["segments"]);
            let placement = numbers(&event["layout"]["placement"]);
            if !placement.is_empty() {
                homes = numbers(&event["layout"]["homes"]);
                grid = placement.len() as u64;
            }
            if !simulation.moves_byte_counts() {
                let in_parts = event["layout"]["in_parts"].is_boolean();
                let division = Division { in_parts, segments: segments as u32 };
                simulation.layout(&[grid], division, None).unwrap();
            }
            for (node, physical) in (0..).zip(placement) {
                simulation.place(node, physical, homes[physical as usize] == node).unwrap();
            }
        } else if event["step"].is_u64() {
            while simulation.step_number() < number(&event["step"]) {
                simulation.step().unwrap();
            }
            let end = |key: &str| event.get(format!("virtual_{key}")).unwrap_or(&event[key]);
            let (from, to) = (number(end("from")), number(end("to")));
            let path = numbers(&event["path"]).into_iter().skip(1).collect();
            let route = event["path"].is_array().then_some(Route { path, ..Route::default() });
            let local = from == to;
            if event["share"].is_object() {
                let listed: Vec<(u64, u64)> = event["share"]["byte_counts"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|pair| (number(&pair[0]), pair[1].as_u64().unwrap_or(ALL_BYTES)))
                    .collect();
                let what = event["share"]["bucket"]
                    .as_u64()
                    .map_or(ByteSelection::Listed(&listed), ByteSelection::Bucket);
                simulation.send_bytes(&ByteSend { from, to, local, what }, route.as_ref()).unwrap();
                continue;
            }
            let mut sums = HashSet::new();
            for block in event["blocks"].as_array().unwrap() {
                // If boxes have equal destinations and segments, they form one send, because a sum
                // is sent whole.
                let value = (block["destinations"].to_string(), block["segments"].to_string());
                if is_summed && !sums.insert(value) {
                    continue;
                }
                let side = |key: &str| {
                    block.get(key).map(|runs| bits(runs, grid, |node| homes[node as usize]))
                };
                let origins = if is_summed { None } else { side("origins") };
                let destinations = side("destinations");
                let chosen =
                    block.get("segments").map(|runs| bits(runs, segments, |segment| segment));
                let o = origins.as_ref().map(|words| [Axis::Bits(words)]);
                let d = destinations.as_ref().map(|words| [Axis::Bits(words)]);
                let rule = Rule {
                    origins: o.as_ref().map_or(NodeSet::All, |axes| NodeSet::Axes(axes)),
                    destinations: d.as_ref().map_or(NodeSet::All, |axes| NodeSet::Axes(axes)),
                    segments: chosen.as_ref().map_or(Axis::All, |words| Axis::Bits(words)),
                    strict: true,
                    copy: event["copy"].is_boolean(),
                    combine: event["combine"].is_boolean(),
                    local,
                    ..Rule::new(from, to)
                };
                simulation.send(&rule, route.as_ref()).unwrap();
            }
        }
    }
    simulation.finish().unwrap()
}

#[test]
fn a_schedule_can_be_replayed_from_its_json() {
    for (topology, algorithm, workload) in [
        ("torus:8x8", "suh-shin", "uniform:1"),
        ("torus:6x6", "suh-shin", "uniform:64"),
        ("ring:16", "torus-broadcast", "broadcast/uniform:64"),
        ("torus:4x4", "torus-multiscatter", "uniform:8"),
        ("rdn:1(ring:3)", "rdn-alltoall", "uniform:8"),
        ("hypercube:3", "hypercube-scatter", "scatter/uniform:8,root=5"),
        ("mesh:3x4", "bruck", "irregular:dist=exponential,mean=64"),
        ("mesh:3x3", "linear", "permutation/transpose-2d:8"),
        ("ring:9", "two-stage", "uniform:90"),
        ("ring:9", "four-stage", "one-spike:max=90,rest=9"),
        ("ring:9", "binomial-reduce", "reduce/uniform:8,root=2"),
        ("mesh:2x3", "ring-allreduce", "allreduce/uniform:64"),
        ("ring:5", "linear", "reduce-scatter/uniform:8"),
    ] {
        let document = document(topology, algorithm, workload, &[]);
        let outcome = &document["outcome"];
        assert_eq!(outcome["status"], "ok", "{algorithm} on {topology}: {}", outcome["reason"]);
        let totals = replay(&document);
        let shown = (number(&outcome["steps"]), number(&outcome["messages"]));
        assert_eq!((totals.steps, totals.messages), shown, "{algorithm} on {topology}");
    }
}

#[test]
fn segments_have_whole_bytes() {
    let args = ["--machine", "paragon:ports=all"];
    let document = document("torus:4x4", "torus-broadcast", "broadcast/uniform:65", &args);
    let events = document["events"].as_array().unwrap();
    assert_eq!(events.iter().find_map(|event| event["layout"]["segments"].as_u64()), Some(2));
    let mut sends = events.iter().filter(|event| event["step"].is_u64()).peekable();
    assert!(sends.peek().is_some() && sends.all(|send| number(&send["bytes"]) == 33));
    assert_eq!(replay(&document).segments, 2);
}

/// In a reduction, each block is divided into one part for each node. For four nodes, a block of
/// ten bytes has parts of three bytes.
#[test]
fn parts_have_whole_bytes() {
    let document = document("ring:4", "ring-allreduce", "allreduce/uniform:10", &[]);
    let sends =
        document["events"].as_array().unwrap().iter().filter(|event| event["step"].is_u64());
    assert_eq!(sends.map(|send| number(&send["bytes"])).collect::<Vec<_>>(), [3; 24]);
}

/// In a ring, a node forwards the data that arrived in the previous step. A send of data that the
/// node had at the start does not wait.
#[test]
fn a_send_names_the_step_in_which_its_data_arrived() {
    let after = |algorithm: &str, workload: &str| -> Vec<(u64, Option<u64>)> {
        let document = document("ring:4", algorithm, workload, &[]);
        let sends =
            document["events"].as_array().unwrap().iter().filter(|event| event["step"].is_u64());
        sends.map(|send| (number(&send["step"]), send["after"].as_u64())).collect()
    };
    let of_steps =
        |after: [Option<u64>; 3]| (1..).zip(after).flat_map(|step| [step; 4]).collect::<Vec<_>>();
    assert_eq!(after("ring", "allgather/uniform:8"), of_steps([None, Some(1), Some(2)]));
    assert_eq!(after("pairwise", "uniform:8"), of_steps([None; 3]));
    let args = words("trace --topology ring:4 --algorithm ring --workload allgather/uniform:8");
    let text = printed(&args);
    assert_eq!(
        [1, 2, 3].map(|step| text.matches(&format!("(after step {step})")).count()),
        [4, 4, 0],
        "{text}"
    );
}

#[test]
fn one_step_or_one_node_can_be_selected() {
    let document = document("ring:4", "ring", "uniform:1", &["--step", "2", "--node", "3"]);
    let ends: Vec<(u64, u64, u64)> = document["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["step"].is_u64())
        .map(|event| (number(&event["step"]), number(&event["from"]), number(&event["to"])))
        .collect();
    assert_eq!(ends, [(2, 2, 3), (2, 3, 0)]);
    let args =
        ["trace", "--topology", "ring:4", "--algorithm", "ring", "--step", "2", "--node", "3"];
    let text = printed(&args);
    assert_eq!(text.lines().count(), 3, "a step and two messages: {text}");
    let no_node = ["trace", "--topology", "ring:4", "--algorithm", "ring", "--node", "4"];
    swapmeet(&no_node)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("expected a number below 4"));
}

/// The steps of a rank must not overlap. The parts of its time must add up to the time at which the
/// rank ends. The last of these times must be the time of the row.
#[test]
fn times_of_ranks_add_up_to_the_time_of_the_row() {
    let machine = |more: &str| format!("free:{more},byte_us=0.5,barrier_us=1");
    let models = words(
        "model=fluid,startup_us=3,hop_us=2 model=loggp,latency_us=2,overhead_us=3 \
        model=flat,startup_us=6,copy_byte_us=0.1,rearrange_byte_us=0.2 \
        model=flat,startup_us=6,copy_byte_us=0.1,rearrange_byte_us=0.2,mode=nonblocking",
    );
    for (more, (topology, algorithm, workload)) in models.into_iter().flat_map(|model| {
        let cases = [
            ("torus:2x4", "pairwise", "uniform:100"),
            // Under the model `flat`, the phases of this schedule are separated by barriers.
            ("torus:8x8", "suh-shin", "uniform:100"),
            ("torus:2x4", "bruck", "irregular:dist=exponential,mean=64"),
            ("ring:6", "ring-allreduce", "allreduce/uniform:600"),
        ];
        cases.map(|case| (model, case))
    }) {
        let machine = machine(more);
        let document = document(topology, algorithm, workload, &["--machine", &machine, "--times"]);
        let times = document["times"].as_array().unwrap();
        let us = |entry: &Value, key: &str| {
            entry[key].as_f64().unwrap_or_else(|| panic!("{key} of {entry}"))
        };
        let mut last = 0.0_f64;
        for of_rank in times.chunk_by(|a, b| a["rank"] == b["rank"]) {
            let mut end = 0.0;
            for entry in of_rank {
                assert!((us(entry, "posted") - end).abs() < 1e-9, "{machine}: {entry}");
                end = us(entry, "ended");
                let spent: f64 =
                    entry["kinds"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
                assert!((us(entry, "posted") + spent - end).abs() < 1e-6, "{machine}: {entry}");
            }
            last = last.max(end);
        }
        let run = ["run", "--topology", topology, "--algorithm", algorithm, "--workload", workload];
        let args = [&run[..], &["--machine", &machine, "--format", "json", "--quiet"]].concat();
        let row: Value = serde_json::from_slice(&swapmeet(&args).output().unwrap().stdout).unwrap();
        let time = row["time_us"].as_f64().unwrap();
        assert!((last / time - 1.0).abs() < 1e-6, "{machine}, {algorithm}: {last} {time}");
        assert_eq!(replay(&document).steps, number(&document["outcome"]["steps"]));
    }
}

/// Two ranks exchange 100 bytes. The start-up is 3 µs, a link takes 2 µs, and the transmission
/// takes 50 µs.
#[test]
fn times_of_ranks_are_printed_as_text() {
    let args =
        words("trace --topology fully-connected:2 --algorithm pairwise --workload uniform:100");
    let times = |more: &[&str]| {
        let machine =
            ["--times", "--machine", "free:model=fluid,startup_us=3,hop_us=2,byte_us=0.5"];
        let output = swapmeet(&[&args[..], &machine, more].concat()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split("times of ranks, in us\n").nth(1).unwrap().to_owned()
    };
    let head = "         rank        step      posted     started      waited       ended  into\n";
    let line = |rank: u32| {
        let kinds = "startup 3.000, transmission 50.000, propagation 2.000";
        format!(
            "            {rank}           1       0.000       3.000       3.000      55.000  {kinds}\n"
        )
    };
    let end = |rank: u32| {
        format!(
            "            {rank} ends at 55.000: startup 3.000, transmission 50.000, propagation 2.000\n"
        )
    };
    assert_eq!(times(&[]), [head, &line(0), &line(1), &end(0), &end(1)].concat());
    assert_eq!(times(&["--node", "1"]), [head, &line(1), &end(1)].concat());
    assert_eq!(times(&["--step", "1", "--node", "0"]), [head, &line(0)].concat());
    assert_eq!(times(&["--step", "2"]), head);
    assert_eq!(times(&["--summary"]), [end(0), end(1)].concat());
    let shared = ["trace", "--topology", "torus:2x2,ranks=2", "--algorithm", "pairwise", "--times"];
    swapmeet(&[&shared[..], &["--machine", "free:model=loggp"]].concat())
        .assert()
        .success()
        .stderr(predicate::str::contains("it needs ranks=1"));
    swapmeet(&[&args[..], &["--times", "--machine", "paragon"]].concat()).assert().code(2).stderr(
        predicate::str::contains("expected a machine of the model `flat`, `loggp` or `fluid`"),
    );
}

#[test]
fn a_trace_prints_the_schedule_as_the_papers_do() {
    let output = swapmeet(&["trace", "--topology", "torus:4x4", "--algorithm", "suh-shin"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let head: Vec<&str> = text.lines().take(6).collect();
    insta::assert_snapshot!(head.join("\n"), @r"
        Phase 3
          every node rearranges its data
          every node rearranges its data
          step 1: 16 messages, longest 8 blocks over 2 hops, link load 1 message
                (0,0) -> (0,2)     8 blocks  +dim2 from (0,0) for (*,2 3)
                (0,1) -> (2,1)     8 blocks  +dim1 from (0,1) for (2 3,*)
        ");
    assert_eq!(text.lines().filter(|l| l.contains(" -> ")).count(), 64);
    assert_eq!(text.matches("every node rearranges its data").count(), 3);
}

#[test]
fn a_trace_depends_on_machine_and_seed() {
    let trace = |args: &[&str]| {
        let output = swapmeet(&["trace"]).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let steps = |text: &str| text.lines().filter(|line| line.starts_with("  step ")).count();
    let broadcast =
        words("--topology ring:15 --algorithm torus-broadcast --workload broadcast/uniform:1");
    let with = |machine: &str| trace(&[&broadcast[..], &["--machine", machine]].concat());
    // The expected number of steps is `ceil(log_(2q + 1) 15)` for q virtual channels.
    assert_eq!(steps(&with("free:model=circuit,ports=all,virtual_channels=1")), 3);
    assert_eq!(steps(&with("free:model=circuit,ports=all,virtual_channels=2")), 2);
    let drawn = words(
        "--topology ring:4 --algorithm linear --workload irregular:dist=uniform,mean=100,cv=0.5",
    );
    let with = |seed: &str| trace(&[&drawn[..], &["--seed", seed]].concat());
    assert_eq!(with("42"), trace(&drawn));
    assert_ne!(with("42"), with("43"));
}

#[test]
fn a_trace_explains_virtual_nodes() {
    let last = |topology: &str| {
        let output = swapmeet(&["trace", "--topology", topology, "--algorithm", "suh-shin"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text.contains(")*"), text.lines().last().unwrap_or_default().to_owned())
    };
    let (marked, legend) = last("torus:3x3");
    assert!(marked && legend.starts_with("* a virtual node"), "{legend}");
    let (marked, legend) = last("torus:4x4");
    assert!(!marked && !legend.starts_with('*'), "{legend}");
}

fn perfetto(topology: &str, algorithm: &str, machine: &str) -> String {
    let line = format!(
        "trace --format perfetto --topology {topology} --algorithm {algorithm} \
        --workload uniform:100 --machine {machine}"
    );
    printed(&words(&line))
}

const MACHINES: [&str; 5] = [
    "free:model=fluid,startup_us=3,hop_us=2,byte_us=0.5,barrier_us=1",
    "free:model=loggp,latency_us=2,overhead_us=3,byte_us=0.5,order=data",
    "free:model=flat,startup_us=6,copy_byte_us=0.1,rearrange_byte_us=0.2",
    "paragon",
    "t3d",
];

/// Slices must be nested, and the slices of the parts must fill the slices that contain them. The
/// last slice must end at the time of the row. Each message must have two ends in time.
#[test]
fn a_perfetto_file_has_the_times_of_the_row() {
    for (machine, algorithm) in
        MACHINES.iter().flat_map(|m| ["pairwise", "suh-shin"].map(|algorithm| (m, algorithm)))
    {
        let document: Value =
            serde_json::from_str(&perfetto("torus:4x4", algorithm, machine)).unwrap();
        let time = document["otherData"]["time_us"].as_f64().unwrap();
        let mut tracks: HashMap<u64, Vec<&Value>> = HashMap::new();
        for event in document["traceEvents"].as_array().unwrap() {
            tracks.entry(number(&event["tid"])).or_default().push(event);
        }
        let is_close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * time;
        let (mut last, mut slices) = (0.0_f64, 0);
        let mut ends: HashMap<u64, [Vec<f64>; 2]> = HashMap::new();
        for events in tracks.values() {
            let (mut open, mut at): (Vec<(f64, Option<f64>)>, f64) = (Vec::new(), 0.0);
            for event in events.iter().filter(|event| event["ph"] != "M") {
                let ts = event["ts"].as_f64().unwrap();
                assert!(ts >= at, "{machine}, {algorithm}: {event}");
                at = ts;
                match event["ph"].as_str().unwrap() {
                    "B" => {
                        if let Some((from, inner)) = open.last() {
                            assert!(is_close(inner.unwrap_or(*from), ts), "a gap before {event}");
                        }
                        open.push((ts, None));
                    }
                    "E" => {
                        let (_, inner) = open.pop().unwrap();
                        assert!(inner.is_none_or(|inner| is_close(inner, ts)), "{event}");
                        if let Some((_, inner)) = open.last_mut() {
                            *inner = Some(ts);
                        }
                        slices += 1;
                        last = last.max(ts);
                    }
                    phase => {
                        assert_eq!(open.len(), 1, "a message belongs to a step: {event}");
                        let side = ["s", "f"].iter().position(|side| *side == phase).unwrap();
                        ends.entry(number(&event["id"])).or_default()[side].push(ts);
                    }
                }
            }
            assert!(open.is_empty(), "{machine}, {algorithm}");
        }
        assert!(is_close(last, time), "{machine}, {algorithm}: {last}, expected {time}");
        assert!(slices > 0 && !ends.is_empty(), "{machine}, {algorithm}");
        for [sent, received] in ends.values() {
            assert!(sent.len() == 1 && received.len() == 1 && sent[0] < received[0], "{machine}");
        }
    }
}

#[test]
fn perfetto_reads_its_file() {
    /// Prints the end of the last slice in ns, and the numbers of slices and of flows.
    const SCRIPT: &str = "
import sys
from perfetto.trace_processor import TraceProcessor
trace = TraceProcessor(trace=sys.argv[1])
one = lambda query: next(iter(trace.query(query))).x
print(one('select coalesce(max(ts + dur), 0) as x from slice'), \
one('select count(*) as x from slice'), one('select count(*) as x from flow'))";
    if !runs_all() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("times.json");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let output = Command::new("python3").args(["-c", SCRIPT]).arg(&file).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then(|| {
            text.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<u64>>()
        })
    };
    if read("{\"traceEvents\":[]}").is_none() {
        return left_out(
            "perfetto",
            "no `python3` with the module `perfetto` and its trace processor here",
        );
    }
    for machine in MACHINES {
        let text = perfetto("torus:4x4", "pairwise", machine);
        let document: Value = serde_json::from_str(&text).unwrap();
        let count = |phase: &str| {
            let events = document["traceEvents"].as_array().unwrap().iter();
            events.filter(|event| event["ph"] == phase).count() as u64
        };
        let seen = read(&text).unwrap();
        assert_eq!(seen[1..], [count("B"), count("s")], "{machine}");
        let time = document["otherData"]["time_us"].as_f64().unwrap() * 1e3;
        assert!((seen[0] as f64 - time).abs() <= 2.0, "{machine}: {} {time}", seen[0]);
    }
}
