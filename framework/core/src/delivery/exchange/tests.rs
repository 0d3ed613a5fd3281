//! Tests of the exchange. Correct schedules pass, and each kind of fault is reported with its step,
//! node and block.

use super::*;
use crate::delivery::boxes::Side;
use crate::delivery::collective::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, GATHER, REDUCE, REDUCE_SCATTER, SCATTER,
};
use crate::delivery::grid::Grid;
use proptest::prelude::*;

mod arrivals;
mod sizes;
mod sums;

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
    let placement = Placement::new(grid.clone(), grid.nodes());
    Exchange::new(collective, placement, Division { segments, ..Division::WHOLE }, sizes)
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

/// A direct exchange: in step i, each node j sends a block to node `j + i`, modulo n.
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
    // Two copies of a block that arrive in the same step are a fault, too.
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
    // The machine has the nodes 0 and 1. Virtual node 2 also runs on node 0.
    let mut placement = Placement::new(Grid::new(&[3]).unwrap(), 2);
    for (virtual_node, physical, home) in [(0, 0, true), (1, 1, true), (2, 0, false)] {
        placement.place(virtual_node, physical, home).unwrap();
    }
    let mut x =
        Exchange::new(Collective::of(&ALL_TO_ALL), placement, Division::WHOLE, None).unwrap();
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
    let text = |p: Placement| {
        Exchange::new(Collective::of(&ALL_TO_ALL), p, Division::WHOLE, None)
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(text(Placement::new(grid(), 2)), @"the schedule's grid: it has 3 nodes and the machine 2: every node must be placed");
    let mut p = Placement::new(grid(), 2);
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

    /// After random moves, a direct delivery of all blocks passes verification. Verification fails
    /// if the direct delivery leaves out a destination whose blocks have moved.
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
