//! The cases of an experiment. They are the product of its topologies, algorithms, workloads,
//! machines and repetitions, or those cases of the product that `[[case]]` and `exclude` tables
//! select.

use super::companion::{self, Companion, Job, of_others, parse_workload};
use super::{
    Case, CaseParts, LoadedMachine, MOST_CASES, RunOptions, SelectedAlgorithm, expanded,
    expanded_by, machine_among, own_machines, select_algorithm, spec_error, with_files,
    without_ranges,
};
use crate::experiment::{CaseTable, Experiment, JobTable, TogetherTable};
use crate::input::{InputError, Text};
use crate::optimum::Optima;
use crate::plugin::Algorithm;
use crate::registry::Registry;
use crate::topology;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology::Network;
use swapmeet_core::system;
use swapmeet_workloads::{InputDigest, Workload};

pub fn cases(experiment: &Experiment, registry: &Registry) -> Result<Vec<Case>, InputError> {
    Ok(CaseGrid::new(experiment, registry)?.iter().collect())
}

/// The parsed lists of an experiment. Each case is built when it is requested, because a shard runs
/// only some of the cases.
#[derive(Debug)]
pub struct CaseGrid {
    name: Arc<str>,
    topologies: Vec<Networks>,
    algorithms: Vec<Arc<SelectedAlgorithm>>,
    workloads: Vec<Arc<Workload>>,
    machines: Vec<LoadedMachine>,
    repetitions: u32,
    /// For one topology and one algorithm, the number of cases before each workload and, as last
    /// entry, the number of all cases.
    before: Vec<usize>,
    seed: u64,
    options: RunOptions,
    optima: Option<Arc<Optima>>,
    /// The selected cases, as indices into the product of all lists. `None` if all cases are
    /// selected.
    selected: Option<Vec<usize>>,
    /// The entries of the experiment's lists that no selected case uses. A pair has the kind of the
    /// list and the spec.
    unused: Vec<(&'static str, String)>,
    /// The jobs that run at the same time as each case from the lists (`--beside`).
    beside: Vec<Companion>,
    together: Vec<TogetherCase>,
}

#[derive(Debug, Clone)]
struct TogetherCase {
    networks: Arc<Networks>,
    jobs: Arc<[Companion]>,
    own: usize,
    machine: LoadedMachine,
    repetition: u32,
}

/// The network of a topology or, if the topology is random, one network for each repetition. The
/// digests are those of files that the topology names.
type Networks = (Vec<Arc<Network>>, Vec<InputDigest>);

/// Refuses machines if all topologies come from systems, because each system has its own machine.
fn refuse_machines_of_systems(experiment: &Experiment) -> Result<(), InputError> {
    let has_topologies = !experiment.topologies.is_empty() || !experiment.case_tables.is_empty();
    match (&experiment.systems[..], &experiment.machines[..]) {
        ([system, ..], [machine, ..]) if !has_topologies => {
            let message = format!(
                "the system `{}` has its own machine, so machine `{}` cannot be used with it",
                system.value, machine.value
            );
            let help = "leave the machine out, or override values of the system, as in `h100-ib:4x8,floor_us=30`; with a topology, the machine is that of the topology";
            Err(machine.error(message).help(help))
        }
        _ => Ok(()),
    }
}

impl CaseGrid {
    pub fn new(experiment: &Experiment, registry: &Registry) -> Result<Self, InputError> {
        let systems = &experiment.systems;
        refuse_duplicates(systems, systems.iter().map(|system| system.value.clone()))?;
        refuse_machines_of_systems(experiment)?;
        let experiment = &experiment.with_systems_as_tables(|system| {
            let expanded = system::expand(&system.value).map_err(|e| spec_error(system, &e))?;
            let text = |value| Text { value, place: system.place.clone() };
            Ok([text(expanded.topology), text(expanded.machine)])
        })?;
        // If there are too many cases, the experiment is refused before specs are parsed.
        let experiment = &without_ranges(experiment)?;
        if experiment.case_tables.is_empty() {
            affordable(experiment)?;
        }
        let tables = &experiment.case_tables;
        let in_tables = |list: fn(&CaseTable) -> &Vec<Text>| {
            tables.iter().flat_map(list).cloned().collect::<Vec<Text>>()
        };
        // The lists contain the experiment's own entries, followed by the entries that occur only
        // in tables.
        let topologies = union(
            &experiment.topologies,
            in_tables(|table| &table.topologies),
            |t| topology::parse_with_inputs(&t.value).map_err(|e| spec_error(t, &e)),
            |(topology, _)| topology.spec(),
        )?;
        let algorithms = union(
            &experiment.algorithms,
            in_tables(|table| &table.algorithms),
            |t| select_algorithm(t, registry).map(Arc::new),
            |algorithm| qualified(algorithm),
        )?;
        let workloads = union(
            &experiment.workloads,
            in_tables(|table| &table.workloads),
            |t| {
                let workload = Workload::parse(&t.value).map_err(|e| spec_error(t, &e))?;
                let repetitions = repetitions(t, &workload, experiment.repetitions)?;
                Ok((workload, repetitions))
            },
            |(workload, _)| workload.to_string(),
        )?;
        let own = own_machines(&experiment.own_machines)?;
        let machines = union(
            &experiment.machines,
            in_tables(|table| &table.machines),
            |t| with_files(t, machine_among(t, &own)?),
            |(machine, _)| machine.to_string(),
        )?;
        check_baseline(experiment, &algorithms, registry)?;
        experiment.check_seeds()?;
        let mut before = vec![0];
        for (_, repetitions) in &workloads {
            let cases = *repetitions as usize * machines.len();
            before.push(before[before.len() - 1] + cases);
        }
        let workloads: Vec<Arc<Workload>> =
            workloads.into_iter().map(|(workload, _)| Arc::new(workload)).collect();
        let lists = CaseLists {
            names: [
                topologies.iter().map(|(topology, _)| topology.spec()).collect(),
                algorithms.iter().map(|algorithm| qualified(algorithm)).collect(),
                workloads.iter().map(ToString::to_string).collect(),
                machines.iter().map(|(machine, _)| machine.to_string()).collect(),
            ],
            listed: [
                experiment.topologies.len(),
                experiment.algorithms.len(),
                experiment.workloads.len(),
                experiment.machines.len(),
            ],
            before: &before,
        };
        let selected = lists.selected(experiment, |kind, text| {
            Ok(match kind {
                0 => topology::parse_with_inputs(&text.value)
                    .map_err(|e| spec_error(text, &e))?
                    .0
                    .spec(),
                1 => qualified(&select_algorithm(text, registry)?),
                2 => Workload::parse(&text.value).map_err(|e| spec_error(text, &e))?.to_string(),
                _ => machine_among(text, &own)?.to_string(),
            })
        })?;
        let unused = selected.as_ref().map_or(Vec::new(), |selected| lists.unused(selected));
        let whole =
            before[workloads.len()] as u64 * topologies.len() as u64 * algorithms.len() as u64;
        let count = selected.as_ref().map_or(whole, |selected| selected.len() as u64);
        if count > MOST_CASES {
            return Err(too_many(count, "workloads, each of as many cases as it has files"));
        }
        // Random properties depend on the seed, so there is one network for each repetition.
        let most = workloads
            .iter()
            .filter_map(|workload| workload.replicates())
            .chain([experiment.repetitions])
            .max()
            .unwrap_or(1);
        let of_seeds = |topology: Arc<Network>| -> Vec<Arc<Network>> {
            let seeds = (0..most).map(|r| experiment.seed.saturating_add(r.into()));
            let samples: Option<Vec<_>> = seeds.map(|seed| topology.sample(seed)).collect();
            samples.unwrap_or_else(|| vec![topology])
        };
        let topologies =
            topologies.into_iter().map(|(topology, inputs)| (of_seeds(topology), inputs)).collect();
        let beside = experiment.beside.iter().map(|text| Companion::parse(text, registry));
        let beside: Vec<Companion> = beside.collect::<Result<_, _>>()?;
        let mut together = Vec::new();
        for table in &experiment.together {
            let parsed = TogetherLists::new(table, experiment, registry, &own)?;
            parsed.add_cases(experiment.repetitions, &of_seeds, &mut together);
        }
        let count = (count * (1 + beside.len() as u64)).saturating_add(together.len() as u64);
        if count > MOST_CASES {
            return Err(too_many(count, "each job that runs together with others has a case"));
        }
        Ok(Self {
            name: experiment.name.as_str().into(),
            topologies,
            algorithms,
            workloads,
            machines,
            repetitions: experiment.repetitions,
            before,
            seed: experiment.seed,
            options: RunOptions::new(experiment.timeout_secs, experiment.proof_scope),
            optima: experiment.optimum.then(Arc::default),
            selected,
            unused,
            beside,
            together,
        })
    }

    /// Returns the entries of the experiment's lists that no case uses, as pairs of the kind and
    /// the spec.
    pub fn unused(&self) -> &[(&'static str, String)] {
        &self.unused
    }

    pub fn len(&self) -> usize {
        self.of_lists() * (1 + self.beside.len()) + self.together.len()
    }

    fn of_lists(&self) -> usize {
        let whole = self.topologies.len() * self.algorithms.len() * self.of_one();
        self.selected.as_ref().map_or(whole, Vec::len)
    }

    fn of_one(&self) -> usize {
        self.before[self.workloads.len()]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the case with this number, which must be less than [`CaseGrid::len`].
    pub fn case(&self, number: usize) -> Case {
        let jobs = 1 + self.beside.len();
        if let Some(together) = number.checked_sub(self.of_lists() * jobs) {
            let TogetherCase { networks, jobs, own, machine, repetition } =
                &self.together[together];
            return self.case_of_job(networks, (jobs, *own), machine, *repetition);
        }
        let (networks, job, machine, repetition) = self.combination(number / jobs);
        let own = Companion { job, start_us: 0.0 };
        let jobs: Vec<Companion> = [own].iter().chain(&self.beside).cloned().collect();
        self.case_of_job(networks, (&jobs, number % jobs.len()), machine, repetition)
    }

    fn case_of_job(
        &self,
        (topologies, inputs): &Networks,
        (jobs, own): (&[Companion], usize),
        machine: &LoadedMachine,
        repetition: u32,
    ) -> Case {
        let Job { algorithm, workload } = &jobs[own].job;
        let case = Case::new(CaseParts {
            experiment: Arc::clone(&self.name),
            topology: Arc::clone(&topologies[(repetition as usize).min(topologies.len() - 1)]),
            topology_inputs: inputs,
            algorithm,
            workload: Arc::clone(workload),
            machine,
            companions: of_others(jobs, own),
            repetition,
            seed: self.seed.saturating_add(u64::from(repetition)),
            options: self.options,
        });
        Case { optima: self.optima.clone(), ..case }
    }

    fn combination(&self, number: usize) -> (&Networks, Job, &LoadedMachine, u32) {
        let number = self.selected.as_ref().map_or(number, |selected| selected[number]);
        let (lists, rest) = (number / self.of_one(), number % self.of_one());
        let algorithm = &self.algorithms[lists % self.algorithms.len()];
        let networks = &self.topologies[lists / self.algorithms.len()];
        let which = self.before.partition_point(|before| *before <= rest) - 1;
        let (workload, rest) = (&self.workloads[which], rest - self.before[which]);
        let repetitions = workload.replicates().unwrap_or(self.repetitions) as usize;
        let (machine, repetition) =
            (&self.machines[rest / repetitions], (rest % repetitions) as u32);
        // If a workload has several files, each repetition uses one of them.
        let workload = workload.replicate(repetition).unwrap_or_else(|_| Arc::clone(workload));
        (networks, Job { algorithm: Arc::clone(algorithm), workload }, machine, repetition)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = Case> {
        (0..self.len()).map(|number| self.case(number))
    }

    pub fn inputs(&self) -> impl Iterator<Item = &InputDigest> {
        let topologies = self.topologies.iter().flat_map(|(_, inputs)| inputs);
        topologies
            .chain(self.workloads.iter().flat_map(|workload| workload.inputs()))
            .chain(self.algorithms.iter().flat_map(|a| &a.inputs))
            .chain(self.machines.iter().flat_map(|(_, inputs)| inputs))
            .chain(self.jobs_together().flat_map(|companion| companion.job.inputs()))
            .chain(self.together.iter().flat_map(|case| &case.networks.1))
            .chain(self.together.iter().flat_map(|case| &case.machine.1))
    }

    /// Returns all jobs that run at the same time as others, except the jobs from the experiment's
    /// lists.
    fn jobs_together(&self) -> impl Iterator<Item = &Companion> {
        let of_tables = self.together.iter().filter(|case| case.own == 0);
        self.beside.iter().chain(of_tables.flat_map(|case| &*case.jobs))
    }

    fn selected_algorithms(&self) -> impl Iterator<Item = &SelectedAlgorithm> {
        let together = self.jobs_together().map(|companion| &*companion.job.algorithm);
        self.algorithms.iter().map(|chosen| &**chosen).chain(together)
    }

    pub fn machines_without_optimum(&self) -> impl Iterator<Item = &Machine> {
        let machines = self.machines.iter().filter(|_| self.optima.is_some());
        machines.map(|(machine, _)| &**machine).filter(|machine| machine.network_rates().is_none())
    }

    pub fn algorithms(&self) -> impl Iterator<Item = &Algorithm> {
        self.selected_algorithms().map(|chosen| &*chosen.algorithm)
    }

    pub fn plugins(&self) -> impl Iterator<Item = &Path> {
        self.selected_algorithms().map(|chosen| chosen.algorithm.file.as_path())
    }
}

struct TogetherLists {
    topologies: Vec<(Arc<Network>, Vec<InputDigest>)>,
    machines: Vec<LoadedMachine>,
    /// For each job, one entry for each combination of its algorithms and block sizes.
    jobs: Vec<Vec<Companion>>,
}

impl TogetherLists {
    fn new(
        table: &TogetherTable,
        experiment: &Experiment,
        registry: &Registry,
        own: &[Machine],
    ) -> Result<Self, InputError> {
        let or_list = |own: &[Text], list: &[Text], kind: &str| match own.is_empty() {
            false => Ok(own.to_vec()),
            true if list.is_empty() => {
                let message = format!("names no {kind}, and the experiment lists no {kind}");
                Err(table.place.error(message))
            }
            true => Ok(list.to_vec()),
        };
        let topologies = or_list(&table.topologies, &experiment.topologies, "topology")?;
        let topologies = expanded_by(topology::expand_meshes, &topologies)?;
        let parse = |t: &Text| topology::parse_with_inputs(&t.value).map_err(|e| spec_error(t, &e));
        let machines = or_list(&table.machines, &experiment.machines, "machine")?;
        let machines = machines.iter().map(|t| with_files(t, machine_among(t, own)?));
        let job = |JobTable { workload, algorithms, start_us }: &JobTable| {
            let start_us = companion::checked_start(*start_us).ok_or_else(|| {
                workload.error(format!("its start_us is {start_us}, expected at most a day"))
            })?;
            let mut jobs = Vec::new();
            for workload in expanded(std::slice::from_ref(workload))? {
                let workload = Arc::new(parse_workload(&workload)?);
                for text in algorithms {
                    let algorithm = Arc::new(select_algorithm(text, registry)?);
                    let job = Job { algorithm, workload: Arc::clone(&workload) };
                    jobs.push(Companion { job, start_us });
                }
            }
            Ok(jobs)
        };
        Ok(Self {
            topologies: topologies.iter().map(parse).collect::<Result<_, _>>()?,
            machines: machines.collect::<Result<_, _>>()?,
            jobs: table.jobs.iter().map(job).collect::<Result<_, InputError>>()?,
        })
    }

    /// Adds one case for each job of each combination of jobs, with each topology and machine.
    /// Cases are ordered by topology, then by combination, then by machine.
    fn add_cases(
        self,
        repetitions: u32,
        of_seeds: &impl Fn(Arc<Network>) -> Vec<Arc<Network>>,
        cases: &mut Vec<TogetherCase>,
    ) {
        let mut combinations: Vec<Vec<Companion>> = vec![Vec::new()];
        for choices in &self.jobs {
            let with = |jobs: &Vec<Companion>, choice: &Companion| {
                jobs.iter().chain([choice]).cloned().collect()
            };
            let longer = combinations.iter().flat_map(|jobs| {
                choices.iter().map(|choice| with(jobs, choice)).collect::<Vec<Vec<Companion>>>()
            });
            // If there are more cases than permitted, the caller refuses them. It is enough to
            // return one more than permitted.
            combinations = longer.take(MOST_CASES as usize + 1).collect();
        }
        let combinations: Vec<Arc<[Companion]>> =
            combinations.into_iter().map(Into::into).collect();
        for (topology, inputs) in self.topologies {
            let networks = Arc::new((of_seeds(topology), inputs));
            for jobs in &combinations {
                for machine in &self.machines {
                    for repetition in 0..repetitions {
                        for own in 0..jobs.len() {
                            if cases.len() as u64 > MOST_CASES {
                                return;
                            }
                            cases.push(TogetherCase {
                                networks: Arc::clone(&networks),
                                jobs: Arc::clone(jobs),
                                own,
                                machine: machine.clone(),
                                repetition,
                            });
                        }
                    }
                }
            }
        }
    }
}

fn check_baseline(
    experiment: &Experiment,
    algorithms: &[Arc<SelectedAlgorithm>],
    registry: &Registry,
) -> Result<(), InputError> {
    if let Some(baseline) = &experiment.baseline {
        let baseline_name = select_algorithm(baseline, registry)?.to_string();
        if !algorithms.iter().any(|a| a.to_string() == baseline_name) {
            return Err(baseline.error(format!(
                "the baseline `{baseline_name}` is not one of the experiment's algorithms"
            )));
        }
    }
    Ok(())
}

/// Returns the spec with the name of the plugin, because two plugins may have algorithms of the
/// same name.
fn qualified(algorithm: &SelectedAlgorithm) -> String {
    format!("{}/{algorithm}", algorithm.algorithm.plugin.name)
}

/// Returns the network with its random properties drawn from `seed`. If it has no random
/// properties, returns `topology`.
pub fn drawn(topology: &Arc<Network>, seed: u64) -> Arc<Network> {
    topology.sample(seed).unwrap_or_else(|| Arc::clone(topology))
}

/// Returns the number of repetitions. If the workload has several files, it is their number.
fn repetitions(text: &Text, workload: &Workload, repetitions: u32) -> Result<u32, InputError> {
    match workload.replicates() {
        Some(files) if repetitions > 1 && repetitions != files => {
            let message = format!(
                "has {files} files, one for each repetition, but the experiment has {repetitions} repetitions"
            );
            Err(text.error(message).help("leave `repetitions` out, or name one file"))
        }
        files => Ok(files.unwrap_or(repetitions)),
    }
}

/// Errors if the lists have more than [`MOST_CASES`] combinations. The message shows the
/// calculation from the lengths of the lists.
fn affordable(experiment: &Experiment) -> Result<(), InputError> {
    let factors = [
        (experiment.topologies.len() as u64, "topologies"),
        (experiment.algorithms.len() as u64, "algorithms"),
        (experiment.workloads.len() as u64, "workloads"),
        (experiment.machines.len() as u64, "machines"),
        (u64::from(experiment.repetitions), "repetitions"),
    ];
    let count = factors.iter().map(|(n, _)| *n).fold(1, u64::saturating_mul);
    if count <= MOST_CASES {
        return Ok(());
    }
    let words: Vec<String> =
        factors.iter().filter(|(n, _)| *n > 1).map(|(n, what)| format!("{n} {what}")).collect();
    Err(too_many(count, &words.join(" x ")))
}

fn too_many(count: u64, of: &str) -> InputError {
    Text::flag("the experiment", of)
        .error(format!("its lists multiply to {count} cases, expected at most {MOST_CASES}"))
        .help("split it into several experiments, each with its own row file")
}

/// Parses the entries of a list, and those entries of tables that are not in the list. `name`
/// returns the canonical form of an entry. Errors if the list contains two equal entries.
fn union<T>(
    listed: &[Text],
    in_tables: Vec<Text>,
    read: impl Fn(&Text) -> Result<T, InputError>,
    name: impl Fn(&T) -> String,
) -> Result<Vec<T>, InputError> {
    let mut entries: Vec<T> = listed.iter().map(&read).collect::<Result<_, _>>()?;
    refuse_duplicates(listed, entries.iter().map(&name))?;
    let mut known: HashSet<String> = entries.iter().map(&name).collect();
    for text in in_tables {
        let entry = read(&text)?;
        if known.insert(name(&entry)) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Errors if two entries of a list are equal, because their rows could not be distinguished.
fn refuse_duplicates(
    texts: &[Text],
    canonical: impl Iterator<Item = String>,
) -> Result<(), InputError> {
    let mut known: HashMap<String, &Text> = HashMap::new();
    for (text, form) in texts.iter().zip(canonical) {
        if let Some(first) = known.get(&form) {
            let place = first
                .error("")
                .line_and_column()
                .map(|(line, column)| format!(" on line {line}, column {column}"));
            let message = format!(
                "`{}` is already in the list, as `{}`{}",
                text.value,
                first.value,
                place.unwrap_or_default()
            );
            return Err(text
                .error(message)
                .help("expected each entry once; use `repetitions` to repeat a case"));
        }
        known.insert(form, text);
    }
    Ok(())
}

struct CaseLists<'a> {
    pub names: [Vec<String>; 4],
    /// For each kind, the number of entries in the experiment's own list. These come first in
    /// `names`.
    pub listed: [usize; 4],
    /// The cumulative counts of cases (see [`CaseGrid`]).
    pub before: &'a [usize],
}

impl CaseLists<'_> {
    /// Applies the `[[case]]` and `exclude` tables. Returns the numbers of the selected cases, or
    /// `None` if there are no tables. The number of a case is its index in the product of
    /// [`CaseLists::names`]. `name(kind, text)` returns the canonical form of an entry of
    /// `names[kind]`.
    fn selected(
        &self,
        experiment: &Experiment,
        name: impl Fn(usize, &Text) -> Result<String, InputError>,
    ) -> Result<Option<Vec<usize>>, InputError> {
        if !experiment.has_case_tables() {
            return Ok(None);
        }
        let mut selected = BTreeSet::new();
        if experiment.case_tables.is_empty() {
            selected.extend(self.numbers(&self.listed.map(|listed| (0..listed).collect())));
        }
        for table in &experiment.case_tables {
            let entries = self.entries(table, &name)?;
            if let Some(kind) = entries.iter().position(Vec::is_empty) {
                let message = format!("names no {0}, and the experiment lists no {0}", KINDS[kind]);
                return Err(table.place.error(message));
            }
            let count: u64 = entries.iter().map(|of| of.len() as u64).product();
            if count > MOST_CASES {
                let message = format!("selects {count} cases, expected at most {MOST_CASES}");
                return Err(table.place.error(message));
            }
            selected.extend(self.numbers(&entries));
        }
        for table in &experiment.exclude {
            let before = selected.len();
            for number in self.numbers(&self.entries(table, &name)?) {
                selected.remove(&number);
            }
            if selected.len() == before {
                return Err(table.place.error("excludes none of the experiment's cases"));
            }
        }
        Ok(Some(selected.into_iter().collect()))
    }

    /// Returns the indices of a table's entries in each list. If a list of the table is empty, the
    /// table means all entries of the experiment's own list.
    fn entries(
        &self,
        table: &CaseTable,
        name: &impl Fn(usize, &Text) -> Result<String, InputError>,
    ) -> Result<[Vec<usize>; 4], InputError> {
        let mut entries = self.listed.map(|listed| (0..listed).collect());
        let lists = [&table.topologies, &table.algorithms, &table.workloads, &table.machines];
        for (kind, list) in lists.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let mut of_kind = Vec::with_capacity(list.len());
            for text in list {
                let canonical = name(kind, text)?;
                let index = self.names[kind].iter().position(|known| *known == canonical);
                of_kind.push(index.ok_or_else(|| {
                    text.error(format!("the experiment has no {} `{canonical}`", KINDS[kind]))
                })?);
            }
            entries[kind] = of_kind;
        }
        Ok(entries)
    }

    /// Returns the entries of the experiment's own lists that no selected case uses.
    fn unused(&self, selected: &[usize]) -> Vec<(&'static str, String)> {
        let (all_algorithms, all_machines) = (self.names[1].len(), self.names[3].len());
        let of_one = self.before[self.before.len() - 1];
        let mut used = self.listed.map(|listed| vec![false; listed]);
        for number in selected {
            let (lists, rest) = (number / of_one, number % of_one);
            let workload = self.before.partition_point(|before| *before <= rest) - 1;
            let (from, to) = (self.before[workload], self.before[workload + 1]);
            let machine = (rest - from) / ((to - from) / all_machines);
            let entries = [lists / all_algorithms, lists % all_algorithms, workload, machine];
            for (used, entry) in used.iter_mut().zip(entries) {
                // Entries that occur only in tables come after those of the experiment's lists, so
                // `entry` is out of range for them.
                used.iter_mut().skip(entry).take(1).for_each(|used| *used = true);
            }
        }
        let mut unused = Vec::new();
        for (kind, used) in used.iter().enumerate() {
            let names = self.names[kind].iter().zip(used).filter(|(_, used)| !**used);
            // Algorithms are reported without the names of their plugins.
            let short = |name: &str| match name.split_once('/') {
                Some((_, short)) if kind == 1 => short.to_owned(),
                _ => name.to_owned(),
            };
            unused.extend(names.map(|(name, _)| (KINDS[kind], short(name))));
        }
        unused
    }

    fn numbers(&self, entries: &[Vec<usize>; 4]) -> Vec<usize> {
        let [topologies, algorithms, workloads, machines] = entries;
        let (all_algorithms, all_machines) = (self.names[1].len(), self.names[3].len());
        let of_one = self.before[self.before.len() - 1];
        let mut numbers = Vec::new();
        for topology in topologies {
            for algorithm in algorithms {
                let first = (topology * all_algorithms + algorithm) * of_one;
                for workload in workloads {
                    let (from, to) = (self.before[*workload], self.before[workload + 1]);
                    let repetitions = (to - from) / all_machines;
                    for machine in machines {
                        let from = first + from + machine * repetitions;
                        numbers.extend(from..from + repetitions);
                    }
                }
            }
        }
        numbers
    }
}

const KINDS: [&str; 4] = ["topology", "algorithm", "workload", "machine"];

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<Text> {
        values.iter().map(|value| Text::flag("", value)).collect()
    }

    fn table(topologies: &[&str], algorithms: &[&str]) -> CaseTable {
        CaseTable {
            place: Text::flag("case", ""),
            topologies: texts(topologies),
            algorithms: texts(algorithms),
            workloads: Vec::new(),
            machines: Vec::new(),
        }
    }

    /// There are two topologies, and a table adds a third. There are two algorithms and two
    /// repetitions. The number of a case is (topology * 2 + algorithm) * 2 + repetition.
    #[test]
    fn blocks_select_parts_of_the_product() {
        let names = [&["t0", "t1", "t2"][..], &["a0", "a1"], &["uniform:1"], &["m"]]
            .map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let lists = CaseLists { names, listed: [2, 2, 1, 1], before: &[0, 2] };
        let of = |case_tables: Vec<CaseTable>, exclude: Vec<CaseTable>| {
            let experiment = Experiment { case_tables, exclude, ..Experiment::default() };
            lists.selected(&experiment, |_, text| Ok(text.value.clone())).map_err(|e| e.to_string())
        };
        assert_eq!(of(vec![], vec![]), Ok(None));
        let both = vec![table(&["t0"], &["a1"]), table(&["t2"], &[])];
        assert_eq!(of(both, vec![]), Ok(Some(vec![2, 3, 8, 9, 10, 11])));
        assert_eq!(lists.unused(&[2, 3, 8, 9, 10, 11]), [("topology", "t1".to_owned())]);
        let others = [("topology", "t1".to_owned()), ("algorithm", "a0".to_owned())];
        assert_eq!(lists.unused(&[2, 3]), others);
        assert_eq!(lists.unused(&[0, 1, 6, 7]), []);
        assert_eq!(of(vec![], vec![table(&["t1"], &["a0"])]), Ok(Some(vec![0, 1, 2, 3, 6, 7])));
        let overlapping = vec![table(&["t0"], &[]), table(&[], &["a0"])];
        assert_eq!(of(overlapping, vec![]), Ok(Some(vec![0, 1, 2, 3, 4, 5])));
        let nothing = of(vec![table(&["t0"], &[])], vec![table(&["t1"], &[])]).unwrap_err();
        assert!(nothing.contains("excludes none of the experiment's cases"), "{nothing}");
        let unknown = of(vec![], vec![table(&["t9"], &[])]).unwrap_err();
        assert!(unknown.contains("the experiment has no topology `t9`"), "{unknown}");
        let names = lists.names.clone();
        let without = CaseLists { names, listed: [0, 2, 1, 1], before: &[0, 2] };
        let experiment =
            Experiment { case_tables: vec![table(&[], &["a0"])], ..Experiment::default() };
        let message = without.selected(&experiment, |_, text| Ok(text.value.clone())).unwrap_err();
        let expected = "names no topology, and the experiment lists no topology";
        assert!(message.to_string().contains(expected), "{message}");
    }
}
