//! All listeners of a schedule, and the state that they share.

use crate::simulation::listener::{Detail, Interests, Listener, LocalCopy, ScheduleEvent, Summed};
use crate::simulation::step::{Step, Totals};

/// All listeners of a schedule, with the counts of phases and steps and the totals.
pub(super) struct Listeners<'a> {
    all: Vec<&'a mut dyn Listener>,
    /// The combined needs of all listeners.
    pub interests: Interests,
    phase: String,
    phase_number: u32,
    totals: Totals,
}

impl<'a> Listeners<'a> {
    pub(super) fn new(all: Vec<&'a mut dyn Listener>) -> Self {
        let interests = all.iter().map(|l| l.interests()).fold(Interests::FACTS, Interests::union);
        Self { all, interests, phase: String::new(), phase_number: 0, totals: Totals::default() }
    }

    /// Returns the totals that do not depend on the data that nodes hold.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns whether any listener reads the whole schedule of all nodes.
    pub(super) fn read_all_nodes(&self) -> bool {
        self.interests.detail == Detail::AllNodes
    }

    /// Reports an event to all listeners.
    pub(super) fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.all.iter_mut().for_each(|listener| listener.notify(event));
    }

    /// Reports an event to the listeners that read single sends.
    pub(super) fn notify_of_send(&mut self, event: ScheduleEvent<'_>) {
        let follow_sends = self.all.iter_mut().filter(|listener| listener.interests().sends);
        follow_sends.for_each(|listener| listener.notify(event));
    }

    pub(super) fn phase(&mut self, name: &str) {
        self.phase.clear();
        self.phase.push_str(name);
        self.phase_number += 1;
        self.notify(ScheduleEvent::Phase(name));
    }

    pub(super) fn rearrangement(&mut self, most: u64, segments: u64) {
        self.totals.rearrangements += 1;
        self.notify(ScheduleEvent::Rearrangement { most, segments });
    }

    /// Reports that a node sends data to itself in step `schedule_step`.
    pub(super) fn local_copy(&mut self, schedule_step: u64, node: u32, load: u64, segments: u64) {
        let phase_number = self.phase_number;
        let copy = LocalCopy { node, load, segments, phase_number, schedule_step };
        self.notify(ScheduleEvent::LocalCopy(copy));
    }

    pub(super) fn summed(&mut self, summed: Summed<'_>) {
        self.totals.critical_summed += u128::from(summed.most);
        self.notify(ScheduleEvent::Summed(summed));
    }

    /// Sets the number and the phase of a step in which a message was sent, and reports the step.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        self.totals.add(&step.facts);
        let Self { phase, phase_number, totals, all, .. } = self;
        let step = Step { number: totals.steps, phase, phase_number: *phase_number, ..*step };
        all.iter_mut().for_each(|listener| listener.notify(ScheduleEvent::Step(&step)));
    }
}
