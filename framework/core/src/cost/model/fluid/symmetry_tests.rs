//! Compares folded simulations with simulations of every rank.

use super::Fluid;
use super::oracle;
use super::simulation::Simulation;
use crate::cost::machine::Machine;
use crate::cost::model::test_steps::{self, Messages, run_with_orbits, sends};
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator, PricingContext};
use crate::network::symmetry::Group;
use crate::network::symmetry::Symmetry::{Shift, Xor};
use crate::network::topology::parse;

/// Returns the cost, the number of orbits after the last step, and the time-space record. If
/// `plain`, the network is not folded, so that each node is an orbit.
fn priced(
    topology: &str,
    machine: &str,
    steps: &[Messages],
    plain: bool,
) -> (Cost, usize, TimeSpace) {
    priced_of(None, topology, machine, steps, plain)
}

/// Does the same as [`priced`], but with orbit planning: only the messages of one node per orbit of
/// a group are reported.
fn priced_of(
    group: Option<&Group>,
    topology: &str,
    machine: &str,
    steps: &[Messages],
    plain: bool,
) -> (Cost, usize, TimeSpace) {
    let network = parse(topology).unwrap();
    let machine = Machine::parse(&format!("free:model=fluid,{machine}")).unwrap();
    let context = PricingContext::new(&network, 1.0);
    let ranks = Simulation::new(Fluid::of(machine.settings()).unwrap(), context);
    let mut ranks = if plain { ranks.unfolded() } else { ranks };
    ranks.record_time_space(TimeSpace::new(network.nodes(), None, 1 << 16)).unwrap();
    run_with_orbits(&network, &mut ranks, &sends(steps), &[], group, &[], |_, _| 0);
    (ranks.cost().unwrap(), ranks.orbits(), ranks.time_space().unwrap())
}

fn schedule(name: &str, n: u32) -> Vec<Messages> {
    let shift = |k: u32, bytes: u64| (0..n).map(|r| (r, (r + k) % n, bytes)).collect::<Vec<_>>();
    match name {
        "pairwise" | "gen" => test_steps::schedule(name, n, 700),
        "ring" => test_steps::schedule(name, n, 100),
        "linear" => test_steps::schedule(name, n, 300),
        // Each step has fewer symmetries than the step before it.
        "broken" => {
            let everyone = test_steps::schedule("linear", n, 40).remove(0);
            vec![shift(n / 2, 500), everyone, shift(1, 300), vec![(0, 1, 900)], shift(3, 200)]
        }
        // The destinations are symmetric, but the loads are not.
        "uneven" => (1..n)
            .map(|k| (0..n).map(|r| (r, r ^ k, 300 + 100 * u64::from(r % 2))).collect())
            .collect(),
        // In each step, a rank sends to two ranks. Ranks with odd numbers use the opposite order.
        "two" => (1..n / 2)
            .map(|k| {
                (0..n)
                    .flat_map(|r| {
                        if r % 2 == 0 {
                            [(r, (r + k) % n, 500), (r, (r + n - k) % n, 500)]
                        } else {
                            [(r, (r + n - k) % n, 500), (r, (r + k) % n, 500)]
                        }
                    })
                    .collect()
            })
            .collect(),
        other => panic!("no schedule {other}"),
    }
}

const NETWORKS: [(&str, u32); 14] = [
    ("ring:8", 8),
    ("torus:4x4", 16),
    ("torus:2x8", 16),
    ("torus:4x2x2", 16),
    ("hypercube:4", 16),
    ("torus:8x4", 32),
    ("dragonfly:4x2x1", 8),
    ("fat-tree:2x3", 8),
    ("fat-tree:4x2", 16),
    ("hyperx:4x2", 8),
    ("hyperx:2x2,nodes=2", 8),
    ("groups:4x2", 8),
    ("fully-connected:8", 8),
    ("rdn:1(ring:2)", 8),
];

const SCHEDULES: [&str; 7] = ["pairwise", "gen", "ring", "linear", "broken", "uneven", "two"];

#[test]
fn folded_simulations_equal_those_of_every_rank() {
    let unequal_links = ("groups:4x2,inside=3,inside_hop=0.5", 8);
    for (network, n) in NETWORKS.into_iter().chain([unequal_links]) {
        for name in SCHEDULES {
            let steps = schedule(name, n);
            for order in [
                "step",
                "barrier",
                "step,startup_us=0.7",
                "barrier,startup_us=0.7,barrier_us=2",
                "step,injection_byte_us=0.004",
            ] {
                for fairness in ["equal", "rtt"] {
                    let machine =
                        format!("byte_us=0.003,hop_us=0.4,fairness={fairness},order={order}");
                    let (folded, orbits, did) = priced(network, &machine, &steps, false);
                    let (plain, ranks, did_plain) = priced(network, &machine, &steps, true);
                    assert_eq!(ranks, n as usize);
                    assert_eq!(folded, plain, "{network} {name} {machine}");
                    let ends = |did: &TimeSpace, rank: usize| {
                        did.entries(rank).iter().map(|entry| entry.ended).collect::<Vec<_>>()
                    };
                    for rank in 0..n as usize {
                        let (a, b) = (ends(&did, rank), ends(&did_plain, rank));
                        assert_eq!(a, b, "{network} {name} {machine}: {rank}");
                    }
                    // Symmetric schedules are folded, and `broken` is not. The result for `two` is
                    // not tested here.
                    let is_folded = orbits < n as usize;
                    assert!(
                        name == "two" || is_folded == (name != "broken"),
                        "{network} {name} {machine}: {orbits}"
                    );
                }
            }
        }
    }
}

#[test]
fn folded_times_equal_those_of_the_oracle() {
    for (network, n) in NETWORKS {
        for name in SCHEDULES {
            let steps = schedule(name, n);
            for weighted in [false, true] {
                let expected = oracle::ends(network, [0.003, 0.4], weighted, &steps, &[]);
                let fairness = if weighted { "rtt" } else { "equal" };
                let (cost, ..) = priced(
                    network,
                    &format!("byte_us=0.003,hop_us=0.4,fairness={fairness}"),
                    &steps,
                    false,
                );
                let last = expected.iter().copied().fold(0.0, f64::max);
                let mean = expected.iter().sum::<f64>() / f64::from(n);
                let (us, found) = (cost.parts.total(), cost.ranks.unwrap().mean);
                assert!(
                    (us / last - 1.0).abs() < 1e-3 && (found / mean - 1.0).abs() < 1e-3,
                    "{network} {name} {fairness}: {us} {last}, {found} {mean}"
                );
            }
        }
    }
}

/// Messages of different orbits end at the same time. When the first of them ends, ranks wait for
/// the next step. This step splits the orbits, while the other messages have exactly 0 bytes left.
/// The messages of later steps must not be confused with these messages.
#[test]
fn orbits_are_split_while_messages_end() {
    let shift = |k: u32| (0..8).map(|r| (r, (r + k) % 8, 64)).collect::<Messages>();
    let steps = [shift(4), vec![(0, 1, 64)], shift(2), shift(1)];
    for (network, _) in NETWORKS.into_iter().filter(|(_, n)| *n == 8) {
        let ends = oracle::ends(network, [0.5, 1.0], false, &steps, &[]);
        let machine = "byte_us=0.5,hop_us=1,fairness=equal";
        let (cost, ..) = priced(network, machine, &steps, false);
        let found = [cost.parts.total(), cost.ranks.unwrap().mean];
        let expected = [ends.iter().copied().fold(0.0, f64::max), ends.iter().sum::<f64>() / 8.0];
        let are_close = found.iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-6);
        assert!(are_close, "{network}: {found:?} {expected:?}");
    }
}

/// Full planning and orbit planning give results that are equal to the last bit.
#[test]
fn symmetries_do_not_depend_on_the_kind_of_planning() {
    let pairs = |n: u32, bit: u32, bytes| (0..n).map(|r| (r, r ^ bit, bytes)).collect::<Vec<_>>();
    let mixed = [pairs(16, 4, 60), pairs(16, 12, 120), pairs(16, 1, 240), pairs(16, 3, 240)];
    let both = [Shift(2), Shift(2)];
    for (network, radices, symmetries, steps) in [
        ("torus:4x4", &[4, 4][..], &both[..], mixed.to_vec()),
        ("torus:4x4", &[16], &[Xor(1)], schedule("pairwise", 16)),
        ("torus:4x4", &[16], &[Xor(2)], schedule("uneven", 16)),
        ("torus:8x4", &[32], &[Shift(1)], schedule("gen", 32)),
        ("torus:8x4", &[32], &[Shift(1)], schedule("linear", 32)),
        ("torus:8x4", &[32], &[Shift(2)], schedule("two", 32)),
        ("hypercube:4", &[16], &[Xor(4)], schedule("pairwise", 16)),
    ] {
        let group = Group::new(radices, symmetries).unwrap();
        for machine in [
            "byte_us=0.01,hop_us=0.1",
            "byte_us=0.01,startup_us=1",
            "byte_us=0.01,hop_us=0.1,barrier_us=1",
        ] {
            for plain in [false, true] {
                let (all, orbits, _) = priced(network, machine, &steps, plain);
                let (some, as_many, _) = priced_of(Some(&group), network, machine, &steps, plain);
                assert_eq!(
                    (some, as_many),
                    (all, orbits),
                    "{network} {symmetries:?} {machine} {plain}"
                );
            }
        }
    }
}

/// The numbers of orbits were counted by hand.
#[test]
fn the_translations_of_a_schedule_are_found_in_its_messages() {
    let orbits = |network: &str, name: &str, n| {
        priced(network, "byte_us=0.003,hop_us=0.4", &schedule(name, n), false).1
    };
    // In these schedules, all nodes do the same work, so there is one orbit.
    assert_eq!(
        (
            orbits("torus:4x4", "linear", 16),
            orbits("ring:8", "gen", 8),
            orbits("hypercube:4", "pairwise", 16)
        ),
        (1, 1, 1)
    );
    // Nodes below the same switch, and switches, may be exchanged, so exclusive-ors are symmetries.
    assert_eq!((orbits("fat-tree:4x2", "pairwise", 16), orbits("hyperx:4x2", "uneven", 8)), (1, 2));
    // `gen` is symmetric under shifts by a row. `pairwise` is symmetric under shifts by half a ring
    // in each dimension, because such a shift only changes the highest bit of a coordinate.
    assert_eq!((orbits("torus:8x4", "gen", 32), orbits("torus:8x4", "pairwise", 32)), (4, 8));
    // Ranks use different orders of sends. The order matters only with start-ups, and then reduces
    // the symmetry.
    let two = |startup: &str| {
        priced("ring:8", &format!("byte_us=0.003{startup}"), &schedule("two", 8), false).1
    };
    assert_eq!((two(""), two(",startup_us=1")), (1, 2));
    // The network is not folded with jitter, with `order=data`, or without translations.
    for machine in ["byte_us=0.003,noise=0.1", "byte_us=0.003,order=data"] {
        assert_eq!(priced("ring:8", machine, &schedule("gen", 8), false).1, 8, "{machine}");
    }
    for network in ["mesh:8", "torus:8o", "jellyfish:8x3x1"] {
        assert_eq!(priced(network, "byte_us=0.003", &schedule("gen", 8), false).1, 8, "{network}");
    }
}
