//! One step after resolution: what really moved, and the facts about it that no machine changes.

use crate::delivery::payload::Proof;
use crate::network::symmetry::Group;
use crate::network::topology::Route;
pub use crate::network::transfer::Transfer;

/// What no machine changes about a step. Loads are in blocks when sizes are uniform, in bytes
/// otherwise; times the number of segments where blocks are split.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepFacts {
    /// Messages between different nodes; local copies are none.
    pub messages: u64,
    /// Load of the longest message.
    pub max_load: u64,
    /// Load of all messages together.
    pub total_load: u64,
    /// Links of the longest route.
    pub max_hops: u64,
    /// Load times hops, over all messages.
    pub load_hops: u128,
    /// The most messages on one directed link.
    pub max_link_messages: u64,
    /// The most load on one directed link.
    pub max_link_load: u64,
    /// The most, over all messages, of a message's load times the most messages on a link of its
    /// route; `None` unless a listener wants it.
    pub max_multiplexed_load: Option<u128>,
    /// The most messages one node sends; those of all its ranks where it has several.
    pub max_sends: u64,
    /// The most messages one node receives.
    pub max_receives: u64,
    /// The most load one node sends or receives.
    pub max_node_load: u64,
    /// The most load one node sends or receives over links: all of it, but where several ranks
    /// share a node.
    pub max_injected_load: u64,
    /// The most load that one node sends and receives in messages of more than one block; `None`
    /// unless a listener wants it.
    pub max_packed_load: Option<u64>,
    /// Whether some node sends to one node and receives from another.
    pub one_directional: bool,
    /// The most that crossing the links of a message's route costs, in hops of the machine's;
    /// `None` where every link costs one.
    pub max_latency: Option<f64>,
    /// What is expected where routes are drawn among several; the facts of links and hops are those
    /// of one draw then.
    pub expected: Option<Expected>,
    /// What bandwidths make of loads; `None` where all links have the machine's.
    pub bandwidth_times: Option<BandwidthTimes>,
}

/// What is expected of links and ways where routes are drawn among several.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Expected {
    /// The most messages on a directed link.
    pub messages: f64,
    /// The most load on a directed link.
    pub load: f64,
    /// The most hops of a message.
    pub hops: f64,
}

/// The same facts as times of a step: loads over the bandwidths of the links they cross.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthTimes {
    /// The most, over all messages, of a load over the least bandwidth on its way.
    pub message: f64,
    /// The most, over all links, of the load over the bandwidth.
    pub link: f64,
    /// The most, over all messages and the links of their ways, of the load times the messages on
    /// the link over its bandwidth.
    pub multiplexed: f64,
    /// The most, over all nodes, of what its messages take one after another, those that it sends
    /// or those that it receives.
    pub node: f64,
}

impl StepFacts {
    /// What the longest route costs, in hops of the machine's.
    pub fn latency(&self) -> f64 {
        self.max_latency.unwrap_or(self.max_hops as f64)
    }

    /// How long the slowest message takes by itself, in loads at the machine's bandwidth.
    pub fn longest(&self) -> f64 {
        self.bandwidth_times.map_or(self.max_load as f64, |bandwidth_times| bandwidth_times.message)
    }

    /// How long the busiest link takes.
    pub(crate) fn through_link(&self) -> f64 {
        self.bandwidth_times
            .map_or(self.max_link_load as f64, |bandwidth_times| bandwidth_times.link)
    }

    /// How long the messages of the busiest node take, one after another, those that it sends or
    /// those that it receives.
    pub(crate) fn through_node(&self) -> f64 {
        self.bandwidth_times.map_or(self.max_node_load as f64, |times| times.node)
    }

    /// How long the circuit takes that shares its links with most; as [`StepFacts::longest`] unless
    /// that is measured.
    pub(crate) fn multiplexed(&self) -> f64 {
        match (self.bandwidth_times, self.max_multiplexed_load) {
            (Some(bandwidth_times), _) => bandwidth_times.multiplexed,
            (None, most) => most.map_or(self.max_load as f64, |most| most as f64),
        }
    }
}

/// A step in which something was sent.
#[derive(Debug)]
pub struct Step<'a> {
    /// What moves: with [`Proof::ByteCounts`] loads are bytes.
    pub proof: Proof,
    /// Its number among such steps, from 1.
    pub number: u64,
    /// The schedule's own number of it, from 1, which counts steps in which nothing leaves a node.
    pub schedule_step: u64,
    /// The phase it belongs to; empty if the schedule names none.
    pub phase: &'a str,
    /// Number of the phase, from 1.
    pub phase_number: u32,
    /// Every message, no two with the same ends, in the order in which the schedule first named
    /// their ends. Where one node of each orbit is planned for and nobody reads more than
    /// [`Detail::Representatives`](crate::simulation::listener::Detail), only what these nodes
    /// send, and without hops: [`Step::symmetry`].
    pub transfers: &'a [Transfer],
    /// The group whose elements take these transfers to all; `None` where all are there.
    pub symmetry: Option<&'a Group>,
    /// For each transfer the latest step, by the schedule's own number, in which any of what it
    /// carries came to its sender: 0 if all was there at the start. Empty unless a listener wants
    /// it ([`Interests::arrivals`](crate::simulation::listener::Interests)).
    pub latest_arrivals: &'a [u32],
    /// Ways that transfers refer to.
    pub routes: &'a [Route],
    /// In how many segments blocks are split; loads are in such segments.
    pub segments: u64,
    /// For each transfer the sum over its links of one over their bandwidths; empty where all links
    /// have the machine's.
    pub inverse_bandwidth: &'a [f64],
    /// For each transfer the hops that are expected of it; empty unless routes are drawn among
    /// several.
    pub mean_hops: &'a [f64],
    /// Messages and time of links, in loads at the machine's bandwidth: those of which no other has
    /// more of both; empty unless a listener wants it.
    pub busiest_links: &'a [(u64, f64)],
    /// What no machine changes.
    pub facts: StepFacts,
    /// What each node of the machine holds at its end, in loads; or each that is planned for.
    pub held: &'a [u64],
}

impl<'a> Step<'a> {
    /// One whose number and phase are not yet known, with all that nobody has to want empty.
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

/// What no machine changes about a whole schedule. The loads of one step fit 64 bits, the sums of
/// many steps need not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// How delivery was proved.
    pub proof: Proof,
    /// In how many segments blocks are split; loads are in such segments.
    pub segments: u64,
    /// Steps in which anything was sent.
    pub steps: u64,
    /// Messages over all steps.
    pub messages: u64,
    /// Sum over steps of the longest message.
    pub critical_load: u128,
    /// Sum over steps of the longest route.
    pub critical_hops: u64,
    /// Load over all messages.
    pub total_load: u128,
    /// Load times hops over all messages.
    pub load_hops: u128,
    /// The most messages on one directed link in one step.
    pub max_link_messages: u64,
    /// Sum over steps of the most messages on one directed link.
    pub sum_link_messages: u64,
    /// The most messages one node sends in one step.
    pub max_sends: u64,
    /// The most messages one node receives in one step.
    pub max_receives: u64,
    /// The most load one node holds, at the start or a step's end.
    pub peak_load: u64,
    /// The most load one node sends in one phase, what it sends itself included.
    pub send_buffer: u128,
    /// The most load one node receives in one phase, what it sends itself included.
    pub receive_buffer: u128,
    /// How often nodes rearrange what they hold.
    pub rearrangements: u64,
    /// Sum over steps of the most load that one node adds to what it has.
    pub critical_summed: u128,
    /// Nodes that were planned for, and on which delivery was proved: one of each orbit where a
    /// group maps the schedule onto itself, else all.
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
