//! Lower bounds on the completion time of any schedule.
//!
//! The models `wormhole` and `circuit` charge five costs of synchronous steps separately:
//! start-ups, barriers, transmission, reduction and propagation. The sum of a lower bound for each
//! cost is a lower bound on the completion time. `model/flat.rs` has the bounds of the model
//! `flat`.
//!
//! * **Start-ups and barriers.** With k ports, data of a node has reached at most `(k+1)^s` nodes
//!   after s steps. So a schedule for n nodes has at least `ceil(log_(k+1) n)` start-ups, and one
//!   barrier less, because barriers are between steps (Suh & Shin, 3.1.4, for one port). In the
//!   model `circuit`, k is the number of ports times the virtual channels of a link, because a port
//!   carries as many circuits as a link (Spencer, 3.1). If some pairs of nodes exchange no data, n
//!   is the largest number of peers of a node, plus one.
//! * **Transmission.** The largest of three bounds is used. (1) The bytes of a node must pass
//!   through its k ports and its links. (2) The bytes that must cross a cut are divided among its
//!   links (see `cuts`). For the complete exchange of m-byte blocks, the busiest link carries at
//!   least `m n N1 / 8` bytes on a torus whose longest side N1 is even, and `m n N1 / 4` bytes on a
//!   mesh (Suh & Shin, 3.1.4). (3) A block of b bytes that crosses h links uses link capacity for
//!   `b h` bytes. The sum of this capacity over all blocks is divided among all links (Spencer,
//!   4.6). In `wormhole`, a link that carries `free_contention` messages at full speed counts as
//!   that many links.
//! * **Reduction.** Each byte of a sum of n terms needs n - 1 additions. In a reduce or allreduce
//!   of m bytes, at best each of n nodes reduces `(n - 1)/n m` bytes. In a reduce-scatter a node
//!   reduces n - 1 times the size of its result. For an allreduce, at least `2 (n - 1)/n m` bytes
//!   must also pass through a node's ports (Chan et al., 2007).
//!
//! With switches that can add and copy data (`reduce=switch`), data can reach all nodes in one
//! step, nodes need not add, and in an allreduce a node sends and receives only m bytes.
//!
//! * **Propagation.** The largest latency between a node and another node for which it has data. If
//!   the machine charges a step the mean of its hops, the bound is one hop for each step.
//!
//! In the model `store-and-forward`, each hop of a message has a start-up and transmits the whole
//! message again. The bound is the larger of two times, because a long message over few hops can
//! take more time than a short message over many:
//!
//! * The time of start-ups and transmission, where each hop counts as a transmission: n nodes with
//!   k ports each transmit at most `n k` messages at a time, each on one link.
//! * One start-up for each hop of the longest route.

use crate::cost::kind::Times;
use crate::cost::parameter::PortLimit;
use crate::network::topology::Network;
use std::fmt;

mod cuts;
mod traffic;

pub use traffic::Traffic;

/// The kind of a lower bound: the quantity that limits every schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoundKind {
    /// The number of steps until data can have reached all of its destinations.
    #[default]
    StartUps,
    /// The bytes that a node must send or receive through its ports.
    Ports,
    /// The bytes that a node must send or receive on its links.
    NodeLinks,
    /// The bytes that must cross the bisection of the network.
    Bisection,
    /// The bytes that must cross a cut other than the bisection.
    Cut,
    /// The bytes times hops of all blocks, divided by the total bandwidth of all links.
    Distances,
    /// The largest link load that no choice of routes can avoid, computed from network flows.
    Flow,
    /// The start-ups on the longest route, if every node of the route stores the message.
    Hops,
    /// The bytes that a node must rearrange, copy, or transmit on its link to the network.
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

/// Lower bounds on the costs that add up to a completion time, in µs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    /// The bound on each kind of time. The delay because messages share links is transmission.
    pub times: Times,
    /// The kind of the transmission bound, or [`BoundKind::StartUps`] if nothing is transmitted.
    pub kind: BoundKind,
}

impl From<Times> for Bound {
    fn from(times: Times) -> Self {
        Self { times, kind: BoundKind::StartUps }
    }
}

impl Bound {
    /// Returns the bound with the larger total time.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self.total_us() > other.total_us() { self } else { other }
    }

    /// Returns the sum of all costs, which is a lower bound on the completion time.
    pub fn total_us(&self) -> f64 {
        self.times.total()
    }
}

/// Returns the most messages that a node can send at the same time: one per link, or one per other
/// node, whichever is more.
fn most_messages(topology: &Network) -> u64 {
    /// The most nodes whose links are counted. In larger networks, all nodes have the same degree.
    const MANY: u64 = 1 << 16;
    let links = topology.degree().or_else(|| {
        let nodes = 0..topology.nodes().min(MANY);
        nodes.filter_map(|node| topology.links_from(node)).max()
    });
    links.unwrap_or(0).max(topology.nodes() - 1)
}

/// Returns the bytes per port of the busiest node, divided by the largest bandwidth of a link.
fn port_bytes(topology: &Network, traffic: &Traffic, ports: PortLimit) -> f64 {
    let fastest = topology.bandwidths().map_or(1.0, |(_, most)| most);
    traffic.sent.max(traffic.received) / ports.at_most(most_messages(topology)) as f64 / fastest
}

/// Returns the larger of two bounds and its kind: the bytes through one port of a node, and the
/// bytes through one link. A link carries `free` messages at full speed at the same time.
pub(super) fn network_bytes(
    topology: &Network,
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

pub(super) fn least_latency(topology: &Network, traffic: &Traffic) -> f64 {
    traffic.farthest as f64 * topology.latencies().map_or(1.0, |(least, _)| least)
}

/// Returns a lower bound on the sum, over all steps, of the mean hops of a step, weighted by load.
/// It counts one hop for each of the fewest possible steps, because the mean can be close to 1 if
/// most of the load crosses a single link. If ranks share nodes, the bound is 0.
pub(super) fn least_mean_hops(topology: &Network, traffic: &Traffic, ports: PortLimit) -> f64 {
    let steps = fewest_steps(traffic.peers + 1, ports.count());
    if topology.shares_nodes() { 0.0 } else { steps as f64 }
}

/// Returns the larger of two times, and its kind. The first is `transmission_us`, whose kind is
/// `kind`. The second is the time of the busiest node's bytes on its link into the network.
pub(super) fn or_injected(
    topology: &Network,
    traffic: &Traffic,
    injection_byte_us: f64,
    transmission_us: f64,
    kind: BoundKind,
) -> (f64, BoundKind) {
    let injected = if topology.shares_nodes() {
        0.0
    } else {
        traffic.sent.max(traffic.received) * injection_byte_us
    };
    if injected > transmission_us { (injected, BoundKind::Bytes) } else { (transmission_us, kind) }
}

/// Returns the larger of two amounts and its kind: [`network_bytes`], and the bytes times hops of
/// all blocks, divided by the number and the bandwidth of all ports.
pub(super) fn stored_bytes(
    topology: &Network,
    traffic: &Traffic,
    ports: PortLimit,
) -> (f64, BoundKind) {
    let (bytes, kind) = network_bytes(topology, traffic, ports, 1.0);
    let all_ports = ports.at_most(most_messages(topology)) as f64 * topology.nodes() as f64;
    let over_ports =
        traffic.hop_bytes / all_ports / topology.bandwidths().map_or(1.0, |(_, most)| most);
    if over_ports > bytes { (over_ports, BoundKind::Distances) } else { (bytes, kind) }
}

/// Returns the fewest steps in which data of one node can reach `nodes` nodes, if every node with
/// the data sends it to `messages` others in each step.
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
