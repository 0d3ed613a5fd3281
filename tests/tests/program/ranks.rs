//! Several ranks per node, placements, random routes, and repetitions that read different files.

use crate::support::{row_of, rows, swapmeet, words};
use swapmeet_results::Status;

/// The algorithm is an allgather on a ring of four nodes with four ranks each. With the placement
/// `block`, one of four messages leaves its node. With `cyclic`, every message leaves its node,
/// over one link.
#[test]
fn a_placement_decides_which_messages_use_links() {
    let hop_bytes = |topology: &str| {
        let row = row_of(topology, "ring", "allgather/uniform:64", "paragon");
        assert_eq!((row.status, row.nodes), (Status::Ok, 16), "{}", row.reason);
        (row.total_hop_bytes, row.max_sends)
    };
    let steps = 15;
    assert_eq!(hop_bytes("ring:4,ranks=4"), (Some(steps * 4 * 64), Some(4)));
    assert_eq!(hop_bytes("ring:4,ranks=4,place=cyclic"), (Some(steps * 16 * 64), Some(4)));
    assert_eq!(hop_bytes("ring:16").1, Some(1));
}

#[test]
fn bounds_hold_for_ranks_that_share_nodes() {
    let topologies =
        ["ring:4,ranks=3", "mesh:2x3,ranks=2", "torus:1,ranks=8", "dragonfly:3x2x1,ranks=2"];
    let workloads = words(
        "uniform:64 allgather/uniform:64 broadcast/uniform:64 allreduce/uniform:64 \
        irregular:dist=zipf,mean=64,density=0.3",
    );
    let models = ["wormhole", "circuit", "store-and-forward", "fluid"];
    let mut args = vec!["--algorithm".to_owned(), "linear".to_owned()];
    let mut add = |flag: &str, value: String| args.extend([flag.to_owned(), value]);
    for place in ["", ",place=cyclic", ",place=random:3"] {
        topologies.iter().for_each(|on| add("--topology", format!("{on}{place}")));
    }
    workloads.iter().for_each(|workload| add("--workload", (*workload).to_owned()));
    for model in models {
        let costs = "startup_us=2,byte_us=0.01,injection_byte_us=0.02,ports=2";
        add("--machine", format!("free:model={model},{costs}"));
    }
    let rows = rows(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(rows.len(), 3 * topologies.len() * workloads.len() * models.len());
    for row in rows {
        let case = format!("{} {} {}", row.topology, row.workload, row.model);
        assert_eq!(row.status, Status::Ok, "{case}: {}", row.reason);
        assert!(
            row.lower_bound_us <= row.time_us,
            "{case}: {:?} {:?}",
            row.lower_bound_us,
            row.time_us
        );
    }
}

#[test]
fn torus_algorithms_refuse_several_ranks_per_node_and_hierarchical_accepts_them() {
    let refused = row_of("torus:4x4,ranks=2", "suh-shin", "uniform:64", "paragon");
    assert_eq!(refused.status, Status::Unsupported);
    let row = row_of("torus:2x2,ranks=4", "hierarchical", "uniform:64", "paragon");
    // Only the 3 steps between leaders use links. The 3 steps before them and the 3 after them do
    // not.
    assert_eq!(
        (row.status, row.steps, row.max_link_messages),
        (Status::Ok, Some(9), Some(1)),
        "{}",
        row.reason
    );
}

/// Every node of a hypercube sends to the opposite node. With minimal routes, a link carries one
/// message. With random intermediate nodes, a route has two halves. For each half, the expected
/// load of a link is half a message.
#[test]
fn random_routes_are_priced_by_expected_values_or_by_one_draw() {
    let of = |routing: &str, model: &str| {
        let topology = format!("hypercube:4{routing}");
        let hop = if model == "store-and-forward" { "" } else { ",hop_us=1" };
        let machine = format!("free:model={model},byte_us=1{hop},ports=all");
        let workload = "permutation/reflect:100";
        let line = format!(
            "--topology {topology} --algorithm linear --machine {machine} --workload {workload}"
        );
        let args = words(&line);
        rows(&[&args[..], &["--repetitions", "3"]].concat())
    };
    for row in of("", "wormhole") {
        assert_eq!(
            (row.transmission_us, row.contention_us, row.propagation_us),
            (Some(100.0), Some(0.0), Some(4.0))
        );
        assert_eq!((row.critical_hops, row.max_link_messages), (Some(4), Some(1)));
    }
    for row in of(",routing=valiant", "wormhole") {
        // A route has two halves between random nodes. Each half has two hops on average.
        assert_eq!(
            (row.transmission_us, row.contention_us, row.propagation_us),
            (Some(100.0), Some(0.0), Some(4.0))
        );
        assert_eq!((row.critical_hops, row.total_hop_bytes), (None, None));
        assert_eq!((row.max_link_messages, row.sum_link_messages), (None, None));
        assert!(
            row.note.contains("loads of links and hops are expected values over the random routes"),
            "{}",
            row.note
        );
        assert!(row.lower_bound_us <= row.time_us);
    }
    let drawn: Vec<_> = of(",routing=valiant", "fluid").iter().map(|row| row.time_us).collect();
    assert!(drawn[0] != drawn[1] || drawn[1] != drawn[2], "{drawn:?}");
    let ecmp = of(",routing=ecmp", "store-and-forward");
    assert_eq!(ecmp[0].transmission_us, Some(400.0), "four links, whichever");
    let circuit = of(",routing=ecmp", "circuit");
    assert!(
        circuit[0].note.contains("one random route per pair, chosen by the seed"),
        "{}",
        circuit[0].note
    );
}

#[test]
fn files_are_repetitions_of_one_workload() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [("a.csv", 10), ("b.csv", 20), ("c.csv", 40)] {
        std::fs::write(dir.path().join(name), format!("0,{bytes}\n0,0\n")).unwrap();
    }
    let spec = format!("matrix:{}/*.csv", dir.path().display());
    let out = dir.path().join("rows.out");
    let line =
        format!("--topology ring:2 --algorithm linear --machine free:byte_us=1 --workload {spec}");
    let args = words(&line);
    let of_all = rows(&args);
    let seen: Vec<_> =
        of_all.iter().map(|row| (row.repetition, row.workload.clone(), row.time_us)).collect();
    assert_eq!(
        seen,
        [(0, spec.clone(), Some(10.0)), (1, spec.clone(), Some(20.0)), (2, spec, Some(40.0))]
    );
    let run = |more: &[&str]| {
        swapmeet(&[&["run"], &args[..], &["--out", out.to_str().unwrap()], more].concat()).assert()
    };
    run(&[]).success();
    swapmeet(&["rerun", out.to_str().unwrap(), "--all"]).assert().success();
    let refused = run(&["--repetitions", "2", "--force"]).code(2).get_output().stderr.clone();
    let refused = String::from_utf8(refused).unwrap();
    assert!(
        refused
            .contains("has 3 files, one for each repetition, but the experiment has 2 repetitions"),
        "{refused}"
    );
    // In an earlier version, the message named equal numbers: "has 2 files .., but the experiment
    // has 2 repetitions".
    run(&["--repetitions", "3", "--force"]).success();
    let over = dir.path().join("b.csv");
    let refused =
        swapmeet(&[&["run"], &args[..], &["--force", "--out", over.to_str().unwrap()]].concat())
            .assert();
    assert!(
        String::from_utf8_lossy(&refused.code(2).get_output().stderr)
            .contains("it is an input of this command")
    );
}
