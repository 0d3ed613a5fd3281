//! Sums: what a node holds of a segment is one value, the contributions in which are the origins of
//! its boxes.
//!
//! A send takes values as a whole, with every contribution in them, and is as long as one
//! contribution each. What arrives is combined with the value that the receiver has of the segment,
//! or replaces it. The first must not count a contribution twice, the second must not lose one: so
//! that a sum in which every contribution is found has each of them once. Who wants to keep two
//! values of a segment apart places a virtual node for the second.

use super::arriving::{Arriving, Settled};
use crate::delivery::fault::{DeliveryFault, Fault};
use crate::delivery::holdings::{Holdings, without};

impl Arriving<'_> {
    /// What one send took, these records, arrives at `node`.
    pub(super) fn value_arrives(
        &self,
        holdings: &mut Holdings,
        node: u64,
        arriving: &[u64],
        combine: bool,
        settle: &mut impl FnMut(Settled),
    ) -> Result<(), Fault> {
        let (layout, shape) = (&self.inventory.layout, self.shape);
        let size = shape.words();
        let mut meeting = holdings.room();
        for record in arriving.chunks_exact(size) {
            holdings.take_terms(layout, node, shape.bits(record), |held| {
                meeting.extend_from_slice(held)
            });
        }
        if !meeting.is_empty() {
            let (_, load) =
                self.inventory.values(meeting.chunks_exact(size).map(|record| shape.bits(record)));
            let physical = self.inventory.placement.physical(node);
            // Either way one value is where two were.
            settle(Settled::Wasted(physical, load));
            if combine {
                self.none_counted_twice(node, &meeting, arriving)?;
                settle(Settled::Summed(physical, load));
            } else {
                self.none_lost(node, &meeting, arriving)?;
                meeting.clear();
            }
        }
        for record in arriving.chunks_exact(size).chain(meeting.chunks_exact(size)) {
            holdings.insert(layout, node, record);
        }
        holdings.give_back(meeting);
        Ok(())
    }

    /// That no contribution is in both of what a node has and what it is sent.
    fn none_counted_twice(&self, node: u64, held: &[u64], arriving: &[u64]) -> Result<(), Fault> {
        // As long as nothing was copied, every contribution is in one place.
        if !self.copied {
            return Ok(());
        }
        let (layout, shape) = (&self.inventory.layout, self.shape);
        let size = shape.words();
        let mut both = vec![0; layout.words()];
        for one in held.chunks_exact(size).map(|record| shape.bits(record)) {
            for other in arriving.chunks_exact(size).map(|record| shape.bits(record)) {
                if layout.intersect(one, other, &mut both) {
                    let block = self.inventory.first_block(&both);
                    let node = self.inventory.placement.locate(node);
                    return Err(Fault::Delivery(
                        self.step,
                        DeliveryFault::CountedTwice { node, block },
                    ));
                }
            }
        }
        Ok(())
    }

    /// That every contribution in what a node has is in what it is sent instead, too.
    fn none_lost(&self, node: u64, held: &[u64], arriving: &[u64]) -> Result<(), Fault> {
        let (layout, shape) = (&self.inventory.layout, self.shape);
        let size = shape.words();
        let lost = held.chunks_exact(size).find_map(|one| {
            let kept = arriving.chunks_exact(size).map(|record| shape.bits(record));
            without(layout, vec![shape.bits(one).to_vec()], kept).into_iter().next()
        });
        let Some(lost) = lost else { return Ok(()) };
        let node = self.inventory.placement.locate(node);
        Err(Fault::Delivery(
            self.step,
            DeliveryFault::Replaced { node, block: self.inventory.first_block(&lost) },
        ))
    }
}
