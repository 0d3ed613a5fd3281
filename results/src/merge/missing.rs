//! Cases without a row.

use super::fingerprint::{Fingerprint, Fingerprints};
use crate::case_id::{CaseId, Implementation, Setting};
use crate::record::Record;
use indexmap::IndexSet;
use std::collections::HashSet;

/// The cases without a row. There may be millions of them, so only the first of them are listed by
/// name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MissingCases {
    pub named: Vec<String>,
    /// The number of all missing cases, including the listed ones.
    pub count: usize,
}

impl MissingCases {
    pub(super) fn add(&mut self, case: &CaseId<&str>) {
        const NAMED: usize = 10;
        if self.named.len() < NAMED {
            self.named.push(case.in_words());
        }
        self.count += 1;
    }
}

/// All values that occur in the rows of a file or of a sweep. Without an experiment file, every
/// combination of the values of a sweep is an expected case.
#[derive(Clone, Default)]
pub(super) struct NamedValues {
    /// The topologies, algorithms, workloads and machines, in this order.
    texts: [IndexSet<String>; 4],
    repetitions: IndexSet<u32>,
    combinations: HashSet<Fingerprint>,
}

impl NamedValues {
    pub(super) fn add(&mut self, row: &Record, fingerprints: &Fingerprints) {
        let texts =
            [&row.topology, &row.algorithm, &row.workload, &row.machine].map(String::as_str);
        for (once, text) in self.texts.iter_mut().zip(texts) {
            // Most texts have occurred before, so they need no copy.
            if !once.contains(text) {
                once.insert(text.to_owned());
            }
        }
        self.repetitions.insert(row.repetition);
        self.combinations.insert(fingerprints.of(&(texts, row.repetition)));
    }

    /// Adds the values of another file of the same sweep.
    fn join(&mut self, other: Self) {
        for (own, other) in self.texts.iter_mut().zip(other.texts) {
            own.extend(other);
        }
        self.repetitions.extend(other.repetitions);
        self.combinations.extend(other.combinations);
    }

    /// Returns whether two files belong to the same sweep: they have a value in common in at least
    /// three of the four lists. Every shard has this in common with at least one other shard of its
    /// sweep, unless many shards are missing.
    fn is_of_same_sweep(&self, other: &Self) -> bool {
        let lists = self.texts.iter().zip(&other.texts);
        lists.filter(|(own, other)| own.is_disjoint(other)).count() <= 1
    }

    /// Returns the values of each sweep. Files belong to the same sweep if a chain of similar files
    /// connects them.
    pub(super) fn sweeps(files: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut sweeps: Vec<Vec<Self>> = Vec::new();
        // A shard without cases has no values.
        for file in files.into_iter().filter(|file| !file.combinations.is_empty()) {
            let is_similar =
                |sweep: &mut Vec<Self>| sweep.iter().any(|other| other.is_of_same_sweep(&file));
            let similar: Vec<Vec<Self>> = sweeps.extract_if(.., is_similar).collect();
            sweeps.push(similar.into_iter().flatten().chain([file]).collect());
        }
        let joined = |files: Vec<Self>| {
            files.into_iter().reduce(|mut all, file| {
                all.join(file);
                all
            })
        };
        sweeps.into_iter().filter_map(joined).collect()
    }

    /// Adds the combinations without a row to `missing`.
    pub(super) fn add_missing(&self, fingerprints: &Fingerprints, missing: &mut MissingCases) {
        let [topologies, algorithms, workloads, machines] = &self.texts;
        for topology in topologies {
            for algorithm in algorithms {
                for workload in workloads {
                    for machine in machines {
                        for repetition in &self.repetitions {
                            let texts =
                                [topology, algorithm, workload, machine].map(String::as_str);
                            if !self.combinations.contains(&fingerprints.of(&(texts, *repetition)))
                            {
                                missing.add(&case(texts, *repetition));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the case of a combination. All columns that are not part of the combination have default
/// values.
fn case([topology, algorithm, workload, machine]: [&str; 4], repetition: u32) -> CaseId<&str> {
    let setting = Setting { topology, workload, machine, ..Setting::default() };
    let implementation = Implementation { algorithm, ..Implementation::default() };
    CaseId { setting, implementation, repetition, seed: 0 }
}
