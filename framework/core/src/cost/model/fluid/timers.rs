//! Timers with fast access to the earliest one.

/// The number of entries in a group. The minimum of a group is an entry of the next level. A group
/// fills a cache line.
const FAN: usize = 8;

const UNSET: [f64; FAN] = [f64::INFINITY; FAN];

/// A tournament tree of timers. The first level has the times, and every entry of a further level
/// is the minimum of [`FAN`] entries of the level before. An update stops at the first level whose
/// minimum does not change. Timers that are not set are infinite.
#[derive(Debug, Clone)]
pub(super) struct Timers {
    /// The levels, each in groups of entries. The last level has one group.
    levels: Vec<Vec<[f64; FAN]>>,
    earliest: f64,
}

impl Timers {
    pub(super) fn new(count: usize) -> Self {
        let mut timers = Self { levels: vec![vec![UNSET]], earliest: f64::INFINITY };
        timers.grow(count);
        timers
    }

    /// Grows to at least `count` timers.
    pub(super) fn grow(&mut self, count: usize) {
        let (mut groups, mut level) = (count.div_ceil(FAN), 0);
        while groups > self.levels[level].len() {
            self.levels[level].resize(groups, UNSET);
            (groups, level) = (groups.div_ceil(FAN), level + 1);
            if level == self.levels.len() {
                let mut last = UNSET;
                last[0] = self.earliest;
                self.levels.push(vec![last]);
            }
        }
    }

    pub(super) fn get(&self, timer: usize) -> f64 {
        self.levels[0][timer / FAN][timer % FAN]
    }

    /// Returns as many new timers as `of` has entries. Each new timer has the time of the old timer
    /// whose number is in `of`.
    pub(super) fn remap(&self, of: &[usize]) -> Self {
        let mut new = Self::new(of.len());
        of.iter().enumerate().for_each(|(timer, old)| new.set(timer, self.get(*old)));
        new
    }

    pub(super) fn earliest(&self) -> f64 {
        self.earliest
    }

    /// Calls `each` with every time that is not later than `limit`.
    pub(super) fn each_before(&self, limit: f64, each: &mut impl FnMut(f64)) {
        self.each_below(self.levels.len(), 0, limit, each);
    }

    /// Calls `each` with every time that is not later than `limit` and belongs to one group of a
    /// level. Levels are counted from 1. A group includes all groups below its entries.
    fn each_below(&self, level: usize, group: usize, limit: f64, each: &mut impl FnMut(f64)) {
        let entries = (0..).zip(&self.levels[level - 1][group]);
        for (at, time) in entries.filter(|(_, time)| **time <= limit && **time < f64::INFINITY) {
            match level {
                1 => each(*time),
                _ => self.each_below(level - 1, group * FAN + at, limit, each),
            }
        }
    }

    pub(super) fn set(&mut self, timer: usize, time: f64) {
        let (mut at, mut time) = (timer, time);
        for level in &mut self.levels {
            let entries = &mut level[at / FAN];
            if entries[at % FAN] == time {
                return;
            }
            entries[at % FAN] = time;
            (at, time) = (at / FAN, least(entries));
        }
        self.earliest = time;
    }

    /// Finds the timers whose time is at most `limit`. Unsets the one with the smallest number and
    /// returns this number. Returns `None` if there is no such timer.
    pub(super) fn pop(&mut self, limit: f64) -> Option<usize> {
        if self.earliest > limit || self.earliest == f64::INFINITY {
            return None;
        }
        let mut timer = 0;
        for level in self.levels.iter().rev() {
            // Compute one bit per entry. Branches are avoided, because they would be mispredicted.
            let is_due = |due: u32, time: &f64| due << 1 | u32::from(*time <= limit);
            let due = level[timer].iter().rev().fold(0, is_due);
            timer = timer * FAN + due.trailing_zeros() as usize;
        }
        self.set(timer, f64::INFINITY);
        Some(timer)
    }
}

/// Returns the minimum of a group. Independent pairs are compared first, so that the processor can
/// compare them in parallel.
fn least(entries: &[f64; FAN]) -> f64 {
    let lesser = |a: f64, b: f64| if b < a { b } else { a };
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| lesser(entries[at], entries[at + FAN / 2]));
    lesser(lesser(a, c), lesser(b, d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Timers are removed in the same order as from a naive list, even if the tree grows
        /// between removals.
        #[test]
        fn timers_agree_with_a_list(
            actions in prop::collection::vec((0_usize..700, 0_u32..50, 0_u32..3), 1..200),
        ) {
            let (mut timers, mut list) = (Timers::new(1), vec![f64::INFINITY; 700]);
            for (timer, time, pops) in actions {
                timers.grow(timer + 1);
                timers.set(timer, time.into());
                list[timer] = time.into();
                prop_assert_eq!(timers.earliest(), list.iter().copied().fold(f64::INFINITY, f64::min));
                let limit = f64::from(time) / 2.0;
                let mut found = Vec::new();
                timers.each_before(limit, &mut |time| found.push(time));
                let expected: Vec<f64> = list.iter().copied().filter(|t| *t <= limit).collect();
                prop_assert_eq!(found, expected);
                for _ in 0..pops {
                    let first = list.iter().position(|t| *t <= limit);
                    prop_assert_eq!(timers.pop(limit), first);
                    first.into_iter().for_each(|first| list[first] = f64::INFINITY);
                }
            }
        }
    }
}
