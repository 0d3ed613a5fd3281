//! Runs many cases, by default in worker processes: a plugin that crashes, hangs, eats memory or closes what it shouldn't costs its own row, never
//! the session.
//!
//! Cases that share a schedule are one *unit* of work ([`mod@unit`]). A thread a job takes units from a queue and hands each to its worker, a child of the same
//! program that loads the same plugins ([`worker`]); rows come back over a socket of their own, so that whatever a plugin prints can't be mistaken for one.
//! When a worker dies, the case it was at gets its row and the rest of the unit goes to a fresh one.
//!
//! Whoever started a batch hears of it by [`Event`]s. Rows come as cases end; [`Ordered`] puts them in the order of cases again.

use crate::case::Case;
use crate::session::{Said, refuse, tell_group};
use message::Job;
use process::{Answer, Process};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use swapmeet_core::simulation::step::{Listener, Step};
use swapmeet_results::{Record, Status};
use unit::Unit;

pub(crate) mod child;
pub mod forecast;
mod lines;
mod message;
mod printed;
mod process;
pub mod unit;
pub mod worker;

/// What happens in a batch. Cases are numbered as they were given.
#[derive(Debug)]
pub enum Event {
    /// Work on a case, and on those that share its schedule, has begun.
    Started {
        /// The cases.
        cases: Vec<usize>,
    },
    /// A schedule has come so far.
    Progress {
        /// The first of the cases that share it.
        case: usize,
        /// Steps in which anything was sent.
        steps: u64,
    },
    /// A case has ended.
    Finished {
        /// Which.
        case: usize,
        /// Its row.
        record: Box<Record>,
    },
    /// A line from a plugin, or about one.
    Log {
        /// The line.
        line: String,
    },
}

/// Where cases run.
#[derive(Debug, Clone)]
pub enum Place {
    /// In this process, one after another: for profiling. A plugin that crashes takes everything with it.
    Here,
    /// In workers.
    Workers(Workers),
}

/// How workers are started.
#[derive(Debug, Clone)]
pub struct Workers {
    /// The program and its arguments, up to those that [`worker::serve`] takes.
    pub command: Vec<PathBuf>,
    /// How many at a time.
    pub jobs: usize,
    /// The most memory that one may map, in bytes.
    pub memory_limit: u64,
}

/// Cases on their way to rows.
pub struct Batch {
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of a batch share.
#[derive(Clone)]
struct Shared {
    cases: Arc<[Case]>,
    queue: Arc<Mutex<VecDeque<Unit>>>,
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
}

impl Batch {
    /// Begins to run the cases.
    pub fn start(cases: &[Case], place: &Place) -> Self {
        let (sender, events) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let queue: VecDeque<Unit> = unit::units(cases).into();
        let threads = match place {
            Place::Here => 1,
            Place::Workers(workers) => workers.jobs.clamp(1, queue.len().max(1)),
        };
        let shared =
            Shared { cases: cases.into(), queue: Arc::new(Mutex::new(queue)), events: sender, stop: Arc::clone(&stop) };
        let begin = |_| {
            let (shared, place) = (shared.clone(), place.clone());
            std::thread::spawn(move || match place {
                Place::Here => shared.run_here(),
                Place::Workers(workers) => shared.run_in_worker(&workers),
            })
        };
        Self { threads: (0..threads).map(begin).collect(), events, stop }
    }

    /// The next event, if one comes within `wait`; `None` in the first place when no more will come.
    pub fn next_within(&self, wait: Duration) -> Option<Option<Event>> {
        match self.events.recv_timeout(wait) {
            Ok(event) => Some(Some(event)),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Some(None),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Ends it: workers are killed, no case begins any more. Events that are there already can still be taken.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Waits for events until the batch is done.
impl Iterator for Batch {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.events.recv().ok()
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn next_unit(&self) -> Option<Unit> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Nobody listening any more is no reason to stop: a batch that is dropped stops itself.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    fn finished(&self, case: usize, record: Box<Record>) {
        self.tell(Event::Finished { case, record });
    }

    fn run_here(&self) {
        while let Some(unit) = self.next_unit() {
            self.tell(Event::Started { cases: unit.cases.clone() });
            let group: Vec<Case> = unit.cases.iter().map(|i| self.cases[*i].clone()).collect();
            let mut pulse = Pulse::new(|steps| self.tell(Event::Progress { case: unit.cases[0], steps }));
            tell_group(&group, &mut [&mut pulse], &mut |said| match said {
                Said::Row(index, record) => self.finished(unit.cases[index], record),
                Said::Log(line) => self.log(unit.cases[0], &line),
            });
        }
    }

    fn run_in_worker(&self, workers: &Workers) {
        let mut process = None;
        while let Some(unit) = self.next_unit() {
            self.tell(Event::Started { cases: unit.cases.clone() });
            let mut open: BTreeSet<usize> = unit.cases.into_iter().collect();
            while !open.is_empty() && !self.stop.load(Ordering::Relaxed) {
                let worker = match process.take().map_or_else(|| Process::start(workers), Ok) {
                    Ok(worker) => worker,
                    Err(e) => {
                        self.none_could_start(&mut open, &e.to_string());
                        break;
                    }
                };
                process = self.run_unit(worker, &mut open);
            }
        }
    }

    /// Lets a worker run the open cases. Those that got rows are open no more; the worker comes back if it still can work.
    fn run_unit(&self, mut worker: Process, open: &mut BTreeSet<usize>) -> Option<Process> {
        let asked: Vec<usize> = open.iter().copied().collect();
        let limit = self.cases[asked[0]].timeout;
        let mut answer = worker.ask(&Job::of(asked.iter().map(|i| &self.cases[*i])));
        loop {
            match answer {
                Answer::Row(index, outcome) => {
                    if let Some(case) = asked.get(index) {
                        open.remove(case);
                        let mut record = self.cases[*case].blank_row();
                        match record.set_outcome(outcome.iter().map(String::as_str)) {
                            Ok(()) => self.finished(*case, Box::new(record)),
                            Err(why) => {
                                self.failed(*case, Status::Crashed, &process::no_row(&why));
                                return None;
                            }
                        }
                    }
                }
                Answer::Unknown(index, reason) => {
                    if let Some(case) = asked.get(index) {
                        open.remove(case);
                        self.failed(*case, Status::Error, &reason);
                    }
                }
                Answer::Progress(steps) => self.tell(Event::Progress { case: asked[0], steps }),
                Answer::Log(line) => self.log(asked[0], &line),
                Answer::Done if open.is_empty() => return Some(worker),
                // Neither rows nor a crash: whatever it is, the case is not good.
                Answer::Done => {
                    self.failed_first(open, Status::Error, "the worker process gave no row");
                    return None;
                }
                Answer::Late(limit) => {
                    self.failed_first(open, Status::Timeout, &format!("not done after {} s", limit.as_secs_f64()));
                    return None;
                }
                Answer::Died(how) => {
                    self.failed_first(open, Status::Crashed, &how);
                    return None;
                }
                Answer::Unfit(why) => {
                    self.none_could_start(open, &why);
                    return None;
                }
                Answer::Cancelled => return None,
            }
            answer = worker.answer(limit, &self.stop);
        }
    }

    /// The first of the open cases is what the worker was at.
    fn failed_first(&self, open: &mut BTreeSet<usize>, status: Status, reason: &str) {
        if let Some(case) = open.pop_first() {
            self.failed(case, status, reason);
        }
    }

    /// It is no case's doing: the next worker would do no better with the others.
    fn none_could_start(&self, open: &mut BTreeSet<usize>, why: &str) {
        let reason = format!("no worker process could be started: {why}");
        std::mem::take(open).into_iter().for_each(|case| self.failed(case, Status::Error, &reason));
    }

    /// A line, with whom it comes from.
    fn log(&self, case: usize, line: &str) {
        let case = &self.cases[case];
        self.tell(Event::Log { line: format!("{} on {}: {line}", case.algorithm, case.topology.spec()) });
    }

    fn failed(&self, case: usize, status: Status, reason: &str) {
        let mut record = self.cases[case].blank_row();
        refuse(&mut record, status, reason);
        self.finished(case, Box::new(record));
    }
}

/// Tells how far a schedule has come, a few times a second.
struct Pulse<F: FnMut(u64)> {
    tell: F,
    last: std::time::Instant,
    steps: u64,
}

impl<F: FnMut(u64)> Pulse<F> {
    fn new(tell: F) -> Self {
        Self { tell, last: std::time::Instant::now(), steps: 0 }
    }
}

impl<F: FnMut(u64)> Listener for Pulse<F> {
    fn step(&mut self, step: &Step<'_>) {
        const EVERY: Duration = Duration::from_millis(200);
        self.steps = step.number;
        if self.last.elapsed() >= EVERY {
            self.last = std::time::Instant::now();
            (self.tell)(self.steps);
        }
    }
}

/// Puts rows in the order of cases again.
#[derive(Debug, Default)]
pub struct Ordered {
    next: usize,
    waiting: BTreeMap<usize, Box<Record>>,
}

impl Ordered {
    /// A row has come; the rows whose turn it now is.
    pub fn push(&mut self, case: usize, record: Box<Record>) -> Vec<Record> {
        self.waiting.insert(case, record);
        let mut ready = Vec::new();
        while let Some(record) = self.waiting.remove(&self.next) {
            self.next += 1;
            ready.push(*record);
        }
        ready
    }

    /// Rows whose turn has not come, because others before them never came, in order.
    pub fn left(self) -> impl Iterator<Item = Record> {
        self.waiting.into_values().map(|record| *record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_in_the_order_of_cases() {
        let row = |seed| Box::new(Record { seed, ..Record::default() });
        let mut ordered = Ordered::default();
        let mut seeds = |case| -> Vec<u64> { ordered.push(case, row(case as u64)).iter().map(|r| r.seed).collect() };
        assert_eq!([seeds(2), seeds(0), seeds(1), seeds(4)], [vec![], vec![0], vec![1, 2], vec![]]);
        assert_eq!(ordered.left().map(|r| r.seed).collect::<Vec<_>>(), [4]);
    }
}
