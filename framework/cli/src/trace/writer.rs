//! The common interface of all trace formats.

use super::times::Timetable;
use swapmeet_core::simulation::listener::Listener;

/// Writes a schedule while it is made.
pub(super) trait Writer: Listener {
    /// Writes the end of the schedule. `times` is `None` if the user has not requested times. If it
    /// is an error, the error is the reason why there are no times.
    fn ended(&mut self, is_verified: bool, times: Option<Result<Timetable, String>>);
}
