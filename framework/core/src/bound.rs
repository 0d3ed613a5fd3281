//! Lower bounds: what no schedule can beat.
//!
//! For a machine whose model adds up start-ups, transmission, propagation and barriers of synchronous steps, each part has a bound of
//! its own that holds for every schedule, so their sum is a bound on the completion time.
//!
//! * **Start-ups.** With k ports, a node's data has reached at most (k+1)^s nodes after s steps: `ceil(log_(k+1) n)` start-ups, and one
//!   barrier less (Suh & Shin, 3.1.4, for one port).
//! * **Transmission.** A node sends and receives its own blocks, through k ports at most; and what must cross a cut shares the cut's links. For the
//!   complete exchange of m-byte blocks on a torus whose longest side N1 is even that is `n N1 / 8 m` bytes, on a mesh `n N1 / 4 m` (bisection:
//!   Suh & Shin, 3.1.4). A link that carries `free_contention` messages at full speed counts as that many.
//! * **Propagation.** Some block goes between the two nodes farthest apart: the diameter, in hops.

use crate::machine::{Machine, ModelKind, Ports};
use crate::topology::Topology;

/// What must be moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Demand {
    /// The complete exchange of blocks of this size.
    AllToAll {
        /// Bytes of a block.
        block_bytes: u64,
    },
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
    if machine.model != ModelKind::Wormhole {
        return None;
    }
    let nodes = topology.nodes();
    let Demand::AllToAll { block_bytes } = demand;
    if nodes == 1 {
        return Some(Bound::default());
    }
    let steps = fewest_steps(nodes, machine.ports) as f64;
    let (n, m) = (nodes as f64, block_bytes as f64);
    let through_ports = (n - 1.0) * m / machine.ports.at_most(nodes - 1) as f64;
    let through_cut = topology
        .bisection()
        .map_or(0.0, |cut| cut.side as f64 * (n - cut.side as f64) * m / (cut.links as f64 * machine.free_contention));
    let byte_us = machine.byte_us.min(machine.unpaired_byte_us());
    Some(Bound {
        startup_us: steps * machine.startup_us,
        transmission_us: through_ports.max(through_cut) * byte_us,
        propagation_us: topology.diameter() as f64 * machine.hop_us,
        barrier_us: (steps - 1.0) * machine.barrier_us(nodes),
    })
}

/// The fewest steps in which a node's data can reach everyone.
fn fewest_steps(nodes: u64, ports: Ports) -> u64 {
    let grows = u128::from(ports.at_most(nodes)) + 1;
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
    use crate::topology::parse;

    fn bound(topology: &str, machine: &str) -> Bound {
        let topology = parse(topology).unwrap();
        let machine = Machine::parse(machine).unwrap();
        lower_bound(topology.as_ref(), &machine, Demand::AllToAll { block_bytes: 1 }).unwrap()
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
}
