//! The state of a session: plugins, the selection of cases, the cases with their rows, and the
//! analysis of these rows.

mod analysis;
pub(crate) mod batch;
pub(crate) mod chosen;
pub(crate) mod comparison;
pub(crate) mod files;
mod log;
pub(crate) mod queue;
pub(crate) mod recording;
mod runs;
pub(crate) mod suggestions;
mod task;
mod undo;
pub(crate) mod what_if;

use crate::filter::Filter;
use analysis::Analysis;
use chosen::Chosen;
use comparison::Compared;
use files::OutputFile;
pub use files::{RenderKind, RenderRequest, RenderRows};
use log::Log;
pub(crate) use log::LogLine;
use queue::{CaseRow, CaseState, Queue};
use recording::{ALL_RANKS, FrameSelection, KeptSchedule, RecordRequest, Recording};
pub use runs::RowSink;
use runs::Runs;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use suggestions::ExperimentFile;
use swapmeet_results::{AlgorithmStyles, Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::worker::Workers;
use task::{Task, take_ended};
use undo::Undo;
pub use what_if::FACTS;
use what_if::WhatIf;

pub struct Setup {
    pub registry: Registry,
    /// The directories that the user gives with `--plugin-dir`. The command that repeats a case
    /// needs them.
    pub plugin_dirs: Vec<PathBuf>,
    pub experiment: Experiment,
    /// The cases that run as soon as the session starts.
    pub cases: Vec<Case>,
    /// One entry for each case of `cases`: the row of an earlier run, if there is one. An empty
    /// list means that no case has a row.
    pub found: Vec<Option<Record>>,
    /// Rows from result files. They are shown, but their cases do not run.
    pub opened: Vec<Record>,
    /// Whether the cases are an example that the user has not requested. If so, the session may end
    /// without a warning that the rows are not saved.
    pub is_example: bool,
    /// Notes on the files of the rows `opened`. The notes are added to the log.
    pub notes: Vec<String>,
    pub render: RenderRows,
    pub workers: Workers,
    /// The sink to which each row is written as soon as its case ends.
    pub rows: Option<RowSink>,
    /// The file to which `rows` writes. This file must not be overwritten.
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    Details,
    Comparison,
    /// Ask the user for a text. The fields are the title of the input and its initial text.
    Text(String, String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

pub(crate) struct Session {
    pub(crate) registry: Arc<Registry>,
    pub(crate) plugin_dirs: Vec<PathBuf>,
    /// The plugin, title and paper of each algorithm, in lower case. The key is the name of the
    /// algorithm.
    pub(crate) abouts: BTreeMap<String, String>,
    pub(crate) chosen: Chosen,
    pub(crate) queue: Queue,
    pub(crate) focus: Option<usize>,
    /// The index of the group in focus. A group contains cases that differ only in the algorithm.
    pub(crate) group: usize,
    pub(crate) baseline: Option<String>,
    pub(crate) compared: Compared,
    pub(crate) styles: AlgorithmStyles,
    pub(crate) what_if: WhatIf,
    /// The part of the focused case's schedule that has been simulated so far.
    pub(crate) recording: Option<Recording>,
    /// The schedule that the user keeps for comparison with other schedules.
    pub(crate) kept: Option<KeptSchedule>,
    pub(crate) log: Log,
    pub(crate) now: Duration,
    pub(crate) message: Option<Message>,
    pub(crate) request: Option<Request>,
    pub(crate) runs: Runs,
    pub(crate) render: RenderRows,
    writing: Option<Task<Message>>,
    analysis: Analysis,
    undo: Undo,
}

impl Session {
    pub(crate) fn new(setup: Setup) -> Self {
        // Initially, the experiment of the command line is selected.
        let mut session = Self {
            chosen: Chosen::new(setup.experiment.clone(), &setup.registry),
            plugin_dirs: setup.plugin_dirs,
            abouts: setup
                .registry
                .algorithms()
                .map(|a| (a.name.clone(), suggestions::about(a).to_lowercase()))
                .collect(),
            queue: Queue::default(),
            focus: None,
            group: 0,
            baseline: setup.experiment.baseline.as_ref().map(|b| b.value.clone()),
            compared: Compared::default(),
            styles: AlgorithmStyles::default(),
            what_if: WhatIf::default(),
            recording: None,
            kept: None,
            log: Log::default(),
            now: Duration::ZERO,
            message: None,
            request: None,
            runs: Runs::new(setup.workers, setup.rows, setup.out),
            render: setup.render,
            writing: None,
            analysis: Analysis::default(),
            undo: Undo::default(),
            registry: Arc::new(setup.registry),
        };
        // Record the initial selection, so that undo can return to it.
        session.record_change();
        for line in session.registry.log().to_vec() {
            session.add_log(&line, true);
        }
        if session.registry.plugins().is_empty() {
            session.add_log("no plugins found: see `swapmeet list plugins`", true);
        }
        // If there are rows from result files, only show them. Otherwise, run the cases of the
        // command line.
        if !setup.opened.is_empty() {
            session.open(setup.opened, setup.notes);
        } else if !setup.cases.is_empty() {
            session.begin_with(setup.cases, setup.found);
            if setup.is_example {
                session.runs.is_example = true;
                session.show_message(
                    "an example is running: select your own cases in Explore (1), then press R",
                    false,
                );
            }
        }
        session
    }

    /// Processes all pending events; returns whether the screen has to be redrawn.
    pub(crate) fn tick(&mut self, now: Duration) -> bool {
        if !self.runs.frozen {
            self.now = now;
        }
        let news =
            self.poll_prepared() | self.poll_events() | self.poll_written() | self.poll_what_if();
        let news = news | self.recording.as_mut().is_some_and(Recording::poll);
        news | self.kept.as_mut().is_some_and(KeptSchedule::poll) | self.poll_analysis()
    }

    /// Returns whether events may arrive even if the user presses no key, because work is in
    /// progress or the analysis has to start.
    pub(crate) fn expects_events(&self) -> bool {
        self.is_animated()
            || self.writing.is_some()
            || self.what_if.awaits_results()
            || self.analysis.is_due()
    }

    pub(crate) fn is_animated(&self) -> bool {
        self.runs.is_active()
            || self.recording.as_ref().is_some_and(Recording::is_growing)
            || self.kept.as_ref().is_some_and(|kept| kept.recording().is_growing())
    }

    /// Returns the index of the case in focus, and the case. If the user has not selected a case,
    /// it is the first case with a row or, if there is none, the first running case.
    pub(crate) fn focused(&self) -> Option<(usize, &CaseRow)> {
        let rows = self.queue.rows();
        let index = self.focus.filter(|i| *i < rows.len());
        let first = |is: fn(&CaseState) -> bool| rows.iter().position(|row| is(&row.state));
        let index = index
            .or_else(|| first(|state| matches!(state, CaseState::Done(_))))
            .or_else(|| first(|state| matches!(state, CaseState::Running(_))))?;
        Some((index, &rows[index]))
    }

    pub(crate) fn focus_by(&mut self, by: isize) {
        let rows = self.queue.rows().len();
        let at = self.focused().map_or(0, |(index, _)| index);
        self.focus = (rows > 0).then(|| at.saturating_add_signed(by).min(rows - 1));
    }

    pub(crate) fn schedule(&self) -> Option<&Recording> {
        let (_, row) = self.focused()?;
        self.recording.as_ref().filter(|recording| recording.key == row.key)
    }

    pub(crate) fn want_schedule(&mut self) {
        /// The time limit for planning and for pricing a schedule that is simulated without a
        /// request from the user.
        const UNASKED: Duration = Duration::from_secs(1);
        let Some((_, row)) = self.focused() else { return };
        // If the recording has the key of this case, there is nothing to do. The key also contains
        // the machine and the block sizes, so a case that differs in one of these is simulated
        // separately.
        if self.recording.as_ref().is_some_and(|recording| recording.key == row.key) {
            return;
        }
        let ms = row.record().and_then(|r| Some(r.plan_ms?.max(r.wall_ms?)));
        let is_quick = ms.is_some_and(|ms| ms < UNASKED.as_secs_f64() * 1e3);
        self.recording = None;
        if is_quick {
            self.record_from(0);
        }
    }

    /// Simulates the schedule of the case in focus. Records the frames of step `step` and the steps
    /// after it.
    pub(crate) fn record_from(&mut self, step: usize) {
        self.record(FrameSelection::From(step));
    }

    /// Simulates the schedule of the case in focus. `frames` selects the steps with frames.
    pub(crate) fn record(&mut self, frames: FrameSelection) {
        let Some((_, row)) = self.focused() else { return };
        // If the row has no case that can run, the panel shows the reason.
        let Ok(case) = &row.case else { return };
        let request = recording::request(frames, row.record().is_some_and(is_failure));
        let workers = self.runs.workers.clone();
        self.recording = Some(match self.schedule() {
            Some(before) => before.restart(
                case,
                RecordRequest { ranks: before.request().ranks, ..request },
                workers,
            ),
            None => Recording::start(case, Arc::clone(&row.key), request, workers),
        });
    }

    pub(crate) fn want_ranks(&mut self) {
        if let Some(before) = self.schedule().filter(|recording| recording.lacks_ranks())
            && let Some((_, CaseRow { case: Ok(case), .. })) = self.focused()
        {
            self.recording = Some(before.restart(
                case,
                RecordRequest { ranks: ALL_RANKS, ..before.request() },
                self.runs.workers.clone(),
            ));
        }
        if let Some(kept) = &mut self.kept {
            kept.want_ranks(&self.runs.workers);
        }
    }

    /// Keeps the schedule of the case in focus for comparison, and returns true. If this schedule
    /// is already kept, stops keeping it and returns false.
    pub(crate) fn toggle_kept(&mut self) -> bool {
        let kept = self.kept.take();
        let Some((_, row)) = self.focused() else { return false };
        let Ok(case) = &row.case else { return false };
        if kept.is_some_and(|kept| kept.recording().key == row.key) {
            return false;
        }
        self.kept =
            Some(KeptSchedule::start(case, Arc::clone(&row.key), self.runs.workers.clone()));
        true
    }

    /// Shows a step of the kept schedule. If the full data of this step is not recorded, simulates
    /// the schedule again.
    pub(crate) fn show_kept_step(&mut self, step: usize) {
        if let Some(kept) = &mut self.kept {
            kept.keep(step, &self.runs.workers);
        }
    }

    /// Returns whether an algorithm passes a filter. The filter searches its label, `text`, its
    /// plugin, its title and its paper.
    pub(crate) fn passes(&self, filter: &Filter, label: &str, text: &str) -> bool {
        filter.text().is_empty()
            || filter.passes_any(&[&label.to_lowercase(), &text.to_lowercase(), self.about(label)])
    }

    /// Returns the plugin, title and paper of an algorithm, in lower case. `label` is the name of
    /// the algorithm, with or without parameters.
    pub(crate) fn about(&self, label: &str) -> &str {
        let name = label.split([':', ' ']).next().unwrap_or(label);
        self.abouts.get(name).map_or("", String::as_str)
    }

    /// Makes an algorithm the baseline. If it already is the baseline, the fastest algorithm of
    /// each group becomes the baseline instead.
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

    /// Writes a file in a separate thread, because rendering many rows takes a long time.
    pub(crate) fn write(&mut self, saved: OutputFile) {
        let name = saved.file.display().to_string();
        let work = move || match files::save(&[saved]) {
            Ok(text) => Message { text, is_bad: false },
            Err(error) => Message { text: format!("{name}: {error}"), is_bad: true },
        };
        self.writing = self.start("writing", work);
    }

    /// Starts a task. If it cannot be started, shows the reason.
    fn start<T: Send + 'static>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<Task<T>> {
        Task::start(name, work).map_err(|why| self.show_message(&why, true)).ok()
    }

    /// If a file has been written, reports the result. Returns whether there is a result.
    fn poll_written(&mut self) -> bool {
        match take_ended(&mut self.writing) {
            None => return false,
            Some(Some(message)) => {
                self.add_log(&message.text, message.is_bad);
                self.message = Some(message);
            }
            Some(None) => self.show_message("the file could not be written", true),
        }
        true
    }

    /// Describes the rows that are saved or drawn in a file. The changes of the what-if panel apply
    /// only to the screen.
    pub(crate) fn rows_in_words(&self) -> &'static str {
        if self.what_if.is_on() { "rows without the changes of What if" } else { "rows on screen" }
    }

    pub(crate) fn load(&mut self, file: &ExperimentFile) {
        match file.experiment() {
            Ok(experiment) => {
                self.baseline = experiment.baseline.as_ref().map(|baseline| baseline.value.clone());
                self.chosen.load(experiment, &self.registry);
                self.analysis.is_stale = true;
                self.show_message(
                    &format!("selected {}: R runs it, u undoes it", file.name),
                    false,
                );
            }
            Err(why) => self.show_message(&why, true),
        }
    }

    pub(crate) fn show_message(&mut self, text: &str, is_bad: bool) {
        self.message = Some(Message { text: text.to_owned(), is_bad });
    }

    pub(crate) fn add_log(&mut self, text: &str, is_warning: bool) {
        self.log.add(self.now, text, is_warning);
    }
}

fn is_failure(record: &Record) -> bool {
    !matches!(record.status, Status::Ok | Status::Unsupported)
}
