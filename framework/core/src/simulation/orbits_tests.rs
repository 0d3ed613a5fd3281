//! Schedules followed on one node of each orbit against the same schedules written out for everyone.

use super::*;
use crate::delivery::boxes::{Axis, NodeSet};
use crate::delivery::collective::{ALL_GATHER, ALL_TO_ALL, CollectiveKind};
use crate::delivery::fault::EndFault;
use crate::network::symmetry::Symmetry::{self, Fixed, Shift, Xor};
use crate::network::topology::parse;
use crate::simulation::step::StepFacts;
use proptest::prelude::*;
use std::mem::discriminant;

/// Keeps the facts of steps.
struct Facts {
    reads: Reads,
    steps: Vec<StepFacts>,
}

impl Listener for Facts {
    fn step(&mut self, step: &Step<'_>) {
        self.steps.push(step.facts);
    }

    fn reads(&self) -> Reads {
        self.reads
    }
}

/// A send of a representative: numbers to choose its ends by, members of its sets by axis, whether it keeps a copy.
#[derive(Debug, Clone)]
struct Choice {
    from: u64,
    to: u64,
    origins: Vec<Vec<u64>>,
    destinations: Vec<Vec<u64>>,
    strict: bool,
}

type Outcome = (Vec<StepFacts>, Result<Totals, String>);

fn choices(axes: usize) -> impl Strategy<Value = Vec<Vec<Choice>>> {
    let set = || prop::collection::vec(prop::collection::vec(0_u64..1000, 1..6), axes);
    let choice = (0_u64..1000, 0_u64..1000, set(), set(), prop::bool::weighted(0.1));
    let choice =
        choice.prop_map(|(from, to, origins, destinations, strict)| Choice { from, to, origins, destinations, strict });
    prop::collection::vec(prop::collection::vec(choice, 1..4), 1..5)
}

/// Sends what is chosen, and what all images of it are where everyone is planned for, as the group has it node by node.
fn simulate(
    (spec, kind, radices): (&str, &'static CollectiveKind, &[u64]),
    symmetries: &[Symmetry],
    steps: &[Vec<Choice>],
    (reads, proving): (Reads, Proving),
) -> Outcome {
    let group = Group::new(radices, symmetries).unwrap();
    let mut facts = Facts { reads, steps: Vec::new() };
    let task = Task { proving, ..Task::new(parse(spec).unwrap(), Collective::of(kind)) };
    let mut simulation = Simulation::new(task, vec![&mut facts]).unwrap();
    simulation.layout(radices, Division::WHOLE, None).unwrap();
    let planned: u64 = simulation.symmetric(symmetries).unwrap().iter().product();
    let everyone = planned == radices.iter().product::<u64>();
    let elements: Vec<u64> = if everyone { group.elements().collect() } else { vec![0] };
    let copy = std::ptr::eq(kind, &ALL_GATHER);
    let mut run = || -> Result<(), Fault> {
        for step in steps {
            simulation.step()?;
            for choice in step {
                for &element in &elements {
                    let from = group.representative((choice.from % group.representatives()) as usize);
                    let nodes = group.order() * group.representatives();
                    let to = (from + 1 + choice.to % (nodes - 1)) % nodes;
                    let own = Grid::new(radices).unwrap().coordinates(element);
                    let bits = |members: &[Vec<u64>]| -> Vec<Vec<u64>> {
                        let axes = members.iter().zip(group.axes()).zip(&own);
                        let words =
                            |((members, acting), own): ((&Vec<u64>, &crate::network::symmetry::Acting), &u64)| {
                                let mut words = vec![0; acting.radix.div_ceil(64) as usize];
                                for member in members {
                                    let moved = acting.moved(member % acting.radix, *own);
                                    words[(moved / 64) as usize] |= 1 << (moved % 64);
                                }
                                words
                            };
                        axes.map(words).collect()
                    };
                    let (origins, destinations) = (bits(&choice.origins), bits(&choice.destinations));
                    let axes = |bits: &'static [Vec<u64>]| -> Vec<Axis<'static>> {
                        bits.iter().map(|words| Axis::Bits(words)).collect()
                    };
                    let (origins, destinations) = (axes(origins.leak()), axes(destinations.leak()));
                    let to_some = if copy { NodeSet::All } else { NodeSet::Axes(&destinations) };
                    simulation.send(
                        &Rule {
                            from: group.moved(from, element),
                            to: group.moved(to, element),
                            origins: NodeSet::Axes(&origins),
                            destinations: to_some,
                            segments: Axis::All,
                            strict: choice.strict,
                            copy,
                            combine: false,
                            local: false,
                        },
                        None,
                    )?;
                }
            }
        }
        Ok(())
    };
    let ran = run();
    // Which of an orbit is named, and which of its blocks first, depends on the order of nodes.
    let said = |fault: &Fault| match fault {
        Fault::End(step, EndFault::NeverDelivered { missing, nodes, .. }) => format!("{step}: {missing} at {nodes}"),
        Fault::ForOrbit(fault, _) => rule_of(fault),
        fault => rule_of(fault),
    };
    let ended = ran.and_then(|()| simulation.finish()).map_err(|fault| said(&fault));
    (facts.steps, ended.map(|totals| Totals { proved_on: 0, ..totals }))
}

/// Which rule is broken.
fn rule_of(fault: &Fault) -> String {
    match fault {
        Fault::Send(_, of_send) => format!("send: {:?}", discriminant(of_send)),
        Fault::Delivery(_, of_delivery) => format!("delivery: {:?}", discriminant(of_delivery)),
        Fault::End(_, of_end) => format!("end: {:?}", discriminant(of_end)),
        other => format!("{:?}", discriminant(other)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever representatives send, every fact of every step, what is missing at the end and at how many nodes is that of the expansion.
    #[test]
    fn orbits_say_what_the_expansion_does(
        ((spec, radices, symmetries), steps, gather) in prop::sample::select(vec![
            ("ring:6", &[6][..], &[Shift(2)][..]),
            ("ring:70", &[70], &[Shift(10)]),
            ("torus:4x4", &[2, 2, 4], &[Shift(1), Fixed, Shift(2)]),
            ("torus:4x3", &[12], &[Shift(1)]),
            ("mesh:4x4", &[16], &[Xor(1)]),
            ("mesh:2x4", &[8], &[Xor(2)]),
            ("hypercube:3", &[2, 2, 2], &[Xor(1), Fixed, Xor(1)]),
            ("fat-tree:3x2", &[9], &[Shift(3)]),
            ("fully-connected:8", &[4, 2], &[Shift(2), Xor(1)]),
        ]).prop_flat_map(|case| (Just(case), choices(case.1.len()), any::<bool>()))
    ) {
        let what = (spec, if gather { &ALL_GATHER } else { &ALL_TO_ALL }, radices);
        let full = simulate(what, symmetries, &steps, (Reads::Facts, Proving::Full));
        prop_assert_eq!(&simulate(what, symmetries, &steps, (Reads::Facts, Proving::Auto)), &full);
        prop_assert_eq!(&simulate(what, symmetries, &steps, (Reads::Messages, Proving::Auto)), &full);
    }
}

/// All shift, a rank at a time: what the whole schedule costs, proved on one rank.
#[test]
fn a_schedule_that_shifts_map_onto_itself_is_proved_on_one_rank() {
    let n = 1000;
    let task = |proving| Task { proving, ..Task::new(parse("mesh:25x40").unwrap(), Collective::of(&ALL_TO_ALL)) };
    let run = |proving| {
        let mut simulation = Simulation::new(task(proving), Vec::new()).unwrap();
        simulation.layout(&[n], Division::WHOLE, None).unwrap();
        let planned = simulation.symmetric(&[Shift(1)]).unwrap()[0];
        for distance in 1..n {
            simulation.step().unwrap();
            for from in 0..planned {
                let to = (from + distance) % n;
                let (origins, destinations) = (NodeSet::One(from), NodeSet::One(to));
                let (segments, strict, copy, combine, local) = (Axis::All, true, false, false, false);
                simulation
                    .send(&Rule { from, to, origins, destinations, segments, strict, copy, combine, local }, None)
                    .unwrap();
            }
        }
        simulation.finish().unwrap()
    };
    let (one, all) = (run(Proving::Auto), run(Proving::Full));
    assert_eq!((one.proved_on, all.proved_on), (1, n));
    assert_eq!(Totals { proved_on: n, ..one }, all);
}

#[test]
fn what_is_wrong_at_a_representative_is_wrong_at_its_orbit() {
    let mut simulation =
        Simulation::new(Task::new(parse("ring:6").unwrap(), Collective::of(&ALL_TO_ALL)), Vec::new()).unwrap();
    assert_eq!(simulation.symmetric(&[Shift(2)]).unwrap(), [2]);
    simulation.step().unwrap();
    let send = |from, origin, destination| Rule {
        from,
        to: (from + 1) % 6,
        origins: NodeSet::One(origin),
        destinations: NodeSet::One(destination),
        segments: Axis::All,
        strict: true,
        copy: false,
        combine: false,
        local: false,
    };
    let said = |fault: Result<(), Fault>| fault.unwrap_err().to_string();
    assert_eq!(
        said(simulation.send(&send(2, 2, 3), None)),
        "step 1: node 2 sends, which is not planned for: what it sends follows from what node 0 does"
    );
    simulation.send(&send(0, 0, 3), None).unwrap();
    simulation.step().unwrap();
    // Node 1 has the block that node 0 sent on; so node 5 has that of node 4 for node 1.
    assert_eq!(
        said(simulation.send(&send(1, 4, 1), None)),
        "step 2: node 1 sends node 2 block 4 -> 1, which it does not hold (it is at node 5), and so at 2 other nodes"
    );
    assert_eq!(
        said(simulation.finish().map(|_| ())),
        "after step 2: block 1 -> 0 was never delivered to node 0 (it is at node 1); 30 blocks in all are missing, at 6 nodes"
    );
}
