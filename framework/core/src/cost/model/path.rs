//! The critical path to an event, in models in which ranks have their own clocks.

use super::Parts;
use super::ticks::{Ticks, us};

/// The duration of the critical path to an event, divided into kinds of cost. Durations are in µs,
/// or in whole ticks. Paths in ticks are ordered by their costs, in the order of the fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path<T = f64> {
    /// Start-ups of messages.
    pub startup: T,
    /// Transmission and copying.
    pub transmission: T,
    /// Latencies.
    pub propagation: T,
    /// Rearrangement of data.
    pub rearrangement: T,
    /// Barriers between steps.
    pub barrier: T,
    /// Waits for ports, engines and links.
    pub contention: T,
    /// Reductions.
    pub reduction: T,
}

impl<T> Path<T> {
    fn zip<U, V>(self, other: Path<U>, join: impl Fn(T, U) -> V) -> Path<V> {
        Path {
            startup: join(self.startup, other.startup),
            transmission: join(self.transmission, other.transmission),
            propagation: join(self.propagation, other.propagation),
            rearrangement: join(self.rearrangement, other.rearrangement),
            barrier: join(self.barrier, other.barrier),
            contention: join(self.contention, other.contention),
            reduction: join(self.reduction, other.reduction),
        }
    }
}

impl Path<Ticks> {
    pub(super) fn plus(self, other: Self) -> Self {
        self.zip(other, Ticks::saturating_add)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    pub(super) fn times(self, count: u64) -> Self {
        let count = Ticks::try_from(count).unwrap_or(Ticks::MAX);
        self.zip(self, |cost, _| cost.saturating_mul(count))
    }

    /// Returns the path with its costs in µs.
    pub(super) fn in_us(self) -> Path {
        self.zip(self, |cost, _| us(cost))
    }
}

impl Path {
    /// Converts the path to the parts of a completion time. `has_sums` is true if any node reduces
    /// data; if not, the part for reductions is `None`.
    pub(super) fn parts(&self, has_sums: bool) -> Parts {
        Parts {
            startup: Some(self.startup),
            transmission: Some(self.transmission),
            propagation: Some(self.propagation),
            rearrangement: Some(self.rearrangement),
            barrier: Some(self.barrier),
            contention: Some(self.contention),
            reduction: has_sums.then_some(self.reduction),
        }
    }
}
