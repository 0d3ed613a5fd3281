//! Which algorithm is faster, case by case, and how sure that is.
//!
//! Rows are grouped by everything but the algorithm; within a group, repetitions of an algorithm are a sample. Rows that are not `ok` are shown with
//! their status, never dropped.

use crate::record::{Record, Status, Verified};
use crate::stats::{Ratio, Summary, mann_whitney_p, ratio, welch_p};
use serde::Serialize;
use std::collections::BTreeMap;

/// What cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The same case and repetition has different figures in two places.
    #[error("{case} has different figures in {first} and in {second}: they are not of one experiment")]
    Contradiction {
        /// Algorithm, topology, workload, machine, repetition.
        case: String,
        /// File and row of the first.
        first: String,
        /// File and row of the second.
        second: String,
    },
    /// No row is of the algorithm named as baseline.
    #[error("no row is of the baseline `{baseline}`; there are {known}")]
    NoBaseline {
        /// The name given.
        baseline: String,
        /// The algorithms there are.
        known: String,
    },
    /// No rows at all.
    #[error("no rows to compare")]
    NoRows,
}

/// One algorithm within a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The algorithm.
    pub algorithm: String,
    /// `ok` if every repetition is; otherwise the first that isn't.
    pub status: Status,
    /// Why, where it isn't.
    pub reason: String,
    /// What was proved of all repetitions.
    pub verified: Verified,
    /// Completion times in us.
    pub time: Option<Summary>,
    /// Its mean time over the baseline's; `None` without a baseline or where a time is 0.
    pub ratio: Option<Ratio>,
    /// Welch's t test against the baseline.
    pub welch_p: Option<f64>,
    /// Mann-Whitney U test against the baseline.
    pub mann_whitney_p: Option<f64>,
}

/// Cases that differ only in the algorithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Where.
    pub topology: String,
    /// What is to reach whom.
    pub collective: String,
    /// Sizes.
    pub workload: String,
    /// Prices.
    pub machine: String,
    /// By which model.
    pub model: String,
    /// Which line the others are compared with; `None` if the baseline has no time here.
    pub baseline: Option<String>,
    /// Fastest first; those without a time last.
    pub lines: Vec<Line>,
}

/// Everything compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// In the order in which their first rows came.
    pub groups: Vec<Group>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
}

type Key = [String; 5];

fn key(r: &Record) -> Key {
    [&r.topology, &r.collective, &r.workload, &r.machine, &r.model].map(Clone::clone)
}

/// What must be the same in two rows of one case and repetition: everything but the time it took to make them, and the experiment's name.
fn figures(r: &Record) -> Record {
    Record { plan_ms: None, wall_ms: None, experiment: String::new(), ..r.clone() }
}

/// Compares the rows of files, given with their names. Without a baseline, the fastest of each group is it.
pub fn compare(files: &[(String, Vec<Record>)], baseline: Option<&str>) -> Result<Comparison, CompareError> {
    let mut notes = Vec::new();
    let mut order: Vec<Key> = Vec::new();
    let mut groups: BTreeMap<Key, Vec<(&Record, String)>> = BTreeMap::new();
    for (file, records) in files {
        let mut twice = 0;
        for (number, record) in records.iter().enumerate() {
            // the header is line 1
            let place = format!("{file} (row {})", number + 1);
            let key = key(record);
            let group = groups.entry(key.clone()).or_default();
            if group.is_empty() {
                order.push(key);
            }
            let same = |(r, _): &&(&Record, String)| {
                (&r.algorithm, r.repetition, r.seed) == (&record.algorithm, record.repetition, record.seed)
            };
            match group.iter().find(same) {
                None => group.push((record, place)),
                Some((known, _)) if figures(known) == figures(record) => twice += 1,
                Some((_, first)) => {
                    let case = format!(
                        "{} on {}, {}, {}, repetition {}",
                        record.algorithm, record.topology, record.workload, record.machine, record.repetition
                    );
                    return Err(CompareError::Contradiction { case, first: first.clone(), second: place });
                }
            }
        }
        if twice > 0 {
            notes.push(format!("{file}: {twice} rows that were there before are counted once"));
        }
    }
    if order.is_empty() {
        return Err(CompareError::NoRows);
    }
    if let Some(baseline) = baseline {
        let mut known: Vec<&str> = groups.values().flatten().map(|(r, _)| r.algorithm.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&baseline) {
            return Err(CompareError::NoBaseline { baseline: baseline.to_owned(), known: known.join(", ") });
        }
    }
    let compared = order.iter().filter_map(|key| groups.get(key).map(|rows| group(key, rows, baseline))).collect();
    Ok(Comparison { groups: compared, notes })
}

fn group(key: &Key, rows: &[(&Record, String)], baseline: Option<&str>) -> Group {
    let mut names: Vec<&str> = Vec::new();
    for (record, _) in rows {
        if !names.contains(&record.algorithm.as_str()) {
            names.push(&record.algorithm);
        }
    }
    let times = |name: &str| -> Vec<f64> {
        rows.iter()
            .filter(|(r, _)| r.algorithm == name && r.status == Status::Ok)
            .filter_map(|(r, _)| r.time_us)
            .collect()
    };
    let fastest = || {
        let mean = |name: &&str| Summary::of(&times(name)).map(|s| s.mean);
        names
            .iter()
            .copied()
            .filter(|n| mean(n).is_some())
            .min_by(|a, b| mean(a).unwrap_or(0.0).total_cmp(&mean(b).unwrap_or(0.0)))
    };
    let baseline = baseline.or_else(fastest).filter(|name| !times(name).is_empty());
    let of_baseline = baseline.map(times).unwrap_or_default();
    let against = Summary::of(&of_baseline);
    let mut lines: Vec<Line> = names
        .iter()
        .map(|name| {
            let own = times(name);
            let time = Summary::of(&own);
            let all = || rows.iter().map(|(r, _)| *r).filter(|r| r.algorithm == *name);
            let bad = all().find(|r| r.status != Status::Ok);
            let other = baseline.is_some_and(|b| b != *name);
            let both = time.as_ref().zip(against.as_ref()).filter(|_| other);
            Line {
                algorithm: (*name).to_owned(),
                status: bad.map_or(Status::Ok, |r| r.status),
                reason: bad.map(|r| r.reason.clone()).unwrap_or_default(),
                verified: all().map(|r| r.verified).max_by_key(|v| weakness(*v)).unwrap_or_default(),
                ratio: time.as_ref().zip(against.as_ref()).and_then(|(a, b)| {
                    if other { ratio(a, b) } else { (a.mean > 0.0).then_some(Ratio { value: 1.0, interval: None }) }
                }),
                welch_p: both.and_then(|(a, b)| welch_p(a, b)),
                mann_whitney_p: both.and_then(|_| mann_whitney_p(&own, &of_baseline)),
                time,
            }
        })
        .collect();
    let rank = |l: &Line| l.time.as_ref().map_or(f64::INFINITY, |t| t.mean);
    lines.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let [topology, collective, workload, machine, model] = key.clone();
    Group { topology, collective, workload, machine, model, baseline: baseline.map(str::to_owned), lines }
}

/// The weakest proof speaks for all repetitions.
fn weakness(verified: Verified) -> u8 {
    match verified {
        Verified::Blocks => 0,
        Verified::Amounts => 1,
        Verified::None => 2,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(algorithm: &str, repetition: u32, time_us: f64) -> Record {
        Record {
            algorithm: algorithm.to_owned(),
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

    fn files(records: Vec<Record>) -> Vec<(String, Vec<Record>)> {
        vec![("rows.csv".to_owned(), records)]
    }

    #[test]
    fn the_fastest_is_the_baseline_unless_one_is_named() {
        let rows = files(vec![row("slow", 0, 30.0), row("fast", 0, 10.0)]);
        let ratios = |baseline| -> Vec<(String, f64)> {
            let compared = compare(&rows, baseline).unwrap();
            compared.groups[0].lines.iter().map(|l| (l.algorithm.clone(), l.ratio.as_ref().unwrap().value)).collect()
        };
        assert_eq!(ratios(None), [("fast".to_owned(), 1.0), ("slow".to_owned(), 3.0)]);
        assert_eq!(ratios(Some("slow")), [("fast".to_owned(), 1.0 / 3.0), ("slow".to_owned(), 1.0)]);
        assert_eq!(
            compare(&rows, Some("fastest")).unwrap_err().to_string(),
            "no row is of the baseline `fastest`; there are fast, slow"
        );
        assert_eq!(compare(&[], None).unwrap_err().to_string(), "no rows to compare");
    }

    #[test]
    fn rows_that_failed_are_shown_and_have_no_ratio() {
        let failed = Record {
            status: Status::Unsupported,
            verified: Verified::None,
            reason: "too odd".to_owned(),
            time_us: None,
            ..row("odd", 0, 0.0)
        };
        let rows = files(vec![failed, row("fast", 0, 10.0)]);
        let group = &compare(&rows, Some("odd")).unwrap().groups[0];
        assert_eq!((group.baseline.as_deref(), group.lines.len()), (None, 2));
        let odd = &group.lines[1];
        assert_eq!((odd.status, odd.reason.as_str(), odd.time.as_ref()), (Status::Unsupported, "too odd", None));
        assert!(group.lines.iter().all(|l| l.ratio.is_none()));
    }

    #[test]
    fn the_same_row_counts_once_and_different_figures_are_an_error() {
        let mut files = vec![
            ("a.csv".to_owned(), vec![row("fast", 0, 10.0)]),
            ("b.csv".to_owned(), vec![Record { wall_ms: Some(3.0), ..row("fast", 0, 10.0) }, row("fast", 1, 12.0)]),
        ];
        let compared = compare(&files, None).unwrap();
        assert_eq!(compared.notes, ["b.csv: 1 rows that were there before are counted once"]);
        assert_eq!(compared.groups[0].lines[0].time.as_ref().unwrap().n, 2);
        files[1].1[0].time_us = Some(11.0);
        assert_eq!(
            compare(&files, None).unwrap_err().to_string(),
            "fast on torus:4x4, uniform:64, paragon, repetition 0 has different figures in a.csv (row 1) and in b.csv (row 1): they are not of one experiment"
        );
    }

    #[test]
    fn a_case_of_one_node_takes_no_time_and_has_no_ratio() {
        let group = &compare(&files(vec![row("a", 0, 0.0), row("b", 0, 0.0)]), None).unwrap().groups[0];
        assert!(group.lines.iter().all(|l| l.ratio.is_none() && l.time.is_some()));
    }
}
