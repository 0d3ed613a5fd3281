//! Runs cases with an observer, which receives more of the schedule than the row contains. The
//! plugin and the observer run in a worker.

use crate::case::Case;
use crate::dispatch::Dispatcher;
use crate::event::CaseEvent;
use crate::worker::{Observation, ObserverKind, Workers};
use serde_json::Value;
use std::sync::atomic::AtomicBool;

/// Runs cases that share a schedule in a worker, with an observer of this kind. The observer's
/// values arrive as [`CaseEvent::Observed`], before or after the [`CaseEvent::Finished`] of each
/// case. Returns when all cases have ended or `stop` is set, and then whether all values have
/// arrived. If not, a row may nevertheless be `ok`.
pub fn observe(
    cases: &[Case],
    workers: &Workers,
    observe: (&ObserverKind, Value),
    stop: &AtomicBool,
    report: &mut dyn FnMut(CaseEvent),
) -> bool {
    let observation = Observation {
        name: observe.0.name,
        max_value_bytes: observe.0.max_value_bytes,
        arguments: observe.1,
    };
    let mut dispatcher = Dispatcher::new(workers, cases, Some(observation), stop, report);
    if let Err(failed) = dispatcher.run(0..cases.len(), None) {
        dispatcher.fail_start(failed);
    }
    dispatcher.is_complete
}
