//! Schedules in more detail than rows have: for who prints, draws or measures them. Plugins run in
//! workers for these, too.

use crate::case::Case;
use crate::rows::Desk;
use crate::worker::Workers;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

pub use crate::rows::Event;

/// Runs cases that share a schedule in a worker, in which a watcher of this name sees the schedule;
/// what it says comes as [`Event::Seen`], before [`Event::Finished`] comes for each case or after.
/// Comes back when all is done, or once `stop` is set.
pub fn watch(
    cases: &[Case],
    workers: &Workers,
    watch: (&str, Value),
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Event),
) {
    let unit: Vec<usize> = (0..cases.len()).collect();
    Desk { workers, cases, watched: Some(watch), stop, tell, idle: Vec::new(), spare: None }
        .run(&unit, None);
}
