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

use crate::cost::machine::{Machine, ModelKind};
use crate::network::topology::Topology;

pub mod flat;
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
    fn or(self, other: Self) -> Self {
        if self.total_us() > other.total_us() { self } else { other }
    }

    /// All parts together.
    pub fn total_us(&self) -> f64 {
        self.startup_us + self.transmission_us + self.propagation_us + self.rearrangement_us + self.barrier_us
    }
}

/// The bound on that machine.
pub fn lower_bound(topology: &dyn Topology, machine: &Machine, traffic: Traffic) -> Bound {
    let nodes = topology.nodes();
    let Traffic { peers, hop_bytes, .. } = traffic;
    if peers == 0 {
        return Bound::default();
    }
    if machine.model == ModelKind::Flat {
        return flat::lower_bound(machine, &traffic, nodes);
    }
    let a_port = if machine.model == ModelKind::Circuit { machine.virtual_channels } else { 1 };
    let steps = fewest_steps(peers + 1, machine.ports.count().saturating_mul(a_port));
    let (n, steps, farthest) = (nodes as f64, steps as f64, traffic.farthest as f64);
    let most_node_bytes = traffic.sent.max(traffic.received);
    let through_ports = most_node_bytes / machine.ports.at_most(nodes - 1) as f64;
    let free = if machine.model == ModelKind::Wormhole { machine.free_contention } else { 1.0 };
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
    let through_links = hop_bytes / (topology.link_slots() as f64 * free);
    // As if all links were as fast as the fastest.
    let fastest = topology.bandwidths().map_or(1.0, |(_, most)| most);
    let barrier_us = (steps - 1.0) * machine.barrier_us(nodes);
    match machine.model {
        // A step takes at least a start-up and any one message's bytes; and at least h start-ups, if some message goes over h links. That need not be
        // the same message: while a short one goes far, a long one to a neighbour costs no more time. So the two bounds don't add up.
        ModelKind::StoreAndForward => {
            let hops = topology.distance_sum().map_or(0.0, |hops| hops as f64 * traffic.pair_bytes).max(hop_bytes / n);
            let over_links = hops / machine.ports.at_most(nodes - 1) as f64;
            let by_steps = Bound {
                startup_us: steps * machine.startup_us,
                transmission_us: through_ports.max(over_links) * machine.byte_us / fastest,
                barrier_us,
                ..Bound::default()
            };
            let by_hops = Bound { startup_us: farthest * machine.startup_us, transmission_us: 0.0, ..by_steps };
            by_hops.or(by_steps)
        }
        _ => {
            let one_directional =
                if machine.model == ModelKind::Wormhole { machine.unpaired_byte_us() } else { machine.byte_us };
            Bound {
                startup_us: steps * machine.startup_us,
                transmission_us: through_ports.max(through_cut).max(through_links)
                    * machine.byte_us.min(one_directional)
                    / fastest,
                propagation_us: farthest * machine.hop_us,
                rearrangement_us: 0.0,
                barrier_us,
            }
        }
    }
}

/// The fewest steps in which a node's data can reach everyone, if each who has it sends so many messages a step.
fn fewest_steps(nodes: u64, messages: u64) -> u64 {
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
