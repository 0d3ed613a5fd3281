//! The model `circuit`: synchronous rounds of circuits, several of which can share a directed link.
//!
//! A round costs `alpha + h delta + k L tau` (Spencer, chapter 2), where `startup_us` is alpha,
//! `hop_us` is delta and `byte_us` is tau. The three terms are a start-up, the switching of the
//! longest circuit, which has h links, and the largest transmission time of a circuit. A circuit of
//! L bytes that shares its most crowded link with k - 1 others takes `k L tau`. The time `L tau` of
//! the longest message is transmission, the rest is contention.
//!
//! A link carries at most `virtual_channels` circuits (q) at the same time, and so does a port. So
//! a node with one port can send to q other nodes in a round. The q circuits share the port as they
//! would share a link (section 3.1). A step that needs more circuits is run in several rounds
//! ([`super::rounds`]), each with a start-up, the switching and transmission of its circuits, and a
//! barrier.
//!
//! If links have enough channels, or if there are very many circuits, circuits are not assigned to
//! rounds one by one, and only the number of rounds is known. Each round is then charged the
//! switching of the longest circuit of the step. All rounds together are charged the larger of two
//! transmission times: the largest `k L tau` of a circuit, and the time of the busiest node's bytes
//! through its ports. If there is a single round, this is exact: it is the time of the slowest
//! circuit.

use super::rounds::{Arranged, Rounds};
use super::synchronous::{CommonCosts, StepModel, Synchronous};
use super::{Evaluator, Model, ModelKind, NetworkRates, PortRate, PricingContext};
use crate::cost::bound::{self, Bound, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{BYTE_US, HOP_US, PortLimit, STARTUP_US, VIRTUAL_CHANNELS};
use crate::cost::settings::parameters;
use crate::network::topology::{Network, Run};
use crate::simulation::listener::Detail;
use crate::simulation::step::{Step, Transfer};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "circuit",
    title: "synchronous rounds of circuits",
    parameters: Circuit::PARAMETERS,
    pricing_time: 0.05,
    prepare: |settings| Ok(Arc::new(Circuit::of(settings)?)),
};

parameters! {
    #[derive(Copy)]
    struct Circuit {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        hop_us: f64 = HOP_US,
        ..common: CommonCosts,
        virtual_channels: u64 = VIRTUAL_CHANNELS,
    }
}

impl Model for Circuit {
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    /// A circuit occupies all links of its route until it ends.
    fn shares_routes(&self) -> bool {
        false
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Synchronous::new(*self, context))
    }

    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        let (bytes, kind) = bound::network_bytes(topology, traffic, self.common.ports, 1.0);
        let propagation_us = bound::least_latency(topology, traffic) * self.hop_us;
        let network = [propagation_us, bytes * self.byte_us];
        self.bound_of_steps(topology, traffic, self.startup_us, (network, kind))
    }

    fn network_rates(&self) -> Option<NetworkRates> {
        let ports = PortRate { limit: self.common.ports, byte_us: self.byte_us, each_hop: false };
        Some(NetworkRates {
            link_byte_us: self.byte_us,
            ports: Some(ports),
            injection_byte_us: self.common.injection_byte_us,
        })
    }
}

impl StepModel for Circuit {
    fn common_costs(&self) -> &CommonCosts {
        &self.common
    }

    fn channels(&self) -> Option<u64> {
        Some(self.virtual_channels)
    }

    fn step_cost(
        &self,
        step: &Step<'_>,
        topology: &Network,
        unit_bytes: f64,
        rounds: Rounds,
    ) -> Times {
        let startup = Times::of([(Kind::Startup, rounds.count as f64 * self.startup_us)]);
        if let Some(Arranged { hops, alone, multiplexed }) = rounds.arranged {
            return startup
                .with(Kind::Transmission, alone * unit_bytes * self.byte_us)
                .with(Kind::Propagation, hops * self.hop_us)
                .with(
                    Kind::Contention,
                    (multiplexed - alone).max(0.0) * unit_bytes * self.byte_us,
                );
        }
        let facts = &step.facts;
        let rounds = rounds.count;
        let longest = facts.longest() * unit_bytes;
        let ports = self.common.ports.at_most(facts.max_sends.max(facts.max_receives)) as f64;
        let through_ports = facts.through_node() * unit_bytes / ports;
        let alone = if rounds > 1 { longest.max(through_ports) } else { longest };
        let at_ports = if rounds > 1 {
            through_ports
        } else {
            multiplexed_at_ports(step, topology, self.common.ports) * unit_bytes
        };
        let multiplexed = (facts.multiplexed() * unit_bytes).max(at_ports);
        startup
            .with(Kind::Transmission, alone * self.byte_us)
            .with(Kind::Propagation, rounds as f64 * facts.latency() * self.hop_us)
            .with(Kind::Contention, (multiplexed - alone).max(0.0) * self.byte_us)
    }
}

/// Returns the largest transmission time of a circuit, as a load, if circuits share only ports. If
/// k circuits share p ports of a node, each takes `k / p` times as long as alone. Returns 0 if no
/// port is shared.
fn multiplexed_at_ports(step: &Step<'_>, topology: &Network, ports: PortLimit) -> f64 {
    let most = step.facts.max_sends.max(step.facts.max_receives);
    if ports.at_most(most) == most {
        return 0.0;
    }
    let ends = |t: &Transfer| {
        [
            (topology.physical_node(t.from.into()), true),
            (topology.physical_node(t.to.into()), false),
        ]
    };
    let mut circuits: HashMap<(u64, bool), u64> = HashMap::new();
    for end in step.transfers.iter().flat_map(ends) {
        *circuits.entry(end).or_default() += 1;
    }
    let time = |t: &Transfer| {
        let shared = ends(t).map(|end| circuits[&end] as f64 / ports.at_most(most) as f64);
        t.load as f64 * slowest_link(t, step, topology) * shared[0].max(shared[1])
    };
    step.transfers.iter().map(time).fold(0.0, f64::max)
}

fn slowest_link(t: &Transfer, step: &Step<'_>, topology: &Network) -> f64 {
    if topology.bandwidths().is_none() || t.hops == 0 {
        return 1.0;
    }
    let route = t.route.checked_sub(1).map(|i| &step.routes[i as usize]);
    let mut slowest = 0.0_f64;
    let mut visit = |run: Run| {
        slowest = run.links().map(|link| 1.0 / topology.bandwidth(link)).fold(slowest, f64::max);
    };
    let routed = topology.route(t.from.into(), t.to.into(), route, &mut visit);
    routed.expect("the route was checked when the step was measured");
    slowest
}

#[cfg(test)]
mod tests {
    use crate::cost::kind::Kind;
    use crate::cost::model::test_steps::cost;

    /// If k circuits share p ports of a node, each takes `k / p` times as long, like circuits on a
    /// link (Spencer, chapter 2). It does not matter whether other nodes need several rounds.
    #[test]
    fn circuits_share_ports_as_they_share_links() {
        let us = |topology: &str, machine: &str, sends: &[(u32, u32, u64)]| {
            let machine = format!("free:model=circuit,byte_us=1,{machine}");
            cost(topology, &machine, &[sends]).parts.total()
        };
        let sends = [(0, 1, 100), (0, 2, 10), (0, 3, 10), (0, 4, 10)];
        for (ports, expected) in [("1", 400.0), ("2", 200.0), ("3", 400.0 / 3.0), ("4", 100.0)] {
            let machine = format!("virtual_channels=4,ports={ports}");
            let us = us("fully-connected:5", &machine, &sends);
            assert!((us - expected).abs() < 1e-9, "{ports}: {us}");
        }
        assert_eq!(us("fully-connected:5", "virtual_channels=4,ports=all", &sends), 100.0);
        let through = sends.map(|(_, to, bytes)| (0, to + 1, bytes));
        assert_eq!(us("mesh:6", "virtual_channels=4,ports=all", &through), 400.0);
        let gathered = sends.map(|(from, to, bytes)| (to, from, bytes));
        assert_eq!(us("fully-connected:5", "virtual_channels=4", &gathered), 400.0);
        let longer = [&sends[..], &[(3, 4, 350)]].concat();
        assert_eq!(us("fully-connected:5", "virtual_channels=4", &longer), 700.0);
        // Five further circuits share a link that carries four, so the step has two rounds.
        let crossing = (0..5).map(|i| (10 + i, 15 + i, 1));
        let turns: Vec<_> = sends.into_iter().chain(crossing).collect();
        assert_eq!(us("mesh:20", "virtual_channels=4", &turns), 401.0);
    }

    /// The port of node 1 shares its time equally among two circuits. In the second network, the
    /// link to node 0 has half of the bandwidth.
    #[test]
    fn circuits_share_ports_at_the_speed_of_their_slowest_link() {
        let sends: &[(u32, u32, u64)] = &[(1, 0, 100), (1, 2, 100)];
        let machine = "free:model=circuit,byte_us=1,virtual_channels=2";
        assert_eq!(cost("mesh:3", machine, &[sends]).parts.total(), 200.0);
        assert_eq!(cost("mesh:3,slow=0-1:0.5", machine, &[sends]).parts.total(), 400.0);
    }

    /// There are too many circuits to assign them to rounds, so the cost depends only on the number
    /// of rounds and on the bytes of a port.
    #[test]
    fn rounds_of_very_many_circuits_are_bounded_by_the_bytes_of_a_port() {
        let n = 2_100;
        let sends: Vec<_> = (0..n).flat_map(|v| (1..n).map(move |k| (v, (v + k) % n, 3))).collect();
        let machine = "free:model=circuit,byte_us=2,startup_us=5";
        let parts = cost(&format!("fully-connected:{n}"), machine, &[&sends]).parts;
        let rounds = f64::from(n - 1);
        assert_eq!(
            (parts[Kind::Startup], parts.total()),
            (Some(5.0 * rounds), (5.0 + 6.0) * rounds)
        );
    }
}
