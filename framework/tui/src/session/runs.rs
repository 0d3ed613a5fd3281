//! Runs of cases, which are prepared, started and cancelled without blocking the screen.

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

#[derive(Default)]
pub(crate) struct Runs {
    /// Whether the display is frozen. Events then wait in the channel of the batch.
    pub(crate) frozen: bool,
    batch: Option<Batch>,
    preparing: Option<Task<(Purpose, Result<PreparedRows, String>)>>,
    /// Cancelled batches that still write rows.
    ending: Vec<Batch>,
    rows: Option<RowSink>,
    pub(crate) out: Option<PathBuf>,
    /// Whether the rows are those of an example that the user has not requested.
    pub(crate) is_example: bool,
    /// Whether the rows were opened from files.
    pub(crate) is_opened: bool,
    /// Whether unsupported cases of the batch are left out, because its algorithms are all that may
    /// fit.
    fits_only: bool,
    /// Whether all algorithms that fit run next, if that is quick.
    pub(super) continues: bool,
    /// Whether the rows are in a file other than `out`.
    pub(crate) saved: bool,
    pub(crate) saved_as: Option<PathBuf>,
    /// Notes on opened files, until they are shown.
    notes: Vec<String>,
    remarks: HashSet<String>,
    pub(crate) some_failed: bool,
    pub(crate) unwritten: Option<String>,
    /// The algorithms that support none of the cases for which they were run.
    unfit: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Run the cases, whose rows replace existing ones.
    Replace,
    /// Run the cases, whose rows are added.
    Add,
    Open,
}

impl Runs {
    pub(super) fn new(rows: Option<RowSink>, out: Option<PathBuf>) -> Self {
        Self { rows, out, ..Self::default() }
    }

    pub(super) fn is_active(&self) -> bool {
        (self.batch.is_some() && !self.frozen) || self.preparing.is_some()
    }
}

impl Session {
    pub(super) fn begin_with(&mut self, cases: Vec<Case>, found: Vec<Option<Record>>) {
        self.runs.some_failed = found.iter().flatten().any(is_failure);
        let count = found.iter().flatten().count();
        self.begin(PreparedRows::new(cases, found, Vec::new()));
        if count > 0 {
            let rows = units::count(count, "row");
            self.add_log(&format!("{rows} of an earlier run loaded"), false);
        }
    }

    fn begin(&mut self, prepared: PreparedRows) {
        let new = self.enqueue(prepared);
        if new.is_empty() {
            let text = "nothing to add: all selected cases have rows; R runs them again";
            return self.show_message(text, false);
        }
        self.report(&format!("{} to run", units::count(new.len(), "case")), false);
        let batch = Batch::start(new, self.workers.clone(), self.runs.rows.clone());
        if let Some(before) = self.runs.batch.replace(batch) {
            before.cancel();
            self.runs.ending.push(before);
        }
    }

    pub(crate) fn run(&mut self) {
        self.prepare(Purpose::Replace);
    }

    pub(crate) fn add(&mut self) {
        if !self.refuses_cases() {
            self.prepare(Purpose::Add);
        }
    }

    fn prepare(&mut self, purpose: Purpose) {
        (self.runs.is_example, self.runs.fits_only) = (false, self.chosen.is_all_that_fit());
        let (chosen, registry) = (self.chosen.clone(), Arc::clone(&self.registry));
        let known = if purpose == Purpose::Replace { Vec::new() } else { self.queue.known(true) };
        self.prepare_with(purpose, move || {
            chosen.cases(&registry).map(|cases| PreparedRows::new(cases, Vec::new(), known))
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

    /// Starts prepared cases. Returns whether a preparation has ended.
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

    pub(super) fn add_prepared(&mut self, prepared: PreparedRows) {
        self.enqueue(prepared);
        (self.runs.saved, self.runs.is_opened) = (true, true);
    }

    /// Adds rows to the queue. Returns the cases to run.
    fn enqueue(&mut self, prepared: PreparedRows) -> Vec<Case> {
        self.styles.add(prepared.algorithms().iter().map(String::as_str));
        let new = self.queue.enqueue(prepared, self.now);
        self.select_any();
        self.analysis.is_stale = true;
        new
    }

    /// Removes all rows. Freeing many of them takes long.
    fn remove_rows(&mut self) {
        let queue = self.queue.clear();
        (self.recording, self.kept, self.trial) = (None, None, Trial::default());
        (self.has_selected, self.runs.unfit) = (false, BTreeSet::new());
        if let Some(baseline) = self.next_baseline.take() {
            self.baseline = baseline;
        }
        drop(std::thread::Builder::new().spawn(move || drop(queue)));
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

    pub(super) fn poll_events(&mut self) -> bool {
        const AT_ONCE: usize = 20_000;
        let mut news = false;
        for _ in 0..AT_ONCE {
            let Some(batch) = self.runs.batch.as_ref().filter(|_| !self.runs.frozen) else { break };
            match batch.try_next() {
                Some(None) => break,
                Some(Some(event)) => self.apply(event),
                None => {
                    let over = self.runs.batch.take();
                    self.runs.ending.extend(over);
                    self.report_outcome();
                }
            }
            news = true;
        }
        self.runs.ending.retain(|batch| !batch.is_over());
        news
    }

    pub(crate) fn unfreeze(&mut self) {
        self.runs.frozen = false;
        // All events count for the exit status.
        while self.poll_events() {}
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
            _ => {}
        }
        self.queue.apply(event, self.now);
    }

    /// Adds the reason and the note of a record to the log, unless it has them. Workload and
    /// machine are rarely the reason for an unsupported case.
    fn log_remarks(&mut self, record: &Record) {
        let case = match record.status {
            Status::Unsupported => format!("{} on {}", record.algorithm, record.topology),
            _ => self.queue.in_words(record),
        };
        let remarks = [&record.reason, &record.note].into_iter();
        for remark in remarks.filter(|remark| !remark.is_empty()) {
            if self.runs.remarks.insert(format!("{case}: {remark}")) {
                self.log.add(self.now, &case, remark, record.status != Status::Ok);
            }
        }
    }

    fn report_outcome(&mut self) {
        // Cases without a row have been cancelled.
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
        self.report(&text, tally.failed > 0);
        let continues = std::mem::take(&mut self.runs.continues) && self.runs.is_example;
        if continues && tally.stopped == 0 && self.runs.preparing.is_none() {
            self.continue_example();
        }
    }

    /// Runs all algorithms that may fit, if the time so far predicts that this is quick.
    fn continue_example(&mut self) {
        const MOST: Duration = Duration::from_secs(3);
        let run = self.queue.specs()[0].len().max(1) as u32;
        let quick = self.fitting(true);
        let took = self.now.saturating_sub(self.queue.began());
        if took / run * quick.len() as u32 <= MOST {
            self.run_algorithms(quick);
            self.runs.is_example = true;
        }
    }

    /// Returns the algorithms that have not been run, although they support the collective of all
    /// chosen workloads. Whether they support the network shows when they run.
    pub(crate) fn fitting_algorithms(&self) -> Vec<String> {
        self.fitting(false)
    }

    fn fitting(&self, quick: bool) -> Vec<String> {
        self.chosen.fitting(&self.registry, &self.queue.specs()[0], &self.runs.unfit, quick)
    }

    /// Returns whether cases run, so that no others can start, and reports it.
    fn refuses_cases(&mut self) -> bool {
        let is_busy = self.queue.is_busy() || self.runs.preparing.is_some();
        if is_busy {
            self.show_message("cases are running: wait, or cancel them with x", true);
        }
        is_busy
    }

    /// Runs all algorithms that may fit and have not been run.
    pub(crate) fn run_fitting(&mut self) {
        let algorithms = self.fitting_algorithms();
        if algorithms.is_empty() {
            return self.show_message("all algorithms that fit were run", false);
        }
        if !self.refuses_cases() {
            self.run_algorithms(algorithms);
        }
    }

    /// Chooses algorithms and runs their cases, without those that turn out to be unsupported.
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

    pub(crate) fn retry(&mut self) {
        if self.refuses_cases() {
            return;
        }
        let cases = self.queue.failed();
        if cases.is_empty() {
            return self.show_message("no case has failed", false);
        }
        self.queue.remove_failed();
        self.add_cases(cases);
    }

    fn add_cases(&mut self, cases: Vec<Case>) {
        self.runs.is_example = false;
        let known = self.queue.known(true);
        self.prepare_with(Purpose::Add, move || Ok(PreparedRows::new(cases, Vec::new(), known)));
    }

    /// Returns whether some rows are of machines with unequal charges, or of those that
    /// [`Self::switch_charges`] has made of these.
    pub(crate) fn has_unequal_charges(&self) -> bool {
        let is_packed = |row: &CaseRow| row.specs()[3].contains("rearrangement=packed");
        self.compared.lines.iter().any(|line| line.is_uncharged)
            || self.selected_row().is_some_and(|(_, row)| is_packed(row))
    }

    /// Selects the same case on the machine that charges all algorithms equally, or back. Cases
    /// without rows are run.
    pub(crate) fn switch_charges(&mut self) {
        const PACKED: (&str, &str) = ("rearrangement", "packed");
        let Some((_, row)) = self.selected_row() else { return };
        let Ok(case) = &row.case else {
            return self.show_message("this row has no case that can run", true);
        };
        let own = Arc::clone(&case.machine);
        // The machine from which the current one was made.
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
            if self.refuses_cases() {
                return;
            }
            self.add_cases(cases);
        }
        self.selected = Some(selected);
        self.show_message(&text, false);
    }
}
