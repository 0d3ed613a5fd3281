//! The end of a step in a symmetric schedule. Boxes in flight are mapped to the representatives of
//! their receivers.

use super::{Exchange, InFlight};
use crate::delivery::boxes::Layout;
use crate::delivery::fault::Fault;
use crate::network::symmetry::Group;
use std::collections::BTreeSet;

impl<L: Layout> Exchange<L> {
    /// Replaces each box in flight by its image under the group element that maps the box's
    /// receiver to the representative of its orbit. Replaces each receiver by the index of this
    /// representative's list.
    pub(super) fn move_to_representatives(&self, in_flight: &mut InFlight<L::Element>) {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let group = layout.group().expect("a symmetric exchange has a group");
        for send in &mut in_flight.sends {
            let element = layout.home(in_flight.receivers[send.first]).1;
            send.from = group.moved(send.from, group.inverse(element));
        }
        let records = in_flight.records.chunks_exact_mut(format.elements());
        for (receiver, record) in in_flight.receivers.iter_mut().zip(records) {
            let (list, element) = layout.home(*receiver);
            layout.move_by(group.inverse(element), format.box_of_mut(record));
            *receiver = list as u64;
        }
    }

    /// Receives the values of a step in the order of their senders, as in full planning.
    pub(super) fn receive_values_by_sender(
        &mut self,
        in_flight: &InFlight<L::Element>,
    ) -> Result<(), Fault> {
        let key = |send: &usize| {
            let reduction = in_flight.sends[*send];
            (in_flight.receivers[reduction.first], reduction.from)
        };
        let mut sends: Vec<usize> = (0..in_flight.sends.len()).collect();
        sends.sort_by_key(key);
        for sends in sends.chunk_by(|a, b| key(a).0 == key(b).0) {
            // The other nodes of the orbit receive images of these values in another order, which
            // may cause a fault. Try every order that can have a different result.
            let list = key(&sends[0]).0 as usize;
            for order in self.other_orders(in_flight, sends) {
                let records = self.holdings.records(list).to_vec();
                order.into_iter().try_for_each(|send| self.receive_send(in_flight, send, false))?;
                self.holdings.set_records(list, records);
            }
            sends.iter().try_for_each(|send| self.receive_send(in_flight, *send, true))?;
        }
        Ok(())
    }

    /// Returns all orders in which the nodes of the orbit receive the images of these sends; empty
    /// if the order does not matter. The order matters only if a send replaces values that another
    /// send replaces or contributes to.
    fn other_orders(
        &self,
        in_flight: &InFlight<L::Element>,
        sends: &[usize],
    ) -> BTreeSet<Vec<usize>> {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let mut common = layout.full().to_vec();
        let mut conflict = |a: usize, b: usize| {
            let is_replaced = [a, b].map(|send| !in_flight.sends[send].combine);
            let boxes = |send| format.boxes(in_flight.records_of(send, format.elements()));
            let mut pairs = boxes(a).flat_map(|one| boxes(b).map(move |other| (one, other)));
            is_replaced != [false; 2]
                && pairs.any(|(one, other)| {
                    (is_replaced != [true; 2] || one != other)
                        && layout.terms_of(one, other, &mut common)
                })
        };
        let mut pairs =
            sends.iter().enumerate().flat_map(|(i, a)| sends[..i].iter().map(move |b| (*a, *b)));
        if !pairs.any(|(a, b)| conflict(a, b)) {
            return BTreeSet::new();
        }
        let in_order = |group: &Group, element| {
            let mut order = sends.to_vec();
            order.sort_by_key(|send| group.moved(in_flight.sends[*send].from, element));
            order
        };
        let orders = |group: &Group| group.elements().map(|e| in_order(group, e)).collect();
        layout.group().map_or_else(BTreeSet::new, orders)
    }
}
