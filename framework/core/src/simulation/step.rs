//! One step of a schedule: its messages, and facts about it that do not depend on a machine.

use crate::delivery::payload::Proof;
use crate::network::symmetry::Group;
use crate::network::topology::Route;
pub use crate::network::transfer::Transfer;

/// The facts of a step that do not depend on a machine. Loads count blocks if sizes are uniform and
/// bytes otherwise. If blocks are split, loads count segments of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepFacts {
    /// The number of messages between different nodes. Local copies are not messages.
    pub messages: u64,
    /// The load of the longest message.
    pub max_load: u64,
    /// The load of all messages.
    pub total_load: u64,
    /// The number of links of the longest route.
    pub max_hops: u64,
    /// The sum over all messages of load times hops.
    pub load_hops: u128,
    /// The largest number of messages on one directed link.
    pub max_link_messages: u64,
    /// The largest load on one directed link.
    pub max_link_load: u64,
    /// The largest product, over all messages, of a message's load and the largest number of
    /// messages on a link of its route. `None` unless a listener needs it.
    pub max_multiplexed_load: Option<u128>,
    /// The largest number of messages that one node sends. If a node has several ranks, those of
    /// all its ranks count.
    pub max_sends: u64,
    /// The largest number of messages that one node receives.
    pub max_receives: u64,
    /// The largest load that one node sends or receives.
    pub max_node_load: u64,
    /// The largest load that one node sends or receives over links. This differs from
    /// [`Self::max_node_load`] only if several ranks share a node.
    pub max_injected_load: u64,
    /// The largest load that one node sends and receives, in total, in messages of more than one
    /// block. `None` unless a listener needs it.
    pub max_packed_load: Option<u64>,
    /// Whether some node sends to one node and receives from a different one.
    pub one_directional: bool,
    /// The largest latency of a route, in hops of the machine. `None` if every link costs one hop.
    pub max_latency: Option<f64>,
    /// The expected values if routes are drawn at random. The other facts about links and hops are
    /// then those of one random draw.
    pub expected: Option<Expected>,
    /// The times that follow from the bandwidths of links. `None` if all links have the machine's
    /// bandwidth.
    pub bandwidth_times: Option<BandwidthTimes>,
}

/// The expected values of links and routes if routes are drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Expected {
    /// The largest expected number of messages on a directed link.
    pub messages: f64,
    /// The largest expected load on a directed link.
    pub load: f64,
    /// The largest expected number of hops of a message.
    pub hops: f64,
}

/// The facts of a step as times: loads divided by the bandwidths of the links that they cross.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthTimes {
    /// The largest quotient, over all messages, of the load and the lowest bandwidth on the route.
    pub message: f64,
    /// The largest quotient, over all links, of the load and the bandwidth.
    pub link: f64,
    /// The maximum of load * messages / bandwidth over all messages and all links of their routes,
    /// where `load` is that of the message, and `messages` and `bandwidth` are those of the link.
    /// Equal to [`Self::message`] unless a listener needs it.
    pub multiplexed: f64,
    /// The largest sum, over all nodes, of the times of the messages that a node sends, or of those
    /// that it receives.
    pub node: f64,
}

impl StepFacts {
    /// Returns the latency of the longest route, in hops of the machine.
    pub fn latency(&self) -> f64 {
        self.max_latency.unwrap_or(self.max_hops as f64)
    }

    /// Returns the time of the slowest message without contention, in units of the time that one
    /// unit of load takes at the machine's bandwidth.
    pub fn longest(&self) -> f64 {
        self.bandwidth_times.map_or(self.max_load as f64, |bandwidth_times| bandwidth_times.message)
    }

    /// Returns the time of the most loaded link, in the same unit as [`StepFacts::longest`].
    pub(crate) fn through_link(&self) -> f64 {
        self.bandwidth_times
            .map_or(self.max_link_load as f64, |bandwidth_times| bandwidth_times.link)
    }

    /// Returns the maximum, over all nodes, of the time for the messages that a node sends, or for
    /// those that it receives, one after the other.
    pub(crate) fn through_node(&self) -> f64 {
        self.bandwidth_times.map_or(self.max_node_load as f64, |times| times.node)
    }

    /// Returns the time of the slowest circuit if circuits that share a link share its bandwidth.
    /// Equal to [`StepFacts::longest`] if multiplexing was not measured.
    pub(crate) fn multiplexed(&self) -> f64 {
        match (self.bandwidth_times, self.max_multiplexed_load) {
            (Some(bandwidth_times), _) => bandwidth_times.multiplexed,
            (None, most) => most.map_or(self.max_load as f64, |most| most as f64),
        }
    }
}

/// A step in which at least one message was sent.
#[derive(Debug)]
pub struct Step<'a> {
    /// The kind of data that moves. With [`Proof::ByteCounts`] loads are bytes.
    pub proof: Proof,
    /// The number of the step, from 1. Only steps with messages are counted.
    pub number: u64,
    /// The schedule's own number of the step, from 1. Steps without messages between nodes are also
    /// counted.
    pub schedule_step: u64,
    /// The name of the step's phase; empty if the schedule names none.
    pub phase: &'a str,
    /// The number of the phase, from 1.
    pub phase_number: u32,
    /// All messages, each at the position of its first send. No two messages have the same sender,
    /// receiver and requested route. If the schedule is symmetric and no listener reads more than
    /// [`Detail::Representatives`](crate::simulation::listener::Detail), only the messages of the
    /// planned nodes, without hops; see [`Step::symmetry`].
    pub transfers: &'a [Transfer],
    /// The group whose elements map these messages to those of all nodes; `None` if `transfers` has
    /// all messages.
    pub symmetry: Option<&'a Group>,
    /// For each message the latest step, by the schedule's own number, in which any of its data
    /// arrived at its sender; 0 if the sender held everything at the start. Empty unless a listener
    /// needs it ([`Interests::arrivals`](crate::simulation::listener::Interests)).
    pub latest_arrivals: &'a [u32],
    /// The routes that messages refer to.
    pub routes: &'a [Route],
    /// The number of segments into which a block is split. Loads count segments.
    pub segments: u64,
    /// For each message the sum of 1 / bandwidth over its links. Empty if all links have the
    /// machine's bandwidth.
    pub inverse_bandwidth: &'a [f64],
    /// For each message its expected hops. Empty unless routes are drawn at random.
    pub mean_hops: &'a [f64],
    /// The number of messages on a link, and the time that their loads take, in the same unit as
    /// [`StepFacts::longest`]. Only lists links for which no other link has more messages and also
    /// a longer time. Empty unless a listener needs it.
    pub busiest_links: &'a [(u64, f64)],
    /// The facts that do not depend on a machine.
    pub facts: StepFacts,
    /// The load that each node of the machine, or each planned node, holds at the end of the step.
    pub held: &'a [u64],
}

impl<'a> Step<'a> {
    /// Creates a step whose number and phase are not known yet, without the fields that a listener
    /// must request.
    pub(crate) fn of(
        proof: Proof,
        segments: u64,
        schedule_step: u64,
        facts: StepFacts,
        routes: &'a [Route],
    ) -> Self {
        Self {
            proof,
            number: 0,
            schedule_step,
            phase: "",
            phase_number: 0,
            transfers: &[],
            symmetry: None,
            latest_arrivals: &[],
            routes,
            segments,
            inverse_bandwidth: &[],
            mean_hops: &[],
            busiest_links: &[],
            facts,
            held: &[],
        }
    }
}

/// The totals of a schedule that do not depend on a machine. The loads of one step fit into 64
/// bits; sums over steps may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// The kind of data whose delivery was verified.
    pub proof: Proof,
    /// The number of segments into which a block is split. Loads count segments.
    pub segments: u64,
    /// The number of steps in which a message was sent.
    pub steps: u64,
    /// The number of messages over all steps.
    pub messages: u64,
    /// The sum over steps of the load of the longest message.
    pub critical_load: u128,
    /// The sum over steps of the number of links of the longest route.
    pub critical_hops: u64,
    /// The load of all messages.
    pub total_load: u128,
    /// The sum over all messages of load times hops.
    pub load_hops: u128,
    /// The largest number of messages on one directed link in one step.
    pub max_link_messages: u64,
    /// The sum over steps of the largest number of messages on one directed link.
    pub sum_link_messages: u64,
    /// The largest number of messages that one node sends in one step.
    pub max_sends: u64,
    /// The largest number of messages that one node receives in one step.
    pub max_receives: u64,
    /// The largest load that one node holds at the start or at the end of a step.
    pub peak_load: u64,
    /// The largest load that one node sends in one phase, including what it sends to itself.
    pub send_buffer: u128,
    /// The largest load that one node receives in one phase, including what it sends to itself.
    pub receive_buffer: u128,
    /// The number of times that all nodes rearrange their data.
    pub rearrangements: u64,
    /// The sum over steps of the largest load that one node reduces.
    pub critical_summed: u128,
    /// The number of planned nodes, on which delivery was verified: one node of each orbit of a
    /// symmetric schedule, otherwise all nodes.
    pub verified_on: u64,
}

impl Totals {
    /// Adds the facts of one more step.
    pub fn add(&mut self, facts: &StepFacts) {
        self.steps += 1;
        self.messages += facts.messages;
        self.critical_load += u128::from(facts.max_load);
        self.critical_hops += facts.max_hops;
        self.total_load += u128::from(facts.total_load);
        self.load_hops += facts.load_hops;
        self.max_link_messages = self.max_link_messages.max(facts.max_link_messages);
        self.sum_link_messages += facts.max_link_messages;
        self.max_sends = self.max_sends.max(facts.max_sends);
        self.max_receives = self.max_receives.max(facts.max_receives);
    }
}
