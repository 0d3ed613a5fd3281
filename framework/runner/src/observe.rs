//! Schedules in more detail than rows have: for who prints, draws or measures them. Plugins run in
//! workers for these, too.

use crate::case::Case;
use crate::dispatch::Dispatcher;
use crate::worker::Workers;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

pub use crate::dispatch::BatchEvent;

/// Runs cases that share a schedule in a worker, in which a observer of this name sees the schedule;
/// what it says comes as [`BatchEvent::Observed`], before [`BatchEvent::Finished`] comes for each case or after.
/// Comes back when all is done, or once `stop` is set.
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
