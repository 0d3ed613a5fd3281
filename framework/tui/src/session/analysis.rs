//! The analysis of the rows, which is repeated when new rows arrive.

use super::Session;
use super::comparison::Compared;
use super::packed::PackedRow;
use super::task::{Task, take_ended};
use crate::memo::Memo;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_runner::system::return_freed_memory;

/// The analysis runs in a separate thread, at most a fifth of the time.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    /// Whether the rows or the baseline have changed since it was started.
    pub(super) is_stale: bool,
    /// The analysis in progress, and its duration.
    under_way: Option<Task<(Compared, Duration)>>,
    /// The rows that are analysed, for the number of changes of the queue.
    records: Memo<u64, Arc<Vec<Arc<PackedRow>>>>,
    next: Option<Instant>,
}

impl Analysis {
    pub(super) fn is_due(&self) -> bool {
        self.is_stale || self.under_way.is_some()
    }
}

impl Session {
    /// Returns the text of a panel without results: whether rows are compared or expected, or else
    /// `otherwise`.
    pub(crate) fn text_without_results(&self, otherwise: &str) -> String {
        let tally = self.queue.tally();
        if self.compared.lines.is_empty() && self.analysis.is_due() && tally.ok > 0 {
            return format!("Comparing {} rows ...", tally.ok);
        }
        match self.follow.is_on() && tally.cases == 0 {
            true => format!("Waiting for rows in {} ...", self.follow.names()),
            false => otherwise.to_owned(),
        }
    }

    pub(crate) fn is_comparing(&self) -> bool {
        self.analysis.is_due()
    }

    /// Starts the analysis if it is due. Returns whether a result has arrived.
    pub(super) fn poll_analysis(&mut self) -> bool {
        // Pauses limit the load while rows arrive. Other changes are analysed at once.
        let waits = self.queue.is_busy() || self.follow.is_on();
        let analysis = &mut self.analysis;
        if analysis.is_stale
            && analysis.under_way.is_none()
            && analysis.next.is_none_or(|next| !waits || Instant::now() >= next)
        {
            analysis.is_stale = false;
            let queue = &self.queue;
            let records = analysis.records.get(queue.changes(), || Arc::new(queue.records()));
            let (records, baseline) = (Arc::clone(&records), self.baseline.clone());
            let number = self.compared.number + 1;
            self.queue.analysed_in(number);
            let work = move || {
                let began = Instant::now();
                let mut compared = Compared::new(records, baseline.as_deref());
                compared.number = number;
                (compared, began.elapsed())
            };
            self.analysis.under_way = self.start("comparison", work);
        }
        let Some(result) = take_ended(&mut self.analysis.under_way) else { return false };
        if let Some((compared, took)) = result {
            self.analysis.next = Some(Instant::now() + took * 4);
            self.styles.add(compared.algorithms.iter().map(String::as_str));
            let old = std::mem::replace(&mut self.compared, compared);
            self.select_winner();
            // Freeing many lines takes long.
            drop(std::thread::Builder::new().spawn(move || {
                drop(old);
                return_freed_memory();
            }));
        }
        true
    }
}
