//! Verifies every collective with every algorithm that implements it, on many sizes, and compares
//! steps and blocks with the source of the algorithm.

use crate::support::{row_of, rows, swapmeet, tools, words};
use serde_json::Value;
use std::collections::BTreeSet;
use swapmeet_core::cost::model::models;
use swapmeet_core::delivery::collective::{self, COLLECTIVES};
use swapmeet_results::{Record, Status, Verified};
use swapmeet_tests::project;

fn run(topologies: &[String], algorithm: &str, workload: &str) -> Vec<Record> {
    let mut args: Vec<&str> = topologies.iter().flat_map(|t| ["--topology", t.as_str()]).collect();
    args.extend([
        "--algorithm",
        algorithm,
        "--workload",
        workload,
        "--machine",
        "free:model=store-and-forward,byte_us=1",
    ]);
    let rows = rows(&args);
    for row in &rows {
        assert_eq!(
            (row.status, row.verified),
            (Status::Ok, Verified::Blocks),
            "{algorithm} on {}: {}",
            row.topology,
            row.reason
        );
    }
    rows
}

fn log2_up(n: u64) -> u64 {
    u64::from(n.next_power_of_two().trailing_zeros())
}

/// Checks, for each number of nodes, the number of steps and the sum of the longest messages in
/// blocks.
fn check(
    topologies: &[String],
    algorithm: &str,
    collective: &str,
    expected: impl Fn(u64) -> (u64, u64),
) {
    for row in run(topologies, algorithm, &format!("{collective}/uniform:1")) {
        let (steps, blocks) = expected(row.nodes);
        assert_eq!(
            (row.steps, row.critical_bytes),
            (Some(steps), Some(blocks.into())),
            "{algorithm}, {collective} on {}",
            row.topology
        );
    }
}

#[test]
fn hypercube_collectives_take_as_many_steps_as_dimensions() {
    let cubes: Vec<String> = (0..=9).map(|d| format!("hypercube:{d}")).collect();
    check(&cubes, "hypercube-broadcast", "broadcast", |n| (log2_up(n), log2_up(n)));
    check(&cubes, "hypercube-scatter", "scatter", |n| (log2_up(n), n - 1));
    check(&cubes, "hypercube-allgather", "allgather", |n| (log2_up(n), n - 1));
    check(&cubes, "hypercube-alltoall", "alltoall", |n| (log2_up(n), log2_up(n) * n / 2));
}

#[test]
fn algorithms_of_mpi_libraries_run_on_any_number_of_nodes() {
    let rings: Vec<String> =
        (1..=20).chain([63, 64, 65, 100]).map(|n| format!("ring:{n}")).collect();
    check(&rings, "pairwise", "alltoall", |n| (n - 1, n - 1));
    check(&rings, "ring", "alltoall", |n| (n - 1, n * (n - 1) / 2));
    check(&rings, "ring", "allgather", |n| (n - 1, n - 1));
    check(&rings, "bruck", "allgather", |n| (log2_up(n), n - 1));
    check(&rings, "bruck", "alltoall", |n| {
        let with_bit = |k: u64| (0..n).filter(|d| d >> k & 1 == 1).count() as u64;
        (log2_up(n), (0..log2_up(n)).map(with_bit).sum())
    });
    for collective in ["alltoall", "broadcast", "scatter", "gather", "allgather"] {
        check(&rings, "linear", collective, |n| if n == 1 { (0, 0) } else { (1, 1) });
    }
}

/// Recursive doubling takes `log2 p (alpha + m beta + m gamma)` under every model.
#[test]
fn every_model_charges_additions() {
    let us = |topology: &str, algorithm: &str, machine: &str| {
        let collective =
            if algorithm == "linear" { "reduce/uniform:64" } else { "allreduce/uniform:64" };
        let machine = format!("free:reduce_byte_us=0.25,byte_us=0.5,{machine}");
        let row = row_of(topology, algorithm, collective, &machine);
        assert_eq!(row.verified, Verified::Contributions, "{}", row.reason);
        assert!(row.lower_bound_us.unwrap() <= row.time_us.unwrap() + 1e-9, "{machine}");
        (row.time_us.unwrap(), row.reduction_us.unwrap())
    };
    for (machine, alpha, bytes) in [
        ("model=wormhole,startup_us=10", 10.0, 64.0),
        ("model=flat,startup_us=10", 10.0, 64.0),
        ("model=flat,mode=nonblocking,startup_us=10", 10.0, 64.0),
        ("model=loggp,overhead_us=2,latency_us=8", 2.0 * 2.0 + 8.0, 63.0),
        ("model=loggp,order=data,overhead_us=2,latency_us=8", 2.0 * 2.0 + 8.0, 63.0),
        ("model=loggp,order=barrier,overhead_us=2,latency_us=8", 2.0 * 2.0 + 8.0, 63.0),
        ("model=fluid,startup_us=10,hop_us=8", 10.0 + 8.0, 64.0),
        ("model=fluid,order=data,startup_us=10,hop_us=8", 10.0 + 8.0, 64.0),
        ("model=fluid,order=barrier,startup_us=10,hop_us=8", 10.0 + 8.0, 64.0),
    ] {
        let (time, reduction) = us("fully-connected:8", "recursive-doubling-allreduce", machine);
        let closed = 3.0 * (alpha + bytes * 0.5 + 64.0 * 0.25);
        assert!(
            (time - closed).abs() < 1e-6 && (reduction - 48.0).abs() < 1e-6,
            "{machine}: {time} ({reduction})"
        );
    }
    // The root receives four vectors at the same time, and then adds all of them.
    let (time, reduction) = us("fully-connected:5", "linear", "model=fluid,startup_us=10,hop_us=8");
    assert!(
        (time - (10.0 + 8.0 + 32.0 + 4.0 * 16.0)).abs() < 1e-6 && reduction == 64.0,
        "{time} ({reduction})"
    );
    // With `order=data`, a rank also waits until its additions are complete. There are p - 1 steps
    // of m/p bytes with additions, then p - 1 steps without.
    let (time, reduction) = us("ring:8", "ring-allreduce", "model=loggp,order=data,latency_us=8");
    assert!(
        (time - (14.0 * (8.0 + 3.5) + 7.0 * 2.0)).abs() < 1e-6 && reduction == 14.0,
        "{time} ({reduction})"
    );
}

/// On a ring, each block is forwarded from node to node, so each step sends the longest block.
#[test]
fn blocks_for_everyone_may_differ_in_size() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("counts.csv");
    std::fs::write(&file, "5\n0\n17\n1\n300\n4\n").unwrap();
    let of = |algorithm: &str, collective: &str, rest: &str| {
        let workload = format!("{collective}/matrix:{}{rest}", file.display());
        let row = run(&["ring:6".to_owned()], algorithm, &workload).remove(0);
        (
            row.steps.unwrap(),
            row.messages.unwrap(),
            row.total_bytes.unwrap(),
            row.critical_bytes.unwrap(),
        )
    };
    // One of the six blocks is empty, so it needs no message.
    assert_eq!(of("ring", "allgather", ""), (5, 25, 5 * 327, 5 * 300));
    assert_eq!(of("ring", "allgather", ",empty=send"), (5, 30, 5 * 327, 5 * 300));
    assert_eq!(of("linear", "allgather", ""), (1, 25, 5 * 327, 300));
    assert_eq!(of("bruck", "allgather", "").2, 5 * 327);
    assert_eq!(of("binomial-broadcast", "broadcast", ",root=4"), (3, 5, 5 * 300, 3 * 300));
    assert_eq!(of("linear", "scatter", ",root=4"), (1, 4, 27, 17));
    assert_eq!(of("linear", "gather", ",root=4"), (1, 4, 27, 17));
    let drawn =
        run(&["ring:6".to_owned()], "ring", "allgather/irregular:dist=uniform,mean=1000,cv=0.5")
            .remove(0);
    assert!(
        drawn.total_bytes.unwrap().is_multiple_of(5) && drawn.total_bytes != Some(5 * 6 * 1000)
    );
}

#[test]
fn a_larger_radix_takes_more_steps_and_forwards_fewer_blocks() {
    let with = |radix: u64| {
        run(&["ring:64".to_owned()], &format!("bruck:radix={radix}"), "uniform:1").remove(0)
    };
    let costs = [2, 4, 8, 64].map(|radix| (with(radix).steps, with(radix).critical_bytes));
    assert_eq!(costs, [(6, 192), (9, 144), (14, 112), (63, 63)].map(|(s, b)| (Some(s), Some(b))));
}

/// Returns the start-ups, the links, the transmitted blocks, and the blocks of the contention. A
/// start-up, a link and a byte each cost 1 µs, so each part of the time is also a count.
fn alone(topology: &str, algorithm: &str, ports: &str, bytes: u64) -> (f64, f64, f64, f64) {
    let machine = format!("free:model=wormhole,startup_us=1,hop_us=1,byte_us=1,ports={ports}");
    let workload = format!("uniform:{bytes}");
    let row = row_of(topology, algorithm, &workload, &machine);
    assert_eq!(
        (row.status, row.verified),
        (Status::Ok, Verified::Blocks),
        "{algorithm} on {topology}: {}",
        row.reason
    );
    let of = |part: Option<f64>| part.unwrap_or(f64::NAN);
    let [startup, links, sent, shared] =
        [row.startup_us, row.propagation_us, row.transmission_us, row.contention_us].map(of);
    (startup, links, sent / bytes as f64, shared / bytes as f64)
}

#[test]
fn exchanges_by_dimension_meet_the_bounds_of_rings_and_tori() {
    // In each direction, every link of the ring carries n^2/8 blocks. No schedule needs fewer.
    for n in [4_u64, 8, 12, 32] {
        let (steps, blocks) = (n as f64 / 2.0, (n * n) as f64 / 8.0);
        assert_eq!(
            alone(&format!("ring:{n}"), "half-ring", "all", 60),
            (steps, steps, blocks, 0.0),
            "{n}"
        );
    }
    assert_eq!(alone("ring:9", "half-ring", "all", 60), (4.0, 4.0, 10.0, 0.0));
    for (torus, d, n, nodes) in [
        ("torus:4x4", 2.0, 4.0, 16.0),
        ("torus:8x8", 2.0, 8.0, 64.0),
        ("torus:4x4x4", 3.0, 4.0, 64.0),
    ] {
        let expected = (d * n / 2.0, d * n / 2.0, n * nodes / 8.0, 0.0);
        assert_eq!(alone(torus, "dim-rotation", "all", 60), expected, "{torus}");
    }
    let (steps, _, blocks, _) = alone("torus:4x6", "by-dimension", "1", 1);
    assert_eq!((steps, blocks), (8.0, 3.0 * 6.0 + 5.0 * 4.0));
}

#[test]
fn algorithms_for_powers_of_two_suggest_general_ones() {
    let row = rows(&["--topology", "mesh:4x5", "--algorithm", "pex", "--workload", "uniform:1"])
        .remove(0);
    let reason = "20 nodes are not a power of two; pex-gen, pex-gen-shift and gen run on any number of nodes";
    assert_eq!((row.status, row.reason.as_str()), (Status::Unsupported, reason));
}

/// A step over h links takes `h (ts + L tw)`: Li, Peng & Chu, section III.
#[test]
fn store_and_forward_charges_each_hop() {
    let price = |topology: &str, algorithm: &str, workload: &str| {
        let machine = "free:model=store-and-forward,startup_us=100,byte_us=1";
        let row = row_of(topology, algorithm, workload, machine);
        (row.startup_us, row.transmission_us, row.contention_us, row.propagation_us)
    };
    // One hop per step: 3 start-ups and 1 + 2 + 4 blocks of 10 bytes.
    assert_eq!(
        price("hypercube:3", "hypercube-allgather", "allgather/uniform:10"),
        (Some(300.0), Some(70.0), Some(0.0), None)
    );
    // A message of 10 bytes to the opposite node crosses 2 links, and 2 messages share each link.
    let (startup, transmission, contention, _) = price("ring:4", "pairwise", "uniform:10");
    assert_eq!(
        (startup, transmission),
        (Some(100.0 * (1.0 + 2.0 + 1.0)), Some(10.0 * (1.0 + 2.0 + 1.0)))
    );
    assert_eq!(contention, Some(0.0), "the longest way is as long as two messages on one link");
}

/// A round takes `alpha + h delta + k L tau` (Spencer, chapter 2), where h is the number of links
/// of the longest circuit, and k circuits share a link.
#[test]
fn circuits_share_links_up_to_the_virtual_channels() {
    let price = |topology: &str, algorithm: &str, machine: &str| {
        let machine = format!("free:model=circuit,startup_us=100,hop_us=1,byte_us=0.5,{machine}");
        let row = row_of(topology, algorithm, "uniform:10", &machine);
        (row.startup_us, row.propagation_us, row.transmission_us, row.contention_us, row.note)
    };
    // In the shift by 2 on a ring of 4, all messages travel in the positive direction over 2 links,
    // so 2 circuits share each link.
    let (startup, hops, alone, shared, note) = price("ring:4", "gen", "virtual_channels=2");
    assert_eq!(
        (startup, hops, alone, shared),
        (Some(300.0), Some(1.0 + 2.0 + 1.0), Some(15.0), Some(5.0))
    );
    assert_eq!(note, "");
    let (startup, hops, alone, shared, note) = price("ring:4", "gen", "virtual_channels=1");
    // With one virtual channel, the second step takes two rounds, and no two messages of a round
    // share a link.
    assert_eq!(
        (startup, hops, alone, shared),
        (Some(400.0), Some(1.0 + 2.0 * 2.0 + 1.0), Some(20.0), Some(0.0))
    );
    assert_eq!(
        note,
        "run in rounds: up to 2 simultaneous circuits on a link with virtual_channels=1"
    );
    let (.., note) = price("ring:4", "linear", "ports=2");
    assert_eq!(
        note,
        "run in rounds: up to 3 simultaneous messages at a node with ports=2, up to 3 simultaneous circuits on a link with virtual_channels=1"
    );
}

/// The transmission time of a message depends on its length and on the largest number of circuits
/// on a link of its route. It does not depend on the number of bytes on a link.
#[test]
fn the_most_multiplexed_circuit_decides_not_the_fullest_link() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.csv");
    // On a line of 3 nodes, the messages from 0 to 2 and from 1 to 2 share the last link.
    std::fs::write(&file, "0,0,10\n0,0,30\n0,0,0\n").unwrap();
    let workload = format!("matrix:{}", file.display());
    let machine = "free:model=circuit,byte_us=1,ports=all,virtual_channels=9";
    let row = row_of("mesh:3", "linear", &workload, machine);
    assert_eq!((row.transmission_us, row.contention_us), (Some(30.0), Some(2.0 * 30.0 - 30.0)));
}

#[test]
fn no_schedule_beats_its_lower_bound() {
    let dir = tempfile::tempdir().unwrap();
    let star = dir.path().join("star");
    std::fs::write(&star, "0 1\n0 2\n0 3\n0 4\n0 5\n").unwrap();
    let star = format!("graph:{}", star.display());
    let petersen = format!("graph:{}", project("workloads/graphs/petersen.txt").display());
    let topologies = [
        "torus:4x6",
        "mesh:5x3",
        "ring:7",
        "hypercube:4",
        "fully-connected:9",
        "fat-tree:2x3",
        "rdn:1(ring:3)",
        "torus:1x1",
        &petersen,
        &star,
    ];
    let algorithms = words(
        "suh-shin gen pex-gen-shift linear ring bruck hypercube-alltoall hypercube-broadcast hypercube-scatter \
        hypercube-allgather torus-broadcast torus-scatter torus-gather torus-gossip torus-multiscatter \
        torus-permutation rdn-alltoall rdn-broadcast rdn-scatter rdn-allgather direct two-stage row-column \
        four-stage",
    );
    let workloads = words(
        "uniform:0 uniform:100 one-spike:max=9,rest=0 one-spike:max=0,rest=5 \
        irregular:dist=pareto,mean=100,cv=1 one-spike:max=1000,rest=1 broadcast/uniform:100 \
        scatter/uniform:100 gather/uniform:100 scatter/irregular:dist=lognormal,mean=60,cv=1 \
        gather/one-spike:max=9,rest=0 allgather/uniform:100 permutation/reflect:100 \
        permutation/translate:100,by=2",
    );
    let mut machines = words(
        "delta paragon:model=circuit,virtual_channels=2,ports=2 \
        paragon:model=store-and-forward,ports=2 \
        myrinet:rearrange_byte_us=0.1,mode=nonblocking,buffers=2,ports=3 \
        free:model=loggp,latency_us=3,overhead_us=0.1,byte_us=0.1,rendezvous_bytes=90,barrier_us=5 \
        free:model=fluid,hop_us=0.1,byte_us=0.1,injection_byte_us=0.2,fairness=equal,barrier_us=5",
    );
    if tools::runs_all() {
        machines.extend(words(
            "paragon paragon:ports=all paragon:model=circuit,virtual_channels=3,ports=all \
            paragon:model=store-and-forward sp2 sp2:mode=nonblocking \
            paragon:model=flat,ports=all,copy_byte_us=0.2 \
            free:model=loggp,latency_us=3,overhead_us=1.5,gap_us=2,byte_us=0.01,overhead_byte_us=0.005 \
            free:model=fluid,startup_us=2,hop_us=0.5,byte_us=0.1",
        ));
    }
    fn flags<'a>(flag: &'a str, list: &[&'a str]) -> Vec<&'a str> {
        list.iter().flat_map(|v| [flag, *v]).collect()
    }
    let plugins = swapmeet_tests::bundled_plugins();
    let mut priced = 0;
    for collective in COLLECTIVES {
        let supports = |name: &&str| {
            let algorithm = plugins.algorithm(name).unwrap();
            collective::of_bits(algorithm.collectives).any(|kind| kind.word == collective.word)
        };
        let of_collective = |workload: &&str| {
            workload.split_once('/').map_or("alltoall", |(word, _)| word) == collective.word
        };
        let algorithms: Vec<&str> = algorithms.iter().copied().filter(supports).collect();
        let workloads: Vec<&str> = workloads.iter().copied().filter(of_collective).collect();
        if algorithms.is_empty() || workloads.is_empty() {
            continue;
        }
        let args = [
            flags("--topology", &topologies),
            flags("--algorithm", &algorithms),
            flags("--workload", &workloads),
            flags("--machine", &machines),
        ]
        .concat();
        for row in rows(&args) {
            let case =
                format!("{} on {}, {}, {}", row.algorithm, row.topology, row.workload, row.machine);
            if row.status == Status::Unsupported {
                continue;
            }
            assert_eq!(row.status, Status::Ok, "{case}: {}", row.reason);
            assert_ne!(row.verified, Verified::None, "{case}");
            let (time, bound) = (row.time_us.unwrap(), row.lower_bound_us.unwrap());
            assert!(bound <= time + 1e-6, "{case}: {bound} us is to be the least, {time} us");
            priced += 1;
        }
    }
    assert!(priced > 267 * machines.len(), "{priced} rows");
}

#[test]
fn no_model_charges_less_than_its_own_bound() {
    let machines: Vec<String> = models()
        .iter()
        .map(|model| {
            let costs = model
                .parameters
                .iter()
                .map(|parameter| parameter.key())
                .filter(|key| key.ends_with("_us"));
            let costs: Vec<String> = (1..)
                .zip(costs)
                .map(|(i, key)| format!(",{key}={}", 0.25 * f64::from(i)))
                .collect();
            format!("free:model={model}{}", costs.concat())
        })
        .collect();
    let mut args = Vec::new();
    for (flag, values) in [
        (
            "--topology",
            &["mesh:3x4", "ring:7", "hypercube:3", "fat-tree:2x3", "fully-connected:5"][..],
        ),
        (
            "--algorithm",
            &[
                "pairwise",
                "linear",
                "bruck",
                "ring",
                "binomial-broadcast",
                "ring-allreduce",
                "binomial-gather",
            ],
        ),
        (
            "--workload",
            &["uniform:0", "uniform:100", "one-spike:max=900,rest=1", "allgather/uniform:64"],
        ),
        ("--workload", &["broadcast/uniform:64", "gather/uniform:64", "allreduce/uniform:256"]),
    ] {
        args.extend(values.iter().flat_map(|value| [flag, value]));
    }
    args.extend(machines.iter().flat_map(|machine| ["--machine", machine]));
    let rows: Vec<Record> =
        rows(&args).into_iter().filter(|row| row.status != Status::Unsupported).collect();
    // A bound of 0 would make the comparison trivial, so it is allowed only if nothing is moved.
    for row in &rows {
        let case =
            format!("{} on {}, {}, {}", row.algorithm, row.topology, row.workload, row.machine);
        let (Some(time), Some(bound)) = (row.time_us, row.lower_bound_us) else {
            panic!("{case}: {}", row.reason)
        };
        assert!(bound <= time * (1.0 + 1e-9), "{case}: {bound} us is to be the least, {time} us");
        assert!(
            time > 0.0 && (bound > 0.0 || row.workload == "uniform:0"),
            "{case}: {bound} and {time} us"
        );
    }
    for model in models() {
        assert!(rows.iter().filter(|row| row.model == model.name).count() > 50, "{model}");
    }
}

#[test]
fn the_page_of_costs_has_every_bundled_algorithm_and_no_other() {
    let page = std::fs::read_to_string(project("docs/algorithms.md")).unwrap();
    let listed = swapmeet(&["list", "algorithms", "--format", "json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let listed: BTreeSet<&str> =
        listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    // The first column of the tables of costs contains one or more names in backticks.
    let costs: String = page.split("## ").filter(|part| !part.starts_with("Parameters")).collect();
    let firsts = costs.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let on_page: BTreeSet<&str> =
        firsts.flat_map(|(names, _)| names.trim_end_matches('`').split("` `")).collect();
    assert_eq!(on_page, listed);
}

#[test]
fn the_page_of_parameters_has_the_default_of_every_parameter() {
    let page = std::fs::read_to_string(project("docs/algorithms.md")).unwrap();
    let table = page.split("## Parameters").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut on_page: Vec<String> = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [names, parameter, default, source] = cells[..] else { panic!("{line}") };
        assert!(!source.is_empty(), "{line}");
        let [parameter, default] = [parameter, default].map(|cell| cell.trim_matches('`'));
        for name in names.split(' ').map(|name| name.trim_matches('`')) {
            on_page.push(format!("{name}:{parameter}={default}"));
        }
    }
    on_page.sort();
    let listed = swapmeet(&["list", "algorithms", "--format", "json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    // `parameters` is a text such as `radix=2 (its meaning); group=.. (its meaning)`.
    let is_key = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let mut of_program: Vec<String> = Vec::new();
    for row in listed.as_array().unwrap() {
        let (name, parameters) =
            (row["name"].as_str().unwrap(), row["parameters"].as_str().unwrap());
        let is_parameter = |word: &&str| {
            word.split_once('=').is_some_and(|(key, _)| !key.is_empty() && key.chars().all(is_key))
        };
        let starts = parameters.split("; ").filter_map(|part| part.split(" (").next());
        of_program.extend(starts.filter(is_parameter).map(|word| format!("{name}:{word}")));
    }
    of_program.sort();
    assert_eq!(on_page, of_program);
}
