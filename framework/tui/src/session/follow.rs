//! Result files that other runs still write, such as the shards of a sweep.

use super::Session;
use super::queue::PreparedRows;
use super::task::{Task, take_ended};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use swapmeet_results::{ReadError, Record, for_each_row, units};

const PAUSE: Duration = Duration::from_millis(500);

/// The rows that were read from a file. A file that then begins with other rows was replaced.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    rows: usize,
    /// A hash of the cases of these rows and of their outcomes.
    hash: u64,
}

#[derive(Debug, Default)]
pub(super) struct Follow {
    paths: Vec<PathBuf>,
    seen: Vec<Seen>,
    /// The size and the time of change of each file at the last look.
    versions: Vec<Option<(u64, Option<SystemTime>)>>,
    next: Option<Instant>,
    reading: Option<Task<Reading>>,
    errors: Vec<String>,
}

#[derive(Debug)]
struct Reading {
    prepared: PreparedRows,
    seen: Vec<Seen>,
    errors: Vec<String>,
    /// The file that was replaced, if one was. `prepared` then has the rows of all files instead of
    /// new ones.
    replaced: Option<String>,
}

impl Follow {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        Self { seen: vec![Seen::default(); paths.len()], paths, ..Self::default() }
    }

    pub(super) fn is_on(&self) -> bool {
        !self.paths.is_empty()
    }

    pub(super) fn names(&self) -> String {
        let names = self.paths.iter().map(|path| path.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}

impl Seen {
    /// Returns what was seen after these rows, and whether the file was replaced.
    fn after(self, rows: &[Record]) -> (Self, bool) {
        let mut hasher = DefaultHasher::new();
        let mut before = None;
        for (count, row) in rows.iter().enumerate() {
            if count == self.rows {
                before = Some(hasher.finish());
            }
            (row.case(), row.status.word(), row.time_us.map(f64::to_bits)).hash(&mut hasher);
        }
        let hash = hasher.finish();
        let is_same = before.unwrap_or(hash) == self.hash && rows.len() >= self.rows;
        (Self { rows: rows.len(), hash }, self.rows > 0 && !is_same)
    }
}

/// Reads all rows of the files. A file that cannot be read keeps what was seen.
fn read(paths: &[PathBuf], seen: &mut [Seen]) -> (Vec<Record>, Vec<String>, Option<String>) {
    let (mut all, mut errors, mut replaced) = (Vec::new(), Vec::new(), None);
    for (path, seen) in paths.iter().zip(seen).filter(|(path, _)| path.exists()) {
        let mut rows = Vec::new();
        // The last row may be incomplete, and is then read later.
        match for_each_row(std::slice::from_ref(path), |_, row| rows.push(row)) {
            Ok(_) | Err(ReadError::Empty { .. }) => {
                let (now, is_replaced) = seen.after(&rows);
                *seen = now;
                if is_replaced {
                    replaced = Some(path.display().to_string());
                }
            }
            Err(error) => errors.push(error.to_string()),
        }
        all.append(&mut rows);
    }
    (all, errors, replaced)
}

impl Session {
    /// Adds new rows of the files. If a file was replaced, its rows replace those on the screen.
    pub(super) fn poll_follow(&mut self) -> bool {
        if let Some(result) = take_ended(&mut self.follow.reading) {
            return result.is_some_and(|reading| self.add_reading(reading));
        }
        let follow = &mut self.follow;
        let is_due = follow.next.is_none_or(|next| Instant::now() >= next);
        if follow.paths.is_empty() || follow.reading.is_some() || !is_due || self.queue.is_busy() {
            return false;
        }
        follow.next = Some(Instant::now() + PAUSE);
        let version = |path: &PathBuf| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.len(), file.modified().ok()))
        };
        let versions: Vec<_> = follow.paths.iter().map(version).collect();
        if versions == follow.versions {
            return false;
        }
        follow.versions = versions;
        let (paths, mut seen) = (follow.paths.clone(), follow.seen.clone());
        let [all, own] = [true, false].map(|followed| self.queue.known(followed));
        let registry = Arc::clone(&self.registry);
        let work = move || {
            let (rows, errors, replaced) = read(&paths, &mut seen);
            let known = if replaced.is_some() { own } else { all };
            let prepared = PreparedRows::opened(rows, known, &registry).followed();
            Reading { prepared, seen, errors, replaced }
        };
        self.follow.reading = self.start("following", work);
        false
    }

    fn add_reading(&mut self, reading: Reading) -> bool {
        let Reading { prepared, seen, errors, replaced } = reading;
        self.follow.seen = seen;
        let known = &self.follow.errors;
        let errors: Vec<String> = errors.into_iter().filter(|e| !known.contains(e)).collect();
        self.follow.errors.extend(errors.iter().cloned());
        errors.iter().for_each(|error| self.report(error, true));
        let count = prepared.len();
        let is_news = count > 0 || replaced.is_some();
        if is_news {
            let text = match replaced {
                Some(file) => {
                    self.queue.remove_followed();
                    format!("{file} was replaced: {} read", units::count(count, "row"))
                }
                None => format!("{} read", units::count(count, "new row")),
            };
            self.add_prepared(prepared);
            self.show_message(&text, false);
        }
        is_news || !errors.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::comparison::tests::row;

    #[test]
    fn a_file_that_begins_with_other_rows_was_replaced() {
        let rows: Vec<Record> = (0..4).map(|r| row("a", "ring:4", r, 1.0)).collect();
        let (first, is_replaced) = Seen::default().after(&rows[..2]);
        assert!(!is_replaced);
        let replaced = |rows: &[Record]| first.after(rows).1;
        assert!(!replaced(&rows) && !replaced(&rows[..2]));
        assert!(replaced(&rows[..1]) && replaced(&[]) && replaced(&rows[1..]));
        let later = Record { time_us: Some(2.0), ..rows[1].clone() };
        assert!(replaced(&[rows[0].clone(), later]));
    }
}
