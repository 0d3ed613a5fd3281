//! Cases that run behind the screen's back: a list goes in, events come out, and it can be told to
//! stop.
//!
//! A thread follows the batch and writes its rows as cases end: whatever happens to the screen, the
//! file has them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use swapmeet_results::{Record, Sink};
use swapmeet_runner::batch;
use swapmeet_runner::case::Case;
use swapmeet_runner::worker::Workers;

/// What happens to a batch of cases. Cases are named by their place in the list.
#[derive(Debug)]
pub(crate) enum Event {
    /// A case has begun.
    Started(usize),
    /// A case has come to this step of its schedule.
    Progress(usize, u64, u64),
    /// A case has ended.
    Finished(usize, Box<Record>),
    /// Something to be told.
    Log(String),
    /// No more will come.
    Done,
}

/// Where rows go as they come, shared by all batches of a session.
pub type RowSink = Arc<Mutex<dyn Sink + Send>>;

/// Cases on their way. Dropped, it ends them and waits for rows to be written.
#[derive(Debug)]
pub(crate) struct Batch {
    events: Receiver<Event>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Batch {
    /// Starts to run cases; `rows` gets their rows as they end.
    pub(crate) fn start(cases: Vec<Case>, workers: Workers, rows: Option<RowSink>) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancelled);
        let failed = sender.clone();
        let thread = std::thread::Builder::new().name("cases".to_owned());
        let thread =
            thread.spawn(move || Follower { rows, events: sender }.follow(&cases, &workers, &flag));
        if let Err(error) = &thread {
            // The receiver is right here.
            let _ = failed.send(Event::Log(format!("error: no thread to run cases in: {error}")));
            let _ = failed.send(Event::Done);
        }
        Self { events, cancelled, thread: thread.ok() }
    }

    /// The next event, if there is one already. A thread that is gone is done.
    pub(crate) fn try_next(&self) -> Option<Event> {
        match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Event::Done),
        }
    }

    /// Whether all is done and written.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it: what runs is stopped and gets no row, no more cases begin.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// What the thread needs.
struct Follower {
    rows: Option<RowSink>,
    events: Sender<Event>,
}

impl Follower {
    fn follow(&self, cases: &[Case], workers: &Workers, cancelled: &AtomicBool) {
        /// How long a wish to stop may go unnoticed.
        const SLICE: Duration = Duration::from_millis(50);
        // Who watches compares while repetitions are still to come.
        let batch = match batch::Batch::start_interleaved(cases, workers) {
            Ok(batch) => batch,
            Err(error) => {
                self.report(Event::Log(format!("error: no thread to run cases in: {error}")));
                return self.report(Event::Done);
            }
        };
        while let Some(event) = batch.next_within(SLICE) {
            if cancelled.load(Ordering::Relaxed) {
                batch.cancel();
            }
            match event {
                None => {}
                Some(batch::BatchEvent::Started { cases }) => {
                    cases.into_iter().for_each(|c| self.report(Event::Started(c)))
                }
                Some(batch::BatchEvent::Progress { case, steps, messages }) => {
                    self.report(Event::Progress(case, steps, messages));
                }
                Some(batch::BatchEvent::Log { line }) => self.report(Event::Log(line)),
                // No watch was asked for.
                Some(batch::BatchEvent::Observed { .. }) => {}
                Some(batch::BatchEvent::Finished { case, record }) => {
                    self.write(&record);
                    self.report(Event::Finished(case, record));
                }
            }
        }
        self.report(Event::Done);
    }

    fn write(&self, row: &Record) {
        if let Some(Err(error)) =
            self.rows.as_ref().and_then(|rows| rows.lock().ok()).map(|mut sink| sink.record(row))
        {
            self.report(Event::Log(format!("error: writing rows: {error}")));
        }
    }

    /// Nobody listens any more once the session has ended: rows still go to the file.
    fn report(&self, event: Event) {
        drop(self.events.send(event));
    }
}
