//! Compares `suh-shin` with an independent implementation that moves every block
//! (`fixtures/suh-shin.json`).

use super::claims;
use crate::support::{rows, swapmeet, words};
use serde_json::Value;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status, Verified};

fn fixture() -> Value {
    serde_json::from_str(include_str!("../../fixtures/suh-shin.json")).unwrap()
}

fn run(kind: &str, size: &str) -> Record {
    let line = format!(
        "--topology {kind}:{size} --algorithm suh-shin --workload uniform:1 --machine paragon"
    );
    let args = words(&line);
    rows(&args).pop().unwrap()
}

fn each_size(group: &str, mut check: impl FnMut(&Record, &Value)) {
    let fixture = fixture();
    let mut sizes = 0;
    for (kind, of_kind) in fixture[group].as_object().unwrap() {
        for (size, expected) in of_kind.as_object().unwrap() {
            let row = run(kind, size);
            assert_eq!(row.verified, Verified::Blocks, "{kind}:{size}: {}", row.reason);
            check(&row, expected);
            sizes += 1;
        }
    }
    assert!(sizes >= 7);
}

fn agrees(row: &Record, expected: &Value) {
    for (name, ours) in [
        ("steps", row.steps.map(u128::from)),
        ("blocks", row.critical_bytes),
        ("hops", row.critical_hops.map(u128::from)),
        ("messages", row.messages.map(u128::from)),
        ("block_hops", row.total_hop_bytes),
        ("max_contention", row.max_link_messages.map(u128::from)),
        ("peak_held", row.peak_node_bytes),
    ] {
        assert_eq!(ours, expected[name].as_u64().map(u128::from), "{}: {name}", row.topology);
    }
}

#[test]
fn sizes_without_virtual_nodes_agree_in_every_value() {
    each_size("exact_sizes", |row, expected| {
        agrees(row, expected);
        assert_eq!(row.rearrangements, expected["rearrangements"].as_u64(), "{}", row.topology);
        assert_eq!((row.max_sends, row.max_receives), (Some(1), Some(1)));
        let barriers = row.barrier_us.unwrap() / barrier(row.nodes);
        assert_eq!(barriers, expected["barriers"].as_f64().unwrap(), "{}: barriers", row.topology);
    });
}

/// The Paragon's barrier takes 126 d - 113 µs, where d is log2 of the nodes, rounded up.
fn barrier(nodes: u64) -> f64 {
    126.0 * (nodes as f64).log2().ceil() - 113.0
}

#[test]
fn sizes_with_virtual_nodes_agree_in_every_value() {
    each_size("virtual_fold", agrees);
}

#[test]
fn the_schedule_agrees_step_by_step() {
    let mut checked = 0;
    each_size("exact_sizes", |row, expected| {
        let Some(steps) = expected["per_step"].as_array() else { return };
        let args = ["trace", "--summary", "--algorithm", "suh-shin", "--topology", &row.topology];
        let text = String::from_utf8(swapmeet(&args).output().unwrap().stdout).unwrap();
        // A line of the printed schedule is, for example: "step 3: 64 messages, longest 32 blocks
        // over 4 hops, link load 1 message".
        let ours: Vec<[u64; 3]> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("step "))
            .map(|line| {
                let numbers: Vec<u64> =
                    line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                [numbers[0], numbers[1], numbers[2]]
            })
            .collect();
        let theirs: Vec<[u64; 3]> =
            steps.iter().map(|step| [3, 4, 5].map(|i: usize| step[i].as_u64().unwrap())).collect();
        assert_eq!(ours, theirs, "{}", row.topology);
        checked += 1;
    });
    assert!(checked >= 10);
}

#[test]
fn any_size_is_verified_without_contention() {
    let mut topologies = Vec::new();
    for kind in ["torus", "mesh"] {
        for r in 1..=9 {
            topologies.extend((1..=9).map(|c| format!("{kind}:{r}x{c}")));
        }
        for x in 1..=4 {
            topologies
                .extend((1..=5).flat_map(|y| (1..=3).map(move |z| format!("{kind}:{x}x{y}x{z}"))));
        }
        topologies.push(format!("{kind}:3x5x2x4"));
    }
    let mut args: Vec<&str> = topologies.iter().flat_map(|t| ["--topology", t.as_str()]).collect();
    args.extend(["--algorithm", "suh-shin", "--workload", "uniform:1"]);
    for row in rows(&args) {
        assert_eq!(row.verified, Verified::Blocks, "{}: {}", row.topology, row.reason);
        let shared = (row.max_link_messages, row.max_sends, row.max_receives);
        let expected = if row.nodes == 1 { Some(0) } else { Some(1) };
        assert_eq!(shared, (expected, expected, expected), "{}", row.topology);
    }
}

/// The misprint in phase 4 has an effect only on large networks of three dimensions.
#[test]
fn the_misprint_of_phase_4_leaves_blocks_behind() {
    let row = |algorithm| claims::row(algorithm, "torus:8x8x8", ProofScope::Full);
    let misprint = row("suh-shin-3d-phase-4");
    assert_eq!(misprint.status, Status::Invalid);
    assert!(misprint.reason.contains("missing in total: 131072 blocks"), "{}", misprint.reason);
    let mended = row("suh-shin-mended");
    assert_eq!((mended.status, mended.verified), (Status::Ok, Verified::Blocks));
}
