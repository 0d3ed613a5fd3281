//! A certificate contains a problem (network and demand), an interval that contains its least time,
//! and the evidence for both ends.

use crate::demand::Demand;
use crate::network::CapacityNetwork;
use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "swapmeet-optimum-1";

/// The specs of the network and the demand, for human readers. The verification does not use them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemSpecs {
    pub topology: String,
    pub workload: String,
    pub machine: String,
    pub seed: u64,
}

/// The interval of the least time in which a network can move a demand, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    pub format: String,
    pub origin: ProblemSpecs,
    pub network: CapacityNetwork,
    pub demand: Demand,
    /// The time in µs in which a link of capacity 1 moves a unit of the demand. It is 0 if blocks
    /// have no bytes.
    pub unit_us: f64,
    /// The lower end of the interval in µs: no schedule takes less time.
    pub lower_us: f64,
    /// The upper end of the interval in µs: there is a flow that takes this time.
    pub upper_us: f64,
    pub proof: Evidence,
}

/// A source, and the links that carry its data, each with the amount.
pub type SourceFlow = (u32, Vec<(u32, f32)>);

/// A sender, and its receivers, each with the amount. In the rows of `flows`, links take the place
/// of the receivers.
pub type MessageRow = (u32, Vec<(u32, f32)>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Evidence {
    /// The evidence for a demand between pairs of nodes.
    Flow {
        lengths: Vec<u32>,
        /// The lengths of the ports, in the order of the network's list of ports. For the rule
        /// `every-hop`, these are the lengths of the sending ports of all nodes, followed by those
        /// of the receiving ports. For `shared`, it is one length. If there are translations, only
        /// the ports of node 0 are listed.
        port_lengths: Vec<u32>,
        /// For each source, the links that carry its data, each with the amount. If there are
        /// translations, link `k` of vertex `v` has the number `v` times the number of links of a
        /// vertex, plus `k`. `None` if the flows are too long to be listed.
        flows: Option<Vec<SourceFlow>>,
    },
    /// The evidence for data that is copied (such as a broadcast) or added (such as a reduce).
    Trees {
        /// The set of vertices whose data takes longest to leave the set. For sums, links are
        /// reversed.
        cut: Vec<u32>,
    },
    /// The evidence for data that is copied or added, if it consists of messages between nodes,
    /// which form trees.
    Messages {
        lengths: Vec<u32>,
        /// The lengths of the ports, as in a flow. In addition, ports with the rule `ends` have
        /// lengths for sending and for receiving.
        port_lengths: Vec<u32>,
        roots: Vec<(u32, f32)>,
        copies: Vec<MessageRow>,
        sums: Vec<MessageRow>,
        flows: Vec<MessageRow>,
    },
    /// The evidence for a sum that every node receives.
    SumForAll {
        /// A set of vertices that data must leave. The time for this is a lower bound.
        out: Vec<u32>,
        /// A set of vertices that data must enter. The time for this is also a lower bound.
        into: Vec<u32>,
        /// The cuts for the times of a reduce-scatter and an allgather, whose sum is the upper end.
        parts: [Vec<u32>; 2],
    },
}
