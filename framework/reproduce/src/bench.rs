//! Runs for reproductions: the same path as `swapmeet run`, with whatever is wrong made an error.

use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};
use swapmeet_core::simulation::step::StepFacts;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, cases};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session::run_group;

/// Why a paper can't be re-run.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A plugin is missing, most likely.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    /// A paper's data can't be read.
    #[error("the data of `{paper}` can't be read: {message}")]
    Data {
        /// The paper's name on the command line.
        paper: &'static str,
        /// What is wrong with them.
        message: String,
    },
    /// A case that should run did not.
    #[error("{algorithm} on {topology}: {status}: {reason}")]
    Row { algorithm: String, topology: String, status: Status, reason: String },
}

/// What one walk of a schedule gives.
#[derive(Debug)]
pub struct Run {
    /// A row for each workload and machine; the machines vary faster.
    pub rows: Vec<Record>,
    /// The facts of every step; loads are blocks.
    pub steps: Vec<StepFacts>,
}

pub struct Bench<'a> {
    registry: &'a Registry,
    timeout_secs: Option<f64>,
    begins: &'a dyn Fn(&Case),
}

impl<'a> Bench<'a> {
    /// Runs cases of these plugins, each of which may take so long; `begins` is told of those that
    /// share a schedule the first.
    pub fn new(
        registry: &'a Registry,
        timeout_secs: Option<f64>,
        begins: &'a dyn Fn(&Case),
    ) -> Self {
        Self { registry, timeout_secs, begins }
    }

    /// One algorithm on one topology, for each workload and machine, from one walk of the schedule.
    pub fn run(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[String],
        machines: &[String],
    ) -> Result<Run, ReproduceError> {
        let mut facts = Facts::default();
        let rows = self.watched(topology, algorithm, workloads, machines, &mut facts)?;
        Ok(Run { rows, steps: facts.0 })
    }

    pub fn row(
        &self,
        topology: &str,
        algorithm: &str,
        workload: &str,
        machine: &str,
    ) -> Result<Record, ReproduceError> {
        let run = self.run(topology, algorithm, &[workload.to_owned()], &[machine.to_owned()])?;
        Ok(run.rows.into_iter().next().unwrap_or_default())
    }

    /// As [`Bench::run`] without the steps, for so many seeds from 0 on; for each seed, the
    /// machines in order.
    pub fn repeated(
        &self,
        topology: &str,
        algorithm: &str,
        workload: &str,
        machines: &[String],
        seeds: u32,
    ) -> Result<Vec<Record>, ReproduceError> {
        let (workloads, mut nobody) = ([workload.to_owned()], Facts::default());
        let mut rows = self.all(topology, algorithm, &workloads, machines, seeds, &mut nobody)?;
        rows.sort_by_key(|row| row.repetition);
        Ok(rows)
    }

    /// The facts of every step; loads are blocks.
    pub fn steps(&self, topology: &str, algorithm: &str) -> Result<Vec<StepFacts>, ReproduceError> {
        let mut facts = Facts::default();
        self.watch(topology, algorithm, &mut facts)?;
        Ok(facts.0)
    }

    /// Shows every step of a schedule to `watcher`.
    pub fn watch(
        &self,
        topology: &str,
        algorithm: &str,
        watcher: &mut dyn Listener,
    ) -> Result<(), ReproduceError> {
        self.watch_with(topology, algorithm, "uniform:1", watcher).map(|_| ())
    }

    /// As [`Bench::watch`], with a workload; its row.
    pub fn watch_with(
        &self,
        topology: &str,
        algorithm: &str,
        workload: &str,
        watcher: &mut dyn Listener,
    ) -> Result<Record, ReproduceError> {
        let rows = self.watched(
            topology,
            algorithm,
            &[workload.to_owned()],
            &["free".to_owned()],
            watcher,
        )?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    fn watched(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[String],
        machines: &[String],
        watcher: &mut dyn Listener,
    ) -> Result<Vec<Record>, ReproduceError> {
        self.all(topology, algorithm, workloads, machines, 1, watcher)
    }

    fn all(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[String],
        machines: &[String],
        seeds: u32,
        watcher: &mut dyn Listener,
    ) -> Result<Vec<Record>, ReproduceError> {
        let text = |value: &str| Text::flag("reproduce", value);
        let experiment = Experiment {
            name: "reproduce".to_owned(),
            topologies: vec![text(topology)],
            algorithms: vec![text(algorithm)],
            workloads: workloads.iter().map(|w| text(w)).collect(),
            machines: machines.iter().map(|m| text(m)).collect(),
            repetitions: seeds,
            seed: 0,
            timeout_secs: self.timeout_secs,
            ..Experiment::default()
        };
        let cases = cases(&experiment, self.registry).map_err(Box::new)?;
        // Seeds share no schedule unless sizes are uniform, nor do machines that wait for arrivals
        // with those that don't; rows are in the order of cases.
        let mut rows = vec![Record::default(); cases.len()];
        let mut open: Vec<usize> = (0..cases.len()).collect();
        while let Some(first) = open.first().map(|first| &cases[*first]) {
            let (group, rest): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|case| cases[*case].shares_plan_with(first));
            open = rest;
            (self.begins)(first);
            let sharing: Vec<Case> = group.iter().map(|case| cases[*case].clone()).collect();
            for (case, row) in group.into_iter().zip(run_group(&sharing, &mut [&mut *watcher])) {
                rows[case] = row;
            }
        }
        match rows.iter().find(|r| r.status != Status::Ok) {
            None => Ok(rows),
            Some(bad) => Err(ReproduceError::Row {
                algorithm: bad.algorithm.clone(),
                topology: bad.topology.clone(),
                status: bad.status,
                reason: bad.reason.clone(),
            }),
        }
    }
}

#[derive(Default)]
struct Facts(Vec<StepFacts>);

impl Listener for Facts {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        // A plan that asks for sizes or ports is walked once for each answer: the last walk counts.
        if step.number == 1 {
            self.0.clear();
        }
        self.0.push(step.facts);
    }
}
