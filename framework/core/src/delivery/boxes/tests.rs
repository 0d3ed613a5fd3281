//! Boxes against plain sets of blocks.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

type Blocks = BTreeSet<(u64, u64, u64)>;

fn blocks(layout: &Layout, a: &[u64]) -> Blocks {
    let mut all = Blocks::new();
    for o in layout.nodes_of(Side::Origins, a) {
        for d in layout.nodes_of(Side::Destinations, a) {
            for p in layout.nodes_of(Side::Segments, a) {
                all.insert((o, d, p));
            }
        }
    }
    all
}

/// A layout with small, shared and many-word fields, and boxes in it.
fn layouts() -> impl Strategy<Value = (Layout, Vec<Vec<u64>>)> {
    let radices = prop_oneof![
        Just(vec![2, 2, 2]),
        Just(vec![3, 5]),
        Just(vec![70]),
        Just(vec![1, 6]),
        Just(vec![40, 2])
    ];
    (radices, 1_u32..3).prop_flat_map(|(radices, segments)| {
        let layout = Layout::new(Grid::new(&radices).unwrap(), true, true, segments);
        let sum: u64 = 2 * radices.iter().sum::<u64>() + u64::from(segments);
        let made = layout.clone();
        let a_box =
            prop::collection::vec(prop::bool::weighted(0.4), sum as usize).prop_map(move |coins| {
                let mut bits = made.full().to_vec();
                let mut coins = coins.into_iter();
                for index in 0..made.fields.len() {
                    let f = made.fields[index];
                    made.clear(index, &mut bits);
                    let mut any = false;
                    for c in 0..u64::from(f.radix) {
                        if coins.next() == Some(true) {
                            made.insert(index, c, &mut bits);
                            any = true;
                        }
                    }
                    if !any {
                        made.insert(index, 0, &mut bits);
                    }
                }
                bits
            });
        (Just(layout), prop::collection::vec(a_box, 2))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn intersection_difference_and_count_are_those_of_sets((layout, pair) in layouts()) {
        let (a, b) = (blocks(&layout, &pair[0]), blocks(&layout, &pair[1]));
        prop_assert_eq!(layout.count(&pair[0]), a.len() as u64);
        let mut inner = vec![0; layout.words()];
        let some = layout.intersect(&pair[0], &pair[1], &mut inner);
        let both: Blocks = a.intersection(&b).copied().collect();
        prop_assert_eq!(some, !both.is_empty());
        if some {
            prop_assert_eq!(blocks(&layout, &inner), both);
            let mut rest = Blocks::new();
            let mut scratch = vec![0; layout.words()];
            let mut pieces = Vec::new();
            layout.subtract(&pair[0], &inner, &mut scratch, |piece| pieces.push(piece.to_vec()));
            for piece in &pieces {
                for block in blocks(&layout, piece) {
                    prop_assert!(rest.insert(block), "pieces overlap");
                }
            }
            prop_assert_eq!(rest, a.difference(&b).copied().collect::<Blocks>());
        }
    }

    /// A selection cuts a box as its intersection would.
    #[test]
    fn a_cut_is_an_intersection(
        (layout, pair) in layouts(), first in 0_u32..6, count in 1_u32..7, node in prop::option::of(0_u64..8),
    ) {
        let radices = layout.grid().radices().to_vec();
        let mut axes = vec![Axis::All; radices.len()];
        let last = *radices.last().unwrap() as u32;
        *axes.last_mut().unwrap() = Axis::Range { first: first % last, stride: 1, count: count.min(last) };
        let mut selection = layout.select_all();
        layout.narrow(Side::Destinations, NodeSet::Axes(&axes), &mut selection).unwrap();
        if let Some(node) = node {
            layout.narrow(Side::Origins, NodeSet::One(node % layout.grid().nodes()), &mut selection).unwrap();
        }
        let a = &pair[0];
        prop_assert_eq!(selection.count(), layout.count(selection.bits()));
        let (mut inner, mut cut) = (vec![0; layout.words()], vec![0; layout.words()]);
        let some = layout.intersect(a, selection.bits(), &mut inner);
        match layout.cut(a, layout.count(a), &selection, &mut cut) {
            Cut::Nothing => prop_assert!(!some),
            Cut::Whole => prop_assert_eq!(&inner, a),
            Cut::Part(count) => {
                prop_assert_eq!(&cut, &inner);
                prop_assert_eq!(count, layout.count(&inner));
            }
        }
    }

    #[test]
    fn boxes_join_only_into_their_union((layout, pair) in layouts()) {
        let union: Blocks = blocks(&layout, &pair[0]).union(&blocks(&layout, &pair[1])).copied().collect();
        let mut joined = pair[0].clone();
        if layout.join(&mut joined, &pair[1]) {
            prop_assert_eq!(blocks(&layout, &joined), union);
        } else {
            prop_assert_eq!(&joined, &pair[0]);
        }
    }
}

fn narrowed(radix: u64, axis: Axis<'_>) -> Result<Vec<u64>, String> {
    let layout = Layout::new(Grid::new(&[radix]).unwrap(), true, true, 1);
    let mut selection = layout.select_all();
    layout.narrow(Side::Destinations, NodeSet::Axes(&[axis]), &mut selection)?;
    assert_eq!(
        layout.nodes_of(Side::Origins, selection.bits()).len() as u64,
        radix,
        "the other side stays"
    );
    let nodes = layout.nodes_of(Side::Destinations, selection.bits());
    layout.widen(&mut selection);
    assert_eq!(selection.bits(), layout.full());
    Ok(nodes)
}

#[test]
fn ranges_are_cyclic_and_may_stride() {
    assert_eq!(
        narrowed(12, Axis::Range { first: 10, stride: 1, count: 4 }),
        Ok(vec![0, 1, 10, 11])
    );
    assert_eq!(narrowed(12, Axis::Range { first: 9, stride: 4, count: 3 }), Ok(vec![1, 5, 9]));
    assert_eq!(
        narrowed(130, Axis::Range { first: 126, stride: 1, count: 6 }),
        Ok(vec![0, 1, 126, 127, 128, 129])
    );
    assert_eq!(narrowed(3, Axis::Bits(&[0b101])), Ok(vec![0, 2]));
    assert_eq!(narrowed(70, Axis::All).map(|n| n.len()), Ok(70));
}

#[test]
fn sets_that_make_no_sense_are_refused() {
    let text = |axis| narrowed(12, axis).unwrap_err();
    assert_eq!(
        text(Axis::Range { first: 12, stride: 1, count: 1 }),
        "is wrong in axis 0: it starts at 12, expected below 12"
    );
    assert_eq!(
        text(Axis::Range { first: 0, stride: 1, count: 0 }),
        "is wrong in axis 0: it has 0 members 1 apart, expected at least one, at least 1 apart"
    );
    assert_eq!(
        text(Axis::Range { first: 0, stride: 4, count: 4 }),
        "is wrong in axis 0: it names a coordinate twice (4 members 4 apart, modulo 12)"
    );
    assert_eq!(
        text(Axis::Range { first: 0, stride: u32::MAX, count: u32::MAX }),
        "is wrong in axis 0: it names a coordinate twice (4294967295 members 4294967295 apart, modulo 12)"
    );
    assert_eq!(text(Axis::Bits(&[])), "is wrong in axis 0: it has 0 words of bits, expected 1");
    assert_eq!(text(Axis::Bits(&[0])), "is wrong in axis 0: it is empty");
    assert_eq!(
        text(Axis::Bits(&[1 << 12])),
        "is wrong in axis 0: it has bits set beyond coordinate 11"
    );
    let layout = Layout::new(Grid::new(&[3, 4]).unwrap(), true, true, 1);
    let refused = |set| layout.narrow(Side::Origins, set, &mut layout.select_all()).unwrap_err();
    assert_eq!(refused(NodeSet::One(12)), "names node 12 of a grid of 12 nodes");
    assert_eq!(refused(NodeSet::Axes(&[Axis::All])), "has 1 axes, the grid has 2");
}
