//! Redistributions, and their settlement. A redistribution divides all elements that a node holds
//! into buckets, each of which the node then sends to one receiver. To settle a redistribution
//! means to add the elements of its sent buckets to the holdings of the receivers.

use super::pattern::{Pattern, Tally};
use super::{ByteCounts, ElementCount, Redistribution, add};
use crate::delivery::fault::Fault;
use crate::limits;
use std::sync::Arc;

/// A special value in `Redistributed::receivers` for a bucket that was not sent.
pub(super) const UNSENT: u32 = u32::MAX;
/// A special value in `Redistributed::receivers` for a bucket that was sent and settled.
const SETTLED: u32 = u32::MAX - 1;

const REDISTRIBUTED: &str = "a node in the list of redistributors has redistributed its data";

/// A redistribution of which some buckets are not settled, that is, not yet added to the holdings
/// of their receivers.
#[derive(Debug)]
pub(super) struct Redistributed<T> {
    /// For each destination, the number of elements before the redistribution.
    pub(super) elements: Vec<T>,
    pub(super) pattern: Arc<Pattern>,
    /// The first bucket ([`Redistribution::first`]).
    pub(super) first: u32,
    /// Number of elements in each bucket.
    pub(super) sizes: Vec<u64>,
    /// For each bucket, its receiver, or [`UNSENT`] or [`SETTLED`].
    pub(super) receivers: Vec<u32>,
    /// For each bucket, the step in which it was sent.
    pub(super) steps: Vec<u32>,
    /// The last step before the redistribution in which the node received any data.
    pub(super) latest_arrival: u64,
}

impl<T> Redistributed<T> {
    pub(super) fn first_unsent(&self) -> Option<u64> {
        self.receivers.iter().position(|r| *r == UNSENT).map(|bucket| bucket as u64)
    }

    /// Returns whether a bucket was sent before step `before` and is not settled.
    fn arrived(&self, bucket: usize, before: u64) -> bool {
        self.receivers[bucket] < SETTLED && u64::from(self.steps[bucket]) < before
    }
}

impl<T: ElementCount> ByteCounts<T> {
    /// Divides all data that a node holds among buckets.
    pub(super) fn redistribute_elements(
        &mut self,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        let bad = |what: String| Fault::BadRedistribution {
            step: self.step,
            node: redistribution.node,
            what,
        };
        // Check the redistribution.
        let nodes = self.nodes as u64;
        if redistribution.node >= nodes {
            return Err(bad(format!(
                "is unknown, the schedule's grid has nodes 0 to {}",
                nodes - 1
            )));
        }
        for (name, value, most) in [
            ("buckets", redistribution.buckets, nodes.max(limits::BUCKETS)),
            ("elements a cycle", redistribution.cycle, limits::CYCLE),
        ] {
            if value == 0 || value > most {
                return Err(bad(format!(
                    "redistributes with {value} {name}, expected 1 to {most}"
                )));
            }
        }
        if redistribution.first >= redistribution.buckets {
            return Err(bad(format!(
                "begins with bucket {} of {}",
                redistribution.first, redistribution.buckets
            )));
        }
        for (name, table, below) in [
            ("starts", redistribution.starts, redistribution.cycle),
            ("firsts", redistribution.firsts, redistribution.buckets),
        ] {
            if !table.is_empty() && table.len() != self.nodes {
                return Err(bad(format!(
                    "has {} {name}, expected one for each of {nodes} nodes",
                    table.len()
                )));
            }
            if let Some(d) = table.iter().position(|v| u64::from(*v) >= below) {
                return Err(bad(format!(
                    "has {} in its {name} for destination {d}, expected below {below}",
                    table[d]
                )));
            }
        }
        let node = redistribution.node as usize;
        if let Some(bucket) =
            self.redistributed[node].as_ref().and_then(Redistributed::first_unsent)
        {
            return Err(bad(format!(
                "redistributes again, but has not sent bucket {bucket} of its last redistribution"
            )));
        }
        // Check the memory of all buckets.
        self.total_buckets += redistribution.buckets;
        if self.total_buckets.saturating_mul(size_of::<[u64; 2]>() as u64) > limits::HELD_BYTES {
            return Err(Fault::Refused(format!(
                "{} buckets need more than the limit of {} GiB",
                self.total_buckets,
                limits::HELD_BYTES >> 30
            )));
        }
        // Distribute the node's elements.
        self.settle(self.step + 1)?;
        let elements = self.take_holdings(node)?;
        let pattern = self.shared_pattern(redistribution);
        let (first, mut tally) = (redistribution.first as u32, Tally::new(pattern.buckets));
        for (destination, count) in elements.iter().enumerate() {
            pattern.redistribute(first, destination, (*count).into(), &mut tally);
        }
        let mut sizes = vec![0; pattern.buckets as usize];
        tally.for_each(|bucket, size| sizes[bucket] = size);
        let buckets = sizes.len();
        self.redistributed[node] = Some(Redistributed {
            elements,
            pattern,
            first,
            sizes,
            receivers: vec![UNSENT; buckets],
            steps: vec![0; buckets],
            latest_arrival: self.last_receipts[node],
        });
        self.redistributors.push(node as u32);
        Ok(())
    }

    fn shared_pattern(&mut self, redistribution: &Redistribution<'_>) -> Arc<Pattern> {
        if let Some(last) = &self.pattern
            && (u64::from(last.buckets), u64::from(last.cycle))
                == (redistribution.buckets, redistribution.cycle)
            && last.starts == redistribution.starts
            && last.firsts == redistribution.firsts
        {
            return Arc::clone(last);
        }
        let (buckets, cycle) = (redistribution.buckets as u32, redistribution.cycle as u32);
        let pattern = Pattern::new(buckets, cycle, redistribution.starts, redistribution.firsts);
        let pattern = Arc::new(pattern);
        self.pattern = Some(Arc::clone(&pattern));
        pattern
    }

    /// Settles all buckets that were sent before step `before`: adds their elements to the holdings
    /// of their receivers.
    pub(super) fn settle(&mut self, before: u64) -> Result<(), Fault> {
        if self.unsettled == 0 || self.unsettled_since >= before {
            return Ok(());
        }
        // Settle nodes with few sent buckets on their own, and add the other nodes to groups.
        let mut groups: Vec<Group> = Vec::new();
        for node in std::mem::take(&mut self.redistributors) {
            let redistributed = self.redistributed[node as usize].as_ref().expect(REDISTRIBUTED);
            let arrived = (0..redistributed.receivers.len())
                .filter(|bucket| redistributed.arrived(*bucket, before))
                .count();
            if arrived > 0 && arrived * 2 < redistributed.receivers.len() {
                self.settle_node(node as usize, before)?;
            } else if arrived > 0 {
                match groups.iter_mut().find(|group| group.fits(redistributed, before)) {
                    Some(group) => group.join(node, redistributed, before),
                    None => groups.push(Group::new(node, redistributed, before)),
                }
                continue;
            }
            self.redistributors.push(node);
        }
        // Settle the groups. The result does not depend on the order of the groups.
        for group in groups {
            self.settle_group(&group, before)?;
        }
        self.unsettled_since = before;
        // Remove the redistributions whose buckets are all settled.
        let (redistributed, buckets, unused_rows) =
            (&mut self.redistributed, &mut self.total_buckets, &mut self.unused_rows);
        self.redistributors.retain(|node| {
            let redistributed = &mut redistributed[*node as usize];
            let done = redistributed
                .take_if(|redistributed| redistributed.receivers.iter().all(|r| *r == SETTLED));
            if let Some(done) = done {
                *buckets -= done.receivers.len() as u64;
                unused_rows.push(done.elements);
                return false;
            }
            true
        });
        Ok(())
    }

    /// Settles all redistributions of a group together, destination by destination.
    fn settle_group(&mut self, group: &Group, before: u64) -> Result<(), Fault> {
        let known = |receiver: &&u32| **receiver != UNSENT;
        for receiver in group.receivers.iter().filter(known) {
            self.materialize(*receiver as usize)?;
        }
        let redistributed = |node: &u32| self.redistributed[*node as usize].as_ref();
        let members = || group.members.iter().map(|node| redistributed(node).expect(REDISTRIBUTED));
        // For one member: the buckets that other members of the group have sent, but this member
        // has not.
        let missing = |redistributed: &Redistributed<T>| -> Vec<u32> {
            let sent =
                group.receivers.iter().enumerate().filter(|(_, receiver)| **receiver != UNSENT);
            sent.filter(|(bucket, _)| !redistributed.arrived(*bucket, before))
                .map(|(bucket, _)| bucket as u32)
                .collect()
        };
        let redistributed: Vec<(&Redistributed<T>, Vec<u32>)> =
            members().map(|redistributed| (redistributed, missing(redistributed))).collect();
        let mut tally = Tally::new(group.receivers.len() as u32);
        for destination in 0..self.nodes {
            tally.clear();
            for (d, missing) in &redistributed {
                let count = d.elements[destination].into();
                d.pattern.redistribute(d.first, destination, count, &mut tally);
                for bucket in missing {
                    tally.subtract(
                        *bucket,
                        d.pattern.bucket_elements(d.first, destination, count, *bucket),
                    );
                }
            }
            tally.for_each(|bucket, elements| {
                let receiver = group.receivers[bucket];
                if receiver != UNSENT && elements > 0 {
                    add(&mut self.holdings[receiver as usize][destination], elements);
                }
            });
        }
        for node in &group.members {
            let redistributed = &mut self.redistributed[*node as usize];
            let redistributed = redistributed.as_mut().expect(REDISTRIBUTED);
            for bucket in 0..redistributed.receivers.len() {
                if redistributed.arrived(bucket, before) {
                    redistributed.receivers[bucket] = SETTLED;
                    self.unsettled -= 1;
                }
            }
            self.redistributors.push(*node);
        }
        Ok(())
    }

    /// Settles the buckets of one node that were sent before step `before`. This is faster than
    /// adding the node to a group if these buckets are fewer than half of its buckets.
    fn settle_node(&mut self, node: usize, before: u64) -> Result<(), Fault> {
        let mut redistributed = self.redistributed[node].take().expect(REDISTRIBUTED);
        for bucket in 0..redistributed.receivers.len() {
            if !redistributed.arrived(bucket, before) {
                continue;
            }
            let receiver =
                std::mem::replace(&mut redistributed.receivers[bucket], SETTLED) as usize;
            self.materialize(receiver)?;
            for (destination, count) in redistributed.elements.iter().enumerate() {
                let share = redistributed.pattern.bucket_elements(
                    redistributed.first,
                    destination,
                    (*count).into(),
                    bucket as u32,
                );
                add(&mut self.holdings[receiver][destination], share);
            }
            self.unsettled -= 1;
        }
        self.redistributed[node] = Some(redistributed);
        Ok(())
    }
}

/// A group of nodes whose redistributions are settled together. For each bucket number, all members
/// that have sent their bucket with this number have sent it to the same receiver. The elements of
/// all members are summed before they are added to the receivers.
struct Group {
    /// For each bucket number, the receiver to which members have sent their bucket with this
    /// number; [`UNSENT`] if no member has sent that bucket.
    receivers: Vec<u32>,
    members: Vec<u32>,
}

impl Group {
    fn new<T>(node: u32, redistributed: &Redistributed<T>, before: u64) -> Self {
        let mut group =
            Self { receivers: vec![UNSENT; redistributed.receivers.len()], members: Vec::new() };
        group.join(node, redistributed, before);
        group
    }

    fn fits<T>(&self, redistributed: &Redistributed<T>, before: u64) -> bool {
        let agrees = |(bucket, receiver): (usize, &u32)| {
            *receiver == UNSENT
                || *receiver == redistributed.receivers[bucket]
                || !redistributed.arrived(bucket, before)
        };
        self.receivers.len() == redistributed.receivers.len()
            && self.receivers.iter().enumerate().all(agrees)
    }

    fn join<T>(&mut self, node: u32, redistributed: &Redistributed<T>, before: u64) {
        for (bucket, receiver) in self.receivers.iter_mut().enumerate() {
            if redistributed.arrived(bucket, before) {
                *receiver = redistributed.receivers[bucket];
            }
        }
        self.members.push(node);
    }
}
