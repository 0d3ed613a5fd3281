//! What arrives at a step's end.

use super::inventory::Inventory;
use super::taking::Way;
use crate::delivery::collective::SecondCopy;
use crate::delivery::fault::{Block, DeliveryFault, Fault, Place};
use crate::delivery::holdings::{Holdings, Shape};

/// All that arrives at the end of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arriving<'a> {
    pub inventory: &'a Inventory,
    pub shape: Shape,
    pub step: u64,
    /// Whether anything has been copied so far.
    pub copied: bool,
}

/// What becomes of what came to a node of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Settled {
    /// It had so much of it.
    Wasted(u64, u64),
    /// It added so much to what it had.
    Summed(u64, u64),
}

/// A block that arrived at a node that holds it already, which is no fault.
pub(super) type Redundant = (Place, Block);

impl Arriving<'_> {
    /// Delivers everything in the order in which it was sent. Stores in `first` the first block
    /// that its receiver holds already.
    pub(super) fn all(
        &self,
        way: &Way,
        holdings: &mut Holdings,
        first: &mut Option<Redundant>,
        settle: &mut impl FnMut(Settled),
    ) -> Result<(), Fault> {
        (0..way.units(self.inventory.sums()))
            .try_for_each(|unit| self.unit(way, unit, holdings, first, settle))
    }

    /// Delivers one unit of a way.
    #[inline]
    fn unit(
        &self,
        way: &Way,
        unit: usize,
        holdings: &mut Holdings,
        first: &mut Option<Redundant>,
        settle: &mut impl FnMut(Settled),
    ) -> Result<(), Fault> {
        let words = self.shape.words();
        if self.inventory.sums() {
            let (start, combine) = way.sends[unit];
            let end = way.sends.get(unit + 1).map_or(way.receivers.len(), |(next, _)| *next);
            let records = &way.records[start * words..end * words];
            return self.value_arrives(holdings, way.receivers[start], records, combine, settle);
        }
        let (node, record) = (way.receivers[unit], &way.records[unit * words..(unit + 1) * words]);
        if !self.copied {
            holdings.insert(&self.inventory.layout, node, record);
        } else if let Some(overlap) = self.insert_what_is_new(holdings, node, record, settle)?
            && first.is_none()
        {
            let block = self.inventory.first_block(&overlap);
            *first = Some((self.inventory.placement.locate(node), block));
        }
        Ok(())
    }

    /// Once anything has been copied, a node may receive what it has: wrong where blocks have one
    /// destination, waste elsewhere. A box of what it has.
    fn insert_what_is_new(
        &self,
        holdings: &mut Holdings,
        node: u64,
        record: &[u64],
        settle: &mut impl FnMut(Settled),
    ) -> Result<Option<Vec<u64>>, Fault> {
        let Inventory { layout, placement, collective, .. } = self.inventory;
        let arrived = self.shape.bits(record);
        let Some(overlap) = holdings.overlap(layout, node, arrived) else {
            holdings.insert(layout, node, record);
            return Ok(None);
        };
        if collective.kind().second_copy == SecondCopy::Fault {
            let block = self.inventory.first_block(&overlap);
            let node = placement.locate(node);
            return Err(Fault::Delivery(self.step, DeliveryFault::DeliveredTwice { node, block }));
        }
        let mut waste = self.inventory.load(arrived, self.shape.count(record));
        for new in holdings.missing(layout, node, arrived) {
            waste -= self.inventory.load(&new, layout.count(&new));
            holdings.insert_box(layout, node, &new, self.shape.came(record));
        }
        settle(Settled::Wasted(placement.physical(node), waste));
        Ok(Some(overlap))
    }
}
