//! Cases without a row.

use super::fingerprint::{Fingerprint, Fingerprints};
use crate::case_id::{CaseId, Implementation, Setting};
use crate::record::Record;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;

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

/// All values that occur in the rows. Without an experiment file, every combination of these values
/// is an expected case.
#[derive(Default)]
pub(super) struct NamedValues {
    /// Topologies, algorithms, workloads and machines.
    texts: [DistinctValues<String>; 4],
    repetitions: DistinctValues<u32>,
    combinations: HashSet<Fingerprint>,
}

impl NamedValues {
    pub(super) fn add(&mut self, row: &Record, fingerprints: &Fingerprints) {
        let texts =
            [&row.topology, &row.algorithm, &row.workload, &row.machine].map(String::as_str);
        for (once, text) in self.texts.iter_mut().zip(texts) {
            once.add(text);
        }
        self.repetitions.add(&row.repetition);
        self.combinations.insert(fingerprints.of(&(texts, row.repetition)));
    }

    /// Returns the combinations without a row.
    pub(super) fn missing(&self, fingerprints: &Fingerprints) -> MissingCases {
        let mut missing = MissingCases::default();
        let [topologies, algorithms, workloads, machines] = &self.texts;
        for topology in &topologies.order {
            for algorithm in &algorithms.order {
                for workload in &workloads.order {
                    for machine in &machines.order {
                        for repetition in &self.repetitions.order {
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
        missing
    }
}

/// Returns the case of a combination. All columns that are not part of the combination have default
/// values.
fn case([topology, algorithm, workload, machine]: [&str; 4], repetition: u32) -> CaseId<&str> {
    let setting = Setting { topology, workload, machine, ..Setting::default() };
    let implementation = Implementation { algorithm, ..Implementation::default() };
    CaseId { setting, implementation, repetition, seed: 0 }
}

/// Distinct values in the order of their first occurrence.
#[derive(Default)]
struct DistinctValues<T> {
    order: Vec<T>,
    known: HashSet<T>,
}

impl<T: Clone + Eq + Hash> DistinctValues<T> {
    fn add<Q: Eq + Hash + ToOwned<Owned = T> + ?Sized>(&mut self, value: &Q)
    where
        T: Borrow<Q>,
    {
        if !self.known.contains(value) {
            self.known.insert(value.to_owned());
            self.order.push(value.to_owned());
        }
    }
}
