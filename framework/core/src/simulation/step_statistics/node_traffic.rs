//! The messages and loads that a node sends and receives in a step.

use crate::simulation::step::StepFacts;

/// The messages and loads of one node in the step `step`. If this is an earlier step than the
/// current one, all values are outdated and count as 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeTraffic {
    step: u64,
    sends: u32,
    receives: u32,
    /// The only node with which this node exchanges messages, unless `several_partners` is set.
    partner: u32,
    several_partners: bool,
    sent: u64,
    received: u64,
}

impl NodeTraffic {
    #[inline]
    fn add_partner(&mut self, step: u64, node: u32) {
        if self.step != step {
            *self = Self { step, ..Self::default() };
        }
        self.several_partners |= self.sends + self.receives > 0 && self.partner != node;
        self.partner = node;
    }

    /// Adds a message that the node sends.
    #[inline]
    pub(super) fn sends(&mut self, step: u64, to: u32, load: u64, facts: &mut StepFacts) {
        self.add_partner(step, to);
        self.sends += 1;
        self.sent += load;
        facts.one_directional |= self.one_directional();
        facts.max_sends = facts.max_sends.max(u64::from(self.sends));
        facts.max_node_load = facts.max_node_load.max(self.sent);
    }

    /// Adds a message that the node receives.
    #[inline]
    pub(super) fn receives(&mut self, step: u64, from: u32, load: u64, facts: &mut StepFacts) {
        self.add_partner(step, from);
        self.receives += 1;
        self.received += load;
        facts.one_directional |= self.one_directional();
        facts.max_receives = facts.max_receives.max(u64::from(self.receives));
        facts.max_node_load = facts.max_node_load.max(self.received);
    }

    /// Returns whether the node sends to one node and receives from a different one.
    fn one_directional(&self) -> bool {
        self.several_partners && self.sends > 0 && self.receives > 0
    }
}
