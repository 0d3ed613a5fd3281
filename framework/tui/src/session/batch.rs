//! A batch of cases. It runs in a separate thread, reports events and can be cancelled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use swapmeet_results::Sink;
use swapmeet_runner::batch;
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::worker::Workers;

/// The sink of rows, which all batches share.
pub type RowSink = Arc<Mutex<dyn Sink + Send>>;

/// A running batch. Dropping it cancels its cases and waits until all rows are written.
#[derive(Debug)]
pub(crate) struct Batch {
    events: Receiver<CaseEvent>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Batch {
    /// Starts a batch, whose rows are also written to a sink.
    pub(crate) fn start(cases: Vec<Case>, workers: Workers, rows: Option<RowSink>) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancelled);
        let failed = sender.clone();
        let thread = std::thread::Builder::new().name("cases".to_owned());
        let thread = thread.spawn(move || run(&cases, &workers, rows.as_ref(), &flag, &sender));
        if let Err(error) = &thread {
            let line = format!("error: cannot start a thread: {error}");
            drop(failed.send(CaseEvent::Log { line }));
        }
        Self { events, cancelled, thread: thread.ok() }
    }

    /// Returns the next event, `Some(None)` if none is pending, or `None` at the end.
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

    /// Cancels the batch: running cases get no row, and no more cases start.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
        if let Some(thread) = self.thread.take() {
            // The message of a panic has already been reported.
            let _ = thread.join();
        }
    }
}

/// Runs cases, and writes and reports each row as soon as its case ends. Reports may fail: the session
/// may have ended, but the rows must still be written.
fn run(
    cases: &[Case],
    workers: &Workers,
    rows: Option<&RowSink>,
    cancelled: &AtomicBool,
    events: &Sender<CaseEvent>,
) {
    let report = |event| drop(events.send(event));
    // Users can compare algorithms early if first repetitions run first.
    let batch = match batch::Batch::start_interleaved(cases, workers) {
        Ok(batch) => batch,
        Err(error) => {
            let line = format!("error: cannot start a thread: {error}");
            return report(CaseEvent::Log { line });
        }
    };
    while let Some(event) = batch.next_unless(cancelled) {
        let Some(event) = event else { continue };
        if let CaseEvent::Finished { record, .. } = &event
            && let Some(mut rows) = rows.and_then(|rows| rows.lock().ok())
            && let Err(error) = rows.record(record)
        {
            report(CaseEvent::Log { line: format!("error: writing rows: {error}") });
        }
        report(event);
    }
}
