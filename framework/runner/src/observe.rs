//! Runs cases with an observer, which receives more of the schedule than the row contains. The
//! plugin and the observer run in a worker.

use crate::case::Case;
use crate::dispatch::Dispatcher;
use crate::worker::{Observation, ObserverKind, Workers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

pub use crate::dispatch::BatchEvent;

/// Runs cases that share a schedule in a worker, with an observer of this kind. The observer's
/// values arrive as [`BatchEvent::Observed`], before or after the [`BatchEvent::Finished`] of each
/// case. Returns when all cases have ended or `stop` is set, and then whether all values have
/// arrived. If not, a row may nevertheless be `ok`.
pub fn observe(
    cases: &[Case],
    workers: &Workers,
    observe: (&ObserverKind, Value),
    stop: &AtomicBool,
    report: &mut dyn FnMut(BatchEvent),
) -> bool {
    let mut dispatcher = Dispatcher {
        workers,
        cases,
        observation: Some(Observation {
            name: observe.0.name,
            max_value_bytes: observe.0.max_value_bytes,
            arguments: observe.1,
        }),
        stop,
        report,
        idle: Vec::new(),
        spare: None,
        is_complete: false,
        optima: BTreeMap::new(),
    };
    if let Err(failed) = dispatcher.run(0..cases.len(), None) {
        dispatcher.fail_start(failed);
    }
    dispatcher.is_complete
}
