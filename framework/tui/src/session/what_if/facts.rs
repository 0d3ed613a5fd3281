//! The facts of a schedule. They are the properties of its steps from which a model computes times.
//! A worker collects them. With these facts, the dashboard computes times on another machine
//! without planning the schedule again.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use swapmeet_core::cost::ledger::{Ledger, LedgerEvent, LedgerRecorder};
use swapmeet_core::simulation::listener::Listener;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::dispatch::observe;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::host::Requested;
use swapmeet_runner::max_bytes;
use swapmeet_runner::worker::{Observer, ObserverKind, SendValue, Workers};

/// The maximum number of different steps in the facts of a schedule. Each of them takes about 300
/// bytes. A schedule with more different steps is planned again instead.
const MOST_KINDS: usize = 1 << 17;

#[derive(Debug, Default)]
pub(super) struct ScheduleFacts {
    pub(super) ledger: Ledger,
    /// The machine parameters and sizes that the algorithm requested for its plan. If one of these
    /// changes, the schedule may change.
    pub(super) requested: Requested,
}

pub const FACTS: ObserverKind = ObserverKind {
    name: "facts",
    max_value_bytes: max_bytes::FACTS,
    start: |_, _, send| Ok(Box::new(FactsWatcher { keeper: LedgerRecorder::default(), send })),
};

#[derive(Debug, Serialize, Deserialize)]
enum FactsMessage {
    Kinds(Vec<Vec<u64>>),
    /// Runs of equal events. Each run consists of the kind of the event, its two values, and the
    /// number of repetitions.
    Runs(Vec<(LedgerEventKind, u64, u64, u64)>),
    /// The last message: the machine parameters and sizes that the algorithm requested.
    Requested(Requested),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum LedgerEventKind {
    Step,
    Rearranged,
    Summed,
}

struct FactsWatcher {
    keeper: LedgerRecorder,
    send: SendValue,
}

impl FactsWatcher {
    fn report(&mut self, message: &FactsMessage) {
        // Serializing numbers cannot fail.
        if let Ok(value) = serde_json::to_value(message) {
            (self.send)(value);
        }
    }
}

impl Observer for FactsWatcher {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        vec![&mut self.keeper]
    }

    fn ended(&mut self, record: &Record, requested: Requested) {
        const AT_ONCE: usize = 4096;
        let ledger = std::mem::take(&mut self.keeper);
        let ledger = ledger.ledger();
        let kinds: Vec<Vec<u64>> = ledger.kinds().collect();
        if record.status != Status::Ok || kinds.len() > MOST_KINDS {
            return;
        }
        kinds.chunks(AT_ONCE).for_each(|kinds| self.report(&FactsMessage::Kinds(kinds.to_vec())));
        let run = |(event, times): &(LedgerEvent, u64)| match *event {
            LedgerEvent::Step(kind) => (LedgerEventKind::Step, u64::from(kind), 0, *times),
            LedgerEvent::Rearranged { most, segments } => {
                (LedgerEventKind::Rearranged, most, segments, *times)
            }
            LedgerEvent::Summed { most, segments } => {
                (LedgerEventKind::Summed, most, segments, *times)
            }
        };
        for runs in ledger.runs().chunks(AT_ONCE) {
            self.report(&FactsMessage::Runs(runs.iter().map(run).collect()));
        }
        self.report(&FactsMessage::Requested(requested));
    }
}

impl ScheduleFacts {
    /// Adds the facts of a message. Returns whether it was the last message, or `None` if the
    /// message is invalid.
    fn take(&mut self, value: serde_json::Value) -> Option<bool> {
        match serde_json::from_value(value).ok()? {
            FactsMessage::Kinds(kinds) => {
                for numbers in kinds {
                    self.ledger.add_kind(&numbers).then_some(())?;
                }
            }
            FactsMessage::Runs(runs) => {
                for (what, a, b, times) in runs {
                    let event = match what {
                        LedgerEventKind::Step => LedgerEvent::Step(u32::try_from(a).ok()?),
                        LedgerEventKind::Rearranged => {
                            LedgerEvent::Rearranged { most: a, segments: b }
                        }
                        LedgerEventKind::Summed => LedgerEvent::Summed { most: a, segments: b },
                    };
                    self.ledger.add_run(event, times).then_some(())?;
                }
            }
            FactsMessage::Requested(requested) => {
                self.requested = requested;
                return Some(true);
            }
        }
        Some(false)
    }
}

/// Threads, each with its own worker process, that collect the facts of schedules. Dropping this
/// value stops the threads.
#[derive(Debug)]
pub(super) struct FactsWorkers {
    results: Receiver<(usize, Option<Arc<ScheduleFacts>>)>,
    stop: Arc<AtomicBool>,
    /// The number of schedules whose facts have not arrived yet.
    pub(super) open: usize,
}

impl FactsWorkers {
    /// Starts workers that plan the given cases. Each case has a number, and its result arrives
    /// with this number. The result is `None` if the facts are not available.
    pub(super) fn start(cases: Vec<(usize, Case)>, workers: &Workers) -> Self {
        let (sender, results) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (open, jobs) = (cases.len(), workers.jobs.clamp(1, cases.len().max(1)));
        let queue = Arc::new(Mutex::new(VecDeque::from(cases)));
        for _ in 0..jobs {
            let (queue, sender, stop, workers) =
                (Arc::clone(&queue), sender.clone(), Arc::clone(&stop), workers.clone());
            // If a thread cannot be started, the remaining threads do its work. If none can be
            // started, there are no facts, and all cases are planned again after each change.
            let _ = std::thread::Builder::new()
                .name("facts".to_owned())
                .spawn(move || fetch(&queue, &sender, &stop, &workers));
        }
        Self { results, stop, open }
    }

    /// Returns the next result, if there is one: the number of a case, and the facts of its
    /// schedule.
    pub(super) fn try_next(&mut self) -> Option<(usize, Option<Arc<ScheduleFacts>>)> {
        let next = self.results.try_recv().ok()?;
        self.open = self.open.saturating_sub(1);
        Some(next)
    }

    pub(super) fn is_over(&self) -> bool {
        Arc::strong_count(&self.stop) == 1
    }
}

impl Drop for FactsWorkers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn fetch(
    queue: &Mutex<VecDeque<(usize, Case)>>,
    sender: &Sender<(usize, Option<Arc<ScheduleFacts>>)>,
    stop: &AtomicBool,
    workers: &Workers,
) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    while let Some((number, case)) = next().filter(|_| !stop.load(Ordering::Relaxed)) {
        let (mut facts, mut is_whole) = (ScheduleFacts::default(), Some(false));
        let nothing = serde_json::Value::Null;
        observe(std::slice::from_ref(&case), workers, (&FACTS, nothing), stop, &mut |event| {
            if let (CaseEvent::Observed { value }, Some(false)) = (event, is_whole) {
                is_whole = facts.take(value);
            }
        });
        let facts = (is_whole == Some(true)).then(|| Arc::new(facts));
        // Ignore a failed send. It means that the session has ended and the receiver no longer
        // exists.
        drop(sender.send((number, facts)));
    }
}
