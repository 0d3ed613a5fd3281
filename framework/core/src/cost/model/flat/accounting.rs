//! Time-space accounting of the model `flat`: the times that each node spends on each kind of work.
//!
//! The time of a node is charged while the node works through the messages of a stage. A processor
//! with nothing to do waits for the message that it handles next, and this wait has three parts.
//! Until the sender has started the message, the wait is charged as waiting for a peer. While the
//! message then waits for engines and ports, it is charged as contention. While the message is
//! copied and crosses the network, it is charged as transmission.

use crate::cost::model::clock::{Clock, Ticks, us};
use crate::cost::model::time_space::{TimeKind, TimeSpace};

/// The times of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CrossingTimes {
    /// The time at which the sender had started the message.
    pub started: Ticks,
    /// The time at which the message was ready to cross the network.
    pub ready: Ticks,
    /// The time that the sender needs to copy the message.
    pub copying: Ticks,
    /// The time at which the message began to cross the network.
    pub crossing: Ticks,
    pub arrived: Ticks,
}

#[derive(Debug)]
pub(super) struct Accounting {
    record: TimeSpace,
    /// The schedule's numbers of all steps so far in which at least one message was sent.
    steps: Vec<u64>,
    /// The total duration of all barriers before the stage, which the clocks do not include.
    barriers_us: f64,
    /// The times of the messages of the stage.
    pub crossings: Vec<CrossingTimes>,
}

impl Accounting {
    pub(super) fn new(record: TimeSpace) -> Self {
        Self { record, steps: Vec::new(), barriers_us: 0.0, crossings: Vec::new() }
    }

    pub(super) fn finish(self) -> TimeSpace {
        self.record.finish()
    }

    /// Adds a step. The step has the number `schedule_step` in the schedule.
    pub(super) fn add_step(&mut self, schedule_step: u64) {
        self.steps.push(schedule_step);
    }

    /// Begins a stage, which has this number of messages and this first step. `ended` is the end of
    /// the previous stage. A barrier follows, and then each node composes (rearranges) its data.
    /// The last node has composed its data at `start`.
    pub(super) fn begin_stage(
        &mut self,
        (messages, first_step): (usize, Option<u64>),
        ended: Ticks,
        barriers_us: f64,
        composing_us: impl Iterator<Item = f64>,
        start: Clock,
    ) {
        self.crossings.clear();
        self.crossings.resize(messages, CrossingTimes::default());
        let before = std::mem::replace(&mut self.barriers_us, barriers_us);
        for (node, composing_us) in composing_us.enumerate() {
            self.record.charge(node, TimeKind::Peer, us(ended) + before);
            self.record.charge(node, TimeKind::Barrier, us(ended) + barriers_us);
            if let Some(step) = first_step {
                self.enter(node as u32, step);
            }
            self.record.charge(
                node,
                TimeKind::Rearrangement,
                us(ended) + barriers_us + composing_us,
            );
            self.charge(node as u32, TimeKind::Peer, start.at);
        }
    }

    /// Records that a node begins the step with this number in the schedule.
    pub(super) fn enter(&mut self, node: u32, schedule_step: u64) {
        let step = self
            .steps
            .partition_point(|step| *step < schedule_step)
            .min(self.steps.len().saturating_sub(1));
        self.record.enter(node as usize, step as u64);
    }

    pub(super) fn charge(&mut self, node: u32, kind: TimeKind, until: Ticks) {
        self.record.charge(node as usize, kind, us(until) + self.barriers_us);
    }

    /// Records that the node has made a send.
    pub(super) fn sent(&mut self, node: u32) {
        self.record.sent(node as usize);
    }

    /// Charges the time in which the node only waited for a message, divided into kinds of time.
    pub(super) fn charge_wait(&mut self, node: u32, message: u32) {
        let CrossingTimes { started, ready, copying, crossing, arrived } =
            self.crossings[message as usize];
        self.charge(node, TimeKind::Peer, started);
        self.charge(node, TimeKind::Contention, ready.saturating_sub(copying));
        self.charge(node, TimeKind::Transmission, ready);
        self.charge(node, TimeKind::Contention, crossing);
        self.charge(node, TimeKind::Transmission, arrived);
    }
}
