//! `trace`: what it prints for other programs is the whole schedule, and what is asked for alone is that alone.

use crate::support::swapmeet;
use predicates::prelude::*;
use serde_json::Value;
use std::collections::HashSet;
use swapmeet_core::delivery::boxes::{Axis, NodeSet};
use swapmeet_core::delivery::byte_counts::{ALL_BYTES, Redistribution, Share, Units, What};
use swapmeet_core::delivery::exchange::{Division, Rule};
use swapmeet_core::network::topology::{self, Route};
use swapmeet_core::simulation::Simulation;
use swapmeet_core::simulation::step::Totals;
use swapmeet_workloads::Workload;

fn document(topology: &str, algorithm: &str, workload: &str, more: &[&str]) -> Value {
    let args = ["trace", "--format", "json", "--topology", topology, "--algorithm", algorithm, "--workload", workload];
    let output = swapmeet(&[&args, more].concat()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().map(|list| list.iter().map(number).collect()).unwrap_or_default()
}

/// The bits of a list of runs, each number as `to` says.
fn bits(runs: &Value, most: u64, to: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut words = vec![0; most.div_ceil(64) as usize];
    for run in runs.as_array().unwrap() {
        for at in number(&run[0])..=number(&run[1]) {
            words[(to(at) / 64) as usize] |= 1 << (to(at) % 64);
        }
    }
    words
}

/// Runs a schedule again from nothing but its document.
fn replay(document: &Value) -> Totals {
    let head = &document["schedule"];
    let topology = topology::parse(head["topology"].as_str().unwrap()).unwrap();
    let workload = Workload::parse(head["workload"].as_str().unwrap()).unwrap();
    let task = workload.task(&topology, number(&head["seed"])).unwrap();
    let is_summed = task.collective.kind().sums;
    let mut simulation = Simulation::new(task, Vec::new()).unwrap();
    let mut homes: Vec<u64> = (0..topology.nodes()).collect();
    let (mut grid, mut segments) = (topology.nodes(), 1);
    let events = document["events"].as_array().unwrap();
    if events.iter().any(|event| event["redistribute"].is_object()) {
        let units = Units { block_bytes: workload.block_bytes(), element_bytes: workload.element_bytes() };
        simulation.layout(&[], Division::WHOLE, Some(units)).unwrap();
    }
    for event in events {
        if let Some(name) = event["phase"].as_str() {
            simulation.phase(name).unwrap();
        } else if event["rearrange"].is_boolean() {
            simulation.rearrange().unwrap();
        } else if let Some(r) = event["redistribute"].as_object() {
            let list = |key: &str| numbers(&r[key]).into_iter().map(|n| n as u32).collect::<Vec<u32>>();
            let (starts, firsts) = (list("starts"), list("firsts"));
            let [node, buckets, cycle, first] = ["node", "buckets", "cycle", "first"].map(|key| number(&r[key]));
            let redistribution = Redistribution { node, buckets, cycle, first, starts: &starts, firsts: &firsts };
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
                let what = event["share"]["bucket"].as_u64().map_or(What::Listed(&listed), What::Bucket);
                simulation.send_shares(&Share { from, to, local, what }, route.as_ref()).unwrap();
                continue;
            }
            let mut sums = HashSet::new();
            for block in event["blocks"].as_array().unwrap() {
                // Boxes of the same values are one send: what was summed goes as a whole.
                let value = (block["destinations"].to_string(), block["segments"].to_string());
                if is_summed && !sums.insert(value) {
                    continue;
                }
                let side = |key: &str| block.get(key).map(|runs| bits(runs, grid, |node| homes[node as usize]));
                let origins = if is_summed { None } else { side("origins") };
                let destinations = side("destinations");
                let chosen = block.get("segments").map(|runs| bits(runs, segments, |segment| segment));
                let o = origins.as_ref().map(|words| [Axis::Bits(words)]);
                let d = destinations.as_ref().map(|words| [Axis::Bits(words)]);
                let rule = Rule {
                    from,
                    to,
                    origins: o.as_ref().map_or(NodeSet::All, |axes| NodeSet::Axes(axes)),
                    destinations: d.as_ref().map_or(NodeSet::All, |axes| NodeSet::Axes(axes)),
                    segments: chosen.as_ref().map_or(Axis::All, |words| Axis::Bits(words)),
                    strict: true,
                    copy: event["copy"].is_boolean(),
                    combine: event["combine"].is_boolean(),
                    local,
                };
                simulation.send(&rule, route.as_ref()).unwrap();
            }
        }
    }
    simulation.finish().unwrap()
}

#[test]
fn a_schedule_can_be_run_again_from_its_document() {
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
        let told = (number(&outcome["steps"]), number(&outcome["messages"]));
        assert_eq!((totals.steps, totals.messages), told, "{algorithm} on {topology}");
    }
}

/// Fractions of a byte don't travel: a segment of a block of 65 bytes in two has 33.
#[test]
fn bytes_of_segments_are_whole() {
    let args = ["--machine", "paragon:ports=all"];
    let document = document("torus:4x4", "torus-broadcast", "broadcast/uniform:65", &args);
    let events = document["events"].as_array().unwrap();
    assert_eq!(events.iter().find_map(|event| event["layout"]["segments"].as_u64()), Some(2));
    let mut sends = events.iter().filter(|event| event["step"].is_u64()).peekable();
    assert!(sends.peek().is_some() && sends.all(|send| number(&send["bytes"]) == 33));
    assert_eq!(replay(&document).segments, 2);
}

/// In a reduction blocks are cut into a part for each node before that: three bytes of ten, of four nodes.
#[test]
fn bytes_of_parts_are_whole() {
    let document = document("ring:4", "ring-allreduce", "allreduce/uniform:10", &[]);
    let sends = document["events"].as_array().unwrap().iter().filter(|event| event["step"].is_u64());
    assert_eq!(sends.map(|send| number(&send["bytes"])).collect::<Vec<_>>(), [3; 24]);
}

/// A ring passes on what came in the step before; a node that sends what it had all along waits for nothing.
#[test]
fn a_send_says_after_which_step_it_can_be_made() {
    let after = |algorithm: &str, workload: &str| -> Vec<(u64, Option<u64>)> {
        let document = document("ring:4", algorithm, workload, &[]);
        let sends = document["events"].as_array().unwrap().iter().filter(|event| event["step"].is_u64());
        sends.map(|send| (number(&send["step"]), send["after"].as_u64())).collect()
    };
    let of_steps = |after: [Option<u64>; 3]| (1..).zip(after).flat_map(|step| [step; 4]).collect::<Vec<_>>();
    assert_eq!(after("ring", "allgather/uniform:8"), of_steps([None, Some(1), Some(2)]));
    assert_eq!(after("pairwise", "uniform:8"), of_steps([None; 3]));
    let args = ["trace", "--topology", "ring:4", "--algorithm", "ring", "--workload", "allgather/uniform:8"];
    let text = String::from_utf8(swapmeet(&args).output().unwrap().stdout).unwrap();
    assert_eq!([1, 2, 3].map(|step| text.matches(&format!("(after step {step})")).count()), [4, 4, 0], "{text}");
}

#[test]
fn one_step_or_one_node_can_be_asked_for() {
    let document = document("ring:4", "ring", "uniform:1", &["--step", "2", "--node", "3"]);
    let ends: Vec<(u64, u64, u64)> = document["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["step"].is_u64())
        .map(|event| (number(&event["step"]), number(&event["from"]), number(&event["to"])))
        .collect();
    assert_eq!(ends, [(2, 2, 3), (2, 3, 0)]);
    let args = ["trace", "--topology", "ring:4", "--algorithm", "ring", "--step", "2", "--node", "3"];
    let text = String::from_utf8(swapmeet(&args).output().unwrap().stdout).unwrap();
    assert_eq!(text.lines().count(), 3, "a step and two messages: {text}");
    let no_node = ["trace", "--topology", "ring:4", "--algorithm", "ring", "--node", "4"];
    swapmeet(&no_node).assert().code(2).stderr(predicate::str::contains("expected a number below 4"));
}
