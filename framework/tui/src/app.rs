//! The session: what is known, what is shown, and how events change it. Drawing only reads it.

mod running;

use crate::engine::{Batch, Event, Rows};
use crate::model::comparison::Compared;
use crate::model::curves::{Family, families};
use crate::model::frames::Recording;
use crate::model::picks::Picks;
use crate::model::queue::{Prepared, Queue};
use crate::theme::Theme;
use crate::ui::{Panel, Ui};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};
use swapmeet_results::{Record, Status};
use swapmeet_runner::batch::Place;
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::registry::Registry;

/// How a session is to begin.
pub struct Setup {
    /// The plugins there are.
    pub registry: Registry,
    /// Where the user said to look for them, for commands that repeat a case.
    pub plugin_dirs: Vec<PathBuf>,
    /// What is picked at first.
    pub experiment: Experiment,
    /// Its cases, if they are to run at once.
    pub cases: Vec<Case>,
    /// For each of these, the row that it has from an earlier run, if any; none of them may have.
    pub found: Vec<Option<Record>>,
    /// Where cases run.
    pub place: Place,
    /// Where rows go as they come.
    pub rows: Option<Rows>,
    /// The file that those rows are in, which nothing else may be written to.
    pub out: Option<PathBuf>,
    /// The theme.
    pub theme: Theme,
    /// Whether only ASCII is to be drawn.
    pub ascii: bool,
}

/// How a session ended.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The rows on screen.
    pub records: Vec<Record>,
    /// Whether they are to be left on the normal screen.
    pub leave_rows: bool,
    /// Whether cases were still to run.
    pub interrupted: bool,
    /// Whether some case was invalid, crashed, timed out or failed.
    pub some_failed: bool,
    /// The first row that could not be written, and why.
    pub unwritten: Option<String>,
}

/// How a session is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// With nothing.
    Plainly,
    /// With the results on the normal screen.
    WithRows,
}

/// A line of the log.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// When, in the session's time.
    pub at: Duration,
    /// What.
    pub text: String,
    /// Whether it is a warning or worse.
    pub is_warning: bool,
}

/// The session.
pub struct App {
    /// The plugins there are.
    pub registry: Arc<Registry>,
    /// Where the user said to look for them.
    pub plugin_dirs: Vec<PathBuf>,
    /// What is picked.
    pub picks: Picks,
    /// The cases.
    pub queue: Queue,
    /// Which case details and network are about, by its place in the queue.
    pub focus: Option<usize>,
    /// What others are compared with.
    pub baseline: Option<String>,
    /// The comparison.
    pub compared: Compared,
    /// The curves.
    pub families: Vec<Family>,
    /// The schedule in the network panel.
    pub recording: Option<Recording>,
    /// The log.
    pub log: Vec<LogLine>,
    /// The session's time.
    pub now: Duration,
    /// What is shown.
    pub ui: Ui,
    /// Events that came while the picture was held still.
    pub held_back: Vec<Event>,
    /// How the session is to be left, once it is.
    pub leave: Option<Leave>,
    /// What the terminal is to do, apart from drawing.
    pub wish: Option<Wish>,
    batch: Option<Batch>,
    /// Cases on their way from what is picked; whether they are all there is to be on screen.
    preparing: Option<Receiver<(bool, Result<Prepared, String>)>>,
    /// Batches that were told to end, and write what they have: nobody waits for them but the session's end.
    ending: Vec<Batch>,
    place: Place,
    rows: Option<Rows>,
    /// The file that those rows are in.
    pub(crate) out: Option<PathBuf>,
    /// Whether all rows on screen were saved to some other file.
    pub(crate) saved: bool,
    /// Remarks of rows that the log has.
    said: HashSet<String>,
    stale: bool,
    working_out: Option<Receiver<(Compared, Vec<Family>)>>,
    began_refresh: Instant,
    next_refresh: Instant,
    failed: bool,
    unwritten: Option<String>,
}

/// What only the terminal can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Draw everything anew.
    Redraw,
    /// Back to the shell for a while.
    Suspend,
}

impl App {
    /// A session as it begins.
    pub fn new(setup: Setup) -> Self {
        let mut app = Self {
            picks: Picks::new(&setup.experiment, &setup.registry),
            plugin_dirs: setup.plugin_dirs,
            queue: Queue::default(),
            focus: None,
            baseline: setup.experiment.baseline.as_ref().map(|b| b.value.clone()),
            compared: Compared::default(),
            families: Vec::new(),
            recording: None,
            log: Vec::new(),
            now: Duration::ZERO,
            ui: Ui::new(setup.theme, setup.ascii),
            held_back: Vec::new(),
            leave: None,
            wish: None,
            batch: None,
            preparing: None,
            ending: Vec::new(),
            place: setup.place,
            rows: setup.rows,
            out: setup.out,
            saved: false,
            stale: false,
            working_out: None,
            began_refresh: Instant::now(),
            next_refresh: Instant::now(),
            said: HashSet::new(),
            failed: false,
            unwritten: None,
            registry: Arc::new(setup.registry),
        };
        for line in app.registry.log().to_vec() {
            app.tell_log(&line, true);
        }
        if app.registry.plugins().is_empty() {
            app.tell_log("no plugin was found: see `swapmeet list plugins`", true);
        }
        if !setup.cases.is_empty() {
            app.ui.panel = Panel::Cases;
            let failed = |r: &Record| !matches!(r.status, Status::Ok | Status::Unsupported);
            app.failed = setup.found.iter().flatten().any(failed);
            let found = setup.found.iter().flatten().count();
            app.begin(Prepared::new(setup.cases, Vec::new()).with_found(setup.found));
            if found > 0 {
                app.tell_log(&format!("{} of an earlier run taken up", many(found, "row")), false);
            }
        }
        app
    }

    /// Takes in what happened; true if there is something new to draw.
    pub fn tick(&mut self, now: Duration) -> bool {
        /// Events taken in for one picture: the rest is for the next.
        const AT_ONCE: usize = 20_000;
        if !self.ui.frozen {
            self.now = now;
        }
        let mut news = self.take_prepared();
        for _ in 0..AT_ONCE {
            let Some(event) = self.batch.as_ref().and_then(Batch::try_next) else { break };
            let done = matches!(event, Event::Done);
            if self.ui.frozen {
                self.held_back.push(event);
            } else {
                self.apply(event);
            }
            news = true;
            if done {
                self.ending.extend(self.batch.take());
            }
        }
        self.ending.retain(|batch| !batch.is_over());
        news |= self.recording.as_mut().is_some_and(Recording::take_in);
        news |= self.play();
        news | self.refresh()
    }

    fn apply(&mut self, event: Event) {
        match &event {
            Event::Log(text) => {
                if text.starts_with("error: writing") && self.unwritten.is_none() {
                    self.unwritten = Some(text.clone());
                    self.tell(&text.clone(), true);
                }
                self.tell_log(&text.clone(), true);
            }
            Event::Finished(_, record) => {
                self.failed |= !matches!(record.status, Status::Ok | Status::Unsupported);
                self.saved = false;
                for remark in [&record.reason, &record.note].into_iter().filter(|remark| !remark.is_empty()) {
                    // What can't be done can't for most workloads and machines, and is said once.
                    let case = match record.status {
                        Status::Unsupported => format!("{} on {}", record.algorithm, record.topology),
                        _ => self.queue.in_words(record),
                    };
                    let text = format!("{case}: {remark}");
                    if self.said.insert(text.clone()) {
                        self.tell_log(&text, record.status != Status::Ok);
                    }
                }
                self.stale = true;
            }
            Event::Done => {
                // What waits or runs even now was stopped.
                self.queue.stop();
                let tally = self.queue.tally();
                let count = |n: usize, word: &str| if n > 0 { format!(", {n} {word}") } else { String::new() };
                let left_out = count(tally.unsupported, "unsupported");
                let (bad, stopped) = (count(tally.failed, "failed"), count(tally.stopped, "stopped"));
                let text = format!("done: {} verified{left_out}{bad}{stopped}", many(tally.ok, "case"));
                self.tell(&text, tally.failed > 0);
                self.tell_log(&text, tally.failed > 0);
            }
            _ => {}
        }
        self.queue.apply(event, self.now);
    }

    /// Lets the picture move again.
    pub(crate) fn thaw(&mut self) {
        self.ui.frozen = false;
        for event in std::mem::take(&mut self.held_back) {
            self.apply(event);
        }
    }

    /// What follows from the rows is worked out again, in a thread of its own that takes a fifth of the time at most; true if it was.
    fn refresh(&mut self) -> bool {
        if self.stale && self.working_out.is_none() && Instant::now() >= self.next_refresh {
            (self.stale, self.began_refresh) = (false, Instant::now());
            let (sender, receiver) = channel();
            let (records, baseline) = (self.queue.records(), self.baseline.clone());
            let work = move || {
                let compared = Compared::of(records.iter().map(|r| (**r).clone()).collect(), baseline.as_deref());
                let families = families(&compared);
                // A session that has ended meanwhile wants no comparison.
                drop(sender.send((compared, families)));
            };
            match std::thread::Builder::new().name("comparison".to_owned()).spawn(work) {
                Ok(_) => self.working_out = Some(receiver),
                Err(error) => self.tell(&format!("no thread to compare rows in: {error}"), true),
            }
        }
        let Some(result) = self.working_out.as_ref().map(Receiver::try_recv) else { return false };
        if matches!(result, Err(TryRecvError::Empty)) {
            return false;
        }
        self.working_out = None;
        self.next_refresh = Instant::now() + self.began_refresh.elapsed() * 4;
        if let Ok((compared, families)) = result {
            (self.compared, self.families) = (compared, families);
            self.clamp();
        }
        true
    }

    /// What follows from the rows is to be worked out again.
    pub(crate) fn recompare(&mut self) {
        self.stale = true;
    }

    /// Whether the picture moves by itself.
    pub fn is_moving(&self) -> bool {
        let walking = self.recording.as_ref().is_some_and(Recording::is_walking);
        self.batch.is_some()
            || self.preparing.is_some()
            || self.stale
            || self.working_out.is_some()
            || self.ui.player.plays
            || walking
    }

    /// Puts a line at the bottom.
    pub(crate) fn tell(&mut self, text: &str, bad: bool) {
        self.ui.message = Some((text.to_owned(), bad));
    }

    pub(crate) fn tell_log(&mut self, text: &str, is_warning: bool) {
        /// Lines of a plugin that can't stop talking.
        const MOST: usize = 10_000;
        let cursor = &mut self.ui.cursors[Panel::Log as usize];
        if self.log.len() >= MOST {
            self.log.drain(..MOST / 10);
            *cursor = cursor.saturating_sub(MOST / 10);
        }
        // One who looks at the last line wants the next one.
        if *cursor + 1 == self.log.len() && self.ui.filters[Panel::Log as usize].is_empty() {
            *cursor += 1;
        }
        let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.log.push(LogLine { at: self.now, text: clean, is_warning });
    }

    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        let held_back = |wanted: fn(&Record) -> bool| {
            self.held_back.iter().any(|event| matches!(event, Event::Finished(_, record) if wanted(record)))
        };
        let failed = |r: &Record| !matches!(r.status, Status::Ok | Status::Unsupported);
        Outcome {
            records: self.queue.records().iter().map(|r| (**r).clone()).collect(),
            leave_rows: self.leave == Some(Leave::WithRows),
            interrupted: self.batch.is_some() && self.queue.is_busy(),
            some_failed: self.failed || held_back(failed),
            unwritten: self.unwritten.clone(),
        }
    }
}

/// A count and its noun.
pub(crate) fn many(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
