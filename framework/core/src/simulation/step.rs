//! One step of a schedule: its messages, and facts that do not depend on a machine.

use crate::delivery::traced::Proof;
use crate::network::symmetry::Group;
use crate::network::topology::Route;
pub use crate::network::transfer::Transfer;

/// The facts of a step. Loads are in bytes if blocks have explicit sizes. Otherwise, they are in
/// blocks, or in segments if blocks are divided.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepFacts {
    /// The number of messages between different nodes. Local copies are not messages.
    pub messages: u64,
    /// The load of the longest message.
    pub max_load: u64,
    /// The load of all messages.
    pub total_load: u64,
    /// The number of links on the longest route.
    pub max_hops: u64,
    /// The sum of load times hops over all messages.
    pub load_hops: u128,
    /// The largest number of messages on one directed link.
    pub max_link_messages: u64,
    /// The largest load on one directed link.
    pub max_link_load: u64,
    /// The largest product of a message's load and the number of messages on a link of its route;
    /// `None` unless a listener needs it.
    pub max_multiplexed_load: Option<u128>,
    /// The largest number of messages that a physical node sends.
    pub max_sends: u64,
    /// The largest number of messages that one node receives.
    pub max_receives: u64,
    /// The largest load that one node sends or receives.
    pub max_node_load: u64,
    /// The largest load that a node sends or receives over links, without messages between ranks
    /// that share the node.
    pub max_injected_load: u64,
    /// The largest load that a node sends and receives in messages of several blocks; `None` unless
    /// a listener needs it.
    pub max_packed_load: Option<u64>,
    /// The largest number of blocks (or fractions of blocks) that a node sends and receives in
    /// messages of several blocks; `None` unless a listener needs it. In a schedule of byte counts,
    /// all data for one destination counts as a block.
    pub max_packed_blocks: Option<f64>,
    /// Whether any node sends to one node and receives from a different one. Otherwise, each node
    /// only sends, only receives, or exchanges messages with a single node.
    pub one_directional: bool,
    /// The largest latency of a route, as a multiple of `hop_us`. `None` if the latency of every
    /// link is `hop_us`.
    pub max_latency: Option<f64>,
    /// Expected values, if routes are drawn at random. All other facts about links and hops are
    /// then those of one draw.
    pub expected: Option<Expected>,
    /// Loads divided by the bandwidths of links. `None` if all links have the machine's bandwidth.
    pub bandwidth_times: Option<BandwidthTimes>,
}

/// The expected values of links and routes that are drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Expected {
    /// The largest expected number of messages on a directed link.
    pub messages: f64,
    /// The largest expected load on a directed link.
    pub load: f64,
    /// The largest expected number of hops of a message.
    pub hops: f64,
}

/// Facts of a step as times: loads divided by bandwidths, in units of the machine's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthTimes {
    /// The largest time of a message: its load divided by the lowest bandwidth on its route.
    pub message: f64,
    /// The largest time of a link: its load divided by its bandwidth.
    pub link: f64,
    /// The largest product of three values, for any message and link of its route: the message's
    /// load, the number of messages on the link, and 1 / bandwidth of the link. Equal to
    /// [`Self::message`] unless a listener needs this value.
    pub multiplexed: f64,
    /// The largest time that a node needs to send all of its messages, or to receive them.
    pub node: f64,
}

impl StepFacts {
    pub(crate) fn check(&self, messages: usize, link_slots: u64) {
        let holds = messages > 0
            && self.messages >= messages as u64
            && self.max_load <= self.max_node_load
            && self.max_injected_load <= self.max_node_load
            && self.max_node_load <= self.total_load
            && self.max_sends.max(self.max_receives) <= self.messages
            // The load of a message is on each link of its route, and on no other link. If no link
            // is shared, `max_link_load` can be the load of a message that uses no link.
            && u128::from(self.max_link_load) <= self.load_hops.max(u128::from(self.max_load))
            && self.load_hops <= u128::from(self.total_load) * u128::from(self.max_hops)
            && self.load_hops <= u128::from(self.max_link_load) * u128::from(link_slots);
        assert!(holds, "the loads of a step contradict each other: {self:?}");
    }

    /// Returns the largest latency of a route, as a multiple of `hop_us`.
    pub fn latency(&self) -> f64 {
        self.max_latency.unwrap_or(self.max_hops as f64)
    }

    /// Returns the time of the slowest message without contention. The unit is the time of one unit
    /// of load at the machine's bandwidth.
    pub fn longest(&self) -> f64 {
        self.bandwidth_times.map_or(self.max_load as f64, |bandwidth_times| bandwidth_times.message)
    }

    pub(crate) fn through_link(&self) -> f64 {
        self.bandwidth_times
            .map_or(self.max_link_load as f64, |bandwidth_times| bandwidth_times.link)
    }

    pub(crate) fn through_node(&self) -> f64 {
        self.bandwidth_times.map_or(self.max_node_load as f64, |times| times.node)
    }

    /// Returns the time of the slowest message if messages share links equally, or
    /// [`StepFacts::longest`] if multiplexing was not measured.
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
    /// The number of the step in the schedule, from 1. Steps without messages are counted, too.
    pub schedule_step: u64,
    /// The name of the step's phase; empty if the schedule has no named phases.
    pub phase: &'a str,
    /// The number of the phase, from 1.
    pub phase_number: u32,
    /// All messages of the step, in the order of their first sends. No two have the same sender,
    /// receiver and requested route. In a symmetric schedule, if no listener reads more than
    /// [`Detail::Representatives`](crate::simulation::listener::Detail), these are the messages of
    /// the planned nodes, without hops ([`Step::symmetry`]).
    pub transfers: &'a [Transfer],
    /// The group that maps `transfers` to the messages of all nodes. `None` if `transfers` has them
    /// all.
    pub symmetry: Option<&'a Group>,
    /// For each message, the schedule's number of the latest step in which any of its data arrived
    /// at its sender; 0 if the sender had all of the data from the start. Empty unless a listener
    /// needs it ([`Interests::arrivals`](crate::simulation::listener::Interests)).
    pub latest_arrivals: &'a [u32],
    /// The requested routes, to which [`Transfer::route`] refers.
    pub routes: &'a [Route],
    /// The number of segments of a block. Loads count segments.
    pub segments: u64,
    /// For each message, the sum of `1 / bandwidth` of its links; empty if all bandwidths are 1.
    pub inverse_bandwidth: &'a [f64],
    /// For each message, its expected hops; empty unless routes are drawn at random.
    pub mean_hops: &'a [f64],
    /// For each link that may be the busiest, the number of messages on the link, and the time of
    /// their loads in the unit of [`StepFacts::longest`]. A link is left out if another link has at
    /// least as many messages and as long a time. Empty unless a listener needs it.
    pub busiest_links: &'a [(u64, f64)],
    /// The facts of the step.
    pub facts: StepFacts,
    /// The load that each node (with `symmetry`, each planned node) holds at the end of the step.
    pub held: &'a [u64],
}

impl<'a> Step<'a> {
    /// Returns the largest number of blocks that a node sends and receives in messages of several
    /// blocks. `counted` is set if all blocks have the same size.
    pub(crate) fn packed_blocks(&self, counted: bool) -> f64 {
        if counted && self.proof != Proof::ByteCounts {
            return self.facts.max_packed_load.unwrap_or(0) as f64 / self.segments as f64;
        }
        self.facts.max_packed_blocks.unwrap_or(0.0)
    }

    /// Creates a step without number and phase, and without the fields that listeners must request.
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

/// The totals of a schedule. Sums over steps may need more than 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// The kind of data whose delivery was verified.
    pub proof: Proof,
    /// The number of segments of a block. Loads count segments.
    pub segments: u64,
    /// The number of steps in which a message was sent.
    pub steps: u64,
    /// The number of messages of all steps.
    pub messages: u64,
    /// The load of the longest message of each step, summed over all steps.
    pub critical_load: u128,
    /// The number of links on the longest route of each step, summed over all steps.
    pub critical_hops: u64,
    /// The load of all messages.
    pub total_load: u128,
    /// The sum of load times hops over all messages.
    pub load_hops: u128,
    /// The largest number of messages on one directed link in one step.
    pub max_link_messages: u64,
    /// The largest number of messages on a directed link in each step, summed over all steps.
    pub sum_link_messages: u64,
    /// The largest number of messages that one node sends in one step.
    pub max_sends: u64,
    /// The largest number of messages that one node receives in one step.
    pub max_receives: u64,
    /// The largest load that one node holds at the start or at the end of a step.
    pub peak_load: u64,
    /// The largest load that a node sends in a phase, including data that it sends to itself.
    pub send_buffer: u128,
    /// The largest load that a node receives in a phase, including data that it sends to itself.
    pub receive_buffer: u128,
    /// The number of times that all nodes rearrange their data.
    pub rearrangements: u64,
    /// The largest load that a node reduces in each step, summed over all steps.
    pub critical_summed: u128,
    /// The number of nodes whose delivery was verified: one per orbit, or all.
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
