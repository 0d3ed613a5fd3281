//! Time-space accounting of the model `loggp`: divides the waits of a rank into kinds of time. The
//! functions return the end of each phase of a wait, as in [`RankClock::follow`]. They are called
//! only if a record is requested.
//!
//! [`RankClock::follow`]: crate::cost::model::time_space::RankClock::follow

use super::{InFlight, Simulation, scaled};
use crate::cost::kind::Kind;
use crate::cost::model::clock::{Ticks, us};

impl Simulation {
    /// Divides the time in which a rank waits for its own interface, until the time `until`. The
    /// interface is first busy with the bytes of the previous message, then with the gap between
    /// the two messages.
    #[cold]
    pub(super) fn wait_for_interface(&self, rank: usize, until: Ticks) -> [(Kind, f64); 2] {
        let outgoing = self.ranks[rank].outgoing.at();
        let bytes_end = until.min(outgoing.saturating_sub(self.gap));
        [(Kind::Transmission, us(bytes_end)), (Kind::Startup, us(until.min(outgoing)))]
    }

    /// Divides the time in which a rank waits for a message, which it receives at the time `at`.
    #[cold]
    pub(super) fn wait_for_message(
        &mut self,
        rank: usize,
        message: &InFlight,
        at: Ticks,
    ) -> impl Iterator<Item = (Kind, f64)> + use<> {
        let (position, steps) = (self.progress.ranks[rank], &self.progress.steps);
        let is_sending = match &self.progress.data_order {
            Some(_) => self.ranks[rank].is_sending,
            None => steps
                .get(position.step)
                .is_some_and(|step| position.pending > 0 && position.sent < step.sends(rank).len()),
        };
        let interface = is_sending.then(|| self.wait_for_interface(rank, at));
        // With `order=data`: if the rank has no known send, use the step of the received message as
        // its current step.
        if self.progress.has_no_known_send(rank)
            && let Some(record) = &mut self.progress.record
        {
            record.enter(rank, message.step);
        }
        let departure = message.arrival.at() - scaled(self.latency, message.noise);
        let of_message =
            [(Kind::Peer, us(departure)), (Kind::Propagation, us(message.arrival.at()))];
        interface.into_iter().flatten().chain(of_message)
    }
}
