//! Identities and rows of cases in few bytes, because a session may have a hundred thousand rows.

use std::collections::HashSet;
use std::sync::Arc;
use swapmeet_results::{CaseId, Implementation, Record, Setting, Status};

/// The identity of a case. Cases share its texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct CaseKey {
    pub(crate) setting: Arc<Setting>,
    pub(crate) implementation: Arc<Implementation>,
    pub(crate) repetition: u32,
    pub(crate) seed: u64,
}

impl CaseKey {
    pub(crate) fn new(id: CaseId) -> Self {
        let (setting, implementation) = (Arc::new(id.setting), Arc::new(id.implementation));
        Self { setting, implementation, repetition: id.repetition, seed: id.seed }
    }

    pub(crate) fn id(&self) -> CaseId {
        CaseId {
            setting: (*self.setting).clone(),
            implementation: (*self.implementation).clone(),
            repetition: self.repetition,
            seed: self.seed,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct SharedTexts {
    settings: HashSet<Arc<Setting>>,
    implementations: HashSet<Arc<Implementation>>,
    experiments: HashSet<Arc<str>>,
}

impl SharedTexts {
    pub(super) fn key(&mut self, id: CaseId) -> CaseKey {
        let mut key = CaseKey::new(id);
        key.setting = shared(&mut self.settings, key.setting);
        key.implementation = shared(&mut self.implementations, key.implementation);
        key
    }

    pub(super) fn experiment(&mut self, name: &str) -> Arc<str> {
        shared(&mut self.experiments, Arc::from(name))
    }
}

/// Returns the equal element of the set, to which a new one is added.
fn shared<T: std::hash::Hash + Eq + ?Sized>(all: &mut HashSet<Arc<T>>, new: Arc<T>) -> Arc<T> {
    match all.get(&new) {
        Some(known) => Arc::clone(known),
        None => {
            all.insert(Arc::clone(&new));
            new
        }
    }
}

#[derive(Debug)]
pub(crate) struct PackedRow {
    pub(crate) key: CaseKey,
    pub(crate) status: Status,
    pub(crate) time_us: Option<f64>,
    experiment: Arc<str>,
    nodes: u64,
    block_bytes: Option<u64>,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    /// The texts of the columns, which take a fifth of the memory of a [`Record`].
    Texts(Box<str>),
    /// A row that could not be read back from its texts, such as one with an infinite time.
    Whole(Box<Record>),
}

/// The character between the texts of two columns. Written texts have no control characters.
const SEPARATOR: char = '\u{1f}';

impl PackedRow {
    pub(super) fn new(key: CaseKey, experiment: Arc<str>, record: &Record) -> Self {
        let record = record.as_written();
        let texts: Vec<String> = record.outcome().collect();
        let mut row = Self {
            key,
            status: record.status,
            time_us: record.time_us,
            experiment,
            nodes: record.nodes,
            block_bytes: record.block_bytes,
            outcome: Outcome::Texts(texts.join(&SEPARATOR.to_string()).into_boxed_str()),
        };
        if row.read().as_ref() != Some(&record) {
            row.outcome = Outcome::Whole(Box::new(record));
        }
        row
    }

    /// Returns the row as a reader of its file gets it.
    pub(crate) fn record(&self) -> Record {
        match (&self.outcome, self.read()) {
            (Outcome::Whole(record), _) => (**record).clone(),
            (Outcome::Texts(_), Some(record)) => record,
            (Outcome::Texts(_), None) => unreachable!("the texts were read when they were packed"),
        }
    }

    fn read(&self) -> Option<Record> {
        let Outcome::Texts(texts) = &self.outcome else { return None };
        let mut record = Record {
            experiment: self.experiment.to_string(),
            nodes: self.nodes,
            block_bytes: self.block_bytes,
            ..self.key.id().row_without_outcome()
        };
        record.set_outcome(texts.split(SEPARATOR)).ok()?;
        Some(record)
    }

    pub(crate) fn is_failure(&self) -> bool {
        !matches!(self.status, Status::Ok | Status::Unsupported)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn packed(record: &Record) -> PackedRow {
        let key = CaseKey::new(record.case().owned());
        PackedRow::new(key, Arc::from(record.experiment.as_str()), record)
    }

    #[test]
    fn rows_are_unpacked_as_they_would_be_written() {
        let row = Record {
            experiment: "e".to_owned(),
            algorithm: "pex".to_owned(),
            topology: "ring:4".to_owned(),
            nodes: 4,
            block_bytes: Some(64),
            status: Status::Ok,
            time_us: Some(1.25),
            startup_us: Some(1.0),
            total_bytes: Some(1 << 100),
            note: "=a, \"b\"\u{1f}\nc".to_owned(),
            ..Record::default()
        };
        let kept = packed(&row);
        assert!(matches!(kept.outcome, Outcome::Texts(_)));
        assert_eq!(kept.record(), row.as_written());
        let infinite = Record { time_us: Some(f64::INFINITY), ..row };
        let kept = packed(&infinite);
        assert!(matches!(kept.outcome, Outcome::Whole(_)));
        assert_eq!(kept.record(), infinite.as_written());
    }

    #[test]
    fn keys_share_their_texts() {
        let mut texts = SharedTexts::default();
        let id = |seed| CaseId { seed, ..CaseId::<String>::default() };
        let (one, other) = (texts.key(id(1)), texts.key(id(2)));
        assert!(Arc::ptr_eq(&one.setting, &other.setting) && one != other);
        assert_eq!(one, CaseKey::new(id(1)));
        assert_eq!(one.id(), id(1));
    }
}
