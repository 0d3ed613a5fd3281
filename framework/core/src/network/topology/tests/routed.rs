//! Routes that are drawn among several.

use super::*;
use crate::network::multipath::MultipathLoad;
use std::collections::HashMap;

/// What messages of one load are expected to put on each link.
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

/// Valiant & Brebner: whatever the permutation, either part of a way is one between random nodes.
/// With a link between every two of n nodes each carries 1/n of either; in a hypercube each link
/// has as much as goes from random to random nodes, a half of either.
#[test]
fn by_way_of_a_random_node_every_permutation_is_alike() {
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

/// Where nodes are at switches it is a switch that is drawn, each alike: of a dragonfly's three
/// groups of two routers, a message within a router goes out and back, but for one time in six.
#[test]
fn switches_are_drawn_where_there_are_any() {
    let net = topology("dragonfly:3x2x2,routing=valiant");
    // Routers of the group are one hop away; of the four others two are linked to a router of one's
    // own group each.
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

/// A square has two ways around, a ring of four two to the node across.
#[test]
fn equal_ways_are_taken_alike() {
    let on = expected("torus:4x4,routing=ecmp", &[(0, 5)]);
    assert_eq!(on, [((0, 1), 0.5), ((0, 4), 0.5), ((1, 5), 0.5), ((4, 5), 0.5)].into());
    assert_eq!(expected("ring:4,routing=ecmp", &[(0, 2)]).len(), 4);
    assert_eq!(expected("mesh:3x3,routing=ecmp", &[(0, 2)]), [((0, 1), 1.0), ((1, 2), 1.0)].into());
}

/// Counted destination by destination elsewhere.
#[test]
fn all_pairs_together_fill_links_as_spreading_does() {
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
        let pairs = (0..net.nodes()).flat_map(|a| (0..net.nodes()).map(move |b| (a, b)));
        let on = expected(&format!("{spec},routing=ecmp"), &pairs.collect::<Vec<_>>());
        let busiest = on.values().copied().fold(0.0, f64::max);
        // Links between the same two vertices are one here.
        assert!(
            close(busiest, MultipathLoad::of_all_to_all(net.as_ref()).unwrap().max_load)
                || spec == "torus:4x2",
            "{spec}"
        );
    }
}

/// Every draw is a route, and over many seeds links have what is expected.
#[test]
fn draws_are_routes_and_come_to_what_is_expected() {
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
            let drawn = net.random_routing().unwrap().with_seed(seed);
            let mut at = None;
            let hops = drawn.route(from, to, None, &mut |run| {
                for link in (0..run.len).map(|i| run.first + i * run.stride) {
                    let ends = drawn.link_ends(link).unwrap();
                    // A run that goes down is handed out from its lowest link on.
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
fn routing_is_said_last_and_once() {
    let spec = |spec: &str| topology(spec).spec();
    assert_eq!(spec("torus:4x4,routing=minimal"), "torus:4x4");
    assert_eq!(
        spec("ring:4,routing=ecmp,place=cyclic,ranks=2"),
        "ring:4,ranks=2,place=cyclic,routing=ecmp"
    );
    let error = |spec: &str| spec_error(spec).split_once("`: ").unwrap().1.to_owned();
    assert_eq!(
        error("ring:4,routing=fast"),
        "routing: expected minimal, valiant or ecmp, found `fast` [fast]"
    );
    assert_eq!(
        error("groups:2x4,inside=9,routing=ecmp"),
        "routing: expected minimal: others are for networks whose links are all alike, found `ecmp` [ecmp]"
    );
    assert_eq!(
        error("groups:2x4,routing=valiant"),
        "routing: expected minimal: there is one way between two ranks, found `valiant` [valiant]"
    );
    assert_eq!(
        error("torus:100x100,routing=valiant"),
        "routing: expected minimal: others are for networks of at most 8192 vertices and 4194304 links, found `valiant` [valiant]"
    );
    assert!(error("rdn:1(ring:3,routing=ecmp)").contains("one argument too many"));
}
