//! Links by level, the lowest first: buckets of a sixteenth of an octave, unsorted, and a heap for
//! the bucket that the sweep is in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKETS: usize = 512;

#[derive(Debug)]
pub(super) struct LevelQueue {
    /// What lies in the bucket at hand or below, by the bits of its level: levels are not negative,
    /// so bits are in their order.
    near: BinaryHeap<Reverse<(u64, u32)>>,
    buckets: Vec<Vec<u32>>,
    /// A bit a bucket: whether anything is in it.
    full: [u64; BUCKETS / 64],
    at: Option<usize>,
    base: u64,
}

impl LevelQueue {
    /// For levels of about `top` and 32 octaves below it; what is beyond lies in the first or last
    /// bucket.
    pub(super) fn new(top: f64) -> Self {
        let base = (sixteenth(top) + 16).saturating_sub(BUCKETS as u64);
        let buckets = vec![Vec::new(); BUCKETS];
        Self { near: BinaryHeap::new(), buckets, full: [0; BUCKETS / 64], at: None, base }
    }

    fn bucket(&self, level: f64) -> usize {
        (sixteenth(level).saturating_sub(self.base) as usize).min(BUCKETS - 1)
    }

    /// Queues a link that is queued at `old`, or at infinity if it is not.
    pub(super) fn push(&mut self, level: f64, old: f64, link: u32) {
        let bucket = self.bucket(level);
        if self.at.is_some_and(|at| bucket <= at) {
            self.near.push(Reverse((level.to_bits(), link)));
        } else if old == f64::INFINITY || self.bucket(old) != bucket {
            self.buckets[bucket].push(link);
            self.full[bucket / 64] |= 1 << (bucket % 64);
        }
    }

    /// The lowest link of the bucket at hand, and the bits of its level.
    pub(super) fn pop(&mut self) -> Option<(u64, u32)> {
        self.near.pop().map(|Reverse(first)| first)
    }

    /// Turns to the next bucket with anything in it; its links are to be queued again where they
    /// want it.
    pub(super) fn next_bucket(&mut self) -> Option<(usize, Vec<u32>)> {
        let word = self.full.iter().position(|word| *word != 0)?;
        let bucket = word * 64 + self.full[word].trailing_zeros() as usize;
        self.full[word] &= self.full[word] - 1;
        self.at = Some(bucket);
        Some((bucket, std::mem::take(&mut self.buckets[bucket])))
    }

    /// Whether a level is of this bucket.
    pub(super) fn is_in(&self, level: f64, bucket: usize) -> bool {
        self.bucket(level) == bucket
    }

    /// Whether another link is queued below the level. Those in buckets to come are above the one
    /// at hand.
    pub(super) fn has_lower(&self, level: f64) -> bool {
        let beyond = self.at.is_none_or(|at| self.bucket(level) > at);
        beyond || self.near.peek().is_some_and(|Reverse((bits, _))| *bits < level.to_bits())
    }

    /// Begins a sweep from below.
    pub(super) fn rewind(&mut self) {
        self.at = None;
    }

    /// Empties the queue, and hands out what was in it.
    pub(super) fn drain(&mut self) -> Vec<u32> {
        let mut links: Vec<u32> = self.near.drain().map(|Reverse((_, link))| link).collect();
        while let Some((_, bucket)) = self.next_bucket() {
            links.extend(bucket);
        }
        self.rewind();
        links
    }
}

/// The exponent and the first four bits of the fraction.
fn sixteenth(level: f64) -> u64 {
    level.to_bits() >> 48
}
