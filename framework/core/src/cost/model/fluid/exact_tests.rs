//! The result is a function of the case alone. It does not depend on skipped steps, folding,
//! time-space records, the order in which a step lists its messages, or the numbers of ranks.

use super::Fluid;
use super::simulation::Simulation;
use crate::cost::machine::Machine;
use crate::cost::model::test_steps::{Random, Sends, cost_of_forwarding, run_with_sums, try_cost};
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator, PricingContext};
use crate::network::topology::parse_with;
use crate::test_tiers::cases;

struct Case {
    network: &'static str,
    machine: String,
    steps: Sends,
    /// For each step, the load that each rank reduces; empty if no rank reduces anything.
    sums: Vec<Vec<u64>>,
}

/// Returns the cost, and whether steps were skipped. If `is_plain`, the network is not folded, and
/// there is a time-space record, so that no step is skipped.
fn simulate(case: &Case, is_plain: bool) -> (Cost, bool) {
    let read = |_: &str| Ok("0 1\n1 2\n2 0\n2 3\n3 4\n4 5\n5 3\n0 6\n6 7\n7 5\n".to_owned());
    let network = parse_with(case.network, &read).unwrap();
    let machine = Machine::parse(&format!("free:model=fluid,{}", case.machine)).unwrap();
    let context = PricingContext::new(&network, 1.0);
    let ranks = Simulation::new(Fluid::of(machine.settings()).unwrap(), context);
    let mut ranks = if is_plain { ranks.unfolded() } else { ranks };
    if is_plain {
        ranks.record_time_space(TimeSpace::new(network.nodes(), None, 1 << 18)).unwrap();
    }
    run_with_sums(&network, &mut ranks, &case.steps, &case.sums);
    (ranks.cost().unwrap(), ranks.skipped_steps() > 0)
}

const NETWORKS: [(&str, u32); 18] = [
    ("mesh:6", 6),
    ("mesh:3x4", 12),
    ("mesh:3x4,down=0-1+5~6", 12),
    ("dragonfly:3x2x1", 6),
    ("dragonfly:4x2x2", 16),
    ("ring:6", 6),
    ("ring:8", 8),
    ("ring:8,down=3~4", 8),
    ("torus:2x3", 6),
    ("torus:4x4", 16),
    ("torus:4x4,slow=0-1:0.3+5~6:0.05", 16),
    ("torus:4x4,faults=3:7", 16),
    ("jellyfish:12x4x1", 12),
    ("fat-tree:4x2", 16),
    ("hyperx:4x2", 8),
    ("hypercube:3", 8),
    ("groups:4x2,inside=3,inside_hop=0", 8),
    ("graph:ladder", 8),
];

const MACHINES: [&str; 12] = [
    "byte_us=0.01,hop_us=0.3",
    "byte_us=0.01,hop_us=0.1,fairness=equal",
    "byte_us=0.01,hop_us=0.3,reduce_byte_us=0.1",
    "byte_us=0.0123457,hop_us=0.3137,injection_byte_us=0.0051",
    "byte_us=0.01,hop_us=0.3,order=barrier,barrier_us=2",
    "byte_us=0.01,hop_us=0.3,late=0:40+3:2.5",
    "startup_us=1,byte_us=0.01,hop_us=0.3",
    "startup_us=1.0719,byte_us=0.0123457,hop_us=0.3137",
    "startup_us=1,byte_us=0.01,hop_us=0.3,order=barrier,reduce_byte_us=0.05",
    "byte_us=0.01,hop_us=0.5,order=data,reduce_byte_us=0.1,late=1:20",
    "byte_us=0.01,hop_us=0.5,startup_us=1,order=data,ports=all,reduce_byte_us=0.1",
    "eager_byte_us=0.01,rendezvous_bytes=200,rendezvous_us=3,byte_us=0.01,hop_us=0.25,noise=0.3",
];
/// The number of machines at the beginning of [`MACHINES`] on which the order of a rank's sends has
/// no meaning.
const UNORDERED: u64 = 6;

/// Returns a random step. Equal sizes and short routes make many events simultaneous.
fn random_step(random: &mut Random, n: u32, number: u32) -> Vec<(u32, u32, u64, u32)> {
    let mut step: Vec<(u32, u32, u64, u32)> = Vec::new();
    for _ in 0..=random.below(3) {
        let kind = random.below(5);
        let shift = 1 + random.below(u64::from(n) - 1) as u32;
        let is_equal = random.below(2) == 0;
        let bytes = 1 + random.below(400);
        for from in 0..n {
            let to = match kind {
                0 => (from + shift) % n,
                1 if (from ^ shift) < n => from ^ shift,
                // A level of a tree.
                2 if from < shift && from + shift < n => from + shift,
                3 => (from + 1) % n,
                4 => random.below(u64::from(n)) as u32,
                _ => continue,
            };
            let bytes = if is_equal { bytes } else { 1 + random.below(bytes) };
            if to != from && !step.iter().any(|(a, b, ..)| (*a, *b) == (from, to)) {
                step.push((from, to, bytes, random.below(u64::from(number) + 1) as u32));
            }
        }
    }
    if step.is_empty() { vec![(0, 1, 100, 0)] } else { step }
}

/// Returns a random case with up to three sequences of equal steps.
fn random_case(random: &mut Random, networks: &[(&'static str, u32)], machines: u64) -> Case {
    let (network, n) = networks[random.below(networks.len() as u64) as usize];
    let machine = MACHINES[random.below(machines) as usize].to_owned();
    let (mut steps, mut sums) = (Sends::new(), Vec::new());
    let most = if random.below(4) == 0 { 60 } else { 8 };
    for _ in 0..=random.below(3) {
        let step = random_step(random, n, steps.len() as u32);
        let load = random.below(3) * 50;
        let of: Vec<u64> = (0..n).map(|_| load + random.below(2) * load).collect();
        for _ in 0..=random.below(most) {
            steps.push(step.clone());
            sums.push(if load > 0 { of.clone() } else { Vec::new() });
        }
    }
    Case { network, machine, steps, sums }
}

/// Calls `test` with the random generator of each case.
fn each_case(first: u32, full: u32, mut test: impl FnMut(&mut Random, u64)) {
    for seed in 0..u64::from(cases(first, full)) {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
        random.below(2);
        test(&mut random, seed);
    }
}

#[test]
fn results_do_not_depend_on_skipping_folding_or_records() {
    let mut skipping = 0;
    each_case(500, 20_000, |random, seed| {
        let case = random_case(random, &NETWORKS, MACHINES.len() as u64);
        let (cost, skips) = simulate(&case, false);
        assert_eq!(cost, simulate(&case, true).0, "{seed} {} {}", case.network, case.machine);
        skipping += u32::from(skips);
    });
    assert!(skipping > cases(500, 20_000) / 50, "{skipping} cases skip steps");
}

#[test]
fn results_do_not_depend_on_the_order_of_messages() {
    each_case(500, 20_000, |random, seed| {
        let case = random_case(random, &NETWORKS, UNORDERED);
        let mut steps = case.steps.clone();
        for step in &mut steps {
            for i in (1..step.len()).rev() {
                step.swap(i, random.below(i as u64 + 1) as usize);
            }
        }
        let other = Case { steps, machine: case.machine.clone(), sums: case.sums.clone(), ..case };
        let (a, b) = (simulate(&case, true).0, simulate(&other, true).0);
        assert_eq!(a, b, "{seed} {} {}", case.network, case.machine);
    });
}

/// The automorphisms are translations, and exclusive-ors on the hypercube.
#[test]
fn results_do_not_depend_on_the_numbers_of_ranks() {
    let networks = [("torus:5x5", 25), ("ring:8", 8), ("hypercube:4", 16), ("torus:3x4", 12)];
    // Jitter depends on the numbers of ranks.
    let machines = MACHINES.len() as u64 - 1;
    each_case(500, 20_000, |random, seed| {
        let case = random_case(random, &networks, machines);
        let by = 1 + random.below(2) as u32;
        let image = |r: u32| match case.network {
            "torus:5x5" => (r / 5 + by) % 5 * 5 + (r % 5 + 2 * by) % 5,
            "torus:3x4" => (r / 4 + by) % 3 * 4 + (r % 4 + 3 * by) % 4,
            "hypercube:4" => r ^ (4 * by + 1),
            _ => (r + 3 * by) % 8,
        };
        let of = |&(a, b, c, d): &(u32, u32, u64, u32)| (image(a), image(b), c, d);
        let steps = case.steps.iter().map(|step| step.iter().map(of).collect()).collect();
        let moved = |of: &Vec<u64>| {
            let mut moved = of.clone();
            (0..).zip(of).for_each(|(rank, load)| moved[image(rank) as usize] = *load);
            moved
        };
        let sums = case.sums.iter().map(moved).collect();
        let late = |text: String, (rank, us): (u32, &str)| {
            text.replace(&format!("{rank}:{us}"), &format!("{}:{us}", image(rank)))
        };
        let late_ranks = [(0, "40"), (3, "2.5"), (1, "20")];
        let machine = late_ranks.into_iter().fold(case.machine.clone(), late);
        let other = Case { network: case.network, machine, steps, sums };
        let (a, b) = (simulate(&case, true).0, simulate(&other, true).0);
        assert_eq!(a, b, "{seed} {} {}", case.network, case.machine);
    });
}

/// A step that begins a reduction of two messages that arrive together reduces both of them at
/// once, whatever the order in which the step lists them. Rank 2 receives 10 bytes of step 1 from
/// rank 0 and 10 bytes of step 2 from rank 1 after 10 µs. It forwards the data of step 1, after the
/// reduction of all 20 bytes: 10 + 20 + 10 µs.
#[test]
fn data_that_arrives_together_is_reduced_together() {
    for (first, second) in [(0, 1), (1, 0)] {
        let steps = vec![vec![(first, 2, 10, 0)], vec![(second, 2, 10, 0)], vec![(2, 3, 10, 1)]];
        let sums = vec![vec![0, 0, 10, 0], vec![0, 0, 10, 0]];
        let machine = "byte_us=1,order=data,reduce_byte_us=1".to_owned();
        let case = Case { network: "fully-connected:4", machine, steps, sums };
        assert_eq!(simulate(&case, true).0.parts.total(), 40.0);
    }
}

/// More than 64 flows of different sizes and weights share a link, and solves from the beginning
/// alternate with changes of single flows. In tests, each solve is compared with one from the
/// beginning.
#[test]
fn rates_equal_those_from_the_beginning_with_many_flows_on_a_link() {
    each_case(4, 80, |random, _| {
        for (network, n, machine) in [
            ("mesh:40", 40, "byte_us=0.01,hop_us=0.5"),
            ("fully-connected:100", 100, "byte_us=0.001,injection_byte_us=0.01,hop_us=0.1"),
            ("dragonfly:5x2x4", 40, "byte_us=0.01,hop_us=0.2,startup_us=0.1"),
            ("torus:6x6,slow-links=9:0.000001:3,down=0-1", 36, "byte_us=0.01,hop_us=0.5"),
        ] {
            let mut steps = Sends::new();
            for _ in 0..2 {
                let to = random.below(n) as u32;
                let all = (0..n as u32).filter(|from| *from != to);
                let mut step: Vec<_> =
                    all.map(|from| (from, to, 1 + random.below(5000), 0)).collect();
                for _ in 0..2 * n {
                    let (from, other) = (random.below(n) as u32, random.below(n) as u32);
                    if from != other && other != to {
                        step.push((from, other, 1 + random.below(500), 0));
                    }
                }
                steps.push(step);
            }
            cost_of_forwarding(network, &format!("free:model=fluid,{machine}"), &steps);
        }
    });
}

#[test]
fn cases_beyond_the_range_of_ticks_are_refused() {
    let error = "the model `fluid` simulates up to 26 days, this case takes longer";
    let of = |network: &str, to: u32, machine: &str, steps: usize| {
        let steps: Sends = vec![vec![(0, to, 1_000_000, 0)]; steps];
        try_cost(network, &format!("free:model=fluid,{machine}"), &steps)
    };
    assert_eq!(of("mesh:2", 1, "byte_us=10000000", 1).unwrap_err(), error);
    assert_eq!(of("mesh:1000", 999, "byte_us=1,hop_us=86400000000", 1).unwrap_err(), error);
    let days = of("mesh:2", 1, "byte_us=0.001,startup_us=86400000000", 25).unwrap().parts.total();
    assert_eq!(days, 25.0 * (86_400e6 + 1000.0));
    assert_eq!(of("mesh:2", 1, "byte_us=0.001,startup_us=86400000000", 27).unwrap_err(), error);
    // Skipped steps count, too.
    let equal: Sends = vec![vec![(0, 1, 1, 0), (1, 0, 1, 0)]; 2000];
    let skipping = try_cost("ring:2", "free:model=fluid,byte_us=5000000000", &equal);
    assert_eq!(skipping.unwrap_err(), error);
}
