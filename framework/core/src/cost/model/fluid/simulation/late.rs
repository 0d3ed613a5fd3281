//! Late ranks. A late rank posts its sends and receives after it has entered the schedule.

use super::Simulation;
use crate::cost::model::asynchronous::engine::RankModel;
use crate::cost::model::path::Path;
use crate::cost::model::time_space::TimeKind;

/// A message that waits until its receiver, which is late, enters the schedule.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldMessage {
    pub from: usize,
    pub to: usize,
    pub step: u64,
    /// The index of the message among the sends of its sender.
    pub index: u32,
}

impl Simulation {
    /// Returns whether a rank is late and has not entered yet.
    pub(super) fn is_late(&self, rank: usize) -> bool {
        self.late.get(rank).is_some_and(|us| *us > 0.0)
    }

    /// Lets a late rank enter the schedule.
    pub(super) fn enter_late(&mut self, rank: usize) {
        self.late[rank] = 0.0;
        let path = Path { contention: self.now, ..Path::default() };
        let r = &mut self.ranks[rank];
        (r.path, r.ended, r.end_path) = (path, self.now, path);
        self.last_path = path;
        self.progress.charge(rank, TimeKind::Peer, self.now);
        if self.progress.data_order.is_none() {
            self.enter_step(rank);
            return;
        }
        let held: Vec<HeldMessage> = self.held.extract_if(.., |held| held.to == rank).collect();
        for HeldMessage { from, step, index, .. } in held {
            self.start_message(from, step, index, path);
        }
        self.resume_by(rank, path);
    }
}
