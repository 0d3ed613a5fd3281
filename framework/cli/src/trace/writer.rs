//! The common interface of all trace formats.

use super::times::Timetable;
use swapmeet_core::simulation::listener::Listener;

/// Writes a schedule while it is made.
pub(super) trait Writer: Listener {
    /// Reports the end of the schedule. `times` are the requested times of a verified schedule, or
    /// the reason why there are none.
    fn ended(&mut self, is_verified: bool, times: Option<Result<Timetable, String>>);
}
