//! `circuit`: synchronous rounds of circuits, several of which a directed link carries at a time.
//!
//! A round costs `alpha + h delta + k L tau` (Spencer, chapter 2): a start-up; switching over the h
//! links of the longest circuit; and the largest transmission of a circuit with L bytes that shares
//! some link with k - 1 others. `startup_us` is alpha, `hop_us` delta, `byte_us` tau. Sharing adds
//! `contention_us` to the longest message's L tau.
//!
//! A link carries at most `virtual_channels` (q) circuits, and so does a port: with one port a node
//! can send to q others in a round, which share the port like a link (section 3.1). A step that
//! needs more is run in several rounds ([`super::rounds`]), each with a start-up, the switching and
//! transmission of its circuits, and a barrier.
//!
//! If rounds are not arranged (only ports are short, or there are too many circuits), each round is
//! charged the switching of the longest circuit of the step. All rounds together are charged the
//! transmission of the most multiplexed circuit, or of the busiest node's bytes through its ports
//! if that is more.

use super::rounds::{Arranged, Rounds};
use super::synchronous::{
    CommonCosts, REARRANGEMENT, Rearrangement, StepCost, StepModel, Synchronous,
};
use super::{Evaluator, Model, ModelKind, NetworkRates, PortRate, PricingContext};
use crate::cost::bound::{self, Bound, Traffic};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, HOP_US, INJECTION_BYTE_US, PORTS, PortLimit, REARRANGE_BYTE_US,
    REDUCE_BYTE_US, STARTUP_US, VIRTUAL_CHANNELS,
};
use crate::cost::settings::parameters;
use crate::network::topology::Topology;
use crate::simulation::listener::Detail;
use crate::simulation::step::Step;
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "circuit",
    title: "synchronous rounds of circuits",
    parameters: Circuit::PARAMETERS,
    prepare: |settings| Ok(Arc::new(Circuit::of(settings)?)),
};

parameters! {
    #[derive(Copy)]
    struct Circuit {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        hop_us: f64 = HOP_US,
        injection_byte_us: f64 = INJECTION_BYTE_US,
        rearrange_byte_us: f64 = REARRANGE_BYTE_US,
        rearrangement: Rearrangement = REARRANGEMENT,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        ports: PortLimit = PORTS,
        virtual_channels: u64 = VIRTUAL_CHANNELS,
    }
}

impl Model for Circuit {
    /// Rounds are arranged from individual messages.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Synchronous::new(*self, context))
    }

    fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound {
        let (bytes, kind) = bound::network_bytes(topology, traffic, self.ports, 1.0);
        Bound {
            propagation_us: bound::least_latency(topology, traffic) * self.hop_us,
            ..self.common_costs().lower_bound(
                topology,
                traffic,
                self.startup_us,
                (bytes * self.byte_us, kind),
            )
        }
    }

    fn network_rates(&self) -> Option<NetworkRates> {
        let ports = PortRate { limit: self.ports, byte_us: self.byte_us, each_hop: false };
        Some(NetworkRates {
            link_byte_us: self.byte_us,
            ports: Some(ports),
            injection_byte_us: self.injection_byte_us,
        })
    }
}

impl StepModel for Circuit {
    const ZERO: StepCost =
        StepCost { startup: 0.0, transmission: 0.0, propagation: Some(0.0), contention: 0.0 };

    fn common_costs(&self) -> CommonCosts {
        CommonCosts {
            ports: self.ports,
            barrier_us: self.barrier_us,
            rearrange_byte_us: self.rearrange_byte_us,
            rearrangement: self.rearrangement,
            reduce_byte_us: self.reduce_byte_us,
            injection_byte_us: self.injection_byte_us,
            channels: Some(self.virtual_channels),
        }
    }

    fn step_cost(
        &self,
        step: &Step<'_>,
        _: &dyn Topology,
        unit_bytes: f64,
        rounds: Rounds,
    ) -> StepCost {
        let startup = rounds.count as f64 * self.startup_us;
        if let Some(Arranged { hops, alone, multiplexed }) = rounds.arranged {
            return StepCost {
                startup,
                transmission: alone * unit_bytes * self.byte_us,
                propagation: Some(hops * self.hop_us),
                contention: (multiplexed - alone).max(0.0) * unit_bytes * self.byte_us,
            };
        }
        let facts = &step.facts;
        let rounds = rounds.count;
        let longest = facts.longest() * unit_bytes;
        let ports = self.ports.at_most(facts.max_sends.max(facts.max_receives)) as f64;
        let through_ports = facts.through_node() * unit_bytes / ports;
        let alone = if rounds > 1 { longest.max(through_ports) } else { longest };
        let multiplexed = (facts.multiplexed() * unit_bytes).max(through_ports);
        StepCost {
            startup,
            transmission: alone * self.byte_us,
            propagation: Some(rounds as f64 * facts.latency() * self.hop_us),
            contention: (multiplexed - alone).max(0.0) * self.byte_us,
        }
    }
}
