//! What is selected to run: four lists of specs and a few settings, in the words of the command
//! line.

use super::offers::{Offer, Study, offers, own_machine, studies};
use super::what_if::values_of;
use crate::filter::Filter;
use std::collections::BTreeSet;
use swapmeet_core::cost::machine::{ParameterValue, presets};
use swapmeet_core::simulation::ProofScope;
use swapmeet_runner::case::{self, Case, select_algorithm};
use swapmeet_runner::experiment::{Experiment, OwnMachine, seconds};
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::plugin::Param;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::topology;
use swapmeet_workloads::Workload;

/// A list of the Explore panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Algorithms,
    Topologies,
    Workloads,
    Machines,
    /// How often, from which seed, under which name.
    Settings,
    /// Experiment files, to begin with.
    Studies,
}

impl Section {
    /// All, in the order in which they stand.
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

    /// One of it, as errors call it.
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

/// A spec in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// As it will be run.
    pub(crate) spec: String,
    /// Whether it will be.
    pub(crate) on: bool,
}

/// A line of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    /// A spec, by its place among the choices.
    Choice(usize, &'a Choice),
    Offer(&'a Offer),
    Setting(Setting),
    Study(&'a Study),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// How often each case is run.
    Repetitions,
    Seed,
    /// Seconds a case may take.
    Timeout,
    Name,
}

impl Setting {
    const ALL: [Self; 4] = [Self::Repetitions, Self::Seed, Self::Timeout, Self::Name];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Repetitions => "repetitions",
            Self::Seed => "seed",
            Self::Timeout => "timeout_secs",
            Self::Name => "name",
        }
    }

    /// What it may be.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Repetitions => "how often each case is run, each time with the next seed",
            Self::Seed => "the seed of the first repetition",
            Self::Timeout => "seconds that a case may take; empty for as long as it likes",
            Self::Name => "the experiment's name, for the rows",
        }
    }
}

/// A parameter of an algorithm or a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) key: String,
    /// What it is where nobody says.
    pub(crate) default: String,
    pub(crate) about: String,
    /// Values that are known; there may be others.
    pub(crate) values: Vec<String>,
}

/// What is selected, without what is on offer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picked {
    choices: [Vec<Choice>; 4],
    own_machines: Vec<OwnMachine>,
    name: String,
    repetitions: u32,
    seed: u64,
    timeout_secs: Option<f64>,
}

/// All that is selected, and all that could be.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    choices: [Vec<Choice>; 4],
    offers: [Vec<Offer>; 4],
    studies: Vec<Study>,
    own_machines: Vec<OwnMachine>,
    name: String,
    repetitions: u32,
    seed: u64,
    timeout_secs: Option<f64>,
    proof_scope: ProofScope,
}

impl Selection {
    /// What an experiment lists, selected; and everything else on offer.
    pub(crate) fn new(experiment: &Experiment, registry: &Registry) -> Self {
        // A range that can't be is refused with the rest of the experiment, when it is run.
        let workloads =
            case::expanded(&experiment.workloads).unwrap_or_else(|_| experiment.workloads.clone());
        let selected = |list: &[Text]| {
            let mut seen = BTreeSet::new();
            let new = list.iter().filter(|t| seen.insert(t.value.clone()));
            new.map(|t| Choice { spec: t.value.clone(), on: true }).collect()
        };
        Self {
            choices: [
                selected(&experiment.algorithms),
                selected(&experiment.topologies),
                selected(&workloads),
                selected(&experiment.machines),
            ],
            offers: offers(experiment, registry),
            studies: studies(),
            own_machines: experiment.own_machines.clone(),
            name: experiment.name.clone(),
            repetitions: experiment.repetitions,
            seed: experiment.seed,
            timeout_secs: experiment.timeout_secs,
            proof_scope: experiment.proof_scope,
        }
    }

    /// The specs of a list.
    pub(crate) fn choices(&self, section: Section) -> &[Choice] {
        self.choices.get(section as usize).map_or(&[], Vec::as_slice)
    }

    /// What a list offers.
    pub(crate) fn offers(&self, section: Section) -> &[Offer] {
        self.offers.get(section as usize).map_or(&[], Vec::as_slice)
    }

    /// The lines of a list that pass a filter: specs first, then what else there is.
    pub(crate) fn items(&self, section: Section, filter: &Filter) -> Vec<Item<'_>> {
        if section == Section::Settings {
            let passes = |setting: &Setting| {
                filter.passes(&format!("{} {}", setting.name(), setting.about()))
            };
            return Setting::ALL.into_iter().filter(passes).map(Item::Setting).collect();
        }
        if section == Section::Studies {
            let passes = |study: &&Study| filter.passes(&format!("{} {}", study.name, study.about));
            return self.studies.iter().filter(passes).map(Item::Study).collect();
        }
        let choices = self.choices(section).iter().enumerate();
        let known = |offer: &&Offer| {
            !offer.ready || self.choices(section).iter().all(|p| p.spec != offer.prefill)
        };
        let offers = self.offers(section).iter().filter(known);
        let has = |spec: &str, offer: Option<&Offer>| {
            let known =
                offer.map_or([""; 3], |o| [&o.shown, &o.about, &o.found_by].map(String::as_str));
            filter.passes(&format!("{spec} {}", known.join(" ")))
        };
        let choices = choices
            .filter(|(_, p)| has(&p.spec, self.offer_of(section, &p.spec)))
            .map(|(i, p)| Item::Choice(i, p));
        choices.chain(offers.filter(|o| has("", Some(o))).map(Item::Offer)).collect()
    }

    /// What is known of a spec in a list: the offer that it begins with.
    pub(crate) fn offer_of(&self, section: Section, spec: &str) -> Option<&Offer> {
        fn name(text: &str) -> &str {
            text.split(':').next().unwrap_or(text)
        }
        let find = |wanted: &str| self.offers(section).iter().find(|o| name(&o.prefill) == wanted);
        // Of a collective with sizes of its own only the sizes are on offer.
        find(name(spec)).or_else(|| find(name(spec).rsplit('/').next()?))
    }

    /// Turns a spec on or off.
    pub(crate) fn toggle(&mut self, section: Section, index: usize) {
        if let Some(choice) =
            self.choices.get_mut(section as usize).and_then(|list| list.get_mut(index))
        {
            choice.on = !choice.on;
        }
    }

    /// Takes a spec out of its list.
    pub(crate) fn remove(&mut self, section: Section, index: usize) {
        if let Some(list) = self.choices.get_mut(section as usize)
            && index < list.len()
        {
            list.remove(index);
        }
    }

    /// Puts a spec into its list, in place of another if `instead` says which; one that is there
    /// already is turned on. Returns its place.
    pub(crate) fn put(&mut self, section: Section, spec: String, instead: Option<usize>) -> usize {
        let Some(list) = self.choices.get_mut(section as usize) else { return 0 };
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

    /// Adds a machine of the experiment's own, and picks it.
    pub(crate) fn add_machine(&mut self, own: OwnMachine) -> Result<(), String> {
        let name = own.name.value.clone();
        if self.own_machines.iter().any(|known| known.name.value == name)
            || presets().iter().any(|p| p.name == name)
        {
            return Err(format!("there is a machine `{name}` already"));
        }
        let flag = Text::flag("machine", &name);
        case::machine(&flag, std::slice::from_ref(&own)).map_err(|e| e.to_string())?;
        self.own_machines.push(own);
        self.offers[Section::Machines as usize].insert(0, own_machine(&name));
        self.put(Section::Machines, name, None);
        Ok(())
    }

    /// A setting as text.
    pub(crate) fn setting(&self, setting: Setting) -> String {
        match setting {
            Setting::Repetitions => self.repetitions.to_string(),
            Setting::Seed => self.seed.to_string(),
            Setting::Timeout => self.timeout_secs.map(|s| s.to_string()).unwrap_or_default(),
            Setting::Name => self.name.clone(),
        }
    }

    /// Sets a setting from text.
    pub(crate) fn set(&mut self, setting: Setting, text: &str) -> Result<(), InputError> {
        let flag = Text::flag(setting.name(), text);
        let bad = |expected: &str| flag.error(format!("expected {expected}, found `{text}`"));
        // Repetition r has seed + r.
        let seeds = |seed: u64, repetitions: u32| match seed
            .checked_add(u64::from(repetitions.saturating_sub(1)))
        {
            Some(_) => Ok(()),
            None => Err(flag.error(format!(
                "{repetitions} repetitions go past the largest seed, {}",
                u64::MAX
            ))),
        };
        match setting {
            Setting::Repetitions => {
                let given = text.parse().ok().filter(|n| *n >= 1);
                let repetitions =
                    given.ok_or_else(|| bad(&format!("a whole number from 1 to {}", u32::MAX)))?;
                seeds(self.seed, repetitions)?;
                self.repetitions = repetitions;
            }
            Setting::Seed => {
                let seed = text
                    .parse()
                    .map_err(|_| bad(&format!("a whole number from 0 to {}", u64::MAX)))?;
                seeds(seed, self.repetitions)?;
                self.seed = seed;
            }
            Setting::Timeout if text.is_empty() => self.timeout_secs = None,
            Setting::Timeout => {
                self.timeout_secs = Some(seconds(text).map_err(bad)?);
            }
            Setting::Name if text.is_empty() => return Err(bad("a name")),
            Setting::Name => text.clone_into(&mut self.name),
        }
        Ok(())
    }

    /// Reads the specs of a list that a line has, and gives them in canonical form; a range of
    /// sizes gives one a size.
    pub(crate) fn check(
        &self,
        section: Section,
        text: &str,
        registry: &Registry,
    ) -> Result<Vec<String>, InputError> {
        // The name of a file may have spaces in it.
        let names_a_file = ["matrix:", "graph:", "file"].iter().any(|sign| text.contains(sign));
        if names_a_file
            || matches!(section, Section::Settings | Section::Studies)
            || text.is_empty()
        {
            return self.check_one(section, text, registry);
        }
        let mut found = Vec::new();
        for word in text.split_whitespace() {
            // Both are parts of the same line.
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            let specs = self.check_one(section, word, registry).map_err(|mut error| {
                error.place.span = error.place.span.start + at..error.place.span.end + at;
                error
            })?;
            found.extend(specs);
        }
        Ok(found)
    }

    fn check_one(
        &self,
        section: Section,
        text: &str,
        registry: &Registry,
    ) -> Result<Vec<String>, InputError> {
        let flag = Text::flag(section.singular(), text);
        let one = match section {
            Section::Algorithms => select_algorithm(&flag, registry)?.to_string(),
            Section::Topologies => {
                topology::parse(text).map_err(|e| case::spec_error(&flag, &e))?.spec()
            }
            Section::Workloads => {
                let read =
                    |t: &Text| Workload::parse(&t.value).map_err(|e| case::spec_error(t, &e));
                return case::expanded(&[flag])?
                    .iter()
                    .map(|t| read(t).map(|w| w.to_string()))
                    .collect();
            }
            Section::Machines => case::machine(&flag, &self.own_machines)?.to_string(),
            Section::Settings | Section::Studies => text.to_owned(),
        };
        Ok(vec![one])
    }

    /// What a list offers for the last spec of a line typed so far, as whole lines; after the name,
    /// the keys that it takes, after a key its values.
    pub(crate) fn completions(
        &self,
        section: Section,
        line: &str,
        registry: &Registry,
    ) -> Vec<String> {
        let begins = line.rfind(' ').map_or(0, |at| at + 1);
        let (before, text) = line.split_at(begins);
        let offers = self
            .offers(section)
            .iter()
            .filter(|o| o.prefill.starts_with(text) && o.prefill != text);
        let mut found: Vec<String> = offers.map(|o| format!("{before}{}", o.prefill)).collect();
        let Some((name, rest)) = text.split_once(':') else { return found };
        let done = rest.rfind(',').map_or(0, |i| i + 1);
        let last = &rest[done..];
        let parameters = self.parameters(section, name, registry);
        if let Some((key, typed)) = last.split_once('=') {
            let values =
                parameters.into_iter().find(|p| p.key == key).map(|p| p.values).unwrap_or_default();
            let fit = values.iter().filter(|value| value.starts_with(typed) && *value != typed);
            found.extend(fit.map(|value| format!("{before}{name}:{}{key}={value}", &rest[..done])));
        } else {
            let fit = parameters
                .iter()
                .filter(|p| p.key.starts_with(last) && !rest.contains(&format!("{}=", p.key)));
            found.extend(fit.map(|p| format!("{before}{name}:{}{}=", &rest[..done], p.key)));
        }
        found
    }

    /// The parameters of an algorithm or a machine, as they are without being set; those of a
    /// machine are its model's.
    pub(crate) fn parameters(
        &self,
        section: Section,
        name: &str,
        registry: &Registry,
    ) -> Vec<Parameter> {
        match section {
            Section::Machines => {
                let Ok(machine) = case::machine(&Text::flag("machine", name), &self.own_machines)
                else {
                    return Vec::new();
                };
                let parameter = |value: ParameterValue| Parameter {
                    key: value.parameter.key().to_owned(),
                    default: value.text,
                    about: value.parameter.meaning().to_owned(),
                    values: values_of(value.parameter),
                };
                machine.values().into_iter().map(parameter).collect()
            }
            Section::Algorithms => {
                let known = registry.algorithms().find(|a| a.name == name);
                let parameter = |p: &Param| Parameter {
                    key: p.key.clone(),
                    default: p.default.clone(),
                    about: p.help.clone(),
                    values: p.kind.words().to_vec(),
                };
                known.map(|a| a.params.iter().map(parameter).collect()).unwrap_or_default()
            }
            Section::Topologies | Section::Workloads | Section::Settings | Section::Studies => {
                Vec::new()
            }
        }
    }

    /// Picks what an experiment lists, and nothing else.
    pub(crate) fn load(&mut self, experiment: &Experiment, registry: &Registry) {
        let studies = std::mem::take(&mut self.studies);
        *self = Self { studies, ..Self::new(experiment, registry) };
    }

    /// All that a key can change of it, to come back to.
    pub(crate) fn picked(&self) -> Picked {
        Picked {
            choices: self.choices.clone(),
            own_machines: self.own_machines.clone(),
            name: self.name.clone(),
            repetitions: self.repetitions,
            seed: self.seed,
            timeout_secs: self.timeout_secs,
        }
    }

    /// Picks what was picked before.
    pub(super) fn take_back(&mut self, picked: Picked) {
        let Picked { choices, own_machines, name, repetitions, seed, timeout_secs } = picked;
        let gone =
            |own: &OwnMachine| own_machines.iter().all(|kept| kept.name.value != own.name.value);
        for own in self.own_machines.iter().filter(|own| gone(own)) {
            self.offers[Section::Machines as usize].retain(|offer| offer.prefill != own.name.value);
        }
        (self.choices, self.own_machines, self.name) = (choices, own_machines, name);
        (self.repetitions, self.seed, self.timeout_secs) = (repetitions, seed, timeout_secs);
    }

    /// The experiment that is selected. `baseline` goes into it if it is one of the algorithms.
    pub(crate) fn experiment(&self, baseline: Option<&str>) -> Experiment {
        let list = |section: Section| {
            let on = self.choices(section).iter().filter(|p| p.on);
            on.map(|p| Text::flag(section.singular(), &p.spec)).collect::<Vec<_>>()
        };
        let algorithms = list(Section::Algorithms);
        let baseline =
            baseline.and_then(|name| algorithms.iter().find(|a| a.value == name).cloned());
        Experiment {
            name: self.name.clone(),
            topologies: list(Section::Topologies),
            algorithms,
            workloads: list(Section::Workloads),
            machines: list(Section::Machines),
            own_machines: self.own_machines.clone(),
            baseline,
            repetitions: self.repetitions,
            seed: self.seed,
            timeout_secs: self.timeout_secs,
            proof_scope: self.proof_scope,
        }
    }

    /// How many cases are selected.
    pub(crate) fn count(&self) -> u64 {
        let on = |section| self.choices(section).iter().filter(|p| p.on).count() as u64;
        let lists = Section::ALL[..4].iter().map(|s| on(*s));
        lists.chain([u64::from(self.repetitions)]).fold(1, u64::saturating_mul)
    }

    /// The cases that are selected; `Err` says which list lacks what, or what is wrong with a spec.
    pub(crate) fn cases(&self, registry: &Registry) -> Result<Vec<Case>, String> {
        /// Beyond this a list is a slip of the finger; `swapmeet run` takes it all the same.
        const MOST: u64 = 100_000;
        for section in &Section::ALL[..4] {
            if !self.choices(*section).iter().any(|p| p.on) {
                return Err(format!("no {} is picked", section.singular()));
            }
        }
        if self.count() > MOST {
            return Err(format!("{} cases are picked, at most {MOST} can be", self.count()));
        }
        case::cases(&self.experiment(None), registry).map_err(|e| e.to_string())
    }
}
