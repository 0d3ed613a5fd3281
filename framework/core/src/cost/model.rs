//! Models compute the completion time of a schedule, and a lower bound for any schedule.
//!
//! Each model has a file with its parameters, its costs and its lower bound, and an entry in
//! [`models`]. A machine has a [`Model`] with values of the parameters. An [`Evaluator`] listens to
//! the simulation of a schedule for one machine and one block size; one simulation can have many
//! evaluators.
//!
//! Models of `synchronous` steps mostly need only the facts of a step, such as the longest message.
//! Event-driven models (`flat`, `loggp`, `fluid`) store messages and follow the time of each node.

use super::background::Background;
use super::bound::{Bound, Traffic};
use super::parameter::{Parameter, ParameterError, PortLimit};
use super::settings::Settings;
use crate::network::topology::Topology;
use crate::simulation::listener::{Detail, Listener};
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Instant;
use time_space::TimeSpace;

mod asynchronous;
mod circuit;
pub mod clock;
pub mod flat;
mod fluid;
mod loggp;
mod path;
mod rounds;
mod store_and_forward;
mod synchronous;
#[cfg(test)]
mod test_steps;
pub mod time_space;
mod wormhole;

pub use synchronous::UNDECLARED;

/// Returns the models in the order in which they are listed.
pub fn models() -> &'static [&'static ModelKind] {
    MODELS
}

static MODELS: &[&ModelKind] = &[
    &wormhole::KIND,
    &circuit::KIND,
    &store_and_forward::KIND,
    &flat::KIND,
    &loggp::KIND,
    &fluid::KIND,
];

/// A model without values of its parameters.
#[derive(Debug)]
pub struct ModelKind {
    /// The name, as in `model=NAME`.
    pub name: &'static str,
    /// A short description for lists.
    pub title: &'static str,
    /// The parameters in the order in which specs print them.
    pub parameters: &'static [&'static dyn Parameter],
    /// Reads the values of the parameters.
    pub(super) prepare: fn(&Settings) -> Result<Arc<dyn Model>, ParameterError>,
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A model with the values of its parameters.
pub trait Model: Debug + Send + Sync {
    /// Returns how much of a schedule the evaluators read.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// Returns whether the evaluators need the arrival step of every message.
    fn follows_arrivals(&self) -> bool {
        false
    }

    /// Returns the name of the file with background traffic ([`PricingContext::background`]), if
    /// there is one.
    fn background_file(&self) -> Option<&str> {
        None
    }

    /// Returns an evaluator for one schedule.
    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator>;

    /// Returns a lower bound for any schedule that moves `traffic`, which is not empty.
    fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound;

    /// Returns whether the lower bound depends on the loads of links.
    fn bounds_by_links(&self) -> bool {
        true
    }

    /// Returns limits on the speed of data through links and ports; `None` if the model has no
    /// links, or if times are random.
    fn network_rates(&self) -> Option<NetworkRates> {
        None
    }
}

/// Limits on the speed of data through links and ports, for lower bounds that are computed from
/// network flows. No schedule exceeds these rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkRates {
    /// The time of a byte on a link of bandwidth 1, in µs.
    pub link_byte_us: f64,
    /// The ports of a node. `None` if ports do not limit bytes.
    pub ports: Option<PortRate>,
    /// The time of a byte between a node and the network, in µs; 0 if it is not limited.
    pub injection_byte_us: f64,
}

/// The number and the speed of a node's ports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PortRate {
    /// The number of ports.
    pub limit: PortLimit,
    /// The time of a byte through a port onto a link of bandwidth 1, in µs.
    pub byte_us: f64,
    /// Whether a message over h links occupies ports for h transmission times, one for each hop.
    /// Otherwise it occupies one port of its sender and one of its receiver for one transmission
    /// time.
    pub each_hop: bool,
}

/// The parts of a completion time in µs. A part that does not exist in a model is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// Start-ups of messages (alpha).
    pub startup: Option<f64>,
    /// Transmission of bytes (beta), as if no link were shared.
    pub transmission: Option<f64>,
    /// Latencies of links.
    pub propagation: Option<f64>,
    /// Rearrangement of data within nodes.
    pub rearrangement: Option<f64>,
    /// Barriers between steps.
    pub barrier: Option<f64>,
    /// Time added by shared links and by waiting for ports.
    pub contention: Option<f64>,
    /// Reductions (gamma); `None` if nothing is reduced.
    pub reduction: Option<f64>,
}

impl Parts {
    /// Returns the name and value of each part, in the order of the result columns.
    pub fn each(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("startup", self.startup),
            ("transmission", self.transmission),
            ("propagation", self.propagation),
            ("rearrangement", self.rearrangement),
            ("barrier", self.barrier),
            ("contention", self.contention),
            ("reduction", self.reduction),
        ]
    }

    /// Returns the completion time: the sum of the parts.
    pub fn total(&self) -> f64 {
        let Self {
            startup,
            transmission,
            propagation,
            rearrangement,
            barrier,
            contention,
            reduction,
        } = *self;
        [startup, transmission, propagation, rearrangement, barrier, contention, reduction]
            .into_iter()
            .flatten()
            .sum()
    }
}

/// The cost of a schedule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// The parts of the completion time.
    pub parts: Parts,
    /// A remark for the user, for example if steps were split into rounds.
    pub note: Option<String>,
    /// When ranks ended, in models in which ranks have their own clocks.
    pub ranks: Option<RankTimes>,
}

/// When the ranks of a schedule ended, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTimes {
    /// When the first rank ended.
    pub first: f64,
    /// The mean over all ranks.
    pub mean: f64,
}

impl RankTimes {
    fn of(times: impl ExactSizeIterator<Item = f64> + Clone) -> Option<Self> {
        let ranks = times.len() as f64;
        let first = times.clone().reduce(f64::min)?;
        Some(Self { first, mean: times.sum::<f64>() / ranks })
    }
}

/// Computes the cost of a schedule while it is simulated.
pub trait Evaluator: Listener + Send {
    /// Returns the cost of the schedule. The error says why there is none.
    fn cost(&mut self) -> Result<Cost, String>;

    /// Sets the time at which the evaluator pauses. A paused evaluator continues. Returns whether
    /// the evaluator can pause: models whose work is limited per message cannot. An evaluator that
    /// has paused during a step has missed events, so it has no cost.
    fn pause_at(&mut self, _deadline: Option<Instant>) -> bool {
        false
    }

    /// Returns whether the evaluator has paused.
    fn is_paused(&self) -> bool {
        false
    }

    /// Processes the events after the last step. Returns `false` if it paused before the end.
    fn advance(&mut self) -> bool {
        true
    }

    /// Returns the cost of the steps so far; `None` in event-driven models, which know it only at
    /// the end.
    fn parts_so_far(&self) -> Option<Parts> {
        None
    }

    /// Starts a time-space record, before the first step. A model in which ranks do not have their
    /// own clocks returns the record as the error.
    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        Err(record)
    }

    /// Returns the time-space record, which is complete after [`Evaluator::cost`]; `None` if there
    /// is none.
    fn time_space(&mut self) -> Option<TimeSpace> {
        None
    }
}

/// The properties of a case that an evaluator needs.
#[derive(Debug, Clone, Copy)]
pub struct PricingContext<'a> {
    /// The network.
    pub topology: &'a Arc<dyn Topology>,
    /// Bytes per unit of load: the block size if loads are counted in blocks, 1 if in bytes.
    pub unit_bytes: f64,
    /// The random seed of the case's repetition.
    pub seed: u64,
    /// Whether loads are counted in blocks. If so, a message whose load is larger than the number
    /// of segments per block contains several blocks.
    pub counted: bool,
    /// Background traffic on the links. The machine sets this field if its model reads background
    /// traffic.
    pub background: Option<&'a Background>,
}

impl<'a> PricingContext<'a> {
    /// Creates a context for blocks of one size, without background traffic and with the seed 0.
    pub fn new(topology: &'a Arc<dyn Topology>, block_bytes: f64) -> Self {
        Self { topology, unit_bytes: block_bytes, seed: 0, counted: true, background: None }
    }
}

/// Returns the bytes of a segment if a unit of load is split into `segments` segments. Segments are
/// padded to whole bytes.
pub(crate) fn segment_bytes(unit_bytes: f64, segments: u64) -> f64 {
    (unit_bytes / segments as f64).ceil()
}
