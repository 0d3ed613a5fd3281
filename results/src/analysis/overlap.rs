//! Compares two jobs that ran at the same time with the same two jobs one after the other.

use crate::case_id::CaseId;
use crate::record::{Record, Status};
use crate::stats::Summary;
use std::collections::BTreeMap;

/// In the column `together`, this text precedes the start of a job.
const START: &str = " start_us=";

#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    pub topology: String,
    pub machine: String,
    /// The algorithm and workload of each job. The first job is the one that starts first.
    pub jobs: [String; 2],
    /// The time from the start of the first job to the start of the second job, in µs.
    pub start_us: f64,
    /// The time of each job if it runs alone, in µs.
    pub alone_us: [f64; 2],
    /// The time of each job if both run, in µs. It is counted from the start of this job.
    pub beside_us: [f64; 2],
}

impl Overlap {
    pub fn together_us(&self) -> f64 {
        self.beside_us[0].max(self.start_us + self.beside_us[1])
    }

    pub fn sequential_us(&self) -> f64 {
        self.alone_us.iter().sum()
    }

    /// Returns the time of both jobs one after the other, divided by their time together. It is 2
    /// for two equal jobs that do not disturb each other, and 1 if nothing is gained.
    pub fn gain(&self) -> f64 {
        self.sequential_us() / self.together_us()
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overlaps {
    /// The pairs for which all rows exist. They are in the order of their first rows.
    pub pairs: Vec<Overlap>,
    pub missing: Vec<String>,
    /// The number of rows in which more than two jobs ran at the same time.
    pub larger: usize,
}

/// The columns that both jobs share, the job of the row, and the other job with its start.
type Key = ([String; 3], String, String);

pub fn overlaps<'a>(rows: impl IntoIterator<Item = &'a Record>) -> Overlaps {
    let mut found = Overlaps::default();
    let mut times: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    let mut order: Vec<Key> = Vec::new();
    for row in rows {
        if row.together.contains(" + ") {
            found.larger += 1;
            continue;
        }
        let (shared, job) = (shared(&row.case()), format!("{} {}", row.algorithm, row.workload));
        let key = (shared, job, row.together.clone());
        if !row.together.is_empty() && !order.contains(&key) {
            order.push(key.clone());
        }
        if let (Status::Ok, Some(time)) = (row.status, row.time_us) {
            times.entry(key).or_default().push(time);
        }
    }
    let mean = |key: &Key| Some(Summary::of(times.get(key)?)?.mean);
    for (shared, job, together) in order {
        let (other, start) = together.split_once(START).unwrap_or((&together, "0"));
        let start: f64 = start.parse().unwrap_or_default();
        // Each pair has two rows. The pair is listed at the row of the job that starts first or, if
        // both jobs start at the same time, of the job whose text is first in alphabetical order.
        let is_second = start < 0.0 || start == 0.0 && other < job.as_str();
        let own_in_other = match start {
            0.0 => job.clone(),
            start => format!("{job}{START}{}", -start),
        };
        let key = |job: &str, together: &str| (shared.clone(), job.to_owned(), together.to_owned());
        let other_row = key(other, &own_in_other);
        if is_second && times.contains_key(&other_row) {
            continue;
        }
        let wanted = [key(&job, &together), other_row, key(&job, ""), key(other, "")];
        let [beside, other_beside, alone, other_alone] = wanted.each_ref().map(mean);
        let (Some(beside), Some(other_beside), Some(alone), Some(other_alone)) =
            (beside, other_beside, alone, other_alone)
        else {
            let lacking = wanted.iter().filter(|key| mean(key).is_none());
            for (_, job, together) in lacking {
                let with = match together.as_str() {
                    "" => "alone".to_owned(),
                    other => format!("together with `{other}`"),
                };
                let sentence = format!("no time of `{job}` {with} on {}", shared[0]);
                if !found.missing.contains(&sentence) {
                    found.missing.push(sentence);
                }
            }
            continue;
        };
        let [topology, machine, _] = shared;
        let (mut jobs, mut start_us) = ([job, other.to_owned()], start);
        let (mut alone_us, mut beside_us) = ([alone, other_alone], [beside, other_beside]);
        if is_second {
            jobs.swap(0, 1);
            alone_us.swap(0, 1);
            beside_us.swap(0, 1);
            start_us = -start;
        }
        found.pairs.push(Overlap { topology, machine, jobs, start_us, alone_us, beside_us });
    }
    found
}

fn shared(case: &CaseId<&str>) -> [String; 3] {
    let setting = &case.setting;
    [setting.topology, setting.machine, setting.machine_definition].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    fn job(algorithm: &str, together: &str, time: f64) -> Record {
        Record { together: together.to_owned(), ..row(algorithm, 0, time) }
    }

    #[test]
    fn jobs_together_are_compared_with_jobs_one_after_the_other() {
        let rows = [
            job("a", "b uniform:64 start_us=4", 12.0),
            job("b", "a uniform:64 start_us=-4", 11.0),
            job("a", "", 10.0),
            job("b", "", 8.0),
            job("a", "b uniform:64 + c uniform:64", 30.0),
        ];
        let found = overlaps(&rows);
        let [pair] = &found.pairs[..] else { panic!("{found:?}") };
        assert_eq!(pair.jobs, ["a uniform:64", "b uniform:64"]);
        assert_eq!((pair.alone_us, pair.beside_us), ([10.0, 8.0], [12.0, 11.0]));
        assert_eq!((pair.together_us(), pair.sequential_us()), (15.0, 18.0));
        assert_eq!((pair.gain(), found.larger, &found.missing[..]), (1.2, 1, &[][..]));
        let reversed = overlaps(rows.iter().rev());
        assert_eq!(reversed.pairs, found.pairs);
    }

    #[test]
    fn missing_rows_are_named() {
        let rows = [job("a", "b uniform:64", 12.0), job("a", "", 10.0)];
        let found = overlaps(&rows);
        assert_eq!(
            (found.pairs.len(), &found.missing[..]),
            (
                0,
                &[
                    "no time of `b uniform:64` together with `a uniform:64` on torus:4x4"
                        .to_owned(),
                    "no time of `b uniform:64` alone on torus:4x4".to_owned(),
                ][..]
            )
        );
    }
}
