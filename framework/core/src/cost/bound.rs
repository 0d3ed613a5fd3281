//! Lower bounds: what no schedule can beat.
//!
//! For a machine whose model adds up start-ups, transmission, propagation and barriers of
//! synchronous steps, each part has a bound of its own that holds for every schedule, so their sum
//! is a bound on the completion time: for `wormhole` and `circuit`, where a step's longest message
//! and its longest route are charged apart. Machines of the model `flat` have no steps and no
//! network: `flat` says what they can't do without.
//!
//! * **Start-ups.** With k ports, a node's data has reached at most (k+1)^s nodes after s steps:
//!   `ceil(log_(k+1) n)` start-ups, and one barrier less (Suh & Shin, 3.1.4, for one port). Under
//!   `circuit` a port carries q circuits, so that k is q times the ports (Spencer, 3.1).
//! * **Transmission.** A node sends and receives what it must through k ports at most, and over its
//!   links; what must cross a cut shares the cut's links (for the complete exchange of m-byte
//!   blocks on a torus whose longest side N1 is even that is `n N1 / 8 m` bytes, on a mesh `n N1 /
//!   4 m`: Suh & Shin, 3.1.4); and all bytes times hops share all links (Spencer, 4.6). `cuts` says
//!   which cuts. A link that carries `free_contention` messages at full speed counts as that many
//!   (`wormhole` only).
//! * Where some pairs have nothing for each other, those who have something for most, or get it
//!   from most, count for n; and something goes one hop at least.
//! * **Reduction.** Every byte of a sum of n terms is n - 1 additions, of a reduce or allreduce of
//!   m bytes shared by n nodes at best: (n - 1)/n m bytes at one of them; of a reduce-scatter n - 1
//!   times a node's result. With the start-ups above and 2 (n - 1)/n m bytes through a node's ports
//!   this is what Chan et al. (2007) have for an allreduce.
//! * **Propagation.** Some block goes between the two nodes farthest apart of which one has
//!   something for the other.
//!
//! Under `store-and-forward` hops are start-ups of the message that takes longest, which need not
//! be the message that goes farthest. There the bound is the larger of two: start-ups and
//! transmission as above, or the farthest hops in start-ups. Transmission there counts each hop: a
//! block must cross as many links as its ends are apart, and n nodes with k ports move at most n k
//! messages over one link each at a time.

use crate::cost::parameter::PortLimit;
use crate::network::topology::Topology;
use std::fmt;

mod cuts;
mod demand;
#[cfg(test)]
mod max_flow_oracle;
mod traffic;

pub use traffic::Traffic;

/// What shows a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoundKind {
    /// Steps until something can have reached everyone it is for.
    #[default]
    StartUps,
    /// The bytes of a node, through its ports.
    Ports,
    /// The bytes of a node, over its links.
    NodeLinks,
    /// What must cross the middle of the network.
    Bisection,
    /// What must cross some other cut.
    Cut,
    /// Bytes times hops, over all links.
    Distances,
    /// The way of what goes farthest, stored at every node.
    Hops,
    /// What a node composes, copies and transmits.
    Bytes,
}

impl fmt::Display for BoundKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StartUps => "start-ups",
            Self::Ports => "ports",
            Self::NodeLinks => "node-links",
            Self::Bisection => "bisection",
            Self::Cut => "cut",
            Self::Distances => "distances",
            Self::Hops => "hops",
            Self::Bytes => "bytes",
        })
    }
}

/// Lower bounds on the parts of a completion time, in us.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    /// Start-ups (alpha) that no schedule avoids.
    pub startup_us: f64,
    /// Transmission, whether or not links are shared.
    pub transmission_us: f64,
    /// Propagation that no schedule avoids.
    pub propagation_us: f64,
    /// Composing what is sent (`flat` only).
    pub rearrangement_us: f64,
    /// Barriers that no schedule avoids.
    pub barrier_us: f64,
    /// Adding up what comes from different nodes.
    pub reduction_us: f64,
    /// What shows the transmission, or the start-ups where nothing is transmitted.
    pub kind: BoundKind,
}

impl Bound {
    /// The larger of two bounds that both hold but don't add up.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        if self.total_us() > other.total_us() { self } else { other }
    }

    /// The sum of the parts: a time that no schedule beats.
    pub fn total_us(&self) -> f64 {
        self.startup_us
            + self.transmission_us
            + self.propagation_us
            + self.rearrangement_us
            + self.barrier_us
            + self.reduction_us
    }
}

/// The bytes that the busiest node must send, or receive, through one of its ports, as fast as the
/// fastest link.
pub(super) fn port_bytes(topology: &dyn Topology, traffic: &Traffic, ports: PortLimit) -> f64 {
    let fastest = topology.bandwidths().map_or(1.0, |(_, most)| most);
    traffic.sent.max(traffic.received) / ports.at_most(topology.nodes() - 1) as f64 / fastest
}

/// The bytes that must go, one after another, through a port or a link, of which each carries
/// `free` messages at full speed; and what shows that.
pub(super) fn network_bytes(
    topology: &dyn Topology,
    traffic: &Traffic,
    ports: PortLimit,
    free: f64,
) -> (f64, BoundKind) {
    let (on_links, through_ports) =
        (traffic.on_links.bytes / free, port_bytes(topology, traffic, ports));
    if on_links > through_ports {
        return (on_links, traffic.on_links.kind);
    }
    (through_ports, if through_ports > 0.0 { BoundKind::Ports } else { BoundKind::StartUps })
}

/// What the way of what goes farthest costs at least, in hops of the machine's.
pub(super) fn least_latency(topology: &dyn Topology, traffic: &Traffic) -> f64 {
    traffic.farthest as f64 * topology.latencies().map_or(1.0, |(least, _)| least)
}

/// The larger of a transmission and of what the busiest node's bytes take on its own way into the
/// network, or out of it; and what shows that.
pub(super) fn or_injected(
    topology: &dyn Topology,
    traffic: &Traffic,
    injection_byte_us: f64,
    transmission_us: f64,
    kind: BoundKind,
) -> (f64, BoundKind) {
    // What ranks of one node have for each other does not leave it.
    let injected = if topology.node_network().is_some() {
        0.0
    } else {
        traffic.sent.max(traffic.received) * injection_byte_us
    };
    if injected > transmission_us { (injected, BoundKind::Bytes) } else { (transmission_us, kind) }
}

/// The same if each byte is charged at every hop.
pub(super) fn stored_bytes(
    topology: &dyn Topology,
    traffic: &Traffic,
    ports: PortLimit,
) -> (f64, BoundKind) {
    let (bytes, kind) = network_bytes(topology, traffic, ports, 1.0);
    let all_ports = ports.at_most(topology.nodes() - 1) as f64 * topology.nodes() as f64;
    let over_ports =
        traffic.hop_bytes / all_ports / topology.bandwidths().map_or(1.0, |(_, most)| most);
    if over_ports > bytes { (over_ports, BoundKind::Distances) } else { (bytes, kind) }
}

/// The fewest steps in which a node's data can reach everyone, if each who has it sends so many
/// messages a step.
pub(super) fn fewest_steps(nodes: u64, messages: u64) -> u64 {
    let grows = u128::from(messages.clamp(1, nodes)) + 1;
    let (mut reached, mut steps) = (1_u128, 0);
    while reached < u128::from(nodes) {
        reached *= grows;
        steps += 1;
    }
    steps
}

#[cfg(test)]
mod tests;
