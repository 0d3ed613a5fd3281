//! What arrives at a step's end, node by node: the same whether nodes follow each other or are worked on side by side.

use super::inventory::Inventory;
use super::taking::Way;
use crate::delivery::collective::SecondCopy;
use crate::delivery::fault::{Block, DeliveryFault, Fault, Place};
use crate::delivery::holdings::{Part, Shape};

/// All that arrives at the end of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arriving<'a> {
    pub inventory: &'a Inventory,
    pub shape: Shape,
    pub step: u64,
    /// Whether anything has been copied so far.
    pub copied: bool,
    /// In the order of sends.
    pub ways: &'a [Way],
}

/// What becomes of what came to a node of the machine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Settled {
    /// It had so much of it.
    Wasted(u64, u64),
    /// It added so much to what it had.
    Summed(u64, u64),
}

/// A block that came where it was already, and no fault: the number of the record that it came in, the node, and the block.
pub(super) type Redundant = (usize, Place, Block);

impl<'a> Arriving<'a> {
    /// What comes to nodes of a part arrives there, in the order in which it was sent. The `first` block that is there already is noted.
    pub(super) fn at(
        &self,
        part: &mut Part<'_>,
        first: &mut Option<Redundant>,
        settle: &mut impl FnMut(Settled),
    ) -> Result<(), Fault> {
        if self.inventory.sums() {
            return self.ways.iter().try_for_each(|way| self.values_arrive(way, part, settle));
        }
        let (layout, words) = (&self.inventory.layout, self.shape.words());
        let records = |way: &'a Way| way.receivers.iter().zip(way.records.chunks_exact(words));
        for (number, (&node, record)) in self.ways.iter().flat_map(records).enumerate() {
            if !part.has(node) {
                continue;
            }
            if self.copied {
                let is_redundant = self.insert_what_is_new(part, node, record, settle)?;
                if let Some(overlap) = is_redundant.filter(|_| first.is_none()) {
                    let block = self.inventory.first_block(&overlap);
                    *first = Some((number, self.inventory.placement.locate(node), block));
                }
            } else {
                part.insert(layout, node, record);
            }
        }
        Ok(())
    }

    /// Once anything has been copied, a node may receive what it has: wrong where blocks have one destination, waste elsewhere. A box of what it has.
    fn insert_what_is_new(
        &self,
        part: &mut Part<'_>,
        node: u64,
        record: &[u64],
        settle: &mut impl FnMut(Settled),
    ) -> Result<Option<Vec<u64>>, Fault> {
        let Inventory { layout, placement, collective, .. } = self.inventory;
        let arrived = self.shape.bits(record);
        let Some(overlap) = part.overlap(layout, node, arrived) else {
            part.insert(layout, node, record);
            return Ok(None);
        };
        if collective.kind().second_copy == SecondCopy::Fault {
            let block = self.inventory.first_block(&overlap);
            let node = placement.locate(node);
            return Err(Fault::Delivery(self.step, DeliveryFault::DeliveredTwice { node, block }));
        }
        let mut waste = self.inventory.load(arrived, self.shape.count(record));
        for new in part.missing(layout, node, arrived) {
            waste -= self.inventory.load(&new, layout.count(&new));
            part.insert_box(layout, node, &new, self.shape.came(record));
        }
        settle(Settled::Wasted(placement.physical(node), waste));
        Ok(Some(overlap))
    }
}
