//! Joins the rows of shards: none lost, none doubled.

use crate::beside::is_measured;
use crate::case_id::{CaseId, inputs};
use crate::record::Record;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Rows of different experiments, or made by different versions.
    #[error("{first} and {second} are not of one experiment: their {what} is `{a}` and `{b}`")]
    Mixture { first: String, second: String, what: String, a: String, b: String },
    /// A case that is there twice.
    #[error("{case} is in {first} and in {second}: expected every case once")]
    Doubled { case: String, first: String, second: String },
    /// A row of none of the experiment's cases.
    #[error("{at} is of none of the experiment's cases: {why}")]
    Stranger {
        at: String,
        /// In what it differs from the case most like it.
        why: String,
    },
    /// No rows at all.
    #[error("no rows to join")]
    NoRows,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Merged<'a> {
    /// All rows: in the order of the experiment's cases where these are known, else as they stand in the files.
    pub rows: Vec<&'a Record>,
    /// Cases without a row.
    pub missing: Vec<String>,
}

/// A row, and the file and place it is from.
struct Found<'a> {
    record: &'a Record,
    file: &'a str,
    number: usize,
}

impl Found<'_> {
    fn place(&self) -> String {
        format!("{}, row {}", self.file, self.number)
    }
}

/// Joins the rows of files, given with their names. Without the experiment's cases in order, those expected are the cross product of all that the rows name.
pub fn merge<'a>(files: &'a [(String, Vec<Record>)], expected: Option<&[CaseId]>) -> Result<Merged<'a>, MergeError> {
    let found = |(file, rows): &'a (String, Vec<Record>)| {
        rows.iter().enumerate().map(move |(i, record)| Found { record, file, number: i + 1 })
    };
    // What was measured is of no experiment: it stands after what was predicted, and is missed nowhere.
    let (measured, all): (Vec<Found<'_>>, Vec<Found<'_>>) =
        files.iter().flat_map(found).partition(|found| is_measured(found.record));
    let merged = if all.is_empty() && !measured.is_empty() {
        Merged { rows: Vec::new(), missing: Vec::new() }
    } else {
        predicted(&all, expected)?
    };
    by_case(&measured)?;
    let rows = merged.rows.into_iter().chain(measured.iter().map(|found| found.record)).collect();
    Ok(Merged { rows, ..merged })
}

/// Rows of one experiment.
fn predicted<'a>(all: &[Found<'a>], expected: Option<&[CaseId]>) -> Result<Merged<'a>, MergeError> {
    refuse_mixtures(all)?;
    let at = by_case(all)?;
    let Some(expected) = expected else {
        return Ok(Merged { rows: all.iter().map(|found| found.record).collect(), missing: missing(all) });
    };
    let cases: Vec<CaseId<&str>> = expected.iter().map(CaseId::borrowed).collect();
    let known: HashSet<&CaseId<&str>> = cases.iter().collect();
    if let Some(found) = all.iter().find(|found| !known.contains(&found.record.case())) {
        return Err(MergeError::Stranger { at: found.place(), why: found.record.case().unlike(&cases) });
    }
    let rows = cases.iter().filter_map(|case| at.get(case).map(|found| found.record)).collect();
    let missing = cases.iter().filter(|case| !at.contains_key(*case)).map(CaseId::in_words).collect();
    Ok(Merged { rows, missing })
}

/// The row of each case, of which there is but one.
fn by_case<'r, 'a>(all: &'r [Found<'a>]) -> Result<HashMap<CaseId<&'a str>, &'r Found<'a>>, MergeError> {
    let mut at: HashMap<CaseId<&str>, &Found<'_>> = HashMap::new();
    for found in all {
        let case = found.record.case();
        if let Some(first) = at.insert(case, found) {
            return Err(MergeError::Doubled { case: case.in_words(), first: first.place(), second: found.place() });
        }
    }
    Ok(at)
}

/// Refuses rows that one run could not have made: what a name stands for is the same in all of them.
fn refuse_mixtures(all: &[Found<'_>]) -> Result<(), MergeError> {
    if all.is_empty() {
        return Err(MergeError::NoRows);
    }
    let mut meanings: BTreeMap<(&str, &str), (&Found<'_>, String)> = BTreeMap::new();
    for found in all {
        let row = found.record;
        let build = format!("{} {}", row.plugin_version, row.plugin_digest);
        let named = [
            (("experiment", ""), row.experiment.clone()),
            (("first seed", ""), row.seed.wrapping_sub(u64::from(row.repetition)).to_string()),
            (("swapmeet_version", ""), row.swapmeet_version.clone()),
            (("plugin", row.algorithm.as_str()), row.plugin.clone()),
            (("build", row.plugin.as_str()), build.trim_end().to_owned()),
            (("machine_definition", row.machine.as_str()), row.machine_definition.clone()),
        ];
        let files = inputs(&row.inputs).map(|(file, digest)| (("file", file), digest.to_owned()));
        for ((what, name), meaning) in files.chain(named) {
            let (first, known) = meanings.entry((what, name)).or_insert_with(|| (found, meaning.clone()));
            if *known != meaning {
                let what = if name.is_empty() { what.to_owned() } else { format!("{what} of `{name}`") };
                let (first, second) = (first.place(), found.place());
                return Err(MergeError::Mixture { first, second, what, a: known.clone(), b: meaning });
            }
        }
    }
    Ok(())
}

/// What is missing of every combination of what the rows name.
fn missing(all: &[Found<'_>]) -> Vec<String> {
    type Text = fn(&Record) -> &str;
    let texts: [Text; 4] = [|r| &r.topology, |r| &r.algorithm, |r| &r.workload, |r| &r.machine];
    let named = texts.map(|text| each_once(all.iter().map(|found| text(found.record))));
    let repetitions = each_once(all.iter().map(|found| found.record.repetition));
    let known: HashSet<_> =
        all.iter().map(|Found { record: r, .. }| (texts.map(|text| text(r)), r.repetition)).collect();
    let mut missing = Vec::new();
    for topology in &named[0] {
        for algorithm in &named[1] {
            for workload in &named[2] {
                for machine in &named[3] {
                    for repetition in &repetitions {
                        if !known.contains(&([*topology, *algorithm, *workload, *machine], *repetition)) {
                            let mut case = CaseId { repetition: *repetition, ..CaseId::default() };
                            (case.setting.topology, case.setting.workload, case.setting.machine) =
                                (*topology, *workload, *machine);
                            case.implementation.algorithm = *algorithm;
                            missing.push(case.in_words());
                        }
                    }
                }
            }
        }
    }
    missing
}

/// Each value once, in the order in which they first come.
fn each_once<T: Copy + Eq + std::hash::Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    values.filter(|value| known.insert(*value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    /// Two topologies, two algorithms, two repetitions.
    fn whole() -> Vec<Record> {
        let at = |topology: &str, algorithm, repetition| Record {
            topology: topology.to_owned(),
            ..row(algorithm, repetition, 1.0)
        };
        let algorithms = ["pex", "gen"];
        ["torus:4x4", "ring:5"]
            .into_iter()
            .flat_map(|t| algorithms.into_iter().flat_map(move |a| [0, 1].map(|r| at(t, a, r))))
            .collect()
    }

    /// The rows of `keep`, in order.
    fn shard(keep: &[usize]) -> Vec<Record> {
        keep.iter().map(|i| whole()[*i].clone()).collect()
    }

    fn files(shards: &[&[usize]]) -> Vec<(String, Vec<Record>)> {
        shards.iter().enumerate().map(|(i, keep)| (format!("part-{i}.csv"), shard(keep))).collect()
    }

    fn rows(merged: &Merged<'_>) -> Vec<Record> {
        merged.rows.iter().map(|row| (*row).clone()).collect()
    }

    fn cases(records: &[Record]) -> Vec<CaseId> {
        records.iter().map(|record| record.case().owned()).collect()
    }

    #[test]
    fn shards_in_any_order_are_one_run_again() {
        for shards in [[&[0, 3, 4][..], &[1, 2, 5, 6, 7]], [&[1, 2, 5, 6, 7], &[0, 3, 4]]] {
            let files = files(&shards);
            let merged = merge(&files, Some(&cases(&whole()))).unwrap();
            assert_eq!((rows(&merged), merged.missing), (whole(), vec![]));
        }
    }

    #[test]
    fn without_the_experiment_rows_stand_as_in_the_files() {
        let files = files(&[&[4, 5, 6, 7], &[3, 1, 2, 0]]);
        let merged = merge(&files, None).unwrap();
        assert_eq!((rows(&merged), merged.missing.len()), (shard(&[4, 5, 6, 7, 3, 1, 2, 0]), 0));
    }

    #[test]
    fn what_is_missing_is_named() {
        let some = files(&[&[0, 1, 2], &[4, 5, 6, 7]]);
        let merged = merge(&some, None).unwrap();
        assert_eq!(merged.rows.len(), 7);
        assert_eq!(merged.missing, ["gen on torus:4x4, uniform:64, paragon, repetition 1"]);
        // Nothing names the ring: only the experiment knows of it.
        let shards = files(&[&[0, 1], &[2, 3]]);
        assert_eq!(merge(&shards, None).unwrap().missing.len(), 0);
        assert_eq!(merge(&shards, Some(&cases(&whole()))).unwrap().missing.len(), 4);
    }

    #[test]
    fn what_is_doubled_mixed_or_strange_is_refused() {
        let said =
            |files: &[(String, Vec<Record>)], order: Option<&[CaseId]>| merge(files, order).unwrap_err().to_string();
        assert_eq!(
            said(&files(&[&[0, 1], &[1, 2]]), None),
            "pex on torus:4x4, uniform:64, paragon, repetition 1 is in part-0.csv, row 2 and in part-1.csv, row 1: expected every case once"
        );
        let mut mixed = files(&[&[0], &[1]]);
        mixed[1].1[0].experiment = "other".to_owned();
        assert_eq!(
            said(&mixed, None),
            "part-0.csv, row 1 and part-1.csv, row 1 are not of one experiment: their experiment is `` and `other`"
        );
        let differing = |change: fn(&mut Record, &str)| {
            let mut mixed = files(&[&[0], &[1]]);
            change(&mut mixed[0].1[0], "aa");
            change(&mut mixed[1].1[0], "bb");
            said(&mixed, None)
        };
        let text = differing(|r, text| r.plugin_version = text.to_owned());
        assert!(text.ends_with("their build of `classic` is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.plugin_digest = text.to_owned());
        assert!(text.ends_with("their build of `classic` is `0.1.0 aa` and `0.1.0 bb`"), "{text}");
        let text = differing(|r, text| r.swapmeet_version = text.to_owned());
        assert!(text.ends_with("their swapmeet_version is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.inputs = format!("a; b.csv={text}"));
        assert!(text.ends_with("their file of `a; b.csv` is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.machine_definition = text.to_owned());
        assert!(text.ends_with("their machine_definition of `paragon` is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.seed = u64::from(text == "aa") + 6);
        assert!(text.ends_with("their first seed is `7` and `5`"), "{text}");
        assert_eq!(
            said(&files(&[&[0, 7]]), Some(&cases(&whole()[..1]))),
            "part-0.csv, row 2 is of none of the experiment's cases: its topology is `ring:5`, here `torus:4x4`, its algorithm is `gen`, \
             here `pex`, its repetition is `1`, here `0`, its seed is `43`, here `42`"
        );
        assert_eq!(said(&[], None), "no rows to join");
    }
}
