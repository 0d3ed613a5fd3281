//! Runs cases and collects their rows.

use super::{interrupts, workers};
use crate::args::PluginArgs;
use crate::failure::Failure;
use std::sync::atomic::Ordering;
use std::time::Duration;
use swapmeet_results::Record;
use swapmeet_runner::batch::{Batch, BatchEvent};
use swapmeet_runner::case::Case;
use swapmeet_runner::unit::{self, units};

/// Runs the cases and returns their rows, in the order of the cases; `None` after an interrupt.
pub(crate) fn collect(
    cases: &[Case],
    jobs: Option<u32>,
    plugins: &PluginArgs,
) -> Result<Option<Vec<Record>>, Failure> {
    /// The maximum time until the program notices an interrupt.
    const SLICE: Duration = Duration::from_millis(100);
    if cases.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let workers = workers(jobs, None, unit::jobs(units(cases)).len(), plugins)?;
    let batch = Batch::start(cases, &workers).map_err(Failure::output)?;
    let (interrupted, mut rows) = (interrupts(), vec![None; cases.len()]);
    while let Some(event) = batch.next_within(SLICE) {
        if interrupted.load(Ordering::Relaxed) {
            batch.cancel();
            return Ok(None);
        }
        if let Some(BatchEvent::Finished { case, record }) = event {
            rows[case] = Some(*record);
        }
    }
    Ok(Some(rows.into_iter().flatten().collect()))
}
