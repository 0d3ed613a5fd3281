//! Tests of the rule that a message is rearranged if it has several blocks that are not empty. The
//! expected results are computed block by block.

use super::*;
use crate::delivery::boxes::{Axis, NodeSet};
use crate::delivery::collective::{ALL_REDUCE, ALL_TO_ALL, BROADCAST, REDUCE_SCATTER, SizeTable};
use crate::network::topology::parse;
use crate::simulation::listener::{Interests, ScheduleEvent};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// For each step, the largest packed load of a node. The packed load of a node is the total load of
/// the messages that the node sends or receives and that contain several blocks.
#[derive(Default)]
struct Packed(Vec<u64>);

impl Listener for Packed {
    fn interests(&self) -> Interests {
        Interests { packing: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(step) = event {
            self.0.push(step.facts.max_packed_load.unwrap());
        }
    }
}

/// Returns the largest packed load of each step.
fn packed(task: Task, division: Division, steps: &[Vec<Rule<'_>>]) -> Vec<u64> {
    let mut listener = Packed::default();
    let mut simulation = Simulation::new(task, vec![&mut listener]).unwrap();
    simulation.layout(&[], division, None).unwrap();
    for sends in steps {
        simulation.step().unwrap();
        sends.iter().for_each(|rule| simulation.send(rule, None).unwrap());
    }
    // Ignore the result of the verification: most of these schedules deliver only a part of the
    // data.
    let _ = simulation.finish();
    listener.0
}

/// Creates a send of one segment of each block.
fn piece<'a>(from: u64, to: u64, segment: u32) -> Rule<'a> {
    Rule { segments: Axis::Range { first: segment, stride: 1, count: 1 }, ..Rule::new(from, to) }
}

#[test]
fn a_sum_and_the_pieces_of_a_block_are_one_block() {
    let combine = |from, to| Rule { combine: true, ..Rule::new(from, to) };
    let task = |kind| Task::new(parse("ring:4").unwrap(), Collective::of(kind));
    // Each message is one value: first a single contribution, then the sum of two. The parts of a
    // vector are pieces of one value.
    let chain = [vec![combine(0, 1)], vec![combine(1, 2)]];
    assert_eq!(packed(task(&ALL_REDUCE), Division::WHOLE, &chain), [0, 0]);
    let parts = Division { in_parts: true, segments: 2 };
    assert_eq!(packed(task(&ALL_REDUCE), parts, &chain), [0, 0]);
    // A vector of sums for four nodes is four blocks.
    assert_eq!(packed(task(&REDUCE_SCATTER), Division::WHOLE, &chain), [4, 4]);
    // Segments of a block are sent by one send, by two sends, and by two sends with a different
    // send between them.
    let segments = Division { segments: 3, ..Division::WHOLE };
    let copies = |rules: &[Rule<'static>]| {
        vec![rules.iter().map(|rule| Rule { copy: true, ..*rule }).collect::<Vec<_>>()]
    };
    for rules in [
        &[Rule::new(0, 1)][..],
        &[piece(0, 1, 0), piece(0, 1, 2)],
        &[piece(0, 1, 0), Rule::new(0, 2), piece(0, 1, 1)],
    ] {
        assert_eq!(packed(task(&BROADCAST), segments, &copies(rules)), [0], "{rules:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    /// In the first step all nodes send to node 1; in the second step node 1 sends to node 2.
    /// Blocks may be empty, and messages of 0 bytes may be skipped.
    #[test]
    fn messages_of_several_blocks_are_packed(
        sizes in prop::collection::vec(0_u64..3, 25),
        first in prop::collection::vec((0_u64..5, 0_u32..5, 1_u32..6, 0_u32..2), 0..8),
        second in prop::collection::vec((0_u32..5, 1_u32..6, 0_u32..2), 0..5),
        (is_sized, skip_empty) in any::<(bool, bool)>(),
    ) {
        let sends = [
            first.into_iter().filter(|(from, ..)| *from != 1).map(|(from, d, n, s)| (from, 1, d, n, s)).collect(),
            second.into_iter().map(|(d, n, s)| (1, 2, d, n, s)).collect::<Vec<(u64, u64, u32, u32, u32)>>(),
        ];
        // The node that holds each segment of each block, and the bytes of a segment.
        let mut at: Vec<u64> = (0..50).map(|id| id / 10).collect();
        let bytes = |id: usize| if is_sized { sizes[id / 2].div_ceil(2) } else { 1 };
        // Execute the sends block by block.
        let mut expected = Vec::new();
        for step in &sends {
            let (mut loads, mut any) = ([0; 5], false);
            let mut moved: Vec<(u64, usize)> = Vec::new();
            for &(from, to, d, n, s) in step {
                let selected: Vec<usize> = (0..50).filter(|id| at[*id] == from && (*id / 2 + 5 - d as usize) % 5 < n as usize && id % 2 == s as usize).collect();
                let load: u64 = selected.iter().map(|id| bytes(*id)).sum();
                any |= !selected.is_empty() && (load > 0 || !skip_empty);
                selected.iter().for_each(|id| at[*id] = 9);
                moved.extend(selected.into_iter().map(|id| (from * 8 + to, id)));
            }
            for ends in moved.iter().map(|(ends, _)| *ends).collect::<BTreeSet<_>>() {
                let ids = || moved.iter().filter(|(e, id)| *e == ends && bytes(*id) > 0).map(|(_, id)| *id);
                if ids().map(|id| id / 2).collect::<BTreeSet<_>>().len() > 1 {
                    let load: u64 = ids().map(bytes).sum();
                    loads[(ends / 8) as usize] += load;
                    loads[(ends % 8) as usize] += load;
                }
            }
            moved.iter().for_each(|(ends, id)| at[*id] = ends % 8);
            if any {
                expected.push(loads.into_iter().max().unwrap());
            }
        }
        // Run the same sends in a simulation.
        let sizes = if is_sized { SizeTable::of(5, |o, d| sizes[(o * 5 + d) as usize]) } else { None };
        let task = Task { sizes, skip_empty, ..Task::new(parse("fully-connected:5").unwrap(), Collective::of(&ALL_TO_ALL)) };
        let axes: Vec<Vec<[Axis<'_>; 1]>> = sends.iter().map(|step| {
            step.iter().map(|(_, _, d, n, _)| [Axis::Range { first: *d, stride: 1, count: *n }]).collect()
        }).collect();
        let steps: Vec<Vec<Rule<'_>>> = sends.iter().zip(&axes).map(|(step, axes)| {
            step.iter().zip(axes).map(|((from, to, .., s), axes)| {
                Rule { destinations: NodeSet::Axes(axes), ..piece(*from, *to, *s) }
            }).collect()
        }).collect();
        let division = Division { segments: 2, ..Division::WHOLE };
        prop_assert_eq!(packed(task, division, &steps), expected);
    }
}

/// In each of two steps, a node sends all of its four blocks of an all-to-all, which have 10 bytes
/// each. So a node rearranges four blocks and 40 bytes in a step, at either end of the message.
#[test]
fn blocks_are_charged_at_both_ends_of_an_exchange() {
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::PricingContext;
    let topology = parse("ring:4").unwrap();
    let price = |machine: &str, exchanges: bool, counted: bool| {
        let context = PricingContext { exchanges, counted, ..PricingContext::new(&topology, 10.0) };
        let mut evaluator = Machine::parse(machine).unwrap().evaluator(context);
        let task = Task::new(parse("ring:4").unwrap(), Collective::of(&ALL_TO_ALL));
        let mut simulation = Simulation::new(task, vec![evaluator.as_mut()]).unwrap();
        simulation.layout(&[], Division::WHOLE, None).unwrap();
        for (from, to) in [(0, 1), (2, 3)] {
            simulation.step().unwrap();
            simulation.send(&Rule::new(from, to), None).unwrap();
        }
        let _ = simulation.finish();
        evaluator.cost().map(|cost| cost.parts[Kind::Rearrangement].unwrap())
    };
    let both = "free:rearrange_block_us=1,rearrange_byte_us=0.1";
    assert_eq!(price(both, true, true), Ok(16.0));
    assert_eq!(price("free:rearrange_block_us=1", false, true), Ok(8.0));
    for (exchanges, us) in [(true, 16.0), (false, 0.0)] {
        let machine = format!("{both},rearrangement=exchanges");
        assert_eq!(price(&machine, exchanges, true), Ok(us));
    }
    let refused = price(both, true, false).unwrap_err();
    insta::assert_snapshot!(refused, @"rearrange_block_us needs blocks of one size if messages have several blocks: set rearrange_block_us=0 to price only their bytes");
}
