//! What goes between the program and its workers: a line of JSON each.

use crate::case::Case;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A case in words, which the worker looks up again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseSpec {
    pub experiment: String,
    pub topology: String,
    pub algorithm: String,
    /// The file of the algorithm's plugin.
    pub plugin: PathBuf,
    /// What the files were that topology and workload name.
    pub made_of: Vec<String>,
    pub workload: String,
    pub machine: String,
    /// For a machine of the experiment's own: its name, and what that stands for.
    pub own_machine: Option<(String, String)>,
    pub repetition: u32,
    pub seed: u64,
    pub timeout_secs: Option<f64>,
}

impl CaseSpec {
    /// Of a case.
    pub fn of(case: &Case) -> Self {
        let machine = &case.machine;
        Self {
            experiment: case.experiment.to_string(),
            topology: case.topology.spec(),
            algorithm: case.algorithm.to_string(),
            plugin: case.algorithm.algorithm.file.clone(),
            made_of: case.made_of.iter().map(|text| text.to_string()).collect(),
            workload: case.workload.to_string(),
            machine: machine.to_string(),
            own_machine: machine.stands_for().map(|spec| (machine.name().to_owned(), spec.to_owned())),
            repetition: case.repetition,
            seed: case.seed,
            timeout_secs: case.timeout.map(|t| t.as_secs_f64()),
        }
    }
}

/// To a worker.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// Cases that share a schedule.
    pub cases: Vec<CaseSpec>,
}

/// From a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The worker can take jobs.
    Ready,
    /// It can't, and ends.
    Unfit { reason: String },
    /// A case of the job has ended: the texts of its row's columns.
    Row { case: usize, fields: Vec<String> },
    /// A case of the job can't be looked up any more, or its plugin not be loaded, for this reason.
    Unknown { case: usize, reason: String },
    /// The schedule has come so far.
    Progress { steps: u64 },
    /// A line from the plugin.
    Log { line: String },
    /// The job is done.
    Done,
}
