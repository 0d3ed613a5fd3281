//! Models: from the facts of each step to the parts of time.
//!
//! A model is a file: its parameters, what a schedule costs, and what no schedule can beat, beside
//! its row of [`models`]. A machine holds one with its parameters read ([`Model`]). One simulation
//! of a schedule is priced by many evaluators at once: an evaluator is a listener that holds one
//! machine and one block size.
//!
//! What is to be priced comes step by step with every message of it, so that a model may ask for no
//! more than a step's facts (those of `synchronous` steps) or keep messages and follow each node's
//! own time (`flat`).

use super::background::Background;
use super::bound::{Bound, Traffic};
use super::parameter::{Parameter, ParameterError};
use super::settings::Settings;
use crate::network::topology::Topology;
use crate::simulation::listener::{Detail, Listener};
use std::fmt::{self, Debug};
use std::sync::Arc;
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

/// The models in the order in which they are listed.
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

/// A model before its parameters are known.
#[derive(Debug)]
pub struct ModelKind {
    /// What users type after `model=`.
    pub name: &'static str,
    /// What it is for, for lists.
    pub title: &'static str,
    /// What it reads, in the order in which specs print it.
    pub parameters: &'static [&'static dyn Parameter],
    /// The model of a machine.
    pub(super) prepare: fn(&Settings) -> Result<Arc<dyn Model>, ParameterError>,
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A model with a machine's parameters.
pub trait Model: Debug + Send + Sync {
    /// How much of a schedule its evaluators read.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// Whether its evaluators need arrivals to be followed ([`Interests::arrivals`](crate::simulation::listener::Interests)).
    fn follows_arrivals(&self) -> bool {
        false
    }

    /// The file of background traffic that it wants read ([`PricingContext::background`]), if it does.
    fn background_file(&self) -> Option<&str> {
        None
    }

    /// What prices one schedule.
    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator>;

    /// What no schedule can beat that moves `traffic`, some of which goes from one node to another.
    fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound;

    /// Whether its bound looks at what links must carry.
    fn bounds_by_links(&self) -> bool {
        true
    }
}

/// The parts of a completion time, in microseconds. A part that a model has no meaning for is
/// `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// Start-ups of messages (alpha).
    pub startup: Option<f64>,
    /// Bytes times time per byte (beta), as if no link were shared.
    pub transmission: Option<f64>,
    /// Links of routes times time per link.
    pub propagation: Option<f64>,
    /// Rearrangement of data within nodes.
    pub rearrangement: Option<f64>,
    /// What barriers after steps take.
    pub barrier: Option<f64>,
    /// What sharing of links or waiting for ports adds.
    pub contention: Option<f64>,
    /// Adding up what comes from different nodes (gamma); `None` where nothing is.
    pub reduction: Option<f64>,
}

impl Parts {
    /// Each part by its name, in the order of a row's columns.
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

    /// Their sum: the completion time.
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

/// What a schedule costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// The parts of its time.
    pub parts: Parts,
    /// A remark where the machine had to run the schedule otherwise than written.
    pub note: Option<String>,
    /// When ranks were done, where that is each one's own time.
    pub ranks: Option<RankTimes>,
}

/// When the ranks of a schedule were done, in us.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTimes {
    /// When the first rank was done.
    pub first: f64,
    /// The mean of when ranks were done.
    pub mean: f64,
}

impl RankTimes {
    fn of(times: impl ExactSizeIterator<Item = f64> + Clone) -> Option<Self> {
        let ranks = times.len() as f64;
        let first = times.clone().reduce(f64::min)?;
        Some(Self { first, mean: times.sum::<f64>() / ranks })
    }
}

/// Prices a schedule as it goes by.
pub trait Evaluator: Listener + Send {
    /// The cost of all that went by; `Err` says why there is none.
    fn cost(&mut self) -> Result<Cost, String>;

    /// The parts of what went by so far, where steps follow each other; `None` where nothing is
    /// known before the end.
    fn parts_so_far(&self) -> Option<Parts> {
        None
    }

    /// Fills in when each rank does what, from the first step on, before which it is asked; hands
    /// the record back where ranks have no time of their own.
    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        Err(record)
    }

    /// The record, full once [`Evaluator::cost`] has been asked for; `None` if there is none.
    fn time_space(&mut self) -> Option<TimeSpace> {
        None
    }
}

/// What an evaluator has to know of the case.
#[derive(Debug, Clone, Copy)]
pub struct PricingContext<'a> {
    /// What connects the nodes.
    pub topology: &'a Arc<dyn Topology>,
    /// Bytes a unit of load: the block size where blocks are counted, 1 where loads are bytes.
    pub unit_bytes: f64,
    /// The seed of the case's repetition, for what is drawn at random.
    pub seed: u64,
    /// Whether blocks are counted: then a message whose load is over its segments is of several.
    pub counted: bool,
    /// What else is on the links, where the machine's model reads that: a machine fills it in.
    pub background: Option<&'a Background>,
}

/// Bytes of a segment of a unit that is split in so many: fractions of a byte don't travel, so
/// segments are padded to whole bytes.
pub(crate) fn segment_bytes(unit_bytes: f64, segments: u64) -> f64 {
    (unit_bytes / segments as f64).ceil()
}
