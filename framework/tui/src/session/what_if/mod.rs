//! Recalculation of rows for other machine parameters or another block size.
//!
//! If the model can compute the times of a case from the facts of its schedule, the row of the case
//! is recalculated instantly. All other cases are planned again in workers, and keep their old
//! times until then. The new rows replace the old rows in the analysis, so that all panels show
//! them.

mod facts;
mod recalculation;
mod slider_steps;

use super::Session;
use super::batch::Batch;
use super::queue::{CaseRow, CaseState};
pub use facts::FACTS;
use facts::{FactsWorkers, ScheduleFacts};
use recalculation::AffectedRow;
pub(crate) use recalculation::{Scenario, ScenarioResult};
pub(crate) use slider_steps::{StepSize, next_value, presets_of, values_of};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::parameter::Parameter;
use swapmeet_core::spec::Spec;
use swapmeet_results::{CaseId, Record, Status, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::experiment::OwnMachine;
use swapmeet_runner::input::Text;
use swapmeet_workloads::Workload;

const MOST: usize = 2_000;

#[derive(Debug, Default)]
pub(crate) struct WhatIf {
    /// The machine and the workload to which the changes apply.
    base: Option<Base>,
    changes: Vec<(&'static str, String)>,
    block: Option<u64>,
    affected: Arc<Vec<AffectedRow>>,
    /// The number of cases that had a row when `affected` was last computed.
    rows: usize,
    /// For each schedule, its index in `facts`. The key consists of algorithm, topology and
    /// workload.
    schedules: HashMap<[String; 3], usize>,
    /// The facts of each schedule; `None` if they are not available (yet).
    facts: Vec<Option<Arc<ScheduleFacts>>>,
    fetching: Option<FactsWorkers>,
    /// The rows of the cases that were planned again.
    answers: Arc<HashMap<CaseId, Arc<Record>>>,
    /// The cases that workers will plan again when the user has made no change for a moment.
    pending: Arc<Vec<Case>>,
    /// The time at which workers start to plan the pending cases.
    due: Option<Instant>,
    following: Option<Batch>,
}

#[derive(Debug, Clone)]
struct Base {
    machine: Arc<Machine>,
    workload: Arc<Workload>,
}

#[derive(Debug, Clone)]
pub(crate) struct Slider {
    /// The machine parameter; `None` if the value is the block size.
    pub(crate) parameter: Option<&'static dyn Parameter>,
    pub(crate) value: String,
    pub(crate) was: String,
}

impl Slider {
    pub(crate) fn name(&self) -> &'static str {
        self.parameter.map_or("block size", Parameter::key)
    }

    pub(crate) fn meaning(&self) -> &'static str {
        self.parameter.map_or("bytes of a block", Parameter::meaning)
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.value != self.was
    }
}

impl WhatIf {
    pub(crate) fn is_on(&self) -> bool {
        self.base.is_some() && (!self.changes.is_empty() || self.block.is_some())
    }

    pub(super) fn awaits_results(&self) -> bool {
        self.fetching.is_some() || self.following.is_some() || self.due.is_some()
    }

    pub(crate) fn affects(&self, row: &CaseRow) -> bool {
        let machine = row.case.as_ref().ok().map(|case| &case.machine);
        self.is_on() && self.base.as_ref().map(|base| &base.machine) == machine
    }

    pub(crate) fn machine(&self) -> Option<Machine> {
        let base = self.base.as_ref()?;
        let changes: Vec<(&str, &str)> =
            self.changes.iter().map(|(key, text)| (*key, text.as_str())).collect();
        base.machine.with(&changes).ok()
    }

    fn resized(&self) -> Option<(Arc<Workload>, Arc<Workload>)> {
        let workload = &self.base.as_ref()?.workload;
        Some((workload.clone(), Arc::new(workload.with_block_bytes(self.block?)?)))
    }

    /// Describes the changed machine. If the block size is changed, also describes the workload.
    pub(crate) fn in_words(&self) -> Option<String> {
        let machine = self.machine()?.to_string();
        Some(match self.resized() {
            Some((_, workload)) => format!("{machine}, {workload}"),
            None => machine,
        })
    }

    pub(crate) fn sliders(&self) -> Vec<Slider> {
        let (Some(base), Some(machine)) = (&self.base, self.machine()) else { return Vec::new() };
        let block = base.workload.is_uniform().then(|| Slider {
            parameter: None,
            value: units::size(self.block.unwrap_or(base.workload.block_bytes()) as f64),
            was: units::size(base.workload.block_bytes() as f64),
        });
        let was = base.machine.values();
        let parameters = machine.values().into_iter().map(|value| Slider {
            was: was
                .iter()
                .find(|old| old.parameter.key() == value.parameter.key())
                .map_or_else(|| value.text.clone(), |old| old.text.clone()),
            parameter: Some(value.parameter),
            value: value.text,
        });
        block.into_iter().chain(parameters).collect()
    }

    pub(crate) fn known(&self) -> (usize, usize) {
        let open = self.fetching.as_ref().map_or(0, |fetching| fetching.open);
        (self.facts.len() - open.min(self.facts.len()), self.facts.len())
    }

    /// Returns the input of the recalculation; `None` if no value is changed.
    pub(super) fn scenario(&self) -> Option<Scenario> {
        if !self.is_on() {
            return None;
        }
        Some(Scenario {
            machine: Arc::new(self.machine()?),
            resized: self.resized(),
            affected: Arc::clone(&self.affected),
            facts: self.facts.clone(),
            answers: Arc::clone(&self.answers),
        })
    }

    /// Requests that workers plan the cases that could not be recalculated instantly. The workers
    /// start after a short delay.
    pub(super) fn schedule_planning(&mut self, result: &ScenarioResult) {
        /// The delay before workers start. It is longer than the time between two repetitions of a
        /// key that is held down.
        const MOMENT: Duration = Duration::from_millis(250);
        self.pending = Arc::clone(&result.pending);
        let waits = self.fetching.is_some() || self.following.is_some();
        self.due = (!self.pending.is_empty() && !waits).then(|| Instant::now() + MOMENT);
    }

    /// Returns the changed parameters, each with its new value, and the changed block size. Undo
    /// stores and restores these values.
    pub(crate) fn changes(&self) -> (Vec<(&'static str, String)>, Option<u64>) {
        (self.changes.clone(), self.block)
    }

    fn changed(&mut self) {
        (self.following, self.due) = (None, None);
        self.pending = Arc::default();
    }
}

/// Returns the key of the schedule of a case. Cases have the same key if they differ only in the
/// block size or the machine.
fn schedule_of(case: &Case) -> [String; 3] {
    let workload = match case.workload.with_block_bytes(1) {
        Some(workload) => workload.to_string(),
        None => format!("{} {}", case.workload, case.seed),
    };
    [case.topology.spec(), case.algorithm.to_string(), workload]
}

impl Session {
    /// Uses the machine and the workload of the case in focus as the original values of the
    /// sliders. If the user has already changed a value, does nothing.
    pub(crate) fn start_what_if(&mut self) {
        let Some((_, row)) = self.focused() else { return };
        let Ok(case) = &row.case else { return };
        let base = Base { machine: case.machine.clone(), workload: case.workload.clone() };
        let what_if = &mut self.what_if;
        if !what_if.is_on()
            && what_if
                .base
                .as_ref()
                .is_none_or(|old| old.machine != base.machine || old.workload != base.workload)
        {
            if what_if.base.as_ref().is_none_or(|old| old.machine != base.machine) {
                (what_if.affected, what_if.rows) = (Arc::default(), 0);
            }
            what_if.base = Some(base);
        }
        self.find_affected_rows();
    }

    /// Finds the affected rows, which are the rows of the original machine. Requests the facts of
    /// their schedules.
    fn find_affected_rows(&mut self) {
        let rows = self.queue.tally().rows();
        if self.what_if.rows == rows {
            return;
        }
        let Some(base) = self.what_if.base.clone() else { return };
        let what_if = &mut self.what_if;
        let (mut affected, mut wanted) = (Vec::new(), Vec::new());
        for row in self.queue.rows() {
            let (CaseState::Done(record), Ok(case)) = (&row.state, &row.case) else { continue };
            if record.status != Status::Ok || case.machine != base.machine || affected.len() >= MOST
            {
                continue;
            }
            let next = what_if.facts.len();
            let schedule = *what_if.schedules.entry(schedule_of(case)).or_insert(next);
            if schedule == next {
                what_if.facts.push(None);
                wanted.push((schedule, case.clone()));
            }
            affected.push(AffectedRow { record: Arc::clone(record), case: case.clone(), schedule });
        }
        (what_if.affected, what_if.rows) = (Arc::new(affected), rows);
        if !wanted.is_empty() {
            // The new request replaces the old one. Therefore, it must include the schedules whose
            // facts have not arrived yet.
            let open = what_if.fetching.take().map_or(0, |fetching| fetching.open);
            if open > 0 {
                let known: Vec<usize> = wanted.iter().map(|(number, _)| *number).collect();
                for row in what_if.affected.iter() {
                    let is_open =
                        what_if.facts[row.schedule].is_none() && !known.contains(&row.schedule);
                    if is_open && !wanted.iter().any(|(number, _)| *number == row.schedule) {
                        wanted.push((row.schedule, row.case.clone()));
                    }
                }
            }
            what_if.fetching = Some(FactsWorkers::start(wanted, &self.runs.workers));
        }
        self.analysis.is_stale |= self.what_if.is_on();
    }

    pub(crate) fn move_slider(&mut self, slider: &Slider, up: bool, size: StepSize) {
        let next = match slider.parameter {
            Some(parameter) => next_value(parameter, &slider.value, up, size),
            None => self.what_if.next_block(up, size).map(|bytes| bytes.to_string()),
        };
        match next {
            Some(text) => {
                if let Err(why) = self.set_slider(slider, &text) {
                    self.show_message(&why, true);
                }
            }
            None => self.show_message(
                &format!("{} is at its limit: press Enter to type a value", slider.name()),
                false,
            ),
        }
    }

    pub(crate) fn set_slider(&mut self, slider: &Slider, text: &str) -> Result<(), String> {
        let Some(base) = &self.what_if.base else { return Ok(()) };
        match slider.parameter {
            None => {
                let resized = base
                    .workload
                    .with_block_bytes(0)
                    .map(|old| old.to_string().replacen(":0", &format!(":{text}"), 1));
                let read = resized
                    .and_then(|spec| Workload::parse(&spec).ok())
                    .filter(Workload::is_uniform);
                let read = read.ok_or_else(|| {
                    format!("expected a size such as 64, 4KiB or 1MiB, found `{text}`")
                })?;
                let bytes = read.block_bytes();
                self.what_if.block = (bytes != base.workload.block_bytes()).then_some(bytes);
            }
            Some(parameter) => {
                let key = parameter.key();
                let mut changes = self.what_if.changes.clone();
                changes.retain(|(other, _)| *other != key);
                let was =
                    base.machine.values().into_iter().find(|value| value.parameter.key() == key);
                let text = parameter
                    .canonical(text)
                    .map_err(|expected| format!("expected {expected}, found `{text}`"))?;
                if was.is_none_or(|was| was.text != text) {
                    changes.push((key, text));
                }
                let given: Vec<(&str, &str)> =
                    changes.iter().map(|(key, text)| (*key, text.as_str())).collect();
                base.machine.with(&given).map_err(|(_, error)| error.to_string())?;
                self.what_if.changes = changes;
            }
        }
        self.changes_applied();
        Ok(())
    }

    /// Resets a slider, or all sliders if `slider` is `None`.
    pub(crate) fn reset_slider(&mut self, slider: Option<&Slider>) {
        match slider.map(|slider| slider.parameter) {
            None => (self.what_if.changes, self.what_if.block) = (Vec::new(), None),
            Some(None) => self.what_if.block = None,
            Some(Some(parameter)) => {
                self.what_if.changes.retain(|(key, _)| *key != parameter.key());
            }
        }
        self.changes_applied();
    }

    pub(super) fn restore(&mut self, (changes, block): (Vec<(&'static str, String)>, Option<u64>)) {
        (self.what_if.changes, self.what_if.block) = (changes, block);
        self.changes_applied();
    }

    fn changes_applied(&mut self) {
        self.what_if.changed();
        self.analysis.is_stale = true;
    }

    pub(crate) fn save_machine(&mut self, name: &str) -> Result<(), String> {
        let Some(machine) = self.what_if.machine() else {
            return Err("there is no changed machine".to_owned());
        };
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        if !is_name {
            return Err(format!("expected a name of letters, digits, - and _, found `{name}`"));
        }
        let definition = machine.definition().unwrap_or_else(|| machine.to_string());
        let spec = Spec::parse("machine", &definition).map_err(|e| e.to_string())?;
        let text = |kind: &str, text: &str| Text::flag(kind, text);
        let own = OwnMachine {
            name: text("machine", name),
            base: Some(text("base", spec.name())),
            parameters: spec
                .args()
                .iter()
                .filter_map(|arg| Some((text("parameter", arg.key()?), text("value", arg.value()))))
                .collect(),
        };
        self.chosen.add_machine(own)?;
        self.show_message(
            &format!("[machine.{name}] is {definition}; selected: a runs it, S saves it"),
            false,
        );
        Ok(())
    }

    /// Processes facts and rows that have arrived. If the delay has passed, starts planning.
    /// Returns whether the screen has to be redrawn.
    pub(super) fn poll_what_if(&mut self) -> bool {
        if self.what_if.is_on() {
            self.find_affected_rows();
        }
        let what_if = &mut self.what_if;
        let mut news = false;
        // Check whether the threads have ended before the results are received. If they have, the
        // loop below receives all remaining results.
        let is_over = what_if.fetching.as_ref().is_some_and(FactsWorkers::is_over);
        // With the facts that have arrived, more rows can be recalculated instantly.
        while let Some((number, facts)) = what_if.fetching.as_mut().and_then(FactsWorkers::try_next)
        {
            what_if.facts[number] = facts;
            news = true;
        }
        if is_over {
            what_if.fetching = None;
            news = true;
        }
        // Store the rows of cases that workers have planned again. If there are too many rows,
        // drop all earlier rows first.
        while let Some(batch) = &what_if.following {
            match batch.try_next() {
                Some(None) => break,
                Some(Some(CaseEvent::Finished { record, .. })) => {
                    let answers = Arc::make_mut(&mut what_if.answers);
                    if answers.len() >= 4 * MOST {
                        answers.clear();
                    }
                    answers.insert(record.case().owned(), Arc::from(record));
                    news = true;
                }
                Some(Some(_)) => {}
                None => what_if.following = None,
            }
        }
        // Planning does not start after each change, but when no slider has changed for a moment.
        if what_if.due.is_some_and(|due| Instant::now() >= due) {
            what_if.due = None;
            let cases = std::mem::take(&mut what_if.pending);
            what_if.following = Some(Batch::start(cases.to_vec(), self.runs.workers.clone(), None));
        }
        self.analysis.is_stale |= news && self.what_if.is_on();
        news
    }
}

impl WhatIf {
    fn next_block(&self, up: bool, size: StepSize) -> Option<u64> {
        let base = self.base.as_ref()?.workload.block_bytes();
        let now = self.block.unwrap_or(base);
        let factor = match size {
            StepSize::Small => 2,
            StepSize::Large => 16,
        };
        let next = if up { now.checked_mul(factor)?.max(1) } else { now / factor };
        (next != now).then_some(next)
    }
}
