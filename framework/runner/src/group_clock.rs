//! The run time of cases that share a schedule. All cases have the same planning time. The time for
//! pricing, which is the calculation of a case's time on its machine, is measured for each case.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A clock that starts when planning starts. All copies of a clock show the same time.
#[derive(Debug, Clone)]
pub struct GroupClock(Rc<State>);

#[derive(Debug)]
struct State {
    started: Instant,
    priced: Cell<Duration>,
}

impl GroupClock {
    pub fn start() -> Self {
        Self(Rc::new(State { started: Instant::now(), priced: Cell::default() }))
    }

    pub fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    pub fn planning(&self) -> Duration {
        self.elapsed().saturating_sub(self.0.priced.get())
    }

    pub fn add_priced(&self, time: Duration) {
        self.0.priced.set(self.0.priced.get() + time);
    }
}

#[derive(Debug, Clone)]
pub struct PlanLimit {
    pub clock: GroupClock,
    pub limit: Duration,
}

impl PlanLimit {
    pub fn is_exceeded(&self) -> bool {
        self.clock.planning() >= self.limit
    }

    /// Returns the same limit for another plan, with a clock that starts now.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self { clock: GroupClock::start(), ..*self }
    }
}
