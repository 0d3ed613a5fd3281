//! A trial of another machine or block size: the selected group is run again with the changes of
//! the user. The cases share the plans of workers, so that the result is there in a fraction of a
//! second. The rows are not part of the session's.

mod slider_steps;

use super::batch::Batch;
use super::queue::CaseRow;
use super::{Session, Setting};
pub(crate) use slider_steps::{StepSize, next_value, presets_of, values_of};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::parameter::Parameter;
use swapmeet_core::spec::Spec;
use swapmeet_results::stats::Summary;
use swapmeet_results::{Record, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::experiment::OwnMachine;
use swapmeet_runner::input::Text;
use swapmeet_runner::worker::Workers;
use swapmeet_workloads::Workload;

/// The time after the last change when the cases start, longer than between two repetitions of a
/// key that is held down.
const MOMENT: Duration = Duration::from_millis(120);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    parameters: Vec<(&'static str, String)>,
    block: Option<u64>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.block.is_none()
    }
}

/// The machine and the workload of the selected case, to which the changes apply.
#[derive(Debug)]
pub(crate) struct Base {
    machine: Arc<Machine>,
    workload: Arc<Workload>,
}

#[derive(Debug, Clone, PartialEq)]
struct Plan {
    group: Arc<Setting>,
    changes: Changes,
    /// The number of rows, so that a trial includes new ones.
    rows: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Trial {
    base: Option<Base>,
    pub(crate) changes: Changes,
    plan: Option<Plan>,
    due: Option<(Instant, Plan)>,
    batch: Option<Batch>,
    rows: Vec<Record>,
}

#[derive(Debug, Clone)]
pub(crate) struct Slider {
    /// The parameter; `None` for the block size.
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

impl Trial {
    pub(crate) fn is_on(&self) -> bool {
        self.base.is_some() && !self.changes.is_empty()
    }

    pub(crate) fn awaits_results(&self) -> bool {
        self.batch.is_some() || self.due.is_some()
    }

    fn machine(&self, changes: &Changes) -> Result<Machine, String> {
        let base = self.base.as_ref().ok_or("no case with a machine is selected")?;
        let given: Vec<(&str, &str)> =
            changes.parameters.iter().map(|(key, text)| (*key, text.as_str())).collect();
        base.machine.with(&given).map_err(|(_, error)| error.to_string())
    }

    fn workload(&self) -> Option<Arc<Workload>> {
        let workload = &self.base.as_ref()?.workload;
        Some(match self.changes.block {
            Some(bytes) => Arc::new(workload.with_block_bytes(bytes)?),
            None => Arc::clone(workload),
        })
    }

    /// Describes the changed machine and, if it is changed, the workload.
    pub(crate) fn in_words(&self) -> Option<String> {
        let machine = self.machine(&self.changes).ok()?.to_string();
        Some(match self.changes.block {
            Some(_) => format!("{machine}, {}", self.workload()?),
            None => machine,
        })
    }

    pub(crate) fn sliders(&self) -> Vec<Slider> {
        let (Some(base), Ok(machine)) = (&self.base, self.machine(&self.changes)) else {
            return Vec::new();
        };
        let block = base.workload.is_uniform().then(|| Slider {
            parameter: None,
            value: units::size(self.changes.block.unwrap_or(base.workload.block_bytes()) as f64),
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

    /// Returns the changes after a step of a slider; `None` at the end of its range.
    pub(crate) fn moved(
        &self,
        slider: &Slider,
        up: bool,
        size: StepSize,
    ) -> Option<Result<Changes, String>> {
        let next = match slider.parameter {
            Some(parameter) => next_value(parameter, &slider.value, up, size),
            None => self.next_block(up, size).map(|bytes| bytes.to_string()),
        };
        next.map(|text| self.set(slider, &text))
    }

    /// Returns the changes after a slider was set to a value.
    pub(crate) fn set(&self, slider: &Slider, text: &str) -> Result<Changes, String> {
        let Some(base) = &self.base else { return Ok(Changes::default()) };
        let mut changes = self.changes.clone();
        let Some(parameter) = slider.parameter else {
            let resized = base.workload.with_block_bytes(0);
            let spec = resized.map(|old| old.to_string().replacen(":0", &format!(":{text}"), 1));
            let read = spec.and_then(|spec| Workload::parse(&spec).ok());
            let read = read.filter(Workload::is_uniform).ok_or_else(|| {
                format!("expected a size such as 64, 4KiB or 1MiB, found `{text}`")
            })?;
            let bytes = read.block_bytes();
            changes.block = (bytes != base.workload.block_bytes()).then_some(bytes);
            return Ok(changes);
        };
        let key = parameter.key();
        let text = parameter
            .canonical(text)
            .map_err(|expected| format!("expected {expected}, found `{text}`"))?;
        changes.parameters.retain(|(other, _)| *other != key);
        let was = base.machine.values().into_iter().find(|value| value.parameter.key() == key);
        if was.is_none_or(|was| was.text != text) {
            changes.parameters.push((key, text));
        }
        self.machine(&changes)?;
        Ok(changes)
    }

    pub(crate) fn without(&self, slider: &Slider) -> Changes {
        let mut changes = self.changes.clone();
        match slider.parameter {
            None => changes.block = None,
            Some(parameter) => changes.parameters.retain(|(key, _)| *key != parameter.key()),
        }
        changes
    }

    fn next_block(&self, up: bool, size: StepSize) -> Option<u64> {
        let base = self.base.as_ref()?.workload.block_bytes();
        let now = self.changes.block.unwrap_or(base);
        let factor = match size {
            StepSize::Small => 2,
            StepSize::Large => 16,
        };
        let next = if up { now.checked_mul(factor)?.max(1) } else { now / factor };
        (next != now).then_some(next)
    }

    /// Returns the changed machine for the experiment, and its definition.
    pub(crate) fn own_machine(&self, name: &str) -> Result<(OwnMachine, String), String> {
        let machine = self.machine(&self.changes)?;
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
        Ok((own, definition))
    }

    /// Returns the mean time of an algorithm in the trial, or why there is none (yet).
    pub(crate) fn time(&self, algorithm: &str) -> Result<f64, String> {
        let rows = || self.rows.iter().filter(|row| row.algorithm == algorithm);
        let times: Vec<f64> = rows().filter_map(|row| row.time_us).collect();
        match (Summary::of(&times), rows().next()) {
            (Some(summary), _) => Ok(summary.mean),
            (None, Some(row)) => Err(row.status.to_string()),
            (None, None) if self.awaits_results() => Err("running".to_owned()),
            (None, None) => Err("no time".to_owned()),
        }
    }

    fn cases(&self, group: &Setting, rows: &[CaseRow]) -> Vec<Case> {
        let (Ok(machine), Some(workload)) = (self.machine(&self.changes), self.workload()) else {
            return Vec::new();
        };
        let machine = Arc::new(machine);
        let own = rows.iter().filter(|row| *row.key.setting == *group);
        let changed = own.filter_map(|row| row.case.as_ref().ok()).map(|case| Case {
            machine: Arc::clone(&machine),
            workload: Arc::clone(&workload),
            ..case.clone()
        });
        changed.collect()
    }

    /// Starts the trial that is due, and processes its events.
    fn poll(&mut self, wanted: Option<Plan>, rows: &[CaseRow], workers: &Workers) -> bool {
        let mut news = false;
        match wanted {
            None => {
                news = self.plan.take().is_some();
                (self.due, self.batch) = (None, None);
                self.rows.clear();
            }
            Some(wanted) if self.plan.as_ref() == Some(&wanted) => self.due = None,
            Some(wanted) if self.due.as_ref().is_some_and(|(_, plan)| *plan == wanted) => {}
            Some(wanted) => {
                self.due = Some((Instant::now() + MOMENT, wanted));
                news = true;
            }
        }
        if let Some((_, plan)) = self.due.take_if(|(at, _)| Instant::now() >= *at) {
            let cases = self.cases(&plan.group, rows);
            self.rows.clear();
            self.plan = Some(plan);
            self.batch = (!cases.is_empty()).then(|| Batch::start(cases, workers.clone(), None));
            news = true;
        }
        while let Some(batch) = &self.batch {
            match batch.try_next() {
                Some(None) => break,
                Some(Some(CaseEvent::Finished { record, .. })) => self.rows.push(*record),
                Some(Some(_)) => continue,
                None => self.batch = None,
            }
            news = true;
        }
        news
    }
}

impl Session {
    /// Applies sliders to the selected case. Changes are kept on the same machine.
    fn rebase_trial(&mut self) {
        let base = self.selected_row().and_then(|(_, row)| {
            let case = row.case.as_ref().ok()?;
            Some(Base { machine: Arc::clone(&case.machine), workload: Arc::clone(&case.workload) })
        });
        let old = std::mem::replace(&mut self.trial.base, base);
        let [old, new] = [&old, &self.trial.base].map(|base| {
            (base.as_ref().map(|base| &base.machine), base.as_ref().map(|base| &base.workload))
        });
        if old.0 != new.0 {
            self.trial.changes = Changes::default();
        } else if old.1 != new.1 {
            self.trial.changes.block = None;
        }
    }

    /// Returns whether the screen has to be redrawn.
    pub(super) fn poll_trial(&mut self) -> bool {
        self.rebase_trial();
        let plan = || {
            let (_, row) = self.selected_row()?;
            Some(Plan {
                group: Arc::clone(&row.key.setting),
                changes: self.trial.changes.clone(),
                rows: self.queue.tally().rows(),
            })
        };
        let wanted = if self.trial.is_on() { plan() } else { None };
        self.trial.poll(wanted, self.queue.rows(), &self.workers)
    }
}
