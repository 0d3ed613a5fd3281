//! Schedules compared with closed forms, bounds and exact optima.

use crate::support::rehearsals::refusal;
use swapmeet_plugin_synthesis::ENDED_EARLY;
use swapmeet_plugin_synthesis::flow::FlowSchedule;
use swapmeet_plugin_synthesis::greedy::{ALL_GATHER, ALL_REDUCE, BROADCAST, REDUCE_SCATTER};
use swapmeet_sdk::{Algorithm, Collective, Rehearsal};

fn on(kind: &str, dims: &[u64]) -> Rehearsal {
    Rehearsal::on(kind, dims).ports(u64::MAX)
}

fn graph(nodes: u64, links: &[(u64, u64, f64)]) -> Rehearsal {
    on("graph", &[nodes]).links(links)
}

fn steps(problem: &Rehearsal, algorithm: &dyn Algorithm) -> u64 {
    problem.verify(algorithm).unwrap().steps
}

/// On a mesh of `n` nodes whose longest side is `N1`, each link of the bisection carries `n N1 / 4`
/// blocks in each direction. On a ring, it carries half as many, and on a fully connected network
/// one.
#[test]
fn all_to_all_meets_the_bisection() {
    for (kind, dims, bisection) in [
        ("mesh", &[8][..], 16),
        ("ring", &[8], 8),
        ("mesh", &[4, 4], 16),
        ("mesh", &[8, 8], 128),
        ("mesh", &[2, 2, 2], 4),
        ("fully-connected", &[7], 1),
    ] {
        assert_eq!(steps(&on(kind, dims), &FlowSchedule), bisection, "{kind} {dims:?}");
    }
}

/// The expected numbers of steps are certified lower bounds.
#[test]
fn one_port_is_obeyed_within_two_per_cent() {
    for (kind, optimum) in [("mesh", 349.5), ("torus", 255.8)] {
        let problem = on(kind, &[8, 8]).ports(1).param("form", "steps");
        let proved = problem.verify(&FlowSchedule).unwrap();
        assert!(proved.max_sends == 1 && proved.max_receives == 1, "{kind}");
        assert!(proved.steps as f64 <= optimum * 1.02, "{kind}: {}", proved.steps);
    }
}

#[test]
fn several_ports_are_obeyed() {
    for ports in 1..5 {
        let problem = || on("mesh", &[3, 4]).ports(ports);
        let proved = problem().param("form", "steps").verify(&FlowSchedule).unwrap();
        assert!(proved.max_sends <= ports && proved.max_receives <= ports, "{ports}");
        // By default, messages take whole routes unless a node has a port for each of its four
        // links.
        assert_eq!(steps(&problem(), &FlowSchedule) == 1, ports < 4, "{ports}");
    }
}

#[test]
fn links_of_one_direction_are_used_as_they_are() {
    // On a directed ring of 6 nodes, each link carries 5 + 4 + 3 + 2 + 1 = 15 blocks.
    let ring: Vec<_> = (0..6).map(|node| (node, (node + 1) % 6, 1.0)).collect();
    assert_eq!(steps(&graph(6, &ring), &FlowSchedule), 15);
    let gather = graph(6, &ring).collective(Collective::AllGather, 0);
    assert_eq!(steps(&gather, &ALL_GATHER), 5);
    let scatter = graph(6, &ring).collective(Collective::ReduceScatter, 0);
    assert_eq!(steps(&scatter, &REDUCE_SCATTER), 5);
    let reduce = graph(6, &ring).collective(Collective::AllReduce, 0).block_bytes(6);
    assert_eq!(steps(&reduce, &ALL_REDUCE), 10);
}

/// Node 0 has links of bandwidths 3 and 1, so 18 segments take at least 5 steps. With equal
/// bandwidths, they would take 9.
#[test]
fn wide_links_carry_more_blocks() {
    let links = [
        (0, 1, 3.0),
        (1, 3, 3.0),
        (0, 2, 1.0),
        (2, 3, 1.0),
        (1, 2, 1.0),
        (3, 0, 1.0),
        (1, 0, 1.0),
        (2, 0, 1.0),
    ];
    let scatter = graph(4, &links).collective(Collective::Scatter, 0).block_bytes(6);
    let taken = steps(&scatter.param("segments", "6"), &FlowSchedule);
    assert!((5..=7).contains(&taken), "{taken}");
    let broadcast = graph(4, &links).collective(Collective::Broadcast, 0).block_bytes(12);
    let taken = steps(&broadcast.param("segments", "12"), &BROADCAST);
    assert!((3..=7).contains(&taken), "{taken}");
}

#[test]
fn gathers_meet_the_number_of_links_into_a_node() {
    for (kind, dims, bound) in [
        ("mesh", &[8, 8][..], 32),
        ("torus", &[8, 8], 16),
        ("mesh", &[5], 4),
        ("hypercube", &[2, 2, 2, 2], 4),
        ("fully-connected", &[9], 1),
        ("ring", &[1], 0),
    ] {
        let gather = on(kind, dims).collective(Collective::AllGather, 0);
        assert_eq!(steps(&gather, &ALL_GATHER), bound, "{kind} {dims:?}");
        let scatter = on(kind, dims).collective(Collective::ReduceScatter, 0);
        assert_eq!(steps(&scatter, &REDUCE_SCATTER), bound, "{kind} {dims:?}");
    }
}

/// Node 2 receives 5 blocks over two links of bandwidth 1, and the slowest link has a bandwidth of
/// 0.5. Whole blocks take at least 3 times the time of a block. Segments take the certified optimum
/// of 2.5.
#[test]
fn segments_share_unequal_links() {
    let both = [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 4.0), (4, 5, 1.0), (5, 0, 1.0)];
    let both = both.iter().chain(&[(0, 3, 0.5)]);
    let links: Vec<_> = both.flat_map(|&(a, b, rate)| [(a, b, rate), (b, a, rate)]).collect();
    for (collective, algorithm, phases) in [
        (Collective::AllGather, &ALL_GATHER, 1),
        (Collective::ReduceScatter, &REDUCE_SCATTER, 1),
        (Collective::AllReduce, &ALL_REDUCE, 2),
    ] {
        let problem = graph(6, &links).collective(collective, 0).block_bytes(96);
        // In a step, a link of bandwidth 1 carries two segments, which are an eighth of a block. A
        // schedule in which no link waits takes 20 steps.
        let taken = steps(&problem.param("segments", "16"), algorithm);
        assert!((20 * phases..=22 * phases).contains(&taken), "{collective:?}: {taken}");
    }
}

#[test]
fn unequal_blocks_take_about_their_bytes() {
    let size = |from: u64, to: u64| if from == to { 0 } else { 1024 << ((3 * from + 5 * to) % 5) };
    let sizes: Vec<Vec<u64>> =
        (0..16).map(|from| (0..16).map(|to| size(from, to)).collect()).collect();
    let problem = on("mesh", &[4, 4]).sizes(&sizes);
    let proved = problem.verify(&FlowSchedule).unwrap();
    // The bound is the number of bytes that must cross the middle, divided by its four links.
    let crossing = |side: &dyn Fn(u64) -> bool| -> u64 {
        let pairs = (0..16).flat_map(|from| (0..16).map(move |to| (from, to)));
        pairs.filter(|(from, to)| side(*from) && !side(*to)).map(|(from, to)| size(from, to)).sum()
    };
    let bound = crossing(&|v| v < 8).max(crossing(&|v| v >= 8)).max(crossing(&|v| v % 4 < 2));
    let bound = bound.max(crossing(&|v| v % 4 >= 2)) / 4;
    assert!(proved.critical_bytes >= bound, "{} < {bound}", proved.critical_bytes);
    // The best flow takes 15 % longer than this bound.
    assert!(proved.critical_bytes <= bound * 120 / 100, "{} {bound}", proved.critical_bytes);
}

/// The sizes of segments are rounded up to bytes, so schedules for small blocks take longer than
/// the bound. The bound is the largest amount that a node receives (Zipf), divided by its four
/// links.
#[test]
fn small_unequal_blocks_fill_the_steps() {
    for (mean, within) in [(64.0, 1.10), (512.0, 1.06)] {
        let size = |from: u64, to: u64| {
            let share = ((to * 7 % 36 + 1) as f64).powf(-0.6) * 36.0 / 11.0;
            let factor = 0.5 + ((from * 11 + to * 5) % 36) as f64 / 36.0;
            if from == to { 0 } else { (mean * share * factor) as u64 }
        };
        let sizes: Vec<Vec<u64>> =
            (0..36).map(|from| (0..36).map(|to| size(from, to)).collect()).collect();
        let received = (0..36).map(|to| sizes.iter().map(|row| row[to]).sum::<u64>());
        let bound = received.max().unwrap() as f64 / 4.0;
        let proved = on("torus", &[6, 6]).sizes(&sizes).verify(&FlowSchedule).unwrap();
        let ratio = proved.critical_bytes as f64 / bound;
        assert!((1.0..=within).contains(&ratio), "{mean}: {ratio}");
    }
}

#[test]
fn other_demands_arrive() {
    let to: Vec<u64> = (0..16).map(|node| node % 4 * 4 + node / 4).collect();
    for problem in [
        on("mesh", &[4, 4]).collective(Collective::Scatter, 5),
        on("mesh", &[4, 4]).collective(Collective::Gather, 5),
        on("mesh", &[4, 4]).permutation("transpose-2d", &to),
        on("mesh", &[4, 4]).permutation("transpose-2d", &to).param("segments", "3").block_bytes(9),
        on("mesh", &[4, 4]).param("group", "3"),
        on("mesh", &[4, 4]).param("form", "routes"),
        on("mesh", &[4, 4]).sizes(&vec![vec![0; 16]; 16]),
    ] {
        problem.verify(&FlowSchedule).unwrap_or_else(|e| panic!("{problem:?}: {e}"));
    }
    let broadcast = on("mesh", &[4, 4]).collective(Collective::Broadcast, 5).block_bytes(16);
    let taken = steps(&broadcast, &BROADCAST);
    assert!(taken <= 16, "{taken}");
}

#[test]
fn another_seed_gives_another_schedule_and_the_same_seed_the_same() {
    let plan = |seed: &str| on("mesh", &[3, 4]).param("seed", seed).plan(&FlowSchedule).unwrap();
    assert!(plan("1") == plan("1") && plan("1") != plan("2"));
}

#[test]
fn bad_networks_and_values_are_refused() {
    let star = [(0, 2, 1.0), (2, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)];
    let steps = graph(2, &star).param("form", "steps");
    assert_eq!(
        refusal(&steps, &FlowSchedule),
        "switches cannot store data, so there are no steps between neighbours: use `flow:form=routes`, or `birkhoff` for an order of messages on one port"
    );
    assert!(graph(2, &star).verify(&FlowSchedule).is_ok());
    assert_eq!(
        refusal(&graph(2, &star).collective(Collective::AllGather, 0), &ALL_GATHER),
        "switches cannot store data, so there are no steps between neighbours: use an algorithm that does not plan for links, such as `ring` or `recursive-doubling-allgather`"
    );
    assert_eq!(
        refusal(&graph(3, &[(0, 1, 1.0), (1, 0, 1.0)]), &FlowSchedule),
        "the network is not connected: there is no path from node 0 to node 2; add links, or leave the node out"
    );
    assert_eq!(
        refusal(&graph(3, &[(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0)]), &FlowSchedule),
        "the network is not connected: there is no path from node 2 to node 0; add links, or leave the node out"
    );
    assert_eq!(
        refusal(&graph(2, &[(0, 1, 1.0), (1, 0, 0.0)]), &FlowSchedule),
        "the link from 1 to 0 has no bandwidth: remove the link from the network"
    );
    assert_eq!(
        refusal(&on("mesh", &[4000]), &FlowSchedule),
        "15996000 blocks or segments are too many to find a path for each, expected at most 10000000: use fewer nodes or segments, or an algorithm with a rule, such as `pairwise` or `dim-rotation`"
    );
    assert_eq!(
        refusal(&on("ring", &[4]).param("segments", "5000"), &FlowSchedule),
        "`segments`: expected a whole number from 1 to 4096"
    );
    assert_eq!(
        refusal(&on("ring", &[4]).param("seconds", "soon"), &FlowSchedule),
        "`seconds=soon`: expected a whole number"
    );
    let shared = Rehearsal::on("ranks", &[2, 2]).links(&[(4, 5, 1.0), (5, 4, 1.0)]);
    assert_eq!(
        refusal(&shared, &FlowSchedule),
        "several ranks share a node, and have no links of their own: use one rank per node"
    );
}

#[test]
fn a_search_without_time_gives_a_right_schedule() {
    let problem = on("mesh", &[4, 4]).param("seconds", "0");
    let log = problem.rehearse(&FlowSchedule).unwrap().log;
    assert!(log.iter().any(|line| line == ENDED_EARLY), "{log:?}");
    assert!(problem.verify(&FlowSchedule).is_ok());
}

#[test]
fn equal_nodes_do_the_same() {
    for (kind, dims) in [("torus", &[4, 5][..]), ("ring", &[7]), ("hypercube", &[2, 2, 2])] {
        for (collective, algorithm) in [
            (Collective::AllGather, &ALL_GATHER),
            (Collective::ReduceScatter, &REDUCE_SCATTER),
            (Collective::AllReduce, &ALL_REDUCE),
        ] {
            let problem = on(kind, dims).collective(collective, 0).block_bytes(40);
            problem.verify_symmetry(algorithm).unwrap_or_else(|e| panic!("{kind}: {e}"));
            let all = problem.verify(algorithm).unwrap();
            let orbits = problem.by_orbits().verify(algorithm).unwrap();
            assert_eq!((all.steps, all.messages), (orbits.steps, orbits.messages), "{kind}");
        }
    }
    let gather = |kind| on(kind, &[4, 4]).collective(Collective::AllGather, 0).by_orbits();
    assert!(gather("mesh").verify(&ALL_GATHER).is_ok());
}

/// On an axis of a torus, a block crosses `n / 4` links on average if the length `n` is even, and
/// `(n - 1/n) / 4` links if it is odd, half of them in each direction. With `ports=P`, at most P
/// blocks leave a node in a step. On a ring of even length, a search is needed.
#[test]
fn equal_nodes_exchange_blocks_in_the_fewest_steps() {
    for (kind, dims) in [
        ("ring", &[7][..]),
        ("ring", &[8]),
        ("torus", &[4, 4]),
        ("torus", &[4, 5]),
        ("torus", &[4, 6]),
        ("torus", &[6, 6]),
        ("torus", &[2, 4, 4]),
        ("hypercube", &[2, 2, 2, 2]),
        ("fully-connected", &[6]),
    ] {
        let nodes: u64 = dims.iter().product();
        let along = |n: &u64| match kind {
            "fully-connected" => (n - 1, n - 1),
            _ => (nodes * (n * n / 4) / n, if *n == 2 { 1 } else { 2 }),
        };
        let axes: Vec<(u64, u64)> = dims.iter().map(along).collect();
        let longest: u64 =
            if kind == "fully-connected" { 1 } else { dims.iter().map(|n| n / 2).sum() };
        let crossings: u64 = axes.iter().map(|(crossings, _)| crossings).sum();
        let links: u64 = axes.iter().map(|(_, directions)| directions).sum();
        for ports in 1..=links {
            let of_axes =
                axes.iter().map(|(crossings, directions)| crossings.div_ceil(*directions));
            let bound = of_axes.max().unwrap().max(crossings.div_ceil(ports)).max(longest);
            let problem = on(kind, dims).ports(ports).param("form", "steps");
            problem.verify_symmetry(&FlowSchedule).unwrap_or_else(|e| panic!("{kind}: {e}"));
            let proved = problem.by_orbits().verify(&FlowSchedule).unwrap();
            assert!(proved.max_sends <= ports && proved.max_receives <= ports, "{kind} {dims:?}");
            assert_eq!(proved.steps, bound, "{kind} {dims:?}, {ports} ports");
        }
        let of_axes = axes.iter().map(|(crossings, directions)| crossings.div_ceil(*directions));
        let bound = of_axes.max().unwrap().div_ceil(3).max(longest);
        assert_eq!(steps(&on(kind, dims).param("group", "3"), &FlowSchedule), bound, "{kind}");
    }
}
