//! Runs for reproductions. They use the same code as `swapmeet run`, except that any failed case is
//! an error.

use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};
use swapmeet_core::simulation::step::StepFacts;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, cases};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session::run_group;

/// The reason why a paper cannot be rerun.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A case cannot be prepared, most likely because a plugin is missing.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    /// A paper's data cannot be parsed.
    #[error("the data of `{paper}` can't be read: {message}")]
    Data {
        /// The paper's name on the command line.
        paper: &'static str,
        /// The error of the parser.
        message: String,
    },
    /// A case failed.
    #[error("{algorithm} on {topology}: {status}: {reason}")]
    Row { algorithm: String, topology: String, status: Status, reason: String },
}

/// The result of running a schedule.
#[derive(Debug)]
pub struct Run {
    /// One row for each workload and machine, ordered by workload.
    pub rows: Vec<Record>,
    /// The facts of each step, with loads in blocks.
    pub steps: Vec<StepFacts>,
}

pub struct Bench<'a> {
    registry: &'a Registry,
    timeout_secs: Option<f64>,
    on_start: &'a dyn Fn(&Case),
}

impl<'a> Bench<'a> {
    /// Creates a bench for the plugins in `registry`, with a time limit for each case. `on_start` is
    /// called with the first case of each group that shares a schedule.
    pub fn new(
        registry: &'a Registry,
        timeout_secs: Option<f64>,
        on_start: &'a dyn Fn(&Case),
    ) -> Self {
        Self { registry, timeout_secs, on_start }
    }

    /// Runs an algorithm on a topology once, for all workloads and machines.
    pub fn run(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[String],
        machines: &[String],
    ) -> Result<Run, ReproduceError> {
        let mut facts = StepRecorder::default();
        let rows = self.run_once(topology, algorithm, workloads, machines, &mut facts)?;
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

    /// Runs a workload with `seeds` seeds, from 0. Returns rows ordered by seed, then by machine.
    pub fn repeated(
        &self,
        topology: &str,
        algorithm: &str,
        workload: &str,
        machines: &[String],
        seeds: u32,
    ) -> Result<Vec<Record>, ReproduceError> {
        let (workloads, mut facts) = ([workload.to_owned()], StepRecorder::default());
        let mut rows =
            self.run_all(topology, algorithm, &workloads, machines, seeds, &mut facts)?;
        rows.sort_by_key(|row| row.repetition);
        Ok(rows)
    }

    /// Returns the facts of each step, with loads in blocks.
    pub fn steps(&self, topology: &str, algorithm: &str) -> Result<Vec<StepFacts>, ReproduceError> {
        let mut facts = StepRecorder::default();
        self.watch(topology, algorithm, &mut facts)?;
        Ok(facts.0)
    }

    /// Reports each step of a schedule to `watcher`.
    pub fn watch(
        &self,
        topology: &str,
        algorithm: &str,
        watcher: &mut dyn Listener,
    ) -> Result<(), ReproduceError> {
        self.watch_with(topology, algorithm, "uniform:1", watcher).map(|_| ())
    }

    /// Reports each step of a schedule with this workload to `watcher`, and returns its row.
    pub fn watch_with(
        &self,
        topology: &str,
        algorithm: &str,
        workload: &str,
        watcher: &mut dyn Listener,
    ) -> Result<Record, ReproduceError> {
        let rows = self.run_once(
            topology,
            algorithm,
            &[workload.to_owned()],
            &["free".to_owned()],
            watcher,
        )?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    fn run_once(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[String],
        machines: &[String],
        watcher: &mut dyn Listener,
    ) -> Result<Vec<Record>, ReproduceError> {
        self.run_all(topology, algorithm, workloads, machines, 1, watcher)
    }

    fn run_all(
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
        // Cases with different seeds share a schedule only if sizes are uniform. Cases with
        // different machines share one only if both machines wait for arrivals or neither does.
        // Rows are returned in the order of cases.
        let mut rows = vec![Record::default(); cases.len()];
        let mut open: Vec<usize> = (0..cases.len()).collect();
        while let Some(first) = open.first().map(|first| &cases[*first]) {
            let (group, rest): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|case| cases[*case].shares_plan_with(first));
            open = rest;
            (self.on_start)(first);
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
struct StepRecorder(Vec<StepFacts>);

impl Listener for StepRecorder {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        // If the schedule is planned again for other sizes or ports, only the last plan counts.
        if step.number == 1 {
            self.0.clear();
        }
        self.0.push(step.facts);
    }
}
