use super::*;
use crate::network::topology::{Route, parse};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The load of each link number, counted link by link.
type Plain = BTreeMap<u64, u64>;

fn count(plain: &mut Plain, run: Run, amount: u64) {
    run.links().for_each(|link| *plain.entry(link).or_default() += amount);
}

fn loads(load: &mut LinkLoad) -> Plain {
    let mut found = Plain::new();
    load.for_each_loaded(&mut |link, amount| {
        assert_eq!(found.insert(link, amount), None, "link {link} is visited twice");
    });
    found
}

/// Creates a counter that always uses the array (if `array`) or never uses it.
fn forced(topology: &Network, array: bool) -> LinkLoad {
    let mut load = LinkLoad::new(topology);
    load.most_intervals = if array { 0 } else { usize::MAX };
    load
}

fn networks() -> impl Strategy<Value = &'static str> {
    const NAMES: &[&str] = &[
        "torus:5x4",
        "mesh:3x4x2",
        "ring:7",
        "torus:2x1x3",
        "torus:16x16",
        "mesh:1",
        "hypercube:4",
        "fully-connected:9",
        "fat-tree:2x3",
        "rdn:1(torus:2x3)",
    ];
    prop::sample::select(NAMES)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    /// Each counter gives every link the same load as a simple count, and starts the next step
    /// without load.
    #[test]
    fn every_counter_agrees_with_a_plain_count(
        spec in networks(),
        steps in prop::collection::vec(prop::collection::vec((0_u64..1000, 0_u64..1000, 1_u64..9), 0..60), 1..4),
    ) {
        let topology = parse(spec).unwrap();
        let n = topology.nodes();
        let all = [LinkLoad::new(topology.as_ref()), forced(topology.as_ref(), true), forced(topology.as_ref(), false)];
        for mut load in all {
            for messages in &steps {
                let mut plain = Plain::new();
                load.begin();
                for (from, to, amount) in messages {
                    let mut visit = |run: Run| {
                        load.add(run, *amount);
                        count(&mut plain, run, *amount);
                    };
                    topology.route(from % n, to % n, None, &mut visit).unwrap();
                }
                prop_assert_eq!(load.max(), plain.values().copied().max().unwrap_or(0));
                prop_assert_eq!(loads(&mut load), plain);
            }
        }
    }

    #[test]
    fn the_maximum_can_be_requested_during_a_step(spec in networks(), messages in prop::collection::vec((0_u64..1000, 0_u64..1000), 1..30)) {
        let topology = parse(spec).unwrap();
        let n = topology.nodes();
        let (mut load, mut plain) = (LinkLoad::new(topology.as_ref()), Plain::new());
        load.begin();
        for (from, to) in messages {
            let mut visit = |run: Run| {
                load.add(run, 1);
                count(&mut plain, run, 1);
            };
            topology.route(from % n, to % n, None, &mut visit).unwrap();
            prop_assert_eq!(load.max(), plain.values().copied().max().unwrap_or(0));
        }
    }
}

/// On a ring of 8 nodes, a message to the opposite node has 4 hops. If all messages use the plus
/// direction, four messages share each link. If half of them use the minus direction, two messages
/// share each link.
#[test]
fn using_both_directions_of_a_ring_halves_the_load() {
    let ring = parse("ring:8").unwrap();
    let minus = Route { signs: vec![-1], ..Route::default() };
    let mut load = LinkLoad::new(ring.as_ref());
    for (odd_ones, expected) in [(None, 4), (Some(&minus), 2)] {
        load.begin();
        for from in 0..8 {
            let route = odd_ones.filter(|_| from % 2 == 1);
            ring.route(from, (from + 4) % 8, route, &mut |run| load.add(run, 1)).unwrap();
        }
        assert_eq!(load.max(), expected);
    }
}

#[test]
fn few_long_messages_use_no_array() {
    let ring = parse("ring:1000000").unwrap();
    let mut load = LinkLoad::new(ring.as_ref());
    load.begin();
    for from in [0, 200_000, 900_000] {
        ring.route(from, (from + 300_000) % 1_000_000, None, &mut |run| load.add(run, 1)).unwrap();
    }
    assert_eq!(load.max(), 2);
    assert!(load.array.is_none());
}

#[test]
fn many_messages_use_the_array() {
    let mesh = parse("mesh:64x64").unwrap();
    let mut load = LinkLoad::new(mesh.as_ref());
    load.begin();
    for from in 0..4096 {
        mesh.route(from, (from + 77) % 4096, None, &mut |run| load.add(run, 1)).unwrap();
    }
    assert_eq!(load.intervals.len(), 0);
    assert!(matches!(load.array, Some(Array::LineSums(_))));
}

#[test]
fn networks_with_too_many_links_use_no_array() {
    for spec in ["fully-connected:100000", "hypercube:31", "torus:32768x65536"] {
        let topology = parse(spec).unwrap();
        let mut load = LinkLoad::new(topology.as_ref());
        load.begin();
        for from in [1, 2, 3, 3] {
            topology.route(from, topology.nodes() - 1, None, &mut |run| load.add(run, 5)).unwrap();
        }
        assert!(load.max() >= 10, "{spec}");
        assert!(load.array.is_none(), "{spec}");
    }
}

#[test]
fn loads_up_to_64_bits_are_exact() {
    let ring = parse("ring:4").unwrap();
    for array in [true, false] {
        let mut load = forced(ring.as_ref(), array);
        load.begin();
        for (from, amount) in [(0, u64::MAX - 10), (1, 10)] {
            ring.route(from, 2, None, &mut |run| load.add(run, amount)).unwrap();
        }
        assert_eq!(load.max(), u64::MAX);
    }
}
