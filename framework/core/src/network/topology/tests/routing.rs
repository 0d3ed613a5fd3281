//! Tests of random routing.

use super::*;
use crate::network::multipath::MultipathLoad;
use std::collections::HashMap;

/// Returns the expected number of messages on each link; all messages have the same load.
fn expected(spec: &str, messages: &[(u64, u64)]) -> HashMap<(u64, u64), f64> {
    let net = topology(spec);
    let mut on = HashMap::new();
    let mut messages = messages.iter().map(|(from, to)| (*from, *to, 10));
    net.random_routing().unwrap().expected(&mut messages, &mut |link, messages, load| {
        assert!((load - 10.0 * messages).abs() < 1e-9);
        *on.entry(net.link_ends(link).unwrap()).or_default() += messages;
    });
    on
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.max(1.0)
}

/// Valiant & Brebner: for any permutation, each half of a route is a route between random nodes. In
/// a complete graph of n nodes, each link carries `1/n` message from each half. In a hypercube, it
/// carries the load of messages between random nodes, which is 1/2 from each half.
#[test]
fn valiant_routing_loads_links_equally_for_any_permutation() {
    let shift: Vec<_> = (0..6).map(|node| (node, (node + 1) % 6)).collect();
    let on = expected("fully-connected:6,routing=valiant", &shift);
    assert!(on.len() == 30 && on.values().all(|messages| *messages == 2.0 / 6.0), "{on:?}");
    for flip in [0b1111, 0b0101, 0b1000] {
        let permuted: Vec<_> = (0..16).map(|node| (node, node ^ flip)).collect();
        let on = expected("hypercube:4,routing=valiant", &permuted);
        assert!(on.len() == 64 && on.values().all(|messages| *messages == 1.0), "{on:?}");
    }
    let net = topology("fully-connected:6,routing=valiant");
    assert_eq!(
        net.random_routing().unwrap().expected_hops(0, 3),
        2.0 * 5.0 / 6.0,
        "the sixth node is the sender, or the receiver"
    );
}

/// If nodes are at switches, the intermediate vertex is a random switch. The dragonfly has three
/// groups of two routers. A message between two nodes of a router leaves the router unless that
/// router is drawn, which has a probability of 1/6.
#[test]
fn intermediate_vertices_are_switches_if_there_are_any() {
    let net = topology("dragonfly:3x2x2,routing=valiant");
    // The number of hops from router 0 to a router that may be drawn. The message takes these hops
    // there and back. Two more hops are the links of the sender and the receiver.
    let base = topology("dragonfly:3x2x2");
    let between = |router: u64| {
        base.route(0, 2 * router, None, &mut |_| {}).unwrap().saturating_sub(2) as f64
    };
    let mean: f64 = (0..6).map(|router| 2.0 * between(router)).sum::<f64>() / 6.0;
    assert!(close(net.random_routing().unwrap().expected_hops(0, 1), 2.0 + mean));
    assert!(close(
        expected("dragonfly:3x2x2,routing=valiant", &[(0, 1)]).values().sum(),
        2.0 + mean
    ));
}

/// There are two shortest paths between opposite corners of a square, and between opposite nodes of
/// a ring of four.
#[test]
fn shortest_paths_share_messages_equally() {
    let on = expected("torus:4x4,routing=ecmp", &[(0, 5)]);
    assert_eq!(on, [((0, 1), 0.5), ((0, 4), 0.5), ((1, 5), 0.5), ((4, 5), 0.5)].into());
    assert_eq!(expected("ring:4,routing=ecmp", &[(0, 2)]).len(), 4);
    assert_eq!(expected("mesh:3x3,routing=ecmp", &[(0, 2)]), [((0, 1), 1.0), ((1, 2), 1.0)].into());
}

/// The expected loads agree with those of `multipath`, which counts each destination separately.
#[test]
fn ecmp_of_all_pairs_agrees_with_multipath_load() {
    for spec in [
        "torus:4x4",
        "mesh:3x4",
        "hypercube:3",
        "slim-fly:3",
        "dragonfly:4x3x1",
        "twisted-torus:2x4",
        "fat-tree:2x2",
    ] {
        let net = topology(spec);
        let all: Vec<_> = pairs(net.nodes()).collect();
        let on = expected(&format!("{spec},routing=ecmp"), &all);
        let busiest = on.values().copied().fold(0.0, f64::max);
        // `expected` counts parallel links between two vertices as one link.
        assert!(
            close(busiest, MultipathLoad::of_all_to_all(net.as_ref()).unwrap().max_load),
            "{spec}"
        );
    }
}

/// Every draw is a route, and the mean over many seeds is the expected load.
#[test]
fn random_routes_have_the_expected_mean_load() {
    const SEEDS: u64 = 600;
    for spec in [
        "torus:3x4,routing=ecmp",
        "torus:3x4,routing=valiant",
        "hyperx:3x3,nodes=2,routing=valiant",
        "ring:6,ranks=2,routing=valiant",
        "jellyfish:6x3x1,routing=ecmp",
    ] {
        let net = topology(spec);
        let (from, to) = (0, net.nodes() - 1);
        let mut found: HashMap<(u64, u64), f64> = HashMap::new();
        for seed in 0..SEEDS {
            let drawn = net.sample(seed).unwrap();
            let mut at = None;
            let hops = drawn.route(from, to, None, &mut |run| {
                for link in run.links() {
                    let ends = drawn.link_ends(link).unwrap();
                    // A run in the minus direction is reported with its lowest link first, which is
                    // not the first link of the path.
                    assert!(run.len > 1 || at.is_none_or(|at| at == ends.0), "{spec}");
                    at = if run.len > 1 { None } else { Some(ends.1) };
                    *found.entry(ends).or_default() += 1.0 / SEEDS as f64;
                }
            });
            assert_eq!(
                hops,
                drawn.route(from, to, None, &mut |_| {}),
                "{spec}: the same once more"
            );
        }
        let expected = expected(spec, &[(from, to)]);
        for (link, share) in &expected {
            let seen = found.get(link).copied().unwrap_or(0.0);
            assert!((seen - share).abs() < 0.1, "{spec}: {link:?} has {seen} and not {share}");
        }
        assert!(found.keys().all(|link| expected.contains_key(link)), "{spec}");
    }
}

#[test]
fn routing_is_the_last_argument_of_a_spec() {
    let spec = |spec: &str| topology(spec).spec();
    assert_eq!(spec("torus:4x4,routing=minimal"), "torus:4x4");
    assert_eq!(
        spec("ring:4,routing=ecmp,place=cyclic,ranks=2"),
        "ring:4,ranks=2,place=cyclic,routing=ecmp"
    );
    insta::assert_snapshot!(reason("ring:4,routing=fast"), @"routing: expected minimal, valiant or ecmp, found `fast` [fast]");
    insta::assert_snapshot!(reason("groups:2x4,inside=9,routing=ecmp"), @"routing: expected minimal: other routings need links of equal bandwidth and latency, found `ecmp` [ecmp]");
    insta::assert_snapshot!(reason("groups:2x4,routing=valiant"), @"routing: expected minimal: there is only one route between two ranks, found `valiant` [valiant]");
    insta::assert_snapshot!(reason("torus:100x100,routing=valiant"), @"routing: expected minimal: other routings are for networks of at most 8192 vertices and 4194304 links, found `valiant` [valiant]");
    assert!(reason("rdn:1(ring:3,routing=ecmp)").contains("one argument too many"));
}
