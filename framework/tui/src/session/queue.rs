//! The cases on screen, and how far each is.

use super::batch::Event;
use super::offers::about;
use crate::filter::Filter;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_results::{CaseId, Record, Status};
use swapmeet_runner::case::{Case, RunOptions};
use swapmeet_runner::forecast::Forecast;
use swapmeet_runner::lookup::CaseLookup;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::schedule_progress::{ScheduleProgress, StepCounts};

/// How far a case is.
#[derive(Debug)]
pub(crate) enum State {
    /// Its turn will come.
    Waiting,
    /// It runs since this moment of the session.
    Running(Duration),
    Done(Arc<Record>),
    /// It was stopped, before its turn came or while it ran.
    Stopped,
}

/// A case on screen.
#[derive(Debug)]
pub(crate) struct Row {
    /// What can be run; or why a row from a file can't be made again.
    pub(crate) case: Result<Case, String>,
    /// What tells it from all others.
    pub(crate) key: Arc<CaseId>,
    /// How far it is.
    pub(crate) state: State,
    /// How far its schedule is known to have come.
    pub(crate) pace: ScheduleProgress,
    /// Of how many steps it is, as far as is known.
    length: Option<u64>,
    /// What a filter finds it by, in small letters.
    text: Box<str>,
}

impl Row {
    fn new(case: Result<Case, String>, key: Arc<CaseId>) -> Self {
        let CaseId { setting, implementation, seed, .. } = &*key;
        let text =
            [&setting.topology, &implementation.algorithm, &setting.workload, &setting.machine];
        let about = case.as_ref().map(|case| about(&case.algorithm.algorithm)).unwrap_or_default();
        let text = [
            &text.map(String::as_str).join(" "),
            &*setting.machine_definition,
            &*seed.to_string(),
            &about,
        ];
        let text = text.join(" ").to_lowercase().into();
        Self {
            case,
            key,
            state: State::Waiting,
            pace: ScheduleProgress::default(),
            length: None,
            text,
        }
    }

    /// Its algorithm, topology, workload and machine.
    pub(crate) fn specs(&self) -> [&str; 4] {
        let CaseId { setting, implementation, .. } = &*self.key;
        [&implementation.algorithm, &setting.topology, &setting.workload, &setting.machine]
            .map(String::as_str)
    }

    /// Its record, once it has one.
    pub(crate) fn record(&self) -> Option<&Record> {
        match &self.state {
            State::Done(record) => Some(record),
            State::Waiting | State::Running(_) | State::Stopped => None,
        }
    }

    /// A word for how far it is.
    pub(crate) fn word(&self) -> &'static str {
        match &self.state {
            State::Waiting => "waiting",
            State::Running(_) => "running",
            State::Done(record) => record.status.word(),
            State::Stopped => "stopped",
        }
    }

    /// What else there is to say: the step that it has come to, unless it is through, and why it
    /// has no time.
    pub(crate) fn remark(&self) -> String {
        let at = match &self.state {
            _ if self.pace.steps == 0 => String::new(),
            State::Running(_) => format!("at {}", self.pace.in_words(self.length)),
            State::Done(record) if record.status == Status::Ok => String::new(),
            State::Done(_) | State::Waiting | State::Stopped => {
                format!("at step {}", self.pace.steps)
            }
        };
        let reason = self.record().map_or("", |record| record.reason.as_str());
        [at.as_str(), reason]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(": ")
    }

    /// Whether a filter shows it, by its specs, its state or the reason for that.
    pub(crate) fn passes(&self, filter: &Filter) -> bool {
        let reason = self.record().map_or("", |r| r.reason.as_str());
        filter.passes_any(&[&*self.text, self.word(), &*reason.to_lowercase()])
    }
}

/// New cases, ready to be taken in. To read and name a hundred thousand takes a second: no work for
/// the thread that draws.
#[derive(Debug)]
pub(crate) struct Prepared {
    rows: Vec<Row>,
    cases: Vec<Case>,
    common: Common,
    forecast: Forecast,
}

/// What all cases have in common, of what [`Row::specs`] has.
pub(crate) type Common = [Option<String>; 4];

/// What two lots of cases have in common.
fn join(mut a: Common, b: &Common) -> Common {
    for (text, other) in a.iter_mut().zip(b) {
        if text != other {
            *text = None;
        }
    }
    a
}

impl Prepared {
    /// Those cases that are not known yet.
    pub(crate) fn new(cases: Vec<Case>, known: Vec<Arc<CaseId>>) -> Self {
        let mut known: HashSet<Arc<CaseId>> = known.into_iter().collect();
        let mut rows = Vec::new();
        for case in cases {
            let key = Arc::new(case.id());
            if known.insert(Arc::clone(&key)) {
                rows.push(Row::new(Ok(case), key));
            }
        }
        Self::of(rows)
    }

    /// Rows that were made before; the first of those that are of the same case. What of them can
    /// be made again is looked up.
    pub(crate) fn opened(records: Vec<Record>, registry: &Registry) -> Self {
        let (mut known, mut again) =
            (HashSet::new(), CaseLookup::new(registry, RunOptions::default()));
        let mut rows = Vec::new();
        for record in records {
            let key = Arc::new(record.case().owned());
            if known.insert(Arc::clone(&key)) {
                rows.push(Row {
                    state: State::Done(Arc::new(record.clone())),
                    ..Row::new(again.row(&record), key)
                });
            }
        }
        Self::of(rows)
    }

    fn of(rows: Vec<Row>) -> Self {
        let cases: Vec<Case> = open(&rows);
        let forecast = Forecast::new(&cases);
        let each = rows.iter().map(|row| row.specs().map(|spec| Some(spec.to_owned())));
        let common = each.reduce(|a, b| join(a, &b)).unwrap_or_default();
        Self { rows, cases, common, forecast }
    }

    /// How many rows are new.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The same with the rows that some have already, in the order of cases: these needn't run.
    #[must_use]
    pub(crate) fn with_found(mut self, found: Vec<Option<Record>>) -> Self {
        if found.len() != self.rows.len() {
            return self;
        }
        for (row, record) in self.rows.iter_mut().zip(found) {
            if let Some(record) = record {
                row.state = State::Done(Arc::new(record));
            }
        }
        self.cases = open(&self.rows);
        self.forecast = Forecast::new(&self.cases);
        self
    }
}

/// The cases that have no row yet.
fn open(rows: &[Row]) -> Vec<Case> {
    rows.iter()
        .filter(|row| row.record().is_none())
        .filter_map(|row| row.case.as_ref().ok())
        .cloned()
        .collect()
}

/// How many cases are how far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    pub(crate) ok: usize,
    pub(crate) unsupported: usize,
    /// Invalid, crashed, timed out, in error.
    pub(crate) failed: usize,
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    pub(crate) stopped: usize,
}

/// All cases on screen.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    rows: Vec<Row>,
    tally: Tally,
    /// The rows of the batch that runs, or ran last.
    batch: Vec<usize>,
    began: Duration,
    forecast: Forecast,
    lengths: StepCounts,
    common: Common,
}

impl Queue {
    /// All cases, in the order in which they came.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What all cases have in common.
    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// A row's case in words: what all cases have in common of workload and machine needn't be
    /// said.
    pub(crate) fn in_words(&self, record: &Record) -> String {
        let mut text = format!("{} on {}", record.algorithm, record.topology);
        for (common, part) in self.common[2..].iter().zip([&record.workload, &record.machine]) {
            if common.is_none() {
                text += &format!(", {part}");
            }
        }
        text
    }

    /// How many are how far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// Forgets all rows, and gives them back.
    pub(crate) fn clear(&mut self) -> Vec<Row> {
        std::mem::take(self).rows
    }

    /// What tells the cases that have their rows from others.
    pub(crate) fn known(&self) -> Vec<Arc<CaseId>> {
        let ended = self.rows.iter().filter(|row| matches!(row.state, State::Done(_)));
        ended.map(|row| Arc::clone(&row.key)).collect()
    }

    /// Takes in new cases as the batch to run from `now` on; returns them. Those that were stopped
    /// make room.
    pub(crate) fn enqueue(&mut self, prepared: Prepared, now: Duration) -> Vec<Case> {
        self.stop();
        self.rows.retain(|row| !matches!(row.state, State::Stopped));
        let first = self.rows.len();
        if first == 0 {
            self.common = prepared.common;
        } else if !prepared.rows.is_empty() {
            self.common = join(std::mem::take(&mut self.common), &prepared.common);
        }
        self.rows.extend(prepared.rows);
        self.batch =
            (first..self.rows.len()).filter(|at| self.rows[*at].record().is_none()).collect();
        (self.began, self.forecast) = (now, prepared.forecast);
        self.count();
        prepared.cases
    }

    /// What waits or runs comes to nothing.
    pub(crate) fn stop(&mut self) {
        for row in &mut self.rows {
            if matches!(row.state, State::Waiting | State::Running(_)) {
                row.state = State::Stopped;
            }
        }
        self.count();
    }

    /// Takes in what happened to the batch at moment `now`.
    pub(crate) fn apply(&mut self, event: Event, now: Duration) {
        let (index, state) = match event {
            Event::Started(index) => (index, State::Running(now)),
            Event::Progress(index, steps, messages) => {
                if let Some(row) = self.batch.get(index).and_then(|i| self.rows.get_mut(*i)) {
                    row.pace.reached(steps, messages, now);
                }
                return;
            }
            Event::Finished(index, record) => {
                self.forecast.ended(index, now.saturating_sub(self.began));
                let row = self.batch.get(index).and_then(|i| self.rows.get(*i));
                if let Some(Ok(case)) = row.map(|row| &row.case) {
                    self.lengths.ended(case, &record);
                }
                (index, State::Done(Arc::from(record)))
            }
            Event::Done => return self.stop(),
            Event::Log(_) => return,
        };
        let Some(row) = self.batch.get(index).and_then(|i| self.rows.get_mut(*i)) else { return };
        row.length = row.case.as_ref().ok().and_then(|case| self.lengths.of(case));
        *of(&mut self.tally, &row.state) -= 1;
        row.state = state;
        *of(&mut self.tally, &row.state) += 1;
    }

    fn count(&mut self) {
        self.tally = Tally { cases: self.rows.len(), ..Tally::default() };
        for row in &self.rows {
            *of(&mut self.tally, &row.state) += 1;
        }
    }

    /// How long the batch will still take, while it runs.
    pub(crate) fn left(&self, now: Duration) -> Option<Duration> {
        self.forecast.left(now.saturating_sub(self.began)).filter(|_| self.is_busy())
    }

    /// Whether anything waits or runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.tally.waiting + self.tally.running > 0
    }

    /// The rows that have ended, as records.
    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        let record = |row: &Row| match &row.state {
            State::Done(record) => Some(Arc::clone(record)),
            State::Waiting | State::Running(_) | State::Stopped => None,
        };
        self.rows.iter().filter_map(record).collect()
    }
}

/// Which count a case is part of.
fn of<'t>(tally: &'t mut Tally, state: &State) -> &'t mut usize {
    match state {
        State::Waiting => &mut tally.waiting,
        State::Running(_) => &mut tally.running,
        State::Stopped => &mut tally.stopped,
        State::Done(record) => match record.status {
            Status::Ok => &mut tally.ok,
            Status::Unsupported => &mut tally.unsupported,
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => {
                &mut tally.failed
            }
        },
    }
}
