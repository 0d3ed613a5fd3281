//! What nodes' time goes into, where somebody asked for that.
//!
//! Nodes are told of as they work through a stage's messages; while a processor has nothing to do
//! it waits for what it takes next: for its sender to start it (a peer), for engines and ports
//! (contention), and while it is copied and crosses (transmission).

use crate::cost::model::clock::{Clock, Ticks, us};
use crate::cost::model::time_space::{TimeKind, TimeSpace};

/// What is known of a message under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CrossingTimes {
    /// When its sender had started it.
    pub started: Ticks,
    /// When it was ready to cross, and what copying it at the sender took.
    pub ready: Ticks,
    pub copying: Ticks,
    /// When it began to cross, and came.
    pub crossing: Ticks,
    pub came: Ticks,
}

#[derive(Debug)]
pub(super) struct Accounting {
    record: TimeSpace,
    /// The schedule's own numbers of the steps so far in which something left a node.
    steps: Vec<u64>,
    /// What barriers before the stage took: clocks don't know.
    barriers_us: f64,
    /// Of each message of the stage.
    pub crossings: Vec<CrossingTimes>,
}

impl Accounting {
    pub(super) fn new(record: TimeSpace) -> Self {
        Self { record, steps: Vec::new(), barriers_us: 0.0, crossings: Vec::new() }
    }

    pub(super) fn done(self) -> TimeSpace {
        self.record.finish()
    }

    /// The schedule's step of this number has come.
    pub(super) fn step(&mut self, schedule_step: u64) {
        self.steps.push(schedule_step);
    }

    /// A stage of so many messages begins, the first in the schedule's step of this number, if
    /// there is one: all have ended the one before at this moment, and pass a barrier if it was not
    /// the first. Each composes for so long, and waits for the last.
    pub(super) fn begin(
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

    /// The node comes to the schedule's step of this number.
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

    /// The node has made a send, after a start-up and copying.
    pub(super) fn sent(&mut self, node: u32) {
        self.record.sent(node as usize);
    }

    /// The node had nothing to do but wait for a message.
    pub(super) fn awaited(&mut self, node: u32, message: u32) {
        let CrossingTimes { started, ready, copying, crossing, came } =
            self.crossings[message as usize];
        self.charge(node, TimeKind::Peer, started);
        self.charge(node, TimeKind::Contention, ready.saturating_sub(copying));
        self.charge(node, TimeKind::Transmission, ready);
        self.charge(node, TimeKind::Contention, crossing);
        self.charge(node, TimeKind::Transmission, came);
    }
}
