//! What goes between the program and its workers: a line of JSON each.

use crate::case::Case;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use swapmeet_results::CaseId;

/// To a worker: cases that share a schedule.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Job {
    /// The file of the plugin of all of them.
    pub plugin: PathBuf,
    /// Seconds that each may take.
    pub timeout_secs: Option<f64>,
    /// Which cases, by what their rows say of them: the worker looks it all up again.
    pub cases: Vec<CaseId>,
}

impl Job {
    /// For cases that share a schedule.
    pub(super) fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut job = Self::default();
        for case in cases {
            job.plugin.clone_from(&case.algorithm.algorithm.file);
            job.timeout_secs = case.timeout.map(|t| t.as_secs_f64());
            job.cases.push(case.id());
        }
        job
    }
}

/// From a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The worker can take jobs.
    Ready,
    /// It can't, and ends.
    Unfit { reason: String },
    /// A case of the job has ended: the texts of the columns that say what came of it.
    Row { case: usize, outcome: Vec<String> },
    /// A case of the job can't be looked up any more, or its plugin not be loaded, for this reason.
    Unknown { case: usize, reason: String },
    /// The schedule has come so far.
    Progress { steps: u64 },
    /// A line from the plugin.
    Log { line: String },
    /// The job is done.
    Done,
}
