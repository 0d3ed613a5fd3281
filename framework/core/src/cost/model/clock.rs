//! Moments of event-driven models, with what the time up to them went into.
//!
//! Events are ordered by exact arithmetic: parameters and bytes become whole `Ticks`, so that two
//! chains of work that take the same time end at the same moment, in whatever order their terms
//! were added. What of two events at one moment comes first is the model's rule, never a rounding.

use super::path::Path;

/// A time in units of 10^-18 s. A parameter with more than 12 decimals in us is rounded to them.
pub(super) type Ticks = u128;

const A_US: f64 = 1e12;

/// What a parameter comes to.
pub(super) fn ticks(us: f64) -> Ticks {
    // Parameters are limited to a day, 10^23 ticks.
    (us * A_US).round() as Ticks
}

/// What so many bytes take at so many ticks each; a part of a byte is rounded to the nearest tick.
pub(super) fn of_bytes(ticks: Ticks, bytes: f64) -> Ticks {
    let whole = bytes.trunc();
    let part = (bytes - whole) * ticks as f64;
    ticks.saturating_mul(whole as Ticks).saturating_add(part.round() as Ticks)
}

/// A duration in microseconds.
pub(super) fn us(ticks: Ticks) -> f64 {
    ticks as f64 / A_US
}

/// A moment, with the path to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Clock {
    pub(super) at: Ticks,
    /// What it went into.
    pub path: Path,
}

impl Clock {
    /// The moment, in us.
    pub fn us(&self) -> f64 {
        us(self.at)
    }

    pub(super) fn started(mut self, ticks: Ticks) -> Self {
        self.at += ticks;
        self.path.startup += us(ticks);
        self
    }

    pub(super) fn transmitted(mut self, ticks: Ticks) -> Self {
        self.at = self.at.saturating_add(ticks);
        self.path.transmission += us(ticks);
        self
    }

    pub(super) fn propagated(mut self, ticks: Ticks) -> Self {
        self.at += ticks;
        self.path.propagation += us(ticks);
        self
    }

    pub(super) fn rearranged(mut self, ticks: Ticks) -> Self {
        self.at = self.at.saturating_add(ticks);
        self.path.rearrangement += us(ticks);
        self
    }

    pub(super) fn reduced(mut self, ticks: Ticks) -> Self {
        self.at = self.at.saturating_add(ticks);
        self.path.reduction += us(ticks);
        self
    }

    /// Some composing later, in us.
    #[must_use]
    pub fn composed(self, us: f64) -> Self {
        self.rearranged(ticks(us))
    }

    pub(super) fn past_barrier(mut self, ticks: Ticks) -> Self {
        self.at += ticks;
        self.path.barrier += us(ticks);
        self
    }

    /// Waits for something that is busy until then.
    pub(super) fn waited_until(mut self, at: Ticks) -> Self {
        if at > self.at {
            self.path.contention += us(at - self.at);
            self.at = at;
        }
        self
    }

    /// What happens when both have: the path through the later one is the critical one.
    pub(super) fn later(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }
}
