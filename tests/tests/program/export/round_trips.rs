//! An exported schedule that is read back must give the same row, on every family of topologies,
//! with several ranks on a node, and with other placements of ranks.

use super::exports;
use crate::support::rows;
use std::path::Path;
use swapmeet_core::network::topology::{families, parse};
use swapmeet_results::{Record, Status};
use tempfile::tempdir;

fn measured(row: &Record) -> Vec<String> {
    let kept = [
        "machine",
        "status",
        "reason",
        "verified",
        "time_us",
        "startup_us",
        "transmission_us",
        "propagation_us",
        "contention_us",
        "reduction_us",
        "lower_bound_us",
        "steps",
        "messages",
        "critical_bytes",
        "critical_hops",
        "total_bytes",
        "total_hop_bytes",
        "max_link_messages",
        "sum_link_messages",
        "max_sends",
        "max_receives",
    ];
    let named = swapmeet_results::columns().zip(row.fields());
    named
        .filter(|(name, _)| kept.contains(name))
        .map(|(name, field)| format!("{name}={field}"))
        .collect()
}

/// Returns the number of files that can be read back, or 0 if the algorithm does not support this
/// case.
fn compared(folder: &Path, case: [&str; 3], formats: &[&str]) -> usize {
    let [topology, algorithm, workload] = case;
    let file = |format: &str| folder.join(format!("schedule.{format}"));
    for format in formats {
        if !exports(format, case, &["--force"], &file(format)) {
            return 0;
        }
    }
    let read = |format: &&str| {
        let plugin = if *format == "json" { "schedule" } else { format };
        format!("{plugin}:file={}", file(format).display())
    };
    let files: Vec<String> = formats.iter().map(read).collect();
    let mut args = vec!["--topology", topology, "--workload", workload, "--seed", "7"];
    for machine in ["paragon", "free:model=fluid,startup_us=1,byte_us=0.01,hop_us=0.5"] {
        args.extend(["--machine", machine]);
    }
    for algorithm in [algorithm].into_iter().chain(files.iter().map(String::as_str)) {
        args.extend(["--algorithm", algorithm]);
    }
    let rows = rows(&args);
    let of = |name: &str| -> Vec<Vec<String>> {
        rows.iter().filter(|row| row.algorithm == name).map(measured).collect()
    };
    let planned = of(algorithm);
    assert_eq!(planned.len(), 2, "{case:?}");
    assert!(rows[0].status == Status::Ok, "{case:?}: {}", rows[0].reason);
    files.iter().for_each(|file| assert_eq!(of(file), planned, "{case:?}, {file}"));
    files.len()
}

/// With `SWAPMEET_TESTS=all`, each family has three placements of ranks; otherwise the families
/// take turns. The example for graphs is a file with three bandwidths.
#[test]
fn every_format_that_can_be_read_keeps_the_row_on_every_topology_family() {
    let folder = tempdir().unwrap();
    let graph = folder.path().join("graph.txt");
    std::fs::write(&graph, "0 1 2\n1 2 4\n2 3\n3 4 2\n4 0\n1 4\n").unwrap();
    let graph = format!("graph:{}", graph.display());
    for (number, family) in families().iter().enumerate() {
        let example = if family.example.is_empty() { &graph } else { family.example };
        let places = ["", ",ranks=2", ",place=random:5"];
        let own = std::slice::from_ref(&places[number % places.len()]);
        for place in if swapmeet_tests::runs_all() { &places } else { own } {
            let topology = format!("{example}{place}");
            // MSCCL allows 64 thread blocks per GPU, and `pairwise` needs one thread block for each
            // peer.
            let is_small = parse(&topology).is_ok_and(|topology| topology.nodes() <= 64);
            let formats: &[&str] = if is_small { &["json", "msccl"] } else { &["json"] };
            assert!(compared(folder.path(), [&topology, "pairwise", "uniform:64"], formats) > 0);
        }
    }
}

#[test]
fn files_keep_requested_routes_copies_sums_and_random_routing() {
    let folder = tempdir().unwrap();
    for (topology, algorithm, workload) in [
        // A ring of two nodes has two links. A path that is given as a list of nodes does not
        // distinguish them.
        ("ring:2", "dim-rotation", "uniform:64"),
        ("torus:2x2", "dim-rotation", "uniform:64"),
        ("torus:3x4,place=random:3", "dim-rotation", "uniform:64"),
        ("ring:8,place=random:3", "half-ring", "uniform:64"),
        ("torus:4x4", "suh-shin", "uniform:64"),
        ("hypercube:3,ranks=2", "ring", "allgather/uniform:64"),
        ("dragonfly:3x2x2,ranks=2", "ring-allreduce", "allreduce/uniform:768"),
        ("fat-tree:2x3,place=random:3", "binomial-broadcast", "broadcast/uniform:64"),
        ("fat-tree:2x3,routing=ecmp", "pairwise", "uniform:64"),
        ("torus:3x4,ranks=2,routing=valiant", "pairwise", "uniform:64"),
        ("groups:2x4,inside=9", "bruck", "uniform:64"),
        // The schedule requests a path over switches.
        ("fat-tree:2x3", "flow", "uniform:64"),
        ("mesh:3x3", "flow:form=routes", "uniform:64"),
        ("rdn:1(ring:3)", "greedy-allgather", "allgather/uniform:64"),
        ("mesh:3x3", "greedy-broadcast", "broadcast/uniform:64"),
        ("mesh:3x3", "greedy-allreduce", "allreduce/uniform:576"),
        ("mesh:3x3,ranks=2,place=cyclic", "linear", "irregular:dist=lognormal,mean=512,cv=2"),
    ] {
        assert_eq!(compared(folder.path(), [topology, algorithm, workload], &["json"]), 1);
    }
}
