//! Certificates: a question, the interval that holds its optimum, and the evidence for both ends of
//! this interval.

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
    /// The evidence for both ends of the interval.
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
        /// The lengths of ports. For each entry of the network's ports with the rule `every-hop`:
        /// the lengths of the sending ports of all nodes, then those of the receiving ports. For
        /// each entry with the rule `shared`: one length. With translations, only the ports of node
        /// 0 are listed.
        port_lengths: Vec<u32>,
        /// For each source, the links that carry its data, with the amounts. With translations, the
        /// number of link `k` of vertex `v` is `v` times the number of links of a vertex, plus `k`.
        /// `None` if there are too many flows; the upper end of the interval is then not certified.
        flows: Option<Vec<SourceFlow>>,
    },
    /// For data that is copied or added: the set of vertices whose data takes longest to leave the
    /// set. For sums, all links are reversed.
    Trees {
        /// The vertices of the set.
        cut: Vec<u32>,
    },
    /// For a sum that every node receives.
    SumForAll {
        /// A set of vertices that data must leave.
        out: Vec<u32>,
        /// A set of vertices that data must enter. (If all links are reversed, the data leaves the
        /// set.)
        into: Vec<u32>,
        /// The sets that give the times of the two phases of the upper end: of an allgather, and of
        /// a reduce-scatter (an allgather with all links reversed).
        parts: [Vec<u32>; 2],
    },
}
