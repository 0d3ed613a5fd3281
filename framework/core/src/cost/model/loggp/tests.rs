use crate::cost::kind::Kind;
use crate::cost::model::asynchronous::noise::Noise;
use crate::cost::model::test_steps::{Messages, cost, cost_of_forwarding, schedule, sends};

/// The machines for which [`LOGGOPSIM`] has times. Parameters are in µs here, and in ns in
/// LogGOPSim.
const MACHINES: [&str; 4] = [
    "latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006",
    "latency_us=1,byte_us=0.001",
    "latency_us=0.7,overhead_us=0.3,gap_us=2,byte_us=0.003,overhead_byte_us=0.005",
    "latency_us=2.5,overhead_us=1.5,gap_us=1,byte_us=0.006,rendezvous_bytes=500",
];

/// For each schedule (name, ranks, block size in bytes), the times in ns that LogGOPSim 76451de
/// gives on each of the [`MACHINES`]. The schedules were GOAL files in which a `calc 0` operation
/// separates two steps of a rank: it depends on all sends and receives of the first step, and all
/// sends and receives of the second step depend on it.
const LOGGOPSIM: [(&str, u32, u64, [u64; 4]); 10] = [
    ("gen", 3, 100, [12188, 2198, 4092, 12188]),
    ("pairwise", 16, 1000, [172410, 29985, 158850, 172410]),
    ("gen", 20, 64, [111682, 20197, 41017, 111682]),
    ("ring", 12, 500, [258434, 43989, 336490, 258434]),
    ("bruck", 21, 300, [103070, 17595, 128950, 103070]),
    ("linear", 18, 700, [164798, 15291, 129030, 164798]),
    ("gather", 12, 900, [79834, 10889, 53745, 79834]),
    ("scatter", 12, 900, [74834, 10889, 53745, 74834]),
    ("binomial", 19, 100, [24376, 4396, 10983, 24376]),
    ("uneven", 17, 400, [160306, 23673, 87813, 184030]),
];

/// Returns steps in which some ranks send no message, and in which the sizes of messages differ.
fn uneven(n: u32, m: u64) -> Vec<Messages> {
    let bytes = |r: u32, k: u32| 1 + (u64::from(r) * 7919 + u64::from(k) * 104_729) % (2 * m);
    let step =
        |k| (0..n).filter(|r| (r + k) % 3 > 0).map(|r| (r, (r + k) % n, bytes(r, k))).collect();
    (1..n).map(step).collect()
}

fn parts(machine: &str, n: u32, steps: &[Messages]) -> [f64; 5] {
    let (network, machine) =
        (format!("fully-connected:{n}"), format!("free:model=loggp,{machine}"));
    let parts = cost_of_forwarding(&network, &machine, &sends(steps)).parts;
    [
        parts[Kind::Startup],
        parts[Kind::Transmission],
        parts[Kind::Propagation],
        parts[Kind::Barrier],
        parts[Kind::Contention],
    ]
    .map(Option::unwrap)
}

#[test]
fn times_equal_those_of_loggopsim() {
    for (name, n, m, expected) in LOGGOPSIM {
        let steps = if name == "uneven" { uneven(n, m) } else { schedule(name, n, m) };
        for (machine, ns) in MACHINES.iter().zip(expected) {
            let us: f64 = parts(machine, n, &steps).iter().sum();
            assert!(
                (us * 1e3 - ns as f64).abs() < 1e-6,
                "{name} {n} {m} {machine}: {us} us, {ns} ns"
            );
        }
    }
}

#[test]
fn a_message_is_overhead_latency_bytes_and_overhead() {
    let two =
        [vec![(0, 1, 100), (1, 2, 100), (2, 0, 100)], vec![(0, 2, 100), (1, 0, 100), (2, 1, 100)]];
    assert_eq!(parts(MACHINES[0], 3, &two), [6.0, 2.0 * 0.594, 5.0, 0.0, 0.0]);
}

#[test]
fn simultaneous_messages_wait_for_the_receivers_processor() {
    let incast = [vec![(1, 0, 1), (2, 0, 1), (3, 0, 1)]];
    assert_eq!(parts("latency_us=10,overhead_us=2", 4, &incast), [4.0, 0.0, 10.0, 0.0, 4.0]);
}

#[test]
fn ranks_wait_for_other_ranks_steps_only_at_barriers() {
    // Node 0's long message does not delay nodes 2 and 3.
    let steps = [vec![(0, 1, 1001), (2, 3, 1)], vec![(1, 0, 1), (2, 3, 1001)]];
    let total =
        |more: &str| parts(&format!("latency_us=1,byte_us=1{more}"), 4, &steps).iter().sum::<f64>();
    assert_eq!(
        [total(""), total(",order=barrier"), total(",barrier_us=5")],
        [1002.0, 2002.0, 2007.0]
    );
}

/// A rank sends a message of 100 bytes in each of two steps. If these messages are longer than
/// `rendezvous_bytes`, the second message starts when the first has been matched. Otherwise it
/// starts when the first has been sent.
#[test]
fn messages_of_exactly_the_rendezvous_size_do_not_wait_for_a_match() {
    let steps = [vec![(0, 1, 100)], vec![(0, 1, 100)]];
    let total = |rendezvous_bytes: u64| {
        let machine = format!("latency_us=8,overhead_us=2,rendezvous_bytes={rendezvous_bytes}");
        parts(&machine, 2, &steps).iter().sum::<f64>()
    };
    assert_eq!([99, 100, 101].map(total), [22.0, 14.0, 14.0]);
}

/// Noise multiplies all times of a message by the same factor.
#[test]
fn a_single_noisy_message_takes_a_multiple_of_its_time() {
    let us = |noise: f64| {
        let machine = "latency_us=70,overhead_us=30,gap_us=2,byte_us=0.3,overhead_byte_us=0.1";
        let machine = format!("free:model=loggp,{machine},noise={noise}");
        cost("ring:3", &machine, &[&[(0, 1, 1001)]]).parts.total()
    };
    let factor = Noise::new(0.5, 0).factor(0, 0, 1);
    assert!((us(0.5) / us(0.0) / factor - 1.0).abs() < 1e-6, "{} {} {factor}", us(0.5), us(0.0));
    assert!((factor - 1.0).abs() > 0.01);
}

/// Rank 0 can start its second send at 2 µs, when the message of rank 1 arrives. If it sends first,
/// its message arrives at 4 µs, and rank 3 has received it at 5 µs. If it receives first, until
/// 3 µs, all of this is 1 µs later. With a longer latency, no events are simultaneous.
#[test]
fn simultaneous_events_that_decide_the_time_are_reported() {
    let of = |latency: &str, step: &[(u32, u32, u64)]| {
        let machine = format!("free:model=loggp,overhead_us=1,gap_us=2,latency_us={latency}");
        let cost = cost("fully-connected:4", &machine, &[step]);
        (cost.parts.total(), cost.note)
    };
    let step = [(1, 0, 1), (0, 2, 1), (0, 3, 1)];
    let note = "depends on the order of simultaneous events: in the reverse order ";
    let (us, reversed) = (of("1", &step), format!("{note}6.000000 us, 20.00 % more"));
    assert_eq!(us, (5.0, Some(reversed)));
    assert_eq!(of("1.25", &step).1, None);
    // The order of two messages of the same length makes no difference at their receiver.
    assert_eq!(of("1", &[(1, 0, 1), (2, 0, 1)]).1, None);
}
