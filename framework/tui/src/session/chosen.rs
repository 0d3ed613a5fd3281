//! The selection of cases: five lists of specs, and settings.

mod typed;

use super::files::plugin_flags;
use super::suggestions::{ExperimentFile, Suggestion, experiment_files, own_machine, suggestions};
use crate::filter::Filter;
use std::collections::BTreeSet;
use std::path::PathBuf;
use swapmeet_core::cost::machine::presets;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES, CollectiveKind, of_bits};
use swapmeet_results::{quoted, units};
use swapmeet_runner::case::{self, Case, CaseGrid};
use swapmeet_runner::experiment::{Experiment, OwnMachine, SETTINGS, Setting};
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::plugin::{Algorithm, ParamKind};
use swapmeet_runner::registry::Registry;
use swapmeet_workloads::Workload;
pub(crate) use typed::{FormParameter, is_size};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Algorithms,
    Topologies,
    Workloads,
    Machines,
    Systems,
    Settings,
    ExperimentFiles,
    Collectives,
}

impl ListKind {
    /// The lists in display order. The first three are questions; the others have defaults.
    pub(crate) const ALL: [Self; 8] = [
        Self::Collectives,
        Self::Topologies,
        Self::Workloads,
        Self::Algorithms,
        Self::Machines,
        Self::Systems,
        Self::Settings,
        Self::ExperimentFiles,
    ];
    /// The lists of specs, in the order of [`ChosenState::choices`].
    pub(crate) const SPECS: [Self; 5] =
        [Self::Algorithms, Self::Topologies, Self::Workloads, Self::Machines, Self::Systems];

    /// Returns the title and the word for one element.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Algorithms => ("Algorithms", "algorithm"),
            Self::Topologies => ("Network", "topology"),
            Self::Workloads => ("Sizes", "workload"),
            Self::Machines => ("Machines", "machine"),
            Self::Systems => ("Systems", "system"),
            Self::Settings => ("Settings", "setting"),
            Self::ExperimentFiles => ("Studies", "experiment file"),
            Self::Collectives => ("Collective", "collective"),
        }
    }

    pub(crate) fn title(self) -> &'static str {
        self.names().0
    }

    pub(crate) fn singular(self) -> &'static str {
        self.names().1
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The spec in canonical form.
    pub(crate) spec: String,
    pub(crate) on: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ListItem<'a> {
    Choice(usize, &'a Choice),
    Suggestion(&'a Suggestion),
    Setting(&'static Setting),
    ExperimentFile(&'a ExperimentFile),
    /// A collective, and whether all chosen workloads have it.
    Collective(&'static CollectiveKind, bool),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChosenState {
    choices: [Vec<Choice>; 5],
    /// The experiment without its baseline and the five lists of `choices`.
    experiment: Experiment,
    /// Whether the chosen algorithms are all that may fit, so that unsupported ones are left out.
    all_that_fit: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    state: ChosenState,
    suggestions: [Vec<Suggestion>; 5],
    experiment_files: Vec<ExperimentFile>,
    /// A file, and the selection for which it was read or written.
    file: Option<(PathBuf, ChosenState)>,
}

impl Chosen {
    /// Selects the cases of an experiment.
    pub(crate) fn new(mut experiment: Experiment, registry: &Registry) -> Self {
        let suggestions = suggestions(&experiment, registry);
        let selected = |list: Vec<Text>| {
            let mut seen = BTreeSet::new();
            let new = list.into_iter().filter(|t| seen.insert(t.value.clone()));
            new.map(|t| Choice { spec: t.value, on: true }).collect()
        };
        // An invalid range is reported when the user starts a run.
        let workloads = case::expanded(&experiment.workloads);
        let workloads = workloads.unwrap_or_else(|_| experiment.workloads.clone());
        experiment.workloads.clear();
        experiment.baseline = None;
        let file = experiment.file.take();
        let choices = [
            selected(std::mem::take(&mut experiment.algorithms)),
            selected(std::mem::take(&mut experiment.topologies)),
            selected(workloads),
            selected(std::mem::take(&mut experiment.machines)),
            selected(std::mem::take(&mut experiment.systems)),
        ];
        let state = ChosenState { choices, experiment, all_that_fit: false };
        let file = file.map(|file| (file, state.clone()));
        Self { state, suggestions, experiment_files: experiment_files(), file }
    }

    pub(crate) fn choices(&self, kind: ListKind) -> &[Choice] {
        self.state.choices.get(kind as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn selected(&self, kind: ListKind) -> impl Iterator<Item = &str> {
        self.choices(kind).iter().filter(|choice| choice.on).map(|choice| choice.spec.as_str())
    }

    pub(crate) fn suggestions(&self, kind: ListKind) -> &[Suggestion] {
        self.suggestions.get(kind as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines of a list that pass a filter: its specs, and then the other suggestions.
    pub(crate) fn items(&self, kind: ListKind, filter: &Filter) -> Vec<ListItem<'_>> {
        // In a filter for algorithms, the name of a collective matches only algorithms of this
        // collective, although many titles mention others.
        let names = COLLECTIVES.map(|kind| kind.word);
        let filter = &filter.with_tags(if kind == ListKind::Algorithms { &names } else { &[] });
        let passes = |name: &str, about: &str| filter.passes(&format!("{name} {about}"));
        match kind {
            ListKind::Settings => {
                // Settings for tables can only remove them.
                let applies = |setting: &&Setting| {
                    let removes_tables = matches!(setting.key, "case" | "exclude" | "together");
                    (!removes_tables || !self.setting(setting).is_empty())
                        && passes(setting.key, setting.about)
                };
                return SETTINGS.iter().filter(applies).map(ListItem::Setting).collect();
            }
            ListKind::Collectives => {
                let own = self.collective();
                let kinds = COLLECTIVES.into_iter().filter(|kind| !kind.permutes());
                let kinds = kinds.filter(|kind| passes(kind.word, kind.help));
                return kinds.map(|kind| ListItem::Collective(kind, own == Some(kind))).collect();
            }
            ListKind::ExperimentFiles => {
                let files = self.experiment_files.iter();
                let files = files.filter(|file| passes(&file.name, &file.about));
                return files.map(ListItem::ExperimentFile).collect();
            }
            _ => {}
        }
        let choices = self.choices(kind).iter().enumerate();
        let is_new = |suggestion: &&Suggestion| {
            !suggestion.ready || self.choices(kind).iter().all(|p| p.spec != suggestion.prefill)
        };
        let suggestions = self.suggestions(kind).iter().filter(is_new);
        let has = |spec: &str, suggestion: Option<&Suggestion>| {
            let about = suggestion.map(|o| format!("{} {} {}", o.shown, o.about, o.keywords));
            passes(spec, &about.unwrap_or_default())
        };
        let choices = choices
            .filter(|(_, p)| has(&p.spec, self.suggestion_for(kind, &p.spec)))
            .map(|(i, p)| ListItem::Choice(i, p));
        choices.chain(suggestions.filter(|o| has("", Some(o))).map(ListItem::Suggestion)).collect()
    }

    pub(crate) fn suggestion_for(&self, kind: ListKind, spec: &str) -> Option<&Suggestion> {
        fn name(text: &str) -> &str {
            text.split(':').next().unwrap_or(text)
        }
        let find =
            |wanted: &str| self.suggestions(kind).iter().find(|o| name(&o.prefill) == wanted);
        // The name of a workload may be `collective/name`.
        find(name(spec)).or_else(|| find(name(spec).rsplit('/').next()?))
    }

    pub(crate) fn toggle(&mut self, kind: ListKind, index: usize) {
        if let Some(choice) =
            self.state.choices.get_mut(kind as usize).and_then(|list| list.get_mut(index))
        {
            choice.on = !choice.on;
            self.state.all_that_fit &= kind != ListKind::Algorithms;
        }
    }

    /// Deselects all specs that pass a filter or, if none is selected, selects them. Returns the
    /// number of changes, and whether they were selected.
    pub(crate) fn toggle_all(&mut self, kind: ListKind, filter: &Filter) -> (usize, bool) {
        let spec = |item: &ListItem<'_>| match item {
            ListItem::Choice(_, choice) => Some((choice.spec.clone(), choice.on)),
            ListItem::Suggestion(suggestion) if suggestion.ready => {
                Some((suggestion.prefill.clone(), false))
            }
            ListItem::Suggestion(_)
            | ListItem::Setting(_)
            | ListItem::ExperimentFile(_)
            | ListItem::Collective(..) => None,
        };
        let specs: Vec<(String, bool)> = self.items(kind, filter).iter().filter_map(spec).collect();
        let on = specs.iter().filter(|(_, on)| *on).count();
        if on > 0 {
            for choice in &mut self.state.choices[kind as usize] {
                choice.on &= !specs.iter().any(|(spec, _)| *spec == choice.spec);
            }
            return (on, false);
        }
        let count = specs.len();
        for (spec, _) in specs {
            self.put(kind, spec, None);
        }
        (count, true)
    }

    pub(crate) fn remove(&mut self, kind: ListKind, index: usize) {
        if let Some(list) = self.state.choices.get_mut(kind as usize)
            && index < list.len()
        {
            list.remove(index);
        }
    }

    /// Selects a spec, which is added to its list or replaces the one at index `instead`. Returns
    /// its index.
    pub(crate) fn put(&mut self, kind: ListKind, spec: String, instead: Option<usize>) -> usize {
        self.state.all_that_fit &= kind != ListKind::Algorithms;
        let Some(list) = self.state.choices.get_mut(kind as usize) else { return 0 };
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

    pub(crate) fn add_machine(&mut self, own: OwnMachine) -> Result<(), String> {
        let name = own.name.value.clone();
        if self.own_machines().iter().any(|known| known.name.value == name)
            || presets().iter().any(|p| p.name == name)
        {
            return Err(format!("machine `{name}` exists already"));
        }
        let flag = Text::flag("machine", &name);
        case::machine(&flag, std::slice::from_ref(&own)).map_err(|e| e.to_string())?;
        self.state.experiment.own_machines.push(own);
        self.suggestions[ListKind::Machines as usize].insert(0, own_machine(&name));
        self.put(ListKind::Machines, name, None);
        Ok(())
    }

    fn own_machines(&self) -> &[OwnMachine] {
        &self.state.experiment.own_machines
    }

    pub(crate) fn name(&self) -> &str {
        &self.state.experiment.name
    }

    pub(crate) fn setting(&self, setting: &Setting) -> String {
        (setting.get)(&self.state.experiment)
    }

    pub(crate) fn set(&mut self, setting: &Setting, text: &str) -> Result<(), InputError> {
        let flag = Text::flag(setting.key, text);
        let mut experiment = self.state.experiment.clone();
        (setting.set)(&mut experiment, text)
            .map_err(|expected| flag.error(format!("expected {expected}, found `{text}`")))?;
        experiment.check_seeds().map_err(|e| InputError { place: flag.place, ..e })?;
        self.state.experiment = experiment;
        Ok(())
    }

    pub(crate) fn load(&mut self, experiment: Experiment, registry: &Registry) {
        let experiment_files = std::mem::take(&mut self.experiment_files);
        *self = Self { experiment_files, ..Self::new(experiment, registry) };
    }

    pub(crate) fn state(&self) -> &ChosenState {
        &self.state
    }

    pub(super) fn restore(&mut self, state: ChosenState) {
        let old = std::mem::replace(&mut self.state, state).experiment.own_machines;
        let new = &self.state.experiment.own_machines;
        let is_in = |list: &[OwnMachine], name: &str| list.iter().any(|own| own.name.value == name);
        let suggestions = &mut self.suggestions[ListKind::Machines as usize];
        suggestions.retain(|suggestion| {
            !is_in(&old, &suggestion.prefill) || is_in(new, &suggestion.prefill)
        });
        let added = new.iter().map(|own| &own.name.value).filter(|name| !is_in(&old, name));
        suggestions.splice(0..0, added.map(|name| own_machine(name)));
    }

    /// Returns the selected experiment, with the baseline if it is a selected algorithm.
    pub(crate) fn experiment(&self, baseline: Option<&str>) -> Experiment {
        let list = |kind: ListKind| {
            let text = |spec| Text::flag(kind.singular(), spec);
            self.applying(kind).map(text).collect::<Vec<_>>()
        };
        let algorithms = list(ListKind::Algorithms);
        Experiment {
            baseline: baseline
                .and_then(|name| algorithms.iter().find(|a| a.value == name).cloned()),
            topologies: list(ListKind::Topologies),
            algorithms,
            workloads: list(ListKind::Workloads),
            machines: list(ListKind::Machines),
            systems: list(ListKind::Systems),
            ..self.state.experiment.clone()
        }
    }

    pub(crate) fn set_file(&mut self, file: PathBuf) {
        self.file = Some((file, self.state.clone()));
    }

    /// Returns the command that runs the selection, or why there is none. Machines of the
    /// experiment are written with their definitions.
    pub(crate) fn command(&self, plugin_dirs: &[PathBuf]) -> Result<String, &'static str> {
        let mut words = vec!["swapmeet run".to_owned()];
        let experiment = &self.state.experiment;
        // Tables need a file.
        if experiment.has_case_tables() {
            let file = self.file.as_ref().filter(|(_, state)| *state == self.state);
            let (file, _) = file.ok_or(
                "flags cannot express [[case]] and exclude: S saves a file, then y copies it",
            )?;
            words.push(quoted(&file.display().to_string()));
        } else {
            let lists = ["--algorithm", "--topology", "--workload", "--machine", "--system"];
            for (kind, flag) in ListKind::SPECS.into_iter().zip(lists) {
                for spec in self.applying(kind) {
                    let text = Text::flag(kind.singular(), spec);
                    let machine = (kind == ListKind::Machines)
                        .then(|| case::machine(&text, self.own_machines()).ok()?.definition());
                    let spec = machine.flatten().unwrap_or_else(|| spec.to_owned());
                    words.push(format!("{flag} {}", quoted(&spec)));
                }
            }
            words.extend(experiment.flags(&Experiment::default()));
        }
        words.extend(plugin_flags(plugin_dirs));
        Ok(words.join(" "))
    }

    /// Returns the selected specs of a list that apply. If systems but no topologies are selected,
    /// no selected machine applies, because every system has its own machine.
    pub(crate) fn applying(&self, kind: ListKind) -> impl Iterator<Item = &str> {
        let is_unused = kind == ListKind::Machines
            && self.selected(ListKind::Topologies).next().is_none()
            && self.has_systems();
        self.selected(kind).filter(move |_| !is_unused)
    }

    pub(crate) fn has_systems(&self) -> bool {
        self.selected(ListKind::Systems).next().is_some()
    }

    /// Returns whether systems or the `case` tables of the experiment give all entries of a kind,
    /// so that its list may be empty.
    pub(crate) fn is_named_by_tables(&self, kind: ListKind) -> bool {
        let experiment = &self.experiment(None);
        match kind {
            ListKind::Algorithms => experiment.is_named_by_tables(|table| &table.algorithms),
            ListKind::Topologies => experiment.is_named_by_tables(|table| &table.topologies),
            ListKind::Workloads => experiment.is_named_by_tables(|table| &table.workloads),
            ListKind::Machines => experiment.is_named_by_tables(|table| &table.machines),
            ListKind::Systems => true,
            ListKind::Settings | ListKind::ExperimentFiles | ListKind::Collectives => false,
        }
    }

    /// Returns the number of selected cases, which tables leave open until specs are parsed.
    pub(crate) fn size(&self) -> String {
        if self.state.experiment.has_case_tables() {
            return "cases of the experiment's tables".to_owned();
        }
        units::count(usize::try_from(self.count()).unwrap_or(usize::MAX), "case")
    }

    pub(crate) fn count(&self) -> u64 {
        let [algorithms, topologies, workloads, machines, systems] =
            ListKind::SPECS.map(|kind| self.applying(kind).count() as u64);
        let repetitions = u64::from(self.state.experiment.repetitions);
        let networks = topologies.saturating_mul(machines).saturating_add(systems);
        [algorithms, workloads, repetitions].into_iter().fold(networks, u64::saturating_mul)
    }

    /// Returns the selected cases. The error names an empty list or an invalid spec.
    pub(crate) fn cases(&self, registry: &Registry) -> Result<Vec<Case>, String> {
        /// The maximum in the dashboard. `swapmeet run` accepts more cases.
        const MOST: u64 = 100_000;
        for kind in &ListKind::SPECS {
            if self.selected(*kind).next().is_none() && !self.is_named_by_tables(*kind) {
                return Err(format!(
                    "no {} is selected: press 1, go to {} and select a line with Space",
                    kind.singular(),
                    kind.title()
                ));
            }
        }
        let too_many =
            |count: u64| Err(format!("{count} cases are selected; the maximum is {MOST}"));
        if !self.state.experiment.has_case_tables() && self.count() > MOST {
            return too_many(self.count());
        }
        let cases = CaseGrid::new(&self.experiment(None), registry).map_err(|e| e.to_string())?;
        if cases.len() as u64 > MOST {
            return too_many(cases.len() as u64);
        }
        Ok(cases.iter().collect())
    }
}

fn prefix(kind: Option<&CollectiveKind>) -> String {
    match kind {
        Some(kind) if *kind != ALL_TO_ALL => format!("{}/", kind.word),
        _ => String::new(),
    }
}

fn workload_of(kind: &CollectiveKind, workload: &str) -> Option<String> {
    Some(Workload::parse(&format!("{}{workload}", prefix(Some(kind)))).ok()?.to_string())
}

fn uniform_size(workload: &str) -> Option<&str> {
    workload.split_once("uniform:")?.1.split(',').next()
}

/// Returns whether a bit mask has the collective of a workload. An invalid workload fits, because
/// its error is reported when the user starts a run.
fn fits(collectives: u64, workload: &str) -> bool {
    Workload::parse(workload).map_or(true, |w| collectives & (1 << w.collective().code) != 0)
}

impl Chosen {
    /// If an algorithm supports none of the selected workloads, returns its collective, and a
    /// workload of this collective with the same size.
    pub(crate) fn matching_workload(
        &self,
        algorithm: &str,
        registry: &Registry,
    ) -> Option<(&'static str, String)> {
        let collectives = collectives(algorithm, registry)?;
        if self.is_named_by_tables(ListKind::Workloads)
            || self.selected(ListKind::Workloads).any(|workload| fits(collectives, workload))
        {
            return None;
        }
        let kind = of_bits(collectives).next()?;
        let size = self.selected(ListKind::Workloads).find_map(uniform_size).unwrap_or("1KiB");
        // Some collectives, such as permutations, have no uniform workload.
        Some((kind.word, workload_of(kind, &format!("uniform:{size}"))?))
    }

    /// Returns the collective of the chosen workloads; `None` if they have several.
    pub(crate) fn collective(&self) -> Option<&'static CollectiveKind> {
        let mut kinds = self
            .selected(ListKind::Workloads)
            .filter_map(|workload| Workload::parse(workload).ok())
            .map(|workload| workload.collective());
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
    }

    pub(crate) fn deselect(&mut self, kind: ListKind) {
        for choice in &mut self.state.choices[kind as usize] {
            choice.on = false;
        }
    }

    /// Chooses the sizes with another collective, and all algorithms that support it.
    pub(crate) fn choose_collective(&mut self, kind: &CollectiveKind, registry: &Registry) {
        /// A workload of tokens: those of DeepSeek-V3 have 7 KiB and go to 8 experts of 256.
        const TOKENS: &str = "moe:experts=256,top=8,tokens=64,bytes=7KiB";
        let sizes = self.selected(ListKind::Workloads).filter_map(uniform_size);
        let workload = |size| workload_of(kind, &format!("uniform:{size}"));
        let mut sizes: Vec<String> = sizes.filter_map(workload).collect();
        if sizes.is_empty() {
            // Collectives of tokens have no uniform blocks.
            sizes.extend(["uniform:1KiB", TOKENS].iter().find_map(|text| workload_of(kind, text)));
        }
        self.deselect(ListKind::Workloads);
        self.deselect(ListKind::Algorithms);
        for size in sizes {
            self.put(ListKind::Workloads, size, None);
        }
        // Algorithms that search for a schedule are left out.
        for name in self.fitting(registry, &BTreeSet::new(), &BTreeSet::new(), true) {
            self.put(ListKind::Algorithms, name, None);
        }
        self.state.all_that_fit = true;
    }

    pub(crate) fn is_all_that_fit(&self) -> bool {
        self.state.all_that_fit
    }

    /// Returns the algorithms that support all chosen workloads, of which there must be one,
    /// without those in `run` and `unfit`, those that read a file, and, if `quick` is set, those
    /// that search for a schedule.
    pub(super) fn fitting(
        &self,
        registry: &Registry,
        run: &BTreeSet<String>,
        unfit: &BTreeSet<String>,
        quick: bool,
    ) -> Vec<String> {
        /// The plugin whose algorithms search for a schedule.
        const SEARCHING: &str = "synthesis";
        let workloads: Vec<&str> = self.selected(ListKind::Workloads).collect();
        let needs_file = |a: &Algorithm| a.params.iter().any(|p| p.kind == ParamKind::File);
        let is_slow = |a: &Algorithm| quick && a.plugin.name == SEARCHING;
        let algorithms = registry.algorithms().filter(|a| {
            !workloads.is_empty()
                && workloads.iter().all(|workload| fits(a.collectives, workload))
                && !needs_file(a)
                && !is_slow(a)
        });
        algorithms
            .map(|a| registry.spec_name(&a.name, &a.plugin.name))
            .filter(|name| !run.contains(name) && !unfit.contains(name))
            .collect()
    }

    pub(crate) fn fit_workloads(&mut self, workload: String, registry: &Registry) {
        self.put(ListKind::Workloads, workload, None);
        let algorithms = self.selected(ListKind::Algorithms);
        let all = algorithms.fold(0, |all, name| all | collectives(name, registry).unwrap_or(!0));
        for choice in &mut self.state.choices[ListKind::Workloads as usize] {
            choice.on &= fits(all, &choice.spec);
        }
    }
}

fn collectives(algorithm: &str, registry: &Registry) -> Option<u64> {
    let name = algorithm.split(':').next()?;
    registry.algorithms().find(|known| known.name == name).map(|known| known.collectives)
}
