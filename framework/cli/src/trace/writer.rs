//! The common interface of all trace formats.

use super::times::Timetable;
use swapmeet_core::simulation::listener::Listener;

/// Writes a schedule while it is made.
pub(super) trait Writer: Listener {
    /// Reports the end of the schedule. `times` is `None` unless times were requested. An error is
    /// the reason why there are none.
    fn ended(&mut self, is_verified: bool, times: Option<Result<Timetable, String>>);
}
