//! The critical path to a moment, where ranks have clocks of their own.

use super::Parts;

/// What the chain of work and waits that led to a moment went into, in us.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Path {
    /// Start-ups of messages.
    pub startup: f64,
    /// Transmission and copying.
    pub transmission: f64,
    /// Crossing links.
    pub propagation: f64,
    /// Composing what is sent.
    pub rearrangement: f64,
    /// Barriers between steps.
    pub barrier: f64,
    /// Waiting for ports, engines and links.
    pub contention: f64,
    /// Adding up what comes from different nodes.
    pub reduction: f64,
}

impl Path {
    /// The parts of the time of a schedule that ends with it; `sums` says whether anything is added
    /// up.
    pub(super) fn parts(&self, sums: bool) -> Parts {
        Parts {
            startup: Some(self.startup),
            transmission: Some(self.transmission),
            propagation: Some(self.propagation),
            rearrangement: Some(self.rearrangement),
            barrier: Some(self.barrier),
            contention: Some(self.contention),
            reduction: sums.then_some(self.reduction),
        }
    }
}
