//! Runs cases with an observer that receives more of the schedule than the row contains. Plugins
//! run in workers here, too.

use crate::case::Case;
use crate::dispatch::Dispatcher;
use crate::worker::Workers;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

pub use crate::dispatch::BatchEvent;

/// Runs cases that share a schedule in a worker, with the named observer. Its values arrive as
/// [`BatchEvent::Observed`], before or after the [`BatchEvent::Finished`] of each case. Returns
/// when all is done or `stop` is set.
pub fn observe(
    cases: &[Case],
    workers: &Workers,
    observe: (&str, Value),
    stop: &AtomicBool,
    report: &mut dyn FnMut(BatchEvent),
) {
    let unit: Vec<usize> = (0..cases.len()).collect();
    Dispatcher {
        workers,
        cases,
        observation: Some(observe),
        stop,
        report,
        idle: Vec::new(),
        spare: None,
    }
    .run(&unit, None);
}
