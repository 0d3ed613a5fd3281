//! The end of a step: boxes in flight are added to their receivers' holdings.

use super::{Exchange, InFlight, Inventory};
use crate::delivery::boxes::Layout;
use crate::delivery::collective::RedundantDelivery;
use crate::delivery::fault::{DeliveryFault, Fault, PlacedNode};

impl<L: Layout> Exchange<L> {
    /// Adds all boxes in flight to their receivers' holdings, in the order of the sends.
    pub(super) fn receive(&mut self, in_flight: &mut InFlight<L::Element>) -> Result<(), Fault> {
        if self.inventory.layout.group().is_some() {
            self.move_to_representatives(in_flight);
        }
        if self.sums() {
            return self.receive_values(in_flight);
        }
        let elements = self.holdings.format().elements();
        let records = in_flight.records.chunks_exact(elements);
        for (receiver, record) in in_flight.receivers.iter().zip(records) {
            if self.has_copies {
                self.insert_new(*receiver as usize, record)?;
            } else {
                self.holdings.insert(&self.inventory.layout, *receiver as usize, record);
            }
        }
        Ok(())
    }

    /// Joins boxes in flight that have the same receiver, so that a step with very many sends takes
    /// little memory. At the end of the step, the receivers hold the same blocks as without
    /// joining. Boxes are not joined in reductions and symmetric schedules. They are not joined
    /// after a copy either, because a block can then arrive twice, which is detected only in
    /// separate boxes.
    pub(super) fn join_in_flight(&mut self) {
        let Self { inventory: Inventory { layout, .. }, holdings, in_flight, .. } = self;
        let elements = holdings.format().elements();
        if !self.has_copies && in_flight.sends.is_empty() && layout.group().is_none() {
            let mut joined = holdings.without_boxes();
            let records = in_flight.records.chunks_exact(elements);
            for (receiver, record) in in_flight.receivers.iter().zip(records) {
                joined.insert(layout, *receiver as usize, record);
            }
            in_flight.clear();
            for list in 0..joined.lists() {
                in_flight.records.extend_from_slice(joined.records(list));
                in_flight.receivers.resize(in_flight.records.len() / elements, list as u64);
            }
        }
        in_flight.join_from = in_flight.join_from.max(2 * in_flight.records.len());
    }

    /// Adds a record (a box of blocks) to the holdings in a list, without the blocks that are
    /// already in the list. After a copy, a node may receive a block twice. This is a fault in
    /// collectives in which each block has one destination. In other collectives it is a redundant
    /// delivery.
    fn insert_new(&mut self, list: usize, record: &[L::Element]) -> Result<(), Fault> {
        let (layout, format) = (&self.inventory.layout, self.holdings.format());
        let received = format.box_of(record);
        let Some(overlap) = self.holdings.overlap(layout, list, received) else {
            self.holdings.insert(layout, list, record);
            return Ok(());
        };
        let (node, block) = (self.place(list), self.inventory.first_block(&overlap));
        if self.inventory.collective.kind().redundant_delivery == RedundantDelivery::Fault {
            return Err(Fault::Delivery(self.step, DeliveryFault::DeliveredTwice { node, block }));
        }
        let mut redundant = self.inventory.load(received, format.count(record));
        for new in self.holdings.missing(layout, list, received) {
            redundant -= self.inventory.load(&new, layout.count(&new));
            self.holdings.insert_box(layout, list, &new, format.arrival(record));
        }
        self.loads.discarded(self.account(list), redundant);
        self.redundant.get_or_insert_with(|| Box::new((node, block)));
        Ok(())
    }

    /// Returns the node whose holdings are stored in this list.
    pub(super) fn place(&self, list: usize) -> PlacedNode {
        self.inventory.placement.locate(self.inventory.layout.representative(list))
    }
}
