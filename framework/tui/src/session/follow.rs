//! Result files that other runs still write, such as the shards of a sweep.

use super::Session;
use super::queue::PreparedRows;
use super::task::{Task, take_ended};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_results::{ReadError, Record, for_each_row, units};

/// The time between two looks at the files.
const PAUSE: Duration = Duration::from_millis(500);

/// The files, and how much of them has been read.
#[derive(Debug, Default)]
pub(super) struct Follow {
    paths: Vec<PathBuf>,
    /// The size of each file when it was last read.
    sizes: Vec<u64>,
    next: Option<Instant>,
    reading: Option<Task<(PreparedRows, Vec<String>)>>,
    /// The errors that have been reported.
    errors: Vec<String>,
}

impl Follow {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        Self { sizes: vec![0; paths.len()], paths, ..Self::default() }
    }

    pub(super) fn is_on(&self) -> bool {
        !self.paths.is_empty()
    }
}

/// Reads all rows of the files. A file that does not exist yet, or is empty, has no rows. Returns the
/// rows and the errors.
fn read(paths: &[PathBuf]) -> (Vec<Record>, Vec<String>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for path in paths.iter().filter(|path| path.exists()) {
        // The last row of a file that is being written may be incomplete, so it is read later.
        match for_each_row(std::slice::from_ref(path), |_, row| rows.push(row)) {
            Ok(_) | Err(ReadError::Empty { .. }) => {}
            Err(error) => errors.push(error.to_string()),
        }
    }
    (rows, errors)
}

impl Session {
    /// Adds the rows that have been written to the files since the last look. Returns whether there
    /// are new rows or errors.
    pub(super) fn poll_follow(&mut self) -> bool {
        let follow = &mut self.follow;
        if let Some(result) = take_ended(&mut follow.reading) {
            let Some((prepared, errors)) = result else { return false };
            let is_new = |error: &String| !follow.errors.contains(error);
            let errors: Vec<String> = errors.into_iter().filter(is_new).collect();
            follow.errors.extend(errors.iter().cloned());
            let is_news = prepared.len() > 0 || !errors.is_empty();
            for error in errors {
                self.add_log(&error, true);
                self.show_message(&error, true);
            }
            if prepared.len() > 0 {
                let text = format!("{} read", units::count(prepared.len(), "new row"));
                self.add_prepared(prepared);
                self.show_message(&text, false);
            }
            return is_news;
        }
        let is_due = follow.next.is_none_or(|next| Instant::now() >= next);
        if follow.paths.is_empty() || follow.reading.is_some() || !is_due || self.queue.is_busy() {
            return false;
        }
        follow.next = Some(Instant::now() + PAUSE);
        let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
        let sizes: Vec<u64> = follow.paths.iter().map(size).collect();
        if sizes == follow.sizes {
            return false;
        }
        follow.sizes = sizes;
        let (paths, known) = (follow.paths.clone(), self.queue.known());
        let registry = Arc::clone(&self.registry);
        let work = move || {
            let (rows, errors) = read(&paths);
            (PreparedRows::opened(rows, known, &registry), errors)
        };
        self.follow.reading = self.start("following", work);
        false
    }
}
