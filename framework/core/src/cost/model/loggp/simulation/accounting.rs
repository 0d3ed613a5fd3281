//! What ranks' time goes into, where somebody asked for that; out of the way of those who didn't.

use super::{Simulation, times};
use crate::cost::model::clock::{Ticks, us};
use crate::cost::model::time_space::TimeKind;

impl Simulation {
    /// The time of a rank's processor up to now went into this, where that is kept.
    pub(super) fn charge_processor(&mut self, rank: usize, kind: TimeKind) {
        if let Some(kept) = &mut self.kept {
            kept.charge(rank, kind, us(self.ranks[rank].processor.at));
        }
    }

    /// A rank that had a send to make waited for its own interface, which sent the bytes of the one
    /// before, and then kept the gap between two.
    #[cold]
    pub(super) fn charge_interface(&mut self, rank: usize, until: Ticks) {
        let Some(kept) = &mut self.kept else { return };
        let outgoing = self.ranks[rank].outgoing.at;
        kept.charge(rank, TimeKind::Transmission, us(until.min(outgoing.saturating_sub(self.gap))));
        kept.charge(rank, TimeKind::Startup, us(until.min(outgoing)));
    }

    /// A rank takes a message: what it waited for before, and what taking it costs.
    #[cold]
    pub(super) fn spend_on(&mut self, rank: usize, flight: u32, begun: Ticks, taken: Ticks) {
        let flight = self.flights[flight as usize];
        let r = &self.ranks[rank];
        let is_sending = match &self.places {
            Some(_) => r.is_sending,
            None => self
                .steps
                .get(r.step)
                .is_some_and(|step| r.left > 0 && r.sent < step.sends(rank).len()),
        };
        if is_sending {
            self.charge_interface(rank, begun);
        }
        let Some(kept) = &mut self.kept else { return };
        // With `order=data` who has nothing to send is in the step of what it receives.
        if self.places.as_ref().is_some_and(|places| self.steps.get(places.step(rank)).is_none()) {
            kept.enter(rank, flight.step);
        }
        let left = flight.clock.at - times(self.latency, flight.noise);
        kept.charge(rank, TimeKind::Peer, us(left));
        kept.charge(rank, TimeKind::Propagation, us(flight.clock.at));
        kept.charge(rank, TimeKind::Contention, us(begun));
        kept.charge(rank, TimeKind::Startup, us(taken));
        kept.charge(rank, TimeKind::Transmission, us(self.ranks[rank].processor.at));
    }
}
