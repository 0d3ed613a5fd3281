//! What is known, whatever is shown of it: plugins, what is selected, cases and their rows, and
//! what follows from these.

mod analysis;
pub(crate) mod batch;
pub(crate) mod comparison;
pub(crate) mod files;
mod log;
pub(crate) mod offers;
pub(crate) mod queue;
pub(crate) mod recording;
mod runs;
pub(crate) mod selection;
mod undo;
pub(crate) mod what_if;

use crate::filter::Filter;
use analysis::Analysis;
use comparison::Compared;
use files::Saved;
pub use files::{DrawRows, Sheet, SheetKind};
use log::Log;
pub(crate) use log::LogLine;
use offers::Study;
use queue::{Queue, Row, State};
pub use recording::WATCH;
use recording::{Asked, Beside, Recording, Wanted};
pub use runs::RowSink;
use runs::Runs;
use selection::Selection;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::worker::Workers;
use undo::Undo;
pub use what_if::FACTS;
use what_if::WhatIf;

/// What a session begins with.
pub struct Setup {
    /// The plugins there are.
    pub registry: Registry,
    /// Where the user said to look for them, for commands that repeat a case.
    pub plugin_dirs: Vec<PathBuf>,
    /// What is selected at first.
    pub experiment: Experiment,
    /// Its cases, if they are to run at once.
    pub cases: Vec<Case>,
    /// For each of these, the row that it has from an earlier run, if any; none of them may have.
    pub found: Vec<Option<Record>>,
    /// Rows of files, to be looked at.
    pub opened: Vec<Record>,
    /// Makes a figure or a report of rows.
    pub draw: DrawRows,
    pub workers: Workers,
    /// Where rows go as they come.
    pub rows: Option<RowSink>,
    /// The file that those rows are in, which nothing else may be written to.
    pub out: Option<PathBuf>,
}

/// What a panel asks of the rest of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    /// To show all about the case in focus.
    Details,
    /// To show it among the others.
    Comparison,
    /// A text from the user: what it is called, and what it begins with.
    Text(String, String),
}

/// The last thing to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

pub(crate) struct Session {
    pub(crate) registry: Arc<Registry>,
    pub(crate) plugin_dirs: Vec<PathBuf>,
    /// Plugin, title and paper of each algorithm by its name, in small letters.
    pub(crate) abouts: BTreeMap<String, String>,
    pub(crate) selection: Selection,
    pub(crate) queue: Queue,
    /// Which case was looked at last, by its place in the queue.
    pub(crate) focus: Option<usize>,
    /// Which group of the comparison was looked at last.
    pub(crate) group: usize,
    /// What others are compared with.
    pub(crate) baseline: Option<String>,
    pub(crate) compared: Compared,
    /// What is tried out on the machine in focus.
    pub(crate) what_if: WhatIf,
    /// The schedule of the case in focus, as far as it is known.
    pub(crate) recording: Option<Recording>,
    /// One that is kept beside it.
    pub(crate) beside: Option<Beside>,
    pub(crate) log: Log,
    pub(crate) now: Duration,
    pub(crate) message: Option<Message>,
    pub(crate) request: Option<Request>,
    pub(crate) runs: Runs,
    pub(crate) draw: DrawRows,
    writing: Option<Receiver<Message>>,
    analysis: Analysis,
    undo: Undo,
}

impl Session {
    pub(crate) fn new(setup: Setup) -> Self {
        let mut session = Self {
            selection: Selection::new(&setup.experiment, &setup.registry),
            plugin_dirs: setup.plugin_dirs,
            abouts: setup
                .registry
                .algorithms()
                .map(|a| (a.name.clone(), offers::about(a).to_lowercase()))
                .collect(),
            queue: Queue::default(),
            focus: None,
            group: 0,
            baseline: setup.experiment.baseline.as_ref().map(|b| b.value.clone()),
            compared: Compared::default(),
            what_if: WhatIf::default(),
            recording: None,
            beside: None,
            log: Log::default(),
            now: Duration::ZERO,
            message: None,
            request: None,
            runs: Runs::new(setup.workers, setup.rows, setup.out),
            draw: setup.draw,
            writing: None,
            analysis: Analysis::default(),
            undo: Undo::default(),
            registry: Arc::new(setup.registry),
        };
        session.note_change();
        for line in session.registry.log().to_vec() {
            session.note(&line, true);
        }
        if session.registry.plugins().is_empty() {
            session.note("no plugin was found: see `swapmeet list plugins`", true);
        }
        if !setup.opened.is_empty() {
            session.open(setup.opened);
        } else if !setup.cases.is_empty() {
            session.begin_with(setup.cases, setup.found);
        }
        session
    }

    /// Takes in what happened meanwhile; true if there is something new to draw.
    pub(crate) fn tick(&mut self, now: Duration) -> bool {
        if !self.runs.frozen {
            self.now = now;
        }
        let news =
            self.take_prepared() | self.take_events() | self.take_written() | self.take_tried();
        let news = news | self.recording.as_mut().is_some_and(Recording::take_in);
        news | self.beside.as_mut().is_some_and(Beside::take_in) | self.take_analysis()
    }

    /// Whether anything goes on.
    pub(crate) fn is_moving(&self) -> bool {
        self.runs.is_moving()
            || self.writing.is_some()
            || self.what_if.is_moving()
            || self.analysis.is_due()
            || self.recording.as_ref().is_some_and(Recording::is_growing)
            || self.beside.as_ref().is_some_and(|beside| beside.recording().is_growing())
    }

    /// The case in focus: the one last looked at, or the first that has a row, or that runs.
    pub(crate) fn focused(&self) -> Option<(usize, &Row)> {
        let rows = self.queue.rows();
        let index = self.focus.filter(|i| *i < rows.len());
        let first = |is: fn(&State) -> bool| rows.iter().position(|row| is(&row.state));
        let index = index
            .or_else(|| first(|state| matches!(state, State::Done(_))))
            .or_else(|| first(|state| matches!(state, State::Running(_))))?;
        Some((index, &rows[index]))
    }

    /// Looks at the case so many further on in the queue.
    pub(crate) fn focus_by(&mut self, by: isize) {
        let rows = self.queue.rows().len();
        let at = self.focused().map_or(0, |(index, _)| index);
        self.focus = (rows > 0).then(|| at.saturating_add_signed(by).min(rows - 1));
    }

    /// The recording, if it is of the case in focus.
    pub(crate) fn schedule(&self) -> Option<&Recording> {
        let (_, row) = self.focused()?;
        self.recording.as_ref().filter(|recording| recording.key == row.key)
    }

    /// Simulates the schedule of the case in focus for a panel that shows it, if that doesn't take
    /// long.
    pub(crate) fn want_schedule(&mut self) {
        /// What anybody waits for without having asked.
        const UNASKED: Duration = Duration::from_secs(1);
        let Some((_, row)) = self.focused() else { return };
        // Machines and sizes are no part of a schedule; the key says more than is needed, but is
        // sure.
        if self.recording.as_ref().is_some_and(|recording| recording.key == row.key) {
            return;
        }
        let is_quick =
            row.record().and_then(|r| r.plan_ms).is_some_and(|ms| ms < UNASKED.as_secs_f64() * 1e3);
        self.recording = None;
        if is_quick {
            self.record_from(0);
        }
    }

    /// Simulates the schedule of the case in focus; frames are kept from a step on.
    pub(crate) fn record_from(&mut self, step: usize) {
        self.record(Wanted::From(step));
    }

    /// Simulates the schedule of the case in focus; the steps that are wanted are kept.
    pub(crate) fn record(&mut self, wanted: Wanted) {
        let Some((_, row)) = self.focused() else { return };
        // The panel says why there is none.
        let Ok(case) = &row.case else { return };
        let asked =
            Asked { wanted, unfinished: row.record().is_some_and(is_failure), ranks: false };
        let workers = self.runs.workers.clone();
        self.recording = Some(match self.schedule() {
            Some(before) => {
                before.again(case, Asked { ranks: before.asked().ranks, ..asked }, workers)
            }
            None => Recording::start(case, Arc::clone(&row.key), asked, workers),
        });
    }

    /// Simulates the schedules that are shown again where what their ranks do is to be known, and
    /// isn't.
    pub(crate) fn want_ranks(&mut self) {
        if let Some(before) = self.schedule().filter(|recording| recording.lacks_ranks())
            && let Some((_, Row { case: Ok(case), .. })) = self.focused()
        {
            self.recording = Some(before.again(
                case,
                Asked { ranks: true, ..before.asked() },
                self.runs.workers.clone(),
            ));
        }
        if let Some(beside) = &mut self.beside {
            beside.want_ranks(&self.runs.workers);
        }
    }

    /// Keeps the schedule of the case in focus beside others; false if it is let go.
    pub(crate) fn keep_beside(&mut self) -> bool {
        let kept = self.beside.take();
        let Some((_, row)) = self.focused() else { return false };
        let Ok(case) = &row.case else { return false };
        if kept.is_some_and(|kept| kept.recording().key == row.key) {
            return false;
        }
        self.beside = Some(Beside::start(case, Arc::clone(&row.key), self.runs.workers.clone()));
        true
    }

    /// What is kept beside is shown at this step.
    pub(crate) fn beside_at(&mut self, step: usize) {
        if let Some(beside) = &mut self.beside {
            beside.keep(step, &self.runs.workers);
        }
    }

    /// Whether a filter shows an algorithm, by what is said of it besides: its plugin, and who
    /// described it.
    pub(crate) fn passes(&self, filter: &Filter, label: &str, text: &str) -> bool {
        let name = label.split([':', ' ']).next().unwrap_or(label);
        let about = self.abouts.get(name).map_or("", String::as_str);
        filter.text().is_empty()
            || filter.passes_any(&[&label.to_lowercase(), &text.to_lowercase(), about])
    }

    /// Compares the others with an algorithm; if that is so already, with the fastest.
    pub(crate) fn mark_baseline(&mut self, name: Option<String>) {
        let Some(name) = name else {
            return self.tell("no algorithm under the cursor to compare with", true);
        };
        if self.baseline.as_deref() == Some(&name) {
            self.baseline = None;
            self.tell("compared with the fastest of each group", false);
        } else {
            self.tell(&format!("compared with {name}"), false);
            self.baseline = Some(name);
        }
        self.analysis.is_stale = true;
    }

    /// Writes a file in a thread of its own: a picture of many rows takes a while.
    pub(crate) fn write(&mut self, saved: Saved) {
        let (sender, receiver) = channel();
        let name = saved.file.display().to_string();
        let work = move || {
            let message = match files::save(&[saved]) {
                Ok(text) => Message { text, is_bad: false },
                Err(error) => Message { text: format!("{name}: {error}"), is_bad: true },
            };
            // A session that has ended meanwhile has nobody to tell.
            drop(sender.send(message));
        };
        match std::thread::Builder::new().name("writing".to_owned()).spawn(work) {
            Ok(_) => self.writing = Some(receiver),
            Err(error) => self.tell(&format!("no thread to write in: {error}"), true),
        }
    }

    /// Tells what became of the file; true if that is known now.
    fn take_written(&mut self) -> bool {
        let Some(result) = self.writing.as_ref().map(Receiver::try_recv) else { return false };
        match result {
            Err(TryRecvError::Empty) => return false,
            Ok(message) => {
                self.note(&message.text, message.is_bad);
                self.message = Some(message);
            }
            Err(TryRecvError::Disconnected) => self.tell("the file could not be written", true),
        }
        self.writing = None;
        true
    }

    /// Picks what an experiment file lists.
    pub(crate) fn load(&mut self, study: &Study) {
        match study.experiment() {
            Ok(experiment) => {
                self.selection.load(&experiment, &self.registry);
                self.baseline = experiment.baseline.as_ref().map(|baseline| baseline.value.clone());
                self.analysis.is_stale = true;
                self.tell(&format!("picked {}: R runs it, u takes it back", study.name), false);
            }
            Err(why) => self.tell(&why, true),
        }
    }

    /// Puts a line at the bottom.
    pub(crate) fn tell(&mut self, text: &str, is_bad: bool) {
        self.message = Some(Message { text: text.to_owned(), is_bad });
    }

    /// Puts a line into the log.
    pub(crate) fn note(&mut self, text: &str, is_warning: bool) {
        self.log.add(self.now, text, is_warning);
    }
}

/// Whether a row is of a case that went wrong.
fn is_failure(record: &Record) -> bool {
    !matches!(record.status, Status::Ok | Status::Unsupported)
}
