//! `wormhole`: synchronous steps on a wormhole-routed network.
//!
//! A step costs `ts + L tc + h tl` with L bytes in the longest message and h links on the longest route (Suh & Shin, section 2), plus
//! a barrier `tb` between steps and `rho` for each byte that the fullest node rearranges (3.1.4). Where links are shared it is
//! `alpha + L max(beta, f beta_sat)` (Thakur, Choudhary & Fox, section 2), with beta_sat = beta / `free_contention`. There, all messages of a step
//! have L bytes; for messages of different length `L f` becomes the bytes on the busiest link. In a step where a node sends to one
//! node and receives from another, beta is `unpaired_byte_us` (their beta_sr).
//!
//! A step that asks more messages of a node than it has ports is run in turns: a start-up and the hops a turn, and the bytes of the busiest
//! node one after another.

use super::{Parts, Pricer, Scale};
use crate::machine::Machine;
use crate::step::{Listener, Step};

pub(super) struct Wormhole {
    machine: Machine,
    scale: Scale,
    barrier_us: f64,
    startup: f64,
    transmission: f64,
    propagation: f64,
    rearrangement: f64,
    barrier: f64,
    contention: f64,
    first: bool,
    most_at_once: u64,
}

impl Wormhole {
    pub(super) fn new(machine: &Machine, scale: Scale) -> Self {
        Self {
            barrier_us: machine.barrier_us(scale.nodes),
            machine: machine.clone(),
            scale,
            startup: 0.0,
            transmission: 0.0,
            propagation: 0.0,
            rearrangement: 0.0,
            barrier: 0.0,
            contention: 0.0,
            first: true,
            most_at_once: 0,
        }
    }
}

impl Listener for Wormhole {
    fn step(&mut self, step: &Step<'_>) {
        let (facts, unit) = (&step.facts, self.scale.unit_bytes / step.parts as f64);
        let at_once = facts.max_sends.max(facts.max_receives);
        self.most_at_once = self.most_at_once.max(at_once);
        let turns = self.machine.ports.turns(at_once);
        let longest = facts.max_load as f64 * unit;
        let bytes = if turns > 1 {
            let ports = self.machine.ports.at_most(at_once) as f64;
            longest.max(facts.max_node_load as f64 * unit / ports)
        } else {
            longest
        };
        let byte_us = if facts.unpaired { self.machine.unpaired_byte_us() } else { self.machine.byte_us };
        let through_link = facts.max_link_load as f64 * unit / self.machine.free_contention;
        self.startup += turns as f64 * self.machine.startup_us;
        self.transmission += bytes * byte_us;
        self.contention += (through_link - bytes).max(0.0) * byte_us;
        self.propagation += (turns * facts.max_hops) as f64 * self.machine.hop_us;
        if !std::mem::take(&mut self.first) {
            self.barrier += self.barrier_us;
        }
    }

    fn rearranged(&mut self, most: u64, parts: u64) {
        self.rearrangement += most as f64 * self.scale.unit_bytes / parts as f64 * self.machine.rearrange_byte_us;
    }
}

impl Pricer for Wormhole {
    fn price(&self) -> (Parts, Option<String>) {
        let parts = Parts {
            startup: Some(self.startup),
            transmission: Some(self.transmission),
            propagation: Some(self.propagation),
            rearrangement: Some(self.rearrangement),
            barrier: Some(self.barrier),
            contention: Some(self.contention),
        };
        (parts, super::in_turns(&self.machine, self.most_at_once))
    }
}
