//! The simulation with `order=data`: each rank sends its messages one after another, each as soon
//! as its data and a port are available.

use super::Simulation;
use super::late::HeldMessage;
use crate::cost::model::asynchronous::data_order::Next;
use crate::cost::model::asynchronous::engine::Progress;
use crate::cost::model::path::Path;

impl Simulation {
    /// Posts the rank's next send with `order=data`. The message starts immediately, because its
    /// receiver has posted all receives at the start. If the receiver is late, the message starts
    /// when the receiver enters.
    pub(super) fn post_by_data(&mut self, rank: usize) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else { return };
        let Next::Send(step, index) = order.next(rank, steps) else { return };
        order.sent(rank);
        let r = &mut self.ranks[rank];
        (r.is_starting, r.sending) = (false, r.sending + 1);
        let path = r.path;
        let to =
            self.progress.steps.get(step).map_or(0, |step| step.sends(rank)[index as usize].to);
        if self.is_late(to as usize) {
            self.held.push(HeldMessage { from: rank, to: to as usize, step, index });
        } else {
            self.start_message(rank, step, index, path);
        }
        self.resume_by(rank, path);
    }

    /// Begins the rank's next send with `order=data`, if its data and a port are available. `path`
    /// is the critical path to the event that made them available.
    pub(super) fn resume_by(&mut self, rank: usize, path: Path) {
        if self.ranks[rank].is_starting {
            return;
        }
        let Some((step, index)) = self.progress.next_send(rank) else { return };
        let r = &mut self.ranks[rank];
        if u64::from(r.sending) >= self.machine.ports.count() {
            return;
        }
        (r.is_starting, r.path) = (true, path);
        if self.machine.has_startups() {
            self.begin_startup(rank, step, index);
        } else {
            self.post_by_data(rank);
        }
    }

    /// Completes a message at its sender and its receiver, with `order=data`. `path` is the
    /// critical path to the arrival of the message.
    pub(super) fn arrive_by_data(&mut self, [from, to]: [usize; 2], step: u64, path: Path) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else { return };
        // If the known steps contain no further send of a rank, the rank has already been counted
        // as waiting for a further step. Do not resume such a rank, because `next_send` would count
        // it again.
        let has_send = [from, to]
            .map(|rank| matches!(order.next(rank, steps), Next::Send(..) | Next::Blocked));
        steps.received(step, to);
        self.ranks[from].sending -= 1;
        self.last_path = path;
        self.reduce_arrived(to, path);
        for (rank, has_send) in [from, to].into_iter().zip(has_send) {
            (self.ranks[rank].ended, self.ranks[rank].end_path) = (self.now, path);
            if has_send {
                self.resume_by(rank, path);
            }
        }
    }

    /// Begins to reduce all data that has arrived, with `order=data`. `path` is the critical path
    /// to the last arrival.
    pub(super) fn reduce_arrived(&mut self, rank: usize, path: Path) {
        let Progress { data_order: Some(order), steps, .. } = &mut self.progress else { return };
        let bytes = order.begin_reduction(rank, steps);
        if bytes > 0.0
            && !self.begin_reduction(rank, bytes, path)
            && let Some(order) = &mut self.progress.data_order
        {
            order.end_reduction(rank);
        }
    }
}
