//! A priority queue of links, ordered by level, with the lowest level first. A level is a rate
//! divided by a weight ([`super::shares`]). Links are stored in buckets. An octave is a range of
//! levels from x to 2x, and each bucket has the links whose levels lie in the same sixteenth of an
//! octave. The links of the current bucket are in a heap; other buckets are not sorted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKETS: usize = 512;

#[derive(Debug, Clone)]
pub(super) struct LevelQueue {
    /// The links of the current bucket and of earlier ones, each with the bits of its level. The
    /// bits of non-negative floating-point numbers have the same order as the numbers.
    near: BinaryHeap<Reverse<(u64, u32)>>,
    buckets: Vec<Vec<u32>>,
    /// One bit for each bucket: 1 if the bucket has links.
    full: [u64; BUCKETS / 64],
    /// The current bucket.
    at: Option<usize>,
    /// The value of [`sixteenth`] for the levels of the first bucket.
    base: u64,
}

impl LevelQueue {
    /// Creates a queue for levels from about `top` down to 32 octaves below `top`. Links with lower
    /// levels are put into the first bucket, links with higher levels into the last bucket.
    pub(super) fn new(top: f64) -> Self {
        let base = (sixteenth(top) + 16).saturating_sub(BUCKETS as u64);
        let buckets = vec![Vec::new(); BUCKETS];
        Self { near: BinaryHeap::new(), buckets, full: [0; BUCKETS / 64], at: None, base }
    }

    fn bucket(&self, level: f64) -> usize {
        (sixteenth(level).saturating_sub(self.base) as usize).min(BUCKETS - 1)
    }

    /// Queues a link at `level`. `old` is the level at which the link is queued already, or
    /// infinity if it is not queued.
    pub(super) fn push(&mut self, level: f64, old: f64, link: u32) {
        let bucket = self.bucket(level);
        if self.at.is_some_and(|at| bucket <= at) {
            self.near.push(Reverse((level.to_bits(), link)));
        } else if old == f64::INFINITY || self.bucket(old) != bucket {
            self.buckets[bucket].push(link);
            self.full[bucket / 64] |= 1 << (bucket % 64);
        }
    }

    /// Removes the link with the lowest level from the current bucket. Returns the bits of its
    /// level, and the link.
    pub(super) fn pop(&mut self) -> Option<(u64, u32)> {
        self.near.pop().map(|Reverse(first)| first)
    }

    /// Moves to the next bucket that has links, and removes these links. Returns the index of the
    /// bucket, and the links. The caller queues those links again that it still needs.
    pub(super) fn next_bucket(&mut self) -> Option<(usize, Vec<u32>)> {
        let word = self.full.iter().position(|word| *word != 0)?;
        let bucket = word * 64 + self.full[word].trailing_zeros() as usize;
        self.full[word] &= self.full[word] - 1;
        self.at = Some(bucket);
        Some((bucket, std::mem::take(&mut self.buckets[bucket])))
    }

    pub(super) fn is_in(&self, level: f64, bucket: usize) -> bool {
        self.bucket(level) == bucket
    }

    /// Returns whether any link may be queued at a lower level than `level`. If `level` is in a
    /// bucket after the current one, returns `true` without a search.
    pub(super) fn has_lower(&self, level: f64) -> bool {
        let beyond = self.at.is_none_or(|at| self.bucket(level) > at);
        beyond || self.near.peek().is_some_and(|Reverse((bits, _))| *bits < level.to_bits())
    }

    /// Moves back, so that [`Self::next_bucket`] starts at the first bucket again.
    pub(super) fn rewind(&mut self) {
        self.at = None;
    }

    /// Removes and returns all links.
    pub(super) fn drain(&mut self) -> Vec<u32> {
        let mut links: Vec<u32> = self.near.drain().map(|Reverse((_, link))| link).collect();
        while let Some((_, bucket)) = self.next_bucket() {
            links.extend(bucket);
        }
        self.rewind();
        links
    }
}

/// Returns the number of the sixteenth of an octave in which the level lies. This number consists
/// of the exponent of the level and the first four bits of its fraction.
fn sixteenth(level: f64) -> u64 {
    level.to_bits() >> 48
}
