//! The steps of a folded simulation. In a folded simulation, one rank represents all nodes of an
//! orbit. An orbit is a set of nodes that symmetries map to each other, so these nodes do the same
//! work at the same time.

use super::{StepIndex, StepMessage, Steps};
use crate::simulation::step::Step;

/// A split of orbits into smaller orbits. Orbits are split before a step that has fewer symmetries
/// than the steps before it. The old ranks represent the orbits before the split, and the new ranks
/// represent the orbits after it.
pub(crate) struct Refinement<'a> {
    /// For each new rank, the old rank whose orbit contained the orbit of the new rank.
    pub of: &'a [usize],
    /// Returns the destination of a message of a new rank. The arguments are the new rank, and the
    /// destination of the same message of its old rank.
    pub moved: &'a dyn Fn(usize, u32) -> u32,
    /// Returns the new rank that represents a node.
    pub rank: &'a dyn Fn(u32) -> u32,
    /// Returns the number of new ranks that have not ended the step with this number.
    pub inside: &'a dyn Fn(u64) -> usize,
}

impl Steps {
    /// Adds a step that has only the messages of one node of each orbit, sorted by sender.
    /// `targets` has the destination node of each message.
    pub(crate) fn add_folded(&mut self, step: &Step<'_>, targets: Vec<u32>) {
        self.add(step);
        if let Some(last) = self.steps.back_mut() {
            last.targets = targets;
        }
    }

    /// Replaces the old ranks by the new ranks in all stored steps, after a split of orbits.
    pub(crate) fn refine(&mut self, to: &Refinement<'_>) {
        self.waiting *= to.of.len() / self.nodes;
        self.nodes = to.of.len();
        self.messages = 0;
        for (number, step) in (self.first..).zip(&mut self.steps) {
            step.refine(to);
            step.inside = (to.inside)(number);
            self.messages += step.messages.len();
        }
        copy_from_old(&mut self.summed, to.of);
    }
}

impl StepIndex {
    fn refine(&mut self, to: &Refinement<'_>) {
        let (mut messages, mut targets) = (Vec::new(), Vec::new());
        for (rank, &of) in to.of.iter().enumerate() {
            for (place, message) in (0..).zip(self.sends(of)) {
                let target = (to.moved)(rank, self.target(of, place));
                messages.push(StepMessage { from: rank as u32, to: (to.rank)(target), ..*message });
                targets.push(target);
            }
        }
        self.arrange(to.of.len(), &messages);
        self.targets = targets;
        copy_from_old(&mut self.summed, to.of);
    }
}

fn copy_from_old(of_each: &mut Vec<f64>, of: &[usize]) {
    if !of_each.is_empty() {
        *of_each = of.iter().map(|rank| of_each[*rank]).collect();
    }
}
