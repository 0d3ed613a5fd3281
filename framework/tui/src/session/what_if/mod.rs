//! What if the machine were another, or blocks larger: the rows of a machine with some of its
//! parameters changed, in place of those that there are.
//!
//! What prices a schedule by the facts of its steps does so at once, from the facts; other cases
//! are planned again in workers, and have the times of before until that is done. All panels show
//! what follows: they are given the one comparison there is.

mod facts;
mod notch;
mod pricing;

use super::Session;
use super::batch::{Batch, Event};
use super::queue::State;
pub use facts::FACTS;
use facts::{Facts, Fetching};
pub(crate) use notch::{Notch, next, presets_of, values_of};
use pricing::Subject;
pub(crate) use pricing::{Scenario, Tried};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::parameter::Parameter;
use swapmeet_core::spec::Spec;
use swapmeet_results::{CaseId, Record, Status, units};
use swapmeet_runner::case::Case;
use swapmeet_runner::experiment::OwnMachine;
use swapmeet_runner::input::Text;
use swapmeet_workloads::Workload;

/// Rows that are priced again; a machine of more is tried on the first of them.
const MOST: usize = 2_000;

/// What is tried, and on what.
#[derive(Debug, Default)]
pub(crate) struct WhatIf {
    base: Option<Base>,
    /// Parameters with another value.
    changes: Vec<(&'static str, String)>,
    /// Bytes of a block.
    block: Option<u64>,
    subjects: Arc<Vec<Subject>>,
    /// How many rows there were when the subjects were looked for.
    rows: usize,
    /// The schedules, by what tells them apart.
    schedules: HashMap<[String; 3], usize>,
    /// What is known of each.
    facts: Vec<Option<Arc<Facts>>>,
    fetching: Option<Fetching>,
    answers: Arc<HashMap<CaseId, Arc<Record>>>,
    /// Cases that workers are asked for, once nothing has changed for a moment.
    pending: Vec<Case>,
    due: Option<Instant>,
    following: Option<Batch>,
}

/// What is changed.
#[derive(Debug, Clone)]
struct Base {
    machine: Machine,
    workload: Workload,
}

/// Something that can be changed.
#[derive(Debug, Clone)]
pub(crate) struct Slider {
    /// `None` for the size of blocks.
    pub(crate) parameter: Option<&'static dyn Parameter>,
    pub(crate) value: String,
    /// As it is without a change.
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
    /// Whether anything is changed.
    pub(crate) fn is_on(&self) -> bool {
        self.base.is_some() && (!self.changes.is_empty() || self.block.is_some())
    }

    /// Whether something is still to come.
    pub(super) fn is_moving(&self) -> bool {
        self.fetching.is_some() || self.following.is_some() || self.due.is_some()
    }

    /// The machine that is tried.
    pub(crate) fn machine(&self) -> Option<Machine> {
        let base = self.base.as_ref()?;
        let changes: Vec<(&str, &str)> =
            self.changes.iter().map(|(key, text)| (*key, text.as_str())).collect();
        base.machine.with(&changes).ok()
    }

    fn resized(&self) -> Option<(Workload, Workload)> {
        let workload = &self.base.as_ref()?.workload;
        Some((workload.clone(), workload.with_block_bytes(self.block?)?))
    }

    /// What is tried, in words: the machine, and the workload if its blocks have another size.
    pub(crate) fn in_words(&self) -> Option<String> {
        let machine = self.machine()?.to_string();
        Some(match self.resized() {
            Some((_, workload)) => format!("{machine}, {workload}"),
            None => machine,
        })
    }

    /// All that can be changed.
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

    /// Schedules whose facts are known, and all.
    pub(crate) fn known(&self) -> (usize, usize) {
        let open = self.fetching.as_ref().map_or(0, |fetching| fetching.open);
        (self.facts.len() - open.min(self.facts.len()), self.facts.len())
    }

    /// What the thread that compares needs to try it.
    pub(super) fn scenario(&self) -> Option<Scenario> {
        if !self.is_on() {
            return None;
        }
        Some(Scenario {
            machine: self.machine()?,
            resized: self.resized(),
            subjects: Arc::clone(&self.subjects),
            facts: self.facts.clone(),
            answers: Arc::clone(&self.answers),
        })
    }

    /// What still is to be planned is asked for in a moment, unless something changes again.
    pub(super) fn tried(&mut self, tried: &Tried) {
        /// A key that is held comes more often.
        const MOMENT: Duration = Duration::from_millis(250);
        self.pending.clone_from(&tried.pending);
        let waits = self.fetching.is_some() || self.following.is_some();
        self.due = (!self.pending.is_empty() && !waits).then(|| Instant::now() + MOMENT);
    }

    /// What is changed, to come back to.
    pub(crate) fn changes(&self) -> (Vec<(&'static str, String)>, Option<u64>) {
        (self.changes.clone(), self.block)
    }

    fn changed(&mut self) {
        (self.following, self.due) = (None, None);
        self.pending.clear();
    }
}

/// What tells schedules apart, whatever sizes and machines.
fn schedule_of(case: &Case) -> [String; 3] {
    let workload = match case.workload.with_block_bytes(1) {
        Some(workload) => workload.to_string(),
        None => format!("{} {}", case.workload, case.seed),
    };
    [case.topology.spec(), case.algorithm.to_string(), workload]
}

impl Session {
    /// What can be tried is what the case in focus runs on, unless something is tried already.
    pub(crate) fn try_out(&mut self) {
        let Some((_, row)) = self.focused() else { return };
        let Ok(case) = &row.case else { return };
        let base = Base { machine: case.machine.clone(), workload: case.workload.clone() };
        let tried = &mut self.what_if;
        if !tried.is_on()
            && tried
                .base
                .as_ref()
                .is_none_or(|old| old.machine != base.machine || old.workload != base.workload)
        {
            if tried.base.as_ref().is_none_or(|old| old.machine != base.machine) {
                (tried.subjects, tried.rows) = (Arc::default(), 0);
            }
            tried.base = Some(base);
        }
        self.look_for_subjects();
    }

    /// The rows on the machine, and the facts of their schedules.
    fn look_for_subjects(&mut self) {
        let rows = self.queue.tally();
        let rows = rows.cases - rows.waiting - rows.running;
        let Some(base) = self.what_if.base.clone().filter(|_| self.what_if.rows != rows) else {
            return;
        };
        let tried = &mut self.what_if;
        let (mut subjects, mut wanted) = (Vec::new(), Vec::new());
        for row in self.queue.rows() {
            let (State::Done(record), Ok(case)) = (&row.state, &row.case) else { continue };
            if record.status != Status::Ok || case.machine != base.machine || subjects.len() >= MOST
            {
                continue;
            }
            let next = tried.facts.len();
            let schedule = *tried.schedules.entry(schedule_of(case)).or_insert(next);
            if schedule == next {
                tried.facts.push(None);
                wanted.push((schedule, case.clone()));
            }
            subjects.push(Subject { record: Arc::clone(record), case: case.clone(), schedule });
        }
        (tried.subjects, tried.rows) = (Arc::new(subjects), rows);
        if !wanted.is_empty() {
            // Those that were on their way are asked for again beside the new ones.
            let open = tried.fetching.take().map_or(0, |fetching| fetching.open);
            if open > 0 {
                let known: Vec<usize> = wanted.iter().map(|(number, _)| *number).collect();
                for subject in tried.subjects.iter() {
                    let is_open = tried.facts[subject.schedule].is_none()
                        && !known.contains(&subject.schedule);
                    if is_open && !wanted.iter().any(|(number, _)| *number == subject.schedule) {
                        wanted.push((subject.schedule, subject.case.clone()));
                    }
                }
            }
            tried.fetching = Some(Fetching::start(wanted, &self.runs.workers));
        }
        self.analysis.is_stale |= self.what_if.is_on();
    }

    /// Moves a slider; says why it can't.
    pub(crate) fn slide(&mut self, slider: &Slider, up: bool, notch: Notch) {
        let next = match slider.parameter {
            Some(parameter) => next(parameter, &slider.value, up, notch),
            None => self.what_if.next_block(up, notch).map(|bytes| bytes.to_string()),
        };
        match next {
            Some(text) => {
                if let Err(why) = self.set_slider(slider, &text) {
                    self.tell(&why, true);
                }
            }
            None => {
                self.tell(&format!("{} goes no further: Enter types a value", slider.name()), false)
            }
        }
    }

    /// Gives a slider a value.
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
        self.retry();
        Ok(())
    }

    /// A slider, or all of them, as they were.
    pub(crate) fn put_back(&mut self, slider: Option<&Slider>) {
        match slider.map(|slider| slider.parameter) {
            None => (self.what_if.changes, self.what_if.block) = (Vec::new(), None),
            Some(None) => self.what_if.block = None,
            Some(Some(parameter)) => {
                self.what_if.changes.retain(|(key, _)| *key != parameter.key())
            }
        }
        self.retry();
    }

    /// Changes what it was before.
    pub(super) fn take_back(
        &mut self,
        (changes, block): (Vec<(&'static str, String)>, Option<u64>),
    ) {
        (self.what_if.changes, self.what_if.block) = (changes, block);
        self.retry();
    }

    fn retry(&mut self) {
        self.what_if.changed();
        self.analysis.is_stale = true;
    }

    /// What is tried becomes a machine of the experiment's own, which is picked.
    pub(crate) fn keep_machine(&mut self, name: &str) -> Result<(), String> {
        let Some(machine) = self.what_if.machine() else {
            return Err("no machine is tried".to_owned());
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
        self.selection.add_machine(own)?;
        self.tell(
            &format!("[machine.{name}] is {definition}: picked; a runs it, S saves it"),
            false,
        );
        Ok(())
    }

    /// Takes in facts and rows that came; asks for what is due. True if there is something new to
    /// draw.
    pub(super) fn take_tried(&mut self) -> bool {
        if self.what_if.is_on() {
            self.look_for_subjects();
        }
        let tried = &mut self.what_if;
        let mut news = false;
        // Asked before what came is taken: what comes from threads that are gone has come.
        let is_over = tried.fetching.as_ref().is_some_and(Fetching::is_over);
        while let Some((number, facts)) = tried.fetching.as_mut().and_then(Fetching::try_next) {
            tried.facts[number] = facts;
            news = true;
        }
        if is_over {
            tried.fetching = None;
            news = true;
        }
        while let Some(event) = tried.following.as_ref().and_then(Batch::try_next) {
            match event {
                Event::Finished(_, record) => {
                    let answers = Arc::make_mut(&mut tried.answers);
                    if answers.len() >= 4 * MOST {
                        answers.clear();
                    }
                    answers.insert(record.case().owned(), Arc::from(record));
                    news = true;
                }
                Event::Done => {
                    tried.following = None;
                    break;
                }
                Event::Started(_) | Event::Progress(..) | Event::Log(_) => {}
            }
        }
        if tried.due.is_some_and(|due| Instant::now() >= due) {
            tried.due = None;
            let cases = std::mem::take(&mut tried.pending);
            tried.following = Some(Batch::start(cases, self.runs.workers.clone(), None));
        }
        self.analysis.is_stale |= news && self.what_if.is_on();
        news
    }
}

impl WhatIf {
    fn next_block(&self, up: bool, notch: Notch) -> Option<u64> {
        let base = self.base.as_ref()?.workload.block_bytes();
        let now = self.block.unwrap_or(base);
        let factor = match notch {
            Notch::Small => 2,
            Notch::Large => 16,
        };
        let next = if up { now.checked_mul(factor)?.max(1) } else { now / factor };
        (next != now).then_some(next)
    }
}
