//! Time-space accounting of the model `loggp`: records the times that each rank spends on each kind
//! of work. These functions are called only if a record is requested.

use super::{Simulation, scaled};
use crate::cost::model::clock::{Ticks, us};
use crate::cost::model::time_space::TimeKind;

impl Simulation {
    /// Charges the time in which a rank waits for its own interface before a send. The interface is
    /// first busy with the bytes of the previous message, then with the gap between the two
    /// messages.
    #[cold]
    pub(super) fn charge_interface(&mut self, rank: usize, until: Ticks) {
        let outgoing = self.ranks[rank].outgoing.at;
        let bytes_end = until.min(outgoing.saturating_sub(self.gap));
        self.progress.charge(rank, TimeKind::Transmission, us(bytes_end));
        self.progress.charge(rank, TimeKind::Startup, us(until.min(outgoing)));
    }

    /// Charges the wait for a message and the cost of receiving it.
    #[cold]
    pub(super) fn charge_receive(&mut self, rank: usize, slot: u32, start: Ticks, started: Ticks) {
        let message = self.messages[slot as usize];
        let (position, steps) = (self.progress.ranks[rank], &self.progress.steps);
        let is_sending = match &self.progress.data_order {
            Some(_) => self.ranks[rank].is_sending,
            None => steps
                .get(position.step)
                .is_some_and(|step| position.pending > 0 && position.sent < step.sends(rank).len()),
        };
        if is_sending {
            self.charge_interface(rank, start);
        }
        let has_no_known_send = self.progress.has_no_known_send(rank);
        let Some(record) = &mut self.progress.record else { return };
        // With `order=data`: if the rank has no known send, use the step of the received message as
        // its current step.
        if has_no_known_send {
            record.enter(rank, message.step);
        }
        let departure = message.arrival.at - scaled(self.latency, message.noise);
        record.charge(rank, TimeKind::Peer, us(departure));
        record.charge(rank, TimeKind::Propagation, us(message.arrival.at));
        record.charge(rank, TimeKind::Contention, us(start));
        record.charge(rank, TimeKind::Startup, us(started));
        record.charge(rank, TimeKind::Transmission, us(self.ranks[rank].processor.at));
    }
}
