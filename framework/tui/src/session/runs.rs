//! Runs of cases. This module prepares, starts and cancels runs, and processes their events,
//! without blocking the screen.

use super::batch::Batch;
pub use super::batch::RowSink;
use super::queue::PreparedRows;
use super::task::{Task, take_ended};
use super::what_if::WhatIf;
use super::{Session, is_failure};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use swapmeet_results::{Record, Status, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::worker::Workers;

pub(crate) struct Runs {
    /// Whether the display is frozen. Events that arrive while it is frozen are stored in
    /// `held_back`.
    pub(crate) frozen: bool,
    held_back: Vec<CaseEvent>,
    has_ended_unseen: bool,
    batch: Option<Batch>,
    preparing: Option<Task<(Purpose, Result<PreparedRows, String>)>>,
    /// Cancelled batches that are still writing rows. The session waits for them only when it ends.
    ending: Vec<Batch>,
    pub(super) workers: Workers,
    rows: Option<RowSink>,
    pub(crate) out: Option<PathBuf>,
    /// Whether the rows on screen are those of an example that the user has not requested.
    pub(crate) is_example: bool,
    /// Whether all rows on screen have been saved to a file other than `out`, or read from files.
    pub(crate) saved: bool,
    pub(crate) saved_as: Option<PathBuf>,
    /// Notes on opened files that have not been shown yet.
    notes: Vec<String>,
    remarks: HashSet<String>,
    some_failed: bool,
    unwritten: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Run the cases. Their rows replace all existing rows.
    Replace,
    /// Run the cases. Their rows are added to the existing rows.
    Add,
    Open,
}

impl Runs {
    pub(super) fn new(workers: Workers, rows: Option<RowSink>, out: Option<PathBuf>) -> Self {
        Self {
            frozen: false,
            held_back: Vec::new(),
            has_ended_unseen: false,
            batch: None,
            preparing: None,
            ending: Vec::new(),
            workers,
            rows,
            out,
            is_example: false,
            saved: false,
            saved_as: None,
            notes: Vec::new(),
            remarks: HashSet::new(),
            some_failed: false,
            unwritten: None,
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.batch.is_some() || self.preparing.is_some()
    }

    pub(crate) fn held_back(&self) -> usize {
        self.held_back.len()
    }

    /// Returns whether any case failed. This includes cases whose events are held back.
    pub(crate) fn some_failed(&self) -> bool {
        let failed = |event: &CaseEvent| matches!(event, CaseEvent::Finished { record, .. } if is_failure(record));
        self.some_failed || self.held_back.iter().any(failed)
    }

    pub(crate) fn unwritten(&self) -> Option<&str> {
        self.unwritten.as_deref()
    }
}

impl Session {
    /// Starts the first cases of the session. Cases that have a record in `found` do not run.
    pub(super) fn begin_with(&mut self, cases: Vec<Case>, found: Vec<Option<Record>>) {
        self.runs.some_failed = found.iter().flatten().any(is_failure);
        let count = found.iter().flatten().count();
        self.begin(PreparedRows::new(cases, Vec::new()).with_found(found));
        if count > 0 {
            self.add_log(
                &format!("{} of an earlier run loaded", units::count(count, "row")),
                false,
            );
        }
    }

    fn begin(&mut self, prepared: PreparedRows) {
        let focused =
            self.focus.and_then(|at| self.queue.rows().get(at)).map(|row| Arc::clone(&row.key));
        self.styles.add(prepared.algorithms().iter().map(String::as_str));
        let new = self.queue.enqueue(prepared, self.now);
        self.focus = focused.and_then(|key| self.queue.index_of(&key));
        self.analysis.is_stale = true;
        if new.is_empty() {
            return self.show_message(
                "nothing to add: all selected cases have rows; R runs them again",
                false,
            );
        }
        let text = format!("{} to run", units::count(new.len(), "case"));
        self.add_log(&text, false);
        self.show_message(&text, false);
        let batch = Batch::start(new, self.runs.workers.clone(), self.runs.rows.clone());
        if let Some(before) = self.runs.batch.replace(batch) {
            before.cancel();
            self.runs.ending.push(before);
        }
    }

    pub(crate) fn run(&mut self) {
        self.prepare(Purpose::Replace);
    }

    pub(crate) fn add(&mut self) {
        if self.queue.is_busy() {
            return self.show_message("cases are running: wait, or cancel them with x", true);
        }
        self.prepare(Purpose::Add);
    }

    fn prepare(&mut self, purpose: Purpose) {
        self.runs.is_example = false;
        let (chosen, registry) = (self.chosen.clone(), Arc::clone(&self.registry));
        let known = if purpose == Purpose::Replace { Vec::new() } else { self.queue.known() };
        self.prepare_with(purpose, move || {
            chosen.cases(&registry).map(|cases| PreparedRows::new(cases, known))
        });
    }

    pub(super) fn open(&mut self, records: Vec<Record>, notes: Vec<String>) {
        self.runs.notes = notes;
        self.runs.some_failed = records.iter().any(is_failure);
        let registry = Arc::clone(&self.registry);
        self.prepare_with(Purpose::Open, move || Ok(PreparedRows::opened(records, &registry)));
    }

    fn prepare_with(
        &mut self,
        purpose: Purpose,
        make: impl FnOnce() -> Result<PreparedRows, String> + Send + 'static,
    ) {
        self.runs.preparing = self.start("preparation", move || (purpose, make()));
    }

    /// If the cases have been prepared, starts them. Returns whether the preparation has ended,
    /// with or without an error.
    pub(super) fn poll_prepared(&mut self) -> bool {
        match take_ended(&mut self.runs.preparing) {
            None => return false,
            Some(Some((Purpose::Replace, Ok(prepared)))) => {
                self.remove_rows();
                self.begin(prepared);
            }
            Some(Some((Purpose::Add, Ok(prepared)))) => self.begin(prepared),
            Some(Some((Purpose::Open, Ok(prepared)))) => {
                let mut text = format!("{} opened", units::count(prepared.len(), "row"));
                self.add_log(&text, false);
                for note in std::mem::take(&mut self.runs.notes) {
                    text += &format!("; {note}");
                    self.add_log(&note, true);
                }
                self.styles.add(prepared.algorithms().iter().map(String::as_str));
                self.queue.enqueue(prepared, self.now);
                (self.analysis.is_stale, self.runs.saved) = (true, true);
                self.show_message(&text, false);
            }
            Some(Some((_, Err(reason)))) => self.show_message(&reason, true),
            Some(None) => self.show_message("the selected cases cannot be prepared", true),
        }
        true
    }

    /// Removes all rows. A separate thread frees their memory, because this takes a long time if
    /// there are many rows.
    fn remove_rows(&mut self) {
        let (queue, held_back) = (self.queue.clear(), std::mem::take(&mut self.runs.held_back));
        (self.focus, self.recording, self.group) = (None, None, 0);
        (self.what_if, self.kept) = (WhatIf::default(), None);
        drop(std::thread::Builder::new().spawn(move || drop((queue, held_back))));
    }

    pub(crate) fn stop(&mut self) {
        match &self.runs.batch {
            Some(batch) if self.queue.is_busy() => {
                batch.cancel();
                self.show_message("cancelling: unfinished cases get no row", false);
            }
            _ => self.show_message("no case is running", false),
        }
    }

    /// Returns whether some cases that the user has requested have not finished.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.runs.batch.is_some() && self.queue.is_busy() && !self.runs.is_example
    }

    /// Processes the events of the batch. Returns whether there were any.
    pub(super) fn poll_events(&mut self) -> bool {
        const AT_ONCE: usize = 20_000;
        let mut news = false;
        for _ in 0..AT_ONCE {
            let Some(batch) = &self.runs.batch else { break };
            match batch.try_next() {
                Some(None) => break,
                Some(Some(event)) if self.runs.frozen => self.runs.held_back.push(event),
                Some(Some(event)) => self.apply(event),
                None => {
                    let over = self.runs.batch.take();
                    self.runs.ending.extend(over);
                    match self.runs.frozen {
                        true => self.runs.has_ended_unseen = true,
                        false => self.report_outcome(),
                    }
                }
            }
            news = true;
        }
        self.runs.ending.retain(|batch| !batch.is_over());
        news
    }

    pub(crate) fn unfreeze(&mut self) {
        self.runs.frozen = false;
        for event in std::mem::take(&mut self.runs.held_back) {
            self.apply(event);
        }
        if std::mem::take(&mut self.runs.has_ended_unseen) {
            self.report_outcome();
        }
    }

    fn apply(&mut self, event: CaseEvent) {
        match &event {
            CaseEvent::Log { line: text } => {
                if text.starts_with("error: writing") && self.runs.unwritten.is_none() {
                    self.runs.unwritten = Some(text.clone());
                    self.show_message(text, true);
                }
                self.add_log(text, true);
            }
            CaseEvent::Finished { record, .. } => {
                self.runs.some_failed |= is_failure(record);
                self.runs.saved = false;
                self.analysis.is_stale = true;
                self.log_remarks(record);
            }
            CaseEvent::NoWorker { reason } => {
                self.add_log(&format!("error: no worker process could be started: {reason}"), true);
            }
            CaseEvent::Started { .. } | CaseEvent::Progress { .. } | CaseEvent::Observed { .. } => {
            }
        }
        self.queue.apply(event, self.now);
    }

    /// Adds the reason and the note of a record to the log, unless the log already contains the
    /// same text. For an unsupported case, the text omits workload and machine, because they are
    /// rarely the reason.
    fn log_remarks(&mut self, record: &Record) {
        let case = match record.status {
            Status::Unsupported => format!("{} on {}", record.algorithm, record.topology),
            _ => self.queue.in_words(record),
        };
        for remark in [&record.reason, &record.note].into_iter().filter(|remark| !remark.is_empty())
        {
            let text = format!("{case}: {remark}");
            if self.runs.remarks.insert(text.clone()) {
                self.add_log(&text, record.status != Status::Ok);
            }
        }
    }

    fn report_outcome(&mut self) {
        // The batch has ended. Cases that are still waiting or running have been cancelled.
        self.queue.stop();
        let tally = self.queue.tally();
        let count =
            |n: usize, word: &str| if n > 0 { format!(", {n} {word}") } else { String::new() };
        let left_out = count(tally.unsupported, "unsupported");
        let (bad, stopped) = (count(tally.failed, "failed"), count(tally.stopped, "stopped"));
        let text =
            format!("done: {} verified{left_out}{bad}{stopped}", units::count(tally.ok, "case"));
        self.show_message(&text, tally.failed > 0);
        self.add_log(&text, tally.failed > 0);
    }
}
