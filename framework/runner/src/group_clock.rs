//! The time of cases that share a schedule: all share the time of planning, and each has the time
//! of its own pricing.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A clock that starts with planning. Copies share its time.
#[derive(Debug, Clone)]
pub struct GroupClock(Rc<State>);

#[derive(Debug)]
struct State {
    started: Instant,
    /// Time in which cases were priced.
    priced: Cell<Duration>,
}

impl GroupClock {
    /// Creates a clock that starts now.
    pub fn start() -> Self {
        Self(Rc::new(State { started: Instant::now(), priced: Cell::default() }))
    }

    /// Returns all elapsed time.
    pub fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// Returns the elapsed time without the time in which cases were priced.
    pub fn planning(&self) -> Duration {
        self.elapsed().saturating_sub(self.0.priced.get())
    }

    /// Records that a case was priced for this time.
    pub fn add_priced(&self, time: Duration) {
        self.0.priced.set(self.0.priced.get() + time);
    }
}

/// A limit on the time of planning.
#[derive(Debug, Clone)]
pub struct PlanLimit {
    pub clock: GroupClock,
    pub limit: Duration,
}

impl PlanLimit {
    /// Returns whether planning has taken the whole time.
    pub fn is_exceeded(&self) -> bool {
        self.clock.planning() >= self.limit
    }

    /// Returns the same limit for another plan, which starts now.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self { clock: GroupClock::start(), ..*self }
    }
}
