//! Which algorithm is faster, case by case, and how sure that is.
//!
//! Rows are grouped by everything but the algorithm; within a group, repetitions of an algorithm
//! are a sample. Rows that are not `ok` are shown with their status, never dropped.

mod group;
mod grouping;
mod rearrangement;

mod sample;

mod winner;

pub use winner::{Margin, RunnerUp, Winner};

use crate::case_id::{Implementation, Setting};
use crate::record::{Record, Status, Verified};
use crate::residual::{Residual, residuals};
use crate::stats::{Ratio, Summary, holm};
use serde::Serialize;
use std::collections::BTreeMap;
use swapmeet_core::cost::machine::Machine;
use swapmeet_workloads::is_random;

/// What cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The same case and repetition has different figures in two places.
    #[error(
        "{case} has different figures in {first} and in {second}: they are not of one experiment"
    )]
    Contradiction {
        /// Algorithm, topology, workload, machine, repetition.
        case: String,
        /// File and row of the first.
        first: String,
        /// File and row of the second.
        second: String,
    },
    /// No row is of the algorithm named as baseline.
    #[error("no row is of the baseline `{baseline}`")]
    NoBaseline {
        baseline: String,
        /// The algorithms there are.
        known: Vec<String>,
    },
    /// No rows at all.
    #[error("no rows to compare")]
    NoRows,
}

/// One algorithm within a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonLine {
    /// The algorithm; with what tells the code from others where the group has it from several
    /// plugins, versions or builds.
    pub algorithm: String,
    /// Whose rows these are.
    #[serde(skip)]
    pub implementation: Implementation,
    /// `ok` if every row is; otherwise how the first ended that isn't.
    pub status: Status,
    /// How many rows ended how.
    pub rows: BTreeMap<Status, usize>,
    /// Why, where they aren't `ok`: each reason once.
    pub reason: String,
    /// What was proved of every `ok` row.
    pub verified: Verified,
    /// Completion times of the `ok` rows, in us.
    pub time: Option<Summary>,
    /// Its mean time over the baseline's; `None` without a baseline or where a time is 0.
    pub ratio: Option<Ratio>,
    /// How sure it is that it differs from the baseline; `None` where either is a single run, or
    /// neither has a spread.
    pub tests: Option<Tests>,
    /// Where its rows are: each once, whatever came of it.
    #[serde(skip)]
    pub members: Vec<RowLocation>,
}

/// Tests of whether the times of two algorithms differ at all, and by how much as seen from their
/// spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tests {
    /// Whether repetitions were compared pair by pair: both algorithms had the same seeds.
    pub paired: bool,
    /// p of the paired t test, or of Welch's.
    pub t_p: Option<f64>,
    /// p of Wilcoxon's signed-rank test for pairs, or of Mann and Whitney's.
    pub rank_p: Option<f64>,
    /// The same, corrected for all comparisons that were made.
    pub t_p_holm: Option<f64>,
    /// The same, corrected for all comparisons that were made.
    pub rank_p_holm: Option<f64>,
    /// The difference of the means in standard deviations: of the differences of pairs, or of both
    /// samples together; above 0 where the baseline is faster.
    pub effect: Option<f64>,
}

/// A row's place among the files that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLocation {
    /// Which file, from 0.
    pub file: usize,
    /// Which of its rows, from 0.
    pub row: usize,
}

impl ComparisonLine {
    /// Its rows, among the files that were compared.
    pub fn records<'a>(
        &'a self,
        files: &'a [(String, Vec<Record>)],
    ) -> impl Iterator<Item = &'a Record> {
        self.members.iter().filter_map(|at| files.get(at.file)?.1.get(at.row))
    }

    pub fn mean(&self) -> Option<f64> {
        self.time.as_ref().map(|t| t.mean)
    }
}

/// Cases that differ only in the algorithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What they have in common.
    #[serde(flatten)]
    pub setting: Setting,
    pub nodes: u64,
    /// Which line the others are compared with.
    pub baseline: Option<String>,
    /// Why there is none; otherwise empty.
    pub no_baseline: String,
    /// The fastest, if any has a time.
    pub winner: Option<Winner>,
    /// Fastest first; those without a time last.
    pub lines: Vec<ComparisonLine>,
}

impl Group {
    /// Whether nothing in its cases is drawn at random, so that one run of each says all there is
    /// to say.
    pub fn is_exact(&self) -> bool {
        let Setting { machine, machine_definition, .. } = &self.setting;
        let machine = if machine_definition.is_empty() { machine } else { machine_definition };
        is_random(&self.setting.workload) == Some(false)
            && !Machine::parse(machine).is_ok_and(|m| m.is_noisy())
    }

    /// The machine, with what an experiment's own stands for.
    pub fn machine_in_full(&self) -> String {
        let Setting { machine, machine_definition, .. } = &self.setting;
        if machine_definition.is_empty() {
            machine.clone()
        } else {
            format!("{machine} ({machine_definition})")
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// In the order in which their first rows came.
    pub groups: Vec<Group>,
    /// How many comparisons with a baseline were tested, for which p-values are corrected.
    pub tested: usize,
    /// What was noticed on the way.
    pub notes: Vec<String>,
    /// Where times are compared that were charged unlike.
    #[serde(rename = "unlike")]
    pub rearrangement_remarks: Vec<String>,
    /// Cases that were measured and predicted, with what is left between the two.
    #[serde(rename = "beside", skip_serializing_if = "Vec::is_empty")]
    pub residuals: Vec<Residual>,
}

/// Compares the rows of files, given with their names. Without a baseline, the fastest of each
/// group is it.
pub fn compare(
    files: &[(String, Vec<Record>)],
    baseline: Option<&str>,
) -> Result<Comparison, CompareError> {
    let merged = grouping::group_rows(files)?;
    if merged.groups.is_empty() {
        return Err(CompareError::NoRows);
    }
    let mut groups: Vec<Group> =
        merged.groups.iter().map(|rows| group::group(rows, baseline)).collect();
    if let Some(baseline) = baseline {
        let mut known: Vec<&str> =
            merged.groups.iter().flatten().map(|(r, _)| r.algorithm.as_str()).collect();
        known.extend(groups.iter().flat_map(|g| &g.lines).map(|l| l.algorithm.as_str()));
        known.sort_unstable();
        known.dedup();
        if !known.contains(&baseline) {
            return Err(CompareError::NoBaseline {
                baseline: baseline.to_owned(),
                known: known.into_iter().map(str::to_owned).collect(),
            });
        }
    }
    let tested = correct(&mut groups);
    let rearrangement_remarks = rearrangement::remarks(&groups, files);
    Ok(Comparison {
        groups,
        tested,
        notes: merged.notes,
        rearrangement_remarks,
        residuals: residuals(files),
    })
}

/// Corrects p-values for how many comparisons there are, which it returns.
fn correct(groups: &mut [Group]) -> usize {
    let mut tests: Vec<&mut Tests> = groups
        .iter_mut()
        .flat_map(|group| &mut group.lines)
        .filter_map(|line| line.tests.as_mut())
        .collect();
    let t = holm(&tests.iter().map(|tests| tests.t_p).collect::<Vec<_>>());
    let rank = holm(&tests.iter().map(|tests| tests.rank_p).collect::<Vec<_>>());
    for (tests, (t, rank)) in tests.iter_mut().zip(t.into_iter().zip(rank)) {
        (tests.t_p_holm, tests.rank_p_holm) = (t, rank);
    }
    tests.len()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(algorithm: &str, repetition: u32, time_us: f64) -> Record {
        Record {
            algorithm: algorithm.to_owned(),
            plugin: "classic".to_owned(),
            plugin_version: "0.1.0".to_owned(),
            topology: "torus:4x4".to_owned(),
            collective: "alltoall".to_owned(),
            workload: "uniform:64".to_owned(),
            machine: "paragon".to_owned(),
            model: "wormhole".to_owned(),
            repetition,
            seed: 42 + u64::from(repetition),
            status: Status::Ok,
            verified: Verified::Blocks,
            time_us: Some(time_us),
            ..Record::default()
        }
    }

    pub(crate) fn failed(algorithm: &str, repetition: u32, status: Status, reason: &str) -> Record {
        let reason = reason.to_owned();
        Record {
            status,
            reason,
            verified: Verified::None,
            time_us: None,
            ..row(algorithm, repetition, 0.0)
        }
    }

    pub(crate) fn files(records: Vec<Record>) -> Vec<(String, Vec<Record>)> {
        vec![("rows.csv".to_owned(), records)]
    }

    #[test]
    fn the_fastest_is_the_baseline_unless_one_is_named() {
        let rows = files(vec![row("slow", 0, 30.0), row("fast", 0, 10.0)]);
        let ratios = |baseline| -> Vec<(String, f64)> {
            let compared = compare(&rows, baseline).unwrap();
            compared.groups[0]
                .lines
                .iter()
                .map(|l| (l.algorithm.clone(), l.ratio.as_ref().unwrap().value))
                .collect()
        };
        assert_eq!(ratios(None), [("fast".to_owned(), 1.0), ("slow".to_owned(), 3.0)]);
        assert_eq!(
            ratios(Some("slow")),
            [("fast".to_owned(), 1.0 / 3.0), ("slow".to_owned(), 1.0)]
        );
    }

    #[test]
    fn repetitions_of_the_same_seeds_are_compared_pair_by_pair() {
        // Sizes vary much more than the two algorithms differ, which is 1 each time but for a
        // little.
        let sizes = [(10.0, 1.1), (14.0, 0.9), (9.0, 1.0), (17.0, 1.05)];
        let rows = |seed: u64| {
            let pair = move |(r, (time, more)): (u32, &(f64, f64))| {
                let slow = Record { seed: seed + u64::from(r), ..row("slow", r, time + more) };
                [row("fast", r, *time), slow]
            };
            files((0..).zip(&sizes).flat_map(pair).collect())
        };
        let slow = |seed| {
            let line = compare(&rows(seed), Some("fast")).unwrap().groups[0].lines[1].clone();
            let interval = line.ratio.unwrap().interval.unwrap();
            (line.tests.unwrap(), interval.high / interval.low)
        };
        let ((paired, narrow), (apart, wide)) = (slow(42), slow(1000));
        assert!(paired.paired && !apart.paired);
        assert!(narrow < 1.2 && wide > 2.0, "{narrow} {wide}");
        assert!(paired.t_p.unwrap() < 0.001 && apart.t_p.unwrap() > 0.5);
        assert!(paired.effect.unwrap() > 10.0 && apart.effect.unwrap() < 1.0);
    }

    #[test]
    fn p_values_are_corrected_for_all_comparisons_of_all_groups() {
        let times =
            [("a", [10.0, 10.5, 11.0]), ("b", [11.0, 11.6, 12.1]), ("c", [10.2, 10.6, 11.4])];
        let of = |machine: &'static str| {
            let rows =
                times.iter().flat_map(|(name, t)| (0..3).map(move |r| row(name, r, t[r as usize])));
            rows.map(move |row| Record { machine: machine.to_owned(), ..row })
        };
        let compared =
            compare(&files(of("paragon").chain(of("delta")).collect()), Some("a")).unwrap();
        assert_eq!(compared.tested, 4);
        let tests: Vec<Tests> =
            compared.groups.iter().flat_map(|g| &g.lines).filter_map(|line| line.tests).collect();
        let smallest = tests.iter().filter_map(|tests| tests.t_p).fold(1.0, f64::min);
        let corrected = tests.iter().filter_map(|tests| tests.t_p_holm).fold(1.0, f64::min);
        assert_eq!(corrected, 4.0 * smallest);
    }

    #[test]
    fn a_baseline_that_is_nowhere_is_an_error_and_so_are_no_rows() {
        let rows = files(vec![row("slow", 0, 30.0), row("fast", 0, 10.0)]);
        let known = vec!["fast".to_owned(), "slow".to_owned()];
        let error = compare(&rows, Some("fastest")).unwrap_err();
        assert_eq!(error, CompareError::NoBaseline { baseline: "fastest".to_owned(), known });
        assert_eq!(error.to_string(), "no row is of the baseline `fastest`");
        assert_eq!(compare(&[], None).unwrap_err().to_string(), "no rows to compare");
        assert_eq!(compare(&files(vec![]), Some("fast")).unwrap_err(), CompareError::NoRows);
    }

    #[test]
    fn cases_that_differ_in_more_than_the_algorithm_are_apart() {
        let elsewhere = Record { machine: "delta".to_owned(), ..row("fast", 0, 1.0) };
        let mine = |price: u32| Record {
            machine: "mine".to_owned(),
            machine_definition: format!("paragon:startup_us={price}"),
            ..row("fast", 0, f64::from(price))
        };
        let rows =
            files(vec![row("fast", 0, 10.0), elsewhere, row("slow", 0, 20.0), mine(75), mine(220)]);
        let compared = compare(&rows, None).unwrap();
        let shown: Vec<_> = compared
            .groups
            .iter()
            .map(|g| {
                (g.setting.machine.as_str(), g.setting.machine_definition.as_str(), g.lines.len())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("paragon", "", 2),
                ("delta", "", 1),
                ("mine", "paragon:startup_us=75", 1),
                ("mine", "paragon:startup_us=220", 1)
            ]
        );
    }
}
