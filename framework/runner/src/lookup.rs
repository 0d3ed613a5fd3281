//! Finds the case that belongs to a row or is named in a worker's job. Cases share parsed specs.

use crate::case::companion;
use crate::case::{
    Case, CaseParts, LoadedMachine, RunOptions, SelectedAlgorithm, machine, select_algorithm,
    spec_error, with_files,
};
use crate::experiment::Experiment;
use crate::input::{InputError, Text};
use crate::optimum::Optima;
use crate::optimum_columns;
use crate::registry::Registry;
use crate::topology;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use swapmeet_core::cost::model::models;
use swapmeet_core::network::topology::Network;
use swapmeet_results::{CaseId, Implementation, Record};
use swapmeet_workloads::{InputDigest, Workload};

type Cache<T> = HashMap<String, Result<T, String>>;

pub struct CaseLookup<R> {
    registry: R,
    pub(crate) options: RunOptions,
    topologies: Cache<(Arc<Network>, Vec<InputDigest>)>,
    drawn: HashMap<(String, u64), Arc<Network>>,
    algorithms: Cache<Arc<SelectedAlgorithm>>,
    workloads: Cache<Arc<Workload>>,
    machines: Cache<LoadedMachine>,
    optima: Arc<Optima>,
}

fn look_up<T: Clone>(
    cache: &mut Cache<T>,
    kind: &str,
    spec: &str,
    parse: impl FnOnce(&Text) -> Result<T, InputError>,
) -> Result<T, String> {
    if let Some(known) = cache.get(spec) {
        return known.clone();
    }
    let parsed = parse(&Text::flag(kind, spec)).map_err(|e| e.to_string());
    cache.entry(spec.to_owned()).insert_entry(parsed).get().clone()
}

impl<R: Borrow<Registry>> CaseLookup<R> {
    pub fn new(registry: R, options: RunOptions) -> Self {
        Self {
            registry,
            options,
            topologies: HashMap::new(),
            drawn: HashMap::new(),
            algorithms: HashMap::new(),
            workloads: HashMap::new(),
            machines: HashMap::new(),
            optima: Arc::default(),
        }
    }

    /// Returns the case of a row. If the row has an optimum, the case has one, too. An error names
    /// what cannot be found.
    pub fn row(&mut self, row: &Record) -> Result<Case, String> {
        let case = self.case(&row.case())?;
        let optima = optimum_columns::has_optimum(row).then(|| Arc::clone(&self.optima));
        Ok(Case { experiment: row.experiment.as_str().into(), optima, ..case })
    }

    pub(crate) fn case(&mut self, id: &CaseId<&str>) -> Result<Case, String> {
        let CaseId { setting, implementation, repetition, seed } = id;
        let (topology, topology_inputs) =
            look_up(&mut self.topologies, "topology", setting.topology, |t| {
                topology::parse_with_inputs(&t.value).map_err(|e| spec_error(t, &e))
            })?;
        let registry = self.registry.borrow();
        let named = spec_of(registry, implementation);
        let algorithm = look_up(&mut self.algorithms, "algorithm", &named, |t| {
            select_algorithm(t, registry).map(Arc::new)
        })?;
        // The plugin reads these files itself, and they may change. So the next case must compute
        // their digests again.
        if !algorithm.inputs.is_empty() {
            self.algorithms.remove(&named);
        }
        let workload = look_up(&mut self.workloads, "workload", setting.workload, |t| {
            Workload::parse(&t.value).map(Arc::new).map_err(|e| spec_error(t, &e))
        })?;
        // Cases with the same topology and seed get the same random network, so they can share a
        // schedule.
        let key = (setting.topology.to_owned(), *seed);
        let sample = match self.drawn.entry(key) {
            Entry::Occupied(known) => Some(Arc::clone(known.get())),
            Entry::Vacant(free) => topology.sample(*seed).map(|new| Arc::clone(free.insert(new))),
        };
        let topology = sample.unwrap_or(topology);
        if models().iter().all(|model| model.name != setting.model) {
            return Err(format!(
                "`{}` is not a model, so its time was not computed from a schedule",
                setting.model
            ));
        }
        let machine = look_up(&mut self.machines, "machine", setting.machine_spec(), |t| {
            with_files(t, machine(t, &[])?)
        })?;
        let companions = companion::parse_column(setting.together, registry);
        let companions = companions.map_err(|e| e.to_string())?;
        Ok(Case::new(CaseParts {
            experiment: Arc::default(),
            topology,
            topology_inputs: &topology_inputs,
            algorithm: &algorithm,
            workload: workload.replicate(*repetition)?,
            machine: &machine,
            companions,
            repetition: *repetition,
            seed: *seed,
            options: self.options,
        }))
    }
}

/// Returns the spec of a row's algorithm. If several plugins have an algorithm of this name, the
/// spec contains the name of the plugin.
fn spec_of(registry: &Registry, implementation: &Implementation<&str>) -> String {
    let Implementation { algorithm, plugin, .. } = *implementation;
    let (name, rest) = algorithm.split_at(algorithm.find(':').unwrap_or(algorithm.len()));
    format!("{}{rest}", registry.spec_name(name, plugin))
}

/// Returns an experiment with the specs of the rows, in the order of their first appearance. Rows
/// of jobs that ran at the same time are ignored, and so are rows that cannot be run again with the
/// plugins of `registry`.
pub fn experiment_of<'a>(
    rows: impl Iterator<Item = &'a Record>,
    registry: &Registry,
) -> Experiment {
    let (mut experiment, mut lookup) =
        (Experiment::default(), CaseLookup::new(registry, RunOptions::default()));
    let mut first = true;
    for row in rows {
        if !row.together.is_empty() || lookup.row(row).is_err() {
            continue;
        }
        if std::mem::take(&mut first) {
            experiment.name.clone_from(&row.experiment);
            experiment.seed = row.seed.saturating_sub(row.repetition.into());
        }
        experiment.optimum |= optimum_columns::has_optimum(row);
        experiment.repetitions = experiment.repetitions.max(row.repetition.saturating_add(1));
        let case = row.case();
        let algorithm = spec_of(registry, &case.implementation);
        let machine = case.setting.short_machine();
        let specs = [case.setting.topology, &*algorithm, case.setting.workload, &*machine];
        let lists = [
            ("topology", &mut experiment.topologies),
            ("algorithm", &mut experiment.algorithms),
            ("workload", &mut experiment.workloads),
            ("machine", &mut experiment.machines),
        ];
        for ((kind, list), spec) in lists.into_iter().zip(specs) {
            if list.iter().all(|known: &Text| known.value != *spec) {
                list.push(Text::flag(kind, spec));
            }
        }
    }
    experiment
}
