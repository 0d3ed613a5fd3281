//! Timers with fast access to the earliest one.

use crate::cost::model::ticks::{NEVER, Ticks};

/// The number of entries in a group. The minimum of a group is an entry of the next level. A group
/// fills a cache line.
const FAN: usize = 8;

const UNSET: [Ticks; FAN] = [NEVER; FAN];

/// A tournament tree of timers. The first level has the times, and every entry of a further level
/// is the minimum of [`FAN`] entries of the level before. An update stops at the first level whose
/// minimum does not change. Timers that are not set have the time [`NEVER`].
#[derive(Debug, Clone)]
pub(super) struct Timers {
    /// The levels, each in groups of entries. The last level has one group.
    levels: Vec<Vec<[Ticks; FAN]>>,
    earliest: Ticks,
}

impl Timers {
    pub(super) fn new(count: usize) -> Self {
        let mut timers = Self { levels: vec![vec![UNSET]], earliest: NEVER };
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

    pub(super) fn get(&self, timer: usize) -> Ticks {
        self.levels[0][timer / FAN][timer % FAN]
    }

    /// Returns as many new timers as `of` has entries. Each new timer has the time of the old timer
    /// whose number is in `of`.
    pub(super) fn remap(&self, of: &[usize]) -> Self {
        let mut new = Self::new(of.len());
        of.iter().enumerate().for_each(|(timer, old)| new.set(timer, self.get(*old)));
        new
    }

    pub(super) fn earliest(&self) -> Ticks {
        self.earliest
    }

    pub(super) fn set(&mut self, timer: usize, time: Ticks) {
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
    pub(super) fn pop(&mut self, limit: Ticks) -> Option<usize> {
        if self.earliest > limit || self.earliest == NEVER {
            return None;
        }
        let mut timer = 0;
        for level in self.levels.iter().rev() {
            // Compute one bit per entry. Branches are avoided, because they would be mispredicted.
            let is_due = |due: u32, time: &Ticks| due << 1 | u32::from(*time <= limit);
            let due = level[timer].iter().rev().fold(0, is_due);
            timer = timer * FAN + due.trailing_zeros() as usize;
        }
        self.set(timer, NEVER);
        Some(timer)
    }
}

/// Returns the minimum of a group. Independent pairs are compared first, so that the processor can
/// compare them in parallel.
fn least(entries: &[Ticks; FAN]) -> Ticks {
    let lesser = |a: Ticks, b: Ticks| if b < a { b } else { a };
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| lesser(entries[at], entries[at + FAN / 2]));
    lesser(lesser(a, c), lesser(b, d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        /// Timers are removed in the same order as from a naive list, even if the tree grows
        /// between removals.
        #[test]
        fn timers_agree_with_a_list(
            actions in prop::collection::vec((0_usize..700, 0_u32..50, 0_u32..3), 1..200),
        ) {
            let (mut timers, mut list) = (Timers::new(1), vec![NEVER; 700]);
            for (timer, time, pops) in actions {
                timers.grow(timer + 1);
                timers.set(timer, time.into());
                list[timer] = time.into();
                prop_assert_eq!(timers.earliest(), list.iter().copied().fold(NEVER, Ticks::min));
                let limit = Ticks::from(time) / 2;
                for _ in 0..pops {
                    let first = list.iter().position(|t| *t <= limit);
                    prop_assert_eq!(timers.pop(limit), first);
                    first.into_iter().for_each(|first| list[first] = NEVER);
                }
            }
        }
    }
}
