//! Redistributing elements over buckets: which gets how many, by arithmetic instead of element by
//! element.
//!
//! A run of consecutive numbers gives every bucket the same number and some of them one more; the
//! buckets that get one more are a run as well. So a redistribution of any size is a few additions
//! to a table of differences over buckets.

/// How a node redistributes. Element x of what it holds for destination d has number `c =
/// (starts[d] + x) % cycle` and goes to bucket `(first + firsts[d] + c) % buckets`; `first` is the
/// redistributing node's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// How many buckets the elements go to.
    pub buckets: u32,
    /// How many numbers there are before they begin again at 0.
    pub cycle: u32,
    /// For each destination the number its elements begin with; empty for 0 everywhere.
    pub starts: Vec<u32>,
    /// For each destination what is added to the first bucket; empty for 0 everywhere.
    pub firsts: Vec<u32>,
}

/// How many elements each bucket got.
#[derive(Debug)]
pub(super) struct Tally {
    /// What every bucket got.
    all: u64,
    /// At h: how much more the buckets below h got (wrapping: a run of buckets is one addition and
    /// one subtraction).
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

    /// Buckets that the elements with numbers from `from` to before `to` went to, number c to
    /// bucket c modulo how many there are.
    fn add_run(&mut self, from: u64, to: u64, times: u64) {
        let buckets = self.below.len() as u64 - 1;
        let (rounds_from, rounds_to) = (from / buckets, to / buckets);
        self.all = self.all.wrapping_add(times.wrapping_mul(rounds_to - rounds_from));
        let end = &mut self.below[(to - rounds_to * buckets) as usize];
        *end = end.wrapping_add(times);
        let start = &mut self.below[(from - rounds_from * buckets) as usize];
        *start = start.wrapping_sub(times);
    }

    /// Takes back what a bucket got.
    pub(super) fn take(&mut self, bucket: u32, elements: u64) {
        let bucket = u64::from(bucket);
        self.add_run(bucket, bucket + 1, elements.wrapping_neg());
    }

    /// Calls `each` with every bucket, the last first, and what it got.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, u64)) {
        let mut more = 0_u64;
        for bucket in (0..self.below.len() - 1).rev() {
            more = more.wrapping_add(self.below[bucket + 1]);
            each(bucket, self.all.wrapping_add(more));
        }
    }
}

impl Pattern {
    /// Redistributes `byte_count` elements for `destination`, by a redistributing node whose first
    /// bucket is `first`.
    pub(super) fn redistribute(
        &self,
        first: u32,
        destination: usize,
        byte_count: u64,
        tally: &mut Tally,
    ) {
        self.for_each_run(first, destination, byte_count, |from, to, times| {
            tally.add_run(from, to, times)
        });
    }

    /// Calls `each` with the runs of numbers that a redistribution consists of, three at most:
    /// from, to, how many times.
    fn for_each_run(
        &self,
        first: u32,
        destination: usize,
        byte_count: u64,
        mut each: impl FnMut(u64, u64, u64),
    ) {
        if byte_count == 0 {
            return;
        }
        let (buckets, cycle) = (u64::from(self.buckets), u64::from(self.cycle));
        let at = |table: &[u32]| table.get(destination).map_or(0, |v| u64::from(*v));
        let mut shift = u64::from(first) + at(&self.firsts);
        if shift >= buckets {
            shift -= buckets;
        }
        let (rounds, rest) = if byte_count < cycle {
            (0, byte_count)
        } else {
            (byte_count / cycle, byte_count % cycle)
        };
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

    /// What one bucket gets, in a few operations however many buckets there are.
    pub(super) fn share(
        &self,
        first: u32,
        destination: usize,
        byte_count: u64,
        bucket: u32,
    ) -> u64 {
        let (buckets, bucket) = (u64::from(self.buckets), u64::from(bucket));
        let below = |number: u64| number / buckets + u64::from(number % buckets > bucket);
        let mut share = 0;
        self.for_each_run(first, destination, byte_count, |from, to, times| {
            share += times * (below(to) - below(from))
        });
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The arithmetic redistributes as one does by hand, element by element.
        #[test]
        fn a_redistribution_is_what_going_element_by_element_gives(
            buckets in 1_u32..12, cycle in 1_u32..40, start in any::<u32>(), first in any::<u32>(), more in any::<u32>(), byte_count in 0_u64..200,
        ) {
            let pattern = Pattern { buckets, cycle, starts: vec![0, start % cycle], firsts: vec![0, more % buckets] };
            let first = first % buckets;
            let mut expected = vec![0; buckets as usize];
            for x in 0..byte_count {
                let number = (u64::from(start % cycle) + x) % u64::from(cycle);
                expected[((u64::from(first) + u64::from(more % buckets) + number) % u64::from(buckets)) as usize] += 1;
            }
            let mut tally = Tally::new(buckets);
            pattern.redistribute(first, 1, byte_count, &mut tally);
            let mut redistributed = vec![0; buckets as usize];
            tally.for_each(|bucket, elements| redistributed[bucket] = elements);
            prop_assert_eq!(&redistributed, &expected);
            for bucket in 0..buckets {
                prop_assert_eq!(pattern.share(first, 1, byte_count, bucket), expected[bucket as usize]);
            }
        }
    }
}
