//! Joins the rows of shards: none lost, none doubled, in the order in which one run would have written them.

use crate::record::Record;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Rows of different experiments, or made by different versions.
    #[error("{first} and {second} are not of one experiment: their {what} is `{a}` and `{b}`")]
    Mixture {
        /// File and row.
        first: String,
        /// File and row.
        second: String,
        /// What differs.
        what: &'static str,
        /// In the first.
        a: String,
        /// In the second.
        b: String,
    },
    /// A case that is there twice.
    #[error("{case} is in {first} and in {second}: expected every case once")]
    Doubled {
        /// The case.
        case: String,
        /// File and row.
        first: String,
        /// File and row.
        second: String,
    },
    /// A row of none of the experiment's cases.
    #[error("{at} is of none of the experiment's cases: {case}")]
    Stranger {
        /// File and row.
        at: String,
        /// The case.
        case: String,
    },
    /// No rows at all.
    #[error("no rows to join")]
    NoRows,
}

/// Rows joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// All rows, in the order of cases.
    pub rows: Vec<Record>,
    /// Cases without a row.
    pub missing: Vec<String>,
    /// Of topologies, algorithms, workloads and machines those whose order the files don't give away: they come as the files first have them.
    pub unordered: Vec<&'static str>,
}

/// Which case: topology, algorithm, workload, machine, repetition; cases vary in this order, the last fastest.
pub type Key = (String, String, String, String, u32);

/// The case that a row is of.
pub fn key(r: &Record) -> Key {
    (r.topology.clone(), r.algorithm.clone(), r.workload.clone(), r.machine.clone(), r.repetition)
}

fn in_words((topology, algorithm, workload, machine, repetition): &Key) -> String {
    format!("{algorithm} on {topology}, {workload}, {machine}, repetition {repetition}")
}

/// Joins the rows of files, given with their names. Without the experiment's cases in order, those expected are the cross product of all that the rows name.
pub fn merge(files: &[(String, Vec<Record>)], expected: Option<Vec<Key>>) -> Result<Merged, MergeError> {
    let all: Vec<(String, &Record)> = files
        .iter()
        .flat_map(|(name, rows)| rows.iter().enumerate().map(move |(i, row)| (format!("{name}, row {}", i + 1), row)))
        .collect();
    refuse_mixtures(&all)?;
    let mut at: HashMap<Key, &(String, &Record)> = HashMap::new();
    for entry in &all {
        if let Some(first) = at.insert(key(entry.1), entry) {
            let case = in_words(&key(entry.1));
            return Err(MergeError::Doubled { case, first: first.0.clone(), second: entry.0.clone() });
        }
    }
    let (order, unordered) = match expected {
        Some(order) => {
            let known: BTreeSet<&Key> = order.iter().collect();
            if let Some((place, row)) = all.iter().find(|(_, row)| !known.contains(&key(row))) {
                return Err(MergeError::Stranger { at: place.clone(), case: in_words(&key(row)) });
            }
            (order, Vec::new())
        }
        None => cross_product(files),
    };
    let rows = order.iter().filter_map(|key| at.get(key).map(|(_, row)| (*row).clone())).collect();
    let missing = order.iter().filter(|key| !at.contains_key(*key)).map(in_words).collect();
    Ok(Merged { rows, missing, unordered })
}

fn refuse_mixtures(all: &[(String, &Record)]) -> Result<(), MergeError> {
    let Some((first, one)) = all.first() else { return Err(MergeError::NoRows) };
    let seed = |r: &Record| r.seed.wrapping_sub(u64::from(r.repetition)).to_string();
    let mixture = |first: &str, second: &str, what, a: String, b: String| {
        let (first, second) = (first.to_owned(), second.to_owned());
        Err(MergeError::Mixture { first, second, what, a, b })
    };
    let mut versions: BTreeMap<&str, (&str, &Record)> = BTreeMap::new();
    let mut meanings: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for (at, row) in all {
        // What a name stands for, whether a machine of the experiment's own or a file.
        for (what, said) in meant(row) {
            let name = said.split(" is ").next().unwrap_or_default();
            let (known_at, known) = *meanings.entry(name).or_insert((at, said));
            if known != said {
                return mixture(known_at, at, what, known.to_owned(), said.to_owned());
            }
        }
        if row.experiment != one.experiment {
            return mixture(first, at, "experiment", one.experiment.clone(), row.experiment.clone());
        }
        if seed(row) != seed(one) {
            return mixture(first, at, "first seed", seed(one), seed(row));
        }
        let (known_at, known) = *versions.entry(&row.algorithm).or_insert((at, row));
        let version = |r: &Record| format!("{} {}", r.plugin, r.plugin_version);
        if version(known) != version(row) {
            return mixture(known_at, at, "plugin", version(known), version(row));
        }
    }
    Ok(())
}

/// What a row's note says that names stand for.
fn meant(row: &Record) -> impl Iterator<Item = (&'static str, &str)> {
    let machine = row.machine.split(':').next().unwrap_or_default();
    row.note.split("; ").filter_map(move |said| {
        let is_machine = said.strip_prefix(machine).is_some_and(|rest| rest.starts_with(" is "));
        if said.contains(" is sha256:") { Some(("file", said)) } else { is_machine.then_some(("machine", said)) }
    })
}

/// Every combination of what the rows name, in the order of the experiment's lists, and which of these the files leave open: a file's rows are in that
/// order, though not all are in each file, unless their run was interrupted.
fn cross_product(files: &[(String, Vec<Record>)]) -> (Vec<Key>, Vec<&'static str>) {
    /// What a list holds, and where a row has it.
    type Level = (&'static str, fn(&Record) -> &str);
    let texts: [Level; 4] = [
        ("topologies", |r| &r.topology),
        ("algorithms", |r| &r.algorithm),
        ("workloads", |r| &r.workload),
        ("machines", |r| &r.machine),
    ];
    let mut lists: Vec<Vec<String>> = Vec::new();
    let mut unordered = Vec::new();
    for (level, (what, text)) in texts.iter().enumerate() {
        let mut runs: Vec<Vec<&str>> = Vec::new();
        for (_, rows) in files {
            // Within rows that agree in all that varies more slowly, values come in the list's order.
            for run in rows.chunk_by(|a, b| texts[..level].iter().all(|(_, outer)| outer(a) == outer(b))) {
                let mut values: Vec<&str> = run.iter().map(text).collect();
                values.dedup();
                runs.push(values);
            }
        }
        let (list, is_known) = common_order(&runs);
        lists.push(list);
        if !is_known {
            unordered.push(*what);
        }
    }
    let repetitions: BTreeSet<u32> = files.iter().flat_map(|(_, rows)| rows).map(|r| r.repetition).collect();
    let mut keys = Vec::new();
    for t in &lists[0] {
        for a in &lists[1] {
            for w in &lists[2] {
                for m in &lists[3] {
                    keys.extend(repetitions.iter().map(|r| (t.clone(), a.clone(), w.clone(), m.clone(), *r)));
                }
            }
        }
    }
    (keys, unordered)
}

/// The order of which all `runs` are parts, and whether there is just one such; otherwise it is one that takes what came first.
fn common_order(runs: &[Vec<&str>]) -> (Vec<String>, bool) {
    let mut values: Vec<&str> = Vec::new();
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        for (i, value) in run.iter().enumerate() {
            if !values.contains(value) {
                values.push(value);
            }
            if let Some(earlier) = i.checked_sub(1) {
                before.entry(value).or_default().insert(run[earlier]);
            }
        }
    }
    let mut order: Vec<&str> = Vec::new();
    let mut is_known = true;
    while order.len() < values.len() {
        let open = || values.iter().filter(|v| !order.contains(v));
        let is_free = |v: &&&str| before.get(**v).is_none_or(|earlier| earlier.iter().all(|e| order.contains(e)));
        let mut free = open().filter(is_free);
        // Runs that contradict each other leave none free.
        let Some(next) = free.next().or_else(|| open().next()) else { break };
        is_known &= is_free(&next) && free.next().is_none();
        order.push(next);
    }
    (order.into_iter().map(str::to_owned).collect(), is_known)
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

    #[test]
    fn shards_in_any_order_are_one_run_again() {
        for shards in [[&[0, 3, 4][..], &[1, 2, 5, 6, 7]], [&[1, 2, 5, 6, 7], &[0, 3, 4]]] {
            let merged = merge(&files(&shards), None).unwrap();
            assert_eq!((merged.rows, merged.missing), (whole(), vec![]));
        }
    }

    #[test]
    fn what_the_files_do_not_show_of_the_order_is_named() {
        let unordered = |shards: &[&[usize]]| {
            let merged = merge(&files(shards), None).unwrap();
            assert_eq!(merged.rows.len(), 8, "all rows are there in any case");
            merged.unordered
        };
        assert_eq!(unordered(&[&[0, 3, 4], &[1, 2, 5, 6, 7]]), [""; 0]);
        assert_eq!(unordered(&[&[4, 5, 6, 7], &[0, 1, 2, 3]]), ["topologies"], "no file has two");
        assert_eq!(unordered(&[&[4, 5], &[6, 7], &[0, 1], &[2, 3]]), ["topologies", "algorithms"]);
        // The file of an interrupted run has its rows as cases ended.
        assert_eq!(unordered(&[&[0, 2, 5, 7], &[3, 1, 4, 6]]), ["algorithms"]);
        assert_eq!(unordered(&[&[0, 4, 1, 5, 2, 6, 3, 7]]), ["topologies", "algorithms"]);
        // With the experiment nothing is open.
        let order: Vec<Key> = whole().iter().map(key).collect();
        assert_eq!(merge(&files(&[&[4, 5, 6, 7], &[0, 1, 2, 3]]), Some(order)).unwrap().rows, whole());
    }

    #[test]
    fn what_is_missing_is_named() {
        let merged = merge(&files(&[&[0, 1, 2], &[4, 5, 6, 7]]), None).unwrap();
        assert_eq!(merged.rows.len(), 7);
        assert_eq!(merged.missing, ["gen on torus:4x4, uniform:64, paragon, repetition 1"]);
        // Nothing names the ring: only the experiment knows of it.
        let order: Vec<Key> = whole().iter().map(key).collect();
        let shards = files(&[&[0, 1], &[2, 3]]);
        assert_eq!(merge(&shards, None).unwrap().missing.len(), 0);
        assert_eq!(merge(&shards, Some(order)).unwrap().missing.len(), 4);
    }

    #[test]
    fn what_is_doubled_mixed_or_strange_is_refused() {
        let said = |files: &[(String, Vec<Record>)], order| merge(files, order).unwrap_err().to_string();
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
        let mut mixed = files(&[&[0], &[1]]);
        mixed[1].1[0].plugin_version = "0.2.0".to_owned();
        assert!(said(&mixed, None).ends_with("their plugin is `classic 0.1.0` and `classic 0.2.0`"));
        let mut mixed = files(&[&[0], &[1]]);
        mixed[0].1[0].note = "in turns; m.csv is sha256:aa".to_owned();
        mixed[1].1[0].note = "m.csv is sha256:bb".to_owned();
        assert!(said(&mixed, None).ends_with("their file is `m.csv is sha256:aa` and `m.csv is sha256:bb`"));
        for (file, note) in [(0, "paragon is delta"), (1, "paragon is sp2")] {
            mixed[file].1[0].note = note.to_owned();
        }
        assert!(said(&mixed, None).ends_with("their machine is `paragon is delta` and `paragon is sp2`"));
        let mut mixed = files(&[&[0], &[1]]);
        mixed[1].1[0].seed = 7;
        assert!(said(&mixed, None).ends_with("their first seed is `42` and `6`"));
        assert_eq!(
            said(&files(&[&[0, 7]]), Some(vec![key(&whole()[0])])),
            "part-0.csv, row 2 is of none of the experiment's cases: gen on ring:5, uniform:64, paragon, repetition 1"
        );
        assert_eq!(said(&[], None), "no rows to join");
    }
}
