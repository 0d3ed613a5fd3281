//! `circuit`: synchronous rounds of circuits, several of which a directed link carries at a time.
//!
//! A round costs `alpha + h delta + k L tau` (Spencer, chapter 2): a start-up; switching over the h links of the longest circuit; and propagation, the largest over
//! circuits of L bytes that share some link with k - 1 others. `startup_us` is alpha, `hop_us` delta, `byte_us` tau; what sharing adds to the longest
//! message's own L tau is `contention_us`.
//!
//! A link carries `virtual_channels` (q) circuits at most, and so does a port: with one port a node may inform q others in a round, which share it as they would a link
//! (section 3.1). A round that asks for more is run in turns ([`super::turns`]): each has a start-up, the switching and the propagation of its own circuits, and a barrier. Where turns aren't arranged (only
//! ports are short, or there is too much to arrange), each turn is charged the longest circuit of all, and all together the propagation of the most
//! multiplexed one, or of the busiest node's bytes through its ports if that is more.

use super::synchronous::{Model, StepCost, Synchronous};
use super::turns::{Arranged, Turns};
use super::{Evaluator, Scale};
use crate::cost::machine::Machine;
use crate::simulation::step::Step;

pub(super) fn evaluator(machine: &Machine, scale: Scale<'_>) -> Box<dyn Evaluator> {
    let none = StepCost { propagation: Some(0.0), ..StepCost::default() };
    Box::new(Synchronous::new(machine, scale, Model { none, price_of_step, circuits: true }))
}

fn price_of_step(machine: &Machine, step: &Step<'_>, unit_bytes: f64, turns: Turns) -> StepCost {
    let startup = turns.count as f64 * machine.startup_us;
    if let Some(Arranged { hops, alone, multiplexed }) = turns.arranged {
        return StepCost {
            startup,
            transmission: alone * unit_bytes * machine.byte_us,
            propagation: Some(hops as f64 * machine.hop_us),
            contention: (multiplexed - alone).max(0.0) * unit_bytes * machine.byte_us,
        };
    }
    let facts = &step.facts;
    let turns = turns.count;
    let longest = facts.longest() * unit_bytes;
    let ports = machine.ports.at_most(facts.max_sends.max(facts.max_receives)) as f64;
    let through_ports = facts.max_node_load as f64 * unit_bytes / ports;
    let alone = if turns > 1 { longest.max(through_ports) } else { longest };
    let multiplexed = (facts.multiplexed() * unit_bytes).max(through_ports);
    StepCost {
        startup,
        transmission: alone * machine.byte_us,
        propagation: Some((turns * facts.max_hops) as f64 * machine.hop_us),
        contention: (multiplexed - alone).max(0.0) * machine.byte_us,
    }
}
