//! The cases on screen and their states.

use super::packed::{CaseKey, PackedRow, SharedTexts};
use super::suggestions::about;
use crate::filter::{Filter, Found, Texts};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::repeat;
use std::ops::BitOr;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_results::{Record, Setting, Status};
use swapmeet_runner::case::{Case, RunOptions};
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::forecast::Forecast;
use swapmeet_runner::lookup::CaseLookup;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::schedule_progress::{ScheduleProgress, StepCounts};

#[derive(Debug)]
pub(crate) enum CaseState {
    Waiting,
    /// The session time at which the case has started.
    Running(Duration),
    Done(Arc<PackedRow>),
    /// The case was cancelled.
    Stopped,
}

#[derive(Debug)]
pub(crate) struct CaseRow {
    /// The case or, for a row from a file, the reason why it cannot be reconstructed.
    pub(crate) case: Result<Case, String>,
    pub(crate) key: CaseKey,
    pub(crate) state: CaseState,
    /// The progress of a case of this session.
    progress: Option<Box<Progress>>,
    /// Whether the row is of a file that the session follows.
    is_followed: bool,
    /// The texts that filters search: five of the case, and that of the state.
    texts: [u32; 6],
    /// The number of the analysis that includes the row; 0 before the first one.
    analysis: u64,
}

#[derive(Debug, Default)]
struct Progress {
    pace: ScheduleProgress,
    /// The number of steps, if it is known from another case.
    length: Option<u64>,
}

impl CaseRow {
    fn new(case: Result<Case, String>, key: CaseKey, texts: &mut Texts) -> Self {
        let CaseKey { setting, implementation, seed, .. } = &key;
        let about = case.as_ref().map(|case| about(&case.algorithm.algorithm)).unwrap_or_default();
        let numbers = [
            texts.number(&format!("{} {about}", implementation.algorithm)),
            texts.number(&setting.topology),
            texts.number(&setting.workload),
            texts.number(&format!("{} {}", setting.machine, setting.machine_definition)),
            texts.number(&seed.to_string()),
            0,
        ];
        let mut row = Self {
            case,
            key,
            state: CaseState::Waiting,
            progress: None,
            is_followed: false,
            texts: numbers,
            analysis: 0,
        };
        row.enter(CaseState::Waiting, "", texts);
        row
    }

    /// Changes the state, perhaps with the reason of a row.
    fn enter(&mut self, state: CaseState, reason: &str, texts: &mut Texts) {
        self.state = state;
        self.texts[5] = texts.number(&format!("{} {reason}", self.word()));
    }

    fn end(&mut self, record: &Record, experiment: Arc<str>, texts: &mut Texts) {
        let reason = record.reason.clone();
        let row = PackedRow::new(self.key.clone(), experiment, record);
        self.enter(CaseState::Done(Arc::new(row)), &reason, texts);
    }

    pub(crate) fn specs(&self) -> [&str; 4] {
        let (Setting { topology, workload, machine, .. }, algorithm) =
            (&*self.key.setting, &self.key.implementation.algorithm);
        [algorithm, topology, workload, machine].map(String::as_str)
    }

    pub(crate) fn row(&self) -> Option<&Arc<PackedRow>> {
        match &self.state {
            CaseState::Done(row) => Some(row),
            CaseState::Waiting | CaseState::Running(_) | CaseState::Stopped => None,
        }
    }

    pub(crate) fn record(&self) -> Option<Record> {
        self.row().map(|row| row.record())
    }

    pub(crate) fn word(&self) -> &'static str {
        match &self.state {
            CaseState::Waiting => "waiting",
            CaseState::Running(_) => "running",
            CaseState::Done(record) => record.status.word(),
            CaseState::Stopped => "stopped",
        }
    }

    pub(crate) fn steps(&self) -> u64 {
        self.progress.as_ref().map_or(0, |progress| progress.pace.steps)
    }

    /// Returns the step of a case that runs or has failed, and the reason.
    pub(crate) fn remark(&self) -> String {
        let at = match (&self.state, &self.progress) {
            (_, None) => String::new(),
            (_, Some(progress)) if progress.pace.steps == 0 => String::new(),
            (CaseState::Running(_), Some(progress)) => {
                format!("at {}", progress.pace.in_words(progress.length))
            }
            (CaseState::Done(record), _) if record.status == Status::Ok => String::new(),
            (CaseState::Done(_) | CaseState::Waiting | CaseState::Stopped, Some(progress)) => {
                format!("at step {}", progress.pace.steps)
            }
        };
        let reason = self.record().map(|record| record.reason).unwrap_or_default();
        [at, reason].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// New rows for the queue. A separate thread prepares them, which takes a second for 100,000 cases.
#[derive(Debug)]
pub(crate) struct PreparedRows {
    rows: Vec<CaseRow>,
    cases: Vec<Case>,
    index: HashMap<CaseKey, usize>,
    specs: Specs,
    forecast: Forecast,
    texts: Texts,
}

fn index(rows: &[CaseRow]) -> HashMap<CaseKey, usize> {
    rows.iter().zip(0..).map(|(row, at)| (row.key.clone(), at)).collect()
}

/// The specs of all cases, in the order of [`CaseRow::specs`].
pub(crate) type Specs = [BTreeSet<String>; 4];

fn specs(rows: &[CaseRow]) -> Specs {
    let mut specs = Specs::default();
    for row in rows {
        for (known, spec) in specs.iter_mut().zip(row.specs()) {
            if !known.contains(spec) {
                known.insert(spec.to_owned());
            }
        }
    }
    specs
}

impl PreparedRows {
    /// Creates rows for the cases that are not in `known`. `found` is empty or has records, whose
    /// cases do not run.
    pub(crate) fn new(cases: Vec<Case>, found: Vec<Option<Record>>, known: Vec<CaseKey>) -> Self {
        let mut known: HashSet<CaseKey> = known.into_iter().collect();
        let (mut rows, mut texts) = (Vec::new(), Texts::default());
        let mut shared = SharedTexts::default();
        for (case, record) in cases.into_iter().zip(found.into_iter().chain(repeat(None))) {
            let key = shared.key(case.id());
            if known.insert(key.clone()) {
                let mut row = CaseRow::new(Ok(case), key, &mut texts);
                if let Some(record) = record {
                    row.end(&record, shared.experiment(&record.experiment), &mut texts);
                }
                rows.push(row);
            }
        }
        Self::from_rows(rows, texts)
    }

    /// Creates rows from records of files, for the cases that are not in `known`. The first record
    /// of a case counts. If possible, the case is reconstructed, so that it can run again.
    pub(crate) fn opened(records: Vec<Record>, known: Vec<CaseKey>, registry: &Registry) -> Self {
        let mut known: HashSet<CaseKey> = known.into_iter().collect();
        let mut again = CaseLookup::new(registry, RunOptions::default());
        let (mut rows, mut texts) = (Vec::new(), Texts::default());
        let mut shared = SharedTexts::default();
        for record in records {
            let key = shared.key(record.case().owned());
            if known.insert(key.clone()) {
                let experiment = shared.experiment(&record.experiment);
                let case = again.row(&record);
                let case = case.map(|case| Case { experiment: Arc::clone(&experiment), ..case });
                let mut row = CaseRow::new(case, key, &mut texts);
                row.end(&record, experiment, &mut texts);
                rows.push(row);
            }
        }
        Self::from_rows(rows, texts)
    }

    fn from_rows(mut rows: Vec<CaseRow>, texts: Texts) -> Self {
        rows.shrink_to_fit();
        let open = rows.iter().filter(|row| row.row().is_none());
        let cases: Vec<Case> = open.filter_map(|row| row.case.as_ref().ok()).cloned().collect();
        let forecast = Forecast::new(&cases);
        let (index, specs) = (index(&rows), specs(&rows));
        Self { rows, cases, index, specs, forecast, texts }
    }

    #[must_use]
    pub(crate) fn followed(mut self) -> Self {
        self.rows.iter_mut().for_each(|row| row.is_followed = true);
        self
    }

    pub(crate) fn algorithms(&self) -> &BTreeSet<String> {
        &self.specs[0]
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// The number of cases, and of those in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    pub(crate) ok: usize,
    pub(crate) unsupported: usize,
    pub(crate) failed: usize,
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    pub(crate) stopped: usize,
}

impl Tally {
    pub(crate) fn rows(self) -> usize {
        self.ok + self.unsupported + self.failed
    }

    pub(crate) fn open(self) -> usize {
        self.waiting + self.running
    }
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    rows: Vec<CaseRow>,
    index: HashMap<CaseKey, usize>,
    /// The number of changes, from which panels notice one.
    changes: u64,
    tally: Tally,
    /// The indices of the rows of the last batch.
    batch: Vec<usize>,
    began: Duration,
    forecast: Forecast,
    lengths: StepCounts,
    specs: Specs,
    texts: Texts,
}

impl Queue {
    pub(crate) fn rows(&self) -> &[CaseRow] {
        &self.rows
    }

    pub(crate) fn specs(&self) -> &Specs {
        &self.specs
    }

    /// Describes the case of a record, without a workload or machine that all cases have.
    pub(crate) fn in_words(&self, record: &Record) -> String {
        let mut text = format!("{} on {}", record.algorithm, record.topology);
        for (specs, part) in self.specs[2..].iter().zip([&record.workload, &record.machine]) {
            if specs.len() > 1 {
                text += &format!(", {part}");
            }
        }
        text
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the rows that pass a filter of specs, states and reasons.
    pub(crate) fn passing(&self, filter: &Filter) -> Vec<usize> {
        let found = self.texts.find(filter);
        let passes = |row: &CaseRow| {
            let texts = row.texts.iter().map(|number| found[*number as usize]);
            filter.accepts(texts.fold(Found::default(), BitOr::bitor))
        };
        (0..self.rows.len()).filter(|index| passes(&self.rows[*index])).collect()
    }

    pub(crate) fn index_of(&self, case: &CaseKey) -> Option<usize> {
        self.index.get(case).copied()
    }

    /// Notes that all current rows are in an analysis.
    pub(super) fn analysed_in(&mut self, analysis: u64) {
        for row in &mut self.rows {
            if row.analysis == 0 && matches!(row.state, CaseState::Done(_)) {
                row.analysis = analysis;
            }
        }
    }

    /// Returns the cases that are not in the analysis with this number or an earlier one.
    pub(crate) fn open(&self, analysis: u64) -> impl Iterator<Item = usize> {
        let is_open = move |row: &CaseRow| row.analysis == 0 || row.analysis > analysis;
        self.rows.iter().enumerate().filter(move |(_, row)| is_open(row)).map(|(at, _)| at)
    }

    pub(crate) fn failed(&self) -> Vec<Case> {
        let cases = self.rows.iter().filter(|row| row.row().is_some_and(|row| row.is_failure()));
        cases.filter_map(|row| row.case.as_ref().ok()).cloned().collect()
    }

    pub(super) fn began(&self) -> Duration {
        self.began
    }

    /// Removes the unsupported cases of the last batch. Returns the algorithms that support none of
    /// its cases.
    pub(super) fn remove_unsupported_of_batch(&mut self) -> BTreeSet<String> {
        let batch: HashSet<usize> = std::mem::take(&mut self.batch).into_iter().collect();
        let is_unfit =
            |row: &CaseRow| row.row().is_some_and(|row| row.status == Status::Unsupported);
        let mut unfit = BTreeSet::new();
        let mut at = 0;
        self.rows.retain(|row| {
            let leaves = batch.contains(&at) && is_unfit(row);
            if leaves {
                unfit.insert(row.specs()[0].to_owned());
            }
            at += 1;
            !leaves
        });
        for row in &self.rows {
            unfit.remove(row.specs()[0]);
        }
        self.count_again();
        unfit
    }

    /// Removes the cases that failed, so that they can run again.
    pub(super) fn remove_failed(&mut self) {
        self.rows.retain(|row| row.row().is_none_or(|row| !row.is_failure()));
        self.count_again();
    }

    pub(super) fn remove_followed(&mut self) {
        self.rows.retain(|row| !row.is_followed);
        self.count_again();
    }

    /// Updates the fields that depend on all rows.
    fn count_again(&mut self) {
        (self.index, self.specs) = (index(&self.rows), specs(&self.rows));
        self.count();
    }

    pub(crate) fn clear(&mut self) -> Self {
        let empty = Self { changes: self.changes + 1, ..Self::default() };
        std::mem::replace(self, empty)
    }

    pub(crate) fn known(&self, followed: bool) -> Vec<CaseKey> {
        let is_known = |row: &&CaseRow| row.row().is_some() && (followed || !row.is_followed);
        self.rows.iter().filter(is_known).map(|row| row.key.clone()).collect()
    }

    pub(crate) fn enqueue(&mut self, prepared: PreparedRows, now: Duration) -> Vec<Case> {
        self.stop();
        self.rows.retain(|row| !matches!(row.state, CaseState::Stopped));
        let first = self.rows.len();
        if first == 0 {
            (self.specs, self.index) = (prepared.specs, prepared.index);
            (self.rows, self.texts) = (prepared.rows, prepared.texts);
        } else {
            for (known, new) in self.specs.iter_mut().zip(prepared.specs) {
                known.extend(new);
            }
            // The numbers of texts are those of `prepared.texts`, and indices have changed with
            // removed rows.
            let numbers = self.texts.append(prepared.texts);
            self.rows.extend(prepared.rows.into_iter().map(|mut row| {
                row.texts = row.texts.map(|old| numbers[old as usize]);
                row
            }));
            self.index = index(&self.rows);
        }
        self.batch = (first..self.rows.len()).filter(|at| self.rows[*at].row().is_none()).collect();
        (self.began, self.forecast) = (now, prepared.forecast);
        self.count();
        prepared.cases
    }

    pub(crate) fn stop(&mut self) {
        for row in &mut self.rows {
            if matches!(row.state, CaseState::Waiting | CaseState::Running(_)) {
                row.enter(CaseState::Stopped, "", &mut self.texts);
            }
        }
        self.count();
    }

    pub(crate) fn apply(&mut self, event: CaseEvent, now: Duration) {
        match event {
            CaseEvent::Started { cases } => {
                cases.for_each(|case| {
                    self.change(case, |row, texts| row.enter(CaseState::Running(now), "", texts));
                });
            }
            CaseEvent::Progress { case, steps, messages } => {
                // Progress is not a change, because no panel selects or sorts rows by it.
                if let Some(row) = self.batch.get(case).and_then(|i| self.rows.get_mut(*i)) {
                    row.progress.get_or_insert_default().pace.reached(steps, messages, now);
                }
            }
            CaseEvent::Finished { case, record } => {
                self.forecast.ended(case, now.saturating_sub(self.began));
                let row = self.batch.get(case).and_then(|i| self.rows.get(*i));
                if let Some(Ok(case)) = row.map(|row| &row.case) {
                    self.lengths.ended(case, &record);
                }
                self.change(case, |row, texts| {
                    let experiment = match &row.case {
                        Ok(case) => Arc::clone(&case.experiment),
                        Err(_) => Arc::from(record.experiment.as_str()),
                    };
                    row.end(&record, experiment, texts);
                });
            }
            // This batch has no observer.
            CaseEvent::Log { .. } | CaseEvent::NoWorker { .. } | CaseEvent::Observed { .. } => {}
        }
    }

    /// Changes the state of a case of the batch.
    fn change(&mut self, case: usize, enter: impl FnOnce(&mut CaseRow, &mut Texts)) {
        let Some(row) = self.batch.get(case).and_then(|i| self.rows.get_mut(*i)) else { return };
        let length = row.case.as_ref().ok().and_then(|case| self.lengths.steps_of(case));
        if length.is_some() {
            row.progress.get_or_insert_default().length = length;
        }
        *counter(&mut self.tally, &row.state) -= 1;
        enter(row, &mut self.texts);
        self.changes += 1;
        *counter(&mut self.tally, &row.state) += 1;
    }

    fn count(&mut self) {
        self.changes += 1;
        self.tally = Tally { cases: self.rows.len(), ..Tally::default() };
        for row in &self.rows {
            *counter(&mut self.tally, &row.state) += 1;
        }
    }

    pub(crate) fn left(&self, now: Duration) -> Option<Duration> {
        self.forecast.left(now.saturating_sub(self.began)).filter(|_| self.is_busy())
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.tally.open() > 0
    }

    pub(crate) fn records(&self) -> Vec<Arc<PackedRow>> {
        self.rows.iter().filter_map(CaseRow::row).cloned().collect()
    }
}

fn counter<'t>(tally: &'t mut Tally, state: &CaseState) -> &'t mut usize {
    match state {
        CaseState::Waiting => &mut tally.waiting,
        CaseState::Running(_) => &mut tally.running,
        CaseState::Stopped => &mut tally.stopped,
        CaseState::Done(record) => match record.status {
            Status::Ok => &mut tally.ok,
            Status::Unsupported => &mut tally.unsupported,
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => {
                &mut tally.failed
            }
        },
    }
}
