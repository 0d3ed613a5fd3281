//! Lower bounds: what no schedule can beat.
//!
//! For a machine whose model adds up start-ups, transmission, propagation and barriers of synchronous steps, each part has a bound of
//! its own that holds for every schedule, so their sum is a bound on the completion time: for `wormhole` and `circuit`, where a step's longest message and its
//! longest route are charged apart. Machines of the model `flat` have no steps and no network: [`flat`] says what they can't do without.
//!
//! * **Start-ups.** With k ports, a node's data has reached at most (k+1)^s nodes after s steps: `ceil(log_(k+1) n)` start-ups, and one
//!   barrier less (Suh & Shin, 3.1.4, for one port). Under `circuit` a port carries q circuits, so that k is q times the ports (Spencer, 3.1).
//! * **Transmission.** A node sends and receives what it must through k ports at most; and what must cross a cut shares the cut's links. For the
//!   complete exchange of m-byte blocks on a torus whose longest side N1 is even that is `n N1 / 8 m` bytes, on a mesh `n N1 / 4 m` (bisection:
//!   Suh & Shin, 3.1.4). A link that carries `free_contention` messages at full speed counts as that many (`wormhole` only).
//! * In a permutation every block goes once: a start-up, the hops of the one that goes farthest, and on the average link the bytes times hops of all (Spencer, 4.6).
//! * Where some pairs have nothing for each other, those who have something for most, or get it from most, count for n; and something goes one hop at least.
//! * **Propagation.** Some block goes between the two nodes farthest apart: the diameter, in hops; with a root, from it to the node farthest from it.
//!
//! Under `store-and-forward` hops are start-ups of the message that takes longest, which need not be the message that goes farthest. There the bound is the larger
//! of two: start-ups and transmission as above, or the diameter in start-ups. Transmission there counts each hop: a block must cross as many links as its ends are
//! apart, n nodes with k ports move at most n k messages over one link each at a time, so that a complete exchange takes `m / k` times the sum of the distances from
//! a node to all others, where that is the same for each (any topology but a mesh or a graph of one's own).

use crate::cost::parameter::Ports;
use crate::network::topology::Topology;

mod traffic;

pub use traffic::{Across, Traffic};

/// Lower bounds on the parts of a completion time, in us.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    /// Start-ups.
    pub startup_us: f64,
    /// Transmission, whether or not links are shared.
    pub transmission_us: f64,
    /// Propagation.
    pub propagation_us: f64,
    /// Composing what is sent (`flat` only).
    pub rearrangement_us: f64,
    /// Barriers.
    pub barrier_us: f64,
}

impl Bound {
    /// The larger of two bounds that both hold but don't add up.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        if self.total_us() > other.total_us() { self } else { other }
    }

    /// All parts together.
    pub fn total_us(&self) -> f64 {
        self.startup_us + self.transmission_us + self.propagation_us + self.rearrangement_us + self.barrier_us
    }
}

/// The bytes that the busiest node must send, or receive, through one of its ports.
pub(super) fn port_bytes(topology: &dyn Topology, traffic: &Traffic, ports: Ports) -> f64 {
    traffic.sent.max(traffic.received) / ports.at_most(topology.nodes() - 1) as f64
}

/// The bytes that must go, one after another, through a port or a link, of which each carries `free` messages at full speed.
pub(super) fn network_bytes(topology: &dyn Topology, traffic: &Traffic, ports: Ports, free: f64) -> f64 {
    let n = topology.nodes() as f64;
    let through_cut = topology.bisection().map_or(0.0, |cut| {
        let side = cut.side as f64;
        let bytes = match traffic.across {
            Across::EachPair(m) => side * (n - side) * m,
            Across::EachNode(m) => (n - side) * m,
            Across::Unknown => 0.0,
        };
        bytes / (cut.links as f64 * free)
    });
    // Each link carries a byte a byte's time.
    let through_links = traffic.hop_bytes / (topology.link_slots() as f64 * free);
    port_bytes(topology, traffic, ports).max(through_cut).max(through_links)
}

/// The bytes that must go, one after another, over a link of the busiest node's ports, if each is charged at every hop.
pub(super) fn hop_bytes(topology: &dyn Topology, traffic: &Traffic, ports: Ports) -> f64 {
    let n = topology.nodes() as f64;
    let pairs = topology.distance_sum().map_or(0.0, |hops| hops as f64 * traffic.pair_bytes);
    pairs.max(traffic.hop_bytes / n) / ports.at_most(topology.nodes() - 1) as f64
}

/// Bounds take all links to be as fast as the fastest.
pub(super) fn fastest_link(topology: &dyn Topology) -> f64 {
    topology.bandwidths().map_or(1.0, |(_, most)| most)
}

/// The fewest steps in which a node's data can reach everyone, if each who has it sends so many messages a step.
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
