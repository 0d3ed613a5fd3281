//! Rows with only those columns that a comparison needs, so that millions of rows fit into memory.

use super::{RowLocation, RunTime};
use crate::bandwidth::Bandwidths;
use crate::case_id::{CaseId, CaseKey, CaseTable, Implementation, Setting, index};
use crate::parameter::Parameters;
use crate::record::{Record, Status, Verified, verification};
use indexmap::IndexSet;
use std::borrow::Cow;
use std::hash::RandomState;

/// Rows whose texts are stored only once.
#[derive(Debug, Default)]
pub struct ComparedRows {
    files: Vec<(String, u32)>,
    pub(super) cases: CaseTable,
    reasons: IndexSet<String>,
    pub(crate) rows: Vec<ComparedRow>,
    hasher: RandomState,
}

#[derive(Debug)]
pub(crate) struct ComparedRow {
    pub(crate) case: CaseKey,
    pub(crate) location: RowLocation,
    pub(crate) nodes: u64,
    pub(crate) compared_on: Option<u64>,
    block_bytes: Option<u64>,
    pub(crate) time_us: Option<f64>,
    pub(crate) alone_us: Option<f64>,
    pub(crate) optimum_us: Option<f64>,
    pub(crate) optimum_gap: Option<f64>,
    /// A hash of the values that all rows of a case share ([`Record::hash_comparable`]). It has a
    /// random key, so that nobody can construct different rows with equal hashes.
    content: u64,
    reason: u32,
    pub(crate) status: Status,
    pub(crate) verified: Verified,
    /// Whether the note states that the algorithm needs rearrangement but declares none.
    pub(crate) declares_none: bool,
}

impl ComparedRows {
    /// Collects the rows of `files`, each of which is a file name with its rows.
    pub fn of(files: &[(String, Vec<Record>)]) -> Self {
        let mut all = Self::of_files(files.iter().map(|(name, _)| name.clone()));
        for (file, (_, records)) in files.iter().enumerate() {
            records.iter().for_each(|record| all.add(file, record));
        }
        all
    }

    pub fn parameters(&self) -> Parameters {
        let settings = self.settings().flat_map(|setting| {
            let Setting { topology, workload, .. } = setting;
            [topology, workload, setting.machine_spec()]
        });
        Parameters::of(settings, self.implementations().map(|own| own.algorithm))
    }

    pub fn of_files(names: impl Iterator<Item = String>) -> Self {
        Self { files: names.map(|name| (name, 0)).collect(), ..Self::default() }
    }

    pub fn add(&mut self, file: usize, record: &Record) {
        let row = self.files[file].1;
        self.files[file].1 += 1;
        let known = self.reasons.get_index_of(&record.reason);
        let reason = known.unwrap_or_else(|| self.reasons.insert_full(record.reason.clone()).0);
        self.rows.push(ComparedRow {
            case: self.cases.insert(&record.case()),
            location: RowLocation { file: index(file), row },
            nodes: record.nodes,
            compared_on: record.compared_on,
            block_bytes: record.block_bytes,
            time_us: record.time_us,
            alone_us: record.alone_us,
            optimum_us: record.optimum_us,
            optimum_gap: record.optimum_gap,
            content: record.hash_comparable(&self.hasher),
            reason: index(reason),
            status: record.status,
            verified: record.verified,
            declares_none: record.is_uncharged(),
        });
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, usize)> {
        self.files.iter().map(|(name, rows)| (name.as_str(), *rows as usize))
    }

    pub fn settings(&self) -> impl Iterator<Item = Setting<&str>> {
        self.cases.settings.iter().map(Setting::borrowed)
    }

    pub fn implementations(&self) -> impl Iterator<Item = Implementation<&str>> {
        self.cases.implementations.iter().map(Implementation::borrowed)
    }

    pub fn cases(&self) -> impl Iterator<Item = CaseId<&str>> {
        self.rows.iter().map(|row| self.case(row))
    }

    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = (Status, Verified)> {
        self.rows.iter().map(|row| (row.status, row.verified))
    }

    pub(crate) fn case(&self, row: &ComparedRow) -> CaseId<&str> {
        self.cases.case(row.case)
    }

    pub(super) fn reason(&self, row: &ComparedRow) -> &str {
        &self.reasons[row.reason as usize]
    }

    pub(super) fn place(&self, row: &ComparedRow) -> String {
        let RowLocation { file, row } = row.location;
        format!("{} (row {})", self.files[file as usize].0, row + 1)
    }

    pub(super) fn bandwidths(&self, row: &ComparedRow, time_us: f64) -> Option<Bandwidths> {
        let collective = self.case(row).setting.collective;
        Bandwidths::of_case(collective, row.nodes, row.block_bytes, time_us)
    }
}

impl ComparedRow {
    pub(super) fn run(&self) -> Option<RunTime> {
        let CaseKey { repetition, seed, .. } = self.case;
        let time_us = self.time_us.filter(|_| self.status == Status::Ok)?;
        Some(RunTime { repetition, seed, time_us })
    }

    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        self.content == other.content
    }

    pub(super) fn verification(&self) -> Cow<'static, str> {
        verification(self.verified, self.compared_on, self.nodes)
    }
}
