use crate::case_id::{CaseId, Implementation, Setting, index};
use crate::record::Record;
use indexmap::IndexSet;
use std::collections::HashSet;

/// Cases without a row. There may be millions of them, so only the first ones are named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MissingCases {
    pub named: Vec<String>,
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

/// The values in the rows of a sweep. Without an experiment file, each combination of these values
/// is expected to be a case. A text is stored as its index in a list that all files share.
#[derive(Clone, Default)]
pub(super) struct NamedValues {
    texts: [IndexSet<u32>; 4],
    repetitions: IndexSet<u32>,
    combinations: HashSet<([u32; 4], u32)>,
}

impl NamedValues {
    pub(super) fn add(&mut self, row: &Record, all: &mut IndexSet<String>) {
        // If jobs ran at the same time, not all combinations of their values are cases.
        if !row.together.is_empty() {
            return;
        }
        let texts = [&row.topology, &row.algorithm, &row.workload, &row.machine];
        let texts = texts.map(|text| {
            let known = all.get_index_of(text);
            index(known.unwrap_or_else(|| all.insert_full(text.clone()).0))
        });
        for (once, text) in self.texts.iter_mut().zip(texts) {
            once.insert(text);
        }
        self.repetitions.insert(row.repetition);
        self.combinations.insert((texts, row.repetition));
    }

    fn join(&mut self, other: Self) {
        for (own, other) in self.texts.iter_mut().zip(other.texts) {
            own.extend(other);
        }
        self.repetitions.extend(other.repetitions);
        self.combinations.extend(other.combinations);
    }

    /// Whether two files share a value in at least three lists, as shards of a sweep usually do.
    fn is_of_same_sweep(&self, other: &Self) -> bool {
        let lists = self.texts.iter().zip(&other.texts);
        lists.filter(|(own, other)| own.is_disjoint(other)).count() <= 1
    }

    /// Joins files of the same sweep, which a chain of similar files connects.
    pub(super) fn sweeps(files: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut sweeps: Vec<Vec<Self>> = Vec::new();
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

    pub(super) fn add_missing(&self, all: &IndexSet<String>, missing: &mut MissingCases) {
        let [topologies, algorithms, workloads, machines] = &self.texts;
        for topology in topologies {
            for algorithm in algorithms {
                for workload in workloads {
                    for machine in machines {
                        for repetition in &self.repetitions {
                            let texts = [topology, algorithm, workload, machine].map(|text| *text);
                            if !self.combinations.contains(&(texts, *repetition)) {
                                let texts = texts.map(|text| all[text as usize].as_str());
                                missing.add(&case(texts, *repetition));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a case whose other columns have default values.
fn case([topology, algorithm, workload, machine]: [&str; 4], repetition: u32) -> CaseId<&str> {
    let setting = Setting { topology, workload, machine, ..Setting::default() };
    let implementation = Implementation { algorithm, ..Implementation::default() };
    CaseId { setting, implementation, repetition, seed: 0 }
}
