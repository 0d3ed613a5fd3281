//! Redistributions, and how they are settled: the elements of sent buckets are added to the
//! holdings of their receivers.

use super::{ByteCounts, ElementCount, Redistribution, add};
use crate::delivery::fault::Fault;
use crate::limits;
use std::sync::Arc;

pub(super) const UNSENT: u32 = u32::MAX;
const SETTLED: u32 = u32::MAX - 1;

const REDISTRIBUTED: &str = "a node in the list of redistributors has redistributed its data";

#[derive(Debug)]
pub(super) struct Redistributed<T> {
    pub(super) elements: Vec<T>,
    pub(super) pattern: Arc<Pattern>,
    pub(super) first: u32,
    pub(super) sizes: Vec<u64>,
    pub(super) blocks: Vec<u32>,
    pub(super) receivers: Vec<u32>,
    pub(super) steps: Vec<u32>,
    pub(super) latest_arrival: u64,
}

impl<T> Redistributed<T> {
    pub(super) fn first_unsent(&self) -> Option<u64> {
        self.receivers.iter().position(|r| *r == UNSENT).map(|bucket| bucket as u64)
    }

    fn arrived(&self, bucket: usize, before: u64) -> bool {
        self.receivers[bucket] < SETTLED && u64::from(self.steps[bucket]) < before
    }
}

impl<T: ElementCount> ByteCounts<T> {
    pub(super) fn redistribute_elements(
        &mut self,
        redistribution: &Redistribution<'_>,
    ) -> Result<(), Fault> {
        let bad = |what: String| Fault::BadRedistribution {
            step: self.step,
            node: redistribution.node,
            what,
        };
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
        self.total_buckets += redistribution.buckets;
        if self.total_buckets.saturating_mul(size_of::<[u64; 2]>() as u64) > limits::HELD_BYTES {
            return Err(Fault::Refused(format!(
                "{} buckets need more than the limit of {} GiB",
                self.total_buckets,
                limits::HELD_BYTES >> 30
            )));
        }
        self.settle(self.step + 1)?;
        let elements = self.take_holdings(node)?;
        let pattern = self.shared_pattern(redistribution);
        let (first, buckets) = (redistribution.first as u32, pattern.buckets as usize);
        let [mut tally, mut destinations] = [(); 2].map(|()| Tally::new(pattern.buckets));
        for (destination, count) in elements.iter().enumerate() {
            let count = (*count).into();
            pattern.redistribute(first, destination, count, &mut tally);
            pattern.for_each_range(first, destination, count, |from, to| {
                destinations.add_interval(from, to, 1);
            });
        }
        let (mut sizes, mut blocks) = (vec![0; buckets], vec![0; buckets]);
        tally.for_each(|bucket, size| sizes[bucket] = size);
        destinations.for_each(|bucket, count| blocks[bucket] = count as u32);
        self.redistributed[node] = Some(Redistributed {
            elements,
            pattern,
            first,
            sizes,
            blocks,
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

    pub(super) fn settle(&mut self, before: u64) -> Result<(), Fault> {
        if self.unsettled == 0 || self.unsettled_since >= before {
            return Ok(());
        }
        let mut settlements: Vec<Settlement> = Vec::new();
        for node in std::mem::take(&mut self.redistributors) {
            let redistributed = self.redistributed[node as usize].as_ref().expect(REDISTRIBUTED);
            let arrived = (0..redistributed.receivers.len())
                .filter(|bucket| redistributed.arrived(*bucket, before))
                .count();
            if arrived > 0 && arrived * 2 < redistributed.receivers.len() {
                self.settle_node(node as usize, before)?;
            } else if arrived > 0 {
                match settlements
                    .iter_mut()
                    .find(|settlement| settlement.fits(redistributed, before))
                {
                    Some(settlement) => settlement.join(node, redistributed, before),
                    None => settlements.push(Settlement::new(node, redistributed, before)),
                }
                continue;
            }
            self.redistributors.push(node);
        }
        for settlement in settlements {
            self.settle_together(&settlement, before)?;
        }
        self.unsettled_since = before;
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

    fn settle_together(&mut self, settlement: &Settlement, before: u64) -> Result<(), Fault> {
        let known = |receiver: &&u32| **receiver != UNSENT;
        for receiver in settlement.receivers.iter().filter(known) {
            self.materialize(*receiver as usize)?;
        }
        let redistributed = |node: &u32| self.redistributed[*node as usize].as_ref();
        let members =
            || settlement.members.iter().map(|node| redistributed(node).expect(REDISTRIBUTED));
        let missing = |redistributed: &Redistributed<T>| -> Vec<u32> {
            let sent = settlement
                .receivers
                .iter()
                .enumerate()
                .filter(|(_, receiver)| **receiver != UNSENT);
            sent.filter(|(bucket, _)| !redistributed.arrived(*bucket, before))
                .map(|(bucket, _)| bucket as u32)
                .collect()
        };
        let redistributed: Vec<(&Redistributed<T>, Vec<u32>)> =
            members().map(|redistributed| (redistributed, missing(redistributed))).collect();
        let mut tally = Tally::new(settlement.receivers.len() as u32);
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
                let receiver = settlement.receivers[bucket];
                if receiver != UNSENT && elements > 0 {
                    add(&mut self.holdings[receiver as usize][destination], elements);
                }
            });
        }
        for node in &settlement.members {
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

    /// Settles the buckets of one node. This is faster than settling several nodes together if
    /// fewer than half of its buckets were sent.
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

/// Redistributions that are settled together. All members have sent a bucket to the same receiver,
/// so their elements are summed before they are added to its holdings.
struct Settlement {
    receivers: Vec<u32>,
    members: Vec<u32>,
}

impl Settlement {
    fn new<T>(node: u32, redistributed: &Redistributed<T>, before: u64) -> Self {
        let mut settlement =
            Self { receivers: vec![UNSENT; redistributed.receivers.len()], members: Vec::new() };
        settlement.join(node, redistributed, before);
        settlement
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

/// The properties of a redistribution, except its node and its first bucket. Elements with
/// consecutive numbers are put into the buckets in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub buckets: u32,
    pub cycle: u32,
    pub starts: Vec<u32>,
    pub firsts: Vec<u32>,
    /// Whether `cycle` is a multiple of `buckets`. If so, the cycle has no effect.
    is_seamless: bool,
}

/// The number of elements in each bucket, stored as differences between neighbouring buckets.
#[derive(Debug)]
pub(super) struct Tally {
    all: u64,
    /// Entry h is a number of elements, modulo 2^64, that is added to each of the buckets 0 to h -
    /// 1. If elements are added to consecutive buckets, only two entries change.
    below: Vec<u64>,
}

impl Tally {
    pub(super) fn new(buckets: u32) -> Self {
        Self { all: 0, below: vec![0; buckets as usize + 1] }
    }

    pub(super) fn clear(&mut self) {
        self.all = 0;
        self.below.fill(0);
    }

    fn add_interval(&mut self, from: u64, to: u64, times: u64) {
        let buckets = self.below.len() as u64 - 1;
        // Most numbers are less than `buckets`, and then a comparison is faster than a division.
        let split = |number: u64| match number < buckets {
            true => (0, number),
            false => (number / buckets, number % buckets),
        };
        let ((rounds_from, start), (rounds_to, end)) = (split(from), split(to));
        self.all = self.all.wrapping_add(times.wrapping_mul(rounds_to - rounds_from));
        let end = &mut self.below[end as usize];
        *end = end.wrapping_add(times);
        let start = &mut self.below[start as usize];
        *start = start.wrapping_sub(times);
    }

    pub(super) fn subtract(&mut self, bucket: u32, elements: u64) {
        let bucket = u64::from(bucket);
        self.add_interval(bucket, bucket + 1, elements.wrapping_neg());
    }

    pub(super) fn for_each(&self, mut each: impl FnMut(usize, u64)) {
        let mut more = 0_u64;
        for bucket in (0..self.below.len() - 1).rev() {
            more = more.wrapping_add(self.below[bucket + 1]);
            each(bucket, self.all.wrapping_add(more));
        }
    }
}

impl Pattern {
    pub(super) fn new(buckets: u32, cycle: u32, starts: &[u32], firsts: &[u32]) -> Self {
        let (starts, firsts) = (starts.to_vec(), firsts.to_vec());
        Self { buckets, cycle, starts, firsts, is_seamless: cycle.is_multiple_of(buckets) }
    }

    pub(super) fn redistribute(
        &self,
        first: u32,
        destination: usize,
        count: u64,
        tally: &mut Tally,
    ) {
        self.for_each_interval(first, destination, count, |from, to, times| {
            tally.add_interval(from, to, times);
        });
    }

    /// Passes up to three intervals of consecutive numbers to `each`, each with its start, its end
    /// and its number of repetitions. A number modulo the number of buckets is the bucket of an
    /// element.
    fn for_each_interval(
        &self,
        first: u32,
        destination: usize,
        count: u64,
        mut each: impl FnMut(u64, u64, u64),
    ) {
        if count == 0 {
            return;
        }
        let (buckets, cycle) = (u64::from(self.buckets), u64::from(self.cycle));
        let at = |table: &[u32]| table.get(destination).map_or(0, |v| u64::from(*v));
        let mut shift = u64::from(first) + at(&self.firsts);
        if shift >= buckets {
            shift -= buckets;
        }
        if self.is_seamless {
            let start = shift + at(&self.starts);
            each(start, start + count, 1);
            return;
        }
        let (rounds, rest) =
            if count < cycle { (0, count) } else { (count / cycle, count % cycle) };
        if rounds > 0 {
            each(shift, shift + cycle, rounds);
        }
        if rest == 0 {
            return;
        }
        let start = at(&self.starts);
        let end = start + rest;
        if end <= cycle {
            each(shift + start, shift + end, 1);
        } else {
            each(shift + start, shift + cycle, 1);
            each(shift, shift + end - cycle, 1);
        }
    }

    /// Passes ranges of numbers to `each`. Modulo the number of buckets, the numbers are the
    /// buckets that have elements, and each of these buckets occurs once.
    fn for_each_range(
        &self,
        first: u32,
        destination: usize,
        count: u64,
        mut each: impl FnMut(u64, u64),
    ) {
        let buckets = u64::from(self.buckets);
        let (mut intervals, mut length) = ([(0, 0); 3], 0);
        self.for_each_interval(first, destination, count, |from, to, _| {
            intervals[length] = (from, to);
            length += 1;
        });
        let (from, to) = intervals[0];
        if to - from >= buckets {
            return each(0, buckets);
        }
        let is_whole_cycle = to - from == u64::from(self.cycle);
        if length < 2 || is_whole_cycle {
            return each(from, to);
        }
        let (base, end) = intervals[1];
        let (wraps, start) = (end - base, (from - base) % buckets);
        let stop = start + to - from;
        match stop.checked_sub(buckets) {
            Some(rest) => each(base + start, base + buckets + rest.max(wraps).min(start)),
            None if start <= wraps => each(base, base + stop.max(wraps).min(buckets)),
            None => {
                each(base + start, base + stop);
                each(base, end);
            }
        }
    }

    pub(super) fn bucket_elements(
        &self,
        first: u32,
        destination: usize,
        count: u64,
        bucket: u32,
    ) -> u64 {
        let (buckets, bucket) = (u64::from(self.buckets), u64::from(bucket));
        let below = |number: u64| number / buckets + u64::from(number % buckets > bucket);
        let mut share = 0;
        self.for_each_interval(first, destination, count, |from, to, times| {
            share += times * (below(to) - below(from));
        });
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        #[test]
        fn a_redistribution_is_that_of_its_elements(
            buckets in 1_u32..12, cycle in 1_u32..40, start in any::<u32>(), first in any::<u32>(), more in any::<u32>(), count in 0_u64..200,
        ) {
            let pattern = Pattern::new(buckets, cycle, &[0, start % cycle], &[0, more % buckets]);
            let first = first % buckets;
            let mut expected = vec![0; buckets as usize];
            for x in 0..count {
                let number = (u64::from(start % cycle) + x) % u64::from(cycle);
                expected[((u64::from(first) + u64::from(more % buckets) + number) % u64::from(buckets)) as usize] += 1;
            }
            let mut tally = Tally::new(buckets);
            pattern.redistribute(first, 1, count, &mut tally);
            let mut redistributed = vec![0; buckets as usize];
            tally.for_each(|bucket, elements| redistributed[bucket] = elements);
            prop_assert_eq!(&redistributed, &expected);
            let mut ranges = Tally::new(buckets);
            pattern.for_each_range(first, 1, count, |from, to| ranges.add_interval(from, to, 1));
            ranges.for_each(|bucket, times| redistributed[bucket] = times);
            let any: Vec<u64> = expected.iter().map(|count| u64::from(*count > 0)).collect();
            prop_assert_eq!(&redistributed, &any);
            for bucket in 0..buckets {
                prop_assert_eq!(pattern.bucket_elements(first, 1, count, bucket), expected[bucket as usize]);
            }
        }
    }
}
