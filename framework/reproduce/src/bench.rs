//! Runs cases for reproductions, as `swapmeet run` does, except that a failed case is an error.

use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};
use swapmeet_core::simulation::step::StepFacts;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, cases};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session::run_group;

#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A case cannot be prepared. The most likely reason is a missing plugin.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    #[error("the data of the paper can't be used: {0}")]
    Data(String),
    /// A case of the paper ended with another status than `ok`.
    #[error("{algorithm} on {topology}: {status}: {reason}")]
    Row { algorithm: String, topology: String, status: Status, reason: String },
}

impl From<String> for ReproduceError {
    fn from(message: String) -> Self {
        Self::Data(message)
    }
}

#[derive(Debug)]
pub struct Run {
    /// The rows, sorted by seed, then by workload, and then by machine.
    pub rows: Vec<Record>,
    /// The facts of each step of the schedule, such as link loads. Loads are in blocks.
    pub steps: Vec<StepFacts>,
}

pub struct Bench<'a> {
    registry: &'a Registry,
    timeout_secs: Option<f64>,
    on_start: &'a dyn Fn(&Case),
}

impl<'a> Bench<'a> {
    /// Before each schedule is made, `on_start` is called with the first case that uses it.
    pub fn new(
        registry: &'a Registry,
        timeout_secs: Option<f64>,
        on_start: &'a dyn Fn(&Case),
    ) -> Self {
        Self { registry, timeout_secs, on_start }
    }

    /// Runs an algorithm for each workload and machine, and for each seed from 0 to `seeds - 1`.
    pub fn run(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[impl AsRef<str>],
        machines: &[impl AsRef<str>],
        seeds: u32,
    ) -> Result<Run, ReproduceError> {
        let mut steps = StepRecorder::default();
        let mut rows = self.run_all(topology, algorithm, workloads, machines, seeds, &mut steps)?;
        rows.sort_by_key(|row| row.repetition);
        Ok(Run { rows, steps: steps.0 })
    }

    /// Reports each step of the schedule for one workload to `watcher`. Returns the case's row.
    pub fn watch(
        &self,
        topology: &str,
        algorithm: &str,
        workload: &str,
        watcher: &mut dyn Listener,
    ) -> Result<Record, ReproduceError> {
        let rows = self.run_all(topology, algorithm, &[workload], &["free"], 1, watcher)?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    fn run_all(
        &self,
        topology: &str,
        algorithm: &str,
        workloads: &[impl AsRef<str>],
        machines: &[impl AsRef<str>],
        seeds: u32,
        watcher: &mut dyn Listener,
    ) -> Result<Vec<Record>, ReproduceError> {
        let text = |value: &str| Text::flag("reproduce", value);
        let experiment = Experiment {
            name: "reproduce".to_owned(),
            topologies: vec![text(topology)],
            algorithms: vec![text(algorithm)],
            workloads: workloads.iter().map(|w| text(w.as_ref())).collect(),
            machines: machines.iter().map(|m| text(m.as_ref())).collect(),
            repetitions: seeds,
            seed: 0,
            timeout_secs: self.timeout_secs,
            ..Experiment::default()
        };
        let cases = cases(&experiment, self.registry).map_err(Box::new)?;
        // Cases can share a schedule if all blocks have the same size or the seeds are the same,
        // and if ranks wait for arrivals on all of their machines or on none. The rows are in the
        // order of the cases.
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
        if step.number == 1 {
            self.0.clear();
        }
        self.0.push(step.facts);
    }
}
