//! Tests of the loads that nodes hold: blocks, or bytes if blocks have explicit sizes.

use super::*;
use crate::delivery::collective::SizeTable;

/// Returns block sizes of `10 * origin + destination` bytes.
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

/// A segment of 12 / 5 bytes is rounded up to 3.
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
        let placement = Placement::new(grid, side * side);
        let division = Division { segments, ..Division::WHOLE };
        OrbitExchange::of_orbits(Collective::of(&ALL_TO_ALL), placement, division, group)
    };
    assert!(of_segments(1 << 11).is_ok(), "2^52 blocks of 2^11 segments");
    assert!(of_segments((1 << 11) + 1).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(48, 960)))]

    /// After each step, the loads are equal to those of the boxes that nodes hold, even if
    /// redundant blocks arrive. No load exceeds the total.
    #[test]
    fn redundant_blocks_do_not_count(
        broadcast in any::<bool>(),
        has_sizes in any::<bool>(),
        segments in 1_u32..4,
        steps in prop::collection::vec(prop::collection::vec((0_u64..8, 1_u64..8, 0_u64..8, 1_u32..8, any::<bool>()), 1..20), 1..8),
    ) {
        let collective = if broadcast { Collective::of(&BROADCAST).at(3) } else { Collective::of(&ALL_GATHER) };
        // The number of bytes of a segment. The root is node 3, and its block has `10 * 3 + 3`
        // bytes.
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

/// Extra bytes are part of a message, but no node holds them.
#[test]
fn extra_bytes_need_no_block() {
    let mut x = sized(Collective::of(&ALL_TO_ALL), &[3], 1, origin_sized(3)).unwrap();
    let held = x.loads.held().to_vec();
    x.begin_step();
    // Node 0 does not hold the block from node 1 to node 1.
    let none = Rule { strict: false, ..block(1, 1, 0, 1) };
    assert_eq!(x.send(&none), Ok(None));
    assert_eq!(x.send(&Rule { extra_bytes: 5, ..none }), Ok(Some(5)));
    x.end_step().unwrap();
    assert_eq!(x.loads.held(), held);
    let mut counted = exchange(Collective::of(&ALL_TO_ALL), &[3], 1);
    insta::assert_snapshot!(message(step(&mut counted, &[Rule { extra_bytes: 5, ..block(0, 1, 0, 1) }])), @"step 1: the send from 0 to 1 has extra bytes, but all blocks have the same size and are counted");
}
