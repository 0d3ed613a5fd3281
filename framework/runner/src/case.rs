//! The cases of an experiment, and the algorithms and machines that specs name.

pub mod companion;
mod grid;

use crate::experiment::{DEFAULT_TIMEOUT_SECS, Experiment, OwnMachine};
use crate::input::{InputError, Text};
use crate::optimum::Optima;
use crate::plugin::{Algorithm, Param, ParamKind};
use crate::registry::{NoAlgorithm, Registry};
use crate::topology;
use companion::{Companion, Job};
pub use grid::{CaseGrid, cases, drawn};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_core::cost::background::Background;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::network::topology::Network;
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::spec::{Spec, SpecError, near_matches};
use swapmeet_results::{CaseId, Implementation, Record, Setting, inputs_column};
use swapmeet_workloads::file::{MAX_BYTES, read_regular};
use swapmeet_workloads::{InputDigest, Matrix, Workload};

pub fn expanded(workloads: &[Text]) -> Result<Vec<Text>, InputError> {
    expanded_by(swapmeet_workloads::expand, workloads)
}

fn expanded_by(
    expand: fn(&str) -> Result<Vec<String>, SpecError>,
    texts: &[Text],
) -> Result<Vec<Text>, InputError> {
    let mut list = Vec::with_capacity(texts.len());
    for text in texts {
        let specs = expand(&text.value).map_err(|e| spec_error(text, &e))?;
        list.extend(specs.into_iter().map(|value| Text { value, place: text.place.clone() }));
    }
    Ok(list)
}

fn without_ranges(experiment: &Experiment) -> Result<Experiment, InputError> {
    let mut experiment = experiment.clone();
    let Experiment { topologies, workloads, case_tables, exclude, .. } = &mut experiment;
    let tables = case_tables.iter_mut().chain(exclude);
    let lists = tables.map(|table| (&mut table.topologies, &mut table.workloads));
    for (topologies, workloads) in lists.chain([(topologies, workloads)]) {
        *topologies = expanded_by(topology::expand_meshes, topologies)?;
        *workloads = expanded(workloads)?;
    }
    Ok(experiment)
}

/// The maximum number of cases of an experiment. All cases are in memory, and a million cases take
/// 200 MB.
pub const MOST_CASES: u64 = 1_000_000;

#[derive(Debug, Clone)]
pub struct SelectedAlgorithm {
    pub algorithm: Arc<Algorithm>,
    /// The parameters that differ from their defaults, in the order of declaration.
    pub params: Vec<(String, String)>,
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

/// One combination of the entries of an experiment's lists. Cases share their components, so a case
/// is small.
#[derive(Debug, Clone)]
pub struct Case {
    pub experiment: Arc<str>,
    pub topology: Arc<Network>,
    pub algorithm: Arc<SelectedAlgorithm>,
    pub workload: Arc<Workload>,
    pub inputs: Arc<[InputDigest]>,
    pub machine: Arc<Machine>,
    /// The other jobs that run at the same time, in canonical order.
    pub companions: Arc<[Companion]>,
    pub repetition: u32,
    pub seed: u64,
    pub options: RunOptions,
    /// The cache of optima. `None` unless the row must contain an optimum.
    pub optima: Option<Arc<Optima>>,
}

/// Options that do not change results. They affect only the column `proved_on` and whether a case
/// times out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOptions {
    pub timeout: Option<Duration>,
    #[serde(with = "SerializedProofScope")]
    pub proof_scope: ProofScope,
}

impl RunOptions {
    /// Creates the options. A number of seconds that does not fit into a [`Duration`] means no time
    /// limit.
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

/// A copy of the core's [`ProofScope`], because the core does not depend on serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ProofScope")]
enum SerializedProofScope {
    Auto,
    Full,
}

pub(crate) struct CaseParts<'a> {
    pub experiment: Arc<str>,
    pub topology: Arc<Network>,
    pub topology_inputs: &'a [InputDigest],
    pub algorithm: &'a Arc<SelectedAlgorithm>,
    /// The workload of this repetition. If the workload has several files, each repetition uses one
    /// of them.
    pub workload: Arc<Workload>,
    pub machine: &'a LoadedMachine,
    pub companions: Arc<[Companion]>,
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
            .chain(parts.workload.inputs())
            .chain(&parts.algorithm.inputs)
            .chain(machine_inputs);
        let mut inputs: Vec<InputDigest> = inputs.cloned().collect();
        for input in parts.companions.iter().flat_map(|companion| companion.job.inputs()) {
            if inputs.iter().all(|known| known.file != input.file) {
                inputs.push(input.clone());
            }
        }
        Self {
            experiment: parts.experiment,
            topology: parts.topology,
            algorithm: Arc::clone(parts.algorithm),
            inputs: inputs.into(),
            workload: parts.workload,
            machine: Arc::clone(machine),
            companions: parts.companions,
            repetition: parts.repetition,
            seed: parts.seed,
            options: parts.options,
            optima: None,
        }
    }

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
                machine_definition: self.machine.full_spec(),
                model: self.machine.model.to_string(),
                together: companion::column(&self.companions),
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

    /// Returns the bytes of a unit of load. If loads count blocks, this is the size of a block,
    /// otherwise 1.
    pub(crate) fn unit_bytes(&self) -> u64 {
        unit_bytes(&self.workload)
    }

    pub fn job(&self) -> Job {
        let (algorithm, workload) = (Arc::clone(&self.algorithm), Arc::clone(&self.workload));
        Job { algorithm, workload }
    }

    /// Returns all jobs that run at the same time, and the index of the case's own job. The start
    /// of each job is in µs after the first start. The list is the same for the cases of all these
    /// jobs.
    pub fn jobs(&self) -> (Vec<Companion>, usize) {
        let own = Companion { job: self.job(), start_us: 0.0 };
        companion::from_first_start(&own, &self.companions)
    }

    /// Returns the row without an outcome. It already contains the links that failed at random
    /// (`faults`).
    pub fn blank_row(&self) -> Record {
        let faults = self.topology.damage().map_or("", |damage| damage.drawn());
        Record {
            faults: faults.to_owned(),
            experiment: self.experiment.to_string(),
            nodes: self.topology.nodes(),
            block_bytes: self.workload.is_uniform().then(|| self.workload.block_bytes()),
            ..self.id().row_without_outcome()
        }
    }

    /// Returns whether the case has several schedules that are planned one after another and
    /// merged: those of several jobs, or of communicators of different sizes.
    pub fn is_merged(&self) -> bool {
        !self.companions.is_empty() || self.workload.has_unequal_communicators(&self.topology)
    }

    fn runs_together_with(&self, other: &Self) -> bool {
        let jobs = |case: &Self| companion::column(&case.jobs().0);
        self.companions.len() == other.companions.len()
            && Arc::ptr_eq(&self.topology, &other.topology)
            && Arc::ptr_eq(&self.machine, &other.machine)
            && (self.repetition, self.seed) == (other.repetition, other.seed)
            && jobs(self) == jobs(other)
    }

    pub fn plugin_files(&self) -> Vec<&Path> {
        let companions = self.companions.iter().map(|companion| &companion.job.algorithm);
        let all = companions.chain([&self.algorithm]);
        let mut files: Vec<&Path> = all.map(|selected| selected.algorithm.file.as_path()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Returns whether both cases can use the same schedule. This is no longer valid if the plugin
    /// requests a value in which the cases differ, such as the block size.
    pub fn shares_plan_with(&self, other: &Self) -> bool {
        if !self.companions.is_empty() || !other.companions.is_empty() {
            return self.runs_together_with(other);
        }
        if self.workload.has_unequal_communicators(&self.topology) {
            return false;
        }
        Arc::ptr_eq(&self.topology, &other.topology)
            && Arc::ptr_eq(&self.algorithm.algorithm, &other.algorithm.algorithm)
            && self.algorithm.params == other.algorithm.params
            && self.workload.same_shape(&other.workload)
            && (self.workload.is_uniform() || self.seed == other.seed)
            // A model that follows arrival times requires full planning. Sharing its plan would
            // change the rows of other cases.
            && self.machine.follows_arrivals() == other.machine.follows_arrivals()
    }
}

fn unit_bytes(workload: &Workload) -> u64 {
    if workload.counts_blocks() { workload.block_bytes() } else { 1 }
}

pub fn spec_error(text: &Text, error: &SpecError) -> InputError {
    // In a file, the kind of the spec may be stated many lines above the error, so the message
    // names the kind.
    let message = if text.place.is_file {
        format!("{}: {}", error.what, error.message)
    } else {
        error.message.clone()
    };
    let error_here = text.error_at(error.at, error.len, message);
    if error.near.is_empty() { error_here } else { error_here.near(&error.near, "") }
}

pub fn select_algorithm(text: &Text, registry: &Registry) -> Result<SelectedAlgorithm, InputError> {
    let spec = Spec::parse("algorithm", &text.value).map_err(|e| spec_error(text, &e))?;
    let algorithm = registry.algorithm(spec.name()).map_err(|error| {
        let refused = |message: String| text.error_at(0, spec.name().len(), message);
        match error {
            NoAlgorithm::Unknown { name, near, skipped } => {
                let skipped = skipped.iter().map(|line| format!("; {line}")).collect::<String>();
                refused(format!("unknown algorithm `{name}`{skipped}")).near(
                    &near,
                    "`swapmeet list algorithms` shows the known algorithms; `--plugin-dir PATH` loads further plugins",
                )
            }
            NoAlgorithm::Shared { name, plugins } => {
                let files: Vec<String> = plugins
                    .iter()
                    .map(|(plugin, file)| format!("`{plugin}` ({})", file.display()))
                    .collect();
                let short = name.rsplit('/').next().unwrap_or_default();
                refused(format!("`{name}` is an algorithm of several plugins: {}", files.join(", ")))
                    .help(format!(
                        "write `{}/{short}`, or let the first plugin replace bundled ones with --replace-bundled",
                        plugins[0].0
                    ))
            }
        }
    })?;
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
    // Equal cases must have equal texts in their rows, so values are stored in their canonical
    // spelling.
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
        // A parameter without a declared default has a default that depends on the problem. The
        // help text explains it.
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

/// Parses the spec of a machine. It may be the name of a machine that the experiment defines.
pub fn machine(text: &Text, own: &[OwnMachine]) -> Result<Machine, InputError> {
    machine_among(text, &own_machines(own)?)
}

pub(crate) fn with_files(text: &Text, machine: Machine) -> Result<LoadedMachine, InputError> {
    let name = machine.background_file().map(str::to_owned).unwrap_or_default();
    read_machine(machine).map_err(|why| match text.value.find(&name) {
        Some(at) => text.error_at(at, name.len(), format!("`background={name}`: {why}")),
        None => text.error(format!("its `background={name}`: {why}")),
    })
}

pub type LoadedMachine = (Arc<Machine>, Vec<InputDigest>);

fn read_machine(machine: Machine) -> Result<LoadedMachine, String> {
    let Some(name) = machine.background_file().map(str::to_owned) else {
        return Ok((Arc::new(machine), Vec::new()));
    };
    let content =
        read_regular(Path::new(&name), Matrix::MAX_TEXT, "a file of N rows of N byte counts")?;
    let matrix = Matrix::parse(&content)
        .map_err(|e| format!("{name}:{}:{}: {}", e.line, e.column, e.message))?;
    let background = Background::new(matrix.nodes(), |from, to| matrix.bytes(from, to));
    Ok((Arc::new(machine.with_background(background)), vec![InputDigest::new(&name, &content)]))
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
