//! Sums: what a node holds of a segment is one value, the contributions in which are the origins of its boxes.
//!
//! A send takes values as a whole, with every contribution in them, and is as long as one contribution each. What arrives is combined with the value that
//! the receiver has of the segment, or replaces it. The first must not count a contribution twice, the second must not lose one: so that a sum in which
//! every contribution is found has each of them once. Who wants to keep two values of a segment apart places a virtual node for the second.

use super::{Exchange, Rule};
use crate::delivery::fault::{DeliveryFault, Fault};
use crate::delivery::holdings::without;

/// The sends of the step under way, and room to work in.
#[derive(Debug, Default)]
pub(super) struct Combining {
    /// For each send that took anything its first record, and whether it is to be combined.
    sends: Vec<(usize, bool)>,
    /// Records of the receiver's that are terms of what arrives.
    meeting: Vec<u64>,
}

impl Exchange {
    /// Ends a send of values, whose records are those from number `first` on.
    pub(super) fn send_values(&mut self, rule: &Rule<'_>, first: usize) -> Result<Option<u64>, Fault> {
        let (inventory, placement) = (&self.inventory, &self.inventory.placement);
        let (values, load) = inventory.values(self.on_their_way(first).map(|(_, bits)| bits));
        if rule.strict && values < inventory.layout.values(self.selection.bits()) {
            return Err(self.not_held(rule, first));
        }
        if values == 0 {
            return Ok(None);
        }
        self.copied |= rule.copy;
        self.combining.sends.push((first, rule.combine));
        if !rule.copy {
            self.loads.left(placement.physical(rule.from), load);
        }
        self.loads.came(placement.physical(rule.to), load);
        Ok(Some(load))
    }

    /// What the sends of the step took arrives, send by send.
    pub(super) fn values_arrive(&mut self, receivers: &[u64], records: &[u64]) -> Result<(), Fault> {
        let size = self.holdings.shape().words();
        let sends = std::mem::take(&mut self.combining.sends);
        for (i, (first, combine)) in sends.iter().enumerate() {
            let end = sends.get(i + 1).map_or(receivers.len(), |(next, _)| *next);
            self.value_arrives(receivers[*first], &records[first * size..end * size], *combine)?;
        }
        self.combining.sends = sends;
        self.combining.sends.clear();
        Ok(())
    }

    /// What one send took, these records, arrives at `node`.
    fn value_arrives(&mut self, node: u64, arriving: &[u64], combine: bool) -> Result<(), Fault> {
        let (layout, shape) = (&self.inventory.layout, self.holdings.shape());
        let size = shape.words();
        let mut meeting = std::mem::take(&mut self.combining.meeting);
        meeting.clear();
        for record in arriving.chunks_exact(size) {
            self.holdings.take_terms(layout, node, shape.bits(record), |held| meeting.extend_from_slice(held));
        }
        if !meeting.is_empty() {
            let (_, load) = self.inventory.values(meeting.chunks_exact(size).map(|record| shape.bits(record)));
            let physical = self.inventory.placement.physical(node);
            // Either way one value is where two were.
            self.loads.wasted(physical, load);
            if combine {
                self.none_counted_twice(node, &meeting, arriving)?;
                self.loads.summed(physical, load);
            } else {
                self.none_lost(node, &meeting, arriving)?;
                meeting.clear();
            }
        }
        for record in arriving.chunks_exact(size).chain(meeting.chunks_exact(size)) {
            self.holdings.insert(layout, node, record);
        }
        self.combining.meeting = meeting;
        Ok(())
    }

    /// That no contribution is in both of what a node has and what it is sent.
    fn none_counted_twice(&self, node: u64, held: &[u64], arriving: &[u64]) -> Result<(), Fault> {
        // As long as nothing was copied, every contribution is in one place.
        if !self.copied {
            return Ok(());
        }
        let (layout, shape) = (&self.inventory.layout, self.holdings.shape());
        let size = shape.words();
        let mut both = vec![0; layout.words()];
        for one in held.chunks_exact(size).map(|record| shape.bits(record)) {
            for other in arriving.chunks_exact(size).map(|record| shape.bits(record)) {
                if layout.intersect(one, other, &mut both) {
                    let block = self.inventory.first_block(&both);
                    let node = self.inventory.placement.locate(node);
                    return Err(Fault::Delivery(self.step, DeliveryFault::CountedTwice { node, block }));
                }
            }
        }
        Ok(())
    }

    /// That every contribution in what a node has is in what it is sent instead, too.
    fn none_lost(&self, node: u64, held: &[u64], arriving: &[u64]) -> Result<(), Fault> {
        let (layout, shape) = (&self.inventory.layout, self.holdings.shape());
        let size = shape.words();
        let lost = held.chunks_exact(size).find_map(|one| {
            let kept = arriving.chunks_exact(size).map(|record| shape.bits(record));
            without(layout, vec![shape.bits(one).to_vec()], kept).into_iter().next()
        });
        let Some(lost) = lost else { return Ok(()) };
        let node = self.inventory.placement.locate(node);
        Err(Fault::Delivery(self.step, DeliveryFault::Replaced { node, block: self.inventory.first_block(&lost) }))
    }
}
