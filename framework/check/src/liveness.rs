//! Converts a schedule's messages to programs of ranks whose connections are FIFOs.

use crate::request::Liveness;
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::liveness::StepPrograms;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};

/// The messages of a schedule. Each block or segment occupies a slot of a FIFO. If each message
/// occupied only one slot, no schedule would deadlock.
#[derive(Default)]
pub(crate) struct MessageOrder {
    programs: StepPrograms,
    sends: u64,
    has_byte_counts: bool,
}

impl MessageOrder {
    /// The maximum number of sends. The operations of this number of sends take about 200 MB.
    const MOST: u64 = 1 << 21;

    /// Returns the deadlock that occurs if connections have `depth` slots, if any.
    pub(crate) fn liveness(self, depth: u64) -> Liveness {
        if self.has_byte_counts {
            return Liveness::NotExamined("it moves byte counts, not blocks".to_owned());
        }
        if self.sends > Self::MOST {
            return Liveness::NotExamined(format!("it has more than {} sends", Self::MOST));
        }
        let programs = self.programs.finish();
        let Some(deadlock) = programs.deadlock(depth) else { return Liveness::Ends };
        let (mut stuck, mut least) = (depth, depth + 1);
        // The loop ends: if each block has a slot, no send has to wait.
        while programs.deadlock(least).is_some() {
            (stuck, least) = (least, least * 2);
        }
        while least - stuck > 1 {
            let middle = stuck + (least - stuck) / 2;
            match programs.deadlock(middle) {
                Some(_) => stuck = middle,
                None => least = middle,
            }
        }
        Liveness::Deadlock { cycle: deadlock.to_string(), least_depth: least }
    }
}

impl Listener for MessageOrder {
    fn interests(&self) -> Interests {
        Interests { sends: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Sent(sent) = event else { return };
        if sent.is_local() {
            return;
        }
        self.has_byte_counts |= sent.proof == Proof::ByteCounts;
        self.sends += 1;
        if self.sends <= Self::MOST {
            let (from, to) = (sent.from.physical as usize, sent.to.physical as usize);
            self.programs.message(sent.step, from, to, sent.load.max(1));
        }
    }
}
