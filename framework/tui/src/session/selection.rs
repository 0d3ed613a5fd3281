//! The selection of cases. It consists of four lists of specs, and settings. Specs have the same
//! syntax as on the command line.

mod collectives;
mod typed;

use super::suggestions::{Study, Suggestion, own_machine, studies, suggestions};
use crate::filter::Filter;
use std::collections::BTreeSet;
use std::path::PathBuf;
use swapmeet_core::cost::machine::presets;
use swapmeet_core::delivery::collective::COLLECTIVES;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::quoted;
use swapmeet_runner::case::{self, Case};
use swapmeet_runner::experiment::{Experiment, OwnMachine, seconds};
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::registry::Registry;

pub(crate) use typed::FormParameter;

/// A list of the explore panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Algorithms,
    Topologies,
    Workloads,
    Machines,
    /// The settings: repetitions, seed, timeout and name.
    Settings,
    /// The experiment files.
    Studies,
}

impl Section {
    /// All lists in display order.
    pub(crate) const ALL: [Self; 6] = [
        Self::Algorithms,
        Self::Topologies,
        Self::Workloads,
        Self::Machines,
        Self::Settings,
        Self::Studies,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Algorithms => "Algorithms",
            Self::Topologies => "Topologies",
            Self::Workloads => "Workloads",
            Self::Machines => "Machines",
            Self::Settings => "Settings",
            Self::Studies => "Studies",
        }
    }

    /// Returns the singular form of the list's name, for messages.
    pub(crate) fn singular(self) -> &'static str {
        match self {
            Self::Algorithms => "algorithm",
            Self::Topologies => "topology",
            Self::Workloads => "workload",
            Self::Machines => "machine",
            Self::Settings => "setting",
            Self::Studies => "experiment file",
        }
    }
}

/// A spec in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The spec in canonical form, so that equal specs have equal texts.
    pub(crate) spec: String,
    /// Whether the spec is selected.
    pub(crate) on: bool,
}

/// A line of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListItem<'a> {
    /// The index of a spec in the list, and the spec.
    Choice(usize, &'a Choice),
    Suggestion(&'a Suggestion),
    Setting(Setting),
    Study(&'a Study),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The number of times that each case runs.
    Repetitions,
    Seed,
    /// The time limit of a case in seconds.
    Timeout,
    /// Whether rows contain the optimum.
    Optimum,
    Name,
}

impl Setting {
    const ALL: [Self; 5] =
        [Self::Repetitions, Self::Seed, Self::Timeout, Self::Optimum, Self::Name];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Repetitions => "repetitions",
            Self::Seed => "seed",
            Self::Timeout => "timeout_secs",
            Self::Optimum => "optimum",
            Self::Name => "name",
        }
    }

    /// Returns the description of the setting.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Repetitions => "how often each case is run, each time with the next seed",
            Self::Seed => "the seed of the first repetition",
            Self::Timeout => "time limit of a case in seconds; empty for no limit",
            Self::Optimum => "true: also find the least time of any schedule; empty for false",
            Self::Name => "the name of the experiment in the rows",
        }
    }
}

/// The parts of the selection that undo restores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SelectionState {
    choices: [Vec<Choice>; 4],
    own_machines: Vec<OwnMachine>,
    name: String,
    repetitions: u32,
    seed: u64,
    timeout_secs: Option<f64>,
    optimum: bool,
}

/// The selection of cases, and the suggestions for its lists.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    state: SelectionState,
    suggestions: [Vec<Suggestion>; 4],
    studies: Vec<Study>,
    proof_scope: ProofScope,
}

impl Selection {
    /// Selects the cases of an experiment. The suggestions come from the registry.
    pub(crate) fn new(experiment: &Experiment, registry: &Registry) -> Self {
        // Keep an invalid range of sizes unchanged. The error is reported when the user starts a
        // run.
        let workloads =
            case::expanded(&experiment.workloads).unwrap_or_else(|_| experiment.workloads.clone());
        let selected = |list: &[Text]| {
            let mut seen = BTreeSet::new();
            let new = list.iter().filter(|t| seen.insert(t.value.clone()));
            new.map(|t| Choice { spec: t.value.clone(), on: true }).collect()
        };
        let state = SelectionState {
            choices: [
                selected(&experiment.algorithms),
                selected(&experiment.topologies),
                selected(&workloads),
                selected(&experiment.machines),
            ],
            own_machines: experiment.own_machines.clone(),
            name: experiment.name.clone(),
            repetitions: experiment.repetitions,
            seed: experiment.seed,
            timeout_secs: experiment.timeout_secs,
            optimum: experiment.optimum,
        };
        Self {
            state,
            suggestions: suggestions(experiment, registry),
            studies: studies(),
            proof_scope: experiment.proof_scope,
        }
    }

    pub(crate) fn choices(&self, section: Section) -> &[Choice] {
        self.state.choices.get(section as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the selected specs of a list.
    pub(crate) fn selected(&self, section: Section) -> impl Iterator<Item = &str> {
        self.choices(section).iter().filter(|choice| choice.on).map(|choice| choice.spec.as_str())
    }

    pub(crate) fn suggestions(&self, section: Section) -> &[Suggestion] {
        self.suggestions.get(section as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines of a list that pass a filter. The specs of the list come first. The
    /// suggestions that are not in the list follow.
    pub(crate) fn items(&self, section: Section, filter: &Filter) -> Vec<ListItem<'_>> {
        // In a filter for algorithms, the name of a collective must match only the algorithms of
        // this collective. Titles are not searched for names of collectives, because many titles
        // also mention other collectives.
        let names = COLLECTIVES.map(|kind| kind.word);
        let filter = &filter.with_tags(if section == Section::Algorithms { &names } else { &[] });
        if section == Section::Settings {
            let passes = |setting: &Setting| {
                filter.passes(&format!("{} {}", setting.name(), setting.about()))
            };
            return Setting::ALL.into_iter().filter(passes).map(ListItem::Setting).collect();
        }
        if section == Section::Studies {
            let passes = |study: &&Study| filter.passes(&format!("{} {}", study.name, study.about));
            return self.studies.iter().filter(passes).map(ListItem::Study).collect();
        }
        let choices = self.choices(section).iter().enumerate();
        let known = |suggestion: &&Suggestion| {
            !suggestion.ready || self.choices(section).iter().all(|p| p.spec != suggestion.prefill)
        };
        let suggestions = self.suggestions(section).iter().filter(known);
        let has = |spec: &str, suggestion: Option<&Suggestion>| {
            let known = suggestion
                .map_or([""; 3], |o| [&o.shown, &o.about, &o.keywords].map(String::as_str));
            filter.passes(&format!("{spec} {}", known.join(" ")))
        };
        let choices = choices
            .filter(|(_, p)| has(&p.spec, self.suggestion_for(section, &p.spec)))
            .map(|(i, p)| ListItem::Choice(i, p));
        choices.chain(suggestions.filter(|o| has("", Some(o))).map(ListItem::Suggestion)).collect()
    }

    /// Returns the suggestion that has the same name as a spec.
    pub(crate) fn suggestion_for(&self, section: Section, spec: &str) -> Option<&Suggestion> {
        fn name(text: &str) -> &str {
            text.split(':').next().unwrap_or(text)
        }
        let find =
            |wanted: &str| self.suggestions(section).iter().find(|o| name(&o.prefill) == wanted);
        // The name of a workload may start with a collective (`collective/name`). If there is no
        // suggestion for this collective, find the suggestion for the name after the slash.
        find(name(spec)).or_else(|| find(name(spec).rsplit('/').next()?))
    }

    /// Selects or deselects a spec.
    pub(crate) fn toggle(&mut self, section: Section, index: usize) {
        if let Some(choice) =
            self.state.choices.get_mut(section as usize).and_then(|list| list.get_mut(index))
        {
            choice.on = !choice.on;
        }
    }

    /// Deselects all specs that pass a filter or, if none of them is selected, selects all of them.
    /// Suggestions that need further input are left out. Returns the number of specs that changed
    /// and, if they were selected, the last of these specs.
    pub(crate) fn toggle_all(
        &mut self,
        section: Section,
        filter: &Filter,
    ) -> (usize, Option<String>) {
        let spec = |item: &ListItem<'_>| match item {
            ListItem::Choice(_, choice) => Some((choice.spec.clone(), choice.on)),
            ListItem::Suggestion(suggestion) if suggestion.ready => {
                Some((suggestion.prefill.clone(), false))
            }
            ListItem::Suggestion(_) | ListItem::Setting(_) | ListItem::Study(_) => None,
        };
        let specs: Vec<(String, bool)> =
            self.items(section, filter).iter().filter_map(spec).collect();
        let on = specs.iter().filter(|(_, on)| *on).count();
        if on > 0 {
            for choice in &mut self.state.choices[section as usize] {
                choice.on &= !specs.iter().any(|(spec, _)| *spec == choice.spec);
            }
            return (on, None);
        }
        let last = specs.last().map(|(spec, _)| spec.clone());
        let count = specs.len();
        for (spec, _) in specs {
            self.put(section, spec, None);
        }
        (count, last)
    }

    /// Removes a spec from its list.
    pub(crate) fn remove(&mut self, section: Section, index: usize) {
        if let Some(list) = self.state.choices.get_mut(section as usize)
            && index < list.len()
        {
            list.remove(index);
        }
    }

    /// Adds a spec to its list, or replaces the spec at index `instead`. If the list already
    /// contains the spec, selects it. Returns the index of the spec.
    pub(crate) fn put(&mut self, section: Section, spec: String, instead: Option<usize>) -> usize {
        let Some(list) = self.state.choices.get_mut(section as usize) else { return 0 };
        if let Some(known) = list.iter().position(|p| p.spec == spec) {
            list[known].on = true;
            return known;
        }
        let choice = Choice { spec, on: true };
        match instead.and_then(|i| list.get_mut(i).map(|old| (i, old))) {
            Some((i, old)) => {
                *old = choice;
                i
            }
            None => {
                list.push(choice);
                list.len() - 1
            }
        }
    }

    /// Adds a machine to the experiment and selects it.
    pub(crate) fn add_machine(&mut self, own: OwnMachine) -> Result<(), String> {
        let name = own.name.value.clone();
        if self.state.own_machines.iter().any(|known| known.name.value == name)
            || presets().iter().any(|p| p.name == name)
        {
            return Err(format!("machine `{name}` exists already"));
        }
        let flag = Text::flag("machine", &name);
        case::machine(&flag, std::slice::from_ref(&own)).map_err(|e| e.to_string())?;
        self.state.own_machines.push(own);
        self.suggestions[Section::Machines as usize].insert(0, own_machine(&name));
        self.put(Section::Machines, name, None);
        Ok(())
    }

    /// Returns the value of a setting as text.
    pub(crate) fn setting(&self, setting: Setting) -> String {
        match setting {
            Setting::Repetitions => self.state.repetitions.to_string(),
            Setting::Seed => self.state.seed.to_string(),
            Setting::Timeout => self.state.timeout_secs.map(|s| s.to_string()).unwrap_or_default(),
            Setting::Optimum if self.state.optimum => "true".to_owned(),
            Setting::Optimum => String::new(),
            Setting::Name => self.state.name.clone(),
        }
    }

    /// Sets a setting from a text.
    pub(crate) fn set(&mut self, setting: Setting, text: &str) -> Result<(), InputError> {
        let flag = Text::flag(setting.name(), text);
        let bad = |expected: &str| flag.error(format!("expected {expected}, found `{text}`"));
        // Repetition `r` uses the seed `seed + r`. This sum must not overflow.
        let seeds = |seed: u64, repetitions: u32| match seed
            .checked_add(u64::from(repetitions.saturating_sub(1)))
        {
            Some(_) => Ok(()),
            None => Err(flag
                .error(format!("{repetitions} repetitions exceed the largest seed, {}", u64::MAX))),
        };
        match setting {
            Setting::Repetitions => {
                let given = text.parse().ok().filter(|n| *n >= 1);
                let repetitions =
                    given.ok_or_else(|| bad(&format!("a whole number from 1 to {}", u32::MAX)))?;
                seeds(self.state.seed, repetitions)?;
                self.state.repetitions = repetitions;
            }
            Setting::Seed => {
                let seed = text
                    .parse()
                    .map_err(|_| bad(&format!("a whole number from 0 to {}", u64::MAX)))?;
                seeds(seed, self.state.repetitions)?;
                self.state.seed = seed;
            }
            Setting::Timeout if text.is_empty() => self.state.timeout_secs = None,
            Setting::Timeout => {
                self.state.timeout_secs = Some(seconds(text).map_err(bad)?);
            }
            Setting::Optimum => {
                let given = if text.is_empty() { "false" } else { text };
                self.state.optimum = given.parse().map_err(|_| bad("true or false"))?;
            }
            Setting::Name if text.is_empty() => return Err(bad("a name")),
            Setting::Name => text.clone_into(&mut self.state.name),
        }
        Ok(())
    }

    /// Replaces the selection by an experiment.
    pub(crate) fn load(&mut self, experiment: &Experiment, registry: &Registry) {
        let studies = std::mem::take(&mut self.studies);
        *self = Self { studies, ..Self::new(experiment, registry) };
    }

    /// Returns the state that undo can restore.
    pub(crate) fn state(&self) -> &SelectionState {
        &self.state
    }

    /// Restores another state of the selection.
    pub(super) fn restore(&mut self, state: SelectionState) {
        let is_gone = |own: &OwnMachine| {
            state.own_machines.iter().all(|kept| kept.name.value != own.name.value)
        };
        for own in self.state.own_machines.iter().filter(|own| is_gone(own)) {
            self.suggestions[Section::Machines as usize]
                .retain(|suggestion| suggestion.prefill != own.name.value);
        }
        let is_new = |own: &&OwnMachine| {
            self.state.own_machines.iter().all(|known| known.name.value != own.name.value)
        };
        let new = state.own_machines.iter().filter(is_new).map(|own| own_machine(&own.name.value));
        self.suggestions[Section::Machines as usize].splice(0..0, new);
        self.state = state;
    }

    /// Returns the selected experiment. It contains the baseline if the baseline is one of the
    /// selected algorithms.
    pub(crate) fn experiment(&self, baseline: Option<&str>) -> Experiment {
        let list = |section: Section| {
            let text = |spec| Text::flag(section.singular(), spec);
            self.selected(section).map(text).collect::<Vec<_>>()
        };
        let algorithms = list(Section::Algorithms);
        let baseline =
            baseline.and_then(|name| algorithms.iter().find(|a| a.value == name).cloned());
        Experiment {
            name: self.state.name.clone(),
            topologies: list(Section::Topologies),
            algorithms,
            workloads: list(Section::Workloads),
            machines: list(Section::Machines),
            own_machines: self.state.own_machines.clone(),
            // The dashboard always runs all combinations of the specs in its lists, without `case`
            // tables and exclusions.
            blocks: Vec::new(),
            exclude: Vec::new(),
            baseline,
            repetitions: self.state.repetitions,
            seed: self.state.seed,
            timeout_secs: self.state.timeout_secs,
            optimum: self.state.optimum,
            proof_scope: self.proof_scope,
        }
    }

    /// Returns the command that runs the selection. Machines of the experiment are written with
    /// their definitions.
    pub(crate) fn command(&self, plugin_dirs: &[PathBuf]) -> String {
        let mut words = vec!["swapmeet run".to_owned()];
        let mut flag = |flag: &str, value: &str| words.extend([flag.to_owned(), quoted(value)]);
        let lists = ["--algorithm", "--topology", "--workload", "--machine"];
        for (section, name) in Section::ALL.into_iter().zip(lists) {
            for spec in self.selected(section) {
                let text = Text::flag(section.singular(), spec);
                let machine = (section == Section::Machines)
                    .then(|| case::machine(&text, &self.state.own_machines).ok()?.definition());
                flag(name, machine.flatten().as_deref().unwrap_or(spec));
            }
        }
        flag("--seed", &self.state.seed.to_string());
        if self.state.repetitions > 1 {
            flag("--repetitions", &self.state.repetitions.to_string());
        }
        if let Some(seconds) = self.state.timeout_secs {
            flag("--timeout", &seconds.to_string());
        }
        for dir in plugin_dirs {
            flag("--plugin-dir", &dir.display().to_string());
        }
        words.extend(self.state.optimum.then(|| "--optimum".to_owned()));
        words.join(" ")
    }

    /// Returns the number of selected cases.
    pub(crate) fn count(&self) -> u64 {
        let lists = Section::ALL[..4].iter().map(|s| self.selected(*s).count() as u64);
        lists.chain([u64::from(self.state.repetitions)]).fold(1, u64::saturating_mul)
    }

    /// Returns the selected cases. The error names a list without selected entries, or an invalid
    /// spec.
    pub(crate) fn cases(&self, registry: &Registry) -> Result<Vec<Case>, String> {
        /// The maximum number of cases in the dashboard. `swapmeet run` accepts more cases.
        const MOST: u64 = 100_000;
        for section in &Section::ALL[..4] {
            if self.selected(*section).next().is_none() {
                return Err(format!(
                    "no {} is selected: press 1, go to {} and select a line with Space",
                    section.singular(),
                    section.title()
                ));
            }
        }
        if self.count() > MOST {
            return Err(format!("{} cases are selected; the maximum is {MOST}", self.count()));
        }
        case::cases(&self.experiment(None), registry).map_err(|e| e.to_string())
    }
}
