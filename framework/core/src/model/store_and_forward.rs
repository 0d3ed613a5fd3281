//! `store-and-forward`: synchronous steps, each message stored at every node it passes.
//!
//! A message of L bytes over h links takes `h (ts + L tw)` (Li, Peng & Chu, section III), a step as long as its longest message does; `ts` and `tw` are
//! `startup_us` and `byte_us`. Links are not shared within a step in the schedules it was made for; where they are, the messages on a link follow
//! each other, and what the busiest link needs beyond the longest message is contention. A step that asks more messages of a node than it has ports is run in
//! turns.

use super::{Parts, Pricer, Scale};
use crate::machine::Machine;
use crate::step::{Listener, Step};

pub(super) struct StoreAndForward {
    machine: Machine,
    scale: Scale,
    barrier_us: f64,
    startup: f64,
    transmission: f64,
    rearrangement: f64,
    barrier: f64,
    contention: f64,
    first: bool,
    most_at_once: u64,
}

impl StoreAndForward {
    pub(super) fn new(machine: &Machine, scale: Scale) -> Self {
        Self {
            barrier_us: machine.barrier_us(scale.nodes),
            machine: machine.clone(),
            scale,
            startup: 0.0,
            transmission: 0.0,
            rearrangement: 0.0,
            barrier: 0.0,
            contention: 0.0,
            first: true,
            most_at_once: 0,
        }
    }
}

impl Listener for StoreAndForward {
    fn step(&mut self, step: &Step<'_>) {
        let unit = self.scale.unit_bytes / step.parts as f64;
        let (ts, tw) = (self.machine.startup_us, self.machine.byte_us);
        // (start-ups, transmission) of the message that takes longest
        let (mut startup, mut transmission) = (0.0, 0.0);
        for t in step.transfers {
            let (s, b) = (f64::from(t.hops) * ts, f64::from(t.hops) * t.load as f64 * unit * tw);
            if s + b > startup + transmission {
                (startup, transmission) = (s, b);
            }
        }
        let at_once = step.facts.max_sends.max(step.facts.max_receives);
        self.most_at_once = self.most_at_once.max(at_once);
        let turns = self.machine.ports.turns(at_once) as f64;
        let on_busiest_link = step.facts.max_link_messages as f64 * ts + step.facts.max_link_load as f64 * unit * tw;
        self.startup += turns * startup;
        self.transmission += turns * transmission;
        self.contention += (on_busiest_link - turns * (startup + transmission)).max(0.0);
        if !std::mem::take(&mut self.first) {
            self.barrier += self.barrier_us;
        }
    }

    fn rearranged(&mut self, most: u64, parts: u64) {
        self.rearrangement += most as f64 * self.scale.unit_bytes / parts as f64 * self.machine.rearrange_byte_us;
    }
}

impl Pricer for StoreAndForward {
    fn price(&self) -> (Parts, Option<String>) {
        let parts = Parts {
            startup: Some(self.startup),
            transmission: Some(self.transmission),
            // Hops are start-ups here: a message starts up at every node it passes.
            propagation: None,
            rearrangement: Some(self.rearrangement),
            barrier: Some(self.barrier),
            contention: Some(self.contention),
        };
        (parts, super::in_turns(&self.machine, self.most_at_once))
    }
}
