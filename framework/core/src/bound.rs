//! Lower bounds: what no schedule can beat.
//!
//! For a machine whose model adds up start-ups, transmission, propagation and barriers of synchronous steps, each part has a bound of
//! its own that holds for every schedule, so their sum is a bound on the completion time: for `wormhole` and `circuit`, where a step's longest message and its
//! longest route are charged apart. There is none yet for `flat`.
//!
//! * **Start-ups.** With k ports, a node's data has reached at most (k+1)^s nodes after s steps: `ceil(log_(k+1) n)` start-ups, and one
//!   barrier less (Suh & Shin, 3.1.4, for one port). Under `circuit` a port carries q circuits, so that k is q times the ports (Spencer, 3.1).
//! * **Transmission.** A node sends and receives what it must through k ports at most; and what must cross a cut shares the cut's links. For the
//!   complete exchange of m-byte blocks on a torus whose longest side N1 is even that is `n N1 / 8 m` bytes, on a mesh `n N1 / 4 m` (bisection:
//!   Suh & Shin, 3.1.4). A link that carries `free_contention` messages at full speed counts as that many (`wormhole` only).
//! * In a permutation every block goes once: a start-up, the hops of the one that goes farthest, and on the average link the bytes times hops of all (Spencer, 4.6).
//! * **Propagation.** Some block goes between the two nodes farthest apart: the diameter, in hops. (With a root, node 0, too: every topology looks the same from
//!   each of its nodes but the mesh, of which node 0 is a corner.)
//!
//! Under `store-and-forward` hops are start-ups of the message that takes longest, which need not be the message that goes farthest. There the bound is the larger
//! of two: start-ups and transmission as above, or the diameter in start-ups. Transmission there counts each hop: a block must cross as many links as its ends are
//! apart, n nodes with k ports move at most n k messages over one link each at a time, so that a complete exchange takes `m / k` times the sum of the distances from
//! a node to all others, where that is the same for each (any topology but a mesh or a graph of one's own).

use crate::machine::{Machine, ModelKind};
use crate::topology::Topology;

/// What must be moved, as far as bounds look at it. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The most that one node must send, or must receive.
    pub most_node_bytes: f64,
    /// What must cross a cut.
    pub across: Across,
    /// Size of a block that every node has for every other, each an own one; 0 if there are no such blocks, or of unlike sizes.
    pub pair_bytes: f64,
    /// How far things go.
    pub reach: Reach,
}

/// How far what must be moved goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// Something of some node goes to everyone, or something of everyone to some node.
    Everyone,
    /// Every block goes to one node, as in a permutation.
    Once {
        /// Hops of the one that goes farthest.
        farthest: u64,
        /// Bytes times hops, over all blocks, each by its shortest way.
        hop_bytes: f64,
    },
}

/// What must cross a cut of the nodes, one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Across {
    /// A block of this size for every pair of nodes on different sides.
    EachPair(f64),
    /// A block of this size from every node, once: who has it can copy it.
    EachNode(f64),
    /// Not known.
    Unknown,
}

/// Lower bounds on the parts of a completion time, in us.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bound {
    /// Start-ups.
    pub startup_us: f64,
    /// Transmission, whether or not links are shared.
    pub transmission_us: f64,
    /// Propagation.
    pub propagation_us: f64,
    /// Barriers.
    pub barrier_us: f64,
}

impl Bound {
    /// All parts together.
    pub fn total_us(&self) -> f64 {
        self.startup_us + self.transmission_us + self.propagation_us + self.barrier_us
    }
}

/// The bound, where one is known for the machine's model.
pub fn lower_bound(topology: &dyn Topology, machine: &Machine, demand: Demand) -> Option<Bound> {
    let nodes = topology.nodes();
    if nodes == 1 {
        return Some(Bound::default());
    }
    let a_port = if machine.model == ModelKind::Circuit { machine.virtual_channels } else { 1 };
    let (steps, farthest, hop_bytes) = match demand.reach {
        Reach::Everyone => {
            (fewest_steps(nodes, machine.ports.count().saturating_mul(a_port)), topology.diameter(), 0.0)
        }
        Reach::Once { farthest: 0, .. } => return Some(Bound::default()),
        Reach::Once { farthest, hop_bytes } => (1, farthest, hop_bytes),
    };
    let (n, steps, farthest) = (nodes as f64, steps as f64, farthest as f64);
    let through_ports = demand.most_node_bytes / machine.ports.at_most(nodes - 1) as f64;
    let free = if machine.model == ModelKind::Wormhole { machine.free_contention } else { 1.0 };
    let through_cut = topology.bisection().map_or(0.0, |cut| {
        let side = cut.side as f64;
        let bytes = match demand.across {
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
        ModelKind::Wormhole | ModelKind::Circuit => {
            let unpaired =
                if machine.model == ModelKind::Wormhole { machine.unpaired_byte_us() } else { machine.byte_us };
            Some(Bound {
                startup_us: steps * machine.startup_us,
                transmission_us: through_ports.max(through_cut).max(through_links) * machine.byte_us.min(unpaired)
                    / fastest,
                propagation_us: farthest * machine.hop_us,
                barrier_us,
            })
        }
        // A step takes at least a start-up and any one message's bytes; and at least h start-ups, if some message goes over h links. That need not be
        // the same message: while a short one goes far, a long one to a neighbour costs no more time. So the two bounds don't add up.
        ModelKind::StoreAndForward => {
            let hops = topology.distance_sum().map_or(0.0, |hops| hops as f64 * demand.pair_bytes).max(hop_bytes / n);
            let over_links = hops / machine.ports.at_most(nodes - 1) as f64;
            let by_steps = Bound {
                startup_us: steps * machine.startup_us,
                transmission_us: through_ports.max(over_links) * machine.byte_us / fastest,
                propagation_us: 0.0,
                barrier_us,
            };
            let by_hops = Bound { startup_us: farthest * machine.startup_us, transmission_us: 0.0, ..by_steps };
            Some(if by_hops.total_us() > by_steps.total_us() { by_hops } else { by_steps })
        }
        ModelKind::Flat => None,
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
mod tests {
    use super::*;
    use crate::boxes::{Axis, NodeSet};
    use crate::collective::{BlockSizes, Collective};
    use crate::exchange::Rule;
    use crate::model::{Price, Scale, pricer};
    use crate::topology::parse;
    use crate::walk::{Task, Walk};
    use std::sync::Arc;

    fn bound(topology: &str, machine: &str) -> Bound {
        let topology = parse(topology).unwrap();
        let machine = Machine::parse(machine).unwrap();
        let demand = Demand {
            most_node_bytes: topology.nodes() as f64 - 1.0,
            across: Across::EachPair(1.0),
            pair_bytes: 1.0,
            reach: Reach::Everyone,
        };
        lower_bound(topology.as_ref(), &machine, demand).unwrap()
    }

    #[test]
    fn the_bisection_bounds_transmission_as_in_suh_and_shin() {
        // n N1 / 8 blocks on a torus, n N1 / 4 on a mesh
        assert_eq!(bound("torus:16x16", "free:byte_us=1").transmission_us, 256.0 * 16.0 / 8.0);
        assert_eq!(bound("mesh:8x16", "free:byte_us=1").transmission_us, 128.0 * 16.0 / 4.0);
        // a link that carries two messages at full speed
        assert_eq!(bound("mesh:8x16", "free:byte_us=1,free_contention=2").transmission_us, 128.0 * 16.0 / 8.0);
        // on small or dense networks the ports are what bounds
        assert_eq!(bound("fully-connected:64", "free:byte_us=1").transmission_us, 63.0);
        assert_eq!(bound("fully-connected:64", "free:byte_us=1,ports=3").transmission_us, 21.0);
    }

    #[test]
    fn data_doubles_its_reach_a_step_with_one_port() {
        assert_eq!(bound("torus:4x4", "free:startup_us=1").startup_us, 4.0);
        assert_eq!(bound("ring:5", "free:startup_us=1").startup_us, 3.0);
        assert_eq!(bound("ring:9", "free:startup_us=1,ports=2").startup_us, 2.0);
        assert_eq!(bound("torus:4x4", "free:barrier_us=1").barrier_us, 3.0);
        assert_eq!(bound("torus:8x6", "free:hop_us=1").propagation_us, 7.0);
        assert_eq!(bound("ring:1", "paragon"), Bound::default());
    }

    #[test]
    fn odd_sides_are_cut_as_evenly_as_they_can_be() {
        // 2 of 5 nodes against 3, two links one way
        assert_eq!(bound("ring:5", "free:byte_us=1,ports=all").transmission_us, 3.0);
    }

    #[test]
    fn a_permutation_is_a_step_at_least_and_fills_the_links() {
        // Translations by half of a torus: max{1, d n/2, n/4} (Spencer, section 4.6).
        let topology = parse("torus:8x8").unwrap();
        let reach = Reach::Once { farthest: 8, hop_bytes: 64.0 * 8.0 };
        let demand = Demand { most_node_bytes: 1.0, across: Across::Unknown, pair_bytes: 0.0, reach };
        let machine = Machine::parse("free:model=circuit,startup_us=1,hop_us=1,byte_us=1,ports=all").unwrap();
        let bound = lower_bound(topology.as_ref(), &machine, demand).unwrap();
        assert_eq!(
            (bound.startup_us, bound.propagation_us, bound.transmission_us, bound.barrier_us),
            (1.0, 8.0, 2.0, 0.0)
        );
        let still = Demand { reach: Reach::Once { farthest: 0, hop_bytes: 0.0 }, ..demand };
        assert_eq!(lower_bound(topology.as_ref(), &machine, still), Some(Bound::default()));
    }

    #[test]
    fn a_block_that_may_be_copied_crosses_a_cut_once() {
        let topology = parse("ring:8").unwrap();
        let demand =
            Demand { most_node_bytes: 7.0, across: Across::EachNode(1.0), pair_bytes: 0.0, reach: Reach::Everyone };
        let machine = Machine::parse("free:byte_us=1,ports=all").unwrap();
        assert_eq!(lower_bound(topology.as_ref(), &machine, demand).unwrap().transmission_us, 4.0 / 2.0);
    }

    #[test]
    fn hops_are_startups_when_messages_are_stored() {
        let b = bound("ring:9", "free:model=store-and-forward,startup_us=1,byte_us=1");
        assert_eq!((b.startup_us, b.transmission_us, b.propagation_us), (4.0, 20.0, 0.0));
        let b = bound("ring:40", "free:model=store-and-forward,startup_us=1");
        assert_eq!(b.startup_us, 20.0, "the diameter");
    }

    /// Table II of Li, Peng & Chu has 512 and 294912 words for these two nets, fewer than any schedule can do with.
    #[test]
    fn blocks_cross_as_many_links_as_their_ends_are_apart_when_messages_are_stored() {
        let words = |topology| bound(topology, "free:model=store-and-forward,byte_us=1").transmission_us;
        assert_eq!(words("hypercube:7"), 448.0);
        assert_eq!(words("rdn:1(hypercube:3)"), 560.0);
        assert_eq!(words("rdn:2(hypercube:3)"), 335_616.0);
        assert_eq!(bound("hypercube:7", "free:model=store-and-forward,byte_us=1,ports=7").transmission_us, 64.0);
        assert_eq!(words("mesh:8"), 7.0, "not the same from each node: what a node must send");
    }

    /// Blocks of a scatter from node 0: much for node 11, a little for node 1, nothing (but blocks) for the rest.
    #[derive(Debug)]
    struct TwoBlocks;

    impl BlockSizes for TwoBlocks {
        fn bytes(&self, origin: u64, destination: u64) -> u64 {
            match (origin, destination) {
                (0, 11) => 5,
                (0, 1) => 1,
                _ => 0,
            }
        }

        fn largest(&self) -> u64 {
            5
        }
    }

    /// What goes far and what is long need not be one message: while empty blocks travel 6 hops, the root gets rid of its bytes.
    #[test]
    fn hops_of_one_message_hide_bytes_of_another_when_messages_are_stored() {
        let machine = Machine::parse("free:model=store-and-forward,startup_us=1,byte_us=1").unwrap();
        let topology = parse("ring:12").unwrap();
        let task = Task {
            topology: Arc::clone(&topology),
            collective: Collective::Scatter { root: 0 },
            sizes: Some(Arc::new(TwoBlocks)),
        };
        let mut pricer = pricer(&machine, Scale { nodes: 12, unit_bytes: 1.0 });
        let mut walk = Walk::new(task, vec![pricer.as_mut()]).unwrap();
        // (from, to, first and last destination of what is sent)
        let steps: [&[(u64, u64, u32, u32)]; 5] = [
            &[(0, 1, 2, 10)],
            &[(0, 11, 11, 11), (1, 7, 5, 10)],
            &[(0, 1, 1, 1), (1, 3, 3, 4), (7, 9, 9, 10)],
            &[(1, 2, 2, 2), (3, 4, 4, 4), (9, 10, 10, 10), (7, 6, 5, 6)],
            &[(7, 8, 8, 8), (6, 5, 5, 5)],
        ];
        for sends in steps {
            walk.step().unwrap();
            for &(from, to, first, last) in sends {
                let destinations = [Axis::Range { first, stride: 1, count: last + 1 - first }];
                let rule = Rule {
                    from,
                    to,
                    origins: NodeSet::All,
                    destinations: NodeSet::Axes(&destinations),
                    parts: Axis::All,
                    strict: true,
                    copy: false,
                    local: false,
                };
                walk.send(&rule, None).unwrap();
            }
        }
        walk.finish().unwrap();
        let Price { parts, note } = pricer.price().unwrap();
        let time: f64 =
            [parts.startup, parts.transmission, parts.barrier, parts.contention].into_iter().flatten().sum();
        assert_eq!((time, note), (11.0, None), "1 + 6 + 2 + 1 + 1");
        let demand = Demand { most_node_bytes: 6.0, across: Across::Unknown, pair_bytes: 0.0, reach: Reach::Everyone };
        let bound = lower_bound(topology.as_ref(), &machine, demand).unwrap();
        assert_eq!((bound.startup_us, bound.transmission_us, bound.total_us()), (4.0, 6.0, 10.0));
    }
}
