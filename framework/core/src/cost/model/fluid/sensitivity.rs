//! The parameter `second_eps_us`: a case is simulated twice, to find out whether its time depends
//! on rounding.
//!
//! If rounding changes the order of nearly simultaneous events, all later events can change, too.
//! The second simulation uses a different interval within which events count as simultaneous. A
//! note reports the difference between the two times.

use super::simulation::Simulation;
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator};
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use std::time::Instant;

/// Two simulations of the same case. The first one gives the result.
pub(super) struct SecondRun {
    pub first: Simulation,
    pub second: Simulation,
    /// In the second simulation, events whose times differ by no more than this, in µs, are
    /// simultaneous.
    pub eps_us: f64,
}

impl Listener for SecondRun {
    fn interests(&self) -> Interests {
        self.first.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.first.notify(event);
        self.second.notify(event);
    }
}

impl Evaluator for SecondRun {
    fn cost(&mut self) -> Result<Cost, String> {
        /// Smaller relative differences are not reported.
        const MIN_DIFFERENCE: f64 = 1e-3;
        let (cost, other) = (self.first.cost()?, self.second.cost()?);
        let [us, other_us] = [&cost, &other].map(|cost| cost.parts.total());
        let difference = other_us / us - 1.0;
        let note = (difference.abs() >= MIN_DIFFERENCE).then(|| {
            let percent = difference.abs() * 100.0;
            let more = if difference > 0.0 { "more" } else { "less" };
            format!(
                "with events within {} us as one {other_us:.6} us, {percent:.2} % {more}",
                self.eps_us
            )
        });
        Ok(Cost { note, ..cost })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        self.first.pause_at(deadline) && self.second.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.first.is_paused() || self.second.is_paused()
    }

    fn advance(&mut self) -> bool {
        self.first.advance() && self.second.advance()
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}
