//! The state of a session: the selection of cases, the cases with their rows, and the analysis of
//! these rows.

mod analysis;
mod answer;
pub(crate) mod batch;
pub(crate) mod chosen;
pub(crate) mod comparison;
pub(crate) mod files;
mod follow;
mod log;
pub(crate) mod packed;
pub(crate) mod queue;
pub(crate) mod recording;
mod request;
mod runs;
pub(crate) mod suggestions;
mod task;
pub(crate) mod trial;
mod undo;

use crate::filter::Filter;
use analysis::Analysis;
pub(crate) use answer::with_others;
use chosen::Chosen;
use comparison::Compared;
use comparison::Line;
use files::OutputFile;
pub use files::{RenderKind, RenderRequest, RenderRows};
use follow::Follow;
use log::Log;
pub(crate) use log::LogLine;
use packed::CaseKey;
use queue::{CaseRow, Queue};
use recording::{ALL_RANKS, FrameSelection, RecordRequest, Recording};
pub(crate) use request::{Request, Requests};
pub use runs::RowSink;
use runs::Runs;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use suggestions::ExperimentFile;
use swapmeet_results::{AlgorithmStyles, CaseId, Record, Setting, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::worker::Workers;
use task::{Task, take_ended};
use trial::Trial;
use undo::Undo;

pub struct Setup {
    pub registry: Registry,
    /// The directories of `--plugin-dir`, which the command that repeats a case needs.
    pub plugin_dirs: Vec<PathBuf>,
    pub experiment: Experiment,
    /// The cases that run when the session starts.
    pub cases: Vec<Case>,
    /// For each case, the row of an earlier run, if there is one. Empty if there are no such rows.
    pub found: Vec<Option<Record>>,
    /// Rows from result files, whose cases do not run.
    pub opened: Vec<Record>,
    /// Whether the cases are an example that the user has not requested, so that its rows need not
    /// be saved.
    pub is_example: bool,
    /// The machine that applies because the user has named none.
    pub default_machine: Option<String>,
    /// Result files that other runs still write.
    pub follow: Vec<PathBuf>,
    /// Notes on the files of `opened`, for the log.
    pub notes: Vec<String>,
    pub render: RenderRows,
    pub workers: Workers,
    /// The sink of rows, each of which is written when its case ends.
    pub rows: Option<RowSink>,
    /// The file of `rows`, which must not be overwritten.
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

pub(crate) struct Session {
    pub(crate) registry: Arc<Registry>,
    pub(crate) plugin_dirs: Vec<PathBuf>,
    /// The plugin, title and paper of each algorithm, in lower case.
    pub(crate) abouts: BTreeMap<String, String>,
    pub(crate) chosen: Chosen,
    pub(crate) queue: Queue,
    /// The selected case, which all views follow. Sorting, filters, new rows and sliders do not
    /// change it.
    pub(crate) selected: Option<CaseKey>,
    has_selected: bool,
    /// The case that is selected as soon as it is in the queue.
    wanted: Option<CaseKey>,
    pub(crate) default_machine: Option<String>,
    pub(crate) baseline: Option<String>,
    /// The baseline of the study that was selected last, until its cases run.
    next_baseline: Option<Option<String>>,
    pub(crate) compared: Compared,
    pub(crate) styles: AlgorithmStyles,
    pub(crate) trial: Trial,
    /// The schedule of the selected case, as far as it is simulated.
    pub(crate) recording: Option<Recording>,
    /// The schedule that the user keeps for comparison.
    pub(crate) kept: Option<Recording>,
    pub(crate) log: Log,
    pub(crate) now: Duration,
    pub(crate) message: Option<Message>,
    pub(crate) runs: Runs,
    workers: Workers,
    pub(crate) render: RenderRows,
    /// The titles of the columns of values in the table; empty for all.
    pub(crate) columns: Vec<String>,
    follow: Follow,
    writing: Option<Task<Result<String, String>>>,
    /// The result of the last figure or report, until the input of its name has ended.
    pub(crate) written: Option<Result<(), String>>,
    analysis: Analysis,
    undo: Undo,
}

impl Session {
    pub(crate) fn new(setup: Setup, columns: Vec<String>) -> Self {
        let mut session = Self {
            chosen: Chosen::new(setup.experiment.clone(), &setup.registry),
            plugin_dirs: setup.plugin_dirs,
            abouts: setup
                .registry
                .algorithms()
                .map(|a| (a.name.clone(), suggestions::about(a).to_lowercase()))
                .collect(),
            queue: Queue::default(),
            selected: None,
            has_selected: false,
            wanted: None,
            baseline: setup.experiment.baseline.as_ref().map(|b| b.value.clone()),
            next_baseline: None,
            default_machine: setup.default_machine,
            compared: Compared::default(),
            styles: AlgorithmStyles::default(),
            trial: Trial::default(),
            recording: None,
            kept: None,
            log: Log::default(),
            now: Duration::ZERO,
            message: None,
            runs: Runs::new(setup.rows, setup.out),
            workers: setup.workers,
            render: setup.render,
            columns,
            follow: Follow::new(setup.follow),
            writing: None,
            written: None,
            analysis: Analysis::default(),
            undo: Undo::default(),
            registry: Arc::new(setup.registry),
        };
        session.record_change();
        for line in session.registry.log().to_vec() {
            session.add_log(&line, true);
        }
        if session.registry.plugins().is_empty() {
            session.add_log("no plugins found: see `swapmeet list plugins`", true);
        }
        if !setup.opened.is_empty() {
            session.open(setup.opened, setup.notes);
        } else if !setup.cases.is_empty() {
            session.begin_with(setup.cases, setup.found);
            if setup.is_example {
                session.runs.is_example = true;
                session.runs.continues = true;
                let text = "an example: 1 chooses your own collective, network and sizes";
                session.show_message(text, false);
            }
        }
        session
    }

    pub(crate) fn tick(&mut self, now: Duration) -> bool {
        if !self.runs.frozen {
            self.now = now;
        }
        let news =
            self.poll_prepared() | self.poll_events() | self.poll_written() | self.poll_trial();
        let news = news | self.poll_follow();
        let schedules = self.recording.iter_mut().chain(&mut self.kept);
        let news = schedules.fold(news, |news, schedule| schedule.poll() | news);
        news | self.poll_analysis()
    }

    /// Returns whether work is in progress or the analysis has to start.
    pub(crate) fn expects_events(&self) -> bool {
        self.is_animated()
            || self.writing.is_some()
            || self.trial.awaits_results()
            || self.analysis.is_due()
    }

    pub(crate) fn is_animated(&self) -> bool {
        self.runs.is_active() || self.recording.iter().chain(&self.kept).any(Recording::is_growing)
    }

    pub(crate) fn selected_row(&self) -> Option<(usize, &CaseRow)> {
        let index = self.queue.index_of(self.selected.as_ref()?)?;
        Some((index, &self.queue.rows()[index]))
    }

    /// Returns the group of the selected case: the cases that differ from it only in the algorithm.
    /// `None` if none of them has been analysed.
    pub(crate) fn selected_group(&self) -> Option<usize> {
        self.compared.group_of(&self.selected.as_ref()?.setting)
    }

    /// Returns the line of the selected case, if it has been analysed.
    pub(crate) fn selected_line(&self) -> Option<usize> {
        self.compared.line_of(self.selected.as_ref()?)
    }

    fn select_next(&mut self, by: isize) {
        let rows = self.queue.rows();
        let at = self.selected_row().map_or(0, |(index, _)| index);
        let next = at.saturating_add_signed(by).min(rows.len().saturating_sub(1));
        if let Some(case) = rows.get(next).map(|row| row.key.clone()) {
            self.select(case);
        }
    }

    fn select(&mut self, case: CaseKey) {
        (self.selected, self.has_selected) = (Some(case), true);
    }

    /// Selects the fastest case of the first group after a run, unless the user has selected a
    /// case.
    fn select_winner(&mut self) {
        if let Some(line) = self.selected_group().and_then(|group| self.compared.winner(group))
            && !self.has_selected
            && !self.queue.is_busy()
        {
            self.selected = Some(self.case_of(line));
        }
    }

    /// Selects the fastest case of a group, unless one of its cases is selected.
    fn select_group(&mut self, group: usize) {
        if self.selected_group() != Some(group)
            && let Some(line) = self.compared.lines_of(group).first()
        {
            self.select(self.case_of(line));
        }
    }

    pub(crate) fn case_of(&self, line: &Line) -> CaseKey {
        self.compared.case_of(line).clone()
    }

    /// If the selected case does not exist, selects the first one, so that later rows do not change
    /// the selection.
    fn select_any(&mut self) {
        if let Some(wanted) = self.wanted.take_if(|wanted| self.queue.index_of(wanted).is_some()) {
            self.select(wanted);
        }
        if self.selected_row().is_none() {
            self.selected = self.queue.rows().first().map(|row| row.key.clone());
        }
    }

    pub(crate) fn select_later(&mut self, case: CaseId) {
        self.wanted = Some(CaseKey::new(case));
        self.select_any();
    }

    pub(crate) fn schedule(&self) -> Option<&Recording> {
        let (_, row) = self.selected_row()?;
        self.recording.as_ref().filter(|recording| recording.key == row.key)
    }

    pub(crate) fn want_schedule(&mut self) {
        /// The time limit for a schedule that the user has not requested.
        const UNASKED: Duration = Duration::from_secs(1);
        let Some((_, row)) = self.selected_row() else { return };
        // The key contains the machine and the block sizes.
        if self.recording.as_ref().is_some_and(|recording| recording.key == row.key) {
            return;
        }
        let ms = row.record().and_then(|r| Some(r.plan_ms?.max(r.wall_ms?)));
        let is_quick = ms.is_some_and(|ms| ms < UNASKED.as_secs_f64() * 1e3);
        self.recording = None;
        if is_quick {
            self.record(FrameSelection::From(0));
        }
    }

    /// Simulates the schedule of the selected case. `frames` selects the steps with frames.
    pub(crate) fn record(&mut self, frames: FrameSelection) {
        let Some((_, row)) = self.selected_row() else { return };
        let Ok(case) = &row.case else { return };
        let request = recording::request(frames, row.row().is_some_and(|row| row.is_failure()));
        let workers = self.workers.clone();
        self.recording = Some(match self.schedule() {
            Some(before) => {
                let request = RecordRequest { ranks: before.request().ranks, ..request };
                before.restart(case, request, workers)
            }
            None => Recording::start(case, row.key.clone(), request, workers),
        });
    }

    pub(crate) fn want_ranks(&mut self) {
        let again = |before: &Recording| {
            let request = RecordRequest { ranks: ALL_RANKS, ..before.request() };
            if before.lacks_ranks() { self.restarted(before, request) } else { None }
        };
        let (recording, kept) =
            (self.schedule().and_then(again), self.kept.as_ref().and_then(again));
        self.recording = recording.or(self.recording.take());
        self.kept = kept.or(self.kept.take());
    }

    /// Simulates a schedule again. Returns `None` if its case has no row any more.
    fn restarted(&self, before: &Recording, request: RecordRequest) -> Option<Recording> {
        let row = &self.queue.rows()[self.queue.index_of(&before.key)?];
        Some(before.restart(row.case.as_ref().ok()?, request, self.workers.clone()))
    }

    /// Keeps the schedule of the selected case for comparison, or stops keeping it.
    pub(crate) fn toggle_kept(&mut self) {
        let kept = self.kept.take();
        let Some((_, row)) = self.selected_row() else { return };
        let Ok(case) = &row.case else { return };
        if kept.is_some_and(|kept| kept.key == row.key) {
            return self.show_message("kept schedule removed", false);
        }
        let workers = self.workers.clone();
        let request = recording::request(FrameSelection::From(0), false);
        self.kept = Some(Recording::start(case, row.key.clone(), request, workers));
        self.show_message("schedule kept: select another case to compare it", false);
    }

    /// Simulates the kept schedule again if the full data of a step is not recorded.
    pub(crate) fn show_kept_step(&mut self, step: usize) {
        if let Some(kept) = &self.kept
            && kept.frame(step).is_none()
            && !kept.is_to_come(step)
            && step < kept.steps.len()
        {
            let frames = FrameSelection::From(step.saturating_sub(1));
            let again = self.restarted(kept, RecordRequest { frames, ..kept.request() });
            self.kept = again.or(self.kept.take());
        }
    }

    /// Returns whether an algorithm passes a filter, which searches its label, `text`, its plugin,
    /// its title and its paper.
    pub(crate) fn passes(&self, filter: &Filter, label: &str, text: &str) -> bool {
        filter.text().is_empty()
            || filter.passes_any(&[&label.to_lowercase(), &text.to_lowercase(), self.about(label)])
    }

    /// Returns the plugin, title and paper of an algorithm, whose label may have parameters.
    pub(crate) fn about(&self, label: &str) -> &str {
        let name = label.split([':', ' ']).next().unwrap_or(label);
        self.abouts.get(name).map_or("", String::as_str)
    }

    /// Makes an algorithm the baseline or, if it is the baseline, the fastest of each group.
    pub(crate) fn mark_baseline(&mut self, name: Option<String>) {
        let Some(name) = name else {
            return self.show_message("no algorithm under the cursor", true);
        };
        if self.baseline.as_deref() == Some(&name) {
            self.baseline = None;
            self.show_message("baseline: the fastest of each group", false);
        } else {
            self.show_message(&format!("baseline: {name}"), false);
            self.baseline = Some(name);
        }
        self.analysis.is_stale = true;
    }

    /// Writes a file in a separate thread, because rendering many rows takes long.
    pub(crate) fn write(&mut self, saved: OutputFile) {
        let name = saved.file.display().to_string();
        let work = move || files::save(&[saved]).map_err(|error| format!("{name}: {error}"));
        self.writing = self.start("writing", work);
        if self.writing.is_none() {
            self.written = Some(Err("no thread can be started to write the file".to_owned()));
        }
    }

    fn start<T: Send + 'static>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<Task<T>> {
        Task::start(name, work).map_err(|why| self.show_message(&why, true)).ok()
    }

    fn poll_written(&mut self) -> bool {
        let Some(ended) = take_ended(&mut self.writing) else { return false };
        let written = ended.unwrap_or_else(|| Err("the file could not be written".to_owned()));
        let (Ok(text) | Err(text)) = &written;
        self.report(text, written.is_err());
        self.written = Some(written.map(drop));
        true
    }

    pub(crate) fn load(&mut self, file: &ExperimentFile) {
        match file.experiment() {
            Ok(experiment) => {
                // The baseline changes when the cases run.
                self.next_baseline =
                    Some(experiment.baseline.as_ref().map(|baseline| baseline.value.clone()));
                self.chosen.load(experiment, &self.registry);
                let text = format!("selected {}: R runs it, u undoes it", file.name);
                self.show_message(&text, false);
            }
            Err(why) => self.show_message(&why, true),
        }
    }

    pub(crate) fn show_message(&mut self, text: &str, is_bad: bool) {
        self.message = Some(Message { text: text.to_owned(), is_bad });
    }

    /// Shows a message, and adds it to the log.
    pub(crate) fn report(&mut self, text: &str, is_bad: bool) {
        self.add_log(text, is_bad);
        self.show_message(text, is_bad);
    }

    pub(crate) fn add_log(&mut self, text: &str, is_warning: bool) {
        self.log.add(self.now, "", text, is_warning);
    }
}

fn is_failure(record: &Record) -> bool {
    !matches!(record.status, Status::Ok | Status::Unsupported)
}
