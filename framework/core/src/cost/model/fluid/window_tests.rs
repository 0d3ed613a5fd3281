//! Compares windows of time with exact shares, with a naive simulation and with closed forms.

use super::sensitivity::Simulations;
use super::simulation::Simulation;
use super::{Fluid, oracle};
use crate::cost::background::Background;
use crate::cost::machine::Machine;
use crate::cost::model::test_steps::{Messages, Random, cost, cost_of_forwarding, run, sends};
use crate::cost::model::{Cost, Evaluator, PricingContext};
use crate::network::topology::parse;
use crate::test_tiers::cases;

/// Returns the cost with windows of time even in small steps. With the default `flow_window`, at
/// least 200 messages must share links.
fn with_windows(topology: &str, machine: &str, steps: &[Messages]) -> Cost {
    let network = parse(topology).unwrap();
    let machine = Machine::parse(&format!("free:model=fluid,{machine}")).unwrap();
    let machine = Fluid::of(machine.settings()).unwrap();
    let simulation = Simulation::new(machine, PricingContext::new(&network, 1.0));
    let mut simulations = Simulations::new(simulation.with_windows_in_all_steps());
    run(&network, &mut simulations, &sends(steps), &[], |_, _| 0);
    simulations.cost().unwrap()
}

fn exact(topology: &str, machine: &str, steps: &[Messages]) -> Cost {
    let machine = format!("free:model=fluid,flow_window=0,{machine}");
    cost_of_forwarding(topology, &machine, &sends(steps))
}

/// Returns the completion time, the time at which the first rank ends, and the mean of the times at
/// which all ranks end.
fn times(cost: &Cost) -> [f64; 3] {
    let ranks = cost.ranks.unwrap();
    [cost.parts.total(), ranks.first, ranks.mean]
}

fn assert_close(found: [f64; 3], expected: [f64; 3], errors: [f64; 3], case: &str) {
    for ((found, expected), error) in found.into_iter().zip(expected).zip(errors) {
        assert!((found / expected - 1.0).abs() <= error, "{case}: {found} {expected}");
    }
}

/// Returns a step in which each rank sends to all other ranks. `kind` names the distribution of the
/// sizes of messages. Empty messages are omitted.
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

/// In some distributions of sizes, many messages have equal sizes and arrive at the same time. Each
/// combination of a network and a distribution is tested on one machine, and the machines take
/// turns.
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

/// All ranks send a message to the same rank, and the messages share its injection link equally.
/// Messages are numbered by size. Between the ends of messages i - 1 and i, the remaining n - i + 1
/// messages each send the bytes by which message i is longer than message i - 1.
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
    // The end of the first rank has the largest tolerance, because windows are least exact for the
    // shortest messages. Their sizes differ by large factors, and about ten of them arrive in the
    // first window.
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

/// Rank r sends to ranks r + 1, r + 2, etc. in this order. Of the rotations of a digit of the rank
/// numbers, only rotations of the first digit preserve this order. A folded step would therefore
/// still have most of the messages, so the step is simulated with windows and without folding.
#[test]
fn large_folded_steps_have_windows() {
    let (network, machine) = ("fat-tree:3x3", "byte_us=0.01,hop_us=0.5,startup_us=0.01");
    let steps = [complete("equal", 27)];
    let (found, expected) =
        (with_windows(network, machine, &steps), exact(network, machine, &steps));
    assert!(found.note.is_some() && expected.note.is_none());
    assert_close(times(&found), times(&expected), [2e-3, 1e-2, 2e-3], network);
}

/// In each group of three nodes of a line, two messages of equal size share a link to the third
/// node, and no other message uses this link. So the sizes of messages of other groups, which
/// determine the windows, do not matter: both messages end after twice the time of their bytes.
#[test]
fn messages_on_links_of_their_own_end_when_their_bytes_are_sent() {
    const GROUPS: u32 = 80;
    let mut random = Random(3);
    let bytes: Vec<u64> = (0..GROUPS).map(|_| 1000 + random.below(9000)).collect();
    let both = |(group, bytes): (u32, &u64)| [0, 1].map(|i| (3 * group + i, 3 * group + 2, *bytes));
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

/// Shares are exact in steps of up to 10,000 messages, and in steps of up to 8 messages per rank.
#[test]
fn small_steps_have_exact_shares() {
    for (n, per_rank, is_exact) in [(101, 99, true), (101, 100, false), (1300, 8, true)] {
        // The messages of rank 0 are longer, so that the schedule is not symmetric. Ten classes of
        // sizes are enough, because only the number of messages decides whether shares are exact.
        // With a class for each distance, exact shares would be computed ten times as often.
        let bytes = |from, k| 100 + u64::from(k % 10) + u64::from(from == 0);
        let sends = |from: u32| (1..=per_rank).map(move |k| (from, (from + k) % n, bytes(from, k)));
        let steps = [(0..n).flat_map(sends).collect::<Messages>()];
        let machine = "byte_us=0.01,injection_byte_us=0.01,hop_us=0.1";
        let network = format!("fully-connected:{n}");
        let found = cost(&network, &format!("free:model=fluid,{machine}"), &[&steps[0]]);
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

/// Returns the relative difference that the note reports between windows of one and two lengths.
fn estimate(cost: &Cost) -> f64 {
    let note = cost.note.as_ref().unwrap();
    let percent = note.split(", ").nth(1).unwrap().split(' ').next().unwrap();
    percent.parse::<f64>().unwrap() / 100.0
}

/// Late ranks begin all of their messages at the same time, in the middle of a long window. The
/// messages waited for its end, which took 2389.4 µs instead of 1700.0, with a note of no
/// difference. Each message of rank 3 to another group takes the time of its bytes on a link that
/// its group shares.
#[test]
fn messages_of_late_ranks_do_not_wait_for_the_end_of_a_window() {
    let network = "groups:16x8,inside=9,inside_hop=0";
    let step = (0..128).flat_map(|from| (1..128).map(move |k| (from, (from + k) % 128, 1000)));
    let steps = [step.collect::<Messages>()];
    let found = cost(network, "free:model=fluid,byte_us=0.01,late=3:500", &[&steps[0]]);
    let us = found.parts.total();
    assert!((us / 1700.0 - 1.0).abs() <= (3.0 * estimate(&found) + 1e-3).min(5e-3), "{us}");
}

/// Random cases with late ranks, failed and slow links, background traffic, jitter, `order=data` and
/// skewed sizes. The error of windows is at most 0.5 %, and at most three times the difference that
/// the note reports plus 0.1 %.
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
    for seed in 0..u64::from(cases(25, 500)) {
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
            steps.push((0..ranks).map(|r| (r, (r + 1) % ranks, 1 + random.below(9000))).collect());
        }
        let bytes: Vec<u64> =
            (0..ranks * ranks).map(|_| random.below(20) / 19 * random.below(100_000)).collect();
        let has_background = random.below(3) == 0;
        let price = |window: &str| {
            let topology = parse(network).unwrap();
            let background = if has_background { ",background=flows" } else { "" };
            let spec = format!("free:model=fluid,{machine}{background}{window}");
            let flows = |from: u64, to: u64| bytes[(from * u64::from(ranks) + to) as usize];
            let machine = Machine::parse(&spec).unwrap();
            let background = Background::new(ranks.into(), flows);
            let mut context = PricingContext::new(&topology, 1.0);
            context.background = has_background.then_some(&background);
            let fluid = Fluid::of(machine.settings()).unwrap();
            let first = Simulation::new(fluid, context).with_windows_in_all_steps();
            let mut simulations = Simulations::new(first);
            run(&topology, &mut simulations, &sends(&steps), &[], |_, _| 0);
            simulations.cost().unwrap()
        };
        let (found, exact) = (price(""), price(",flow_window=0"));
        let error = (found.parts.total() / exact.parts.total() - 1.0).abs();
        let limit = found.note.as_ref().map_or(0.0, |_| 3.0 * estimate(&found) + 1e-3).min(5e-3);
        let case = format!("{seed} {network} {machine} {kind} {} {:?}", steps.len(), found.note);
        assert!(error <= limit, "{error} {case}");
        if error > worst.0 {
            worst = (error, case);
        }
    }
    println!("largest error {worst:?}");
}
