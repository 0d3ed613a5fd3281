//! What goes between the program and its workers: a line of JSON each.

use crate::case::{Case, RunOptions};
use crate::plugin::file::Stamp;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use swapmeet_results::CaseId;

/// To a worker: cases that share a schedule.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Which: replies name it.
    pub number: u64,
    /// The file of the plugin of all of them.
    pub plugin: PathBuf,
    /// What that file was when its digest was taken.
    pub stamp: Stamp,
    /// The files that this job and all later ones may read; of a worker's first job.
    pub readable: Vec<PathBuf>,
    pub options: RunOptions,
    /// Which cases, by what their rows say of them: the worker looks it all up again.
    pub cases: Vec<CaseId>,
    /// Who observers the schedule in the worker, and what that observer is to know.
    pub observation: Option<(String, serde_json::Value)>,
}

impl Job {
    /// For cases that share a schedule.
    pub(crate) fn of<'a>(
        cases: impl Iterator<Item = &'a Case>,
        observation: Option<(&str, serde_json::Value)>,
    ) -> Self {
        let observation = observation.map(|(name, args)| (name.to_owned(), args));
        let mut job = Self { observation, ..Self::default() };
        for case in cases {
            job.plugin.clone_from(&case.algorithm.algorithm.file);
            job.stamp.clone_from(&case.algorithm.algorithm.stamp);
            job.options = case.options;
            job.cases.push(case.id());
        }
        job
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The worker can take jobs.
    Ready,
    /// It can't, and ends.
    Unfit { reason: String },
    /// Something of the job of this number.
    Of(u64, News),
}

/// What a worker has to say of a job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum News {
    /// A case has ended: the texts of the columns that say what came of it.
    Row { case: usize, outcome: Vec<String> },
    /// A case can't be looked up any more, or its plugin not be loaded, for this reason.
    Unknown { case: usize, reason: String },
    /// The schedule has come so far.
    Progress { steps: u64, messages: u64 },
    /// A line from the plugin.
    Log { line: String },
    /// What a observer says.
    Observed { value: serde_json::Value },
    /// The job is done, and left this behind in the process, if anything.
    Done { left: Option<String> },
}
