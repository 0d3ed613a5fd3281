//! Collectives on recursive dual-nets are verified from every root, and compared with an
//! independent implementation that moves every block.

use super::matrix::REGISTRY;
use super::planted::{Planned, only_the_right_schedule_does};
use crate::support::{row_of, swapmeet, tools, words};
use predicates::prelude::*;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BROADCAST, Collective, SCATTER};
use swapmeet_core::network::topology;
use swapmeet_core::simulation::Task;
use swapmeet_core::simulation::step::Totals;
use swapmeet_results::{Record, Status, Verified};
use swapmeet_runner::host::{self, Outcome, PlanInputs};
use swapmeet_tests::project;
use tempfile::tempdir;

const MACHINE: &str = "free:model=store-and-forward,startup_us=1,byte_us=1";

const PATTERNS: [(&str, &str); 4] = [
    ("rdn-broadcast", "broadcast/uniform:1"),
    ("rdn-scatter", "scatter/uniform:1"),
    ("rdn-allgather", "allgather/uniform:1"),
    ("rdn-alltoall", "uniform:1"),
];

fn run(topology: &str, algorithm: &str, workload: &str) -> Record {
    row_of(topology, algorithm, workload, MACHINE)
}

/// Asserts that messages go only to neighbours, and that no node sends two or receives two in a
/// step. Returns the rounds, and the bytes of the longest messages (words).
fn proved(topology: &str, algorithm: &str, workload: &str) -> (u64, u64) {
    let row = run(topology, algorithm, workload);
    assert_eq!(
        (row.status, row.verified),
        (Status::Ok, Verified::Blocks),
        "{algorithm} on {topology}: {}",
        row.reason
    );
    assert_eq!(
        (row.max_sends, row.max_receives, row.max_link_messages),
        (Some(1), Some(1), Some(1)),
        "{topology}"
    );
    assert_eq!(row.critical_hops, row.steps, "{algorithm} on {topology}");
    assert!(row.lower_bound_us.unwrap() <= row.time_us.unwrap(), "{algorithm} on {topology}");
    (row.steps.unwrap(), row.critical_bytes.unwrap().try_into().unwrap())
}

fn outcome(spec: &str, algorithm: &str, variant: &str, collective: Collective) -> Outcome {
    let topology = topology::parse(spec).unwrap();
    let task = Task::new(Arc::clone(&topology), collective);
    let answers = PlanInputs {
        block_bytes: 1,
        ports: 1,
        virtual_channels: 1,
        element_bytes: 1,
        ..PlanInputs::default()
    };
    let params = [("variant".to_owned(), variant.to_owned())];
    host::plan(&REGISTRY.algorithm(algorithm).unwrap(), &params, &task, answers, None, Vec::new())
        .outcome
}

fn totals(outcome: Outcome) -> Result<(u64, u64), String> {
    match outcome {
        Outcome::Verified(Totals { steps, critical_load, .. }) => {
            Ok((steps, critical_load.try_into().unwrap()))
        }
        Outcome::Invalid(fault) => Err(fault.to_string()),
        Outcome::Unsupported(why)
        | Outcome::Failed(why)
        | Outcome::HostPanicked(why)
        | Outcome::TimedOut(why) => Err(why),
    }
}

#[test]
fn broadcast_and_scatter_reach_every_node_from_every_root_with_minimal_words() {
    let nets = [
        ("rdn:1(ring:1)", 1, 1),
        ("rdn:1(ring:3)", 6, 6),
        ("rdn:1(hypercube:2)", 6, 6),
        ("rdn:1(hypercube:3)", 8, 8),
        ("rdn:1(torus:3x4)", 10, 12),
        ("rdn:1(fully-connected:5)", 8, 8),
        ("rdn:2(ring:2)", 10, 10),
        ("rdn:1(rdn:1(ring:2))", 10, 10),
        ("rdn:3(ring:1)", 10, 10),
    ];
    for (spec, broadcast, scatter) in nets {
        let n = topology::parse(spec).unwrap().nodes();
        for root in 0..n {
            let numbers =
                totals(outcome(spec, "rdn-broadcast", "lean", Collective::of(&BROADCAST).at(root)));
            assert_eq!(numbers, Ok((broadcast, broadcast)), "broadcast on {spec} from {root}");
            let given =
                totals(outcome(spec, "rdn-scatter", "lean", Collective::of(&SCATTER).at(root)));
            assert_eq!(given, Ok((scatter, n - 1)), "scatter on {spec} from {root}");
        }
    }
}

/// The third step of Algorithms 1 and 2 is printed for the nodes with `my_cluster_id = s1`. Here,
/// s1 is the root's cluster, and s2 is the number of the root within its cluster. The nodes of the
/// partner's cluster have this id only if s1 = s2.
#[test]
fn printed_broadcast_and_scatter_reach_every_node_only_from_few_roots() {
    for (algorithm, of) in [
        ("rdn-broadcast", (|root| Collective::of(&BROADCAST).at(root)) as fn(u64) -> Collective),
        ("rdn-scatter", |root| Collective::of(&SCATTER).at(root)),
    ] {
        let mut reached = 0;
        for root in 0..128 {
            let (s1, s2) = (root / 8 % 8, root % 8);
            let printed = totals(outcome("rdn:1(hypercube:3)", algorithm, "printed", of(root)));
            assert_eq!(printed.is_ok(), s1 == s2, "{algorithm} from {root}: {printed:?}");
            reached += u64::from(printed.is_ok());
        }
        assert_eq!(reached, 16);
    }
    let error = totals(outcome(
        "rdn:1(hypercube:3)",
        "rdn-broadcast",
        "printed",
        Collective::of(&BROADCAST).at(1),
    ));
    let error = error.unwrap_err();
    assert!(error.ends_with("missing in total: 56 blocks at 56 nodes"), "{error}");
}

#[test]
fn rounds_and_words_equal_those_of_an_independent_implementation() {
    let reference = [
        ("rdn:1(hypercube:3)", "rdn-broadcast", "broadcast", (8, 8), (8, 8)),
        ("rdn:1(hypercube:3)", "rdn-scatter", "scatter", (8, 127), (8, 127)),
        ("rdn:1(hypercube:3)", "rdn-allgather", "allgather", (8, 127), (8, 135)),
        ("rdn:1(hypercube:3)", "rdn-alltoall", "alltoall", (8, 560), (8, 574)),
    ];
    for (spec, algorithm, collective, lean, printed) in reference {
        let workload = format!("{collective}/uniform:1");
        assert_eq!(proved(spec, algorithm, &workload), lean, "{algorithm}");
        assert_eq!(
            proved(spec, &format!("{algorithm}:variant=printed"), &workload),
            printed,
            "{algorithm}"
        );
    }
    if !tools::runs_all() {
        return;
    }
    let spec = "rdn:2(hypercube:3)";
    assert_eq!(proved(spec, "rdn-broadcast", "broadcast/uniform:1"), (18, 18));
    assert_eq!(proved(spec, "rdn-scatter", "scatter/uniform:1"), (18, 32_767));
    assert_eq!(proved(spec, "rdn-scatter:variant=printed", "scatter/uniform:1"), (18, 32_767));
    assert_eq!(proved(spec, "rdn-allgather", "allgather/uniform:1"), (18, 32_767));
    assert_eq!(proved(spec, "rdn-allgather:variant=printed", "allgather/uniform:1"), (18, 33_927));
    assert_eq!(proved(spec, "rdn-alltoall", "uniform:1"), (18, 335_616));
    assert_eq!(proved(spec, "rdn-alltoall:variant=printed", "uniform:1"), (18, 343_038));
}

/// A broadcast on 3,125,000 nodes takes 26 rounds, because it covers a base in 5 rounds. With the
/// two rings of a base one after the other, a base would take 6 rounds and the broadcast 30.
#[test]
fn three_million_nodes_take_as_many_rounds_as_an_independent_implementation() {
    if !tools::runs_all() {
        return;
    }
    assert_eq!(proved("rdn:2(torus:5x5)", "rdn-broadcast", "broadcast/uniform:1"), (26, 26));
    assert_eq!(proved("rdn:2(torus:5x5)", "rdn-scatter", "scatter/uniform:1"), (38, 3_124_999));
}

/// A broadcast on 1,250 nodes takes 12 rounds. It covers a base twice, in 5 rounds each time, and
/// crosses between clusters in two more rounds. A round costs a start-up and a byte.
#[test]
fn only_the_right_schedule_covers_the_base_in_five_rounds() {
    let (topology, algorithm, workload) =
        ("rdn:1(torus:5x5)", "rdn-broadcast", "broadcast/uniform:1");
    assert_eq!(proved(topology, algorithm, workload), (12, 12));
    let planned = Planned { topology, algorithm, workload, machine: MACHINE };
    only_the_right_schedule_does(planned, |row| (row.steps, row.time_us) == (Some(12), Some(24.0)));
}

/// The expected numbers for two levels follow from those for one by the recurrence in section V of
/// the paper.
#[test]
fn two_levels_of_algorithm_4_add_up_from_one() {
    for (base, n_1) in [("ring:2", 8), ("ring:3", 18)] {
        let n_2 = 2 * n_1 * n_1;
        let printed = "rdn-alltoall:variant=printed";
        let inner = proved(&format!("rdn:1({base})"), printed, &format!("uniform:{}", 2 * n_1));
        let whole = proved(&format!("rdn:2({base})"), printed, "uniform:1");
        assert_eq!(whole, (2 + 2 * inner.0, (n_2 / 2 - 1) + (n_2 - 1) + 2 * inner.1), "{base}");
    }
}

/// A scatter takes n - 1 words, an all-to-all the sum of the distances from a node to all nodes.
#[test]
fn lean_schedules_meet_the_bound_over_any_base() {
    for base in [
        "ring:2",
        "ring:5",
        "ring:6",
        "hypercube:4",
        "torus:3x4",
        "torus:2x3x2",
        "fully-connected:6",
        "mesh:2x2",
    ] {
        let spec = format!("rdn:1({base})");
        let net = topology::parse(&spec).unwrap();
        let others = net.nodes() - 1;
        for (algorithm, workload) in PATTERNS {
            let words = proved(&spec, algorithm, workload).1;
            match algorithm {
                "rdn-broadcast" => {}
                "rdn-alltoall" => {
                    // A mesh with sides of 2 is a hypercube, but the topology `mesh` has no formula
                    // for the sum of distances.
                    let least = net.distance_sum();
                    assert!(
                        least.is_none_or(|least| words == least),
                        "{spec}: {words}, not {least:?}"
                    );
                    let row = run(&spec, algorithm, workload);
                    assert!(
                        least.is_none() || row.lower_bound_us.unwrap() > words as f64,
                        "{spec}"
                    );
                }
                _ => assert_eq!(words, others, "{algorithm} on {spec}"),
            }
        }
    }
}

/// A fat tree, whose nodes are linked only through switches, and bases with more than 64 nodes,
/// whose sets the plugin represents differently.
#[test]
fn bases_with_switches_and_large_bases_work() {
    if !tools::runs_all() {
        return;
    }
    for base in ["fat-tree:2x2", "torus:9x8", "fully-connected:70"] {
        let spec = format!("rdn:1({base})");
        for (algorithm, workload) in PATTERNS {
            let row = run(&spec, algorithm, workload);
            assert_eq!(
                (row.status, row.verified),
                (Status::Ok, Verified::Blocks),
                "{algorithm} on {spec}: {}",
                row.reason
            );
        }
    }
}

#[test]
fn other_networks_are_refused_with_the_reason() {
    let refusal = |topology: &str, algorithm: &str| {
        let row = run(topology, algorithm, "broadcast/uniform:1");
        (row.status, row.reason)
    };
    let (status, reason) = refusal("torus:4x4", "rdn-broadcast");
    assert_eq!(status, Status::Unsupported);
    assert_eq!(reason, "runs only on a recursive dual-net; this topology is a torus");
    let args = words(
        "run --topology rdn:1(ring:3) --algorithm rdn-broadcast:variant=fast --workload broadcast/uniform:1",
    );
    swapmeet(&args)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("`variant=fast`: expected one of printed, lean\n"));
}

#[test]
fn an_impossible_dual_net_is_shown_with_the_position() {
    let refused = |spec: &str, message: &'static str| {
        let line = format!(
            "run --topology {spec} --algorithm rdn-broadcast --workload broadcast/uniform:1"
        );
        let args = words(&line);
        swapmeet(&args).assert().code(2).stderr(predicate::str::contains(message));
    };
    refused("rdn:9(torus:5x5)", "3 levels make more than 2147483648 nodes");
    refused("rdn:1(mesh:3x3)", "a base must be regular");
    refused("rdn:1(torus:5x0)", "--> --topology:1:15");
    refused("rdn:99999999999999999999(ring:3)", "found `99999999999999999999`");
}

#[test]
fn a_user_defined_network_runs_like_any_other() {
    let petersen = format!("graph:{}", project("workloads/graphs/petersen.txt").display());
    let row = run(&petersen, "pairwise", "uniform:1");
    assert_eq!((row.status, row.verified, row.nodes), (Status::Ok, Verified::Blocks, 10));
    assert_eq!(row.topology, petersen, "a row says which file");
    // Each node has 3 neighbours and 6 nodes at distance two.
    assert_eq!(row.total_hop_bytes, Some(10 * (3 + 2 * 6)));
    let row = run(&format!("rdn:1({petersen})"), "rdn-scatter", "scatter/uniform:1");
    assert_eq!(
        (row.status, row.verified, row.nodes),
        (Status::Ok, Verified::Blocks, 200),
        "{}",
        row.reason
    );
}

#[test]
fn a_run_on_a_user_defined_network_can_be_resumed() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let petersen = format!("graph:{}", project("workloads/graphs/petersen.txt").display());
    let resume = |algorithms: &[&str]| {
        let mut args = vec!["run", "--quiet", "--resume", "--topology", &petersen];
        args.extend(["--out", out.to_str().unwrap()]);
        args.extend(algorithms.iter().flat_map(|algorithm| ["--algorithm", *algorithm]));
        swapmeet(&args).assert().success();
        std::fs::read_to_string(&out).unwrap()
    };
    let first = resume(&["linear"]);
    let both = resume(&["linear", "bruck"]);
    assert_eq!((first.lines().count(), both.lines().count()), (2, 3));
    assert!(both.starts_with(&first), "the first row is kept as it was, times and all");
}
