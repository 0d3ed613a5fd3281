//! Steps whose sends are carried out side by side against the same steps send by send.

use super::*;
use crate::delivery::boxes::{Axis, NodeSet};
use crate::delivery::collective::{ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, CollectiveKind};
use crate::delivery::exchange::Rule;
use crate::delivery::fault::{Block, Place};
use crate::network::topology::parse;
use crate::simulation::step::{LocalCopy, Step, StepFacts, Summed, Transfer, Unsent};

/// Takes a send of a schedule.
type Put<'a> = &'a mut dyn FnMut(&Rule<'_>) -> Result<(), Fault>;
/// What a node sends another.
type Sends<'a> = &'a dyn Fn(u64, u64, Put<'_>) -> Result<(), Fault>;

/// Threads that are started for each work; the first, which plans, never has time for any.
#[derive(Debug)]
struct Started(usize);

impl Executor for Started {
    fn threads(&self) -> usize {
        self.0
    }

    fn enough(&self) -> usize {
        64
    }

    fn behind(&self, work: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(work);
    }

    fn together(&self, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            (1..self.0).for_each(|number| drop(scope.spawn(move || work(number))))
        });
    }

    fn help(&self) -> bool {
        false
    }

    /// For one account.
    fn room(&self) -> u64 {
        0
    }
}

/// Keeps all there is to know of steps, and of what happens between them.
#[derive(Default)]
struct Steps(Vec<(StepFacts, Vec<Transfer>, Vec<u64>)>, Vec<String>);

impl Listener for Steps {
    fn wants_packing(&self) -> bool {
        true
    }

    fn unsent(&mut self, unsent: &Unsent) {
        self.1.push(format!("{unsent:?}"));
    }

    fn phase(&mut self, name: &str) {
        self.1.push(name.to_owned());
    }

    fn rearranged(&mut self, most: u64, segments: u64) {
        self.1.push(format!("{most} of {segments}"));
    }

    fn summed(&mut self, summed: Summed<'_>) {
        self.1.push(format!("{summed:?}"));
    }

    fn local_copy(&mut self, copy: LocalCopy) {
        self.1.push(format!("{copy:?}"));
    }

    fn redundant(&mut self, step: u64, node: Place, block: Block) {
        self.1.push(format!("step {step}: {node:?} {block:?}"));
    }

    fn step(&mut self, step: &Step<'_>) {
        self.0.push((step.facts, step.transfers.to_vec(), step.held.to_vec()));
    }
}

/// What comes of a schedule in which in every step each node sends to those at some distances,
/// whatever `rule` says of it; nodes so far apart follow each other.
fn carried_out(
    executor: &Arc<dyn Executor>,
    kind: &'static CollectiveKind,
    spec: &str,
    distances: &[&[u64]],
    stride: u64,
    rule: Sends<'_>,
) -> (Steps, Result<Totals, Fault>) {
    let task = Task {
        executor: Arc::clone(executor),
        ..Task::new(parse(spec).unwrap(), Collective::of(kind))
    };
    let nodes = task.topology.nodes();
    let mut steps = Steps::default();
    let mut simulation = Simulation::new(task, vec![&mut steps]).unwrap();
    let sent = (0..).zip(distances).try_for_each(|(number, distances)| {
        if number % 3 == 1 {
            simulation.phase(&format!("from step {number} on"))?;
            simulation.rearrange()?;
            // One in which nothing is sent.
            simulation.step()?;
        }
        simulation.step()?;
        for from in (0..nodes).map(|i| i * stride % nodes) {
            for distance in *distances {
                rule(from, (from + distance) % nodes, &mut |rule| simulation.send(rule, None))?;
            }
        }
        Ok(())
    });
    let totals = sent.and_then(|()| simulation.finish());
    (steps, totals)
}

const SEND: Rule<'static> = Rule {
    from: 0,
    to: 0,
    origins: NodeSet::All,
    destinations: NodeSet::All,
    segments: Axis::All,
    strict: false,
    copy: false,
    combine: false,
    local: true,
};

#[test]
fn what_is_carried_out_side_by_side_comes_out_as_if_send_by_send() {
    let direct = |from, to, send: Put<'_>| {
        let (half, other) = ([Axis::Range { first: 0, stride: 1, count: 1 }], [Axis::All]);
        // Nothing at first, then all in two sends with the same ends.
        send(&Rule {
            from,
            to,
            origins: NodeSet::Axes(&half),
            destinations: NodeSet::One(to),
            ..SEND
        })?;
        send(&Rule {
            from,
            to,
            origins: NodeSet::Axes(&other),
            destinations: NodeSet::One(to),
            ..SEND
        })
    };
    let passed_on = |from, to, send: Put<'_>| send(&Rule { from, to, copy: true, ..SEND });
    let summed =
        |from, to, send: Put<'_>| send(&Rule { from, to, copy: true, combine: true, ..SEND });
    let all: Vec<u64> = (0..60).collect();
    let powers: Vec<[u64; 1]> = (0..9).map(|bit| [1 << bit]).chain([[1]]).collect();
    let powers: Vec<&[u64]> = powers.iter().map(|one| &one[..]).collect();
    let one: Arc<dyn Executor> = alone();
    for (threads, stride) in [(2, 1), (3, 7), (16, 1), (16, 7)] {
        let many: Arc<dyn Executor> = Arc::new(Started(threads));
        for spec in ["ring:60", "fully-connected:60"] {
            let [one, many] = [&one, &many]
                .map(|by| carried_out(by, &ALL_TO_ALL, spec, &[&all], stride, &direct));
            assert!(
                one.1.is_ok() && one.1 == many.1 && one.0.0 == many.0.0,
                "{:?} {:?}",
                one.1,
                many.1
            );
            assert!(one.0.1.iter().any(|told| told.starts_with("Unsent")));
            assert_eq!(one.0.1, many.0.1, "told in its order");
        }
        for (spec, kind, rule, told) in [
            ("torus:8x8x8", &ALL_GATHER, &passed_on as Sends<'_>, "step 13: "),
            ("hypercube:9", &ALL_REDUCE, &summed, "Summed"),
        ] {
            // What goes round once more is waste where it is copied, and is not to be summed twice.
            let distances = &powers[..if told == "Summed" { 9 } else { 10 }];
            let [one, many] =
                [&one, &many].map(|by| carried_out(by, kind, spec, distances, stride, rule));
            assert!(
                one.1.is_ok() && one.1 == many.1 && one.0.0 == many.0.0,
                "{:?} {:?}",
                one.1,
                many.1
            );
            assert!(one.0.1.iter().any(|line| line.starts_with(told)), "{:?}", one.0.1);
            assert_eq!(one.0.1, many.0.1, "told in its order");
        }
    }
}

/// What was sent twice, and what was never held, ends a schedule either way.
#[test]
fn a_broken_rule_is_noticed_side_by_side() {
    let (one, many): (Arc<dyn Executor>, Arc<dyn Executor>) = (alone(), Arc::new(Started(3)));
    let never_held = |from: u64, to, send: Put<'_>| {
        send(&Rule {
            from,
            to,
            origins: NodeSet::One(from ^ u64::from(from == 400)),
            strict: true,
            ..SEND
        })
    };
    let nowhere = |from: u64, to, send: Put<'_>| {
        send(&Rule { from, to: to + 1000 * u64::from(from == 400), ..SEND })
    };
    // What arrives in the last step is broken, too.
    let twice = |from, to, send: Put<'_>| {
        send(&Rule { from, to, destinations: NodeSet::One(to), copy: true, ..SEND })
    };
    for (rule, distances) in [
        (&never_held as Sends<'_>, &[&[3][..]][..]),
        (&nowhere, &[&[3]]),
        (&twice, &[&[3], &[3]]),
        (&twice, &[&[3, 3]]),
    ] {
        let [one, many] =
            [&one, &many].map(|by| carried_out(by, &ALL_TO_ALL, "ring:1000", distances, 7, rule));
        assert_eq!(one.0.1, many.0.1, "which send it is");
        let [one, many] = [one, many].map(|(_, ended)| ended.unwrap_err());
        let broken = |fault: &Fault| match fault {
            Fault::Send(step, rule) => (*step, format!("{:?}", std::mem::discriminant(rule))),
            Fault::Delivery(step, rule) => (*step, format!("{:?}", std::mem::discriminant(rule))),
            other => panic!("{other}"),
        };
        assert_eq!(broken(&one), broken(&many), "{one} {many}");
    }
}

/// One node alone has all it is to have.
#[test]
fn a_schedule_without_steps_is_one_on_many_threads_too() {
    let many: Arc<dyn Executor> = Arc::new(Started(2));
    for spec in ["ring:1", "ring:2"] {
        let one: Arc<dyn Executor> = alone();
        let [one, many] =
            [&one, &many].map(|by| carried_out(by, &ALL_TO_ALL, spec, &[], 1, &|_, _, _| Ok(())));
        assert_eq!((one.1.is_ok(), &one.1), (spec == "ring:1", &many.1));
    }
}
