//! Tests that compare both layouts with explicit sets of blocks.

use super::*;
use crate::network::symmetry::Symmetry;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Blocks = BTreeSet<(u64, u64, u64)>;

fn blocks<L: Layout>(layout: &L, a: &[L::Element]) -> Blocks {
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

type Sample = (Vec<u64>, u32, [Vec<Vec<u64>>; 2]);

fn samples() -> impl Strategy<Value = Sample> {
    let radices = prop_oneof![
        Just(vec![2, 2, 2]),
        Just(vec![3, 5]),
        Just(vec![70]),
        Just(vec![1, 6]),
        Just(vec![64]),
        Just(vec![40, 2])
    ];
    (radices, 1_u32..3).prop_flat_map(|(radices, segments)| {
        let mut axes = radices.repeat(2);
        axes.push(segments.into());
        let set = |radix: &u64| {
            prop::collection::btree_set(0..*radix, 1..=(*radix as usize).min(40)).prop_map({
                let words = radix.div_ceil(64) as usize;
                move |members| {
                    let mut bits = vec![0; words];
                    members.iter().for_each(|c| bits[(c / 64) as usize] |= 1 << (c % 64));
                    bits
                }
            })
        };
        let a_box = axes.iter().map(set).collect::<Vec<_>>();
        (Just(radices), Just(segments), [a_box.clone(), a_box])
    })
}

fn bit_layout(radices: &[u64], segments: u32) -> BitLayout {
    BitLayout::new(Grid::new(radices).unwrap(), true, true, segments)
}

fn run_layout(radices: &[u64], segments: u32) -> RunLayout {
    let group = Group::new(radices, &vec![Symmetry::Fixed; radices.len()]).unwrap();
    RunLayout::new(Grid::new(radices).unwrap(), group, true, true, segments)
}

fn boxes_of<L: Layout>(layout: &L, sets: &[Vec<Vec<u64>>; 2]) -> [Vec<L::Element>; 2] {
    sets.each_ref().map(|sets| {
        let mut a = layout.full().to_vec();
        let axes = sets.iter().enumerate();
        axes.for_each(|(axis, bits)| layout.set_axis(axis, Axis::Bits(bits), &mut a));
        a
    })
}

fn check_set_operations<L: Layout>(layout: &L, sets: &[Vec<Vec<u64>>; 2]) {
    let pair = boxes_of(layout, sets);
    let (a, b) = (blocks(layout, &pair[0]), blocks(layout, &pair[1]));
    assert_eq!(layout.count(&pair[0]), a.len() as u64);
    assert_eq!(layout.contains(&pair[0], &pair[1]), b.is_subset(&a));

    let mut out = layout.full().to_vec();
    let values: BTreeSet<(u64, u64)> = b.iter().map(|(_, d, s)| (*d, *s)).collect();
    let terms: Blocks = a.iter().filter(|(_, d, s)| values.contains(&(*d, *s))).copied().collect();
    assert_eq!(layout.values(&pair[1]), values.len() as u64);
    assert_eq!(layout.terms_of(&pair[0], &pair[1], &mut out), !terms.is_empty());
    if !terms.is_empty() {
        assert_eq!(blocks(layout, &out), terms);
    }

    let both: Blocks = a.intersection(&b).copied().collect();
    assert_eq!(layout.intersect(&pair[0], &pair[1], &mut out), !both.is_empty());
    if !both.is_empty() {
        assert_eq!(blocks(layout, &out), both);
        let (mut rest, mut scratch) = (Blocks::new(), layout.full().to_vec());
        layout.subtract(&pair[0], &out, &mut scratch, |piece| {
            let piece = blocks(layout, piece);
            assert!(!piece.is_empty() && rest.is_disjoint(&piece));
            rest.extend(piece);
        });
        assert_eq!(rest, a.difference(&b).copied().collect::<Blocks>());
    } else {
        let mut joined = pair[0].clone();
        if layout.join(&mut joined, &pair[1]) {
            assert_eq!(blocks(layout, &joined), a.union(&b).copied().collect::<Blocks>());
        } else {
            assert_eq!(joined, pair[0]);
        }
    }
}

fn check_cut<L: Layout>(layout: &L, sets: &[Vec<Vec<u64>>; 2], node: Option<u64>) {
    let [a, _] = boxes_of(layout, sets);
    let destinations = layout.axes().of_side(Side::Destinations);
    let axes: Vec<Axis<'_>> = sets[1][destinations].iter().map(|bits| Axis::Bits(bits)).collect();
    let mut selection = layout.select_all();
    layout.narrow(Side::Destinations, NodeSet::Axes(&axes), &mut selection).unwrap();
    if let Some(node) = node {
        let node = NodeSet::One(node % layout.grid().nodes());
        layout.narrow(Side::Origins, node, &mut selection).unwrap();
    }
    assert_eq!(selection.count(), layout.count(selection.elements()));
    let (mut inner, mut cut) = (a.clone(), a.clone());
    let intersects = layout.intersect(&a, selection.elements(), &mut inner);
    match layout.cut(&a, layout.count(&a), &selection, &mut cut) {
        Cut::Nothing => assert!(!intersects),
        Cut::Whole => assert_eq!(inner, a),
        Cut::Part(count) => {
            assert_eq!(cut, inner);
            assert_eq!(count, layout.count(&inner));
            assert_ne!(cut, a);
        }
    }
    selection.widen(layout);
    assert_eq!((selection.elements(), selection.count()), (layout.full(), layout.full_count()));
}

#[test]
fn complementary_boxes_join() {
    fn check<L: Layout>(layout: &L) {
        for axis in 0..layout.axes().radices.len() {
            let [mut a, mut b] = [layout.full().to_vec(), layout.full().to_vec()];
            layout.set_coordinate(axis, 0, &mut a);
            let others: Vec<u64> = (1..layout.axes().radices[axis]).collect();
            let mut bits = vec![0; 2];
            others.iter().for_each(|c| bits[(c / 64) as usize] |= 1 << (c % 64));
            bits.truncate(layout.axes().radices[axis].div_ceil(64) as usize);
            layout.set_axis(axis, Axis::Bits(&bits), &mut b);
            assert!(layout.join(&mut a, &b));
            assert_eq!(a, layout.full());
        }
    }
    for radices in [&[2, 3][..], &[70, 2], &[64, 64]] {
        check(&bit_layout(radices, 2));
        check(&run_layout(radices, 2));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(128, 2560)))]

    #[test]
    fn boxes_behave_like_sets_of_blocks((radices, segments, sets) in samples()) {
        check_set_operations(&bit_layout(&radices, segments), &sets);
        check_set_operations(&run_layout(&radices, segments), &sets);
    }

    #[test]
    fn a_cut_is_an_intersection(
        (radices, segments, sets) in samples(), node in prop::option::of(0_u64..8),
    ) {
        check_cut(&bit_layout(&radices, segments), &sets, node);
        check_cut(&run_layout(&radices, segments), &sets, node);
    }
}

/// Some groups act on the axes of a grid, and others on the numbers of its nodes.
#[test]
fn equal_images_of_sets_have_equal_descriptions() {
    let by_axis = [Symmetry::Xor(1), Symmetry::Shift(1)];
    let one_axis = [Symmetry::Shift(2), Symmetry::Fixed];
    let groups: [(&[u64], &[Symmetry]); 3] =
        [(&[4, 3], &by_axis), (&[4, 3], &one_axis), (&[12], &[Symmetry::Shift(1)])];
    for (radices, symmetries) in groups {
        let group = Group::new(radices, symmetries).unwrap();
        let grid = Grid::new(&[4, 3]).unwrap();
        let layout = RunLayout::new(grid, group.clone(), true, true, 1);
        let mut descriptions: BTreeMap<BTreeSet<u64>, Vec<u64>> = BTreeMap::new();
        for (rows, columns) in (1..16).flat_map(|rows| (1..8).map(move |columns| (rows, columns))) {
            let members = (0..12_u64).filter(|n| rows >> (n / 3) & columns >> (n % 3) & 1 == 1);
            for element in group.elements() {
                let image: BTreeSet<u64> =
                    members.clone().map(|n| group.moved(n, element)).collect();
                let mut words = Vec::new();
                let axes = [Axis::Bits(&[rows]), Axis::Bits(&[columns])];
                layout.describe(NodeSet::Axes(&axes), element, |word| words.push(word)).unwrap();
                match image.len() {
                    1 => assert!(image.iter().eq(&words), "{symmetries:?} {image:?}"),
                    nodes => assert_eq!(words.is_empty(), nodes == 12, "{symmetries:?} {image:?}"),
                }
                let first = descriptions.entry(image.clone()).or_insert_with(|| words.clone());
                assert_eq!(*first, words, "{symmetries:?} {image:?}");
            }
        }
        let different: BTreeSet<&Vec<u64>> = descriptions.values().collect();
        assert_eq!(different.len(), descriptions.len(), "{symmetries:?}");
    }
}

fn narrowed(radix: u64, axis: Axis<'_>) -> Result<Vec<u64>, String> {
    let layout = bit_layout(&[radix], 1);
    let mut selection = layout.select_all();
    layout.narrow(Side::Destinations, NodeSet::Axes(&[axis]), &mut selection)?;
    assert_eq!(
        layout.nodes_of(Side::Origins, selection.elements()).len() as u64,
        radix,
        "the other side stays"
    );
    let nodes = layout.nodes_of(Side::Destinations, selection.elements());
    selection.widen(&layout);
    assert_eq!(selection.elements(), layout.full());
    Ok(nodes)
}

#[test]
fn ranges_are_cyclic_and_may_have_a_stride() {
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
fn invalid_sets_are_refused() {
    let text = |axis| narrowed(12, axis).unwrap_err();
    insta::assert_snapshot!(text(Axis::Range { first: 12, stride: 1, count: 1 }), @"is wrong in axis 0: it starts at 12, expected below 12");
    insta::assert_snapshot!(text(Axis::Range { first: 0, stride: 1, count: 0 }), @"is wrong in axis 0: it has 0 members 1 apart, expected at least one, at least 1 apart");
    insta::assert_snapshot!(text(Axis::Range { first: 0, stride: 4, count: 4 }), @"is wrong in axis 0: it names a coordinate twice (4 members 4 apart, modulo 12)");
    insta::assert_snapshot!(text(Axis::Range { first: 0, stride: u32::MAX, count: u32::MAX }), @"is wrong in axis 0: it names a coordinate twice (4294967295 members 4294967295 apart, modulo 12)");
    insta::assert_snapshot!(text(Axis::Bits(&[])), @"is wrong in axis 0: it has 0 words of bits, expected 1");
    assert_eq!(text(Axis::Bits(&[0])), "is wrong in axis 0: it is empty");
    insta::assert_snapshot!(text(Axis::Bits(&[1 << 12])), @"is wrong in axis 0: it has bits set beyond coordinate 11");
    let layout = bit_layout(&[3, 4], 1);
    let refused = |set| layout.narrow(Side::Origins, set, &mut layout.select_all()).unwrap_err();
    assert_eq!(refused(NodeSet::One(12)), "names node 12 of a grid of 12 nodes");
    assert_eq!(refused(NodeSet::Axes(&[Axis::All])), "has 1 axes, the grid has 2");
}
