//! Models: from the facts of each step to the six parts of time.
//!
//! One walk of a schedule is priced by many pricers at once: a pricer is a listener that holds one machine and one block size.

use crate::cost::machine::{Machine, ModelKind};
use crate::network::topology::Topology;
use crate::simulation::step::Listener;
use std::sync::Arc;

mod circuit;
pub mod flat;
mod store_and_forward;
mod synchronous;
#[cfg(test)]
mod test_steps;
mod turns;
mod wormhole;

/// The six parts of a completion time, in microseconds. A part that a model has no meaning for is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// Start-ups.
    pub startup: Option<f64>,
    /// Transmission.
    pub transmission: Option<f64>,
    /// Propagation over links.
    pub propagation: Option<f64>,
    /// Rearrangement of data within nodes.
    pub rearrangement: Option<f64>,
    /// Barriers between steps.
    pub barrier: Option<f64>,
    /// What sharing of links or waiting for ports adds.
    pub contention: Option<f64>,
}

/// What a schedule costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Price {
    /// The parts of its time.
    pub parts: Parts,
    /// A remark where the machine had to run the schedule otherwise than written.
    pub note: Option<String>,
}

/// Prices a schedule as it goes by.
pub trait Evaluator: Listener + Send {
    /// The price of all that went by; `Err` says why there is none.
    fn price(&self) -> Result<Price, String>;
}

/// What a pricer has to know of the case.
#[derive(Debug, Clone, Copy)]
pub struct Scale<'a> {
    /// What connects the nodes.
    pub topology: &'a Arc<dyn Topology>,
    /// Bytes a unit of load: the block size where blocks are counted, 1 where loads are bytes.
    pub unit_bytes: f64,
}

/// A pricer for `machine`.
pub fn evaluator(machine: &Machine, scale: Scale<'_>) -> Box<dyn Evaluator> {
    match machine.model {
        ModelKind::Wormhole => wormhole::evaluator(machine, scale),
        ModelKind::Circuit => circuit::evaluator(machine, scale),
        ModelKind::StoreAndForward => store_and_forward::evaluator(machine, scale),
        ModelKind::Flat => flat::evaluator(machine, scale),
    }
}
