//! Receives values in a reduction. A value is the sum of the contributions of some origins to one
//! segment of a result. A node holds at most one value of each segment. The origins of the node's
//! boxes are the contributions that the value contains.
//!
//! A send moves whole values, with all contributions in them. A value is as long as one
//! contribution. The received value is combined with the receiver's value of the same segment, or
//! it replaces this value. Combining two values must not count a contribution twice, and replacing
//! a value must not lose a contribution. So a final value that has every contribution has each of
//! them exactly once. If an algorithm needs two separate values of a segment on one node of the
//! machine, it places two nodes of its own grid on that node, and each of them holds one value.

use super::{Exchange, InFlight};
use crate::delivery::boxes::{Layout, without};
use crate::delivery::fault::{DeliveryFault, Fault};

impl<L: Layout> Exchange<L> {
    /// Combines all values in flight with the values of their receivers, or replaces the receivers'
    /// values, send by send.
    pub(super) fn receive_values(&mut self, in_flight: &InFlight<L::Element>) -> Result<(), Fault> {
        if self.inventory.layout.group().is_some_and(|group| group.order() > 1) {
            return self.receive_values_by_sender(in_flight);
        }
        (0..in_flight.sends.len()).try_for_each(|send| self.receive_send(in_flight, send, true))
    }

    /// Combines the values of one send with the receiver's values of the same segments, or replaces
    /// the receiver's values. Updates loads only if `counts`.
    pub(super) fn receive_send(
        &mut self,
        in_flight: &InFlight<L::Element>,
        send: usize,
        counts: bool,
    ) -> Result<(), Fault> {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let received = in_flight.records_of(send, format.elements());
        let list = in_flight.receivers[in_flight.sends[send].first] as usize;
        // Remove the receiver's own values of the same segments.
        let mut own = std::mem::take(&mut self.own_values);
        own.clear();
        for record in format.boxes(received) {
            self.holdings.take_terms(layout, list, record, |held| own.extend_from_slice(held));
        }
        let checked = if own.is_empty() {
            Ok(())
        } else {
            let (_, load) = self.inventory.values(&format.boxes(&own));
            let account = self.account(list);
            // The loads count two values of the segment at the receiver. Only one remains: either
            // the sum of the two, or the received value, which replaces the other.
            if counts {
                self.loads.discarded(account, load);
            }
            if in_flight.sends[send].combine {
                if counts {
                    self.loads.summed(account, load);
                }
                self.check_not_counted_twice(list, &own, received)
            } else {
                let checked = self.check_nothing_lost(list, &own, received);
                own.clear();
                checked
            }
        };
        // Store the received values and, unless they were replaced, the receiver's own values.
        // Joining boxes two at a time does not always end with a single box. Therefore, a sum that
        // has just become complete is stored as one box, so that later sends of the sum consist of
        // few boxes.
        let layout = &self.inventory.layout;
        let complete = (!own.is_empty())
            .then(|| format.boxes(received).chain(format.boxes(&own)))
            .and_then(|both| self.inventory.complete_values(&both));
        if let Some(complete) = complete {
            let arrival = format.arrival(received);
            complete.iter().for_each(|a| self.holdings.insert_box(layout, list, a, arrival));
        } else {
            received
                .chunks_exact(format.elements())
                .chain(own.chunks_exact(format.elements()))
                .for_each(|record| self.holdings.insert(layout, list, record));
        }
        self.own_values = own;
        checked
    }

    /// Errors if a received value and the receiver's value contain the same contribution.
    fn check_not_counted_twice(
        &self,
        list: usize,
        own: &[L::Element],
        received: &[L::Element],
    ) -> Result<(), Fault> {
        // Before the first copy, no two values contain the same contribution.
        if !self.has_copies {
            return Ok(());
        }
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let mut both = layout.full().to_vec();
        let mut pairs = format.boxes(own).flat_map(|a| format.boxes(received).map(move |b| (a, b)));
        if !pairs.any(|(a, b)| layout.intersect(a, b, &mut both)) {
            return Ok(());
        }
        let (node, block) = (self.place(list), self.inventory.first_block(&both));
        Err(Fault::Delivery(self.step, DeliveryFault::CountedTwice { node, block }))
    }

    /// Errors if the receiver's value contains a contribution that is missing from the received
    /// value, which replaces the receiver's value.
    fn check_nothing_lost(
        &self,
        list: usize,
        own: &[L::Element],
        received: &[L::Element],
    ) -> Result<(), Fault> {
        let format = self.holdings.format();
        let own = format.boxes(own).map(<[L::Element]>::to_vec).collect();
        let lost = without(&self.inventory.layout, own, format.boxes(received));
        let Some(lost) = lost.first() else { return Ok(()) };
        let (node, block) = (self.place(list), self.inventory.first_block(lost));
        Err(Fault::Delivery(self.step, DeliveryFault::Replaced { node, block }))
    }
}

impl<E> InFlight<E> {
    /// Returns the records of one send.
    pub(super) fn records_of(&self, send: usize, elements: usize) -> &[E] {
        let end = self.sends.get(send + 1).map_or(self.receivers.len(), |next| next.first);
        &self.records[self.sends[send].first * elements..end * elements]
    }
}
