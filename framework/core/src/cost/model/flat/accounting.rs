//! Time-space accounting of the model `flat`: the times that each node spends on each kind of work.
//!
//! The time of a node is charged while the node works through the messages of a stage. A processor
//! with nothing to do waits for the message that it handles next, and this wait has three parts.
//! Until the sender has started the message, the wait is charged as waiting for a peer. While the
//! message then waits for engines and ports, it is charged as contention. While the message is
//! copied and crosses the network, it is charged as transmission.

use crate::cost::kind::Kind;
use crate::cost::model::clock::{Ticks, us};
use crate::cost::model::time_space::{TimeLine, TimeSpace};

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

impl CrossingTimes {
    /// Divides the time in which a node only waits for the message. Returns the end of each phase,
    /// as in [`RankClock::follow`](crate::cost::model::time_space::RankClock::follow).
    pub(super) fn phases(self) -> [(Kind, f64); 5] {
        let Self { started, ready, copying, crossing, arrived } = self;
        [
            (Kind::Peer, started),
            (Kind::Contention, ready.saturating_sub(copying)),
            (Kind::Transmission, ready),
            (Kind::Contention, crossing),
            (Kind::Transmission, arrived),
        ]
        .map(|(kind, until)| (kind, us(until)))
    }
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

    /// Begins a stage, which has this number of messages. `barriers_us` is the total duration of all
    /// barriers before it.
    pub(super) fn begin_stage(&mut self, messages: usize, barriers_us: f64) {
        self.crossings.clear();
        self.crossings.resize(messages, CrossingTimes::default());
        self.barriers_us = barriers_us;
    }

    /// Returns the time line of a node.
    pub(super) fn line<'a>(accounting: &'a mut Option<&mut Self>, node: u32) -> TimeLine<'a> {
        match accounting {
            Some(Self { record, barriers_us, .. }) => {
                TimeLine::new(Some(record), node as usize, *barriers_us)
            }
            None => TimeLine::new(None, node as usize, 0.0),
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
}
