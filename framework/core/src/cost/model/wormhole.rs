//! `wormhole`: synchronous steps on a wormhole-routed network.
//!
//! A step costs `ts + L tc + h tl` with L bytes in the longest message and h links on the longest route (Suh & Shin, section 2), plus
//! a barrier `tb` between steps and `rho` for each byte that the fullest node rearranges (3.1.4). Where links are shared it is
//! `alpha + L max(beta, f beta_sat)` (Thakur, Choudhary & Fox, section 2), with beta_sat = beta / `free_contention`. There, all messages of a step
//! have L bytes; for messages of different length `L f` becomes the bytes on the busiest link. In a step where a node sends to one
//! node and receives from another, beta is `unpaired_byte_us` (their beta_sr).
//!
//! A step that asks more messages of a node than it has ports is run in turns: a start-up, the hops and a barrier a turn, and the bytes of the
//! busiest node one after another.

use super::synchronous::{Model, StepCost, Synchronous};
use super::turns::Turns;
use super::{Evaluator, Scale};
use crate::cost::machine::Machine;
use crate::simulation::step::Step;

pub(super) fn evaluator(machine: &Machine, scale: Scale<'_>) -> Box<dyn Evaluator> {
    let none = StepCost { propagation: Some(0.0), ..StepCost::default() };
    Box::new(Synchronous::new(machine, scale, Model { none, price_of_step, circuits: false }))
}

fn price_of_step(machine: &Machine, step: &Step<'_>, unit_bytes: f64, turns: Turns) -> StepCost {
    let turns = turns.count;
    let facts = &step.facts;
    let longest = facts.longest() * unit_bytes;
    let bytes = if turns > 1 {
        let ports = machine.ports.at_most(facts.max_sends.max(facts.max_receives)) as f64;
        longest.max(facts.max_node_load as f64 * unit_bytes / ports)
    } else {
        longest
    };
    let byte_us = if facts.one_directional { machine.unpaired_byte_us() } else { machine.byte_us };
    let through_link = facts.through_link() * unit_bytes / machine.free_contention;
    StepCost {
        startup: turns as f64 * machine.startup_us,
        transmission: bytes * byte_us,
        propagation: Some((turns * facts.max_hops) as f64 * machine.hop_us),
        contention: (through_link - bytes).max(0.0) * byte_us,
    }
}
