//! The number of elements that a redistribution puts into each bucket, computed without a loop
//! through the elements.
//!
//! Elements with consecutive numbers are put into the buckets in turn. So each bucket gets the same
//! number of elements, and some consecutive buckets get one more. A tally stores only the
//! differences between neighbouring buckets. Adding any number of elements to a tally therefore
//! takes only a few additions.

/// A redistribution without its node and its first bucket, which usually differ between nodes.
/// [`super::Redistribution`] defines the bucket of each element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Number of buckets.
    pub buckets: u32,
    /// The modulus of element numbers: after `cycle - 1` they start again at 0.
    pub cycle: u32,
    /// For each destination, the number of its first element. Empty if all are 0.
    pub starts: Vec<u32>,
    /// For each destination, the offset of its first bucket. Empty if all are 0.
    pub firsts: Vec<u32>,
    /// Whether `buckets` divides `cycle`. If so, the last element of a cycle and the first element
    /// of the next cycle are put into neighbouring buckets, like all other consecutive elements.
    /// The cycle then has no effect.
    is_seamless: bool,
}

/// The number of elements in each bucket.
#[derive(Debug)]
pub(super) struct Tally {
    /// The number of elements that every bucket has.
    all: u64,
    /// Entry h is a number of elements, modulo 2^64, that each of the buckets 0 to h - 1 has in
    /// addition to `all` and the other entries. So only two entries change when elements are added
    /// to consecutive buckets.
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

    /// Adds `times` elements for each number in `from..to`. The bucket of an element is its number
    /// modulo the number of buckets.
    fn add_interval(&mut self, from: u64, to: u64, times: u64) {
        let buckets = self.below.len() as u64 - 1;
        // Most numbers are smaller than the number of buckets, and a comparison is faster than a
        // division.
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

    /// Subtracts elements from a bucket.
    pub(super) fn subtract(&mut self, bucket: u32, elements: u64) {
        let bucket = u64::from(bucket);
        self.add_interval(bucket, bucket + 1, elements.wrapping_neg());
    }

    /// Calls `each` with every bucket and its number of elements, in descending order of buckets.
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

    /// Adds `count` elements for `destination` to their buckets in `tally`. `first` is
    /// [`super::Redistribution::first`].
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

    /// Divides `count` elements into up to three intervals of consecutive numbers. Calls `each`
    /// with the start and the end of each interval, and with the number of times that the interval
    /// is repeated. The numbers include the first bucket, so that each number modulo the number of
    /// buckets is the bucket of its element.
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

    /// Returns the number of elements in one bucket. The cost does not depend on the number of
    /// buckets.
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

        /// Compares the tally with a loop through all elements.
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
            for bucket in 0..buckets {
                prop_assert_eq!(pattern.bucket_elements(first, 1, count, bucket), expected[bucket as usize]);
            }
        }
    }
}
