//! Who watches a schedule go by, what they want of it, and how they are told what happens.

use crate::delivery::fault::{Block, Place};
use crate::simulation::messages::Kept;
use crate::simulation::step::{Listener, LocalCopy, Reads, Sent, Step, Summed, Totals, Unsent};
use crate::simulation::step_statistics::Wanted;

/// All listeners of a schedule. What is the same for all of them is counted here: phases, steps,
/// totals.
pub(super) struct Listeners<'a> {
    all: Vec<&'a mut dyn Listener>,
    /// Whether somebody looks at single sends.
    pub watched: bool,
    pub wanted: Wanted,
    /// What of messages somebody wants to know besides.
    pub kept: Kept,
    /// The most that one of them reads.
    pub reads: Reads,
    phase: String,
    phase_number: u32,
    totals: Totals,
}

impl<'a> Listeners<'a> {
    pub(super) fn new(all: Vec<&'a mut dyn Listener>) -> Self {
        let wanted = Wanted::by(&all);
        Self {
            watched: all.iter().any(|l| l.wants_sends()),
            wanted,
            kept: Kept { blocks: wanted.packing, after: all.iter().any(|l| l.wants_after()) },
            reads: all.iter().map(|l| l.reads()).max().unwrap_or(Reads::Facts),
            all,
            phase: String::new(),
            phase_number: 0,
            totals: Totals::default(),
        }
    }

    /// What is known of the schedule without the state of its nodes.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Those who look at single sends.
    pub(super) fn watching(&mut self) -> impl Iterator<Item = &mut &'a mut dyn Listener> {
        self.all.iter_mut().filter(|l| l.wants_sends())
    }

    pub(super) fn phase(&mut self, name: &str) {
        self.phase.clear();
        self.phase.push_str(name);
        self.phase_number += 1;
        self.all.iter_mut().for_each(|listener| listener.phase(name));
    }

    pub(super) fn rearranged(&mut self, most: u64, segments: u64) {
        self.totals.rearrangements += 1;
        self.all.iter_mut().for_each(|listener| listener.rearranged(most, segments));
    }

    pub(super) fn sent(&mut self, sent: &Sent<'_>) {
        self.watching().for_each(|listener| listener.sent(sent));
    }

    pub(super) fn unsent(&mut self, unsent: &Unsent) {
        self.all.iter_mut().for_each(|listener| listener.unsent(unsent));
    }

    /// In the step of this number a node sends itself something.
    pub(super) fn local_copy(&mut self, schedule_step: u64, node: u32, load: u64, segments: u64) {
        let copy =
            LocalCopy { node, load, segments, phase_number: self.phase_number, schedule_step };
        self.all.iter_mut().for_each(|listener| listener.local_copy(copy));
    }

    pub(super) fn redundant(&mut self, step: u64, node: Place, block: Block) {
        self.all.iter_mut().for_each(|listener| listener.redundant(step, node, block));
    }

    pub(super) fn summed(&mut self, summed: Summed<'_>) {
        self.totals.critical_summed += u128::from(summed.most);
        self.all.iter_mut().for_each(|listener| listener.summed(summed));
    }

    /// A step in which something was sent; its number and phase are filled in here.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        self.totals.add(&step.facts);
        let (number, phase, phase_number) =
            (self.totals.steps, self.phase.as_str(), self.phase_number);
        let step = Step { number, phase, phase_number, ..*step };
        self.all.iter_mut().for_each(|listener| listener.step(&step));
    }
}
