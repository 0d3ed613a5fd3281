//! Models compute the completion time of a schedule, and a lower bound for any schedule.
//!
//! Each model has a file with its parameters, its costs and its lower bound, and an entry in
//! [`models`]. A machine has a [`Model`] with the values of the parameters. An [`Evaluator`]
//! computes the cost of one schedule, for one machine and one block size, while the schedule is
//! simulated. Many evaluators can listen to the same simulation.
//!
//! Most models with synchronous steps need only a few facts of a step, such as its longest message.
//! Event-driven models (`flat`, `loggp`, `fluid`) simulate all messages, with a clock per node.

use super::background::Background;
use super::bound::{Bound, Traffic};
use super::kind::Parts;
use super::parameter::{Parameter, ParameterError, PortLimit};
use super::settings::Settings;
use crate::network::topology::Network;
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent};

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Instant;
use time_space::TimeSpace;

mod asynchronous;
mod circuit;
pub mod clock;
pub mod flat;
mod fluid;
mod late;
mod loggp;
mod pipelined;
mod protocol;
mod rounds;
mod store_and_forward;
mod synchronous;
#[cfg(test)]
pub(super) mod test_steps;
mod ticks;
pub mod time_space;
mod wormhole;

pub use synchronous::UNDECLARED;

/// Returns all models, in the order in which lists show them.
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
    &pipelined::KIND,
];

/// A kind of model: its name, its parameters, and a function that creates a [`Model`].
#[derive(Debug)]
pub struct ModelKind {
    /// The name, as in `model=NAME`.
    pub name: &'static str,
    /// A short description for lists.
    pub title: &'static str,
    /// The parameters, in the order in which specs such as `free:hop_us=1` print them.
    pub parameters: &'static [&'static dyn Parameter],
    /// The time that pricing a schedule takes, divided by the time that planning and tracing it
    /// takes. It was measured with the algorithm `pex` and uniform blocks on `torus:32x32`.
    pub pricing_time: f64,
    pub(super) prepare: fn(&Settings) -> Result<Arc<dyn Model>, ParameterError>,
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A model with the values of its parameters.
pub trait Model: Debug + Send + Sync {
    /// Returns how much detail of a schedule the evaluators need.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// Returns whether evaluators need the step in which each message's data arrived at its sender.
    fn follows_arrivals(&self) -> bool {
        false
    }

    /// Returns whether the model can price steps in which switches add and copy data.
    fn has_reducing_switches(&self) -> bool {
        false
    }

    /// Returns whether a message crosses all of its links at once and shares them with other
    /// messages. If so, it gains nothing if nodes on its route receive and forward it.
    fn shares_routes(&self) -> bool {
        true
    }

    /// Returns the value of [`Machine::message_us`](super::machine::Machine::message_us), or `None`
    /// if this is `startup_us`.
    fn message_us(&self) -> Option<f64> {
        None
    }

    /// Returns whether evaluators price several jobs ([`PricingContext::starts`]).
    fn runs_jobs(&self) -> bool {
        false
    }

    /// Returns whether stages (phases of the schedule) end with a barrier of all ranks.
    fn has_stages(&self) -> bool {
        false
    }

    /// Returns the name of the file with background traffic ([`PricingContext::background`]).
    fn background_file(&self) -> Option<&str> {
        None
    }

    /// Returns the ranks that enter late, each with the time in µs at which it enters. Errors if a
    /// rank does not exist.
    fn late_ranks(&self, _nodes: u64, _seed: u64) -> Result<Vec<(usize, f64)>, String> {
        Ok(Vec::new())
    }

    /// Returns an evaluator of one schedule.
    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator>;

    /// Returns a lower bound on the time of any schedule for `traffic`. There is at least one node
    /// with data for another node.
    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound;

    /// Returns whether the lower bound depends on the loads of links.
    fn bounds_by_links(&self) -> bool {
        true
    }

    /// Returns upper limits on the speed of data, if the model has links and no random times.
    fn network_rates(&self) -> Option<NetworkRates> {
        None
    }
}

/// Upper limits on the speed of data, for lower bounds from network flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkRates {
    /// The time of a byte on a link of bandwidth 1, in µs.
    pub link_byte_us: f64,
    /// The ports of a node. `None` if ports do not limit the speed of data.
    pub ports: Option<PortRate>,
    /// The time of a byte between a node and the network, in µs; 0 if this speed is not limited.
    pub injection_byte_us: f64,
}

/// The number and the speed of a node's ports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PortRate {
    /// The number of ports.
    pub limit: PortLimit,
    /// The time of a byte through a port onto a link of bandwidth 1, in µs.
    pub byte_us: f64,
    /// Whether a message with h hops occupies ports at every hop, for h transmission times.
    /// Otherwise it occupies a port of its sender and of its receiver for one transmission time.
    pub each_hop: bool,
}

/// The cost of a schedule.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// The costs that add up to the completion time.
    pub parts: Parts,
    /// A remark for the user, for example that steps were split into rounds.
    pub note: Option<String>,
    /// The number of rounds of all steps, if the model has rounds and their number is exact.
    pub rounds: Option<u64>,
    /// The times at which ranks ended; `None` in models in which all ranks share one clock.
    pub ranks: Option<RankTimes>,
    /// The time that one communicator takes if it runs alone, in µs; `None` if it was not
    /// calculated.
    pub alone_us: Option<f64>,
    /// The name of the fastest protocol, if the machine has several.
    pub protocol: Option<String>,
    /// If there are several jobs ([`PricingContext::starts`]), the cost of each job from its start.
    /// The other fields are then those of the longest job. Empty without jobs.
    pub jobs: Vec<Self>,
}

/// The times at which the ranks of a schedule ended, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTimes {
    /// The time at which the first rank ended.
    pub first: f64,
    /// The mean of the end times of all ranks.
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
    /// Returns the cost, or the reason why the model has none for the schedule.
    fn cost(&mut self) -> Result<Cost, String>;

    /// Sets or removes the deadline at which the evaluator pauses. If the evaluator is paused, it
    /// continues. Returns whether the evaluator can pause; if its work per message is limited, it
    /// cannot. If an evaluator pauses before the last step, it ignores later steps, so its cost is
    /// invalid.
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

    /// Returns the costs of the steps so far, if the model is not event-driven.
    fn parts_so_far(&self) -> Option<Parts> {
        None
    }

    /// Starts a time-space record. If ranks have no clocks of their own, returns `record` as the
    /// error.
    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        Err(record)
    }

    /// Returns the time-space record, if there is one. It is complete after [`Evaluator::cost`].
    fn time_space(&mut self) -> Option<TimeSpace> {
        None
    }
}

pub(super) struct Refused(pub String);

impl Listener for Refused {
    fn interests(&self) -> Interests {
        Interests::FACTS
    }

    fn notify(&mut self, _: ScheduleEvent<'_>) {}
}

impl Evaluator for Refused {
    fn cost(&mut self) -> Result<Cost, String> {
        Err(self.0.clone())
    }

    /// Discards the record. An error here would hide the true reason, the error of
    /// [`Evaluator::cost`].
    fn record_time_space(&mut self, _: TimeSpace) -> Result<(), TimeSpace> {
        Ok(())
    }
}

/// The properties of a case that an evaluator needs.
#[derive(Debug, Clone, Copy)]
pub struct PricingContext<'a> {
    /// The network.
    pub topology: &'a Arc<Network>,
    /// The bytes of a unit of load: the size of uniform blocks, or 1 for explicit sizes. Loads may
    /// also be counted in segments of units (`segment_bytes`).
    pub unit_bytes: f64,
    /// The random seed of the case's repetition.
    pub seed: u64,
    /// Whether blocks have a uniform size, so that loads are counted in blocks or their segments.
    /// Only such a load shows whether a message has data of several blocks.
    pub counted: bool,
    /// Whether the collective distinguishes blocks by origin and destination, as all-to-all does.
    pub exchanges: bool,
    /// Background traffic, set by [`Machine::evaluator`](super::machine::Machine::evaluator).
    pub background: Option<&'a Background>,
    /// If there are several jobs, the time in µs at which each of them starts; otherwise empty.
    /// With jobs, the network is [`Jobs::network`](crate::simulation::merged::Jobs::network).
    pub starts: &'a [f64],
}

impl<'a> PricingContext<'a> {
    /// Creates a context for blocks of one size, without background traffic and with the seed 0.
    pub fn new(topology: &'a Arc<Network>, block_bytes: f64) -> Self {
        Self {
            topology,
            unit_bytes: block_bytes,
            seed: 0,
            counted: true,
            exchanges: true,
            background: None,
            starts: &[],
        }
    }
}

/// Returns the bytes of a segment of a unit of load, rounded up to whole bytes.
fn segment_bytes(unit_bytes: f64, segments: u64) -> f64 {
    (unit_bytes / segments as f64).ceil()
}
