//! What goes through a node's ports in a step.

use crate::simulation::step::StepFacts;

/// What one node does in the current step; stale unless `step` is the current one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Port {
    step: u64,
    sends: u32,
    receives: u32,
    /// The node it exchanges with, if `several` is false.
    partner: u32,
    /// Whether it exchanges with more than one node.
    several: bool,
    sent: u64,
    received: u64,
}

impl Port {
    #[inline]
    fn meets(&mut self, step: u64, node: u32) {
        if self.step != step {
            *self = Self { step, ..Self::default() };
        }
        self.several |= self.sends + self.receives > 0 && self.partner != node;
        self.partner = node;
    }

    /// It sends a load to another node.
    #[inline]
    pub(super) fn sends(&mut self, step: u64, to: u32, load: u64, facts: &mut StepFacts) {
        self.meets(step, to);
        self.sends += 1;
        self.sent += load;
        facts.one_directional |= self.one_directional();
        facts.max_sends = facts.max_sends.max(u64::from(self.sends));
        facts.max_node_load = facts.max_node_load.max(self.sent);
    }

    #[inline]
    pub(super) fn receives(&mut self, step: u64, from: u32, load: u64, facts: &mut StepFacts) {
        self.meets(step, from);
        self.receives += 1;
        self.received += load;
        facts.one_directional |= self.one_directional();
        facts.max_receives = facts.max_receives.max(u64::from(self.receives));
        facts.max_node_load = facts.max_node_load.max(self.received);
    }

    /// Whether it sends to one node and receives from another.
    fn one_directional(&self) -> bool {
        self.several && self.sends > 0 && self.receives > 0
    }
}
