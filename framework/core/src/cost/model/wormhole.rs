//! `wormhole`: synchronous steps on a wormhole-routed network.
//!
//! A step costs `ts + L tc + h tl` with L bytes in the longest message and h links on the longest
//! route (Suh & Shin, section 2), plus a barrier `tb` between steps and `rho` for each byte that
//! the fullest node rearranges (3.1.4). Where links are shared it is `alpha + L max(beta, f
//! beta_sat)` (Thakur, Choudhary & Fox, section 2), with beta_sat = beta / `free_contention`.
//! There, all messages of a step have L bytes; for messages of different length `L f` becomes the
//! bytes on the busiest link. In a step where a node sends to one node and receives from another,
//! beta is `unpaired_byte_us` (their beta_sr).
//!
//! A step that asks more messages of a node than it has ports is run in rounds: a start-up, the
//! hops and a barrier a round, and the bytes of the busiest node one after another.

use super::rounds::Rounds;
use super::synchronous::{
    CommonCosts, REARRANGEMENT, Rearrangement, StepCost, StepModel, Synchronous,
};
use super::{Evaluator, Model, ModelKind, PricingContext};
use crate::cost::bound::{self, Bound, Traffic};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, DefaultValue, HOP_US, INJECTION_BYTE_US, PORTS, PortLimit,
    REARRANGE_BYTE_US, REDUCE_BYTE_US, STARTUP_US, TypedParameter, parse_micros, parse_number,
};
use crate::cost::settings::parameters;
use crate::network::topology::Topology;
use crate::simulation::listener::Detail;
use crate::simulation::step::Step;
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "wormhole",
    title: "synchronous steps on a wormhole-routed network",
    parameters: Wormhole::PARAMETERS,
    prepare: |settings| Ok(Arc::new(Wormhole::of(settings)?)),
};

static ONE_DIRECTIONAL_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "unpaired_byte_us",
    meaning: "a byte in a step where a node sends to one node and receives from another",
    symbols: "beta_sr",
    default: DefaultValue::SameAs(&BYTE_US),
    read: parse_micros,
};

static FREE_CONTENTION: TypedParameter<f64> = TypedParameter {
    key: "free_contention",
    meaning: "messages a directed link carries at full speed",
    symbols: "2^gamma",
    default: DefaultValue::Text("1"),
    read: |text| {
        parse_number(text).filter(|x| *x >= 1.0).ok_or_else(|| "a number from 1".to_owned())
    },
};

parameters! {
    #[derive(Copy)]
    struct Wormhole {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        hop_us: f64 = HOP_US,
        one_directional_byte_us: f64 = ONE_DIRECTIONAL_BYTE_US,
        injection_byte_us: f64 = INJECTION_BYTE_US,
        rearrange_byte_us: f64 = REARRANGE_BYTE_US,
        rearrangement: Rearrangement = REARRANGEMENT,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        ports: PortLimit = PORTS,
        free_contention: f64 = FREE_CONTENTION,
    }
}

impl Model for Wormhole {
    fn detail(&self) -> Detail {
        Detail::Facts
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Synchronous::new(*self, context))
    }

    fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound {
        let (bytes, kind) =
            bound::network_bytes(topology, traffic, self.ports, self.free_contention);
        let transmission_us = bytes * self.byte_us.min(self.one_directional_byte_us);
        Bound {
            propagation_us: bound::least_latency(topology, traffic) * self.hop_us,
            ..self.common_costs().lower_bound(
                topology,
                traffic,
                self.startup_us,
                (transmission_us, kind),
            )
        }
    }
}

impl StepModel for Wormhole {
    const NONE: StepCost =
        StepCost { startup: 0.0, transmission: 0.0, propagation: Some(0.0), contention: 0.0 };

    fn common_costs(&self) -> CommonCosts {
        let Self {
            ports,
            barrier_us,
            rearrange_byte_us,
            rearrangement,
            reduce_byte_us,
            injection_byte_us,
            ..
        } = *self;
        CommonCosts {
            ports,
            barrier_us,
            rearrange_byte_us,
            rearrangement,
            reduce_byte_us,
            injection_byte_us,
            channels: None,
        }
    }

    fn step_cost(
        &self,
        step: &Step<'_>,
        _: &dyn Topology,
        unit_bytes: f64,
        rounds: Rounds,
    ) -> StepCost {
        let rounds = rounds.count;
        let facts = &step.facts;
        let longest = facts.longest() * unit_bytes;
        let bytes = if rounds > 1 {
            let ports = self.ports.at_most(facts.max_sends.max(facts.max_receives)) as f64;
            longest.max(facts.through_node() * unit_bytes / ports)
        } else {
            longest
        };
        let byte_us =
            if facts.one_directional { self.one_directional_byte_us } else { self.byte_us };
        let (load, hops) =
            facts.expected.map_or((facts.through_link(), facts.latency()), |expected| {
                (expected.load, expected.hops)
            });
        let through_link = load * unit_bytes / self.free_contention;
        StepCost {
            startup: rounds as f64 * self.startup_us,
            transmission: bytes * byte_us,
            propagation: Some(rounds as f64 * hops * self.hop_us),
            contention: (through_link - bytes).max(0.0) * byte_us,
        }
    }
}
