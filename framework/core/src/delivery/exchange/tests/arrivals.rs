//! Tests of the latest arrival of the blocks of a send.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(48, 960)))]

    /// Compares the latest arrival of each send with the arrival steps of its blocks, which the
    /// test stores block by block.
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
    // A ring allgather forwards the block received in the previous step.
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
    // A direct exchange forwards nothing.
    let mut direct = exchange(Collective::of(&ALL_TO_ALL), &[4], 1).with_arrival_tracking();
    step(&mut direct, &[block(1, 0, 1, 0)]).unwrap();
    direct.begin_step();
    direct.send(&block(0, 1, 0, 1)).unwrap();
    assert_eq!(direct.latest_arrival(), 0);
}

#[test]
fn a_transfer_within_a_node_of_the_machine_keeps_the_arrival() {
    let mut placement = Placement::new(Grid::new(&[4]).unwrap(), 3);
    (0..3).for_each(|node| placement.place(node, node, true).unwrap());
    placement.place(3, 2, false).unwrap();
    let mut x = Exchange::new(Collective::of(&ALL_TO_ALL), placement, Division::WHOLE, None)
        .unwrap()
        .with_arrival_tracking();
    let pass = |from, to| Rule { local: true, ..block(0, 1, from, to) };
    step(&mut x, &[pass(0, 2)]).unwrap();
    step(&mut x, &[pass(2, 3)]).unwrap();
    x.begin_step();
    x.send(&pass(3, 1)).unwrap();
    assert_eq!(x.latest_arrival(), 1);
}

/// Boxes in flight can be joined at any time before the step ends. The nodes then hold the same
/// blocks as without joining, and a missing block is still found.
#[test]
fn joined_boxes_in_flight_are_received() {
    const N: u64 = 70;
    // Boxes are joined after each send whose number is a multiple of `joins_after`.
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

/// Before a send, the boxes of earlier sends are joined if they take much memory. The boxes of the
/// send itself can still be read.
#[test]
fn boxes_of_the_latest_send_are_found_after_others_were_joined() {
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[7, 10], 1);
    x.begin_step();
    x.in_flight.join_from = 0;
    for (from, to) in (0..70).flat_map(|v| (1..70).map(move |distance| (v, (v + distance) % 70))) {
        x.send(&block(from, to, from, to)).unwrap();
        let latest: Vec<_> = x.in_flight(x.latest_box()).collect();
        assert_eq!((latest.len(), latest[0].0), (1, to));
        assert_eq!(x.in_flight_contents(x.latest_box()), Contents::One(from, to));
    }
}

/// After a copy, boxes stay separate, so that the fault of a block that arrives twice is found and
/// names the receiver.
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

/// Boxes of the same arrival step are joined, however many boxes of other steps the node holds.
#[test]
fn boxes_are_joined_with_boxes_of_the_same_step() {
    const N: u64 = 40;
    let mut x = exchange(Collective::of(&ALL_TO_ALL), &[N], 1).with_arrival_tracking();
    let sends = |distance| (0..N).map(move |v| block(v, (v + distance) % N, v, (v + distance) % N));
    for distance in 1..=20 {
        step(&mut x, &sends(distance).collect::<Vec<_>>()).unwrap();
    }
    step(&mut x, &(21..N).flat_map(sends).collect::<Vec<_>>()).unwrap();
    // Each node holds its own block, 20 single blocks, and one box of all blocks of the last step.
    assert!((0..N).all(|node| x.holdings.of(node as usize).count() == 1 + 20 + 1));
    assert_eq!(x.verify(), Ok(()));
}
