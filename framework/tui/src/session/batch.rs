//! A batch of cases. It runs in the background, reports events and can be cancelled.
//!
//! A separate thread writes each row to the file as soon as its case ends. This thread does not
//! wait for the screen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use swapmeet_results::{Record, Sink};
use swapmeet_runner::batch;
use swapmeet_runner::case::Case;
use swapmeet_runner::worker::Workers;

/// An event of a batch. A case is identified by its index in the batch.
#[derive(Debug)]
pub(crate) enum BatchEvent {
    /// A case has started.
    Started(usize),
    /// A case has made progress. The fields are the index of the case, the number of its steps so
    /// far, and the number of its messages so far.
    Progress(usize, u64, u64),
    /// A case has ended.
    Finished(usize, Box<Record>),
    /// A line for the log.
    Log(String),
    /// The batch has ended.
    Done,
}

/// The sink that receives rows. All batches of a session share it.
pub type RowSink = Arc<Mutex<dyn Sink + Send>>;

/// A running batch. Dropping it cancels its cases, and then waits until all rows are written.
#[derive(Debug)]
pub(crate) struct Batch {
    events: Receiver<BatchEvent>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Batch {
    /// Starts a batch of cases. If `rows` is not `None`, each row is also written to this sink.
    pub(crate) fn start(cases: Vec<Case>, workers: Workers, rows: Option<RowSink>) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancelled);
        let failed = sender.clone();
        let thread = std::thread::Builder::new().name("cases".to_owned());
        let thread =
            thread.spawn(move || BatchThread { rows, events: sender }.run(&cases, &workers, &flag));
        if let Err(error) = &thread {
            // The send cannot fail, because this function still owns the receiver.
            let _ = failed.send(BatchEvent::Log(format!("error: cannot start a thread: {error}")));
            let _ = failed.send(BatchEvent::Done);
        }
        Self { events, cancelled, thread: thread.ok() }
    }

    /// Returns the next pending event. When the thread has ended and no event is pending, returns
    /// [`BatchEvent::Done`].
    pub(crate) fn try_next(&self) -> Option<BatchEvent> {
        match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(BatchEvent::Done),
        }
    }

    /// Returns whether the thread has ended and all rows are written.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Cancels the batch: running cases are aborted without a row, and no more cases start.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the message of the panic has already been reported.
            let _ = thread.join();
        }
    }
}

/// The data that belongs to the thread of the batch.
struct BatchThread {
    rows: Option<RowSink>,
    events: Sender<BatchEvent>,
}

impl BatchThread {
    fn run(&self, cases: &[Case], workers: &Workers, cancelled: &AtomicBool) {
        // Run the first repetition of all cases before any second repetition, so that users can
        // compare algorithms early.
        let batch = match batch::Batch::start_interleaved(cases, workers) {
            Ok(batch) => batch,
            Err(error) => {
                self.report(BatchEvent::Log(format!("error: cannot start a thread: {error}")));
                return self.report(BatchEvent::Done);
            }
        };
        while let Some(event) = batch.next_unless(cancelled) {
            match event {
                None => {}
                Some(batch::BatchEvent::Started { cases }) => {
                    cases.into_iter().for_each(|c| self.report(BatchEvent::Started(c)));
                }
                Some(batch::BatchEvent::Progress { case, steps, messages }) => {
                    self.report(BatchEvent::Progress(case, steps, messages));
                }
                Some(batch::BatchEvent::Log { line }) => self.report(BatchEvent::Log(line)),
                Some(batch::BatchEvent::NoWorker { reason }) => {
                    let why = format!("error: no worker process could be started: {reason}");
                    self.report(BatchEvent::Log(why));
                }
                // This event carries a value of an observer, and this batch has no observer.
                Some(batch::BatchEvent::Observed { .. }) => {}
                Some(batch::BatchEvent::Finished { case, record }) => {
                    self.write(&record);
                    self.report(BatchEvent::Finished(case, record));
                }
            }
        }
        self.report(BatchEvent::Done);
    }

    fn write(&self, row: &Record) {
        if let Some(Err(error)) =
            self.rows.as_ref().and_then(|rows| rows.lock().ok()).map(|mut sink| sink.record(row))
        {
            self.report(BatchEvent::Log(format!("error: writing rows: {error}")));
        }
    }

    /// Reports an event. A failure is ignored: the session may have ended, but the rows must still
    /// be written.
    fn report(&self, event: BatchEvent) {
        drop(self.events.send(event));
    }
}
