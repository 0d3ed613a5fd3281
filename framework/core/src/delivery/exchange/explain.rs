//! Explanations of faults: the affected block and its location. An explanation requires a search
//! through the holdings of all nodes, so it is computed only when a fault is reported.

use super::{Exchange, Rule};
use crate::delivery::boxes::{Layout, Side, without};
use crate::delivery::fault::{BlockLocation, Count, DeliveryFault, EndFault, Fault};

impl<L: Layout> Exchange<L> {
    /// Returns the fault of a strict send whose sender does not hold all selected blocks. The
    /// selected blocks that it does hold are in flight, in the boxes from number `first` on.
    pub(super) fn not_held(&self, rule: &Rule<'_>, first: usize) -> Fault {
        let layout = &self.inventory.layout;
        // A send moves a value with all contributions in it. So one contribution in flight shows
        // that the value is not missing.
        let sent =
            |a: &[L::Element]| if self.sums() { layout.with_all_origins(a) } else { a.to_vec() };
        let sent: Vec<_> = self.in_flight(first).map(|(_, a)| sent(a)).collect();
        let selected = self.selection.elements().to_vec();
        let missing = without(layout, vec![selected.clone()], sent.iter().map(Vec::as_slice));
        let mut missing = missing.into_iter().next().unwrap_or(selected);
        let mut block = self.inventory.first_block(&missing);
        if self.sums() {
            // The whole value is missing, not only one contribution. Search for the sender's
            // contribution to find the location of the value.
            block.origin = None;
            layout.narrow_to(Side::Origins, rule.from, &mut missing);
        }
        Fault::Delivery(
            self.step,
            DeliveryFault::NotHeld {
                from: self.inventory.placement.locate(rule.from),
                to: self.inventory.placement.locate(rule.to),
                block,
                location: self.location(&missing),
            },
        )
    }

    /// Returns the fault of a node that does not hold all blocks of the box `required` at the end.
    /// `missing` is the number of missing blocks and `nodes` the number of incomplete nodes in the
    /// whole schedule.
    pub(super) fn never_delivered(
        &self,
        list: usize,
        required: &[L::Element],
        missing: u64,
        nodes: u64,
    ) -> Fault {
        let boxes = self.holdings.missing(&self.inventory.layout, list, required);
        let first = boxes.first().map_or(required, Vec::as_slice);
        Fault::End(
            self.step,
            EndFault::NeverDelivered {
                node: self.place(list),
                block: self.inventory.first_block(first),
                location: self.location(first),
                missing: Count(missing, if self.sums() { "contribution" } else { "block" }),
                nodes: Count(nodes, "node"),
            },
        )
    }

    /// Returns the location of the first block of a box.
    fn location(&self, a: &[L::Element]) -> BlockLocation {
        let (layout, placement) = (&self.inventory.layout, &self.inventory.placement);
        let mut one = a.to_vec();
        for side in [Side::Origins, Side::Destinations, Side::Segments] {
            if layout.has(side) {
                layout.narrow_to(side, layout.first_of(side, a), &mut one);
            }
        }
        let image = |(node, a)| layout.least_image(node, a, &one);
        let has_destination = layout.has(Side::Destinations) && !self.inventory.division.in_parts;
        let destination = has_destination.then(|| layout.first_of(Side::Destinations, a));
        let holders = (0..self.holdings.lists()).flat_map(|list| {
            let node = layout.representative(list);
            self.holdings.of(list).map(move |a| (node, a))
        });
        let receiver = self.in_flight(0).filter_map(image).min();
        placement.location(receiver, holders.filter_map(image).min(), destination)
    }
}
