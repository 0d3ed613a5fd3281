//! Tests that correct schedules pass verification, and that each kind of fault is reported with its
//! step, node and block.

use super::*;
use crate::delivery::boxes::Side;
use crate::delivery::collective::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, GATHER, REDUCE, REDUCE_SCATTER, SCATTER,
    SizeTable,
};
use crate::delivery::grid::Grid;
use proptest::prelude::*;

fn exchange(collective: Collective, radices: &[u64], segments: u32) -> Exchange {
    sized(collective, radices, segments, None).unwrap()
}

fn sized(
    collective: Collective,
    radices: &[u64],
    segments: u32,
    sizes: Option<Arc<dyn BlockSizes>>,
) -> Result<Exchange, Fault> {
    let grid = Grid::new(radices).unwrap();
    let embedding = Embedding::new(grid.clone(), grid.nodes());
    Exchange::new(collective, embedding, Division { segments, ..Division::WHOLE }, sizes)
}

fn block<'a>(origin: u64, destination: u64, from: u64, to: u64) -> Rule<'a> {
    Rule::new(from, to).of_block(origin, destination)
}

fn step(x: &mut Exchange, sends: &[Rule<'_>]) -> Result<(), Fault> {
    x.begin_step();
    for send in sends {
        x.send(send)?;
    }
    x.end_step()
}

fn message(result: Result<(), Fault>) -> String {
    result.expect_err("the schedule is wrong").to_string()
}

fn shift(x: &mut Exchange, n: u64) -> Result<(), Fault> {
    for distance in 1..n {
        let sends: Vec<_> =
            (0..n).map(|v| block(v, (v + distance) % n, v, (v + distance) % n)).collect();
        step(x, &sends)?;
    }
    x.verify()
}

#[test]
fn a_direct_exchange_delivers_without_forwarding() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3, 4], 1);
    assert_eq!(shift(&mut x, 12), Ok(()));
    assert_eq!(x.loads.peak(), 12);
    assert!(x.loads.held().iter().all(|h| *h == 12));
}

#[test]
fn a_missing_block_is_reported_with_its_location() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[4], 1);
    for distance in 1..4 {
        let sends: Vec<_> = (0..4)
            .filter(|v| (distance, *v) != (2, 1))
            .map(|v| block(v, (v + distance) % 4, v, (v + distance) % 4))
            .collect();
        step(&mut x, &sends).unwrap();
    }
    insta::assert_snapshot!(message(x.verify()), @"after step 3: block 1 -> 3 was never delivered to node 3 (it is at node 1); missing in total: 1 block at 1 node");
}

#[test]
fn a_block_cannot_be_forwarded_in_the_step_of_its_arrival() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    let passed_on = [block(0, 2, 0, 1), block(0, 2, 1, 2)];
    insta::assert_snapshot!(message(step(&mut x, &passed_on)), @"step 1: node 1 sends node 2 block 0 -> 2, which it does not hold (it reaches node 1 in this step and can be forwarded in the next)");
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    assert_eq!(step(&mut x, &passed_on[..1]).and_then(|()| step(&mut x, &passed_on[1..])), Ok(()));
}

#[test]
fn a_block_cannot_be_sent_twice() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    step(&mut x, &[block(0, 2, 0, 2)]).unwrap();
    insta::assert_snapshot!(message(step(&mut x, &[block(0, 2, 0, 2)])), @"step 2: node 0 sends node 2 block 0 -> 2, which it does not hold (it is at node 2, its destination)");
}

#[test]
fn a_copy_of_a_block_cannot_be_delivered_twice() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    step(&mut x, &[Rule { copy: true, ..block(0, 2, 0, 2) }]).unwrap();
    insta::assert_snapshot!(message(step(&mut x, &[block(0, 2, 0, 2)])), @"step 2: block 0 -> 2 is delivered twice: node 2 already holds it");
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    step(&mut x, &[Rule { copy: true, ..block(0, 2, 0, 1) }]).unwrap();
    insta::assert_snapshot!(message(step(&mut x, &[block(0, 2, 0, 2), block(0, 2, 1, 2)])), @"step 2: block 0 -> 2 is delivered twice: node 2 already holds it");
}

#[test]
fn unknown_nodes_and_sends_to_oneself_are_refused() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    insta::assert_snapshot!(message(step(&mut x, &[Rule::new(0, 3)])), @"step 1: receiver 3 is unknown, the schedule's grid has nodes 0 to 2");
    insta::assert_snapshot!(message(step(&mut x, &[Rule::new(u64::MAX, 0)])), @"step 2: sender 18446744073709551615 is unknown, the schedule's grid has nodes 0 to 2");
    insta::assert_snapshot!(message(step(&mut x, &[Rule::new(1, 1)])), @"step 3: node 1 sends to itself (a local copy must be marked as such)");
    assert_eq!(step(&mut x, &[Rule { local: true, ..Rule::new(1, 1) }]), Ok(()));
}

#[test]
fn an_invalid_set_is_reported() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3, 4], 1);
    let axes = [Axis::All];
    let wrong = Rule { destinations: NodeSet::Axes(&axes), ..Rule::new(0, 1) };
    insta::assert_snapshot!(message(step(&mut x, &[wrong])), @"step 1: in the send from 0 to 1, the set of destinations has 1 axes, the grid has 2");
}

#[test]
fn a_send_of_blocks_that_are_not_held_is_empty_unless_strict() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    x.begin_step();
    assert_eq!(x.send(&Rule { strict: false, ..block(2, 0, 1, 0) }), Ok(None));
}

#[test]
fn virtual_nodes_forward_blocks() {
    let mut embedding = Embedding::new(Grid::new(&[3]).unwrap(), 2);
    for (virtual_node, physical, home) in [(0, 0, true), (1, 1, true), (2, 0, false)] {
        embedding.place(virtual_node, physical, home).unwrap();
    }
    let mut x =
        Exchange::new(Collective::of(&ALL_TO_ALL), embedding, Division::WHOLE, None).unwrap();
    step(&mut x, &[Rule::new(0, 2)]).unwrap(); // A local copy of all blocks of node 0.
    assert_eq!(x.loads.held(), [2, 2]);
    insta::assert_snapshot!(message(x.verify()), @"after step 1: block 0 -> 0 was never delivered to node 0 (it is at node 2 (on node 0 of the machine)); missing in total: 3 blocks at 2 nodes");
    insta::assert_snapshot!(message(step(&mut x, &[block(2, 0, 2, 1)])), @"step 2: node 2 (on node 0 of the machine) sends node 1 block 0 -> 0, which it does not hold (no node holds it)");
    step(&mut x, &[block(0, 0, 2, 0), block(0, 1, 2, 1), block(1, 0, 1, 0)]).unwrap();
    assert_eq!(x.verify(), Ok(()));
}

#[test]
fn incomplete_placements_are_refused() {
    let grid = || Grid::new(&[3]).unwrap();
    let text = |p: Embedding| {
        Exchange::new(Collective::of(&ALL_TO_ALL), p, Division::WHOLE, None)
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(text(Embedding::new(grid(), 2)), @"the schedule's grid: it has 3 nodes and the machine 2: every node must be placed");
    let mut p = Embedding::new(grid(), 2);
    p.place(0, 0, true).unwrap();
    insta::assert_snapshot!(p.place(0, 1, true).unwrap_err().to_string(), @"the schedule's grid: node 0 is placed twice, on nodes 0 and 1");
    insta::assert_snapshot!(p.place(1, 0, true).unwrap_err().to_string(), @"the schedule's grid: node 0 of the machine has two homes, nodes 0 and 1");
    insta::assert_snapshot!(p.place(3, 0, true).unwrap_err().to_string(), @"the schedule's grid: node 3 is placed on node 0, but the grid has 3 nodes and the machine 2");
    insta::assert_snapshot!(text(p.clone()), @"the schedule's grid: node 2 is not placed");
    p.place(2, 0, false).unwrap();
    insta::assert_snapshot!(text(p), @"the schedule's grid: node 1 of the machine has no home");
}

#[test]
fn a_broadcast_may_be_redundant_but_must_be_complete() {
    let copy = |from, to| Rule { copy: true, ..Rule::new(from, to) };
    let mut x = exchange(Collective::of(&BROADCAST).at(1), &[4], 1);
    step(&mut x, &[copy(1, 0)]).unwrap();
    step(&mut x, &[copy(0, 2), copy(1, 2)]).unwrap();
    assert_eq!(x.loads.held(), [1, 1, 1, 0], "a block that is received twice is held once");
    insta::assert_snapshot!(message(x.verify()), @"after step 2: the root's block was never delivered to node 3 (it is at node 0); missing in total: 1 block at 1 node");
    step(&mut x, &[copy(2, 3)]).unwrap();
    assert_eq!(x.verify(), Ok(()));
}

#[test]
fn segments_are_sent_separately() {
    let segment = |k, from, to| Rule {
        copy: true,
        segments: Axis::Range { first: k, stride: 1, count: 1 },
        strict: true,
        ..Rule::new(from, to)
    };
    let mut x = exchange(Collective::of(&BROADCAST), &[2], 2);
    step(&mut x, &[segment(1, 0, 1)]).unwrap();
    insta::assert_snapshot!(message(x.verify()), @"after step 1: segment 0 of the root's block was never delivered to node 1 (it is at node 0); missing in total: 1 block at 1 node");
    step(&mut x, &[segment(0, 0, 1)]).unwrap();
    assert_eq!(x.verify(), Ok(()));
}

#[test]
fn scatter_gather_allgather_and_permutation_are_delivered() {
    let mut scatter = exchange(Collective::of(&SCATTER).at(2), &[3], 1);
    assert_eq!(
        (scatter.loads.held(), scatter.loads.peak()),
        (&[0, 0, 3][..], 3),
        "the peak includes the start"
    );
    let to = |d| Rule { destinations: NodeSet::One(d), strict: true, ..Rule::new(2, d) };
    step(&mut scatter, &[to(0), to(1)]).unwrap();
    assert_eq!((scatter.verify(), scatter.loads.peak()), (Ok(()), 3));

    let mut gather = exchange(Collective::of(&GATHER).at(2), &[3], 1);
    step(&mut gather, &[Rule::new(0, 1)]).unwrap();
    step(&mut gather, &[Rule::new(1, 2)]).unwrap();
    assert_eq!(gather.verify(), Ok(()));

    let mut gossip = exchange(Collective::of(&ALL_GATHER), &[3], 1);
    for _ in 0..2 {
        let sends: Vec<_> =
            (0..3).map(|v| Rule { copy: true, ..Rule::new(v, (v + 1) % 3) }).collect();
        step(&mut gossip, &sends).unwrap();
    }
    assert_eq!(gossip.verify(), Ok(()));

    let rotate = Collective::permutation("rotate", [1, 2, 0].into());
    let mut x = exchange(rotate, &[3], 1);
    assert!(x.verify().is_err());
    x.begin_step();
    insta::assert_snapshot!(x.send(&Rule { destinations: NodeSet::One(1), ..Rule::new(0, 1) }).unwrap_err().to_string(), @"step 1: in the send from 0 to 1, the set of destinations can't be used in a permutation, whose blocks are distinguished by origin only");
    step(&mut x, &[Rule::new(0, 1), Rule::new(1, 2), Rule::new(2, 0)]).unwrap();
    assert_eq!(x.verify(), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(48, 960)))]

    /// After random moves, a schedule passes verification only if it delivers all blocks directly.
    #[test]
    fn random_moves_are_traced(
        radices in prop_oneof![Just(vec![6]), Just(vec![2, 3]), Just(vec![2, 2, 2]), Just(vec![70])],
        moves in prop::collection::vec((0_u64..70, 0_u64..70, 0_u64..70, 1_u32..5), 0..40),
        forget in 0_u64..70,
    ) {
        let n: u64 = radices.iter().product();
        let mut x = exchange(Collective::of(&ALL_TO_ALL), &radices, 1);
        for (from, to, first, count) in moves {
            let (from, to) = (from % n, to % n);
            let last = *radices.last().unwrap();
            let mut axes = vec![Axis::All; radices.len()];
            let count = count.min(last as u32);
            *axes.last_mut().unwrap() = Axis::Range { first: (first % last) as u32, stride: 1, count };
            if from != to {
                step(&mut x, &[Rule { destinations: NodeSet::Axes(&axes), ..Rule::new(from, to) }]).unwrap();
            }
        }
        prop_assert_eq!(x.loads.held().iter().sum::<u64>(), n * n, "no block is lost");
        let forget = forget % n;
        let deliver = |x: &mut Exchange, d: u64| {
            let sends: Vec<_> =
                (0..n).filter(|v| *v != d).map(|v| Rule { destinations: NodeSet::One(d), ..Rule::new(v, d) }).collect();
            step(x, &sends).unwrap();
        };
        for d in (0..n).filter(|d| *d != forget) {
            deliver(&mut x, d);
        }
        let complete = x.verify().is_ok();
        deliver(&mut x, forget);
        prop_assert_eq!(x.verify(), Ok(()));
        prop_assert!(!complete || x.loads.held().iter().all(|h| *h == n));
    }
}

fn origin_sized(nodes: u64) -> Option<Arc<dyn BlockSizes>> {
    SizeTable::of(nodes, |origin, destination| 10 * origin + destination)
}

#[test]
fn loads_are_bytes_where_blocks_have_sizes() {
    let mut x = sized(Collective::of(&ALL_TO_ALL), &[3], 1, origin_sized(3)).unwrap();
    assert_eq!(x.loads.held(), [1 + 2, 10 + 11 + 12, 20 + 21 + 22]);
    x.begin_step();
    assert_eq!(x.send(&block(1, 2, 1, 2)), Ok(Some(12)));
    assert_eq!(x.loads.held(), [3, 21, 75]);
}

#[test]
fn segment_sizes_are_rounded_up() {
    let mut x = sized(Collective::of(&ALL_TO_ALL), &[3], 5, origin_sized(3)).unwrap();
    x.begin_step();
    let two = Axis::Range { first: 1, stride: 1, count: 2 };
    assert_eq!(x.send(&Rule { segments: two, ..block(1, 2, 1, 2) }), Ok(Some(6)));
    assert_eq!((x.segments(), x.loads.held()[1]), (1, 5 * 2 + 5 * 3 + 3 * 3));
}

#[test]
fn a_total_load_beyond_2_to_the_63_is_refused() {
    let with = |nodes, segments| {
        let huge = SizeTable::of(nodes, |_, _| 1 << 59);
        sized(Collective::of(&ALL_TO_ALL), &[nodes], segments, huge)
    };
    for segments in [1, 4096] {
        assert!(with(4, segments).is_ok(), "16 blocks of 2^59");
        assert_eq!(
            with(5, segments).unwrap_err().to_string(),
            format!("the total load of its blocks exceeds 2^63 (segments per block: {segments})")
        );
    }
}

#[test]
fn the_total_load_of_a_symmetric_schedule_counts_all_nodes() {
    use crate::network::symmetry::{Group, Symmetry};
    let side = 1 << 13;
    let of_segments = |segments| {
        let grid = Grid::new(&[side, side]).unwrap();
        let group = Group::new(&[side, side], &[Symmetry::Shift(1); 2]).unwrap();
        let embedding = Embedding::new(grid, side * side);
        let division = Division { segments, ..Division::WHOLE };
        OrbitExchange::of_orbits(Collective::of(&ALL_TO_ALL), embedding, division, group)
    };
    assert!(of_segments(1 << 11).is_ok(), "2^52 blocks of 2^11 segments");
    assert!(of_segments((1 << 11) + 1).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(48, 960)))]

    #[test]
    fn redundant_blocks_do_not_count(
        broadcast in any::<bool>(),
        has_sizes in any::<bool>(),
        segments in 1_u32..4,
        steps in prop::collection::vec(prop::collection::vec((0_u64..8, 1_u64..8, 0_u64..8, 1_u32..8, any::<bool>()), 1..20), 1..8),
    ) {
        let collective = if broadcast { Collective::of(&BROADCAST).at(3) } else { Collective::of(&ALL_GATHER) };
        let bytes = |origin: u64| if has_sizes { (10 * origin).div_ceil(segments.into()) } else { 1 };
        let of_root = if has_sizes { 33_u64.div_ceil(segments.into()) } else { 1 };
        let exists = u64::from(segments) * if broadcast { of_root } else { (0..8).map(bytes).sum() };
        let sizes = if has_sizes { origin_sized(8) } else { None };
        let mut x = sized(collective, &[8], segments, sizes).unwrap();
        let mut peak = x.loads.held().iter().copied().max().unwrap_or(0);
        for sends in steps {
            x.begin_step();
            for (from, distance, first, count, all) in sends {
                let axes = [Axis::Range { first: first as u32, stride: 1, count }];
                let origins = if all || broadcast { NodeSet::All } else { NodeSet::Axes(&axes) };
                let segment = Axis::Range { first: first as u32 % segments, stride: 1, count: 1 };
                let segments = if all { Axis::All } else { segment };
                let send = Rule { origins, segments, copy: true, ..Rule::new(from, (from + distance) % 8) };
                x.send(&send).unwrap();
            }
            x.end_step().unwrap();
            peak = x.loads.held().iter().copied().fold(peak, u64::max);
            for node in 0..8 {
                let of = |b: &[u64]| {
                    let origins = x.layout().nodes_of(Side::Origins, b).into_iter();
                    x.layout().segments_of(b) * if broadcast { of_root } else { origins.map(bytes).sum() }
                };
                let load: u64 = x.holdings.of(node as usize).map(of).sum();
                prop_assert_eq!(x.loads.held()[node as usize], load, "node {}", node);
            }
            prop_assert!(x.loads.peak() <= peak && peak <= exists, "{} of {}, {} exist", x.loads.peak(), peak, exists);
        }
    }
}

#[test]
fn extra_bytes_need_no_block() {
    let mut x = sized(Collective::of(&ALL_TO_ALL), &[3], 1, origin_sized(3)).unwrap();
    let held = x.loads.held().to_vec();
    x.begin_step();
    let none = Rule { strict: false, ..block(1, 1, 0, 1) };
    assert_eq!(x.send(&none), Ok(None));
    assert_eq!(x.send(&Rule { extra_bytes: 5, ..none }), Ok(Some(5)));
    x.end_step().unwrap();
    assert_eq!(x.loads.held(), held);
    let mut counted = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    insta::assert_snapshot!(message(step(&mut counted, &[Rule { extra_bytes: 5, ..block(0, 1, 0, 1) }])), @"step 1: the send from 0 to 1 has extra bytes, but all blocks have the same size and are counted");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(48, 960)))]

    #[test]
    fn a_send_follows_the_arrivals_of_its_blocks(
        moves in prop::collection::vec(prop::collection::vec((0_u64..6, 1_u64..6, 0_u64..6, 1_u32..5), 1..6), 1..12),
    ) {
        let mut x = exchange(Collective::of(&ALL_TO_ALL), &[6], 1).with_arrival_tracking();
        let mut at: Vec<(u64, u64, u64, u64)> = (0..36).map(|id| (id / 6, id % 6, id / 6, 0)).collect();
        for (step, sends) in (1..).zip(moves) {
            x.begin_step();
            let mut arriving = Vec::new();
            for (from, distance, first, count) in sends {
                let to = (from + distance) % 6;
                let axes = [Axis::Range { first: first as u32, stride: 1, count }];
                let sent = x.send(&Rule { destinations: NodeSet::Axes(&axes), ..Rule::new(from, to) }).unwrap();
                let is_selected = |(_, destination, node, _): &(u64, u64, u64, u64)| {
                    *node == from && (destination + 6 - first) % 6 < u64::from(count)
                };
                let (moved, stays): (Vec<_>, Vec<_>) = at.into_iter().partition(is_selected);
                at = stays;
                prop_assert_eq!(sent.unwrap_or(0), moved.len() as u64);
                let latest = moved.iter().map(|(.., arrival)| *arrival).max().unwrap_or(0);
                prop_assert!(x.latest_arrival() == latest || sent.is_none());
                arriving.extend(moved.into_iter().map(|(origin, destination, ..)| (origin, destination, to, step)));
            }
            x.end_step().unwrap();
            at.extend(arriving);
        }
    }
}

#[test]
fn a_send_follows_the_latest_arrival_of_its_blocks_only() {
    let mut ring = exchange(Collective::of(&ALL_GATHER), &[5], 1).with_arrival_tracking();
    for number in 1..5 {
        ring.begin_step();
        for from in 0..5 {
            let origins = NodeSet::One((from + 6 - number) % 5);
            ring.send(&Rule {
                origins,
                copy: true,
                strict: true,
                ..Rule::new(from, (from + 1) % 5)
            })
            .unwrap();
            assert_eq!(ring.latest_arrival(), number - 1);
        }
        ring.end_step().unwrap();
    }
    assert_eq!(ring.verify(), Ok(()));
    let mut direct = exchange(Collective::of(&ALL_TO_ALL), &[4], 1).with_arrival_tracking();
    step(&mut direct, &[block(1, 0, 1, 0)]).unwrap();
    direct.begin_step();
    direct.send(&block(0, 1, 0, 1)).unwrap();
    assert_eq!(direct.latest_arrival(), 0);
}

#[test]
fn a_transfer_within_a_node_of_the_machine_keeps_the_arrival() {
    let mut embedding = Embedding::new(Grid::new(&[4]).unwrap(), 3);
    (0..3).for_each(|node| embedding.place(node, node, true).unwrap());
    embedding.place(3, 2, false).unwrap();
    let mut x = Exchange::new(Collective::of(&ALL_TO_ALL), embedding, Division::WHOLE, None)
        .unwrap()
        .with_arrival_tracking();
    let pass = |from, to| Rule { local: true, ..block(0, 1, from, to) };
    step(&mut x, &[pass(0, 2)]).unwrap();
    step(&mut x, &[pass(2, 3)]).unwrap();
    x.begin_step();
    x.send(&pass(3, 1)).unwrap();
    assert_eq!(x.latest_arrival(), 1);
}

#[test]
fn joined_boxes_in_flight_are_received() {
    const N: u64 = 70;
    let exchanged = |joins_after: usize, without: Option<(u64, u64)>| {
        let mut x = exchange(Collective::of(&ALL_TO_ALL), &[7, 10], 1);
        x.begin_step();
        let pairs = (0..N).flat_map(|v| (1..N).map(move |distance| (v, (v + distance) % N)));
        for (number, (from, to)) in pairs.filter(|pair| Some(*pair) != without).enumerate() {
            x.send(&block(from, to, from, to)).unwrap();
            if number % joins_after == 0 {
                x.join_in_flight();
            }
        }
        let boxes = x.in_flight.receivers.len();
        x.end_step().unwrap();
        (boxes, x.loads.held().to_vec(), x.verify())
    };
    let (boxes, held, verified) = exchanged(usize::MAX, None);
    assert_eq!((boxes as u64, verified), (N * (N - 1), Ok(())));
    for joins_after in [1, 10, 1000] {
        let (joined, held_joined, verified) = exchanged(joins_after, None);
        assert_eq!((held_joined, verified), (held.clone(), Ok(())), "{joins_after}");
        assert!(joined < boxes / 3, "{joins_after}: {joined} of {boxes}");
    }
    assert_eq!(exchanged(1, Some((5, 6))).2, exchanged(usize::MAX, Some((5, 6))).2);
    assert!(exchanged(1, Some((5, 6))).2.is_err());
}

#[test]
fn boxes_of_the_latest_send_are_found_after_others_were_joined() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[7, 10], 1);
    x.begin_step();
    x.in_flight.join_from = 0;
    for (from, to) in (0..70).flat_map(|v| (1..70).map(move |distance| (v, (v + distance) % 70))) {
        x.send(&block(from, to, from, to)).unwrap();
        let latest: Vec<_> = x.in_flight(x.latest_box()).collect();
        assert_eq!((latest.len(), latest[0].0), (1, to));
        assert_eq!(x.in_flight_contents(x.latest_box()), Contents::one(from, to, 1.0));
    }
}

/// A block that arrives twice after a copy is found only if it is in separate boxes.
#[test]
fn copies_in_flight_are_not_joined() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    x.begin_step();
    for _ in 0..2 {
        x.send(&Rule { copy: true, ..block(0, 1, 0, 1) }).unwrap();
        x.join_in_flight();
    }
    assert_eq!(x.in_flight.receivers.len(), 2);
    assert!(message(x.end_step()).contains("node 1"));
}

#[test]
fn boxes_are_joined_with_boxes_of_the_same_step() {
    const N: u64 = 40;
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[N], 1).with_arrival_tracking();
    let sends = |distance| (0..N).map(move |v| block(v, (v + distance) % N, v, (v + distance) % N));
    for distance in 1..=20 {
        step(&mut x, &sends(distance).collect::<Vec<_>>()).unwrap();
    }
    step(&mut x, &(21..N).flat_map(sends).collect::<Vec<_>>()).unwrap();
    // Each node holds its own block, 20 single blocks, and one box with all blocks that arrived in
    // the last step.
    assert!((0..N).all(|node| x.holdings.of(node as usize).count() == 1 + 20 + 1));
    assert_eq!(x.verify(), Ok(()));
}

fn combine<'a>(from: u64, to: u64, copy: bool) -> Rule<'a> {
    Rule { combine: true, strict: true, copy, ..Rule::new(from, to) }
}

#[test]
fn a_sum_is_as_long_as_one_contribution() {
    let mut x = exchange(Collective::of(&REDUCE), &[4], 1);
    assert_eq!((x.loads.held(), x.sums()), (&[1; 4][..], true));
    step(&mut x, &[combine(1, 0, false), combine(3, 2, false)]).unwrap();
    assert_eq!((x.loads.held(), x.loads.most_summed()), (&[1, 0, 1, 0][..], 1));
    x.begin_step();
    assert_eq!(x.send(&combine(2, 0, false)), Ok(Some(1)), "a sum of two contributions");
    x.end_step().unwrap();
    assert_eq!((x.verify(), x.loads.peak()), (Ok(()), 1));
}

#[test]
fn a_contribution_counted_twice_is_reported() {
    let mut x = exchange(Collective::of(&ALL_REDUCE), &[3], 2);
    step(&mut x, &[combine(0, 1, true)]).unwrap();
    let second =
        Rule { segments: Axis::Range { first: 1, stride: 1, count: 1 }, ..combine(1, 0, true) };
    insta::assert_snapshot!(message(step(&mut x, &[second])), @"step 2: node 0 counts node 0's contribution to segment 1 of the vector twice: it is in both its own value and the received one");
}

#[test]
fn a_value_that_replaces_another_must_contain_its_contributions() {
    let mut x = exchange(Collective::of(&ALL_REDUCE), &[2], 1);
    insta::assert_snapshot!(message(step(&mut x, &[Rule { copy: true, ..Rule::new(0, 1) }])), @"step 1: node 1 loses node 1's contribution to the vector: the received value replaces its own value, which contains it (combine the two)");
    let mut x = exchange(Collective::of(&ALL_REDUCE), &[2], 1);
    step(&mut x, &[combine(0, 1, true)]).unwrap();
    step(&mut x, &[Rule { copy: true, ..Rule::new(1, 0) }]).unwrap();
    assert_eq!((x.verify(), x.loads.held(), x.loads.most_summed()), (Ok(()), &[1, 1][..], 0));
}

#[test]
fn a_missing_contribution_is_reported() {
    let mut x = exchange(Collective::of(&REDUCE_SCATTER), &[3], 1);
    let mut sends: Vec<_> = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0)]
        .map(|(from, to)| Rule { destinations: NodeSet::One(to), ..combine(from, to, false) })
        .to_vec();
    step(&mut x, &sends).unwrap();
    assert_eq!(x.loads.most_summed(), 2);
    insta::assert_snapshot!(message(x.verify()), @"after step 1: node 2's contribution to the result of node 1 was never delivered to node 1 (it is at node 2); missing in total: 1 contribution at 1 node");
    sends = vec![Rule { destinations: NodeSet::One(0), ..combine(1, 2, false) }];
    insta::assert_snapshot!(message(step(&mut x, &sends)), @"step 2: node 1 sends node 2 the result of node 0, which it does not hold (it is at node 0, its destination)");
}

/// The boxes of four pairs of nodes surround the box of the node in the middle, and no two boxes
/// can be joined.
#[test]
fn a_complete_sum_is_stored_as_one_box() {
    let mut x = exchange(Collective::of(&ALL_REDUCE), &[3, 3], 1);
    let sums = |pairs: [(u64, u64); 4]| pairs.map(|(from, to)| combine(from, to, false));
    step(&mut x, &sums([(1, 0), (5, 2), (7, 8), (3, 6)])).unwrap();
    step(&mut x, &sums([(0, 4), (2, 4), (8, 4), (6, 4)])).unwrap();
    assert_eq!((x.loads.held()[4], x.holdings.of(4).count()), (1, 1));
}

#[test]
fn a_virtual_node_holds_a_second_value() {
    let mut embedding = Embedding::new(Grid::new(&[3]).unwrap(), 2);
    for (node, physical, home) in [(0, 0, true), (1, 1, true), (2, 1, false)] {
        embedding.place(node, physical, home).unwrap();
    }
    let mut x =
        Exchange::new(Collective::of(&REDUCE).at(1), embedding, Division::WHOLE, None).unwrap();
    step(&mut x, &[Rule::new(0, 2)]).unwrap();
    assert_eq!((x.loads.held(), x.loads.most_summed()), (&[0, 2][..], 0));
    step(&mut x, &[combine(2, 1, false)]).unwrap();
    assert_eq!((x.verify(), x.loads.held(), x.loads.most_summed()), (Ok(()), &[0, 1][..], 1));
}

#[test]
fn parts_of_a_vector_are_selected_by_destination() {
    let grid = Grid::new(&[2, 2]).unwrap();
    let parts = Division { in_parts: true, segments: 1 };
    let mut x =
        Exchange::new(Collective::of(&ALL_REDUCE), Embedding::new(grid, 4), parts, None).unwrap();
    assert_eq!(x.segments(), 4);
    for (axis, distance) in [(0, 2), (1, 1)] {
        let narrow = |node: u64| {
            let mut axes = [Axis::All; 2];
            axes[axis] = Axis::Range { first: (node / distance % 2) as u32, stride: 1, count: 1 };
            axes
        };
        x.begin_step();
        for node in 0..4 {
            let theirs = narrow(node ^ distance);
            let theirs = NodeSet::Axes(&theirs);
            let send = Rule {
                destinations: theirs,
                strict: false,
                ..combine(node, node ^ distance, false)
            };
            assert_eq!(x.send(&send), Ok(Some(distance)));
        }
        x.end_step().unwrap();
    }
    for distance in [1, 2] {
        let sends: Vec<_> =
            (0..4).map(|node| Rule { copy: true, ..Rule::new(node, node ^ distance) }).collect();
        step(&mut x, &sends).unwrap();
    }
    assert_eq!(x.verify(), Ok(()));
}

#[test]
fn a_sum_follows_the_arrivals_of_its_contributions() {
    let mut sum = exchange(Collective::of(&REDUCE), &[4], 1).with_arrival_tracking();
    step(&mut sum, &[combine(3, 2, false)]).unwrap();
    step(&mut sum, &[combine(2, 1, false)]).unwrap();
    sum.begin_step();
    sum.send(&combine(1, 0, false)).unwrap();
    assert_eq!(sum.latest_arrival(), 2);
}
