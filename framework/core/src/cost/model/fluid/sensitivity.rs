//! Simulates a case a second time, to find out how exact its time is.
//!
//! If there are very many messages (`flow_window`), their shares of links are approximate, and are
//! computed once for each window of time. The simulation is copied when the first window begins,
//! and the copy continues with windows of twice the length. A note in the result reports the
//! difference between the times.

use super::simulation::Simulation;
use super::{Fluid, Order};
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator};
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use std::time::Instant;

/// A simulation, which gives the result, and its copy.
pub(super) struct Simulations {
    first: Simulation,
    copy: Option<Box<Simulation>>,
    /// The largest number of messages that a node sends or receives in one step.
    max_simultaneous: u64,
}

impl Simulations {
    pub(super) fn new(first: Simulation) -> Self {
        Self { first, copy: None, max_simultaneous: 0 }
    }

    /// Takes the copy that the first simulation makes of itself when its first window begins. This
    /// function does not run the copy. After the last step, the copy runs only when the first
    /// simulation has ended and freed its memory.
    fn take_copy(&mut self) {
        if let Some(copy) = self.first.copy.take() {
            self.copy = Some(copy);
        }
    }
}

impl Listener for Simulations {
    fn interests(&self) -> Interests {
        self.first.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(step) = &event {
            let at_once = step.facts.max_sends.max(step.facts.max_receives);
            self.max_simultaneous = self.max_simultaneous.max(at_once);
        }
        self.first.notify(event);
        // If the first simulation has just made a copy of itself, the copy must be notified of
        // `event`, too: the copy was made before the first simulation added the step of `event`.
        self.take_copy();
        if let Some(copy) = &mut self.copy {
            copy.notify(event);
        }
    }
}

impl Evaluator for Simulations {
    fn cost(&mut self) -> Result<Cost, String> {
        let cost = self.first.cost()?;
        self.take_copy();
        self.first.clear();
        let mut notes = Vec::new();
        if let Some(copy) = &mut self.copy {
            let (us, other_us) = (cost.parts.total(), copy.cost()?.parts.total());
            let difference = other_us / us - 1.0;
            let (percent, window) = (difference.abs() * 100.0, copy.machine.flow_window);
            let more = if difference > 0.0 { "more" } else { "less" };
            notes
                .push(format!("with flow_window={window} {other_us:.6} us, {percent:.3} % {more}"));
        }
        if self.first.machine.second_eps_us > 0.0 {
            notes.push("second_eps_us has no effect, because times are exact".to_owned());
        }
        // The ranks of a step start all of its messages at once, unless each waits for its own data.
        let Fluid { ports, order, .. } = self.first.machine;
        let most = self.max_simultaneous;
        if order != Order::Data && ports.rounds(most) > 1 {
            notes.push(format!(
                "up to {most} simultaneous messages at a node share its links: ports={ports} does not limit them with order={order}, injection_byte_us does"
            ));
        }
        Ok(Cost { note: (!notes.is_empty()).then(|| notes.join("; ")), ..cost })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        if let Some(copy) = &mut self.copy {
            copy.pause_at(deadline);
        }
        self.first.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.first.is_paused() || self.copy.as_ref().is_some_and(|copy| copy.is_paused())
    }

    fn advance(&mut self) -> bool {
        let has_ended = self.first.advance();
        self.take_copy();
        if has_ended {
            self.first.clear();
        }
        has_ended && self.copy.as_mut().is_none_or(|copy| copy.advance())
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}
