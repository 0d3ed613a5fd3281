//! What is done behind a schedule: a batch is delivered, then its books are kept by one of the crew while the others measure its steps.

use super::{Batch, Mark};
use crate::delivery::exchange::Exchange;
use crate::delivery::exchange::arriving::Settled;
use crate::delivery::exchange::loads::Loads;
use crate::delivery::exchange::together::{Delivered, Moved, Piece};
use crate::delivery::fault::{Block, Fault, Place};
use crate::executor::Executor;
use crate::network::topology::{Route, Topology};
use crate::simulation::buffers::Buffers;
use crate::simulation::messages::{Beside, Kept, Messages};
use crate::simulation::step::{StepFacts, Transfer, Unsent};
use crate::simulation::step_statistics::{StepStatistics, Wanted};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What happened in a schedule, in its order.
#[derive(Debug)]
pub(in crate::simulation) enum Told {
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
    /// A step in which something was sent, and what each node held at its end where somebody wants that.
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
    /// At least one, and no more than there are in the crew; each made by the thread that uses it, in memory of its own.
    measurers: Vec<Option<Measurer>>,
    buffers: Buffers,
    /// What was sent in the step under way, in batches before.
    carried: Vec<Moved>,
}

/// Who keeps the books of a batch.
struct Books<'a> {
    loads: &'a mut Loads,
    buffers: &'a mut Buffers,
    told: Vec<Entry>,
    receivers: Vec<u32>,
}

/// What a book says.
enum Entry {
    Told(Told),
    /// This piece's step has ended; and what each node held then, where somebody wants that.
    Ended(usize, Vec<u64>),
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
        /// What measurers may take together, of which each has an account of all links.
        const MOST_BYTES: u64 = 1 << 28;
        let Means { executor, topology, .. } = &means;
        let each = topology.link_slots().saturating_mul(16).max(1);
        let measurers = (MOST_BYTES / each).clamp(1, executor.crew().max(1) as u64);
        Self {
            buffers: Buffers::new(topology.nodes() as usize),
            measurers: (0..measurers).map(|_| None).collect(),
            exchange,
            means,
            carried: Vec::new(),
        }
    }

    /// Who holds what in the end, and what went through buffers.
    pub(super) fn end(self) -> (Exchange, Buffers) {
        (self.exchange, self.buffers)
    }

    /// Carries out a batch, and says what happened.
    pub(super) fn work(&mut self, batch: &Batch) -> Vec<Told> {
        let Self { exchange, means, measurers, buffers, carried } = self;
        let Means { executor, skip_empty, for_all, kept, .. } = &*means;
        let Batch { queue, routes, marks, pieces } = batch;
        let is_small = queue.len() < super::fewest(executor.as_ref());
        // They meet once a step: several carry out one of some hundred sends sooner than one does.
        let is_worth_it = !is_small && queue.len() / pieces.len().max(1) >= executor.enough() / 128;
        let crew = if is_worth_it { executor.crew().max(1) } else { 1 };
        let broken = exchange.deliver(queue, pieces, kept.blocks, (crew, executor.as_ref())).err();
        let whole = broken.as_ref().map_or(pieces.len(), |broken| broken.piece);
        let (loads, delivered) = exchange.delivered(queue);
        let looked =
            Looked { delivered, pieces: &pieces[..whole], routes, carried, skip_empty: *skip_empty, for_all: *for_all };
        let books = Mutex::new(Books { loads, buffers, told: Vec::new(), receivers: Vec::new() });
        let next = AtomicUsize::new(0);
        let measured: Vec<OnceLock<Found>> = (0..whole).map(|_| OnceLock::new()).collect();
        let measurers: Vec<Mutex<&mut Option<Measurer>>> = measurers.iter_mut().map(Mutex::new).collect();
        let work = |member: usize| {
            if member == 0
                && let Ok(mut books) = books.lock()
            {
                books.keep(looked, marks);
            }
            let Some(Ok(mut measurer)) = measurers.get(member).map(Mutex::lock) else { return };
            let measurer = measurer.get_or_insert_with(|| Measurer::new(means));
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(at) = measured.get(number) else { return };
                at.get_or_init(|| measurer.measure(looked, number));
            }
        };
        if is_small || executor.crew() <= 1 {
            work(0);
        } else {
            executor.together(&work);
        }
        let mut measured: Vec<_> = measured.into_iter().map(|one| one.into_inner().flatten()).collect();
        let entries = books.into_inner().map_or_else(|poisoned| poisoned.into_inner().told, |books| books.told);
        if let Some(last) = pieces.last().filter(|_| broken.is_none()) {
            let number = pieces.len() - 1;
            let moved: Vec<Moved> = if last.ends {
                Vec::new()
            } else {
                delivered.sends(number, last).filter_map(|(_, moved)| moved).collect()
            };
            if number > 0 || last.ends {
                carried.clear();
            }
            carried.extend(moved);
        }
        let mut told = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry {
                Entry::Told(one) => told.push(one),
                Entry::Ended(piece, held) => match measured[piece].take() {
                    Some(Ok(measured)) => told.push(Told::Step(measured, held)),
                    Some(Err(fault)) => {
                        told.push(Told::Fault(fault));
                        return told;
                    }
                    None => {}
                },
            }
        }
        if let Some(broken) = broken {
            let step = pieces[broken.piece].step;
            let unsent = broken.send.map(|(from, to)| Told::Unsent(Unsent { step, from, to, is_refused: true }));
            told.extend(unsent);
            told.push(Told::Fault(broken.fault));
        }
        told
    }
}

impl Books<'_> {
    /// What follows from all that came before, in the schedule's order.
    fn keep(&mut self, looked: Looked<'_>, marks: &[Mark]) {
        for mark in marks {
            match mark {
                Mark::Phase(name) => {
                    self.buffers.begin_phase();
                    self.tell(Told::Phase(name.clone()));
                }
                Mark::Rearranged => {
                    let most = self.loads.held().iter().copied().max().unwrap_or(0);
                    self.tell(Told::Rearranged(most));
                }
                Mark::Piece(number) => match looked.pieces.get(*number) {
                    Some(piece) => self.piece(looked, *number, piece),
                    // From here on a rule is broken.
                    None => return,
                },
            }
        }
    }

    fn tell(&mut self, told: Told) {
        self.told.push(Entry::Told(told));
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
                self.tell(Told::Unsent(Unsent { step: piece.step, from, to, is_refused: false }));
                continue;
            };
            self.loads.moved((from.into(), to.into()), copy, load);
            self.buffers.moved(from, to, load);
            self.receivers.push(to);
            if from == to && for_all && (load > 0 || !skip_empty) {
                self.tell(Told::LocalCopy(piece.step, from, load));
            }
        }
        if !piece.ends {
            return;
        }
        delivered.settled(number).for_each(|settled: Settled| self.loads.settle(settled));
        self.loads.end_step(self.receivers.iter().map(|to| u64::from(*to)));
        if let Some((node, block)) = delivered.redundant(number) {
            self.tell(Told::Redundant(piece.step, node, block));
        }
        let most = self.loads.most_summed();
        if most > 0 {
            let of = if for_all { self.loads.all_summed().to_vec() } else { Vec::new() };
            self.tell(Told::Summed(most, of));
        }
        let held = if for_all { self.loads.held().to_vec() } else { Vec::new() };
        self.told.push(Entry::Ended(number, held));
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
