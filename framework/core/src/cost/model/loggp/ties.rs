//! The effect of the order of simultaneous events on the time of a case.
//!
//! Simultaneous events are processed in the order in which they became known. Two simultaneous
//! events *compete* if they are of the same rank, so that one of them has to wait until the rank's
//! processor or interface is free. If events compete, the case is simulated a second time, with
//! the simultaneous events of each rank in the reverse order. If the two times differ, a note in
//! the result gives the second time.
//!
//! The second simulation begins when events compete for the first time. It continues a copy of the
//! state before these events. A copy is therefore made before the events of each step are processed,
//! which takes less time than processing them.

use super::simulation::Simulation;
use crate::cost::model::asynchronous::engine::RankModel;
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator};
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use std::time::Instant;

/// The simulation of a case, and its repetition in the reverse order.
pub(super) struct Simulations {
    first: Simulation,
    /// The state of `first` before the events of a step were processed, while no events have
    /// competed.
    before: Option<Box<Simulation>>,
    /// The simulation in the reverse order, after events have competed.
    reversed: Option<Box<Simulation>>,
    /// Whether the schedule has ended, so that all remaining events are processed.
    is_draining: bool,
}

impl Simulations {
    pub(super) fn new(first: Simulation) -> Self {
        Self { first, before: None, reversed: None, is_draining: false }
    }

    /// Copies the state of the simulation, unless events have competed already.
    fn copy_state(&mut self) {
        /// The largest number of stored steps for which a copy is made. If ranks are many steps
        /// apart, a copy would take longer than the events of a step. The second simulation then
        /// begins after the first events that compete.
        const MOST_STEPS: u64 = 8;
        let steps = &self.first.progress().steps;
        let is_small = steps.known() - steps.first() <= MOST_STEPS;
        self.before = (self.reversed.is_none() && is_small).then(|| Box::new(self.first.copy()));
    }

    /// Starts the second simulation, if events have competed for the first time.
    fn start_reversed(&mut self) {
        if self.first.has_competing_events() && self.reversed.is_none() {
            let before = self.before.take().unwrap_or_else(|| Box::new(self.first.copy()));
            self.reversed = Some(Box::new(before.reversed()));
        }
    }
}

impl Listener for Simulations {
    fn interests(&self) -> Interests {
        self.first.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(_) = event {
            self.copy_state();
        }
        let had_copy = self.before.is_some();
        self.first.notify(event);
        let was_reversed = self.reversed.is_some();
        self.start_reversed();
        // A copy that was made before the step does not know the step yet.
        if let Some(reversed) = self.reversed.as_mut().filter(|_| was_reversed || had_copy) {
            reversed.notify(event);
        }
    }
}

impl Evaluator for Simulations {
    fn cost(&mut self) -> Result<Cost, String> {
        /// The smallest relative difference of the two times that is reported.
        const LEAST: f64 = 1e-4;
        self.advance();
        let mut cost = self.first.cost()?;
        // The second simulation may need more events than the limit allows.
        if let Some(Ok(other)) = self.reversed.as_mut().map(|reversed| reversed.cost()) {
            let (us, other_us) = (cost.parts.total(), other.parts.total());
            let difference = other_us / us - 1.0;
            if difference.abs() >= LEAST {
                let more = if difference > 0.0 { "more" } else { "less" };
                cost.note = Some(format!(
                    "depends on the order of simultaneous events: in the reverse order {other_us:.6} us, {:.2} % {more}",
                    difference.abs() * 100.0
                ));
            }
        }
        Ok(cost)
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        if let Some(reversed) = &mut self.reversed {
            reversed.pause_at(deadline);
        }
        self.first.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.first.is_paused() || self.reversed.as_ref().is_some_and(|other| other.is_paused())
    }

    fn advance(&mut self) -> bool {
        if !std::mem::replace(&mut self.is_draining, true) {
            self.copy_state();
        }
        let has_ended = self.first.advance();
        self.start_reversed();
        has_ended && self.reversed.as_mut().is_none_or(|other| other.advance())
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}
