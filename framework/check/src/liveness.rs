//! The messages of a schedule as programs of ranks whose connections are FIFOs.

use crate::request::Liveness;
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::liveness::{Programs, StepPrograms};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};

/// The messages of a schedule, once with a slot for each message and once with a slot for each
/// block or segment.
#[derive(Default)]
pub(crate) struct MessageOrder {
    messages: StepPrograms,
    blocks: StepPrograms,
    count: u64,
    has_blocks: bool,
}

impl MessageOrder {
    /// The maximum number of messages, whose operations take about 200 MB.
    const MOST: u64 = 1 << 21;

    /// Returns the deadlocks if connections have `depth` slots.
    pub(crate) fn liveness(self, depth: u64) -> Liveness {
        if self.count > Self::MOST {
            return Liveness { is_too_large: true, ..Liveness::default() };
        }
        let found = |programs: Programs| programs.deadlock(depth).map(|found| found.to_string());
        Liveness {
            of_messages: found(self.messages.finish()),
            of_blocks: self.has_blocks.then(|| found(self.blocks.finish())).flatten(),
            is_too_large: false,
        }
    }
}

impl Listener for MessageOrder {
    fn interests(&self) -> Interests {
        Interests { sends: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Sent(sent) = event else { return };
        let (from, to) = (sent.from.physical as usize, sent.to.physical as usize);
        if sent.is_local() {
            return;
        }
        self.count += 1;
        if self.count > Self::MOST {
            return;
        }
        self.messages.message(sent.step, from, to, 1);
        self.has_blocks = sent.proof != Proof::ByteCounts;
        self.blocks.message(sent.step, from, to, sent.load.max(1));
    }
}
