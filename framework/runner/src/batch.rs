//! Runs many cases in worker processes. A plugin that crashes, hangs or exhausts memory affects
//! only the row of the case that it was running. Cases that share a schedule form a
//! [`group`](mod@crate::plan_group). Each thread of the batch takes groups, or parts of large
//! groups, from a queue and passes them to workers. Rows arrive in the order in which cases end,
//! over a socket that is separate from the output of plugins.

use crate::case::Case;
use crate::dispatch::{Dispatcher, NoWorker};
use crate::event::CaseEvent;
use crate::optimum::Search;
use crate::optimum_columns;
use crate::plan_group::{PlanGroup, jobs, plan_groups};
use crate::worker::Workers;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use swapmeet_results::{Record, Status};

pub use crate::dispatch::DESCRIPTORS_OF_A_JOB;

/// The maximum number of events that have not been received. If rows are written slowly, workers
/// wait.
const MOST_EVENTS: usize = 256;

pub struct Batch {
    events: Receiver<CaseEvent>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Clone)]
struct Shared {
    cases: Arc<[Case]>,
    queue: Arc<Mutex<Queue>>,
    events: SyncSender<CaseEvent>,
    stop: Arc<AtomicBool>,
}

struct Queue {
    groups: VecDeque<Range<usize>>,
    threads: usize,
}

impl Batch {
    /// Starts a batch. Errors if not even one thread can be started.
    pub fn start(cases: impl Into<Arc<[Case]>>, workers: &Workers) -> io::Result<Self> {
        let cases = cases.into();
        let jobs = jobs(plan_groups(&*cases));
        Self::begin(cases, jobs, workers)
    }

    /// Starts a batch with the first repetition of every case, so that early results cover all
    /// cases.
    pub fn start_interleaved(cases: &[Case], workers: &Workers) -> io::Result<Self> {
        let mut jobs = jobs(plan_groups(cases));
        jobs.sort_by_key(|job| cases.get(job.cases.start).map(|case| case.repetition));
        Self::begin(cases.into(), jobs, workers)
    }

    fn begin(cases: Arc<[Case]>, groups: Vec<PlanGroup>, workers: &Workers) -> io::Result<Self> {
        let (sender, events) = sync_channel(MOST_EVENTS);
        let stop = Arc::new(AtomicBool::new(false));
        let groups: VecDeque<Range<usize>> = groups.into_iter().map(|group| group.cases).collect();
        let jobs = workers.jobs.clamp(1, groups.len().max(1));
        let shared = Shared {
            cases,
            queue: Arc::new(Mutex::new(Queue { groups, threads: jobs })),
            events: sender,
            stop: Arc::clone(&stop),
        };
        let mut threads = Vec::new();
        for _ in 0..jobs {
            let (of_thread, workers) = (shared.clone(), workers.clone());
            match std::thread::Builder::new()
                .name("worker".to_owned())
                .spawn(move || of_thread.run(&workers))
            {
                Ok(thread) => threads.push(thread),
                // If there is at least one thread, the batch runs with fewer threads than
                // requested.
                Err(_) if !threads.is_empty() => {
                    shared.queue().threads -= jobs - threads.len();
                    break;
                }
                Err(e) => return Err(e),
            }
        }
        Ok(Self { threads, events, stop })
    }

    /// Returns the next event. Returns `Some(None)` if no event arrives within 100 ms, and `None`
    /// at the end of the batch. If `cancelled` is true, cancels the batch.
    pub fn next_unless(&self, cancelled: &AtomicBool) -> Option<Option<CaseEvent>> {
        /// The maximum time after which a caller notices an interrupt.
        const SLICE: Duration = Duration::from_millis(100);
        if cancelled.load(Ordering::Relaxed) {
            self.cancel();
        }
        match self.events.recv_timeout(SLICE) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Kills the workers and starts no further cases. Events that were sent before can still be
    /// received.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The iterator waits for each event, and ends when the batch ends.
impl Iterator for Batch {
    type Item = CaseEvent;

    fn next(&mut self) -> Option<CaseEvent> {
        self.events.recv().ok()
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
        // Receive the remaining events. Otherwise a thread that sends an event could wait forever.
        self.events.iter().for_each(drop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_group(&self) -> Option<Range<usize>> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mut queue = self.queue();
        let next = queue.groups.pop_front();
        queue.threads -= usize::from(next.is_none());
        next
    }

    fn next_plugins(&self) -> Option<Vec<&Path>> {
        let first = self.queue().groups.front()?.start;
        Some(self.cases[first].plugin_files())
    }

    fn run(&self, workers: &Workers) {
        // A send fails only if the batch was dropped.
        let mut report = |event| drop(self.events.send(event));
        let (cases, stop) = (&*self.cases, &*self.stop);
        let mut dispatcher = Dispatcher::new(workers, cases, None, stop, &mut report);
        while let Some(numbers) = self.next_group() {
            (dispatcher.report)(CaseEvent::Started { cases: numbers.clone() });
            // Search for the optimum before the cases start, because the search must not count
            // towards their time limit.
            let group: Vec<&Case> = cases[numbers.clone()].iter().collect();
            let report = &mut |line| (dispatcher.report)(CaseEvent::Log { line });
            let optima = optimum_columns::of_group(&group, &mut Search { stop, report });
            let optima = match optima {
                Ok(optima) => optima,
                Err(defect) => {
                    numbers.for_each(|n| dispatcher.failed(n, Status::Error, &defect));
                    continue;
                }
            };
            dispatcher.optima = numbers.clone().zip(optima).collect();
            if let Err(NoWorker { open, reason }) =
                dispatcher.run(numbers, self.next_plugins().as_deref())
            {
                return self.give_up(&open, reason);
            }
        }
    }

    /// If no worker can be started, puts the remaining cases back into the queue. The last thread
    /// that gives up ends the batch.
    fn give_up(&self, open: &BTreeSet<usize>, reason: String) {
        let mut queue = self.queue();
        for case in open.iter().rev() {
            match queue.groups.front_mut() {
                Some(group) if group.start == case + 1 && open.contains(&group.start) => {
                    group.start = *case;
                }
                _ => queue.groups.push_front(*case..case + 1),
            }
        }
        queue.threads -= 1;
        let is_last = queue.threads == 0;
        drop(queue);
        if is_last {
            drop(self.events.send(CaseEvent::NoWorker { reason }));
        }
    }
}

/// Gets rows in the order in which cases end, and returns them in the order of the cases.
#[derive(Debug, Default)]
pub struct ReorderBuffer {
    next: usize,
    waiting: BTreeMap<usize, Box<Record>>,
}

impl ReorderBuffer {
    /// Adds the row of a case. Returns all rows that can now be returned in the order of the cases.
    pub fn push(&mut self, case: usize, record: Box<Record>) -> Vec<Record> {
        self.waiting.insert(case, record);
        let mut ready = Vec::new();
        while let Some(record) = self.waiting.remove(&self.next) {
            self.next += 1;
            ready.push(*record);
        }
        ready
    }

    /// Returns the rows that could not be returned because an earlier case has no row, for example
    /// in a cancelled batch. They are in the order of the cases.
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
