//! Lower bounds on the completion time of any schedule.
//!
//! The models `wormhole` and `circuit` charge start-ups, transmission, propagation and barriers of
//! synchronous steps separately. Each part has a lower bound for every schedule, so the sum of
//! these is a lower bound on the completion time. Machines of the model `flat` have no steps and no
//! network; `model/flat/bound.rs` has their bounds.
//!
//! * **Start-ups.** With k ports, a node's data has reached at most (k+1)^s nodes after s steps. So
//!   a schedule has at least `ceil(log_(k+1) n)` start-ups, and one barrier fewer (Suh & Shin,
//!   3.1.4, for one port). In the model `circuit` a port carries q circuits, so k is q times the
//!   number of ports (Spencer, 3.1). If some pairs of nodes exchange nothing, n is the largest
//!   number of peers of a node, plus one.
//! * **Transmission.** This is the largest of three bounds. (1) A node's bytes pass through its k
//!   ports and its links. (2) The bytes that must cross a cut share the links of the cut (see
//!   `cuts`). For the complete exchange of m-byte blocks these are `n N1 / 8 m` bytes per link on a
//!   torus with an even longest side N1, and `n N1 / 4 m` on a mesh (Suh & Shin, 3.1.4). (3) A
//!   block of b bytes that crosses h links uses link capacity for b h bytes. The sum over all
//!   blocks is divided among all links (Spencer, 4.6). In `wormhole`, a link that carries
//!   `free_contention` messages at full speed counts as that many links.
//! * **Reduction.** Each byte of a sum of n terms needs n - 1 additions. In a reduce or allreduce
//!   of m bytes, n nodes share these additions at best: (n - 1)/n m bytes for one node. In a
//!   reduce-scatter a node adds n - 1 times the size of its result. For an allreduce, this bound
//!   and 2 (n - 1)/n m bytes through a node's ports give the bound of Chan et al. (2007).
//! * **Propagation.** Among the pairs of nodes of which one has data for the other, the most
//!   distant pair determines the propagation.
//!
//! In `store-and-forward` a message has a start-up for each hop, and the slowest message of a step
//! need not be the one with most hops. There the bound is the larger of two: start-ups and
//! transmission as above, or one start-up for each hop of the longest route. Transmission counts
//! every hop: n nodes with k ports move at most n k messages over one link each at a time.

use crate::cost::parameter::PortLimit;
use crate::network::topology::Topology;
use std::fmt;

mod crossing;
mod cuts;
mod demand;
#[cfg(test)]
mod max_flow_oracle;
mod traffic;

pub use traffic::Traffic;

/// The argument for a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoundKind {
    /// The number of steps until data can have reached all of its destinations.
    #[default]
    StartUps,
    /// The bytes that a node must send or receive through its ports.
    Ports,
    /// The bytes that a node must send or receive over its links.
    NodeLinks,
    /// The bytes across the bisection of the network.
    Bisection,
    /// The bytes across another cut.
    Cut,
    /// The sum of bytes times hops over all blocks, divided among all links.
    Distances,
    /// The largest link load that no choice of routes can avoid, computed from network flows.
    Flow,
    /// The longest route, stored at every node.
    Hops,
    /// The bytes that a node rearranges, copies and transmits.
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
            Self::Flow => "flow",
            Self::Hops => "hops",
            Self::Bytes => "bytes",
        })
    }
}

/// Lower bounds on the parts of a completion time, in µs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    /// Start-ups (alpha).
    pub startup_us: f64,
    /// Transmission, whether or not links are shared.
    pub transmission_us: f64,
    /// Propagation.
    pub propagation_us: f64,
    /// Rearrangement of sent data (`flat` only).
    pub rearrangement_us: f64,
    /// Barriers.
    pub barrier_us: f64,
    /// Reductions.
    pub reduction_us: f64,
    /// The argument for the transmission bound, or for the start-ups if nothing is transmitted.
    pub kind: BoundKind,
}

impl Bound {
    /// Returns the larger of two valid bounds.
    #[must_use]
    pub(super) fn max(self, other: Self) -> Self {
        if self.total_us() > other.total_us() { self } else { other }
    }

    /// Returns the sum of the parts: a lower bound on the completion time.
    pub fn total_us(&self) -> f64 {
        self.startup_us
            + self.transmission_us
            + self.propagation_us
            + self.rearrangement_us
            + self.barrier_us
            + self.reduction_us
    }
}

/// Returns the bytes that the busiest node must send or receive through one port, divided by the
/// bandwidth of the fastest link.
pub(super) fn port_bytes(topology: &dyn Topology, traffic: &Traffic, ports: PortLimit) -> f64 {
    let fastest = topology.bandwidths().map_or(1.0, |(_, most)| most);
    traffic.sent.max(traffic.received) / ports.at_most(topology.nodes() - 1) as f64 / fastest
}

/// Returns the largest number of bytes that must pass through one port or one link, and the
/// argument for it. A link carries `free` messages at full speed.
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

/// Returns the smallest latency that the longest route can have, in units of `hop_us`.
pub(super) fn least_latency(topology: &dyn Topology, traffic: &Traffic) -> f64 {
    traffic.farthest as f64 * topology.latencies().map_or(1.0, |(least, _)| least)
}

/// Returns the larger of two times, and the argument for it: `transmission_us`, and the time that
/// the busiest node's bytes take between the node and the network.
pub(super) fn or_injected(
    topology: &dyn Topology,
    traffic: &Traffic,
    injection_byte_us: f64,
    transmission_us: f64,
    kind: BoundKind,
) -> (f64, BoundKind) {
    // Messages between ranks of one node are not injected.
    let injected = if topology.node_network().is_some() {
        0.0
    } else {
        traffic.sent.max(traffic.received) * injection_byte_us
    };
    if injected > transmission_us { (injected, BoundKind::Bytes) } else { (transmission_us, kind) }
}

/// Returns the bound of [`network_bytes`] for messages that are stored at every node of their
/// routes, so that each byte is charged at every hop.
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

/// Returns the smallest number of steps in which data can reach all nodes, if each node sends it to
/// `messages` others in a step.
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
