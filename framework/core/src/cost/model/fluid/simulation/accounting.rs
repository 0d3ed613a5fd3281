//! Time-space accounting of the model `fluid`: records the times that each rank spends on each kind
//! of work. These functions are called only if a record is requested.

use super::super::in_flight::InFlight;
use super::Simulation;
use crate::cost::kind::Kind;
use crate::cost::model::ticks::us;
use crate::cost::model::time_space::TimeSpace;

impl Simulation {
    /// Starts a record of all simulated ranks, each of which represents an orbit of nodes.
    pub(super) fn start_folded_record(&mut self, mut record: TimeSpace) {
        self.recorded_node = record.only();
        record.remap(&vec![0; self.ranks.len()], self.recorded_orbit());
        self.progress.record = Some(Box::new(record));
    }

    /// Returns the orbit of the recorded node, if only one node is recorded.
    pub(super) fn recorded_orbit(&self) -> Option<usize> {
        self.recorded_node.map(|node| self.in_flight.fold.orbit(node as u32) as usize)
    }

    /// Returns the finished record. Each node has a copy of the entries of its orbit.
    pub(super) fn take_unfolded_record(&mut self) -> Option<TimeSpace> {
        let mut record = self.progress.record.take()?.finish();
        let fold = &self.in_flight.fold;
        let orbits: Vec<usize> = (0..fold.nodes()).map(|node| fold.orbit(node) as usize).collect();
        record.remap(&orbits, self.recorded_node);
        Some(record)
    }

    /// Divides the time in which a rank waited for a message that has arrived now among the phases of
    /// the message. Returns the end of each phase but the last one, which is contention. Time in
    /// which the rank did other work has already been charged and does not count.
    #[cold]
    pub(super) fn phases_of_wait(&mut self, rank: usize, message: &InFlight) -> [(Kind, f64); 3] {
        let (now, arrived) = (us(self.now), message.started + message.latency);
        let has_no_known_send = self.progress.has_no_known_send(rank);
        let Some(record) = &mut self.progress.record else {
            unreachable!("a wait is divided only for a record");
        };
        // If the known steps have no further send of the rank, use the step of the message as the
        // rank's current step.
        if let (true, Some((step, _))) = (has_no_known_send, message.source()) {
            record.enter(rank, step);
        }
        let (started, propagated) = (us(message.started), us(arrived).min(now));
        // Divide the remaining time between transmission and contention. Transmission is the time
        // that the bytes would take if no link were shared, and contention is the time that sharing
        // adds.
        let charged = record.charged_until(rank).max(started).max(propagated);
        let lasted = self.now - arrived;
        let is_longer = lasted > message.alone;
        let alone = if is_longer { message.alone as f64 / lasted as f64 } else { 1.0 };
        let transmitted = charged + (now - charged) * alone;
        [(Kind::Peer, started), (Kind::Propagation, propagated), (Kind::Transmission, transmitted)]
    }
}
