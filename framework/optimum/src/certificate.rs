//! Certificates: a question, both ends of the interval, and the evidence for them.

use crate::demand::Demand;
use crate::network::Network;
use serde::{Deserialize, Serialize};

/// The name and version of the format, which is the first field of every certificate.
pub const FORMAT: &str = "swapmeet-optimum-1";

/// The specs from which network and demand were made. No proof depends on them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The topology.
    pub topology: String,
    /// The workload.
    pub workload: String,
    /// The machine.
    pub machine: String,
    /// The seed of random workloads.
    pub seed: u64,
}

/// An interval for the least time in which a network can move a demand, and the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// The specs from which network and demand were made.
    pub origin: Origin,
    /// The network.
    pub network: Network,
    /// The demand.
    pub demand: Demand,
    /// The time in which a link of capacity 1 moves one unit of the demand, in µs.
    pub unit_us: f64,
    /// No schedule takes less time, in µs.
    pub lower_us: f64,
    /// Some flow takes this time, in µs.
    pub upper_us: f64,
    /// The evidence for both ends.
    pub proof: Proof,
}

/// A source, and the links that carry its data, with the amounts.
pub type SourceFlow = (u32, Vec<(u32, f32)>);

/// The evidence for both ends of an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Proof {
    /// For demands between pairs of nodes.
    Flow {
        /// The length of each link of the network.
        lengths: Vec<u32>,
        /// The lengths of ports: for each entry of the network's ports with the rule `every-hop`,
        /// those of the sending and then of the receiving ports of all nodes; with the rule
        /// `shared`, one. With translations, those of node 0.
        port_lengths: Vec<u32>,
        /// For each source, the links that carry its data, with the amounts. With translations,
        /// link `k` of vertex `v` has the number `v` times the links of a vertex, plus `k`. `None`
        /// if there are too many; the upper end is then not certified.
        flows: Option<Vec<SourceFlow>>,
    },
    /// For data that is copied or added: the vertices of the set whose data takes longest to leave
    /// it. For sums, all links are turned round.
    Trees {
        /// The vertices of the set.
        cut: Vec<u32>,
    },
    /// For a sum that every node receives.
    SumForAll {
        /// A set of vertices that its data must leave.
        out: Vec<u32>,
        /// A set of vertices that data must enter: it leaves the set if links are turned round.
        into: Vec<u32>,
        /// The sets of the two parts of the upper end: an allgather, and the same with links
        /// turned round (a reduce-scatter).
        parts: [Vec<u32>; 2],
    },
}
