//! A case whose order of events hangs on rounding is chaotic: which of two messages is first moves
//! all that comes after. Pricing it once more, with events a little further or less far apart taken
//! as one, shows by how much.

use super::simulation::Simulation;
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator};
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};

/// The same ranks with two ideas of what happens at once; the first counts.
pub(super) struct SecondRun {
    pub first: Simulation,
    pub second: Simulation,
    /// How far apart events are one to the second.
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
        /// A smaller difference is none.
        const LEAST: f64 = 1e-3;
        let (cost, other) = (self.first.cost()?, self.second.cost()?);
        let [us, other_us] = [&cost, &other].map(|cost| cost.parts.total());
        let moved = other_us / us - 1.0;
        let note = (moved.abs() >= LEAST).then(|| {
            let percent = moved.abs() * 100.0;
            let more = if moved > 0.0 { "more" } else { "less" };
            format!(
                "with events within {} us as one {other_us:.6} us, {percent:.2} % {more}",
                self.eps_us
            )
        });
        Ok(Cost { note, ..cost })
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}
