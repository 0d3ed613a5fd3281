//! Worker processes, in which plugins run, and the messages that are exchanged with them. A message
//! is a line of JSON, or a text of an observer after a line that announces it. A job is a list of
//! cases that share a schedule.

mod client;
mod serve;

use crate::case::{Case, RunOptions};
use crate::event::{CaseEvent, OutcomeColumns};
use crate::plugin::file::Stamp;
pub(crate) use client::{Worker, WorkerEvent};
pub use client::{WorkerKind, Workers};
use serde::{Deserialize, Serialize};
pub use serve::{Observer, ObserverKind, SendValue, StartObserver, WorkerError, serve};
use std::path::{Path, PathBuf};
use swapmeet_results::CaseId;

pub(crate) const MAX_LOG_LINES: u32 = 20;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Number of the job. Every reply to the job repeats this number.
    pub number: u64,
    /// The plugin files of all cases, sorted: several only for jobs that run at the same time.
    pub plugins: Vec<PluginFile>,
    /// The files that the worker may read. Only the list in the worker's first job has an effect.
    pub readable: Vec<PathBuf>,
    pub options: RunOptions,
    /// The identities of the cases. The worker parses their specs again.
    pub cases: Vec<CaseId>,
    pub observation: Option<(String, serde_json::Value)>,
    /// The maximum size of a value that this observer reports, in bytes.
    #[serde(skip)]
    pub max_value_bytes: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PluginFile {
    pub file: PathBuf,
    /// The metadata that the file had when its digest was computed.
    pub stamp: Stamp,
    pub digest: String,
}

impl PluginFile {
    fn all_of(case: &Case) -> Vec<Self> {
        let companions = case.companions.iter().map(|companion| &companion.job.algorithm);
        let all: Vec<_> = companions.chain([&case.algorithm]).map(|a| &a.algorithm).collect();
        let of = |file: &Path| {
            let algorithm = all.iter().find(|algorithm| algorithm.file == file)?;
            let (stamp, digest) = (algorithm.stamp.clone(), algorithm.plugin.digest.clone());
            Some(Self { file: file.to_owned(), stamp, digest })
        };
        case.plugin_files().into_iter().filter_map(of).collect()
    }
}

#[derive(Clone)]
pub(crate) struct Observation<'a> {
    pub name: &'a str,
    pub max_value_bytes: usize,
    pub arguments: serde_json::Value,
}

impl Job {
    pub(crate) fn of<'a>(
        cases: impl Iterator<Item = &'a Case>,
        observation: Option<Observation<'_>>,
    ) -> Self {
        let max_value_bytes = observation.as_ref().map_or(0, |o| o.max_value_bytes);
        let observation = observation.map(|o| (o.name.to_owned(), o.arguments));
        let mut job = Self { observation, max_value_bytes, ..Self::default() };
        for case in cases {
            if job.plugins.is_empty() {
                job.plugins = PluginFile::all_of(case);
            }
            job.options = case.options;
            job.cases.push(case.id());
        }
        job
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Ready,
    /// Start-up failed, and the worker is about to exit.
    Unfit {
        reason: String,
    },
    Of(u64, JobMessage),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum JobMessage {
    Case(CaseEvent<OutcomeColumns>),
    /// A text of the observer follows this line. The number is the length of the text in bytes,
    /// which is at least 1. The text is not a part of the JSON, because escaping its quotation
    /// marks would take long.
    ObservedText {
        bytes: usize,
    },
    /// The job has ended. If the job has changed the process, for example by an additional thread,
    /// the text names this change.
    Done {
        left: Option<String>,
    },
}
