//! The facts of schedules' steps: kept in workers, where plugins run, and sent here to be priced
//! again and again.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use swapmeet_core::cost::ledger::{Ledger, LedgerEvent, LedgerRecorder};
use swapmeet_core::simulation::listener::Listener;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::host::Requested;
use swapmeet_runner::observe::{self, observe};
use swapmeet_runner::worker::{Observer, ObserverKind, SendValue, Workers};

/// Kinds of steps of a schedule that are kept, of some 300 bytes each; one of more is planned again
/// instead.
const MOST_KINDS: usize = 1 << 17;

/// What of a schedule is known without planning it again.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) ledger: Ledger,
    /// What the plan asked for: where that differs, so may the schedule.
    pub(super) asked: Requested,
}

/// The watcher in the worker that keeps a schedule's facts.
pub const FACTS: ObserverKind = ObserverKind {
    name: "facts",
    start: |_, _, say| Ok(Box::new(Keeping { keeper: LedgerRecorder::default(), say })),
};

/// What comes of a schedule, in pieces.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    Kinds(Vec<Vec<u64>>),
    /// What happens, its two figures, and how often in a row.
    Runs(Vec<(What, u64, u64, u64)>),
    /// The last: block size, ports, virtual channels, start-up, time a hop, time a byte.
    Asked([bool; 6]),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum What {
    Step,
    Rearranged,
    Summed,
}

struct Keeping {
    keeper: LedgerRecorder,
    say: SendValue,
}

impl Keeping {
    fn report(&mut self, message: &Message) {
        // Its own figures always have a value.
        if let Ok(value) = serde_json::to_value(message) {
            (self.say)(value);
        }
    }
}

impl Observer for Keeping {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        vec![&mut self.keeper]
    }

    fn ended(&mut self, record: &Record, asked: Requested) {
        /// Of a message.
        const AT_ONCE: usize = 4096;
        let ledger = std::mem::take(&mut self.keeper);
        let ledger = ledger.ledger();
        let kinds: Vec<Vec<u64>> = ledger.kinds().collect();
        if record.status != Status::Ok || kinds.len() > MOST_KINDS {
            return;
        }
        kinds.chunks(AT_ONCE).for_each(|kinds| self.report(&Message::Kinds(kinds.to_vec())));
        let run = |(event, times): &(LedgerEvent, u64)| match *event {
            LedgerEvent::Step(kind) => (What::Step, u64::from(kind), 0, *times),
            LedgerEvent::Rearranged { most, segments } => {
                (What::Rearranged, most, segments, *times)
            }
            LedgerEvent::Summed { most, segments } => (What::Summed, most, segments, *times),
        };
        for runs in ledger.runs().chunks(AT_ONCE) {
            self.report(&Message::Runs(runs.iter().map(run).collect()));
        }
        let Requested { bytes, ports, virtual_channels, startup_us, hop_us, byte_us } = asked;
        self.report(&Message::Asked([bytes, ports, virtual_channels, startup_us, hop_us, byte_us]));
    }
}

impl Facts {
    /// Takes in a piece; `None` if it makes no sense, else whether it was the last.
    fn take(&mut self, value: serde_json::Value) -> Option<bool> {
        match serde_json::from_value(value).ok()? {
            Message::Kinds(kinds) => {
                for figures in kinds {
                    self.ledger.add_kind(&figures).then_some(())?;
                }
            }
            Message::Runs(runs) => {
                for (what, a, b, times) in runs {
                    let event = match what {
                        What::Step => LedgerEvent::Step(u32::try_from(a).ok()?),
                        What::Rearranged => LedgerEvent::Rearranged { most: a, segments: b },
                        What::Summed => LedgerEvent::Summed { most: a, segments: b },
                    };
                    self.ledger.add_run(event, times).then_some(())?;
                }
            }
            Message::Asked([bytes, ports, virtual_channels, startup_us, hop_us, byte_us]) => {
                self.asked =
                    Requested { bytes, ports, virtual_channels, startup_us, hop_us, byte_us };
                return Some(true);
            }
        }
        Some(false)
    }
}

/// Schedules on their way from workers. Dropped, it ends them.
#[derive(Debug)]
pub(super) struct Fetching {
    come: Receiver<(usize, Option<Arc<Facts>>)>,
    stop: Arc<AtomicBool>,
    /// How many are still to come.
    pub(super) open: usize,
}

impl Fetching {
    /// Has workers plan one case a schedule; each comes by its number, with nothing if that is not
    /// to be had.
    pub(super) fn start(cases: Vec<(usize, Case)>, workers: &Workers) -> Self {
        let (sender, come) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (open, jobs) = (cases.len(), workers.jobs.clamp(1, cases.len().max(1)));
        let queue = Arc::new(Mutex::new(VecDeque::from(cases)));
        for _ in 0..jobs {
            let (queue, sender, stop, workers) =
                (Arc::clone(&queue), sender.clone(), Arc::clone(&stop), workers.clone());
            // Fewer threads do it as well; without any, schedules are planned again for each price.
            let _ = std::thread::Builder::new()
                .name("facts".to_owned())
                .spawn(move || fetch(&queue, &sender, &stop, &workers));
        }
        Self { come, stop, open }
    }

    /// One that has come meanwhile.
    pub(super) fn try_next(&mut self) -> Option<(usize, Option<Arc<Facts>>)> {
        let next = self.come.try_recv().ok()?;
        self.open = self.open.saturating_sub(1);
        Some(next)
    }

    /// Whether nobody is left to send anything.
    pub(super) fn is_over(&self) -> bool {
        Arc::strong_count(&self.stop) == 1
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn fetch(
    queue: &Mutex<VecDeque<(usize, Case)>>,
    sender: &Sender<(usize, Option<Arc<Facts>>)>,
    stop: &AtomicBool,
    workers: &Workers,
) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    while let Some((number, case)) = next().filter(|_| !stop.load(Ordering::Relaxed)) {
        let (mut facts, mut is_whole) = (Facts::default(), Some(false));
        let nothing = serde_json::Value::Null;
        observe(std::slice::from_ref(&case), workers, (FACTS.name, nothing), stop, &mut |event| {
            if let (observe::BatchEvent::Observed { value }, Some(false)) = (event, is_whole) {
                is_whole = facts.take(value);
            }
        });
        let facts = (is_whole == Some(true)).then(|| Arc::new(facts));
        // A session that has ended meanwhile wants no facts.
        drop(sender.send((number, facts)));
    }
}
