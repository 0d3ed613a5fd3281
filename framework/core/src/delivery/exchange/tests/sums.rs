//! Tests of reductions, in which values are combined or replaced.

use super::*;

/// Creates a strict send of all values, which the receiver combines with its own values.
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

/// In a grid of 3 x 3 nodes, the contributions of four pairs of nodes surround the contribution of
/// the node in the middle. No two of these five boxes can be joined.
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
    let mut placement = Placement::new(Grid::new(&[3]).unwrap(), 2);
    for (node, physical, home) in [(0, 0, true), (1, 1, true), (2, 1, false)] {
        placement.place(node, physical, home).unwrap();
    }
    let mut x =
        Exchange::new(Collective::of(&REDUCE).at(1), placement, Division::WHOLE, None).unwrap();
    step(&mut x, &[Rule::new(0, 2)]).unwrap();
    assert_eq!((x.loads.held(), x.loads.most_summed()), (&[0, 2][..], 0));
    step(&mut x, &[combine(2, 1, false)]).unwrap();
    assert_eq!((x.verify(), x.loads.held(), x.loads.most_summed()), (Ok(()), &[0, 1][..], 1));
}

/// An allreduce by recursive halving and doubling along two axes.
#[test]
fn parts_of_a_vector_are_selected_by_destination() {
    let grid = Grid::new(&[2, 2]).unwrap();
    let parts = Division { in_parts: true, segments: 1 };
    let mut x =
        Exchange::new(Collective::of(&ALL_REDUCE), Placement::new(grid, 4), parts, None).unwrap();
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
