//! Tests of whole schedules: the events that listeners get, and whether one node of each orbit
//! gives the same results as all nodes.

use super::*;
use crate::delivery::boxes::{Axis, Layout, NodeSet, Side};
use crate::delivery::collective::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, CollectiveKind, REDUCE_SCATTER, SCATTER,
    SizeTable, set_error,
};
use crate::delivery::exchange::{Exchange, OrbitExchange};
use crate::delivery::fault::{DeliveryFault, EndFault};
use crate::delivery::grid::{Embedding, Grid};
use crate::delivery::traced::Traced;
use crate::network::symmetry::Group;
use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};
use crate::network::topology::parse;
use crate::network::transfer::Transfer;
use crate::simulation::listener::{Interests, ScheduleEvent, Sent, Summed};
use crate::simulation::running::Payload;
use crate::simulation::step::StepFacts;
use crate::test_tiers::is_full;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::mem::discriminant;

#[test]
fn empty_messages_are_skipped_on_request() {
    let totals = |skip_empty, reached: &[u64]| {
        let sizes = SizeTable::of(3, |_, destination| u64::from(destination != 1));
        let task = Task {
            sizes,
            skip_empty,
            ..Task::new(parse("ring:3").unwrap(), Collective::of(&SCATTER))
        };
        let mut simulation = Simulation::new(task, Vec::new()).unwrap();
        for &to in reached {
            simulation.step().unwrap();
            let destinations = NodeSet::One(to);
            let rule = Rule { destinations, strict: true, ..Rule::new(0, to) };
            simulation.send(&rule, None).unwrap();
        }
        simulation.finish().map(|totals| (totals.steps, totals.messages))
    };
    assert_eq!((totals(false, &[1, 2]), totals(true, &[1, 2])), (Ok((2, 2)), Ok((1, 1))));
    assert!(totals(true, &[2]).is_err(), "the empty block was not sent");
}

/// For each step, the largest load and number of blocks of a node in messages of several blocks.
#[derive(Default)]
struct Packed(Vec<(u64, f64)>);

impl Listener for Packed {
    fn interests(&self) -> Interests {
        Interests { packing: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(step) = event {
            let StepFacts { max_packed_load: load, max_packed_blocks: blocks, .. } = step.facts;
            self.0.push((load.unwrap(), blocks.unwrap()));
        }
    }
}

fn packed(task: Task, division: Division, steps: &[Vec<Rule<'_>>]) -> Vec<(u64, f64)> {
    let mut listener = Packed::default();
    let mut simulation = Simulation::new(task, vec![&mut listener]).unwrap();
    simulation.layout(&[], division, None).unwrap();
    for sends in steps {
        simulation.step().unwrap();
        sends.iter().for_each(|rule| simulation.send(rule, None).unwrap());
    }
    let _ = simulation.finish();
    listener.0
}

fn piece<'a>(from: u64, to: u64, segment: u32) -> Rule<'a> {
    Rule { segments: Axis::Range { first: segment, stride: 1, count: 1 }, ..Rule::new(from, to) }
}

#[test]
fn a_sum_and_the_pieces_of_a_block_are_one_block() {
    let combine = |from, to| Rule { combine: true, ..Rule::new(from, to) };
    let task = |kind| Task::new(parse("ring:4").unwrap(), Collective::of(kind));
    let chain = [vec![combine(0, 1)], vec![combine(1, 2)]];
    assert_eq!(packed(task(&ALL_REDUCE), Division::WHOLE, &chain), [(0, 0.0); 2]);
    let parts = Division { in_parts: true, segments: 2 };
    assert_eq!(packed(task(&ALL_REDUCE), parts, &chain), [(0, 0.0); 2]);
    assert_eq!(packed(task(&REDUCE_SCATTER), Division::WHOLE, &chain), [(4, 4.0); 2]);
    let segments = Division { segments: 3, ..Division::WHOLE };
    let copies = |rules: &[Rule<'static>]| {
        vec![rules.iter().map(|rule| Rule { copy: true, ..*rule }).collect::<Vec<_>>()]
    };
    for rules in [
        &[Rule::new(0, 1)][..],
        &[piece(0, 1, 0), piece(0, 1, 2)],
        &[piece(0, 1, 0), Rule::new(0, 2), piece(0, 1, 1)],
    ] {
        assert_eq!(packed(task(&BROADCAST), segments, &copies(rules)), [(0, 0.0)], "{rules:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

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
        let mut at: Vec<u64> = (0..50).map(|id| id / 10).collect();
        let bytes = |id: usize| if is_sized { sizes[id / 2].div_ceil(2) } else { 1 };
        let mut expected = Vec::new();
        for step in &sends {
            let (mut loads, mut any) = ([(0, 0.0); 5], false);
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
                    let blocks = ids().count() as f64 / 2.0;
                    for node in [ends / 8, ends % 8] {
                        let sum = &mut loads[node as usize];
                        *sum = (sum.0 + load, sum.1 + blocks);
                    }
                }
            }
            moved.iter().for_each(|(ends, id)| at[*id] = ends % 8);
            if any {
                let load = loads.iter().map(|(load, _)| *load).max().unwrap();
                expected.push((load, loads.iter().map(|(_, blocks)| *blocks).fold(0.0, f64::max)));
            }
        }
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

/// In each of two steps, a node sends all of its four blocks of 10 bytes.
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
        if machine.contains("declared") {
            simulation.rearrange().unwrap();
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
    assert_eq!(price(both, true, false), Ok(16.0));
    let declared = format!("{both},rearrangement=declared");
    assert_eq!(price(&declared, true, true), Ok(16.0), "node 1 holds eight blocks");
    let refused = price(&declared, true, false).unwrap_err();
    insta::assert_snapshot!(refused, @"rearrange_block_us needs blocks of one size if the schedule declares what it rearranges: set rearrange_block_us=0 to price only bytes, or rearrangement=packed");
}

#[derive(Debug, PartialEq, Default)]
struct Recorder {
    all_events: bool,
    steps: Vec<StepFacts>,
    messages: Vec<(Vec<Transfer>, Vec<u64>)>,
    events: Vec<String>,
}

impl Listener for Recorder {
    fn interests(&self) -> Interests {
        if self.all_events {
            Interests { sends: true, packing: true, ..Interests::SCHEDULE }
        } else {
            Interests::FACTS
        }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => {
                self.steps.push(step.facts);
                if self.all_events {
                    self.messages.push((step.transfers.to_vec(), step.held.to_vec()));
                }
            }
            ScheduleEvent::Sent(sent) => {
                let Sent { step, from, to, load, copy, combine, .. } = sent;
                let blocks = blocks(sent);
                self.events
                    .push(format!("{step}: {from} -> {to} {load} {copy} {combine} {blocks:?}"));
            }
            ScheduleEvent::EmptySend(send) if self.all_events => {
                self.events.push(format!("{send:?}"));
            }
            ScheduleEvent::Summed(Summed { most, of, segments, symmetry: _ }) => {
                self.events.push(format!("{most} of {segments} summed"));
                if self.all_events {
                    self.events.push(format!("by each {of:?}"));
                }
            }
            _ => {}
        }
    }
}

fn blocks(sent: &Sent<'_>) -> Vec<[u64; 3]> {
    let blocks = |bits: &&[u64]| -> Vec<[u64; 3]> {
        let of =
            |side| if sent.layout.has(side) { sent.layout.nodes_of(side, bits) } else { vec![0] };
        let (origins, destinations, segments) =
            (of(Side::Origins), of(Side::Destinations), of(Side::Segments));
        let pairs = origins.iter().flat_map(|o| destinations.iter().map(move |d| (*o, *d)));
        pairs.flat_map(|(o, d)| segments.iter().map(move |s| [o, d, *s])).collect()
    };
    let mut blocks: Vec<[u64; 3]> = sent.boxes.iter().flat_map(blocks).collect();
    blocks.sort_unstable();
    blocks
}

/// Numbers that select the ends and the sets of a random send of a representative, and flags.
#[derive(Debug, Clone)]
struct Choice {
    from: u64,
    to: u64,
    origins: Vec<Vec<u64>>,
    destinations: Vec<Vec<u64>>,
    strict: bool,
    combine: bool,
    copy: bool,
}

type Blocks = (&'static CollectiveKind, bool);

const BLOCKS: [Blocks; 6] = [
    (&ALL_TO_ALL, false),
    (&ALL_GATHER, false),
    (&ALL_GATHER, true),
    (&ALL_REDUCE, false),
    (&ALL_REDUCE, true),
    (&REDUCE_SCATTER, false),
];

impl Choice {
    fn with_rule<R>(
        &self,
        (kind, in_parts): Blocks,
        (from, to): (u64, u64),
        words: impl Fn(&[Vec<u64>]) -> Vec<Vec<u64>>,
        send: impl FnOnce(&Rule<'_>) -> R,
    ) -> R {
        let has_destinations = in_parts || set_error(kind, Side::Destinations).is_none();
        let (origins, destinations) = (words(&self.origins), words(&self.destinations));
        let (origins, destinations) = (axes_of(&origins), axes_of(&destinations));
        let set = |applies, axes| if applies { NodeSet::Axes(axes) } else { NodeSet::All };
        send(&Rule {
            origins: set(set_error(kind, Side::Origins).is_none(), &origins),
            destinations: set(has_destinations, &destinations),
            segments: if in_parts { Axis::Bits(&[2]) } else { Axis::All },
            strict: self.strict,
            copy: std::ptr::eq(kind, &ALL_GATHER) || kind.sums && self.copy,
            combine: kind.sums && self.combine,
            ..Rule::new(from, to)
        })
    }
}

fn axes_of(words: &[Vec<u64>]) -> Vec<Axis<'_>> {
    words.iter().map(|words| Axis::Bits(words)).collect()
}

fn choices(axes: usize) -> impl Strategy<Value = Vec<Vec<Choice>>> {
    let set = || prop::collection::vec(prop::collection::vec(0_u64..1000, 1..6), axes);
    let (strict, combine) = (prop::bool::weighted(0.1), prop::bool::weighted(0.8));
    let choice = (0_u64..1000, 0_u64..1000, set(), set(), strict, combine, any::<bool>());
    let choice = choice.prop_map(|(from, to, origins, destinations, strict, combine, copy)| {
        Choice { from, to, origins, destinations, strict, combine, copy }
    });
    prop::collection::vec(prop::collection::vec(choice, 1..4), 1..5)
}

/// With full planning, each node sends the image of its representative's send.
fn simulate(
    (spec, radices, blocks): (&str, &[u64], Blocks),
    symmetries: &[Symmetry],
    steps: &[Vec<Choice>],
    (all_events, proof_scope): (bool, ProofScope),
) -> (Recorder, Result<Totals, String>) {
    let (kind, in_parts) = blocks;
    let group = Group::new(radices, symmetries).unwrap();
    let grid = Grid::new(radices).unwrap();
    let mut recorder = Recorder { all_events, ..Recorder::default() };
    let task = Task { proof_scope, ..Task::new(parse(spec).unwrap(), Collective::of(kind)) };
    let mut simulation = Simulation::new(task, vec![&mut recorder]).unwrap();
    let segments = if in_parts { 2 } else { 1 };
    simulation.layout(radices, Division { in_parts, segments }, None).unwrap();
    let planned_coordinates = simulation.symmetric(symmetries, false).unwrap();
    let is_planned = |node: &u64| {
        let coordinates = grid.coordinates(*node);
        coordinates.iter().zip(&planned_coordinates).all(|(own, planned)| planned.contains(own))
    };
    let planned: Vec<u64> = (0..grid.nodes()).filter(is_planned).collect();
    let moved = |members: &[Vec<u64>], element: u64| -> Vec<Vec<u64>> {
        let own = grid.coordinates(element);
        let axes = members.iter().zip(group.axes()).zip(&own);
        let words = axes.map(|((members, axis), own)| {
            let mut words = vec![0; axis.radix.div_ceil(64) as usize];
            for member in members {
                let moved = axis.moved(member % axis.radix, *own);
                words[(moved / 64) as usize] |= 1 << (moved % 64);
            }
            words
        });
        words.collect()
    };
    let mut run = || -> Result<(), Fault> {
        for step in steps {
            simulation.step()?;
            for &node in &planned {
                let (index, element) = group.home(node);
                let own =
                    |choice: &&Choice| (choice.from % group.representatives()) as usize == index;
                for choice in step.iter().filter(own) {
                    let from = group.representative(index);
                    let to = (from + 1 + choice.to % (grid.nodes() - 1)) % grid.nodes();
                    let ends = (node, group.moved(to, element));
                    let words = |members: &[Vec<u64>]| moved(members, element);
                    choice.with_rule(blocks, ends, words, |rule| simulation.send(rule, None))?;
                }
            }
        }
        Ok(())
    };
    let outcome = run().and_then(|()| simulation.finish()).map_err(|fault| in_short(&fault));
    (recorder, outcome.map(|totals| Totals { verified_on: 0, ..totals }))
}

fn in_short(fault: &Fault) -> String {
    match fault {
        Fault::ForOrbit(fault, _) => in_short(fault),
        Fault::End(step, EndFault::NeverDelivered { missing, nodes, .. }) => {
            format!("{step}: {missing} at {nodes}")
        }
        Fault::Delivery(
            step,
            DeliveryFault::CountedTwice { .. } | DeliveryFault::Replaced { .. },
        ) => {
            format!("{step}: a wrong sum")
        }
        Fault::Send(step, of_send) => format!("{step}: send: {:?}", discriminant(of_send)),
        Fault::Delivery(step, of_delivery) => {
            format!("{step}: delivery: {:?}", discriminant(of_delivery))
        }
        other => format!("{:?}", discriminant(other)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(400, 8000)))]

    /// A listener that reads all nodes is notified of the same messages in the same order, with the
    /// same blocks, as with full planning. A broken rule is reported in the same step.
    #[test]
    fn symmetric_schedules_are_reported_as_full_ones(
        ((spec, radices, symmetries), steps, blocks) in prop::sample::select(vec![
            ("ring:6", &[6][..], &[Shift(2)][..]),
            ("ring:70", &[70], &[Shift(10)]),
            ("torus:4x4", &[2, 2, 4], &[Shift(1), Fixed, Shift(2)]),
            ("torus:4x3", &[12], &[Shift(1)]),
            ("mesh:4x4", &[16], &[Xor(1)]),
            ("mesh:2x4", &[8], &[Xor(2)]),
            ("hypercube:3", &[2, 2, 2], &[Xor(1), Fixed, Xor(1)]),
            ("fat-tree:3x2", &[9], &[Shift(3)]),
            ("fully-connected:8", &[4, 2], &[Shift(2), Xor(1)]),
        ]).prop_flat_map(|case| (Just(case), choices(case.1.len()), prop::sample::select(&BLOCKS[..])))
    ) {
        let setting = (spec, radices, blocks);
        for all_events in [false, true] {
            let full = simulate(setting, symmetries, &steps, (all_events, ProofScope::Full));
            let auto = simulate(setting, symmetries, &steps, (all_events, ProofScope::Auto));
            prop_assert_eq!(&auto, &full);
        }
    }
}

#[derive(Debug, PartialEq, Default)]
struct Trace {
    sent: Vec<Option<u64>>,
    steps: Vec<(Vec<u64>, Vec<u64>, u64)>,
}

fn trace(
    radices: &[u64],
    blocks: Blocks,
    steps: &[Vec<Choice>],
    as_runs: bool,
) -> (Trace, Result<(), String>) {
    let (kind, in_parts) = blocks;
    let (grid, collective) = (Grid::new(radices).unwrap(), Collective::of(kind));
    let nodes = grid.nodes();
    let embedding = Embedding::new(grid, nodes);
    let division = Division { in_parts, segments: 1 + u32::from(in_parts) };
    let mut payload = if as_runs {
        Payload::Orbits(OrbitExchange::of_all_nodes(collective, embedding, division).unwrap())
    } else {
        Payload::Blocks(Exchange::new(collective, embedding, division, None).unwrap())
    };
    let words = |members: &[Vec<u64>]| -> Vec<Vec<u64>> {
        let axes = members.iter().zip(radices).map(|(members, radix)| {
            let range = members[0]..members[0] + radix / members.len() as u64;
            let is_range = members[0] % 2 == 0;
            let mut words = vec![0; radix.div_ceil(64) as usize];
            for member in range.filter(|_| is_range).chain(members.iter().copied()) {
                let member = member % radix;
                words[(member / 64) as usize] |= 1 << (member % 64);
            }
            words
        });
        axes.collect()
    };
    let mut trace = Trace::default();
    let mut run = || -> Result<(), Fault> {
        for step in steps {
            payload.begin_step();
            for choice in step {
                let from = choice.from % nodes;
                let to = (from + 1 + choice.to % (nodes - 1)) % nodes;
                let load =
                    choice.with_rule(blocks, (from, to), words, |rule| match &mut payload {
                        Payload::Orbits(exchange) => exchange.send(rule),
                        Payload::Blocks(exchange) => exchange.send(rule),
                        Payload::Tokens(_) | Payload::ByteCounts(_) => Ok(None),
                    })?;
                trace.sent.push(load);
            }
            payload.end_step()?;
            let loads = payload.loads();
            let (held, summed) = (loads.held().to_vec(), loads.all_summed().to_vec());
            trace.steps.push((held, summed, loads.peak()));
        }
        payload.verify()
    };
    let outcome = run().map_err(|fault| in_short(&fault));
    (trace, outcome)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(200, 4000)))]

    #[test]
    fn exchanges_of_runs_and_of_bits_agree(
        (radices, steps, blocks) in prop::sample::select(vec![&[6][..], &[70], &[300], &[3, 130], &[2, 2, 70]])
            .prop_flat_map(|radices| {
                (Just(radices), choices(radices.len()), prop::sample::select(&BLOCKS[..]))
            })
    ) {
        // The steps run twice, so that some sends of the second run find that their data has moved.
        let steps = [steps.clone(), steps].concat();
        prop_assert_eq!(trace(radices, blocks, &steps, true), trace(radices, blocks, &steps, false));
    }
}

#[test]
fn a_shift_invariant_schedule_is_verified_on_one_rank() {
    // The test does not depend on the number of nodes. The time for verifying all nodes grows with
    // the cube of this number.
    let (n, mesh) = if is_full() { (1000, "mesh:25x40") } else { (300, "mesh:15x20") };
    let task = |proof_scope| Task {
        proof_scope,
        ..Task::new(parse(mesh).unwrap(), Collective::of(&ALL_TO_ALL))
    };
    let run = |proof_scope| {
        let mut simulation = Simulation::new(task(proof_scope), Vec::new()).unwrap();
        simulation.layout(&[n], Division::WHOLE, None).unwrap();
        let planned = simulation.symmetric(&[Shift(1)], false).unwrap()[0].end;
        for distance in 1..n {
            simulation.step().unwrap();
            for from in 0..planned {
                let to = (from + distance) % n;
                simulation.send(&Rule::new(from, to).of_block(from, to), None).unwrap();
            }
        }
        simulation.finish().unwrap()
    };
    let (one, all) = (run(ProofScope::Auto), run(ProofScope::Full));
    assert_eq!((one.verified_on, all.verified_on), (1, n));
    assert_eq!(Totals { verified_on: n, ..one }, all);
}

#[test]
fn faults_of_representatives_name_the_rest_of_the_orbit() {
    let mut simulation = Simulation::new(
        Task::new(parse("ring:6").unwrap(), Collective::of(&ALL_TO_ALL)),
        Vec::new(),
    )
    .unwrap();
    assert_eq!(simulation.symmetric(&[Shift(2)], false).unwrap(), vec![0..2]);
    simulation.step().unwrap();
    let send =
        |from, origin, destination| Rule::new(from, (from + 1) % 6).of_block(origin, destination);
    let message = |fault: Result<(), Fault>| fault.unwrap_err().to_string();
    insta::assert_snapshot!(message(simulation.send(&send(2, 2, 3), None)), @"step 1: node 2 sends, but the schedule is planned for its representative, node 0");
    simulation.send(&send(0, 0, 3), None).unwrap();
    simulation.step().unwrap();
    insta::assert_snapshot!(message(simulation.send(&send(1, 4, 1), None)), @"step 2: node 1 sends node 2 block 4 -> 1, which it does not hold (it is at node 5); the same fault occurs at 2 other nodes");
    insta::assert_snapshot!(message(simulation.finish().map(|_| ())), @"after step 2: block 1 -> 0 was never delivered to node 0 (it is at node 1); missing in total: 30 blocks at 6 nodes");
}

/// Sets on long axes are stored as runs, even if each node is only represented by itself.
#[test]
fn faults_of_fully_planned_nodes_name_no_other_nodes() {
    let fault = |as_runs: bool| {
        let embedding = Embedding::new(Grid::new(&[4]).unwrap(), 4);
        let (collective, division) = (Collective::of(&ALL_TO_ALL), Division::WHOLE);
        let rule = Rule::new(1, 2).of_block(3, 2);
        let sent = if as_runs {
            let mut x = OrbitExchange::of_all_nodes(collective, embedding, division).unwrap();
            x.begin_step();
            x.send(&rule)
        } else {
            let mut x = Exchange::new(collective, embedding, division, None).unwrap();
            x.begin_step();
            x.send(&rule)
        };
        sent.unwrap_err().to_string()
    };
    insta::assert_snapshot!(fault(true), @"step 1: node 1 sends node 2 block 3 -> 2, which it does not hold (it is at node 3)");
    assert_eq!(fault(true), fault(false));
}
