//! What ranks' time goes into, where somebody asked for that; out of the way of those who didn't.

use super::super::in_flight::InFlight;
use super::Simulation;
use crate::cost::model::time_space::{TimeKind, TimeSpace};

impl Simulation {
    /// Begins a record, of ranks that stand for others as long as they do.
    pub(super) fn keep(&mut self, mut record: TimeSpace) {
        self.kept_only = record.only();
        let of_none = vec![0; self.ranks.len()];
        record.spread(&of_none, self.kept_only_orbit());
        self.kept = Some(Box::new(record));
    }

    /// The rank that stands for the only node that is asked for.
    pub(super) fn kept_only_orbit(&self) -> Option<usize> {
        self.kept_only.map(|node| self.in_flight.fold.orbit(node as u32) as usize)
    }

    /// What is kept, node by node.
    pub(super) fn record(&mut self) -> Option<TimeSpace> {
        let mut record = self.kept.take()?.done();
        let fold = &self.in_flight.fold;
        let of: Vec<usize> = (0..fold.nodes()).map(|node| fold.orbit(node) as usize).collect();
        record.spread(&of, self.kept_only);
        Some(record)
    }

    /// The rank's time went into this, where that is kept.
    pub(super) fn charge(&mut self, rank: usize, kind: TimeKind, until: f64) {
        if let Some(kept) = &mut self.kept {
            kept.charge(rank, kind, until);
        }
    }

    /// A rank's time went into a message that has come now: into what of it was still to happen
    /// when the rank had nothing else to do.
    #[cold]
    pub(super) fn spend_on(&mut self, rank: usize, flight: &InFlight) {
        let now = self.now;
        let Some(kept) = &mut self.kept else { return };
        if self.places.is_some() {
            if self.ranks[rank].is_starting {
                return;
            }
            // Who has nothing to send is in the step of what it receives.
            if self
                .places
                .as_ref()
                .is_some_and(|places| self.steps.get(places.step(rank)).is_none())
            {
                flight.of.into_iter().for_each(|(step, _)| kept.enter(rank, step));
            }
        }
        kept.charge(rank, TimeKind::Peer, flight.begun);
        kept.charge(rank, TimeKind::Propagation, (flight.begun + flight.latency).min(now));
        let (accounted, lasted) = (kept.charged_until(rank), now - flight.begun - flight.latency);
        let alone = if lasted > flight.alone { flight.alone / lasted } else { 1.0 };
        kept.charge(rank, TimeKind::Transmission, accounted + (now - accounted) * alone);
        kept.charge(rank, TimeKind::Contention, now);
    }
}
