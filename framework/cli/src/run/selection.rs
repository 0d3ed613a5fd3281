//! Builds cases from the command line, an experiment file, the configuration and plugins.

use super::child;
use crate::args::{CaseArgs, PluginArgs, Shard};
use crate::config;
use crate::failure::Failure;
use crate::say::say;
use crate::streams;
use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_core::cost::machine::fitted_on;
use swapmeet_core::delivery::collective::of_bits;
use swapmeet_runner::case::{Case, CaseGrid, spec_error};
use swapmeet_runner::describe::{PluginReader, READER_MEMORY};
use swapmeet_runner::experiment::{CaseTable, DEFAULT_MACHINE, Experiment};
use swapmeet_runner::input::Text;
use swapmeet_runner::plan_group::{self, plan_groups};
use swapmeet_runner::plugin::{Algorithm, ParamKind};
use swapmeet_runner::registry::{Origin, Registry, SharedNames};
use swapmeet_workloads::Workload;
use swapmeet_workloads::file::read_bounded;

#[derive(Clone, Copy)]
pub(crate) struct SpecLists<'a> {
    pub topologies: &'a [String],
    pub algorithms: &'a [String],
    pub workloads: &'a [String],
    pub machines: &'a [String],
    pub systems: &'a [String],
}

/// Returns the experiment of the file and the flags. Whether its specs are valid is checked later.
pub(crate) fn experiment(args: &CaseArgs) -> Result<Experiment, Failure> {
    let experiment = match &args.experiment {
        Some(path) => read(path)?,
        None => Experiment::default(),
    };
    let experiment = with_flags(&experiment, args);
    for text in experiment.workloads.iter().filter(|_| !args.quiet) {
        if let Some((last, end)) = swapmeet_workloads::unreached_end(&text.value) {
            say!("remark: workload `{}`: the last size is {last}, not {end}", text.value);
        }
    }
    Ok(experiment)
}

/// If flags are given, their values replace the corresponding lists and settings of an experiment.
pub(crate) fn with_flags(given: &Experiment, args: &CaseArgs) -> Experiment {
    let mut experiment = given.clone();
    let lists = SpecLists {
        topologies: &args.topologies,
        algorithms: &args.algorithms,
        workloads: &args.workloads,
        machines: &args.machines,
        systems: &args.systems,
    };
    override_lists(&mut experiment, &lists);
    args.settings.apply(&mut experiment);
    if !args.beside.is_empty() {
        experiment.beside = args.beside.iter().map(|job| Text::flag("--beside", job)).collect();
    }
    if experiment != *given {
        experiment.file = None;
    }
    experiment.proof_scope = args.proof;
    experiment
}

fn read(path: &Path) -> Result<Experiment, Failure> {
    /// The maximum size of the file. It suffices for the maximum number of cases.
    const LONGEST: u64 = 16 << 20;
    let content = read_bounded(path, LONGEST, "an experiment")
        .map_err(|what| Failure::Usage(format!("{}: {what}", path.display())))?;
    let experiment = Experiment::parse(&path.display().to_string(), &content)?;
    Ok(Experiment { file: Some(path.to_owned()), ..experiment })
}

fn override_lists(experiment: &mut Experiment, lists: &SpecLists<'_>) {
    type OfBlock = fn(&mut CaseTable) -> &mut Vec<Text>;
    let kinds: [(&str, &[String], &mut Vec<Text>, OfBlock); 4] = [
        ("--topology", lists.topologies, &mut experiment.topologies, |b| &mut b.topologies),
        ("--algorithm", lists.algorithms, &mut experiment.algorithms, |b| &mut b.algorithms),
        ("--workload", lists.workloads, &mut experiment.workloads, |b| &mut b.workloads),
        ("--machine", lists.machines, &mut experiment.machines, |b| &mut b.machines),
    ];
    for (flag, given, list, of_table) in kinds {
        if !given.is_empty() {
            *list = given.iter().map(|value| Text::flag(flag, value)).collect();
            // The flag also replaces this list in all `[[case]]` tables.
            experiment.case_tables.iter_mut().for_each(|table| of_table(table).clear());
        }
    }
    if !lists.systems.is_empty() {
        experiment.systems =
            lists.systems.iter().map(|value| Text::flag("--system", value)).collect();
    }
}

pub(crate) fn cases_of(
    lists: SpecLists<'_>,
    seed: u64,
    timeout: Option<f64>,
    plugins: &PluginArgs,
) -> Result<Vec<Case>, Failure> {
    cases_with(lists, seed, timeout, || registry(plugins))
}

pub(crate) fn cases_with<R: Borrow<Registry>>(
    lists: SpecLists<'_>,
    seed: u64,
    timeout: Option<f64>,
    registry: impl FnOnce() -> Result<R, Failure>,
) -> Result<Vec<Case>, Failure> {
    let mut experiment = Experiment { seed, timeout_secs: timeout, ..Experiment::default() };
    override_lists(&mut experiment, &lists);
    Ok(complete_with(experiment, false, registry)?.iter().collect())
}

pub(crate) fn cases_in(path: &Path, plugins: &PluginArgs) -> Result<CaseGrid, Failure> {
    complete(read(path)?, plugins, None, true)
}

/// Adds defaults to an experiment, searches for plugins in processes of at most `memory_limit`
/// bytes, and returns the cases. Prints which default machine is used, unless `quiet` is true.
pub(crate) fn complete(
    experiment: Experiment,
    plugins: &PluginArgs,
    memory_limit: Option<u64>,
    quiet: bool,
) -> Result<CaseGrid, Failure> {
    complete_with(experiment, quiet, || registry_within(plugins, memory_limit))
}

/// Returns the cases of all algorithms that implement the collective of the workload and need no
/// input file. The experiment must have no algorithms, and at most one workload.
pub(crate) fn cases_of_all_algorithms(
    mut experiment: Experiment,
    registry: &Registry,
) -> Result<Vec<Case>, Failure> {
    if let Some(remark) = fill_in(&mut experiment)? {
        say!("{remark}");
    }
    let text = experiment.workloads[0].clone();
    let workload = Workload::parse(&text.value).map_err(|e| spec_error(&text, &e))?;
    let word = workload.collective().word;
    let names = algorithms_of(registry, word);
    experiment.algorithms = names.iter().map(|name| Text::flag("--algorithm", name)).collect();
    Ok(CaseGrid::new(&experiment, registry)?.iter().collect())
}

fn complete_with<R: Borrow<Registry>>(
    mut experiment: Experiment,
    quiet: bool,
    registry: impl FnOnce() -> Result<R, Failure>,
) -> Result<CaseGrid, Failure> {
    let in_tables =
        |list| experiment.is_named_by_tables(list) || experiment.has_only_together_tables();
    for (list, in_tables, flag, example) in [
        (&experiment.topologies, in_tables(|b| &b.topologies), "--topology", "torus:16x16"),
        (&experiment.algorithms, in_tables(|b| &b.algorithms), "--algorithm", "suh-shin"),
    ] {
        if list.is_empty() && !in_tables {
            let or_system = if flag == "--topology" { " or --system" } else { "" };
            return Err(Failure::Usage(format!(
                "nothing to run: give {flag} (such as `{flag} {example}`){or_system}, or an experiment file that lists some"
            )));
        }
    }
    let remark = fill_in(&mut experiment)?;
    let grid = CaseGrid::new(&experiment, registry()?.borrow())?;
    if let Some(remark) = remark.filter(|_| !quiet) {
        say!("{remark}");
    }
    Ok(grid)
}

/// Returns the cases of the shard, if there is one. Only the returned cases are in memory.
pub(crate) fn shard_cases<C: FromIterator<Case>>(
    all: &CaseGrid,
    shard: Option<Shard>,
) -> Result<C, Failure> {
    let Some(shard) = shard else { return Ok(all.iter().collect()) };
    let (index, count) = shard.resolve().map_err(Failure::Usage)?;
    Ok(plan_group::shard(plan_groups(all.iter()), index, count)
        .into_iter()
        .map(|number| all.case(number))
        .collect())
}

/// Adds the default workload and machine if they are missing. Returns a remark on the machine.
pub(crate) fn fill_in(experiment: &mut Experiment) -> Result<Option<String>, Failure> {
    let workloads = experiment.is_named_by_tables(|table| &table.workloads);
    let mut together = experiment.together.iter();
    let machines = experiment.is_named_by_tables(|table| &table.machines)
        || experiment.has_only_together_tables() && together.all(|t| !t.machines.is_empty());
    if experiment.workloads.is_empty() && !workloads {
        experiment.workloads.push(Text::flag("--workload", "uniform:1KiB"));
    }
    if !experiment.machines.is_empty() || machines {
        return Ok(None);
    }
    let of_tables = experiment.case_tables.iter().flat_map(|table| &table.topologies);
    let topologies: Vec<&str> =
        experiment.topologies.iter().chain(of_tables).map(|text| &*text.value).collect();
    let (machine, remark) = default_machine(&topologies)?;
    experiment.machines.push(machine);
    Ok(Some(remark))
}

/// Returns the default machine, and a remark that warns if it was fitted on other networks.
pub(crate) fn default_machine(topologies: &[&str]) -> Result<(Text, String), Failure> {
    let (machine, origin) = match config::read()?.machine {
        Some(own) => (own, "swapmeet.toml"),
        None => (Text::flag("--machine", DEFAULT_MACHINE), "default"),
    };
    let name = |spec: &str| spec.split(':').next().unwrap_or_default().to_owned();
    let families = fitted_on(&name(&machine.value));
    let is_other = |topology: &&&str| !families.contains(&&*name(topology));
    let other = topologies.iter().find(is_other).filter(|_| !families.is_empty());
    let fit = other.map_or(String::new(), |topology| {
        let families = families.join(" and ");
        format!(
            "; its parameters were fitted to measurements on {families} networks, not on {topology}"
        )
    });
    let remark = format!("machine: {} ({origin}){fit}", machine.value);
    Ok((machine, remark))
}

pub(crate) fn registry(plugins: &PluginArgs) -> Result<Registry, Failure> {
    registry_within(plugins, None)
}

/// Returns the algorithms that implement the collective `word` and need no input file.
pub(crate) fn algorithms_of(registry: &Registry, word: &str) -> Vec<String> {
    let supports = |algorithm: &&Arc<Algorithm>| {
        let needs_file = |param| matches!(param, &ParamKind::File);
        of_bits(algorithm.collectives).any(|kind| kind.word == word)
            && !algorithm.params.iter().any(|param| needs_file(&param.kind))
    };
    let all = registry.algorithms().filter(supports);
    all.map(|a| registry.spec_name(&a.name, &a.plugin.name)).collect()
}

/// Returns the plugins. Plugin files are read in processes of at most `memory_limit` bytes.
pub(crate) fn registry_within(
    plugins: &PluginArgs,
    memory_limit: Option<u64>,
) -> Result<Registry, Failure> {
    let folders = plugin_dirs(plugins)?;
    let names = match plugins.replace_bundled {
        true => SharedNames::ReplaceBundled,
        false => SharedNames::Refused,
    };
    if streams::is_test() {
        return Registry::bundled(&folders, names).map_err(Failure::usage);
    }
    let memory_limit = memory_limit.map_or(READER_MEMORY, |limit| limit.min(READER_MEMORY));
    let reader = match child("describe-plugins", plugins) {
        Ok(command) => PluginReader::Child { command, memory_limit },
        Err(_) => PluginReader::InProcess,
    };
    Registry::find(&folders, &reader, names).map_err(Failure::usage)
}

pub(crate) fn plugin_dirs(plugins: &PluginArgs) -> Result<Vec<PathBuf>, Failure> {
    Ok([&plugins.plugin_dirs[..], &config::read()?.plugin_dirs].concat())
}

pub(crate) fn bundled_owner(name: &str) -> Option<String> {
    let registry = registry(&PluginArgs::default()).ok()?;
    let mut own = registry
        .origins()
        .filter(|(_, origin)| matches!(origin, Origin::Program | Origin::Linked))
        .map(|(plugin, _)| plugin);
    own.find(|plugin| plugin.algorithms.iter().any(|a| a.name == name))
        .map(|plugin| plugin.name.clone())
}
