use super::{interrupts, no_worker_left, workers};
use crate::args::PluginArgs;
use crate::failure::Failure;
use std::sync::atomic::Ordering;
use swapmeet_results::Record;
use swapmeet_runner::batch::Batch;
use swapmeet_runner::case::Case;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::plan_group::{self, plan_groups};

/// Returns the rows in the order of the cases, or `None` after an interrupt.
pub(crate) fn collect(
    cases: &[Case],
    jobs: Option<u32>,
    plugins: &PluginArgs,
) -> Result<Option<Vec<Record>>, Failure> {
    if cases.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut rows = vec![None; cases.len()];
    let finished = for_each_row(cases, jobs, plugins, |case, row| rows[case] = Some(row))?;
    Ok(finished.then(|| rows.into_iter().flatten().collect()))
}

/// Calls `ended` with the index and the row of each case. Returns false after an interrupt.
pub(crate) fn for_each_row(
    cases: &[Case],
    jobs: Option<u32>,
    plugins: &PluginArgs,
    mut ended: impl FnMut(usize, Record),
) -> Result<bool, Failure> {
    let interrupted = interrupts();
    let workers = workers(jobs, None, plan_group::jobs(plan_groups(cases)).len(), plugins)?;
    let batch = Batch::start(cases, &workers).map_err(Failure::output)?;
    let mut rows = 0;
    while let Some(event) = batch.next_unless(&interrupted) {
        match event {
            Some(CaseEvent::Finished { case, record }) => {
                rows += 1;
                ended(case, *record);
            }
            Some(CaseEvent::NoWorker { reason }) => {
                return Err(no_worker_left(&reason, cases.len() - rows));
            }
            _ => {}
        }
    }
    Ok(!interrupted.load(Ordering::Relaxed))
}
