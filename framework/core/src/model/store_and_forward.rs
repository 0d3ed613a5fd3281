//! `store-and-forward`: synchronous steps, each message stored at every node it passes.
//!
//! A message of L bytes over h links takes `h (ts + L tw)` (Li, Peng & Chu, section III), a step as long as its longest message does; `ts` and `tw` are
//! `startup_us` and `byte_us`. Links are not shared within a step in the schedules it was made for; where they are, the messages on a link follow
//! each other, and what the busiest link needs beyond the longest message is contention. A step that asks more messages of a node than it has ports is run in
//! turns.

use super::synchronous::{Model, StepCost, Synchronous};
use super::{Pricer, Scale};
use crate::machine::Machine;
use crate::step::Step;

pub(super) fn pricer(machine: &Machine, scale: Scale) -> Box<dyn Pricer> {
    // Hops are start-ups here, a message starts up at every node it passes: there is no propagation.
    let none = StepCost::default();
    Box::new(Synchronous::new(machine, scale, Model { none, price_of_step, circuits: false }))
}

fn price_of_step(machine: &Machine, step: &Step<'_>, unit_bytes: f64, turns: u64) -> StepCost {
    let (ts, tw) = (machine.startup_us, machine.byte_us);
    // (start-ups, transmission) of the message that takes longest
    let (mut startup, mut transmission) = (0.0, 0.0);
    for (i, t) in step.transfers.iter().enumerate() {
        let hops = f64::from(t.hops);
        let over_links = step.slowness.get(i).copied().unwrap_or(hops);
        let (s, b) = (hops * ts, over_links * t.load as f64 * unit_bytes * tw);
        if s + b > startup + transmission {
            (startup, transmission) = (s, b);
        }
    }
    let turns = turns as f64;
    let facts = &step.facts;
    let on_busiest_link = facts.max_link_messages as f64 * ts + facts.through_link() * unit_bytes * tw;
    StepCost {
        startup: turns * startup,
        transmission: turns * transmission,
        propagation: None,
        contention: (on_busiest_link - turns * (startup + transmission)).max(0.0),
    }
}
