//! Compares `order=data` with a naive simulation.

use super::oracle::{ByData, ends_by_data};
use crate::cost::machine::Machine;
use crate::cost::model::test_steps::{Random, Sends, run_with_sums};
use crate::cost::model::{Cost, PricingContext};
use crate::network::topology::parse;
use crate::test_tiers::cases;

/// Returns the cost, the times at which the ranks end in the naive simulation, and whether a near
/// tie may have decided these times.
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

/// Asserts that the cost has the times of the naive simulation. They differ by the rounding to
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

/// Returns random steps. A rank that receives in a step may reduce data in it. Sizes are random, so
/// that ties of messages which share links are rare.
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
        // The order of a rank's sends has a meaning.
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

/// Cases in which the rounding to picoseconds may decide a tie are left out.
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

/// A machine that takes 1 µs to transmit a byte, and as long to reduce it.
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

/// Rank 2 receives 10 bytes of step 1 from rank 0 after 10 µs, and reduces them in 10 µs. In this
/// time, it receives 15 bytes of step 2 from rank 1, which it reduces in the next 15 µs. Its send
/// of the data of step 1 waited until 35 µs, for both reductions.
#[test]
fn reduced_data_is_sent_during_the_next_reduction() {
    let steps = vec![vec![(0, 2, 10, 0)], vec![(1, 2, 15, 0)], vec![(2, 3, 10, 1)]];
    let sums = [vec![0, 0, 10, 0], vec![0, 0, 15, 0]];
    let (cost, ends, _) = simulate("fully-connected:4", &BYTE_AND_REDUCTION, &steps, &sums);
    assert_eq!(ends, [10.0, 15.0, 35.0, 30.0]);
    assert_agree(&cost, &ends, "two reductions");
}

/// Rank 2 receives 100 bytes of step 1, which all ranks have received and sent after 10 µs, and
/// reduces them until 110 µs. A send of this data in step 3, which becomes known during the
/// reduction, did not wait for it, and the schedule ended after 110 µs.
#[test]
fn sends_of_later_steps_wait_for_a_reduction() {
    let others = vec![(0, 1, 10, 0), (1, 0, 20, 0), (1, 2, 20, 0), (2, 0, 20, 0), (2, 1, 20, 0)];
    let steps = vec![vec![(0, 2, 10, 0)], others, vec![(2, 0, 10, 1)]];
    let sums = [vec![0, 0, 100], Vec::new(), Vec::new()];
    let (cost, ends, _) = simulate("fully-connected:3", &BYTE_AND_REDUCTION, &steps, &sums);
    assert_eq!(ends, [120.0, 40.0, 120.0]);
    assert_agree(&cost, &ends, "a reduction during later steps");
}

/// The messages of `flow:segments=4` on `mesh:3x3,down=4-5+0~1` with
/// `moe:experts=9,top=2,tokens=3,bytes=1000` and the seed 66, as sender, receiver, bytes and latest
/// arrival. Some of the blocks are empty. If the latest arrival is a different one when empty blocks
/// count, too, it follows.
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

/// Messages do not wait for empty blocks, because these are not sent (`empty=skip`). If they did,
/// the time would be 4276.28 µs: one rank would send a message later, and others would be faster.
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
        let steps: Sends =
            WITH_EMPTY_BLOCKS.iter().map(|step| step.split(' ').map(message).collect()).collect();
        let (cost, ends, _) = simulate("mesh:3x3,down=4-5+0~1", &machine, &steps, &[]);
        assert_agree(&cost, &ends, "flow");
        assert!((cost.parts.total() - expected).abs() < 1e-9, "{} {expected}", cost.parts.total());
    }
}
