//! A schedule that is planned ahead: what it sends is queued, and delivered and measured behind it,
//! by the threads of an executor, some steps at a time.
//!
//! One batch is filled while one is delivered and one measured, so that no more of a schedule is in
//! memory than these. Who has filled one before it can be taken helps with the others. What came of
//! a batch is told when a later one is handed over. A broken rule is therefore noticed some calls
//! later; it is that of the first step in which one is broken.

mod engine;

use crate::delivery::exchange::queue::Queue;
use crate::delivery::exchange::together::Piece;
use crate::delivery::exchange::{Exchange, Rule};
use crate::delivery::payload::Proof;
use crate::executor::Executor;
use crate::network::topology::Route;
use crate::simulation::buffers::Buffers;
use engine::Engine;
pub(super) use engine::{Event, Means, Measured};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread::sleep;
use std::time::Duration;

/// Some of a schedule, in its order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub queue: Queue,
    /// Ways that sends refer to.
    pub routes: Vec<Route>,
    marks: Vec<Mark>,
    pieces: Vec<Piece>,
}

/// What a batch is made of.
#[derive(Debug)]
enum Mark {
    Phase(String),
    Rearranged,
    /// The piece of this number.
    Piece(usize),
}

/// What came of a batch, and the batch.
#[derive(Debug)]
pub(super) struct Report {
    pub batch: Batch,
    pub events: Vec<Event>,
}

/// Who carries a schedule out.
#[derive(Debug)]
enum Seat {
    Here(Box<Engine>),
    /// Takes batches until there is nobody to give it any, and comes back then.
    Away {
        to: SyncSender<Batch>,
        back: Receiver<Back>,
    },
    /// Lost to a panic, which went on.
    Lost,
}

/// What comes back.
enum Back {
    Report(Report),
    Engine(Box<Engine>),
    Panic(Box<dyn Any + Send>),
}

/// A schedule that is planned ahead.
#[derive(Debug)]
pub(super) struct Ahead {
    proof: Proof,
    segments: u64,
    batch: Batch,
    /// Some that were used before.
    spare: Vec<Batch>,
    seat: Seat,
    step: u64,
    /// Where the step under way begins among the sends of the batch.
    begins: usize,
    /// With so many sends a batch is handed over once its step ends.
    enough: usize,
    /// Steps that a batch has at most.
    most_steps: usize,
    executor: Arc<dyn Executor>,
}

/// Fewer sends are carried out sooner by whoever has them.
fn fewest(executor: &dyn Executor) -> usize {
    executor.enough() / 8
}

impl Ahead {
    /// Everyone is planned for, and nobody looks at single sends.
    pub(super) fn new(exchange: Exchange, means: Means) -> Self {
        /// What is kept of each node at each step's end, where somebody wants it.
        const MOST_KEPT: u64 = 1 << 22;
        let nodes = exchange.placement().machine_nodes();
        let most_steps =
            if means.for_all { (MOST_KEPT / nodes.max(1)).max(1) as usize } else { usize::MAX };
        let executor = Arc::clone(&means.executor);
        let enough = executor.enough();
        let (proof, segments) = (Proof::of(&exchange), exchange.segments());
        Self {
            proof,
            segments,
            batch: Batch::default(),
            spare: Vec::new(),
            seat: Seat::Here(Box::new(Engine::new(exchange, means))),
            step: 0,
            begins: 0,
            enough,
            most_steps: most_steps.min(enough),
            executor,
        }
    }

    /// What delivery can be proved of.
    pub(super) fn proof(&self) -> Proof {
        self.proof
    }

    /// Parts of the unit in which loads are counted.
    pub(super) fn segments(&self) -> u64 {
        self.segments
    }

    /// The step under way, from 1.
    pub(super) fn step(&self) -> u64 {
        self.step
    }

    /// Names the steps that follow.
    pub(super) fn phase(&mut self, name: &str) {
        self.batch.marks.push(Mark::Phase(name.to_owned()));
    }

    /// Every node rearranges all it holds.
    pub(super) fn rearrange(&mut self) {
        self.batch.marks.push(Mark::Rearranged);
    }

    pub(super) fn begin_step(&mut self) {
        self.step += 1;
    }

    /// Queues a send; whether the batch is to be handed over before there is another one.
    #[inline]
    pub(super) fn send(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> bool {
        let Batch { queue, routes, .. } = &mut self.batch;
        let route = route.map_or(0, |route| super::messages::number_of(routes, route));
        queue.push(rule, route);
        self.batch.queue.len() >= self.most() || self.batch.queue.is_full()
    }

    /// So many sends wait at most, in the middle of a step: what they say takes about a hundred
    /// bytes each.
    fn most(&self) -> usize {
        self.enough * 8
    }

    /// The step under way has no more sends; whether the batch is to be handed over.
    pub(super) fn end_step(&mut self) -> bool {
        self.cut(true);
        self.batch.queue.len() >= self.enough || self.batch.pieces.len() >= self.most_steps
    }

    fn cut(&mut self, ends: bool) {
        let Batch { queue, marks, pieces, .. } = &mut self.batch;
        marks.push(Mark::Piece(pieces.len()));
        pieces.push(Piece { step: self.step, sends: self.begins..queue.len(), ends });
        self.begins = queue.len();
    }

    /// Hands over what there is, in the middle of a step or after one; what came of batches before.
    pub(super) fn hand_over(&mut self, in_step: bool) -> Vec<Report> {
        /// Little beside the time that a batch takes.
        const NAP: Duration = Duration::from_micros(20);
        let mut next = self.spare.pop().unwrap_or_default();
        if in_step {
            self.cut(false);
            // Sends that are still to be counted refer to these.
            next.routes.clone_from(&self.batch.routes);
        }
        self.begins = 0;
        let batch = std::mem::replace(&mut self.batch, next);
        self.start();
        let Seat::Away { to, back } = &self.seat else { return Vec::new() };
        let mut waits = batch;
        // Who no longer takes any has left a panic behind.
        while let Err(TrySendError::Full(batch)) = to.try_send(waits) {
            waits = batch;
            if !self.executor.help() {
                sleep(NAP);
            }
        }
        let came: Vec<Back> = back.try_iter().collect();
        self.reports(came.into_iter())
    }

    /// Sends the engine off, if it is here.
    fn start(&mut self) {
        if !matches!(self.seat, Seat::Here(_)) {
            return;
        }
        let (to, batches) = sync_channel::<Batch>(0);
        let (reports, back) = channel();
        let Seat::Here(mut engine) = std::mem::replace(&mut self.seat, Seat::Away { to, back })
        else {
            return;
        };
        self.executor.behind(Box::new(move || {
            let done = catch_unwind(AssertUnwindSafe(|| {
                // Nobody waits for what a schedule comes to that has ended early.
                let send = |report: Option<Report>| {
                    report.is_none_or(|one| reports.send(Back::Report(one)).is_ok())
                };
                for batch in batches {
                    if !send(engine.work(batch)) || engine.is_broken() {
                        break;
                    }
                }
                send(engine.rest());
                engine
            }));
            drop(reports.send(done.map_or_else(Back::Panic, Back::Engine)));
        }));
    }

    fn reports(&mut self, came: impl Iterator<Item = Back>) -> Vec<Report> {
        let mut reports = Vec::new();
        for one in came {
            match one {
                Back::Report(report) => reports.push(report),
                Back::Engine(engine) => self.seat = Seat::Here(engine),
                Back::Panic(panic) => resume_unwind(panic),
            }
        }
        reports
    }

    /// All that is left is carried out: what came of it.
    pub(super) fn finish(&mut self, in_step: bool) -> Vec<Report> {
        if matches!(self.seat, Seat::Here(_))
            && self.batch.queue.len() < fewest(self.executor.as_ref())
        {
            if in_step {
                self.cut(false);
            }
            let batch = std::mem::take(&mut self.batch);
            let Seat::Here(engine) = &mut self.seat else { return Vec::new() };
            return engine.work(batch).into_iter().chain(engine.rest()).collect();
        }
        let mut reports = self.hand_over(in_step);
        if let Seat::Away { to, back } = std::mem::replace(&mut self.seat, Seat::Lost) {
            drop(to);
            reports.extend(self.reports(back.into_iter()));
        }
        reports
    }

    /// Who holds what in the end, and what went through buffers; `None` if that was lost.
    pub(super) fn end(&mut self) -> Option<(Exchange, Buffers)> {
        match std::mem::replace(&mut self.seat, Seat::Lost) {
            Seat::Here(engine) => Some(engine.end()),
            Seat::Away { .. } | Seat::Lost => None,
        }
    }

    /// Room that a report no longer needs.
    pub(super) fn reuse(&mut self, mut batch: Batch) {
        batch.queue.clear();
        batch.routes.clear();
        batch.marks.clear();
        batch.pieces.clear();
        self.spare.push(batch);
    }
}
