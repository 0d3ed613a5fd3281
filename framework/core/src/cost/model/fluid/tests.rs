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

/// In tests, every solve is also checked for max-min fairness ([`super::shares::Shares::check`]).
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

/// Opposite nodes of a ring with an even number of nodes have two shortest routes. SimGrid's torus
/// zone sometimes uses the one that Swapmeet does not use. The values are times in µs on torus:4x4
/// with blocks of 1,024 and 65,536 bytes, computed by SimGrid 3.32.
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
    // A single message takes a start-up, the latencies of two links, and the time of ten bytes.
    assert_eq!(priced("ring:8", machine, &[vec![(0, 2, 10)]]).2, [2.0, 1.0, 2.0, 0.0, 0.0]);
    // Two messages share a link.
    let (us, _, parts) =
        priced("mesh:4", "byte_us=0.1,fairness=equal", &[vec![(0, 3, 10), (1, 3, 10)]]);
    assert_eq!((us, parts), (2.0, [0.0, 1.0, 0.0, 0.0, 1.0]));
    // The critical path follows rank 1, which begins the second step late.
    let late = [vec![(0, 1, 1000)], vec![(1, 2, 10)]];
    assert_eq!(priced("mesh:4", machine, &late).2, [4.0, 101.0, 2.0, 0.0, 0.0]);
}

/// There is a barrier between two steps and none after the last one, as under `loggp`.
#[test]
fn barriers_separate_steps() {
    let steps: [&[_]; 3] = [&[(0, 1, 100), (2, 3, 50)], &[(1, 2, 100)], &[(0, 1, 20), (2, 3, 10)]];
    // In both models, the longest messages of the three steps take 102, 102 and 22 µs. `mean` is
    // the mean of the times at which the four ranks end. Counted from the start of the last step,
    // these times are 22, 22, 12 and 12 µs in `fluid`. In `loggp` they are 0, 22, 0 and 12 µs,
    // because a sender does not wait until its message arrives.
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

/// Specs of earlier versions may have this parameter.
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
    // A route of three links and a route of one link share a link. With `fairness=equal`, each of
    // the two messages gets half of this link. With `fairness=rtt`, which is the default, the
    // message on the shorter route has three times the weight of the other message. It therefore
    // gets three quarters of the link.
    let both = [vec![(0, 3, 100), (2, 3, 100)]];
    assert_eq!(priced("mesh:4", "byte_us=1,fairness=equal", &both).0, 200.0);
    let (us, mean, _) = priced("mesh:4", "byte_us=1,hop_us=0.000001", &both);
    assert!((us - 200.0).abs() < 0.01, "{us}");
    // The message between ranks 2 and 3 ends after 100 / 0.75 µs.
    assert!((mean - (200.0 + 200.0 + 400.0 / 3.0) / 4.0).abs() < 0.01, "{mean}");
}

/// Node 1 receives 100 bytes, reduces them, and forwards the result. With `order=data`, the send
/// waits for the reduction.
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
        // LogGP counts the bytes of a message after the first.
        let sends = if model == "loggp" { 2.0 * 99.0 } else { 2.0 * 100.0 };
        assert_eq!([0.0, 2.0].map(us), [sends, sends + 200.0], "{model} {order}");
    }
}

/// After the last step, the rank with the longest reduction need not be the rank that receives
/// last. A rank can also reduce data without receiving a message. With `order=data`, each rank ends
/// after its own reduction, as with `order=step`.
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
