//! The model `wormhole`: synchronous steps on a wormhole-routed network.
//!
//! A step costs `ts + L tc + h tl` (Suh & Shin, section 2), where `startup_us` is ts, `byte_us` is
//! tc and `hop_us` is tl. L is the size of the longest message and h the number of links of the
//! longest route. A barrier costs `tb` (`barrier_us`), a rearrangement `rho` (`rearrange_byte_us`;
//! 3.1.4) for each byte of the node that rearranges most.
//!
//! If f messages share a link, the step costs `alpha + L max(beta, f beta_sat)` (Thakur, Choudhary
//! & Fox, section 2), with the start-up time alpha, the time beta of a byte, and beta_sat, which is
//! beta divided by `free_contention`. In their paper, all messages of a step have L bytes. If sizes
//! differ, the bytes on the busiest link replace `L f`. If a node sends to one node and receives
//! from another in the same step, beta is `unpaired_byte_us` (`beta_sr` in the paper).
//!
//! The protocol adds to the start-up: `rendezvous_us` if the longest message has more than
//! `rendezvous_bytes`, otherwise `eager_byte_us` for each of its bytes.
//!
//! A step in which a node has more messages than ports is run in rounds, each with a start-up, the
//! hops and a barrier. All rounds together are charged the time of the busiest node's bytes at its
//! ports.

use super::protocol::{EAGER_BYTE_US, Protocols, RENDEZVOUS_BYTES, RENDEZVOUS_US};
use super::rounds::Rounds;
use super::synchronous::{CommonCosts, StepModel, Synchronous};
use super::{Evaluator, Model, ModelKind, NetworkRates, PortRate, PricingContext};
use crate::cost::bound::{self, Bound, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{
    BYTE_US, DefaultValue, HOP_US, STARTUP_US, TypedParameter, parse_micros, parse_number,
    parse_word,
};
use crate::cost::settings::{parameters, word_enum};
use crate::network::topology::Network;
use crate::simulation::listener::Detail;
use crate::simulation::step::Step;
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "wormhole",
    title: "synchronous steps on a wormhole-routed network",
    parameters: Wormhole::PARAMETERS,
    pricing_time: 0.05,
    prepare: |settings| Ok(Arc::new(Wormhole::of(settings)?)),
};

static UNPAIRED_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "unpaired_byte_us",
    meaning: "transmission time of a byte in a step in which a node sends to one node and receives from another",
    symbols: "beta_sr",
    default: DefaultValue::SameAs(&BYTE_US),
    read: parse_micros,
};

static FREE_CONTENTION: TypedParameter<f64> = TypedParameter {
    key: "free_contention",
    meaning: "messages that a directed link carries at full speed",
    symbols: "2^gamma",
    default: DefaultValue::Text("1"),
    read: |text| {
        parse_number(text).filter(|x| *x >= 1.0).ok_or_else(|| "a number from 1".to_owned())
    },
};

word_enum! {
    enum Hops {
        Longest = "longest",
        /// The mean number of hops, weighted by bytes.
        Mean = "mean",
    }
}

static HOPS: TypedParameter<Hops> = TypedParameter {
    key: "hops",
    meaning: "hops whose latency a step is charged: `longest`, those of the longest route; `mean`, the mean number over all bytes of the step, where every link counts as one hop",
    symbols: "",
    default: DefaultValue::Text("longest"),
    read: |text| parse_word(text, Hops::WORDS),
};

parameters! {
    #[derive(Copy)]
    struct Wormhole {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        hop_us: f64 = HOP_US,
        unpaired_byte_us: f64 = UNPAIRED_BYTE_US,
        ..common: CommonCosts,
        free_contention: f64 = FREE_CONTENTION,
        hops: Hops = HOPS,
        rendezvous_bytes: u64 = RENDEZVOUS_BYTES,
        rendezvous_us: f64 = RENDEZVOUS_US,
        eager_byte_us: f64 = EAGER_BYTE_US,
    }
}

impl Wormhole {
    fn protocols(&self) -> Protocols {
        Protocols {
            rendezvous_bytes: self.rendezvous_bytes,
            rendezvous_us: self.rendezvous_us,
            eager_byte_us: self.eager_byte_us,
        }
    }
}

impl Model for Wormhole {
    fn has_reducing_switches(&self) -> bool {
        true
    }

    fn detail(&self) -> Detail {
        Detail::Facts
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Synchronous::new(*self, context))
    }

    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        let (bytes, kind) =
            bound::network_bytes(topology, traffic, self.common.ports, self.free_contention);
        let transmission_us = bytes * self.byte_us.min(self.unpaired_byte_us);
        let hops = match self.hops {
            Hops::Longest => bound::least_latency(topology, traffic),
            Hops::Mean => bound::least_mean_hops(topology, traffic, self.common.ports),
        };
        let propagation_us = hops * self.hop_us;
        let network = [propagation_us, transmission_us];
        self.bound_of_steps(topology, traffic, self.startup_us, (network, kind))
    }

    fn network_rates(&self) -> Option<NetworkRates> {
        let byte_us = self.byte_us.min(self.unpaired_byte_us);
        let ports = PortRate { limit: self.common.ports, byte_us, each_hop: false };
        Some(NetworkRates {
            link_byte_us: byte_us / self.free_contention,
            ports: Some(ports),
            injection_byte_us: self.common.injection_byte_us,
        })
    }
}

impl StepModel for Wormhole {
    fn common_costs(&self) -> &CommonCosts {
        &self.common
    }

    fn step_cost(&self, step: &Step<'_>, _: &Network, unit_bytes: f64, rounds: Rounds) -> Times {
        let rounds = rounds.count;
        let facts = &step.facts;
        let longest = facts.longest() * unit_bytes;
        let bytes = if rounds > 1 {
            let ports = self.common.ports.at_most(facts.max_sends.max(facts.max_receives)) as f64;
            longest.max(facts.through_node() * unit_bytes / ports)
        } else {
            longest
        };
        let byte_us = if facts.one_directional { self.unpaired_byte_us } else { self.byte_us };
        let (load, hops) =
            facts.expected.map_or((facts.through_link(), facts.latency()), |expected| {
                (expected.load, expected.hops)
            });
        let hops = match self.hops {
            Hops::Mean if facts.total_load > 0 => facts.load_hops as f64 / facts.total_load as f64,
            _ => hops,
        };
        let through_link = load * unit_bytes / self.free_contention;
        let protocol_us = self.protocols().startup_us(facts.max_load as f64 * unit_bytes);
        Times::of([
            (Kind::Startup, rounds as f64 * (self.startup_us + protocol_us)),
            (Kind::Transmission, bytes * byte_us),
            (Kind::Propagation, rounds as f64 * hops * self.hop_us),
            (Kind::Contention, (through_link - bytes).max(0.0) * byte_us),
        ])
    }
}
