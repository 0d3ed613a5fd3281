//! What every form of a trace has in common.

use super::times::Timetable;
use swapmeet_core::simulation::listener::Listener;

/// Writes a schedule down as it goes by.
pub(super) trait Writer: Listener {
    /// The schedule has ended; if it is verified and times were asked for, these are they, or why
    /// there are none.
    fn ended(&mut self, is_verified: bool, times: Option<Result<Timetable, String>>);
}
