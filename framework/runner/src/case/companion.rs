//! Jobs that run at the same time on the ranks of a case. A *job* is an algorithm with a workload.
//! The *companions* of a case are the other jobs. Their starts are relative to the start of the
//! case's own job.

use super::{SelectedAlgorithm, select_algorithm, spec_error, unit_bytes};
use crate::input::{InputError, Text};
use crate::registry::Registry;
use std::fmt;
use std::sync::Arc;
use swapmeet_workloads::{InputDigest, Workload};

#[derive(Debug, Clone)]
pub struct Job {
    pub algorithm: Arc<SelectedAlgorithm>,
    pub workload: Arc<Workload>,
}

#[derive(Debug, Clone)]
pub struct Companion {
    pub job: Job,
    /// The start in µs, relative to the start of another job.
    pub start_us: f64,
}

const SEPARATOR: &str = " + ";
const START: &str = "start_us=";
/// The largest difference between two starts: a day.
const LATEST_US: f64 = 86_400e6;

impl Job {
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &InputDigest> {
        self.workload.inputs().chain(&self.algorithm.inputs)
    }

    pub(crate) fn unit_bytes(&self) -> u64 {
        unit_bytes(&self.workload)
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.algorithm, self.workload)
    }
}

impl fmt::Display for Companion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.job.fmt(f)?;
        match self.start_us {
            0.0 => Ok(()),
            start => write!(f, " {START}{start}"),
        }
    }
}

impl Companion {
    pub fn parse(text: &Text, registry: &Registry) -> Result<Self, InputError> {
        let words: Vec<&str> = text.value.split_whitespace().collect();
        let (algorithm, workload, start) = match words[..] {
            [algorithm, workload] => (algorithm, workload, None),
            [algorithm, workload, start] => (algorithm, workload, Some(start)),
            _ => {
                let message = format!(
                    "expected an algorithm, a workload and a start, found `{}`",
                    text.value
                );
                let help = "for example `ring-allreduce allreduce/uniform:1MiB,over=dp start_us=50`; without `start_us=`, the start is 0";
                return Err(text.error(message).help(help));
            }
        };
        let part = |word: &str| Text { value: word.to_owned(), place: text.place.clone() };
        let start_us = match start {
            None => 0.0,
            Some(word) => {
                let value = word.strip_prefix(START).and_then(|value| value.parse::<f64>().ok());
                let error =
                    || text.error(format!("expected `{START}T`, {T_EXPECTED}, found `{word}`"));
                checked_start(value.ok_or_else(error)?).ok_or_else(error)?
            }
        };
        let workload = part(workload);
        Ok(Self {
            job: Job {
                algorithm: Arc::new(select_algorithm(&part(algorithm), registry)?),
                workload: Arc::new(parse_workload(&workload)?),
            },
            start_us,
        })
    }
}

const T_EXPECTED: &str = "T a number of microseconds from -86400000000 to 86400000000 (a day)";

/// Returns a start in µs, rounded as in rows. Returns `None` if it differs from 0 by more than a
/// day.
pub(crate) fn checked_start(us: f64) -> Option<f64> {
    (-LATEST_US..=LATEST_US).contains(&us).then(|| rounded(us))
}

pub(crate) fn parse_workload(text: &Text) -> Result<Workload, InputError> {
    let workload = Workload::parse(&text.value).map_err(|e| spec_error(text, &e))?;
    match workload.replicates() {
        None => Ok(workload),
        Some(files) => {
            let message =
                format!("has {files} files, one for each repetition, which jobs do not have");
            Err(text.error(message).help("name one file"))
        }
    }
}

fn rounded(us: f64) -> f64 {
    // Adding 0 turns a negative zero into a positive one.
    (us * 1e6).round() / 1e6 + 0.0
}

pub(crate) fn of_others(jobs: &[Companion], own: usize) -> Arc<[Companion]> {
    let others = jobs.iter().enumerate().filter(|(number, _)| *number != own);
    let relative = |(_, other): (usize, &Companion)| {
        let start_us = rounded(other.start_us - jobs[own].start_us);
        Companion { start_us, ..other.clone() }
    };
    let mut others: Vec<Companion> = others.map(relative).collect();
    others.sort_by_cached_key(ToString::to_string);
    others.into()
}

/// Returns all jobs in canonical order, and the index of `own`. The starts in `companions` are
/// relative to the start of `own`; the returned starts are relative to that of the first job.
pub(super) fn from_first_start(
    own: &Companion,
    companions: &[Companion],
) -> (Vec<Companion>, usize) {
    let first = companions.iter().fold(own.start_us, |first, other| first.min(other.start_us));
    let moved =
        |job: &Companion| Companion { start_us: rounded(job.start_us - first), ..job.clone() };
    let own = moved(own);
    let text = own.to_string();
    let mut jobs: Vec<Companion> = companions.iter().map(moved).chain([own]).collect();
    jobs.sort_by_cached_key(ToString::to_string);
    // Equal jobs are interchangeable, so any of them may be the job of the case.
    let index = jobs.iter().position(|job| job.to_string() == text);
    (jobs, index.unwrap_or_else(|| unreachable!("the list contains the own job")))
}

pub(crate) fn column(companions: &[Companion]) -> String {
    companions.iter().map(ToString::to_string).collect::<Vec<_>>().join(SEPARATOR)
}

pub(crate) fn parse_column(
    text: &str,
    registry: &Registry,
) -> Result<Arc<[Companion]>, InputError> {
    let jobs = text.split(SEPARATOR).filter(|job| !job.is_empty());
    jobs.map(|job| Companion::parse(&Text::flag("together", job), registry)).collect()
}
