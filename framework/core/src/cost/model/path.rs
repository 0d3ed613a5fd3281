//! The critical path to an event, in models in which ranks have their own clocks.

use super::Parts;

/// The duration in µs of the critical path to an event, divided into kinds of cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Path {
    /// Start-ups of messages.
    pub startup: f64,
    /// Transmission and copying.
    pub transmission: f64,
    /// Latencies.
    pub propagation: f64,
    /// Rearrangement of data.
    pub rearrangement: f64,
    /// Barriers between steps.
    pub barrier: f64,
    /// Waits for ports, engines and links.
    pub contention: f64,
    /// Reductions.
    pub reduction: f64,
}

impl Path {
    /// Returns the costs in the order of the fields.
    pub(super) fn values(self) -> [f64; 7] {
        let Self {
            startup,
            transmission,
            propagation,
            rearrangement,
            barrier,
            contention,
            reduction,
        } = self;
        [startup, transmission, propagation, rearrangement, barrier, contention, reduction]
    }

    fn of(values: [f64; 7]) -> Self {
        let [startup, transmission, propagation, rearrangement, barrier, contention, reduction] =
            values;
        Self { startup, transmission, propagation, rearrangement, barrier, contention, reduction }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let (a, b) = (self.values(), other.values());
        Self::of(std::array::from_fn(|kind| a[kind] + b[kind]))
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self::of(self.values().map(|us| us * factor))
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(other.times(-1.0))
    }

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
