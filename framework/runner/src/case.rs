//! Builds the cases of an experiment: parses each spec and takes the cross product.

use crate::experiment::{DEFAULT_TIMEOUT_SECS, Experiment, OwnMachine};
use crate::input::{InputError, Text};
use crate::machine::{self, LoadedMachine};
use crate::plugin::{Algorithm, Param, ParamKind};
use crate::registry::Registry;
use crate::topology;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::spec::{Spec, SpecError, near_matches};
use swapmeet_results::{CaseId, Implementation, Record, Setting, inputs_column};
use swapmeet_workloads::file::{MAX_BYTES, read_regular};
use swapmeet_workloads::{InputDigest, Workload, expand};

/// An algorithm with the user's parameters.
#[derive(Debug, Clone)]
pub struct SelectedAlgorithm {
    pub algorithm: Arc<Algorithm>,
    /// The parameters that differ from their defaults, in the order of declaration.
    pub params: Vec<(String, String)>,
    /// The files named by parameters.
    pub inputs: Vec<InputDigest>,
}

impl fmt::Display for SelectedAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.algorithm.name)?;
        for (i, (key, value)) in self.params.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// One combination of the lists of an experiment.
#[derive(Debug, Clone)]
pub struct Case {
    pub experiment: Arc<str>,
    pub topology: Arc<dyn Topology>,
    pub algorithm: SelectedAlgorithm,
    pub workload: Workload,
    /// The files named by topology, workload, algorithm and machine.
    pub inputs: Arc<[InputDigest]>,
    pub machine: Machine,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Seed of this repetition.
    pub seed: u64,
    pub options: RunOptions,
}

/// How a case is run. Its row depends on this only in `proved_on` and in a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Time limit; `None` for no limit.
    pub timeout: Option<Duration>,
    /// The nodes on which delivery is verified.
    #[serde(with = "SerializedProofScope")]
    pub proof_scope: ProofScope,
}

impl RunOptions {
    /// Returns options with a time limit in seconds. `None` stands for the default limit. A limit
    /// that a [`Duration`] cannot hold is no limit.
    pub fn new(timeout_secs: Option<f64>, proof_scope: ProofScope) -> Self {
        let seconds = timeout_secs.unwrap_or(DEFAULT_TIMEOUT_SECS);
        Self { timeout: Duration::try_from_secs_f64(seconds).ok(), proof_scope }
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self::new(None, ProofScope::Auto)
    }
}

/// The variants of [`ProofScope`] for serde, on which the core does not depend.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ProofScope")]
enum SerializedProofScope {
    Auto,
    Full,
}

/// The components of a case after lookup.
pub(crate) struct CaseParts<'a> {
    pub experiment: Arc<str>,
    pub topology: Arc<dyn Topology>,
    /// Files that the topology names.
    pub topology_inputs: &'a [InputDigest],
    pub algorithm: &'a SelectedAlgorithm,
    /// The workload of this repetition.
    pub workload: Workload,
    pub machine: &'a LoadedMachine,
    pub repetition: u32,
    pub seed: u64,
    pub options: RunOptions,
}

impl Case {
    pub(crate) fn new(parts: CaseParts<'_>) -> Self {
        let (machine, machine_inputs) = parts.machine;
        let inputs = parts
            .topology_inputs
            .iter()
            .chain(parts.workload.input())
            .chain(&parts.algorithm.inputs)
            .chain(machine_inputs);
        Self {
            experiment: parts.experiment,
            topology: parts.topology,
            algorithm: parts.algorithm.clone(),
            inputs: inputs.cloned().collect(),
            workload: parts.workload,
            machine: machine.clone(),
            repetition: parts.repetition,
            seed: parts.seed,
            options: parts.options,
        }
    }

    /// Returns the identity of the case, as its row states it.
    pub fn id(&self) -> CaseId {
        let algorithm = &self.algorithm.algorithm;
        let inputs = self.inputs.iter().map(|input| (input.file.as_str(), input.digest.as_str()));
        CaseId {
            setting: Setting {
                topology: self.topology.spec(),
                collective: self.workload.collective().word.to_owned(),
                workload: self.workload.to_string(),
                inputs: inputs_column(inputs),
                machine: self.machine.to_string(),
                machine_definition: self.machine.definition().unwrap_or_default(),
                model: self.machine.model.to_string(),
            },
            implementation: Implementation {
                algorithm: self.algorithm.to_string(),
                plugin: algorithm.plugin.name.clone(),
                plugin_version: algorithm.plugin.version.clone(),
                plugin_digest: algorithm.plugin.digest.clone(),
                swapmeet_version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            repetition: self.repetition,
            seed: self.seed,
        }
    }

    /// Returns the bytes of one unit of load: of a block where blocks are counted, otherwise 1.
    pub(crate) fn unit_bytes(&self) -> u64 {
        if self.workload.counts_blocks() { self.workload.block_bytes() } else { 1 }
    }

    /// Returns the row of the case without an outcome.
    pub fn blank_row(&self) -> Record {
        Record {
            experiment: self.experiment.to_string(),
            nodes: self.topology.nodes(),
            block_bytes: self.workload.is_uniform().then(|| self.workload.block_bytes()),
            ..self.id().row_without_outcome()
        }
    }

    /// Returns whether both cases have the same schedule, apart from values that the plugin
    /// requests.
    pub fn shares_plan_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.topology, &other.topology)
            && Arc::ptr_eq(&self.algorithm.algorithm, &other.algorithm.algorithm)
            && self.algorithm.params == other.algorithm.params
            && self.workload.same_shape(&other.workload)
            && (self.workload.is_uniform() || self.seed == other.seed)
            // A model that needs arrival times requires full planning. Rows must not depend on
            // other cases, so such cases are planned separately.
            && self.machine.follows_arrivals() == other.machine.follows_arrivals()
    }
}

/// Returns all cases of an experiment, ordered by topology, algorithm, workload, machine and
/// repetition. The repetition varies fastest.
pub fn cases(experiment: &Experiment, registry: &Registry) -> Result<Vec<Case>, InputError> {
    Ok(Product::of(experiment, registry)?.iter().collect())
}

/// The parsed lists of an experiment. Cases are built one by one on request, because a shard of a
/// large experiment runs only some of them.
#[derive(Debug)]
pub struct Product {
    name: Arc<str>,
    topologies: Vec<Networks>,
    algorithms: Vec<SelectedAlgorithm>,
    workloads: Vec<Workload>,
    machines: Vec<LoadedMachine>,
    repetitions: u32,
    /// For each workload, the number of cases per topology and algorithm that precede its own; the
    /// last entry is the total.
    before: Vec<usize>,
    seed: u64,
    options: RunOptions,
}

/// The network of a topology and the files that it names. With random routing there is one network
/// per repetition.
type Networks = (Vec<Arc<dyn Topology>>, Vec<InputDigest>);

impl Product {
    /// Parses everything that an experiment names.
    pub fn of(experiment: &Experiment, registry: &Registry) -> Result<Self, InputError> {
        let sized = expanded(&experiment.workloads)?;
        affordable(experiment, sized.len())?;
        let topologies = all(&experiment.topologies, |t| {
            topology::parse_with_inputs(&t.value).map_err(|e| spec_error(t, &e))
        })?;
        let algorithms = all(&experiment.algorithms, |t| select_algorithm(t, registry))?;
        let workloads = all(&sized, |t| Workload::parse(&t.value).map_err(|e| spec_error(t, &e)))?;
        let own = own_machines(&experiment.own_machines)?;
        let machines = all(&experiment.machines, |t| with_files(t, machine_among(t, &own)?))?;
        once(&experiment.topologies, topologies.iter().map(|(t, _)| t.spec()))?;
        once(&experiment.algorithms, algorithms.iter().map(SelectedAlgorithm::to_string))?;
        once(&sized, workloads.iter().map(Workload::to_string))?;
        once(&experiment.machines, machines.iter().map(|(machine, _)| machine.to_string()))?;
        if let Some(baseline) = &experiment.baseline {
            let baseline_name = select_algorithm(baseline, registry)?.to_string();
            if !algorithms.iter().any(|a| a.to_string() == baseline_name) {
                return Err(baseline.error(format!(
                    "the baseline `{baseline_name}` is not one of the experiment's algorithms"
                )));
            }
        }
        if experiment
            .seed
            .checked_add(u64::from(experiment.repetitions.saturating_sub(1)))
            .is_none()
        {
            let seed = Text::flag("seed", &experiment.seed.to_string());
            let message = format!(
                "{} repetitions exceed the largest seed, {}",
                experiment.repetitions,
                u64::MAX
            );
            return Err(seed.error(message).help("repetition r uses the seed plus r"));
        }
        let mut before = vec![0];
        for (text, workload) in sized.iter().zip(&workloads) {
            let cases =
                repetitions(text, workload, experiment.repetitions)? as usize * machines.len();
            before.push(before[before.len() - 1] + cases);
        }
        let count =
            before[workloads.len()] as u64 * topologies.len() as u64 * algorithms.len() as u64;
        if count > MOST_CASES {
            return Err(too_many(count, "workloads, each of as many cases as it has files"));
        }
        let most = workloads
            .iter()
            .filter_map(Workload::replicates)
            .chain([experiment.repetitions])
            .max()
            .unwrap_or(1);
        let of_seeds = |topology: Arc<dyn Topology>| match topology.random_routing() {
            None => vec![topology],
            Some(_) => (0..most)
                .map(|r| drawn(&topology, experiment.seed.saturating_add(r.into())))
                .collect(),
        };
        let topologies =
            topologies.into_iter().map(|(topology, inputs)| (of_seeds(topology), inputs)).collect();
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
        })
    }

    /// Returns the number of cases.
    pub fn len(&self) -> usize {
        self.topologies.len() * self.algorithms.len() * self.of_one()
    }

    /// Returns the number of cases per topology and algorithm.
    fn of_one(&self) -> usize {
        self.before[self.workloads.len()]
    }

    /// Returns whether there are no cases.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the case with this number, which must be less than [`Product::len`].
    pub fn case(&self, number: usize) -> Case {
        let (lists, rest) = (number / self.of_one(), number % self.of_one());
        let algorithm = &self.algorithms[lists % self.algorithms.len()];
        let (topologies, inputs) = &self.topologies[lists / self.algorithms.len()];
        let which = self.before.partition_point(|before| *before <= rest) - 1;
        let (workload, rest) = (&self.workloads[which], rest - self.before[which]);
        let repetitions = workload.replicates().unwrap_or(self.repetitions) as usize;
        let (machine, repetition) =
            (&self.machines[rest / repetitions], (rest % repetitions) as u32);
        Case::new(CaseParts {
            experiment: Arc::clone(&self.name),
            topology: Arc::clone(&topologies[(repetition as usize).min(topologies.len() - 1)]),
            topology_inputs: inputs,
            algorithm,
            // `replicate` cannot fail: each workload has as many repetitions as files.
            workload: workload.replicate(repetition).unwrap_or_else(|_| workload.clone()),
            machine,
            repetition,
            seed: self.seed.saturating_add(u64::from(repetition)),
            options: self.options,
        })
    }

    /// Returns an iterator over all cases.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Case> {
        (0..self.len()).map(|number| self.case(number))
    }

    /// Returns the files named by all specs.
    pub fn inputs(&self) -> impl Iterator<Item = &InputDigest> {
        let topologies = self.topologies.iter().flat_map(|(_, inputs)| inputs);
        topologies
            .chain(self.workloads.iter().filter_map(Workload::input))
            .chain(self.algorithms.iter().flat_map(|a| &a.inputs))
            .chain(self.machines.iter().flat_map(|(_, inputs)| inputs))
    }

    /// Returns the plugin files of all algorithms.
    pub fn plugins(&self) -> impl Iterator<Item = &Path> {
        self.algorithms.iter().map(|chosen| chosen.algorithm.file.as_path())
    }
}

/// Returns the network for a case with this seed. With random routing, the seed determines the
/// routes.
pub fn drawn(topology: &Arc<dyn Topology>, seed: u64) -> Arc<dyn Topology> {
    topology.random_routing().map_or_else(|| Arc::clone(topology), |drawn| drawn.with_seed(seed))
}

/// Returns the number of repetitions of a workload: the number of its files if it has several,
/// otherwise `repetitions`.
fn repetitions(text: &Text, workload: &Workload, repetitions: u32) -> Result<u32, InputError> {
    match workload.replicates() {
        Some(files) if repetitions > 1 => {
            let message = format!(
                "has {files} files, one for each repetition, but the experiment has {repetitions} repetitions"
            );
            Err(text.error(message).help("leave `repetitions` out, or name one file"))
        }
        files => Ok(files.unwrap_or(repetitions)),
    }
}

/// Replaces each range of sizes by one workload per size.
pub fn expanded(workloads: &[Text]) -> Result<Vec<Text>, InputError> {
    let mut list = Vec::with_capacity(workloads.len());
    for text in workloads {
        let specs = expand(&text.value).map_err(|e| spec_error(text, &e))?;
        list.extend(specs.into_iter().map(|value| Text { value, place: text.place.clone() }));
    }
    Ok(list)
}

/// Maximum number of cases of an experiment. All of them are in memory during a run: a million
/// cases that share a schedule take 1.4 GB, and their rows a file of a third of that size.
pub const MOST_CASES: u64 = 1_000_000;

/// Checks that the number of cases does not exceed [`MOST_CASES`]. The error shows the product.
fn affordable(experiment: &Experiment, workloads: usize) -> Result<(), InputError> {
    let factors = [
        (experiment.topologies.len() as u64, "topologies"),
        (experiment.algorithms.len() as u64, "algorithms"),
        (workloads as u64, "workloads"),
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

fn all<T>(
    texts: &[Text],
    read: impl Fn(&Text) -> Result<T, InputError>,
) -> Result<Vec<T>, InputError> {
    texts.iter().map(read).collect()
}

/// Rejects entries with the same canonical form, because their rows could not be distinguished.
fn once(texts: &[Text], canonical: impl Iterator<Item = String>) -> Result<(), InputError> {
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

/// Converts an error about a spec to an error at its place in the file or flag.
pub fn spec_error(text: &Text, error: &SpecError) -> InputError {
    // The name of a flag tells the kind of spec. In a file, the key of the list may be far above.
    let message = if text.place.is_file {
        format!("{}: {}", error.what, error.message)
    } else {
        error.message.clone()
    };
    let error_here = text.error_at(error.at, error.len, message);
    if error.near.is_empty() { error_here } else { error_here.near(&error.near, "") }
}

/// Looks up an algorithm and checks its parameters.
pub fn select_algorithm(text: &Text, registry: &Registry) -> Result<SelectedAlgorithm, InputError> {
    let spec = Spec::parse("algorithm", &text.value).map_err(|e| spec_error(text, &e))?;
    let algorithm = registry.algorithm(spec.name()).map_err(|unknown| {
        text.error_at(0, spec.name().len(), format!("unknown algorithm `{}`", unknown.name)).near(
            &unknown.near,
            "`swapmeet list algorithms` shows the known algorithms, `swapmeet list plugins` the plugin files",
        )
    })?;
    /// Maximum size of a file named by a parameter, in bytes.
    const MOST_OF_A_FILE: u64 = MAX_BYTES;
    let (mut given, mut inputs): (Vec<(&str, String)>, _) = (Vec::new(), Vec::new());
    for arg in spec.args() {
        let Some(key) = arg.key() else {
            return Err(text
                .error_at(
                    arg.at(),
                    arg.len(),
                    format!("expected `key=value`, found `{}`", arg.value()),
                )
                .help(takes(&algorithm)));
        };
        let Some(param) = algorithm.params.iter().find(|p| p.key == key) else {
            let near = near_matches(key, algorithm.params.iter().map(|p| p.key.as_str()));
            return Err(text
                .error_at(
                    arg.at(),
                    key.len(),
                    format!("`{}` has no parameter `{key}`", algorithm.name),
                )
                .near(&near, &takes(&algorithm)));
        };
        let value = param.kind.canonical(arg.value()).map_err(|expected| {
            let near = near_matches(arg.value(), param.kind.words().iter().map(String::as_str));
            let message = format!("`{key}={}`: expected {expected}", arg.value());
            text.error_at(arg.value_at(), arg.value().len(), message).near(&near, "")
        })?;
        if param.kind == ParamKind::File {
            let content =
                read_regular(Path::new(&value), MOST_OF_A_FILE, "a file that the algorithm reads")
                    .map_err(|why| {
                        text.error_at(arg.value_at(), arg.value().len(), format!("`{value}` {why}"))
                    })?;
            inputs.push(InputDigest::new(&value, &content));
        }
        given.push((key, value));
    }
    // Rows of the same case need the same spelling, so values are stored in canonical form.
    let spelt = |p: &Param| {
        let (key, value) = given.iter().find(|(key, _)| *key == p.key)?;
        (*value != p.default).then(|| ((*key).to_owned(), value.clone()))
    };
    let params = algorithm.params.iter().filter_map(spelt).collect();
    Ok(SelectedAlgorithm { algorithm, params, inputs })
}

fn takes(algorithm: &Algorithm) -> String {
    if algorithm.params.is_empty() {
        return format!("`{}` takes no parameters", algorithm.name);
    }
    let one = |p: &Param| match p.default.as_str() {
        // The default depends on the problem, as the help text explains.
        "" => format!("{} ({})", p.key, p.help),
        default => format!("{} ({}; default {default})", p.key, p.help),
    };
    let list: Vec<String> = algorithm.params.iter().map(one).collect();
    format!("`{}` takes {}", algorithm.name, list.join(", "))
}

fn own_machines(tables: &[OwnMachine]) -> Result<Vec<Machine>, InputError> {
    tables
        .iter()
        .map(|own| {
            let base = own.base.clone().unwrap_or_else(|| Text::flag("base", "free"));
            let base = Machine::parse(&base.value).map_err(|e| {
                let error = spec_error(&base, &e);
                let name = base.value.split(':').next().unwrap_or_default();
                let own = tables.iter().any(|other| other.name.value == name);
                if own {
                    error.help("a base is a preset, not a machine of the experiment's own")
                } else {
                    error
                }
            })?;
            let given: Vec<(&str, &str)> = own
                .parameters
                .iter()
                .map(|(key, value)| (key.value.as_str(), value.value.as_str()))
                .collect();
            let machine = base.with(&given).map_err(|(index, e)| {
                let (key, value) = &own.parameters[index];
                let error = if e.about_key() { key } else { value }.error(e.to_string());
                if e.near().is_empty() { error } else { error.near(e.near(), "") }
            })?;
            Ok(machine.renamed(&own.name.value))
        })
        .collect()
}

/// Parses a machine spec, which may name a machine of the experiment.
pub fn machine(text: &Text, own: &[OwnMachine]) -> Result<Machine, InputError> {
    machine_among(text, &own_machines(own)?)
}

/// Reads the files that a machine names.
pub(crate) fn with_files(text: &Text, machine: Machine) -> Result<LoadedMachine, InputError> {
    let name = machine.background_file().map(str::to_owned).unwrap_or_default();
    machine::read(machine).map_err(|why| match text.value.find(&name) {
        Some(at) => text.error_at(at, name.len(), format!("`background={name}`: {why}")),
        None => text.error(format!("its `background={name}`: {why}")),
    })
}

fn machine_among(text: &Text, own: &[Machine]) -> Result<Machine, InputError> {
    Machine::parse_with(&text.value, own).map_err(|e| {
        let error = spec_error(text, &e);
        let is_unlike_any = e.at == 0 && e.near.is_empty() && e.message.starts_with("unknown name");
        if !is_unlike_any {
            return error;
        }
        error.help("a machine of your own is a table `[machine.NAME]` in an experiment file, or `free:startup_us=..,byte_us=..`")
    })
}
