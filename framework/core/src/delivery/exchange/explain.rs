//! What is said of a schedule that breaks a rule: which block, and where it is instead. Walks over
//! everyone: only for messages.

use super::{Exchange, Rule};
use crate::delivery::boxes::Side;
use crate::delivery::fault::{Count, DeliveryFault, EndFault, Fault, Whereabouts};
use crate::delivery::holdings::without;

impl Exchange {
    /// A strict send of more than its boxes from number `first` on, which are all that the sender
    /// has of it.
    pub(super) fn not_held(&self, rule: &Rule<'_>, first: usize) -> Fault {
        let layout = &self.inventory.layout;
        let taken: Vec<Vec<u64>> =
            self.on_their_way(first).map(|(_, bits)| self.whole(bits)).collect();
        let rest =
            without(layout, vec![self.selection.bits().to_vec()], taken.iter().map(Vec::as_slice));
        let mut rest = rest.first().cloned().unwrap_or_else(|| self.selection.bits().to_vec());
        let mut block = self.inventory.first_block(&rest);
        if self.inventory.sums() {
            // What is not held is the sum: where it is, the sender's own contribution to it shows.
            block.origin = None;
            layout.narrow_to(Side::Origins, rule.from, &mut rest);
        }
        Fault::Delivery(
            self.step,
            DeliveryFault::NotHeld {
                from: self.inventory.placement.locate(rule.from),
                to: self.inventory.placement.locate(rule.to),
                block,
                whereabouts: self.whereabouts(&rest),
            },
        )
    }

    /// Blocks of which a sum has some are all in it, as far as sends look at them.
    fn whole(&self, bits: &[u64]) -> Vec<u64> {
        if self.inventory.sums() {
            self.inventory.layout.with_all_origins(bits)
        } else {
            bits.to_vec()
        }
    }

    /// A node that lacks some of the box `wanted` at the end; so many blocks are missing, at so
    /// many nodes.
    pub(super) fn never_delivered(
        &self,
        node: u64,
        wanted: &[u64],
        missing: u64,
        nodes: u64,
    ) -> Fault {
        let lacking = self.holdings.missing(&self.inventory.layout, node, wanted);
        let first = lacking.first().map_or(wanted, Vec::as_slice);
        Fault::End(
            self.step,
            EndFault::NeverDelivered {
                node: self.inventory.placement.locate(node),
                block: self.inventory.first_block(first),
                whereabouts: self.whereabouts(first),
                missing: Count(
                    missing,
                    if self.inventory.sums() { "contribution" } else { "block" },
                ),
                nodes: Count(nodes, "node"),
            },
        )
    }

    /// Who holds the first block of a box.
    fn whereabouts(&self, bits: &[u64]) -> Whereabouts {
        let (layout, placement) = (&self.inventory.layout, &self.inventory.placement);
        let mut one = bits.to_vec();
        for side in [Side::Origins, Side::Destinations, Side::Segments] {
            if layout.has(side) {
                layout.narrow_to(side, layout.first_of(side, bits), &mut one);
            }
        }
        let goes = layout.has(Side::Destinations) && !self.inventory.division.in_parts;
        let destination = goes.then(|| layout.first_of(Side::Destinations, bits));
        let there = |(_, b): &(u64, &[u64])| layout.contains(b, &one);
        if let Some((node, _)) = self.on_their_way(0).find(there) {
            return Whereabouts::Arriving(placement.locate(node));
        }
        let mut held =
            (0..layout.grid().nodes()).flat_map(|n| self.holdings.of(n).map(move |b| (n, b)));
        match held.find(there) {
            Some((node, _)) if destination == Some(node) => {
                Whereabouts::Delivered(placement.locate(node))
            }
            Some((node, _)) => Whereabouts::At(placement.locate(node)),
            None => Whereabouts::Nowhere,
        }
    }
}
