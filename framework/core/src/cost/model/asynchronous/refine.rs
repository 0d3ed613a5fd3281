//! Steps of which one node of each orbit is followed.

use super::{StepIndex, StepMessage, Steps};
use crate::simulation::step::Step;

/// A narrower idea of who does the same: how ranks as they are now and as they were belong
/// together.
pub(in crate::cost::model) struct Refinement<'a> {
    /// For each rank the one that stood for it.
    pub of: &'a [usize],
    /// The node that a target of the one that stood for a rank is for the rank itself.
    pub moved: &'a dyn Fn(usize, u32) -> u32,
    /// The rank that stands for a node.
    pub rank: &'a dyn Fn(u32) -> u32,
    /// How many ranks have not ended the step of this number.
    pub inside: &'a dyn Fn(u64) -> usize,
}

impl Steps {
    /// The messages of a step are those of ranks that stand for others, in the order of senders,
    /// and go to these nodes.
    pub(in crate::cost::model) fn add_folded(&mut self, step: &Step<'_>, targets: Vec<u32>) {
        self.add(step);
        if let Some(last) = self.steps.back_mut() {
            last.targets = targets;
        }
    }

    /// Fewer nodes do the same from now on.
    pub(in crate::cost::model) fn spread(&mut self, to: &Refinement<'_>) {
        self.open *= to.of.len() / self.nodes;
        self.nodes = to.of.len();
        self.messages = 0;
        for (number, step) in (self.first..).zip(&mut self.steps) {
            step.spread(to);
            step.inside = (to.inside)(number);
            self.messages += step.messages.len();
        }
        spread(&mut self.summed, to.of);
    }
}

impl StepIndex {
    fn spread(&mut self, to: &Refinement<'_>) {
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
        spread(&mut self.summed, to.of);
    }
}

fn spread(of_each: &mut Vec<f64>, of: &[usize]) {
    if !of_each.is_empty() {
        *of_each = of.iter().map(|rank| of_each[*rank]).collect();
    }
}
