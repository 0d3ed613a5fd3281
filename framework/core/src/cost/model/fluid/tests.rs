use crate::cost::kind::Kind;
use crate::cost::model::test_steps::{
    Messages, cost, cost_by_routes, cost_of_forwarding, cost_with_sums, schedule, sends,
};
use crate::network::topology::Route;

const SIMGRID: &str = include_str!("simgrid.csv");

fn priced(topology: &str, machine: &str, steps: &[Messages]) -> (f64, f64, [f64; 5]) {
    let cost = cost_of_forwarding(topology, &format!("free:model=fluid,{machine}"), &sends(steps));
    let p = cost.parts;
    let parts =
        [Kind::Startup, Kind::Transmission, Kind::Propagation, Kind::Barrier, Kind::Contention]
            .map(|kind| p[kind].unwrap());
    (parts.iter().sum(), cost.ranks.unwrap().mean, parts)
}

/// All tests also check each solve for max-min fairness ([`super::shares::Shares::check`]).
#[test]
fn times_equal_those_of_simgrid() {
    let mut rows = 0;
    for row in SIMGRID.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let nodes = fields[0]
            .trim_start_matches("torus:")
            .split('x')
            .map(|n| n.parse::<u32>().unwrap())
            .product();
        let (block, byte_us) = (fields[2].parse().unwrap(), 1.0 / number(4));
        let machine = format!(
            "byte_us={byte_us},hop_us={},startup_us={},order={}",
            fields[5], fields[6], fields[3]
        );
        let (us, mean, _) = priced(fields[0], &machine, &schedule(fields[1], nodes, block));
        assert!((us / number(7) - 1.0).abs() < 0.01, "{row}: {us}");
        assert!((mean / number(8) - 1.0).abs() < 0.01, "{row}: mean {mean}");
        rows += 1;
    }
    assert_eq!(rows, 70);
}

/// Times in µs of SimGrid 3.32 on torus:4x4 with blocks of 1,024 and 65,536 bytes. For opposite
/// nodes of a ring, SimGrid's torus zone sometimes uses the other one of two shortest routes.
const BY_SIMGRIDS_ZONE: [(&str, [f64; 2]); 4] = [
    ("pairwise", [25.728, 1444.992]),
    ("gen", [28.455937, 1594.380375]),
    ("ring", [125.88, 7867.32]),
    ("bruck", [49.902, 3146.478]),
];

#[test]
fn times_with_other_routes_equal_those_of_simgrid() {
    let signs = |signs: [i8; 2]| Route { signs: signs.to_vec(), ..Route::default() };
    let routes = [signs([-1, 0]), signs([0, -1]), signs([-1, -1])];
    let goes_back = |from: u32, to: u32| u32::from(from == 2 && to == 0);
    let route_of =
        |from: u32, to: u32| goes_back(from / 4, to / 4) + 2 * goes_back(from % 4, to % 4);
    for (name, times) in BY_SIMGRIDS_ZONE {
        for (block, expected) in [1024, 65_536].into_iter().zip(times) {
            let steps = sends(&schedule(name, 16, block));
            let machine = "free:model=fluid,byte_us=0.001,hop_us=0.1";
            let us = cost_by_routes("torus:4x4", machine, &steps, &routes, route_of).parts.total();
            assert!((us / expected - 1.0).abs() < 0.01, "{name} {block}: {us}, {expected}");
        }
    }
}

#[test]
fn parts_follow_the_critical_path() {
    let machine = "startup_us=2,hop_us=1,byte_us=0.1";
    assert_eq!(priced("ring:8", machine, &[vec![(0, 2, 10)]]).2, [2.0, 1.0, 2.0, 0.0, 0.0]);
    let (us, _, parts) =
        priced("mesh:4", "byte_us=0.1,fairness=equal", &[vec![(0, 3, 10), (1, 3, 10)]]);
    assert_eq!((us, parts), (2.0, [0.0, 1.0, 0.0, 0.0, 1.0]));
    let late = [vec![(0, 1, 1000)], vec![(1, 2, 10)]];
    assert_eq!(priced("mesh:4", machine, &late).2, [4.0, 101.0, 2.0, 0.0, 0.0]);
}

#[test]
fn barriers_separate_steps() {
    let steps: [&[_]; 3] = [&[(0, 1, 100), (2, 3, 50)], &[(1, 2, 100)], &[(0, 1, 20), (2, 3, 10)]];
    // In both models, the longest messages of the steps take 102, 102 and 22 µs. Counted from the
    // start of the last step, ranks end after 22, 22, 12 and 12 µs in `fluid`, and after 0, 22, 0
    // and 12 µs in `loggp`, in which a sender does not wait for the arrival.
    for (model, mean) in
        [("fluid,byte_us=1,hop_us=2", 204.0 + 17.0), ("loggp,byte_us=1,latency_us=3", 204.0 + 8.5)]
    {
        for (order, barrier_us) in [("step", 7.0), ("barrier", 7.0), ("barrier", 0.0)] {
            for known in 1..=3 {
                let machine = format!("free:model={model},order={order},barrier_us={barrier_us}");
                let cost = cost("mesh:4", &machine, &steps[..known]);
                let barriers = (known - 1) as f64 * barrier_us;
                assert_eq!(cost.parts[Kind::Barrier], Some(barriers), "{machine}: {known} steps");
                if known == 3 {
                    assert_eq!(cost.parts.total(), 226.0 + barriers, "{machine}");
                    assert_eq!(cost.ranks.unwrap().mean, mean + barriers, "{machine}");
                }
            }
        }
    }
}

/// Specs of older versions set the parameter `second_eps_us`.
#[test]
fn second_eps_us_has_no_effect_and_the_note_says_so() {
    let steps: [&[_]; 2] = [&[(0, 1, 100), (2, 3, 104)], &[(1, 0, 1000), (3, 2, 1000)]];
    let of = |eps: &str| {
        cost("mesh:4", &format!("free:model=fluid,byte_us=0.1,order=barrier{eps}"), &steps)
    };
    let (without, with) = (of(""), of(",second_eps_us=1"));
    assert_eq!((without.note, with.parts, with.ranks), (None, without.parts, without.ranks));
    assert_eq!(with.note.unwrap(), "second_eps_us has no effect, because times are exact");
}

#[test]
fn injection_links_are_shared() {
    let incast: Vec<_> = (1..5).map(|r| (r, 0, 100)).collect();
    assert_eq!(priced("fully-connected:5", "byte_us=0.1", std::slice::from_ref(&incast)).0, 10.0);
    let (us, _, parts) =
        priced("fully-connected:5", "byte_us=0.1,injection_byte_us=0.1", &[incast]);
    assert!((us - 40.0).abs() < 1e-9 && (parts[4] - 30.0).abs() < 1e-9, "{us} {parts:?}");
}

#[test]
fn weights_are_inverse_round_trip_times_or_equal() {
    // The routes of both messages share one link. With `fairness=equal`, each message gets half of
    // it; by default, the message over one link gets three quarters.
    let both = [vec![(0, 3, 100), (2, 3, 100)]];
    assert_eq!(priced("mesh:4", "byte_us=1,fairness=equal", &both).0, 200.0);
    let (us, mean, _) = priced("mesh:4", "byte_us=1,hop_us=0.000001", &both);
    assert!((us - 200.0).abs() < 0.01, "{us}");
    assert!((mean - (200.0 + 200.0 + 400.0 / 3.0) / 4.0).abs() < 0.01, "{mean}");
}

#[test]
fn a_result_is_sent_after_its_reduction() {
    let steps = vec![vec![(0, 1, 100, 0)], vec![(1, 2, 100, 1)]];
    for (model, order) in [("fluid", "data"), ("fluid", "step"), ("loggp", "data")] {
        let us = |reduce_byte_us: f64| {
            let machine = format!(
                "free:model={model},order={order},byte_us=1,reduce_byte_us={reduce_byte_us}"
            );
            cost_with_sums("mesh:3", &machine, &[0, 100, 0], &steps).parts.total()
        };
        // LogGP charges no time for the first byte of a message.
        let sends = if model == "loggp" { 2.0 * 99.0 } else { 2.0 * 100.0 };
        assert_eq!([0.0, 2.0].map(us), [sends, sends + 200.0], "{model} {order}");
    }
}

/// The rank with the longest reduction need not be the one that receives last, and a rank can
/// reduce without a message. Each rank ends after its own reduction.
#[test]
fn last_reductions_of_different_ranks_are_not_added() {
    let steps = vec![vec![(0, 1, 11, 0)]];
    for model in ["fluid", "loggp"] {
        let on = |sums, order| {
            let machine = format!("free:model={model},byte_us=1,reduce_byte_us=1,order={order}");
            cost_with_sums("fully-connected:3", &machine, sums, &steps)
        };
        for sums in [&[0, 100, 5000], &[0, 100, 0], &[200, 0, 0]] {
            let (by_data, by_step) = (on(sums, "data"), on(sums, "step"));
            assert_eq!(by_data.parts.total(), by_step.parts.total(), "{model} {sums:?}");
            assert_eq!(
                by_data.ranks.unwrap().mean,
                by_step.ranks.unwrap().mean,
                "{model} {sums:?}"
            );
        }
        assert_eq!(on(&[0, 100, 5000], "data").parts[Kind::Reduction], Some(5000.0), "{model}");
    }
}

mod data_order {
    use super::super::oracle::{ByData, ends_by_data};
    use crate::cost::machine::Machine;
    use crate::cost::model::test_steps::{Random, Sends, run_with_sums};
    use crate::cost::model::{Cost, PricingContext};
    use crate::network::topology::parse;
    use crate::test_tiers::cases;

    /// Returns the cost, the time at which each rank ends in the naive simulation, and whether a
    /// near tie may have decided these times.
    fn simulate(
        network: &str,
        machine: &ByData,
        steps: &Sends,
        sums: &[Vec<u64>],
    ) -> (Cost, Vec<f64>, bool) {
        let network = parse(network).unwrap();
        let ByData { startup_us, byte_us, hop_us, injection_byte_us, reduce_byte_us, .. } = machine;
        let ports = machine.ports;
        let fairness = if machine.weighted { "rtt" } else { "equal" };
        let late: Vec<String> =
            machine.late.iter().map(|(rank, us)| format!(",late={rank}:{us}")).collect();
        let spec = format!(
            "free:model=fluid,order=data,startup_us={startup_us},byte_us={byte_us},hop_us={hop_us},injection_byte_us={injection_byte_us},reduce_byte_us={reduce_byte_us},ports={ports},fairness={fairness}{}",
            late.concat()
        );
        let mut evaluator =
            Machine::parse(&spec).unwrap().evaluator(PricingContext::new(&network, 1.0));
        run_with_sums(&network, evaluator.as_mut(), steps, sums);
        let (ends, is_near) = ends_by_data(network.as_ref(), machine, steps, sums);
        (evaluator.cost().unwrap(), ends, is_near)
    }

    /// Compares the results with tolerances, because the naive simulation does not round times to
    /// picoseconds.
    fn assert_agree(cost: &Cost, ends: &[f64], case: &str) {
        let last = ends.iter().copied().fold(0.0, f64::max);
        let first = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = ends.iter().sum::<f64>() / ends.len() as f64;
        let ranks = cost.ranks.unwrap();
        for (us, naive) in [(cost.parts.total(), last), (ranks.first, first), (ranks.mean, mean)] {
            assert!((us - naive).abs() <= 1e-8 * naive + 1e-4, "{us} instead of {naive}: {case}");
        }
    }

    const NETWORKS: [(&str, u32); 8] = [
        ("mesh:3x3,down=4-5+0~1", 9),
        ("mesh:6", 6),
        ("ring:7", 7),
        ("torus:3x3,slow=0-1:0.3+5~4:0.05", 9),
        ("fully-connected:6", 6),
        ("dragonfly:3x2x1", 6),
        ("fat-tree:3x2", 9),
        ("hypercube:3", 8),
    ];

    /// A rank that receives in a random step may reduce data. Random sizes make ties of messages
    /// rare.
    fn random_steps(random: &mut Random, n: u32) -> (Sends, Vec<Vec<u64>>) {
        let (mut steps, mut sums) = (Sends::new(), Vec::new());
        let reduces = random.below(2) == 0;
        let density = 1 + random.below(4);
        for number in 0..1 + random.below(8) as u32 {
            let mut step = Vec::new();
            for from in 0..n {
                for to in (0..n).filter(|to| *to != from) {
                    if random.below(2 * u64::from(n)) >= density {
                        continue;
                    }
                    let bytes = random.below(10) / 9 * random.below(20_000) + random.below(2000);
                    let is_empty = random.below(20) == 0;
                    let after = random.below(u64::from(number) + 1) as u32;
                    step.push((from, to, if is_empty { 0 } else { bytes }, after));
                }
            }
            if step.is_empty() {
                step.push((0, 1, 777, 0));
            }
            for i in (1..step.len()).rev() {
                step.swap(i, random.below(i as u64 + 1) as usize);
            }
            let receives = |rank| step.iter().any(|(_, to, ..)| *to == rank);
            let sum = |rank| if reduces && receives(rank) { random.below(3) * 517 } else { 0 };
            sums.push((0..n).map(sum).collect());
            steps.push(step);
        }
        (steps, sums)
    }

    /// Skips cases in which the rounding to picoseconds may decide a tie.
    #[test]
    fn data_order_agrees_with_a_naive_simulation() {
        let (mut near_ties, count) = (0, cases(400, 20_000));
        for seed in 0..u64::from(count) {
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xDA7A);
            random.below(2);
            let (network, n) = NETWORKS[random.below(NETWORKS.len() as u64) as usize];
            let mut pick = |of: [f64; 3]| of[random.below(3) as usize];
            let machine = ByData {
                startup_us: pick([0.0, 0.0, 1.25]),
                byte_us: pick([0.01, 0.25, 0.0375]),
                hop_us: pick([0.0, 0.5, 3.7]),
                injection_byte_us: pick([0.0, 0.02, 0.1]),
                reduce_byte_us: pick([0.0, 0.1, 0.5]),
                ports: [1, 2, 100][random.below(3) as usize],
                weighted: random.below(2) == 0,
                late: (0..random.below(2))
                    .map(|_| (random.below(n.into()) as usize, (1 + random.below(300)) as f64))
                    .collect(),
            };
            let (steps, sums) = random_steps(&mut random, n);
            let (cost, ends, is_near) = simulate(network, &machine, &steps, &sums);
            if is_near {
                near_ties += 1;
                continue;
            }
            assert_agree(&cost, &ends, &format!("{seed} {network} {machine:?} {steps:?} {sums:?}"));
        }
        assert!(near_ties < count / 5, "{near_ties} of {count} cases have near ties");
    }

    const BYTE_AND_REDUCTION: ByData = ByData {
        startup_us: 0.0,
        byte_us: 1.0,
        hop_us: 0.0,
        injection_byte_us: 0.0,
        reduce_byte_us: 1.0,
        ports: 1,
        weighted: false,
        late: Vec::new(),
    };

    /// In a former defect, rank 2 sent the data of step 1 only at 35 µs, after both of its
    /// reductions.
    #[test]
    fn reduced_data_is_sent_during_the_next_reduction() {
        let steps = vec![vec![(0, 2, 10, 0)], vec![(1, 2, 15, 0)], vec![(2, 3, 10, 1)]];
        let sums = [vec![0, 0, 10, 0], vec![0, 0, 15, 0]];
        let (cost, ends, _) = simulate("fully-connected:4", &BYTE_AND_REDUCTION, &steps, &sums);
        assert_eq!(ends, [10.0, 15.0, 35.0, 30.0]);
        assert_agree(&cost, &ends, "two reductions");
    }

    /// In a former defect, a send of data that is reduced until 110 µs did not wait for the
    /// reduction, because all ranks had ended the step in which the data arrived.
    #[test]
    fn sends_of_later_steps_wait_for_a_reduction() {
        let others =
            vec![(0, 1, 10, 0), (1, 0, 20, 0), (1, 2, 20, 0), (2, 0, 20, 0), (2, 1, 20, 0)];
        let steps = vec![vec![(0, 2, 10, 0)], others, vec![(2, 0, 10, 1)]];
        let sums = [vec![0, 0, 100], Vec::new(), Vec::new()];
        let (cost, ends, _) = simulate("fully-connected:3", &BYTE_AND_REDUCTION, &steps, &sums);
        assert_eq!(ends, [120.0, 40.0, 120.0]);
        assert_agree(&cost, &ends, "a reduction during later steps");
    }

    /// The messages of `flow:segments=4` on `mesh:3x3,down=4-5+0~1` with
    /// `moe:experts=9,top=2,tokens=3,bytes=1000` and the seed 66. A line is a step. A message has
    /// its sender, receiver, bytes, and the latest arrival of its data. If empty blocks change this
    /// arrival, the latest arrival with them follows.
    const WITH_EMPTY_BLOCKS: [&str; 16] = [
        "0>3:1250:0 1>0:1250:0 2>5:1000:0 3>6:1250:0 4>1:1000:0 5>8:1250:0 7>4:1000:0 8>7:1250:0",
        "0>3:1250:0 1>2:1000:0:1 2>5:1000:0 5>8:1250:1 6>7:1250:0:1 7>4:1000:1",
        "0>3:1250:0 1>0:1250:0:2 2>1:1250:0 3>4:1250:1 4>7:750:0 5>2:1250:0 7>6:1000:0:1 8>5:1000:0",
        "0>3:1250:3 1>0:1250:3 2>5:1000:0:2 3>6:1250:2 4>1:1250:3 5>8:1000:2 6>7:1250:0 7>4:500:2",
        "0>3:750:4 1>0:500:3 2>5:1000:0 3>4:1250:3 5>2:1250:3 7>8:1250:2:3 8>7:1250:1",
        "1>2:1250:4:5 2>1:1250:5 3>4:1250:4 4>3:1250:0 5>8:1000:5 6>7:1250:4 7>6:1250:3 8>5:1250:5",
        "1>4:1000:0:3 2>5:750:6 3>0:500:6 4>1:1250:5 5>2:1250:6 6>3:1250:6 7>6:1250:3 8>7:1250:4",
        "1>0:1250:6 2>1:1250:7 3>4:1250:7 5>2:750:0 6>3:1250:3 7>8:1250:6 8>5:500:5",
        "0>3:750:8 1>2:1000:7 3>0:750:8 4>1:1250:6 6>7:1250:4 7>6:1000:7:8 8>5:750:8",
        "1>0:1250:8 2>1:1250:7 3>4:500:0 4>3:1000:0:7 7>8:1250:9 8>7:1250:4",
        "1>0:1250:10 2>1:1250:8 3>6:1250:4 4>3:1000:1 7>4:1250:6 8>7:500:0",
        "0>3:500:10 1>0:750:11 3>6:1250:4 4>1:1250:11 6>7:500:11 7>8:1250:6 8>5:750:10",
        "1>2:1000:9 2>1:250:3 3>0:500:10 4>3:1000:1 6>7:750:12 7>4:1000:10 8>5:500:12",
        "1>0:250:13 3>6:500:6 4>1:750:11 6>3:1250:0 7>8:1250:12",
        "1>2:500:7 3>0:250:14 6>7:250:14 7>6:250:10 8>5:500:14",
        "1>4:500:11",
    ];

    /// Messages do not wait for empty blocks, which are not sent (`empty=skip`). If they did, the
    /// time would be 4276.28 µs.
    #[test]
    fn messages_do_not_wait_for_empty_blocks() {
        let machine = ByData {
            startup_us: 0.0,
            byte_us: 0.25,
            hop_us: 0.5,
            injection_byte_us: 0.1,
            reduce_byte_us: 0.1,
            ports: 1,
            weighted: true,
            late: vec![(7, 100.0)],
        };
        for (counts_empty, expected) in [(false, 4291.18), (true, 4276.28)] {
            let message = |text: &str| {
                let numbers = text.split(['>', ':']).map(|number| number.parse().unwrap());
                let numbers: Vec<u64> = numbers.collect();
                let after = if counts_empty { *numbers.last().unwrap() } else { numbers[3] };
                (numbers[0] as u32, numbers[1] as u32, numbers[2], after as u32)
            };
            let steps: Sends = WITH_EMPTY_BLOCKS
                .iter()
                .map(|step| step.split(' ').map(message).collect())
                .collect();
            let (cost, ends, _) = simulate("mesh:3x3,down=4-5+0~1", &machine, &steps, &[]);
            assert_agree(&cost, &ends, "flow");
            assert!(
                (cost.parts.total() - expected).abs() < 1e-9,
                "{} {expected}",
                cost.parts.total()
            );
        }
    }
}

mod symmetry {
    use super::super::Fluid;
    use super::super::oracle;
    use super::super::simulation::Simulation;
    use crate::cost::machine::Machine;
    use crate::cost::model::test_steps::{self, Messages, run_with_orbits, sends};
    use crate::cost::model::time_space::TimeSpace;
    use crate::cost::model::{Cost, Evaluator, PricingContext};
    use crate::network::symmetry::Group;
    use crate::network::symmetry::Symmetry::{Shift, Xor};
    use crate::network::topology::parse;

    fn priced(
        topology: &str,
        machine: &str,
        steps: &[Messages],
        plain: bool,
    ) -> (Cost, usize, TimeSpace) {
        priced_of(None, topology, machine, steps, plain)
    }

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
        let shift =
            |k: u32, bytes: u64| (0..n).map(|r| (r, (r + k) % n, bytes)).collect::<Vec<_>>();
        match name {
            "pairwise" | "gen" => test_steps::schedule(name, n, 700),
            "ring" => test_steps::schedule(name, n, 100),
            "linear" => test_steps::schedule(name, n, 300),
            "broken" => {
                let everyone = test_steps::schedule("linear", n, 40).remove(0);
                vec![shift(n / 2, 500), everyone, shift(1, 300), vec![(0, 1, 900)], shift(3, 200)]
            }
            "uneven" => (1..n)
                .map(|k| (0..n).map(|r| (r, r ^ k, 300 + 100 * u64::from(r % 2))).collect())
                .collect(),
            // A rank sends to two ranks in each step, in the opposite order if its number is odd.
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

    /// A step splits the orbits while some messages have exactly 0 bytes left. These messages must
    /// not be confused with messages of later steps.
    #[test]
    fn orbits_are_split_while_messages_end() {
        let shift = |k: u32| (0..8).map(|r| (r, (r + k) % 8, 64)).collect::<Messages>();
        let steps = [shift(4), vec![(0, 1, 64)], shift(2), shift(1)];
        for (network, _) in NETWORKS.into_iter().filter(|(_, n)| *n == 8) {
            let ends = oracle::ends(network, [0.5, 1.0], false, &steps, &[]);
            let machine = "byte_us=0.5,hop_us=1,fairness=equal";
            let (cost, ..) = priced(network, machine, &steps, false);
            let found = [cost.parts.total(), cost.ranks.unwrap().mean];
            let expected =
                [ends.iter().copied().fold(0.0, f64::max), ends.iter().sum::<f64>() / 8.0];
            let are_close = found.iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-6);
            assert!(are_close, "{network}: {found:?} {expected:?}");
        }
    }

    #[test]
    fn symmetries_do_not_depend_on_the_kind_of_planning() {
        let pairs =
            |n: u32, bit: u32, bytes| (0..n).map(|r| (r, r ^ bit, bytes)).collect::<Vec<_>>();
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
                    let (some, as_many, _) =
                        priced_of(Some(&group), network, machine, &steps, plain);
                    assert_eq!(
                        (some, as_many),
                        (all, orbits),
                        "{network} {symmetries:?} {machine} {plain}"
                    );
                }
            }
        }
    }

    /// The expected numbers of orbits were counted by hand.
    #[test]
    fn the_translations_of_a_schedule_are_found_in_its_messages() {
        let orbits = |network: &str, name: &str, n| {
            priced(network, "byte_us=0.003,hop_us=0.4", &schedule(name, n), false).1
        };
        assert_eq!(
            (
                orbits("torus:4x4", "linear", 16),
                orbits("ring:8", "gen", 8),
                orbits("hypercube:4", "pairwise", 16)
            ),
            (1, 1, 1)
        );
        assert_eq!(
            (orbits("fat-tree:4x2", "pairwise", 16), orbits("hyperx:4x2", "uneven", 8)),
            (1, 2)
        );
        // `gen` is symmetric under shifts by a row. `pairwise` is symmetric under shifts by half a
        // ring in each dimension, which only change the highest bit of a coordinate.
        assert_eq!((orbits("torus:8x4", "gen", 32), orbits("torus:8x4", "pairwise", 32)), (4, 8));
        // The order of sends differs between ranks, but matters only with start-ups.
        let two = |startup: &str| {
            priced("ring:8", &format!("byte_us=0.003{startup}"), &schedule("two", 8), false).1
        };
        assert_eq!((two(""), two(",startup_us=1")), (1, 2));
        for machine in ["byte_us=0.003,noise=0.1", "byte_us=0.003,order=data"] {
            assert_eq!(priced("ring:8", machine, &schedule("gen", 8), false).1, 8, "{machine}");
        }
        for network in ["mesh:8", "torus:8o", "jellyfish:8x3x1"] {
            assert_eq!(
                priced(network, "byte_us=0.003", &schedule("gen", 8), false).1,
                8,
                "{network}"
            );
        }
    }
}

/// The result depends on the case alone, not on skipped steps, folding, time-space records, the
/// order of messages in the list of a step, or the numbers of ranks.
mod exactness {
    use super::super::Fluid;
    use super::super::simulation::Simulation;
    use crate::cost::machine::Machine;
    use crate::cost::model::test_steps::{
        Random, Sends, cost_of_forwarding, run_with_sums, try_cost,
    };
    use crate::cost::model::time_space::TimeSpace;
    use crate::cost::model::{Cost, Evaluator, PricingContext};
    use crate::network::topology::parse_with;
    use crate::test_tiers::cases;

    struct Case {
        network: &'static str,
        machine: String,
        steps: Sends,
        sums: Vec<Vec<u64>>,
    }

    /// Returns the cost, and whether steps were skipped. If `is_plain`, the network is not folded,
    /// and a time-space record prevents skipping.
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
    const UNORDERED: u64 = 6;

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
        each_case(150, 20_000, |random, seed| {
            let case = random_case(random, &NETWORKS, MACHINES.len() as u64);
            let (cost, skips) = simulate(&case, false);
            assert_eq!(cost, simulate(&case, true).0, "{seed} {} {}", case.network, case.machine);
            skipping += u32::from(skips);
        });
        assert!(skipping > cases(150, 20_000) / 50, "{skipping} cases skip steps");
    }

    #[test]
    fn results_do_not_depend_on_the_order_of_messages() {
        each_case(150, 20_000, |random, seed| {
            let case = random_case(random, &NETWORKS, UNORDERED);
            let mut steps = case.steps.clone();
            for step in &mut steps {
                for i in (1..step.len()).rev() {
                    step.swap(i, random.below(i as u64 + 1) as usize);
                }
            }
            let other =
                Case { steps, machine: case.machine.clone(), sums: case.sums.clone(), ..case };
            let (a, b) = (simulate(&case, true).0, simulate(&other, true).0);
            assert_eq!(a, b, "{seed} {} {}", case.network, case.machine);
        });
    }

    #[test]
    fn results_do_not_depend_on_the_numbers_of_ranks() {
        let networks = [("torus:5x5", 25), ("ring:8", 8), ("hypercube:4", 16), ("torus:3x4", 12)];
        let machines = MACHINES.len() as u64 - 1;
        each_case(150, 20_000, |random, seed| {
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

    /// Rank 2 receives 10 bytes of step 1 from one rank and 10 bytes of step 2 from another, both
    /// after 10 µs. It forwards the data of step 1 after the reduction of all 20 bytes: 10 + 20 +
    /// 10 µs.
    #[test]
    fn data_that_arrives_together_is_reduced_together() {
        for (first, second) in [(0, 1), (1, 0)] {
            let steps =
                vec![vec![(first, 2, 10, 0)], vec![(second, 2, 10, 0)], vec![(2, 3, 10, 1)]];
            let sums = vec![vec![0, 0, 10, 0], vec![0, 0, 10, 0]];
            let machine = "byte_us=1,order=data,reduce_byte_us=1".to_owned();
            let case = Case { network: "fully-connected:4", machine, steps, sums };
            assert_eq!(simulate(&case, true).0.parts.total(), 40.0);
        }
    }

    /// Solves from the beginning alternate with changes of single flows, and tests compare both.
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
        let days =
            of("mesh:2", 1, "byte_us=0.001,startup_us=86400000000", 25).unwrap().parts.total();
        assert_eq!(days, 25.0 * (86_400e6 + 1000.0));
        assert_eq!(of("mesh:2", 1, "byte_us=0.001,startup_us=86400000000", 27).unwrap_err(), error);
        let equal: Sends = vec![vec![(0, 1, 1, 0), (1, 0, 1, 0)]; 2000];
        let skipping = try_cost("ring:2", "free:model=fluid,byte_us=5000000000", &equal);
        assert_eq!(skipping.unwrap_err(), error);
    }
}

mod windows {
    use super::super::WithCopy;
    use super::super::simulation::Simulation;
    use super::super::{Fluid, oracle};
    use crate::cost::background::Background;
    use crate::cost::machine::Machine;
    use crate::cost::model::test_steps::{Messages, Random, cost, cost_of_forwarding, run, sends};
    use crate::cost::model::{Cost, Evaluator, PricingContext};
    use crate::network::topology::parse;
    use crate::test_tiers::{cases, is_full};

    /// Returns a machine for which no note says that its ports do not limit rates.
    fn without_port_note(machine: &str) -> String {
        let ports = if machine.contains("order=data") { "" } else { ",ports=all" };
        format!("free:model=fluid,{machine}{ports}")
    }

    fn with_windows(topology: &str, machine: &str, steps: &[Messages]) -> Cost {
        let network = parse(topology).unwrap();
        let machine = Machine::parse(&without_port_note(machine)).unwrap();
        let machine = Fluid::of(machine.settings()).unwrap();
        let simulation = Simulation::new(machine, PricingContext::new(&network, 1.0));
        let mut simulations = WithCopy::new(simulation.with_windows_in_all_steps());
        run(&network, &mut simulations, &sends(steps), &[], |_, _| 0);
        simulations.cost().unwrap()
    }

    fn exact(topology: &str, machine: &str, steps: &[Messages]) -> Cost {
        let machine = without_port_note(&format!("flow_window=0,{machine}"));
        cost_of_forwarding(topology, &machine, &sends(steps))
    }

    fn times(cost: &Cost) -> [f64; 3] {
        let ranks = cost.ranks.unwrap();
        [cost.parts.total(), ranks.first, ranks.mean]
    }

    fn assert_close(found: [f64; 3], expected: [f64; 3], errors: [f64; 3], case: &str) {
        for ((found, expected), error) in found.into_iter().zip(expected).zip(errors) {
            assert!((found / expected - 1.0).abs() <= error, "{case}: {found} {expected}");
        }
    }

    fn complete(kind: &str, ranks: u32) -> Messages {
        let mut random = Random(7);
        let mut below = |most| random.below(most);
        let mut size = |from: u32, to: u32| match kind {
            "equal" => 1000,
            "two sizes" => 500 + 1000 * below(2),
            "by sender" => 300 * u64::from(1 + from % 4),
            "hot receiver" => 100 + 5000 * u64::from(to == 3) + below(100),
            "sparse" => below(4) / 3 * (100 + below(3000)),
            "heavy tail" => 100_000 / (1 + below(1000)),
            "random" => 500 + below(1000),
            other => panic!("no sizes {other}"),
        };
        (0..ranks)
            .flat_map(|from| (1..ranks).map(move |k| (from, (from + k) % ranks)))
            .map(|(from, to)| (from, to, size(from, to)))
            .filter(|message| message.2 > 0)
            .collect()
    }

    const SIZES: [&str; 7] =
        ["equal", "two sizes", "by sender", "hot receiver", "sparse", "heavy tail", "random"];

    /// In some distributions, many messages have equal sizes and arrive at the same time.
    #[test]
    fn windows_agree_with_exact_shares() {
        let machines = [
            "byte_us=0.01,hop_us=0.5",
            "byte_us=0.01,fairness=equal",
            "byte_us=0.01,hop_us=0.5,startup_us=2,injection_byte_us=0.02",
            "byte_us=0.01,hop_us=5,order=data,ports=all",
            "byte_us=0.01,hop_us=0.5,startup_us=2,noise=0.3",
        ];
        let mut machine = machines.iter().cycle();
        for (network, ranks) in
            [("mesh:5x5", 25), ("dragonfly:4x3x2", 24), ("fat-tree:3x3", 27), ("torus:4x6", 24)]
        {
            for (sizes, machine) in SIZES.into_iter().zip(&mut machine) {
                let steps = [complete(sizes, ranks)];
                let windows = with_windows(network, machine, &steps);
                let expected = exact(network, machine, &steps);
                let case = format!("{network} {sizes} {machine}");
                assert_close(times(&windows), times(&expected), [2e-3, 1e-2, 2e-3], &case);
            }
        }
    }

    /// All ranks send to one rank over its injection link. Messages are sorted by size. Between the
    /// ends of messages i - 1 and i, the remaining n - i + 1 messages each send the bytes by which
    /// message i is longer than message i - 1.
    #[test]
    fn windows_agree_with_the_closed_form_of_an_incast() {
        let n = 400_u64;
        let step: Messages = (1..=n).map(|i| (i as u32, 0, 100 * i * i / 7)).collect();
        let (mut now, mut before, mut sum) = (0.0, 0, 0.0);
        for (i, (_, _, bytes)) in step.iter().enumerate() {
            now += (bytes - before) as f64 * (n - i as u64) as f64 * 0.01;
            (before, sum) = (*bytes, sum + now);
        }
        let expected = [now, 100.0 / 7.0 * n as f64 * 0.01, (sum + now) / (n + 1) as f64];
        let machine = "byte_us=0.00001,injection_byte_us=0.01,fairness=equal";
        let found = with_windows("fully-connected:401", machine, &[step]);
        // Windows are least exact for the shortest messages: about ten of them, whose sizes differ
        // by large factors, arrive in the first window.
        assert_close(times(&found), expected, [1e-6, 0.05, 1e-4], "incast");
    }

    #[test]
    fn windows_agree_with_a_naive_simulation() {
        for (network, sizes) in [("torus:4x4", "random"), ("mesh:4x4", "two sizes")] {
            let steps = [complete(sizes, 16), complete("sparse", 16), complete("random", 16)];
            let ends = oracle::ends(network, [0.01, 0.3], true, &steps, &[]);
            let expected = [
                ends.iter().copied().fold(0.0, f64::max),
                ends.iter().copied().fold(f64::INFINITY, f64::min),
                ends.iter().sum::<f64>() / 16.0,
            ];
            let found = with_windows(network, "byte_us=0.01,hop_us=0.3", &steps);
            assert!(found.note.is_some());
            assert_close(times(&found), expected, [1e-3, 0.01, 1e-3], network);
        }
    }

    /// Rank r sends to ranks r + 1, r + 2, etc. in this order, which only rotations of the first
    /// digit of the rank numbers preserve. So a folded step would still have most of the messages.
    #[test]
    fn large_folded_steps_have_windows() {
        let (network, machine) = ("fat-tree:3x3", "byte_us=0.01,hop_us=0.5,startup_us=0.01");
        let steps = [complete("equal", 27)];
        let (found, expected) =
            (with_windows(network, machine, &steps), exact(network, machine, &steps));
        assert!(found.note.is_some() && expected.note.is_none());
        assert_close(times(&found), times(&expected), [2e-3, 1e-2, 2e-3], network);
    }

    /// In each group of three nodes, two messages of equal size share a link that no other message
    /// uses. So both end after twice the time of their bytes.
    #[test]
    fn messages_on_links_of_their_own_end_when_their_bytes_are_sent() {
        const GROUPS: u32 = 80;
        let mut random = Random(3);
        let bytes: Vec<u64> = (0..GROUPS).map(|_| 1000 + random.below(9000)).collect();
        let both =
            |(group, bytes): (u32, &u64)| [0, 1].map(|i| (3 * group + i, 3 * group + 2, *bytes));
        let step: Messages = (0..GROUPS).zip(&bytes).flat_map(both).collect();
        let network = format!("mesh:{}", 3 * GROUPS);
        let cost = with_windows(&network, "byte_us=0.01,fairness=equal,flow_window=0.1", &[step]);
        assert!(cost.note.is_some(), "there is a second simulation of windows");
        let us = bytes.iter().map(|bytes| 2.0 * 0.01 * *bytes as f64);
        let last = us.clone().fold(0.0, f64::max);
        let first = us.clone().fold(f64::INFINITY, f64::min);
        let mean = us.sum::<f64>() / f64::from(GROUPS);
        assert_close(times(&cost), [last, first, mean], [1e-9; 3], "equal messages");
    }

    #[test]
    fn small_steps_have_exact_shares() {
        let cases = [(101, 99, true), (101, 100, false), (1300, 8, true)];
        // Only the full tier tests the limit per rank, because it takes long.
        let count = if is_full() { 3 } else { 2 };
        for (n, per_rank, is_exact) in cases.into_iter().take(count) {
            // The longer messages of rank 0 break the symmetry. Only the number of messages decides
            // whether there are windows, so three classes of sizes are enough.
            let bytes = |from, k| 100 + u64::from(k % 3) + u64::from(from == 0);
            let sends =
                |from: u32| (1..=per_rank).map(move |k| (from, (from + k) % n, bytes(from, k)));
            let steps = [(0..n).flat_map(sends).collect::<Messages>()];
            let machine = "byte_us=0.01,injection_byte_us=0.01,hop_us=0.1";
            let network = format!("fully-connected:{n}");
            let found = cost(&network, &without_port_note(machine), &[&steps[0]]);
            let expected = exact(&network, machine, &steps);
            assert_eq!((found.note.is_none(), found == expected), (is_exact, is_exact), "{n}");
            assert_close(times(&found), times(&expected), [1e-3, 1e-2, 1e-3], &network);
        }
    }

    #[test]
    fn a_second_simulation_has_windows_of_twice_the_length() {
        let steps = ["heavy tail", "sparse", "random"].map(|sizes| complete(sizes, 36));
        let note = with_windows("mesh:6x6", "byte_us=0.01,hop_us=0.5,flow_window=0.1", &steps).note;
        let twice = with_windows("mesh:6x6", "byte_us=0.01,hop_us=0.5,flow_window=0.2", &steps);
        assert_ne!(twice.parts, exact("mesh:6x6", "byte_us=0.01,hop_us=0.5", &steps).parts);
        let expected = format!("with flow_window=0.2 {:.6} us, ", twice.parts.total());
        assert!(note.as_ref().unwrap().starts_with(&expected), "{note:?} {expected}");
        let none = with_windows("mesh:6x6", "byte_us=0.01,hop_us=0.5,flow_window=0", &steps);
        assert_eq!(none, exact("mesh:6x6", "byte_us=0.01,hop_us=0.5", &steps));
    }

    #[test]
    fn invalid_fractions_are_refused() {
        for fraction in ["-0.1", "0.6", "x"] {
            let error =
                Machine::parse(&format!("free:model=fluid,flow_window={fraction}")).unwrap_err();
            assert!(error.to_string().contains("a number from 0 to 0.5"), "{error}");
        }
    }

    fn estimate(cost: &Cost) -> f64 {
        let note = cost.note.as_ref().unwrap();
        let percent = note.split(", ").nth(1).unwrap().split(' ').next().unwrap();
        percent.parse::<f64>().unwrap() / 100.0
    }

    /// Late ranks begin in the middle of a long window. In a former defect, their messages waited
    /// for the end of the window, which took 2389.4 µs instead of 1700.0, without a note. Each
    /// message of rank 3 to another group takes the time of its bytes on a link that the group
    /// shares.
    #[test]
    fn messages_of_late_ranks_do_not_wait_for_the_end_of_a_window() {
        let network = "groups:16x8,inside=9,inside_hop=0";
        let step = (0..128).flat_map(|from| (1..128).map(move |k| (from, (from + k) % 128, 1000)));
        let steps = [step.collect::<Messages>()];
        let found = cost(network, "free:model=fluid,byte_us=0.01,late=3:500", &[&steps[0]]);
        let us = found.parts.total();
        assert!((us / 1700.0 - 1.0).abs() <= (3.0 * estimate(&found) + 1e-3).min(5e-3), "{us}");
    }

    /// The error must be at most 0.5 %, and at most three times the reported difference plus 0.1 %.
    #[test]
    fn the_note_bounds_the_error_of_windows() {
        let networks = [
            ("mesh:5x5", 25),
            ("dragonfly:5x3x2", 30),
            ("fat-tree:3x3", 27),
            ("torus:5x6", 30),
            ("torus:5x6,down=0-1+7~8", 30),
            ("torus:5x6,slow=0-1:0.2+8~9:0.05", 30),
            ("groups:4x7,inside=9,inside_hop=0", 28),
            ("jellyfish:30x4x1,faults=2:5", 30),
        ];
        let machines = [
            "byte_us=0.01,hop_us=0.5",
            "byte_us=0.01,fairness=equal",
            "byte_us=0.01,hop_us=0.5,startup_us=2,injection_byte_us=0.02",
            "byte_us=0.01,hop_us=0.5,order=data,ports=all",
            "byte_us=0.01,hop_us=0.5,order=data,startup_us=0.5",
            "byte_us=0.01,hop_us=0.5,startup_us=2,noise=0.3",
            "byte_us=0.01,hop_us=2,order=barrier,barrier_us=1",
        ];
        let mut worst = (0.0_f64, String::new());
        for seed in 0..u64::from(cases(10, 500)) {
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            random.below(2);
            let (network, ranks) = networks[random.below(networks.len() as u64) as usize];
            let mut machine = machines[random.below(machines.len() as u64) as usize].to_owned();
            if random.below(2) == 0 {
                let late = [100, 500, 2000][random.below(3) as usize];
                machine += &format!(",late={}:{late}", random.below(ranks.into()));
            }
            let kind = SIZES[random.below(SIZES.len() as u64) as usize];
            let mut steps = vec![complete(kind, ranks)];
            if random.below(2) == 0 {
                steps.push(complete("sparse", ranks));
                steps.push(
                    (0..ranks).map(|r| (r, (r + 1) % ranks, 1 + random.below(9000))).collect(),
                );
            }
            let bytes: Vec<u64> =
                (0..ranks * ranks).map(|_| random.below(20) / 19 * random.below(100_000)).collect();
            let has_background = random.below(3) == 0;
            let price = |window: &str| {
                let topology = parse(network).unwrap();
                let background = if has_background { ",background=flows" } else { "" };
                let spec = without_port_note(&format!("{machine}{background}{window}"));
                let flows = |from: u64, to: u64| bytes[(from * u64::from(ranks) + to) as usize];
                let machine = Machine::parse(&spec).unwrap();
                let background = Background::new(ranks.into(), flows);
                let mut context = PricingContext::new(&topology, 1.0);
                context.background = has_background.then_some(&background);
                let fluid = Fluid::of(machine.settings()).unwrap();
                let first = Simulation::new(fluid, context).with_windows_in_all_steps();
                let mut simulations = WithCopy::new(first);
                run(&topology, &mut simulations, &sends(&steps), &[], |_, _| 0);
                simulations.cost().unwrap()
            };
            let (found, exact) = (price(""), price(",flow_window=0"));
            let error = (found.parts.total() / exact.parts.total() - 1.0).abs();
            let limit =
                found.note.as_ref().map_or(0.0, |_| 3.0 * estimate(&found) + 1e-3).min(5e-3);
            let case =
                format!("{seed} {network} {machine} {kind} {} {:?}", steps.len(), found.note);
            assert!(error <= limit, "{error} {case}");
            if error > worst.0 {
                worst = (error, case);
            }
        }
        println!("largest error {worst:?}");
    }
}

mod background {
    use super::super::oracle;
    use crate::cost::background::Background;
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::Cost;
    use crate::cost::model::test_steps::{Messages, Random, cost_with_background};

    fn cost_with_flows(
        nodes: u64,
        flows: &[(u32, u32, u64)],
        network: &str,
        machine: &str,
        steps: &[Messages],
    ) -> Cost {
        let is_from = |from: u64, to: u64| {
            move |flow: &&(u32, u32, u64)| (u64::from(flow.0), u64::from(flow.1)) == (from, to)
        };
        let bytes = |from, to| flows.iter().find(is_from(from, to)).map_or(0, |flow| flow.2);
        let machine = format!("free:model=fluid,background=flows.csv,{machine}");
        cost_with_background(Background::new(nodes, bytes), network, &machine, steps).unwrap()
    }

    /// A message of m bytes shares a link of one byte per µs with a flow of b bytes, and ends after
    /// `m + min(m, b)` µs.
    #[test]
    fn a_flow_shares_a_link_with_a_message_until_it_ends() {
        for (m, b, expected) in
            [(100, 40, 140.0), (100, 100, 200.0), (100, 300, 200.0), (100, 0, 100.0)]
        {
            for order in ["step", "data", "barrier"] {
                let machine = format!("byte_us=1,hop_us=5,order={order}");
                let (flows, steps) = ([(0, 1, b)], [vec![(0, 1, m)]]);
                let parts = cost_with_flows(2, &flows, "mesh:2", &machine, &steps).parts;
                let error = (parts.total() - expected - 5.0).abs();
                assert!(error < 1e-9, "{m} {b} {order}: {parts:?}");
                assert_eq!(parts[Kind::Transmission], Some(m as f64));
            }
        }
    }

    #[test]
    fn messages_after_a_flow_or_on_other_links_are_not_delayed() {
        let twice = [vec![(0, 1, 100)], vec![(0, 1, 100)]];
        let us = cost_with_flows(2, &[(0, 1, 40)], "mesh:2", "byte_us=1", &twice).parts.total();
        assert!((us - 240.0).abs() < 1e-9, "{us}");
        let flows = [(1, 0, 1000), (2, 3, 1000)];
        let us = cost_with_flows(4, &flows, "mesh:4", "byte_us=1", &twice).parts.total();
        assert!((us - 200.0).abs() < 1e-9, "{us}");
    }

    /// Flows of one byte end before the schedule, and their ends are events. Flows of 1,000,000
    /// bytes would end after the schedule.
    #[test]
    fn flows_are_not_simulated_after_the_end_of_the_schedule() {
        let needed_events = |flow_bytes: u64| {
            let enough = |most: &u32| {
                let flows = |from, to| if from >= 2 && to == from + 1 { flow_bytes } else { 0 };
                let machine =
                    format!("free:model=fluid,background=flows.csv,byte_us=1,most_events={most}");
                let steps = [vec![(0, 1, 100)]];
                cost_with_background(Background::new(16, flows), "mesh:16", &machine, &steps)
                    .is_ok()
            };
            (1..1000).find(enough).unwrap()
        };
        assert!(needed_events(1_000_000) < needed_events(1));
    }

    #[test]
    fn random_flows_delay_messages_as_in_the_oracle() {
        let mut random = Random(1);
        let mut below = |most| random.below(most);
        for (network, nodes) in
            [("torus:4x4", 16), ("mesh:3x3", 9), ("ring:8", 8), ("torus:2x2x2", 8)]
        {
            for weighted in [false, true] {
                let pairs = (0..nodes)
                    .flat_map(|from| (0..nodes).map(move |to| (from, to)))
                    .filter(|(a, b)| a != b);
                let flows: Vec<_> =
                    pairs.map(|(a, b)| (a, b, below(3) / 2 * below(5000))).collect();
                let step = |k| {
                    (0..nodes).map(|r| (r, (r + k) % nodes, 500 + below(500))).collect::<Vec<_>>()
                };
                let steps = [1, 3, 2].map(step);
                let there: Vec<_> = flows.iter().copied().filter(|flow| flow.2 > 0).collect();
                let expected = oracle::ends(network, [0.01, 0.5], weighted, &steps, &there);
                let fairness = if weighted { "rtt" } else { "equal" };
                let machine = format!("byte_us=0.01,hop_us=0.5,fairness={fairness}");
                let cost = cost_with_flows(nodes.into(), &flows, network, &machine, &steps);
                let (last, mean) = (
                    expected.iter().copied().fold(0.0, f64::max),
                    expected.iter().sum::<f64>() / f64::from(nodes),
                );
                let found = (cost.parts.total(), cost.ranks.unwrap().mean);
                assert!(
                    (found.0 / last - 1.0).abs() < 1e-6 && (found.1 / mean - 1.0).abs() < 1e-6,
                    "{network}: {found:?}, {last}, {mean}"
                );
                let alone =
                    cost_with_flows(nodes.into(), &[], network, &machine, &steps).parts.total();
                assert!(found.0 > 1.05 * alone, "{network}: {found:?}, {alone}");
            }
        }
    }

    #[test]
    fn invalid_background_is_refused() {
        let priced = |ranks| {
            cost_with_background(
                Background::new(ranks, |_, _| 1),
                "mesh:3",
                "free:model=fluid,background=f.csv",
                &[vec![(0, 1, 9)]],
            )
        };
        assert_eq!(
            priced(4).unwrap_err(),
            "the matrix of `background` is for 4 nodes, there are 3"
        );
        let refused = |spec: &str| Machine::parse(spec).unwrap_err().to_string();
        assert!(
            refused("free:model=loggp,background=f.csv")
                .contains("`background` is not read by the model `loggp`")
        );
        let none = Machine::parse("free:model=fluid")
            .unwrap()
            .with(&[("background", "")])
            .unwrap_err()
            .1
            .to_string();
        assert!(none.contains("`none` or a file"), "{none}");
        assert_eq!(
            Machine::parse("free:model=fluid,background=none").unwrap().to_string(),
            "free:model=fluid"
        );
    }
}

/// Each rank sends to three others over links of their own. A start-up takes 5 µs, the bytes 10 µs.
/// Without `grouped=yes`, a rank makes its start-ups one after another.
#[test]
fn grouped_sends_of_a_step_share_one_start_up() {
    let step = schedule("linear", 4, 100);
    let machine = "startup_us=5,byte_us=0.1";
    for order in ["step", "data"] {
        let us = |more: &str| {
            let machine = format!("{machine},ports=all,order={order}{more}");
            priced("fully-connected:4", &machine, &step).0
        };
        assert!((us("") - 25.0).abs() < 1e-6, "{order}: {}", us(""));
        assert!((us(",grouped=yes") - 15.0).abs() < 1e-6, "{order}: {}", us(",grouped=yes"));
    }
    let steps = schedule("gen", 4, 100);
    let us = |more: &str| priced("fully-connected:4", &format!("{machine}{more}"), &steps).0;
    assert!((us("") - 45.0).abs() < 1e-6 && (us(",grouped=yes") - 45.0).abs() < 1e-6);
}

mod jobs {
    use super::super::oracle::{self, ByData, ends_by_data};
    use crate::cost::kind::Kind;
    use crate::cost::model::Cost;
    use crate::cost::model::test_steps::{
        Messages, Random, Sends, cost_of_forwarding, sends, try_cost, try_cost_of_jobs,
    };
    use crate::network::topology::parse;

    fn cost_of_jobs(topology: &str, machine: &str, jobs: &[(Sends, f64)]) -> Vec<Cost> {
        try_cost_of_jobs(topology, machine, jobs).unwrap().jobs
    }

    fn total(cost: &Cost) -> f64 {
        cost.parts.total()
    }

    fn joined(first: &Sends, second: &Sends, n: u32) -> Sends {
        let of = |steps: &Sends, number: usize, by: u32| -> Vec<(u32, u32, u64, u32)> {
            let step = steps.get(number).cloned().unwrap_or_default();
            step.into_iter().map(|(a, b, bytes, after)| (a + by, b + by, bytes, after)).collect()
        };
        let steps = 0..first.len().max(second.len());
        steps.map(|number| [of(first, number, 0), of(second, number, n)].concat()).collect()
    }

    /// When the second message starts at s µs, the first has 100 - s bytes left. From then on, each
    /// of them gets half of the rate.
    #[test]
    fn jobs_on_the_same_link_share_it() {
        let message = |bytes| sends(&[[(0, 1, bytes)]]);
        for (start, bytes, expected) in [
            (0.0, 100, [200.0, 200.0]),
            (50.0, 100, [150.0, 150.0]),
            (50.0, 20, [120.0, 40.0]),
            (100.0, 100, [100.0, 100.0]),
            (500.0, 30, [100.0, 30.0]),
        ] {
            for order in ["step", "data"] {
                let machine = format!("free:model=fluid,byte_us=1,order={order},ports=all");
                let jobs = [(message(100), 0.0), (message(bytes), start)];
                let costs = cost_of_jobs("ring:4", &machine, &jobs);
                assert_eq!(costs.iter().map(total).collect::<Vec<_>>(), expected, "{start}");
                assert_eq!(costs[0].parts[Kind::Contention], Some(expected[0] - 100.0));
            }
        }
        let three = [(message(10), 0.0), (message(10), 0.0), (message(10), 0.0)];
        let costs = cost_of_jobs("ring:4", "free:model=fluid,byte_us=1", &three);
        assert_eq!(costs.iter().map(total).collect::<Vec<_>>(), [30.0; 3]);
    }

    /// The jobs have arbitrary starts and numbers of steps.
    #[test]
    fn jobs_on_different_links_take_as_long_as_alone() {
        let along = |by: u32, side: u32, steps: u64| -> Sends {
            let next = |r: u32| r / (by * side) * by * side + (r + by) % (by * side);
            let step = |k: u64| (0..16).map(|r| (r, next(r), 1000 + 10 * k)).collect::<Messages>();
            sends(&(0..steps).map(step).collect::<Vec<_>>())
        };
        let (rows, columns) = (along(1, 4, 5), along(4, 4, 2));
        for more in ["", ",order=data,ports=all", ",late=3:7", ",grouped=yes"] {
            let machine = format!("tpu-v5p:model=fluid,startup_us=1,hop_us=0.5{more}");
            let alone = [&rows, &columns].map(|s| cost_of_forwarding("torus:4x4", &machine, s));
            for start in [0.0, 0.25, 3.0, 1000.0] {
                let jobs = [(rows.clone(), 0.0), (columns.clone(), start)];
                let costs = cost_of_jobs("torus:4x4", &machine, &jobs);
                for (cost, alone) in costs.iter().zip(&alone) {
                    assert_eq!((total(cost), cost.ranks), (total(alone), alone.ranks), "{machine}");
                }
            }
        }
    }

    /// The oracle simulates one schedule on a network with two ranks per node: those of both jobs.
    #[test]
    fn jobs_share_links_as_in_the_oracle() {
        let mut random = Random(7);
        for (network, n) in [("torus:4x4", 16), ("mesh:3x3", 9), ("ring:8", 8), ("hypercube:3", 8)]
        {
            for weighted in [false, true] {
                let mut steps = |count: u32| -> Sends {
                    let mut step = |k: u32| -> Messages {
                        (0..n).map(|r| (r, (r + k) % n, 500 + random.below(900))).collect()
                    };
                    sends(&(1..=count).map(&mut step).collect::<Vec<_>>())
                };
                let (first, second) = (steps(3), steps(5));
                let together = joined(&first, &second, n);
                let plain = |step: &Vec<(u32, u32, u64, u32)>| -> Messages {
                    step.iter().map(|(a, b, bytes, _)| (*a, *b, *bytes)).collect()
                };
                let together: Vec<Messages> = together.iter().map(plain).collect();
                let shared = format!("{network},ranks=2,place=cyclic");
                let ends = oracle::ends(&shared, [0.01, 0.5], weighted, &together, &[]);
                let fairness = if weighted { "rtt" } else { "equal" };
                let machine =
                    format!("free:model=fluid,byte_us=0.01,hop_us=0.5,fairness={fairness}");
                let jobs = [(first.clone(), 0.0), (second.clone(), 0.0)];
                let costs = cost_of_jobs(network, &machine, &jobs);
                let alone = cost_of_forwarding(network, &machine, &first);
                for (cost, ends) in costs.iter().zip(ends.chunks(n as usize)) {
                    let last = ends.iter().copied().fold(0.0, f64::max);
                    let mean = ends.iter().sum::<f64>() / f64::from(n);
                    let found = (total(cost), cost.ranks.unwrap().mean);
                    assert!(
                        (found.0 / last - 1.0).abs() < 1e-3 && (found.1 / mean - 1.0).abs() < 1e-3,
                        "{network}: {found:?}, {last}, {mean}"
                    );
                }
                assert!(total(&costs[0]) > 1.02 * total(&alone), "{network}");
            }
        }
    }

    /// An all-to-all and a ring allreduce run in the same communicators of four ranks, whose
    /// numbers differ in two bits.
    #[test]
    fn collectives_in_the_same_communicators_share_links_as_in_the_oracle() {
        let rank = |communicator: u32, member: u32| {
            communicator / 2 * 8 + member % 4 * 2 + communicator % 2
        };
        let steps = |peer: &dyn Fn(u32, u32) -> u32, count: u32| -> Sends {
            let step = |k: u32| -> Messages {
                let message = |c, m| (rank(c, m), rank(c, peer(m, k)), 1 << 20);
                (0..16).map(|number| message(number / 4, number % 4)).collect()
            };
            sends(&(1..=count).map(step).collect::<Vec<_>>())
        };
        let (pairs, ring) = (steps(&|m, k| m ^ k, 3), steps(&|m, _| m + 1, 6));
        let plain: Vec<Messages> = joined(&pairs, &ring, 16)
            .iter()
            .map(|step| step.iter().map(|(a, b, bytes, _)| (*a, *b, *bytes)).collect())
            .collect();
        let machine = "free:model=fluid,byte_us=0.0001,hop_us=0.1";
        for starts in [[0.0, 0.0], [0.0, 10.0], [0.0, 30.0], [0.0, 60.0], [30.0, 0.0]] {
            let ends = oracle::ends_of_late(
                "torus:4x4,ranks=2,place=cyclic",
                [1e-4, 0.1],
                true,
                &plain,
                &[],
                &|rank| starts[rank / 16],
            );
            let jobs = [(pairs.clone(), starts[0]), (ring.clone(), starts[1])];
            let costs = cost_of_jobs("torus:4x4", machine, &jobs);
            for ((cost, ends), start) in costs.iter().zip(ends.chunks(16)).zip(starts) {
                let last = ends.iter().copied().fold(0.0, f64::max) - start;
                assert!((total(cost) / last - 1.0).abs() < 1e-6, "{} {last}", total(cost));
            }
        }
    }

    #[test]
    fn starts_delay_jobs_as_in_the_oracle() {
        let (mut random, mut compared) = (Random(3), 0);
        for start in [3.0, 11.5, 40.0] {
            for (network, n) in [("torus:4x4", 16), ("ring:8", 8), ("mesh:3x3", 9)] {
                let mut steps = |count: u32| -> Sends {
                    let mut step = |k: u32| -> Vec<(u32, u32, u64, u32)> {
                        let send = |r| (r, (r + k) % n, 500 + random.below(900), k - 1);
                        (0..n).map(send).collect()
                    };
                    (1..=count).map(&mut step).collect()
                };
                let (first, second) = (steps(4), steps(3));
                let together = joined(&first, &second, n);
                let late = (n..2 * n).map(|rank| (rank as usize, start)).collect();
                let oracle = ByData {
                    startup_us: 0.7,
                    byte_us: 0.01,
                    hop_us: 0.5,
                    injection_byte_us: 0.0,
                    reduce_byte_us: 0.0,
                    ports: usize::MAX,
                    weighted: true,
                    late,
                };
                let shared = parse(&format!("{network},ranks=2,place=cyclic")).unwrap();
                let (ends, has_near_tie) = ends_by_data(&shared, &oracle, &together, &[]);
                if has_near_tie {
                    continue;
                }
                let machine =
                    "free:model=fluid,order=data,ports=all,startup_us=0.7,byte_us=0.01,hop_us=0.5";
                let costs = cost_of_jobs(network, machine, &[(first, 0.0), (second, start)]);
                let ends: Vec<f64> = ends
                    .chunks(n as usize)
                    .map(|ends| ends.iter().copied().fold(0.0, f64::max))
                    .collect();
                let found = [total(&costs[0]), total(&costs[1]) + start];
                for (found, end) in found.iter().zip(ends) {
                    assert!((found / end - 1.0).abs() < 1e-5, "{network}, {start}: {found} {end}");
                }
                compared += 1;
            }
        }
        assert!(compared >= 5, "{compared} cases");
    }

    #[test]
    fn each_job_has_a_launch() {
        let machine = "free:model=fluid,byte_us=1,launch_us=5,floor_us=50";
        let jobs = [(sends(&[[(0, 1, 100)]]), 0.0), (sends(&[[(2, 3, 10)]]), 0.0)];
        let costs = cost_of_jobs("ring:8", machine, &jobs);
        assert_eq!(costs.iter().map(total).collect::<Vec<_>>(), [105.0, 50.0]);
    }

    #[test]
    fn models_that_run_no_jobs_together_say_why() {
        let jobs = [(sends(&[[(0, 1, 100)]]), 0.0), (sends(&[[(2, 3, 10)]]), 0.0)];
        for model in [
            "wormhole",
            "circuit",
            "store-and-forward",
            "fluid,order=barrier",
            "fluid,barrier_us=1",
        ] {
            let machine = format!("free:model={model}");
            let why = try_cost_of_jobs("ring:8", &machine, &jobs).unwrap_err();
            assert!(
                why.contains("runs no jobs together") && why.contains("without barriers"),
                "{why}"
            );
            assert!(try_cost("ring:8", &machine, &jobs[0].0).is_ok());
        }
    }
}
