//! Certificates. A certificate contains a problem (network and demand), an interval that contains
//! the least time of the problem, and the evidence for both ends of the interval.

use crate::demand::Demand;
use crate::network::CapacityNetwork;
use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "swapmeet-optimum-1";

/// The specs from which network and demand were made, for readers: no evidence depends on them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemSpecs {
    pub topology: String,
    pub workload: String,
    pub machine: String,
    pub seed: u64,
}

/// An interval that contains the least time in which a network can move a demand, and the evidence
/// for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    pub format: String,
    pub origin: ProblemSpecs,
    pub network: CapacityNetwork,
    pub demand: Demand,
    /// The time in µs in which a link of capacity 1 moves a unit of the demand; 0 for blocks
    /// without bytes.
    pub unit_us: f64,
    /// The lower end of the interval in µs: no schedule takes less time.
    pub lower_us: f64,
    /// The upper end of the interval in µs: there is a flow that takes this time.
    pub upper_us: f64,
    pub proof: Evidence,
}

/// A source, and for each link that carries data of this source the number of the link and the
/// amount.
pub type SourceFlow = (u32, Vec<(u32, f32)>);

/// A sender, and for each receiver (or link) its number and the amount.
pub type MessageRow = (u32, Vec<(u32, f32)>);

/// The evidence for both ends of an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Evidence {
    /// The evidence for a demand between pairs of nodes.
    Flow {
        lengths: Vec<u32>,
        /// The lengths of all ports, as one list, in the order of the network's port entries. An
        /// entry with the rule `every-hop` has the lengths of the sending ports of all nodes,
        /// followed by those of the receiving ports. An entry with the rule `shared` has one
        /// length. If the network has translations, only the ports of node 0 are in the list.
        port_lengths: Vec<u32>,
        /// For each source, the links that carry its data, with the amounts. If the network has
        /// translations, link `k` of vertex `v` has the number `v` times the number of links of a
        /// vertex, plus `k`. `None` if there are too many flows; the certificate then has no
        /// evidence for the upper end of the interval.
        flows: Option<Vec<SourceFlow>>,
    },
    /// The evidence for data that is copied (such as a broadcast) or added (such as a reduce).
    Trees {
        /// The set of vertices whose data takes the longest time to leave the set. For sums, this
        /// refers to the network with all links reversed.
        cut: Vec<u32>,
    },
    /// The evidence for data that is copied or added, as messages between nodes. The messages form
    /// trees; the trees of each piece of data reach all nodes from one root (copies), or lead from
    /// all nodes to one root (sums).
    Messages {
        lengths: Vec<u32>,
        /// As the port lengths of a flow; the rule `ends` has them for sending and receiving, too.
        port_lengths: Vec<u32>,
        roots: Vec<(u32, f32)>,
        copies: Vec<MessageRow>,
        sums: Vec<MessageRow>,
        flows: Vec<MessageRow>,
    },
    /// The evidence for a sum that every node receives.
    SumForAll {
        /// A set of vertices that data must leave. The time that this takes is a lower bound.
        out: Vec<u32>,
        /// A set of vertices that data must enter.
        into: Vec<u32>,
        /// Two sets of vertices, which give the times of the two phases of the upper end. The first
        /// phase is an allgather. The second one is a reduce-scatter, which is an allgather with
        /// all links reversed.
        parts: [Vec<u32>; 2],
    },
}
