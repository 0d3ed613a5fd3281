//! Runs of cases. This module prepares, starts and cancels runs, and processes their events,
//! without blocking the screen.

use super::batch::Batch;
pub use super::batch::RowSink;
use super::chosen::ListKind;
use super::packed::CaseKey;
use super::queue::CaseRow;
use super::queue::PreparedRows;
use super::task::{Task, take_ended};
use super::trial::Trial;
use super::{Session, is_failure};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_core::cost::machine::Machine;
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
    /// Whether the rows on screen were opened from files.
    pub(crate) is_opened: bool,
    /// Whether the cases that are running are those of [`Session::run_fitting`]. Cases that turn out
    /// to be unsupported are then left out.
    fits_only: bool,
    /// Whether all algorithms that fit run after the cases that are running, if that is quick.
    continues: bool,
    /// Whether all rows on screen have been saved to a file other than `out`, or read from files.
    pub(crate) saved: bool,
    pub(crate) saved_as: Option<PathBuf>,
    /// Notes on opened files that have not been shown yet.
    notes: Vec<String>,
    remarks: HashSet<String>,
    some_failed: bool,
    unwritten: Option<String>,
    /// The algorithms that do not support any of the cases for which they were run as fitting.
    unfit: BTreeSet<String>,
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
            is_opened: false,
            fits_only: false,
            continues: false,
            saved: false,
            saved_as: None,
            notes: Vec::new(),
            remarks: HashSet::new(),
            some_failed: false,
            unwritten: None,
            unfit: BTreeSet::new(),
        }
    }

    /// Runs all algorithms that fit after the cases that are running, if that is quick.
    pub(super) fn continue_when_quick(&mut self) {
        self.continues = true;
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
        self.styles.add(prepared.algorithms().iter().map(String::as_str));
        let new = self.queue.enqueue(prepared, self.now);
        self.select_any();
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
        (self.runs.is_example, self.runs.fits_only) = (false, self.chosen.is_all_that_fit());
        let (chosen, registry) = (self.chosen.clone(), Arc::clone(&self.registry));
        let known = if purpose == Purpose::Replace { Vec::new() } else { self.queue.known(true) };
        self.prepare_with(purpose, move || {
            chosen.cases(&registry).map(|cases| PreparedRows::new(cases, known))
        });
    }

    pub(super) fn open(&mut self, records: Vec<Record>, notes: Vec<String>) {
        self.runs.notes = notes;
        self.runs.some_failed = records.iter().any(is_failure);
        let registry = Arc::clone(&self.registry);
        self.prepare_with(Purpose::Open, move || {
            Ok(PreparedRows::opened(records, Vec::new(), &registry))
        });
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
                self.runs.is_opened = false;
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
                self.add_prepared(prepared);
                self.show_message(&text, false);
            }
            Some(Some((_, Err(reason)))) => self.show_message(&reason, true),
            Some(None) => self.show_message("the selected cases cannot be prepared", true),
        }
        true
    }

    /// Adds rows from files.
    pub(super) fn add_prepared(&mut self, prepared: PreparedRows) {
        self.styles.add(prepared.algorithms().iter().map(String::as_str));
        self.queue.enqueue(prepared, self.now);
        self.select_any();
        (self.analysis.is_stale, self.runs.saved, self.runs.is_opened) = (true, true, true);
    }

    /// Removes all rows. A separate thread frees their memory, because this takes a long time if
    /// there are many rows.
    fn remove_rows(&mut self) {
        let (queue, held_back) = (self.queue.clear(), std::mem::take(&mut self.runs.held_back));
        (self.recording, self.kept, self.trial) = (None, None, Trial::default());
        (self.has_selected, self.runs.unfit) = (false, BTreeSet::new());
        if let Some(baseline) = self.next_baseline.take() {
            self.baseline = baseline;
        }
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
            if self.runs.remarks.insert(format!("{case}: {remark}")) {
                self.log.add(self.now, &case, remark, record.status != Status::Ok);
            }
        }
    }

    fn report_outcome(&mut self) {
        // The batch has ended. Cases that are still waiting or running have been cancelled.
        self.queue.stop();
        if std::mem::take(&mut self.runs.fits_only) {
            self.runs.unfit.extend(self.queue.remove_unsupported_of_batch());
        }
        let tally = self.queue.tally();
        let count =
            |n: usize, word: &str| if n > 0 { format!(", {n} {word}") } else { String::new() };
        let left_out = count(tally.unsupported, "unsupported");
        let (bad, stopped) = (count(tally.failed, "failed"), count(tally.stopped, "stopped"));
        let text =
            format!("done: {} verified{left_out}{bad}{stopped}", units::count(tally.ok, "case"));
        self.show_message(&text, tally.failed > 0);
        self.add_log(&text, tally.failed > 0);
        let continues = std::mem::take(&mut self.runs.continues) && self.runs.is_example;
        if continues && tally.stopped == 0 && self.runs.preparing.is_none() {
            self.continue_example();
        }
    }

    /// Runs all algorithms that may fit, if the time of the cases so far predicts that this is quick.
    fn continue_example(&mut self) {
        const MOST: Duration = Duration::from_secs(3);
        let run = self.queue.specs()[0].len().max(1) as u32;
        let quick = self.quick_fitting();
        let took = self.now.saturating_sub(self.queue.began());
        if took / run * quick.len() as u32 <= MOST {
            self.run_algorithms(quick);
            // These cases are part of the example.
            self.runs.is_example = true;
        }
    }

    /// Returns the algorithms that have not been run, although they support the collective of all
    /// chosen workloads. Whether they support the network is known only after they have run.
    pub(crate) fn fitting_algorithms(&self) -> Vec<String> {
        self.chosen.fitting(&self.registry, &self.queue.specs()[0], &self.runs.unfit, false)
    }

    /// Returns those of [`Self::fitting_algorithms`] whose plans do not need a search.
    fn quick_fitting(&self) -> Vec<String> {
        self.chosen.fitting(&self.registry, &self.queue.specs()[0], &self.runs.unfit, true)
    }

    /// Runs all algorithms that may fit and have not been run. The user has requested their rows,
    /// also if those of the example are on the screen.
    pub(crate) fn run_fitting(&mut self) {
        let algorithms = self.fitting_algorithms();
        if algorithms.is_empty() {
            return self.show_message("all algorithms that fit were run", false);
        }
        if self.queue.is_busy() || self.runs.is_active() {
            return self.show_message("cases are running: wait, or cancel them with x", true);
        }
        self.run_algorithms(algorithms);
    }

    /// Chooses algorithms and runs their cases. Those that turn out to be unsupported are left out.
    fn run_algorithms(&mut self, algorithms: Vec<String>) {
        if algorithms.is_empty() {
            return;
        }
        for name in algorithms {
            self.chosen.put(ListKind::Algorithms, name, None);
        }
        self.prepare(Purpose::Add);
        self.runs.fits_only = true;
    }

    /// Runs the failed cases again.
    pub(crate) fn retry(&mut self) {
        if self.queue.is_busy() {
            return self.show_message("cases are running: wait, or cancel them with x", true);
        }
        let cases = self.queue.failed();
        if cases.is_empty() {
            return self.show_message("no case has failed", false);
        }
        self.queue.remove_failed();
        self.add_cases(cases);
    }

    /// Adds cases that the user has requested to the queue, and runs them.
    fn add_cases(&mut self, cases: Vec<Case>) {
        self.runs.is_example = false;
        let known = self.queue.known(true);
        self.prepare_with(Purpose::Add, move || Ok(PreparedRows::new(cases, known)));
    }

    /// Returns whether some rows are of machines that do not charge all algorithms equally, or of
    /// machines that [`Self::switch_charges`] has made of these.
    pub(crate) fn has_unequal_charges(&self) -> bool {
        let is_packed = |row: &CaseRow| row.specs()[3].contains("rearrangement=packed");
        self.compared.lines.iter().any(|line| line.is_uncharged)
            || self.selected_row().is_some_and(|(_, row)| is_packed(row))
    }

    /// Selects the same case on the machine that charges all algorithms equally for rearrangement,
    /// or back. If there are no rows of that machine yet, runs them.
    pub(crate) fn switch_charges(&mut self) {
        const PACKED: (&str, &str) = ("rearrangement", "packed");
        let Some((_, row)) = self.selected_row() else { return };
        let Ok(case) = &row.case else {
            return self.show_message("this row has no case that can run", true);
        };
        let own = Arc::clone(&case.machine);
        // Go back to the machine from which the current one was made.
        let packed = |machine: &Machine| machine.with(&[PACKED]).ok();
        let rows = self.queue.rows();
        let before = rows
            .iter()
            .filter_map(|row| row.case.as_ref().ok())
            .find(|other| other.machine != own && packed(&other.machine).as_ref() == Some(&*own));
        let wanted = match before {
            Some(before) => Arc::clone(&before.machine),
            None => match packed(&own) {
                Some(equal) if equal != *own => Arc::new(equal),
                _ => {
                    return self.show_message("this machine charges all algorithms equally", false);
                }
            },
        };
        let text = format!("machine: {wanted}");
        let on_wanted = |case: &Case| Case { machine: Arc::clone(&wanted), ..case.clone() };
        let selected = CaseKey::new(on_wanted(case).id());
        let cases: Vec<Case> = rows
            .iter()
            .filter_map(|row| row.case.as_ref().ok())
            .filter(|case| case.machine == own)
            .map(on_wanted)
            .collect();
        if self.queue.index_of(&selected).is_none() {
            if self.queue.is_busy() {
                return self.show_message("cases are running: wait, or cancel them with x", true);
            }
            self.add_cases(cases);
        }
        self.selected = Some(selected);
        self.show_message(&text, false);
    }
}
