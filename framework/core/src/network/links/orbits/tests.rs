//! Compares loads that are counted by orbits with loads that are counted message by message.

use super::*;
use crate::network::links::LinkLoad;
use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};
use crate::network::topology::parse;
use proptest::prelude::*;
use std::collections::HashMap;

/// Creates messages of representatives. Each pair of `numbers` has a number that determines the
/// sender and the distance of a message, and the load of the message.
fn messages(group: &Group, numbers: &[(u64, u64)]) -> Vec<Transfer> {
    let nodes = group.order() * group.representatives();
    let mut messages: Vec<Transfer> = Vec::new();
    for (number, load) in numbers {
        let from = group.representative((number % group.representatives()) as usize);
        let to = (from + 1 + number % (nodes - 1)) % nodes;
        let message = Transfer { from: from as u32, to: to as u32, route: 0, hops: 0, load: *load };
        if messages.iter().all(|t| (t.from, t.to) != (message.from, message.to)) {
            messages.push(message);
        }
    }
    messages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    #[test]
    fn counts_by_orbits_agree_with_expanded_messages(
        case in prop::sample::select(vec![
            ("torus:4x6", &[4, 6][..], &[Shift(2), Shift(3)][..]),
            ("torus:8x4", &[2, 4, 1, 4], &[Shift(1), Fixed, Shift(1), Fixed]),
            ("torus:4x6", &[24], &[Shift(1)]),
            ("torus:3x2x5", &[30], &[Shift(1)]),
            ("torus:1x7", &[7], &[Shift(1)]),
            ("mesh:4x6", &[24], &[Shift(1)]),
            ("mesh:3x3x3", &[27], &[Shift(1)]),
            ("torus:4x8", &[32], &[Xor(1)]),
            ("mesh:4x8", &[32], &[Xor(1)]),
            ("mesh:4x4", &[4, 4], &[Xor(1), Xor(1)]),
            ("torus:2x2", &[2, 2], &[Shift(1), Xor(1)]),
            ("ring:12", &[12], &[Shift(4)]),
            ("hypercube:4", &[16], &[Xor(2)]),
            ("hypercube:3", &[2, 2, 2], &[Xor(1), Fixed, Shift(1)]),
            ("fully-connected:7", &[7], &[Shift(1)]),
            ("rdn:1(hypercube:2)", &[2, 4, 4], &[Xor(1), Fixed, Fixed]),
            ("rdn:2(ring:2)", &[128], &[Xor(64)]),
            ("rdn:1(torus:2x3)", &[2, 36], &[Shift(1), Fixed]),
            ("torus:12x3", &[12, 3], &[Shift(2), Fixed]),
            ("torus:3x8x2", &[3, 8, 2], &[Fixed, Shift(2), Shift(1)]),
            ("torus:2x6x5", &[2, 6, 5], &[Shift(1), Shift(3), Fixed]),
            ("torus:6x4o", &[6, 4], &[Shift(2), Fixed]),
            ("tofu:2x1x2o", &[2, 1, 2, 2, 2, 3], &[Fixed, Fixed, Shift(1), Fixed, Fixed, Shift(1)]),
            // All elements of the group are automorphisms of the network.
            ("fat-tree:4x2", &[16], &[Xor(1)]),
            ("fat-tree:3x3", &[3, 3, 3], &[Shift(1), Shift(1), Fixed]),
            ("dragonfly:5x2x3", &[5, 2, 3], &[Shift(1), Fixed, Shift(1)]),
            ("hyperx:4x2,nodes=2", &[16], &[Xor(1)]),
            ("slim-fly:3", &[2, 3, 3], &[Fixed, Fixed, Shift(1)]),
            ("groups:4x4,inside=9,inside_hop=0.5", &[4, 4], &[Shift(2), Xor(1)]),
            ("rdn:1(fat-tree:2x2)", &[2, 4, 4], &[Xor(1), Fixed, Fixed]),
            // Only some elements of the group are automorphisms of the network.
            ("rdn:1(hypercube:2)", &[2, 4, 4], &[Xor(1), Xor(1), Xor(1)]),
            ("fat-tree:3x3", &[27], &[Shift(1)]),
            ("dragonfly:5x2x3", &[30], &[Shift(1)]),
            ("dragonfly:4x2x2", &[16], &[Xor(1)]),
            ("hyperx:4x3,nodes=2", &[24], &[Shift(2)]),
            ("groups:4x3,inside=9,inside_hop=0.5", &[12], &[Shift(1)]),
            ("groups:4x3,inside=0.5", &[4, 3], &[Shift(2), Fixed]),
            ("groups:2x8,inside_hop=3", &[16], &[Shift(2)]),
            ("jellyfish:8x3x2", &[8, 2], &[Shift(1), Shift(1)]),
        ]),
        numbers in prop::collection::vec((0_u64..1000, 1_u64..5), 1..8),
    ) {
        let (spec, radices, symmetries): (&str, &[u64], &[Symmetry]) = case;
        let (topology, group) = (parse(spec).unwrap(), Group::new(radices, symmetries).unwrap());
        let messages = messages(&group, &numbers);
        let mut links = OrbitLinkLoad::new(topology.as_ref(), &group);
        let counted = links.count(topology.as_ref(), &messages, &[]).unwrap().expect("no need to expand");
        let (mut by_messages, mut by_loads) = (LinkLoad::new(topology.as_ref()), LinkLoad::new(topology.as_ref()));
        by_messages.begin();
        by_loads.begin();
        let (mut longest, mut times, mut of_nodes) = (0, OrbitTimes::default(), HashMap::new());
        for (t, hops) in messages.iter().zip(&counted.hops) {
            let mut all = 0;
            for element in group.elements() {
                let ends = [t.from, t.to].map(|node| group.moved(node.into(), element));
                let (mut latency, mut slowest) = (0.0, 0.0_f64);
                let own = topology.route(ends[0], ends[1], None, &mut |run| {
                    by_messages.add(run, 1);
                    by_loads.add(run, t.load);
                    latency += run.links().map(|link| topology.latency(link)).sum::<f64>();
                    let inverse = run.links().map(|link| 1.0 / topology.bandwidth(link));
                    slowest = inverse.fold(slowest, f64::max);
                });
                let own = own.unwrap();
                longest = longest.max(own);
                let time = t.load as f64 * slowest;
                times.latency = times.latency.max(latency);
                times.message = times.message.max(time);
                for end in [(ends[0], true), (ends[1], false)] {
                    let sum = of_nodes.entry(end).or_insert(0.0);
                    *sum += time;
                    times.node = times.node.max(*sum);
                }
                all += u128::from(own);
            }
            prop_assert_eq!(*hops, all);
        }
        prop_assert_eq!((counted.max_messages, counted.max_load, counted.max_hops), (by_messages.max(), by_loads.max(), longest));
        by_loads.for_each_loaded(&mut |link, load| {
            times.link = times.link.max(load as f64 / topology.bandwidth(link));
        });
        let is_uniform = topology.bandwidths().is_none() && topology.latencies().is_none();
        prop_assert_eq!(counted.times.is_none(), is_uniform);
        if let Some(OrbitTimes { latency, message, link, node }) = counted.times {
            prop_assert_eq!((latency, message, link), (times.latency, times.message, times.link));
            prop_assert!((node / times.node - 1.0).abs() < 1e-12, "{} {}", node, times.node);
        }
    }
}

#[test]
fn asymmetric_routes_are_expanded() {
    let expanded = |spec: &str, radices: &[u64], symmetry| {
        let (topology, group) = (parse(spec).unwrap(), Group::new(radices, symmetry).unwrap());
        let message = Transfer { from: 0, to: 1, route: 0, hops: 0, load: 1 };
        OrbitLinkLoad::new(topology.as_ref(), &group)
            .count(topology.as_ref(), &[message], &[])
            .unwrap()
            .is_none()
    };
    assert!(expanded("mesh:4x6", &[24], &[Shift(2)]));
    assert!(expanded("jellyfish:8x3x2", &[16], &[Shift(1)]));
    assert!(
        expanded("rdn:1(hypercube:2)", &[2, 4, 4], &[Fixed, Xor(1), Xor(1)]),
        "clusters are no nodes"
    );
}

/// In a complete graph, a requested path may share links with other routes. On this network, the
/// link from node r to the next node carries three messages: one on the direct route, and two on the
/// paths from r to r + 2 and from r - 1 to r + 1.
#[test]
fn requested_paths_of_complete_graphs_are_expanded() {
    let group = Group::new(&[4], &[Shift(1)]).unwrap();
    let message = |to, route| Transfer { from: 0, to, route, hops: 0, load: 1 };
    let network = parse("fully-connected:4").unwrap();
    let path = Route { path: vec![1, 2], ..Route::default() };
    let mut links = OrbitLinkLoad::new(network.as_ref(), &group);
    let direct = links.count(network.as_ref(), &[message(1, 0), message(2, 0)], &[]).unwrap();
    assert_eq!(direct.unwrap().max_messages, 1);
    let counted = links.count(network.as_ref(), &[message(1, 0), message(2, 1)], &[path]).unwrap();
    assert!(counted.is_none());
}
