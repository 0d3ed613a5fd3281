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
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::worker::Workers;

/// The sink that receives rows. All batches of a session share it.
pub type RowSink = Arc<Mutex<dyn Sink + Send>>;

/// A running batch. Dropping it cancels its cases, and then waits until all rows are written.
#[derive(Debug)]
pub(crate) struct Batch {
    events: Receiver<CaseEvent>,
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
            let line = format!("error: cannot start a thread: {error}");
            let _ = failed.send(CaseEvent::Log { line });
        }
        Self { events, cancelled, thread: thread.ok() }
    }

    /// Returns `Some(Some(event))` for the next pending event, `Some(None)` if no event is pending,
    /// and `None` if the thread has ended and no event is pending.
    pub(crate) fn try_next(&self) -> Option<Option<CaseEvent>> {
        match self.events.try_recv() {
            Ok(event) => Some(Some(event)),
            Err(TryRecvError::Empty) => Some(None),
            Err(TryRecvError::Disconnected) => None,
        }
    }

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

struct BatchThread {
    rows: Option<RowSink>,
    events: Sender<CaseEvent>,
}

impl BatchThread {
    fn run(&self, cases: &[Case], workers: &Workers, cancelled: &AtomicBool) {
        // Run the first repetition of all cases before any second repetition, so that users can
        // compare algorithms early.
        let batch = match batch::Batch::start_interleaved(cases, workers) {
            Ok(batch) => batch,
            Err(error) => return self.log(format!("error: cannot start a thread: {error}")),
        };
        while let Some(event) = batch.next_unless(cancelled) {
            let Some(event) = event else { continue };
            if let CaseEvent::Finished { record, .. } = &event {
                self.write(record);
            }
            self.report(event);
        }
    }

    fn write(&self, row: &Record) {
        if let Some(Err(error)) =
            self.rows.as_ref().and_then(|rows| rows.lock().ok()).map(|mut sink| sink.record(row))
        {
            self.log(format!("error: writing rows: {error}"));
        }
    }

    fn log(&self, line: String) {
        self.report(CaseEvent::Log { line });
    }

    /// Reports an event. A failure is ignored: the session may have ended, but the rows must still
    /// be written.
    fn report(&self, event: CaseEvent) {
        drop(self.events.send(event));
    }
}
