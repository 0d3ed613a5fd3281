//! Cases of rows: what a row says of its case, looked up again, so that its schedule can be made
//! once more.
//!
//! Rows that name the same topology, algorithm, workload or machine share what was looked up, and
//! so their schedules.

use crate::case::{Case, Chosen, choose, drawn, machine, spec_error, with_files};
use crate::experiment::{DEFAULT_TIMEOUT_SECS, Experiment};
use crate::input::{InputError, Text};
use crate::machine::Read;
use crate::registry::Registry;
use crate::topology;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_core::cost::model::models;
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::Record;
use swapmeet_workloads::{InputDigest, Workload};

/// What was looked up, by its spec; or why it can't be.
type Known<T> = HashMap<String, Result<T, String>>;

/// Looks cases of rows up.
pub struct Again<'r> {
    registry: &'r Registry,
    timeout: Option<Duration>,
    topologies: Known<(Arc<dyn Topology>, Vec<InputDigest>)>,
    /// Those whose routes are drawn, by the seed.
    drawn: HashMap<(String, u64), Arc<dyn Topology>>,
    algorithms: Known<Chosen>,
    workloads: Known<Workload>,
    machines: Known<Read>,
}

/// What a spec stands for, looked up at most once.
fn look_up<T: Clone>(
    known: &mut Known<T>,
    kind: &str,
    spec: &str,
    read: impl FnOnce(&Text) -> Result<T, InputError>,
) -> Result<T, String> {
    if let Some(found) = known.get(spec) {
        return found.clone();
    }
    let found = read(&Text::flag(kind, spec)).map_err(|e| e.to_string());
    known.entry(spec.to_owned()).insert_entry(found).get().clone()
}

impl<'r> Again<'r> {
    /// With these plugins; each case may take so many seconds.
    pub fn new(registry: &'r Registry, timeout_secs: Option<f64>) -> Self {
        Self {
            registry,
            timeout: Duration::try_from_secs_f64(timeout_secs.unwrap_or(DEFAULT_TIMEOUT_SECS)).ok(),
            topologies: HashMap::new(),
            drawn: HashMap::new(),
            algorithms: HashMap::new(),
            workloads: HashMap::new(),
            machines: HashMap::new(),
        }
    }

    /// The case of a row; `Err` says what of it is not to be had.
    pub fn case(&mut self, row: &Record) -> Result<Case, String> {
        let (topology, named) = look_up(&mut self.topologies, "topology", &row.topology, |t| {
            topology::parse_with_inputs(&t.value).map_err(|e| spec_error(t, &e))
        })?;
        let algorithm = look_up(&mut self.algorithms, "algorithm", &row.algorithm, |t| {
            choose(t, self.registry)
        })?;
        let workload = look_up(&mut self.workloads, "workload", &row.workload, |t| {
            Workload::parse(&t.value).map_err(|e| spec_error(t, &e))
        })?;
        // Of a workload with a file for each repetition, the one of this.
        let workload = workload.replicate(row.repetition)?;
        // Cases of one seed share the network, and so their schedules.
        let topology = match topology.random_routing() {
            None => topology,
            Some(_) => {
                let of_seed = self.drawn.entry((row.topology.clone(), row.seed));
                Arc::clone(of_seed.or_insert_with(|| drawn(&topology, row.seed)))
            }
        };
        if !is_of_a_model(row) {
            return Err(format!(
                "`{}` is none of the models: its time was not made of a schedule",
                row.model
            ));
        }
        let spec = row.case().setting.machine_spec();
        let (machine, read) =
            look_up(&mut self.machines, "machine", spec, |t| with_files(t, machine(t, &[])?))?;
        Ok(Case {
            experiment: row.experiment.as_str().into(),
            inputs: named
                .iter()
                .chain(workload.input())
                .chain(&algorithm.inputs)
                .chain(&read)
                .cloned()
                .collect(),
            topology,
            algorithm,
            workload,
            machine,
            repetition: row.repetition,
            seed: row.seed,
            timeout: self.timeout,
            proof_scope: ProofScope::Auto,
        })
    }
}

/// Whether a model made its time, rather than a clock.
fn is_of_a_model(row: &Record) -> bool {
    models().iter().any(|model| model.name == row.model)
}

/// The experiment that rows are of, as far as it can be run again with these plugins: what they
/// name, each once, in the order in which it came first.
pub fn experiment_of<'a>(
    rows: impl Iterator<Item = &'a Record>,
    registry: &Registry,
) -> Experiment {
    let (mut experiment, mut again) = (Experiment::default(), Again::new(registry, None));
    let mut first = true;
    for row in rows {
        if again.case(row).is_err() {
            continue;
        }
        if std::mem::take(&mut first) {
            experiment.name.clone_from(&row.experiment);
            experiment.seed = row.seed.saturating_sub(row.repetition.into());
        }
        experiment.repetitions = experiment.repetitions.max(row.repetition.saturating_add(1));
        let specs =
            [&row.topology, &row.algorithm, &row.workload, row.case().setting.machine_spec()];
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
