//! What is done behind a schedule: a batch is delivered while the books of the one before it are
//! kept and its steps measured.

use super::{Batch, Mark, Report};
use crate::delivery::exchange::arriving::Settled;
use crate::delivery::exchange::loads::Loads;
use crate::delivery::exchange::together::{Broken, Crew, Delivered, Moved, Outcomes, Piece};
use crate::delivery::exchange::{Exchange, Inventory};
use crate::delivery::fault::{Block, Fault, Place};
use crate::executor::Executor;
use crate::network::topology::{Route, Topology};
use crate::simulation::buffers::Buffers;
use crate::simulation::messages::{Beside, Kept, Messages};
use crate::simulation::step::{StepFacts, Transfer, Unsent};
use crate::simulation::step_statistics::{StepStatistics, Wanted};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What happened in a schedule, in its order.
#[derive(Debug)]
pub(in crate::simulation) enum Event {
    Phase(String),
    /// Every node rearranges all it holds, the fullest so much.
    Rearranged(u64),
    Unsent(Unsent),
    /// In the step of this number a node sends itself so much.
    LocalCopy(u64, u32, u64),
    /// In the step of this number a block came where it was already.
    Redundant(u64, Place, Block),
    /// The most that one node added to what it had, and what each did where somebody wants that.
    Summed(u64, Vec<u64>),
    /// A step in which something was sent, and what each node held at its end where somebody wants
    /// that.
    Step(Box<Measured>, Vec<u64>),
    Fault(Fault),
}

/// A step as it was measured.
#[derive(Debug)]
pub(in crate::simulation) struct Measured {
    /// The schedule's own number.
    pub number: u64,
    pub facts: StepFacts,
    /// Messages and what is said of each, where somebody wants them.
    pub transfers: Vec<Transfer>,
    pub inverse_bandwidth: Vec<f64>,
    pub mean_hops: Vec<f64>,
    pub busiest_links: Vec<(u64, f64)>,
}

/// What measuring a piece comes to; `None` where it ends no step, or nothing was sent in that.
type Found = Option<Result<Box<Measured>, Fault>>;

/// Who measures steps, each for itself.
#[derive(Debug)]
struct Measurer {
    messages: Messages,
    statistics: StepStatistics,
}

/// What an engine works with.
#[derive(Debug)]
pub(in crate::simulation) struct Means {
    pub executor: Arc<dyn Executor>,
    pub topology: Arc<dyn Topology>,
    pub wanted: Wanted,
    pub kept: Kept,
    /// Whether a message of no bytes is none.
    pub skip_empty: bool,
    /// Whether somebody reads more than facts.
    pub for_all: bool,
}

/// Who holds what, and what is counted of it.
#[derive(Debug)]
pub(super) struct Engine {
    exchange: Exchange,
    means: Means,
    /// At least one, and no more than there are threads; each made by the thread that uses it
    /// first, in memory of its own.
    measurers: Vec<Mutex<Option<Measurer>>>,
    buffers: Buffers,
    /// What was sent in the step under way, in batches before.
    carried: Vec<Moved>,
    /// The last batch.
    delivered: Option<Done>,
    /// Room for what comes of one.
    spare: Outcomes,
}

/// A batch that is delivered, and still to be told of.
#[derive(Debug)]
struct Done {
    batch: Batch,
    outcomes: Outcomes,
    broken: Option<Box<Broken>>,
}

impl Done {
    /// Its pieces in which no rule was broken.
    fn whole(&self) -> &[Piece] {
        &self.batch.pieces
            [..self.broken.as_ref().map_or(self.batch.pieces.len(), |broken| broken.piece)]
    }
}

/// Who keeps the books of a batch.
struct Books<'a> {
    loads: &'a mut Loads,
    buffers: &'a mut Buffers,
    entries: Vec<Entry>,
    receivers: Vec<u32>,
}

/// What a book says.
enum Entry {
    Event(Event),
    /// This piece's step has ended; and what each node held then, where somebody wants that.
    Ended(usize, Vec<u64>),
}

/// What is still to be done of a batch, by whoever has time.
struct Rest<'a> {
    looked: Looked<'a>,
    marks: &'a [Mark],
    means: &'a Means,
    books: Mutex<Books<'a>>,
    /// How much of it somebody has taken on: the books first, then each piece.
    taken: AtomicUsize,
    measurers: &'a [Mutex<Option<Measurer>>],
    measured: Vec<OnceLock<Found>>,
}

/// What of a batch is looked at by many.
#[derive(Clone, Copy)]
struct Looked<'a> {
    delivered: Delivered<'a>,
    pieces: &'a [Piece],
    routes: &'a [Route],
    carried: &'a [Moved],
    skip_empty: bool,
    for_all: bool,
}

impl Engine {
    pub(super) fn new(exchange: Exchange, means: Means) -> Self {
        let Means { executor, topology, .. } = &means;
        let each = topology.link_slots().saturating_mul(16).max(1);
        let measurers = (executor.room() / each).clamp(1, executor.threads() as u64);
        Self {
            buffers: Buffers::new(topology.nodes() as usize),
            measurers: (0..measurers).map(|_| Mutex::default()).collect(),
            exchange,
            means,
            carried: Vec::new(),
            delivered: None,
            spare: Outcomes::default(),
        }
    }

    /// Who holds what in the end, and what went through buffers.
    pub(super) fn end(self) -> (Exchange, Buffers) {
        (self.exchange, self.buffers)
    }

    /// Carries out a batch, and says what happened in the one before.
    pub(super) fn work(&mut self, batch: Batch) -> Option<Report> {
        /// Stretches a thread: with more, threads that are as fast wait less for each other; with
        /// fewer, less is put down apart.
        const STRETCHES: usize = 4;
        let Self { exchange, means, measurers, buffers, carried, delivered, spare } = self;
        let executor = Arc::clone(&means.executor);
        let before = delivered.take();
        let sends = batch.queue.len() / batch.pieces.len().max(1);
        // They wait for each other once a step: several carry out one of some hundred sends sooner
        // than one does.
        let is_worth_it = batch.queue.len() >= super::fewest(executor.as_ref())
            && sends >= executor.enough() / 128;
        let stretches = if is_worth_it { executor.threads() * STRETCHES } else { 1 };
        let mut outcomes = std::mem::take(spare);
        let (mut delivery, loads, inventory) = exchange.apart();
        let rest = before
            .as_ref()
            .map(|done| Rest::of(done, inventory, means, (loads, buffers), measurers, carried));
        let meanwhile = |thread: usize| rest.as_ref().is_some_and(|rest| rest.does_one(thread));
        let crew = Crew { executor: executor.as_ref(), stretches, meanwhile: &meanwhile };
        let breach = delivery
            .deliver(&batch.queue, &batch.pieces, means.kept.blocks, &mut outcomes, &crew)
            .err();
        let come_to = rest.map(Rest::come_to);
        let broken =
            breach.map(|breach| Box::new(exchange.broken(&batch.queue, &batch.pieces, breach)));
        let report = self.report(before, come_to);
        self.delivered = Some(Done { batch, outcomes, broken });
        report
    }

    /// Whether a rule was broken in the last batch, after which there is nothing to carry out.
    pub(super) fn is_broken(&self) -> bool {
        self.delivered.as_ref().is_some_and(|done| done.broken.is_some())
    }

    /// Says what happened in the last batch.
    pub(super) fn rest(&mut self) -> Option<Report> {
        let Self { exchange, means, measurers, buffers, carried, delivered, .. } = self;
        let before = delivered.take();
        let (_, loads, inventory) = exchange.apart();
        let rest = before
            .as_ref()
            .map(|done| Rest::of(done, inventory, means, (loads, buffers), measurers, carried))?;
        if rest.looked.delivered.queue.len() < super::fewest(means.executor.as_ref()) {
            while rest.does_one(0) {}
        } else {
            means.executor.together(&|thread| while rest.does_one(thread) {});
        }
        let come_to = Some(rest.come_to());
        self.report(before, come_to)
    }

    /// What is told of a batch, in which all has been looked at.
    fn report(
        &mut self,
        done: Option<Done>,
        come_to: Option<(Vec<Event>, Vec<Moved>)>,
    ) -> Option<Report> {
        let (Done { batch, outcomes, broken }, (mut events, moved)) = (done?, come_to?);
        self.spare = outcomes;
        // A batch of one piece may be one of many of a step.
        if batch.pieces.len() > 1 || batch.pieces.last().is_some_and(|last| last.ends) {
            self.carried.clear();
        }
        self.carried.extend(moved);
        if let Some(broken) = broken.filter(|_| !matches!(events.last(), Some(Event::Fault(_)))) {
            let step = batch.pieces[broken.piece].step;
            let unsent = broken
                .send
                .map(|(from, to)| Event::Unsent(Unsent { step, from, to, is_refused: true }));
            events.extend(unsent);
            events.push(Event::Fault(broken.fault));
        }
        Some(Report { batch, events })
    }
}

impl<'a> Rest<'a> {
    fn of(
        done: &'a Done,
        inventory: &'a Inventory,
        means: &'a Means,
        (loads, buffers): (&'a mut Loads, &'a mut Buffers),
        measurers: &'a [Mutex<Option<Measurer>>],
        carried: &'a [Moved],
    ) -> Self {
        let (Means { skip_empty, for_all, .. }, Batch { queue, routes, marks, .. }) =
            (means, &done.batch);
        let (delivered, pieces) =
            (Delivered { inventory, outcomes: &done.outcomes, queue }, done.whole());
        Self {
            looked: Looked {
                delivered,
                pieces,
                routes,
                carried,
                skip_empty: *skip_empty,
                for_all: *for_all,
            },
            marks,
            means,
            books: Mutex::new(Books { loads, buffers, entries: Vec::new(), receivers: Vec::new() }),
            taken: AtomicUsize::new(0),
            measurers,
            measured: pieces.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Does one thing that nobody does yet, if there is one: keeps the books or measures a piece.
    fn does_one(&self, thread: usize) -> bool {
        // A look costs less than a try.
        if self.taken.load(Ordering::Relaxed) > self.measured.len() {
            return false;
        }
        // There may be fewer than threads, and some of those never come: whoever comes takes one
        // that is free, its own if it can.
        let own = thread % self.measurers.len();
        let (before, from_own) = self.measurers.split_at(own);
        let free = from_own.iter().chain(before).find_map(|measurer| measurer.try_lock().ok());
        let Some(mut measurer) = free else { return false };
        match self.taken.fetch_add(1, Ordering::Relaxed).checked_sub(1) {
            None => self.books.lock().is_ok_and(|mut books| {
                books.keep(self.looked, self.marks);
                true
            }),
            Some(number) => self.measured.get(number).is_some_and(|at| {
                let measurer = measurer.get_or_insert_with(|| Measurer::new(self.means));
                at.get_or_init(|| measurer.measure(self.looked, number));
                true
            }),
        }
    }

    /// What happened, and what is on its way in a step that has not ended.
    fn come_to(self) -> (Vec<Event>, Vec<Moved>) {
        // What nobody had time for, or no measurer.
        while self.does_one(0) {}
        let Looked { delivered, pieces, .. } = self.looked;
        let moved = match pieces.last() {
            Some(last) if !last.ends => {
                delivered.sends(pieces.len() - 1, last).filter_map(|(_, moved)| moved).collect()
            }
            _ => Vec::new(),
        };
        let mut measured: Vec<_> =
            self.measured.into_iter().map(|one| one.into_inner().flatten()).collect();
        let entries = self.books.into_inner().unwrap_or_else(PoisonError::into_inner).entries;
        let mut events = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry {
                Entry::Event(one) => events.push(one),
                Entry::Ended(piece, held) => match measured[piece].take() {
                    Some(Ok(measured)) => events.push(Event::Step(measured, held)),
                    Some(Err(fault)) => {
                        events.push(Event::Fault(fault));
                        break;
                    }
                    None => {}
                },
            }
        }
        (events, moved)
    }
}

impl Books<'_> {
    /// What follows from all that came before, in the schedule's order.
    fn keep(&mut self, looked: Looked<'_>, marks: &[Mark]) {
        for mark in marks {
            match mark {
                Mark::Phase(name) => {
                    self.buffers.begin_phase();
                    self.note(Event::Phase(name.clone()));
                }
                Mark::Rearranged => {
                    let most = self.loads.held().iter().copied().max().unwrap_or(0);
                    self.note(Event::Rearranged(most));
                }
                Mark::Piece(number) => match looked.pieces.get(*number) {
                    Some(piece) => self.piece(looked, *number, piece),
                    // From here on a rule is broken.
                    None => return,
                },
            }
        }
    }

    fn note(&mut self, event: Event) {
        self.entries.push(Entry::Event(event));
    }

    fn piece(&mut self, looked: Looked<'_>, number: usize, piece: &Piece) {
        let Looked { delivered, carried, skip_empty, for_all, .. } = looked;
        self.receivers.clear();
        if number == 0 {
            self.receivers.extend(carried.iter().map(|moved| moved.to));
        }
        for (send, moved) in delivered.sends(number, piece) {
            let Some(Moved { from, to, load, copy, .. }) = moved else {
                let (from, to) = delivered.between(send);
                self.note(Event::Unsent(Unsent { step: piece.step, from, to, is_refused: false }));
                continue;
            };
            self.loads.moved((from.into(), to.into()), copy, load);
            self.buffers.moved(from, to, load);
            self.receivers.push(to);
            if from == to && for_all && (load > 0 || !skip_empty) {
                self.note(Event::LocalCopy(piece.step, from, load));
            }
        }
        if !piece.ends {
            return;
        }
        delivered.settled(number).for_each(|settled: Settled| self.loads.settle(settled));
        self.loads.end_step(self.receivers.iter().map(|to| u64::from(*to)));
        if let Some((node, block)) = delivered.redundant(number) {
            self.note(Event::Redundant(piece.step, node, block));
        }
        let most = self.loads.most_summed();
        if most > 0 {
            let of = if for_all { self.loads.all_summed().to_vec() } else { Vec::new() };
            self.note(Event::Summed(most, of));
        }
        let held = if for_all { self.loads.held().to_vec() } else { Vec::new() };
        self.entries.push(Entry::Ended(number, held));
    }
}

impl Measurer {
    fn new(means: &Means) -> Self {
        let nodes = means.topology.nodes() as usize;
        let statistics = StepStatistics::of(Arc::clone(&means.topology), nodes, means.wanted);
        Self { messages: Messages::new(nodes, means.kept), statistics }
    }

    /// Measures the step that a piece ends, if it does and anything was sent in it.
    fn measure(&mut self, looked: Looked<'_>, number: usize) -> Found {
        let Looked { delivered, pieces, routes, carried, skip_empty, for_all } = looked;
        let piece = pieces.get(number).filter(|piece| piece.ends)?;
        let Self { messages, statistics } = self;
        messages.clear();
        let before = if number == 0 { carried } else { &[] };
        let moved = delivered.sends(number, piece).filter_map(|(_, moved)| moved);
        for Moved { from, to, load, blocks, route, .. } in before.iter().copied().chain(moved) {
            if from != to && (load > 0 || !skip_empty) {
                let sent = Transfer { from, to, route, hops: 0, load };
                messages.add(piece.step, sent, Beside { blocks, after: 0 });
            }
        }
        if messages.is_empty() {
            return None;
        }
        let (transfers, blocks) = messages.merged();
        let facts = match statistics.measure(piece.step, transfers, blocks, routes) {
            Ok(facts) => facts,
            Err(fault) => return Some(Err(fault)),
        };
        let kept = |all: &[f64]| if for_all { all.to_vec() } else { Vec::new() };
        Some(Ok(Box::new(Measured {
            number: piece.step,
            facts,
            transfers: if for_all { messages.as_slice().to_vec() } else { Vec::new() },
            inverse_bandwidth: kept(statistics.inverse_bandwidth()),
            mean_hops: kept(statistics.mean_hops()),
            busiest_links: if for_all { statistics.busiest_links().to_vec() } else { Vec::new() },
        })))
    }
}
