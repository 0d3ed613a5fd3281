//! Simulates a case more than once, to find out how exact its time is. A note in the result reports
//! the differences between the times. Two parameters cause a further simulation:
//!
//! - `second_eps_us`: if rounding changes the order of nearly simultaneous events, all later events
//!   can change, too. The second simulation uses a different interval within which events count as
//!   simultaneous.
//! - `flow_window`: if there are very many messages, their shares of links are approximate, and are
//!   computed once for each window of time. The simulation is copied when the first window begins,
//!   and the copy continues with windows of twice the length.

use super::simulation::Simulation;
use crate::cost::model::time_space::TimeSpace;
use crate::cost::model::{Cost, Evaluator};
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use std::time::Instant;

/// Simulations of the same case. The first one gives the result.
pub(super) struct Simulations {
    first: Simulation,
    others: Vec<Other>,
}

/// A simulation whose time is compared with that of the first simulation.
struct Other {
    simulation: Box<Simulation>,
    /// The setting in which this simulation differs from the first one, in words for the note.
    with: String,
    /// The smallest relative difference that is reported.
    least: f64,
}

impl Simulations {
    pub(super) fn new(first: Simulation) -> Self {
        Self { first, others: Vec::new() }
    }

    /// Adds a simulation in which events within `us` µs of each other count as simultaneous.
    pub(super) fn with_eps(mut self, simulation: Simulation, us: f64) -> Self {
        let with = format!("events within {us} us as one");
        let mut simulation = Box::new(simulation);
        simulation.makes_copy = false;
        self.others.push(Other { simulation, with, least: 1e-3 });
        self
    }

    /// Adds the copy that the first simulation makes of itself when its first window begins. The
    /// copy has windows of twice the length. This function does not run the copy. After the last
    /// step, the copy runs only when the first simulation has ended and freed its memory.
    fn take_copy(&mut self) {
        if let Some(simulation) = self.first.copy.take() {
            let with = format!("flow_window={}", simulation.machine.flow_window);
            self.others.push(Other { simulation, with, least: 0.0 });
        }
    }
}

impl Listener for Simulations {
    fn interests(&self) -> Interests {
        self.first.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.first.notify(event);
        // If the first simulation has just made a copy of itself, the copy must be notified of
        // `event`, too: the copy was made before the first simulation added the step of `event`.
        self.take_copy();
        self.others.iter_mut().for_each(|other| other.simulation.notify(event));
    }
}

impl Evaluator for Simulations {
    fn cost(&mut self) -> Result<Cost, String> {
        let cost = self.first.cost()?;
        self.take_copy();
        self.first.clear();
        let (us, mut notes) = (cost.parts.total(), Vec::new());
        for Other { simulation, with, least, .. } in &mut self.others {
            let other_us = simulation.cost()?.parts.total();
            let difference = other_us / us - 1.0;
            if difference.abs() >= *least {
                let (percent, decimals) =
                    (difference.abs() * 100.0, if *least > 0.0 { 2 } else { 3 });
                let more = if difference > 0.0 { "more" } else { "less" };
                notes.push(format!("with {with} {other_us:.6} us, {percent:.decimals$} % {more}"));
            }
        }
        Ok(Cost { note: (!notes.is_empty()).then(|| notes.join("; ")), ..cost })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        self.others.iter_mut().for_each(|other| {
            other.simulation.pause_at(deadline);
        });
        self.first.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.first.is_paused() || self.others.iter().any(|other| other.simulation.is_paused())
    }

    fn advance(&mut self) -> bool {
        let has_ended = self.first.advance();
        self.take_copy();
        if has_ended {
            self.first.clear();
        }
        has_ended && self.others.iter_mut().all(|other| other.simulation.advance())
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}
