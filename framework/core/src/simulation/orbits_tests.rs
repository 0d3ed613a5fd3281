//! Schedules followed on one node of each orbit against the same schedules written out for
//! everyone.

use super::*;
use crate::delivery::boxes::{Axis, Layout, NodeSet, Side};
use crate::delivery::collective::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, CollectiveKind, REDUCE_SCATTER,
};
use crate::delivery::exchange::{Exchange, OrbitExchange, Rule};
use crate::delivery::fault::{DeliveryFault, EndFault};
use crate::delivery::grid::Grid;
use crate::delivery::payload::Payload;
use crate::delivery::placement::Placement;
use crate::network::symmetry::Group;
use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};
use crate::network::topology::parse;
use crate::network::transfer::Transfer;
use crate::simulation::listener::{Interests, ScheduleEvent, Sent, Summed};
use crate::simulation::step::StepFacts;
use proptest::prelude::*;
use std::mem::discriminant;

/// Keeps what it is told: facts of steps alone, or everything.
#[derive(Debug, PartialEq, Default)]
struct Seen {
    everything: bool,
    steps: Vec<StepFacts>,
    /// Messages in their order, and what each node holds.
    messages: Vec<(Vec<Transfer>, Vec<u64>)>,
    /// What else happens, in its order, with every block of what is sent.
    events: Vec<String>,
}

impl Listener for Seen {
    fn interests(&self) -> Interests {
        if self.everything {
            Interests { sends: true, packing: true, ..Interests::SCHEDULE }
        } else {
            Interests::FACTS
        }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => {
                self.steps.push(step.facts);
                if self.everything {
                    self.messages.push((step.transfers.to_vec(), step.held.to_vec()));
                }
            }
            ScheduleEvent::Sent(sent) => {
                let Sent { step, from, to, load, copy, combine, .. } = sent;
                let blocks = blocks(sent);
                self.events
                    .push(format!("{step}: {from} -> {to} {load} {copy} {combine} {blocks:?}"));
            }
            ScheduleEvent::EmptySend(send) if self.everything => {
                self.events.push(format!("{send:?}"));
            }
            ScheduleEvent::Summed(Summed { most, of, segments, symmetry: _ }) => {
                self.events.push(format!("{most} of {segments} summed"));
                if self.everything {
                    self.events.push(format!("by each {of:?}"));
                }
            }
            _ => {}
        }
    }
}

/// The origin, destination and segment of every block of a send, in order.
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

/// A send of a representative: numbers to choose its ends by, members of its sets by axis, how it
/// is meant.
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

fn choices(axes: usize) -> impl Strategy<Value = Vec<Vec<Choice>>> {
    let set = || prop::collection::vec(prop::collection::vec(0_u64..1000, 1..6), axes);
    let (strict, combine) = (prop::bool::weighted(0.1), prop::bool::weighted(0.8));
    let choice = (0_u64..1000, 0_u64..1000, set(), set(), strict, combine, any::<bool>());
    let choice = choice.prop_map(|(from, to, origins, destinations, strict, combine, copy)| {
        Choice { from, to, origins, destinations, strict, combine, copy }
    });
    prop::collection::vec(prop::collection::vec(choice, 1..4), 1..5)
}

/// A topology, a collective, whether blocks are cut into a part for each node, and the radices of
/// the schedule's grid.
type Setting<'a> = (&'a str, &'static CollectiveKind, bool, &'a [u64]);

/// Sends what is chosen, node by node, each what follows for it from the choice of its
/// representative where everyone is planned for.
fn simulate(
    (spec, kind, in_parts, radices): Setting<'_>,
    symmetries: &[Symmetry],
    steps: &[Vec<Choice>],
    (everything, proof_scope): (bool, ProofScope),
) -> (Seen, Result<Totals, String>) {
    let group = Group::new(radices, symmetries).unwrap();
    let mut seen = Seen { everything, ..Seen::default() };
    let task = Task { proof_scope, ..Task::new(parse(spec).unwrap(), Collective::of(kind)) };
    let mut simulation = Simulation::new(task, vec![&mut seen]).unwrap();
    let segments = if in_parts { 2 } else { 1 };
    simulation.layout(radices, Division { in_parts, segments }, None).unwrap();
    let units = simulation.symmetric(symmetries).unwrap();
    let nodes: u64 = radices.iter().product();
    let planned = (0..nodes).filter(|node| {
        let coordinates = Grid::new(radices).unwrap().coordinates(*node);
        coordinates.iter().zip(&units).all(|(coordinate, unit)| coordinate < unit)
    });
    let planned: Vec<u64> = planned.collect();
    let by_origin = kind.set_error(Side::Origins).is_none();
    let by_destination = in_parts || kind.set_error(Side::Destinations).is_none();
    let moved = |members: &[Vec<u64>], element: u64| -> Vec<Vec<u64>> {
        let own = Grid::new(radices).unwrap().coordinates(element);
        let axes = members.iter().zip(group.axes()).zip(&own);
        let words = axes.map(|((members, acting), own)| {
            let mut words = vec![0; acting.radix.div_ceil(64) as usize];
            for member in members {
                let moved = acting.moved(member % acting.radix, *own);
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
                    let to = (from + 1 + choice.to % (nodes - 1)) % nodes;
                    let (origins, destinations) =
                        (moved(&choice.origins, element), moved(&choice.destinations, element));
                    let origins: Vec<Axis<'_>> =
                        origins.iter().map(|words| Axis::Bits(words)).collect();
                    let destinations: Vec<Axis<'_>> =
                        destinations.iter().map(|words| Axis::Bits(words)).collect();
                    simulation.send(
                        &Rule {
                            origins: if by_origin { NodeSet::Axes(&origins) } else { NodeSet::All },
                            destinations: if by_destination {
                                NodeSet::Axes(&destinations)
                            } else {
                                NodeSet::All
                            },
                            segments: if in_parts { Axis::Bits(&[2]) } else { Axis::All },
                            strict: choice.strict,
                            copy: std::ptr::eq(kind, &ALL_GATHER) || kind.sums && choice.copy,
                            combine: kind.sums && choice.combine,
                            ..Rule::new(node, group.moved(to, element))
                        },
                        None,
                    )?;
                }
            }
        }
        Ok(())
    };
    let ran = run();
    let ended = ran.and_then(|()| simulation.finish()).map_err(|fault| in_short(&fault));
    (seen, ended.map(|totals| Totals { verified_on: 0, ..totals }))
}

/// Which rule is broken in which step: which of an orbit is named, which of its blocks first, and
/// what is wrong there with its sum depends on the order of nodes.
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
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever representatives send, every fact of every step, what is missing at the end and at
    /// how many nodes is that of the expansion; and so is, for whoever reads more, every message,
    /// in its order, with its blocks. What breaks a rule breaks the same one in the same step.
    #[test]
    fn orbits_say_what_the_expansion_does(
        ((spec, radices, symmetries), steps, (kind, in_parts)) in prop::sample::select(vec![
            ("ring:6", &[6][..], &[Shift(2)][..]),
            ("ring:70", &[70], &[Shift(10)]),
            ("torus:4x4", &[2, 2, 4], &[Shift(1), Fixed, Shift(2)]),
            ("torus:4x3", &[12], &[Shift(1)]),
            ("mesh:4x4", &[16], &[Xor(1)]),
            ("mesh:2x4", &[8], &[Xor(2)]),
            ("hypercube:3", &[2, 2, 2], &[Xor(1), Fixed, Xor(1)]),
            ("fat-tree:3x2", &[9], &[Shift(3)]),
            ("fully-connected:8", &[4, 2], &[Shift(2), Xor(1)]),
        ]).prop_flat_map(|case| (Just(case), choices(case.1.len()), prop::sample::select(vec![
            (&ALL_TO_ALL, false),
            (&ALL_GATHER, false),
            (&ALL_GATHER, true),
            (&ALL_REDUCE, false),
            (&ALL_REDUCE, true),
            (&REDUCE_SCATTER, false),
        ])))
    ) {
        let what = (spec, kind, in_parts, radices);
        for everything in [false, true] {
            let full = simulate(what, symmetries, &steps, (everything, ProofScope::Full));
            prop_assert_eq!(&simulate(what, symmetries, &steps, (everything, ProofScope::Auto)), &full);
        }
    }
}

/// What each send takes and each node holds then, what each has summed and the most that any has
/// held; at last whether all was delivered.
type Followed = (Vec<(Option<u64>, Vec<u64>)>, Vec<(Vec<u64>, u64)>, Result<(), String>);

/// Everyone's sends followed, in runs or in bits. Of what is chosen some sets are stretches of an
/// axis, some scattered.
fn follow(
    radices: &[u64],
    (kind, in_parts): (&'static CollectiveKind, bool),
    steps: &[Vec<Choice>],
    runs: bool,
) -> Followed {
    let (grid, collective) = (Grid::new(radices).unwrap(), Collective::of(kind));
    let nodes = grid.nodes();
    let (placement, division) =
        (Placement::new(grid, nodes), Division { in_parts, segments: 1 + u32::from(in_parts) });
    let mut payload = if runs {
        Payload::Orbits(OrbitExchange::of_everyone(collective, placement, division).unwrap())
    } else {
        Payload::Blocks(Exchange::new(collective, placement, division, None).unwrap())
    };
    let words = |members: &[Vec<u64>]| -> Vec<Vec<u64>> {
        let axes = members.iter().zip(radices).map(|(members, radix)| {
            let stretch = members[0]..members[0] + radix / members.len() as u64;
            let is_stretch = members[0] % 2 == 0;
            let mut words = vec![0; radix.div_ceil(64) as usize];
            for member in stretch
                .filter(|_| is_stretch)
                .chain(members.iter().copied())
                .map(|member| member % radix)
            {
                words[(member / 64) as usize] |= 1 << (member % 64);
            }
            words
        });
        axes.collect()
    };
    let by_origin = kind.set_error(Side::Origins).is_none();
    let by_destination = in_parts || kind.set_error(Side::Destinations).is_none();
    let (mut sends, mut ends) = (Vec::new(), Vec::new());
    let mut run = || -> Result<(), Fault> {
        for step in steps {
            payload.begin_step();
            for choice in step {
                let (origins, destinations) = (words(&choice.origins), words(&choice.destinations));
                let origins: Vec<Axis<'_>> =
                    origins.iter().map(|words| Axis::Bits(words)).collect();
                let destinations: Vec<Axis<'_>> =
                    destinations.iter().map(|words| Axis::Bits(words)).collect();
                let from = choice.from % nodes;
                let to = (from + 1 + choice.to % (nodes - 1)) % nodes;
                let rule = Rule {
                    origins: if by_origin { NodeSet::Axes(&origins) } else { NodeSet::All },
                    destinations: if by_destination {
                        NodeSet::Axes(&destinations)
                    } else {
                        NodeSet::All
                    },
                    segments: if in_parts { Axis::Bits(&[2]) } else { Axis::All },
                    strict: choice.strict,
                    copy: std::ptr::eq(kind, &ALL_GATHER) || kind.sums && choice.copy,
                    combine: kind.sums && choice.combine,
                    ..Rule::new(from, to)
                };
                let load = match &mut payload {
                    Payload::Orbits(exchange) => exchange.send(&rule)?,
                    Payload::Blocks(exchange) => exchange.send(&rule)?,
                    Payload::ByteCounts(_) | Payload::LargeByteCounts(_) => None,
                };
                sends.push((load, Vec::new()));
            }
            payload.end_step()?;
            sends.last_mut().unwrap().1 = payload.held().to_vec();
            ends.push((payload.summed().to_vec(), payload.peak()));
        }
        payload.verify()
    };
    let ended = run().map_err(|fault| in_short(&fault));
    (sends, ends, ended)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Where axes are long everyone's sets are followed as runs: whatever is sent, as it is in
    /// bits.
    #[test]
    fn runs_say_of_everyone_what_bits_do(
        (radices, steps, what) in prop::sample::select(vec![&[6][..], &[70], &[300], &[3, 130], &[2, 2, 70]])
            .prop_flat_map(|radices| (Just(radices), choices(radices.len()), prop::sample::select(vec![
                (&ALL_TO_ALL, false),
                (&ALL_GATHER, false),
                (&ALL_GATHER, true),
                (&ALL_REDUCE, false),
                (&ALL_REDUCE, true),
                (&REDUCE_SCATTER, false),
            ])))
    ) {
        // What was chosen is done twice over: the second time some of it has moved on.
        let steps = [steps.clone(), steps].concat();
        prop_assert_eq!(follow(radices, what, &steps, true), follow(radices, what, &steps, false));
    }
}

/// All shift, a rank at a time: what the whole schedule costs, proved on one rank.
#[test]
fn a_schedule_that_shifts_map_onto_itself_is_verified_on_one_rank() {
    let n = 1000;
    let task = |proof_scope| Task {
        proof_scope,
        ..Task::new(parse("mesh:25x40").unwrap(), Collective::of(&ALL_TO_ALL))
    };
    let run = |proof_scope| {
        let mut simulation = Simulation::new(task(proof_scope), Vec::new()).unwrap();
        simulation.layout(&[n], Division::WHOLE, None).unwrap();
        let planned = simulation.symmetric(&[Shift(1)]).unwrap()[0];
        for distance in 1..n {
            simulation.step().unwrap();
            for from in 0..planned {
                let to = (from + distance) % n;
                let (origins, destinations) = (NodeSet::One(from), NodeSet::One(to));
                let rule = Rule { origins, destinations, strict: true, ..Rule::new(from, to) };
                simulation.send(&rule, None).unwrap();
            }
        }
        simulation.finish().unwrap()
    };
    let (one, all) = (run(ProofScope::Auto), run(ProofScope::Full));
    assert_eq!((one.verified_on, all.verified_on), (1, n));
    assert_eq!(Totals { verified_on: n, ..one }, all);
}

#[test]
fn what_is_wrong_at_a_representative_is_wrong_at_its_orbit() {
    let mut simulation = Simulation::new(
        Task::new(parse("ring:6").unwrap(), Collective::of(&ALL_TO_ALL)),
        Vec::new(),
    )
    .unwrap();
    assert_eq!(simulation.symmetric(&[Shift(2)]).unwrap(), [2]);
    simulation.step().unwrap();
    let send = |from, origin, destination| Rule {
        origins: NodeSet::One(origin),
        destinations: NodeSet::One(destination),
        strict: true,
        ..Rule::new(from, (from + 1) % 6)
    };
    let said = |fault: Result<(), Fault>| fault.unwrap_err().to_string();
    assert_eq!(
        said(simulation.send(&send(2, 2, 3), None)),
        "step 1: node 2 sends, but the schedule is planned for its representative, node 0"
    );
    simulation.send(&send(0, 0, 3), None).unwrap();
    simulation.step().unwrap();
    // Node 1 has the block that node 0 sent on; so node 5 has that of node 4 for node 1.
    assert_eq!(
        said(simulation.send(&send(1, 4, 1), None)),
        "step 2: node 1 sends node 2 block 4 -> 1, which it does not hold (it is at node 5); the same fault occurs at 2 other nodes"
    );
    assert_eq!(
        said(simulation.finish().map(|_| ())),
        "after step 2: block 1 -> 0 was never delivered to node 0 (it is at node 1); missing in total: 30 blocks at 6 nodes"
    );
}
