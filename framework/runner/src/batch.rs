//! Runs many cases in worker processes: a plugin that crashes, hangs, eats memory or closes what it
//! shouldn't costs its own row, never the session.
//!
//! Cases that share a schedule are one [`unit`](mod@crate::unit) of work. A thread a job takes
//! units from a queue and gets their rows from workers, children of the same program; rows come
//! over a socket of their own, so that whatever a plugin prints can't be mistaken for one.
//!
//! Whoever started a batch hears of it by [`BatchEvent`]s. Rows come as cases end; [`ReorderBuffer`] puts them
//! in the order of cases again.

use crate::case::Case;
use crate::dispatch::Dispatcher;
use crate::unit::{Unit, units};
use crate::worker::Workers;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use swapmeet_results::Record;

pub use crate::dispatch::BatchEvent;

/// Cases on their way to rows.
pub struct Batch {
    events: Receiver<BatchEvent>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of a batch share.
#[derive(Clone)]
struct Shared {
    cases: Arc<[Case]>,
    queue: Arc<Mutex<VecDeque<Unit>>>,
    events: Sender<BatchEvent>,
    stop: Arc<AtomicBool>,
}

impl Batch {
    /// Begins to run the cases. An error is that there is not even one thread to run them in.
    pub fn start(cases: &[Case], workers: &Workers) -> io::Result<Self> {
        Self::begin(cases, units(cases), workers)
    }

    /// The same with the first repetition of all before the second of any, so that what has come at
    /// any time is fair to all.
    pub fn start_interleaved(cases: &[Case], workers: &Workers) -> io::Result<Self> {
        let mut units = units(cases);
        // A stable sort: equals stay in order.
        units.sort_by_key(|unit| cases.get(unit.cases.start).map(|case| case.repetition));
        Self::begin(cases, units, workers)
    }

    fn begin(cases: &[Case], units: Vec<Unit>, workers: &Workers) -> io::Result<Self> {
        let (sender, events) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let queue: VecDeque<Unit> = units.into();
        let jobs = workers.jobs.clamp(1, queue.len().max(1));
        let shared = Shared {
            cases: cases.into(),
            queue: Arc::new(Mutex::new(queue)),
            events: sender,
            stop: Arc::clone(&stop),
        };
        let mut threads = Vec::new();
        for _ in 0..jobs {
            let (shared, workers) = (shared.clone(), workers.clone());
            match std::thread::Builder::new()
                .name("worker".to_owned())
                .spawn(move || shared.run(&workers))
            {
                Ok(thread) => threads.push(thread),
                // Fewer do it as well.
                Err(_) if !threads.is_empty() => break,
                Err(e) => return Err(e),
            }
        }
        Ok(Self { threads, events, stop })
    }

    /// The next event, if one comes within `wait`; `None` in the first place when no more will
    /// come.
    pub fn next_within(&self, wait: Duration) -> Option<Option<BatchEvent>> {
        match self.events.recv_timeout(wait) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Ends it: workers are killed, no case begins any more. Events that are there already can
    /// still be taken.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Waits for events until the batch is done.
impl Iterator for Batch {
    type Item = BatchEvent;

    fn next(&mut self) -> Option<BatchEvent> {
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

    /// The plugin that the next unit wants, if there is one.
    fn next_plugin(&self) -> Option<&Path> {
        let first = self.queue.lock().unwrap_or_else(PoisonError::into_inner).front()?.cases.start;
        Some(&self.cases[first].algorithm.algorithm.file)
    }

    fn run(&self, workers: &Workers) {
        // Nobody listening any more is no reason to stop: a batch that is dropped stops itself.
        let mut report = |event| drop(self.events.send(event));
        let (cases, stop) = (&*self.cases, &*self.stop);
        let mut dispatcher = Dispatcher {
            workers,
            cases,
            observation: None,
            stop,
            report: &mut report,
            idle: Vec::new(),
            spare: None,
        };
        while let Some(unit) = self.next_unit() {
            let numbers: Vec<usize> = unit.cases.collect();
            (dispatcher.report)(BatchEvent::Started { cases: numbers.clone() });
            dispatcher.run(&numbers, self.next_plugin());
        }
    }
}

/// Puts rows in the order of cases again.
#[derive(Debug, Default)]
pub struct ReorderBuffer {
    next: usize,
    waiting: BTreeMap<usize, Box<Record>>,
}

impl ReorderBuffer {
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
        let mut ordered = ReorderBuffer::default();
        let mut seeds = |case| -> Vec<u64> {
            ordered.push(case, row(case as u64)).iter().map(|r| r.seed).collect()
        };
        assert_eq!([seeds(2), seeds(0), seeds(1), seeds(4)], [vec![], vec![0], vec![1, 2], vec![]]);
        assert_eq!(ordered.left().map(|r| r.seed).collect::<Vec<_>>(), [4]);
    }
}
