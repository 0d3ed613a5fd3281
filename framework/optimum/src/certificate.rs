//! A certificate contains a problem (network and demand), an interval that contains its least time,
//! and the evidence for both ends.

use crate::demand::Demand;
use crate::network::CapacityNetwork;
use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "swapmeet-optimum-1";

/// The specs of network and demand, for readers. No evidence depends on them.
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
    /// The time in µs of a unit of the demand on a link of capacity 1; 0 for blocks without bytes.
    pub unit_us: f64,
    /// The lower end of the interval in µs: no schedule takes less time.
    pub lower_us: f64,
    /// The upper end of the interval in µs: there is a flow that takes this time.
    pub upper_us: f64,
    pub proof: Evidence,
}

/// A source, and the links that carry its data, with the amounts.
pub type SourceFlow = (u32, Vec<(u32, f32)>);

/// A sender, and its receivers with the amounts. In a flow, links replace the receivers.
pub type MessageRow = (u32, Vec<(u32, f32)>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Evidence {
    /// The evidence for a demand between pairs of nodes.
    Flow {
        lengths: Vec<u32>,
        /// The lengths of all ports, in the order of the network's port entries: for the rule
        /// `every-hop` the sending ports of all nodes and then the receiving ones, for `shared` one
        /// length. With translations, only the ports of node 0 are listed.
        port_lengths: Vec<u32>,
        /// For each source, the links that carry its data, with the amounts. With translations,
        /// link `k` of vertex `v` has the number `v` times the links of a vertex, plus `k`. `None`
        /// if there are too many.
        flows: Option<Vec<SourceFlow>>,
    },
    /// The evidence for data that is copied (such as a broadcast) or added (such as a reduce).
    Trees {
        /// The vertices whose data takes longest to leave them, for sums in the reversed network.
        cut: Vec<u32>,
    },
    /// The evidence for data that is copied or added, as messages between nodes, which form trees.
    Messages {
        lengths: Vec<u32>,
        /// The port lengths as in a flow. Ports of the rule `ends` also have them, for sending and
        /// receiving.
        port_lengths: Vec<u32>,
        roots: Vec<(u32, f32)>,
        copies: Vec<MessageRow>,
        sums: Vec<MessageRow>,
        flows: Vec<MessageRow>,
    },
    /// The evidence for a sum that every node receives.
    SumForAll {
        /// Data must leave this set of vertices, in a time that is a lower bound.
        out: Vec<u32>,
        /// Data must enter this set of vertices.
        into: Vec<u32>,
        /// Sets of vertices that give the times of a reduce-scatter and an allgather, for the upper
        /// end.
        parts: [Vec<u32>; 2],
    },
}
