//! Times in whole numbers of ticks, whose sums do not depend on their order, and timers.

/// A time or a duration in ticks. A tick is a picosecond.
pub(crate) type Ticks = i64;

pub(crate) const NEVER: Ticks = Ticks::MAX;

/// The latest time of an event, 26 days. With this limit, sums of a few times are in range.
pub(crate) const LAST: Ticks = 1 << 61;

pub(crate) const PER_US: f64 = 1e6;

pub(crate) fn ticks(us: f64) -> Ticks {
    nearest(us * PER_US)
}

pub(crate) fn nearest(ticks: f64) -> Ticks {
    (ticks.round() as Ticks).min(LAST + 1)
}

pub(crate) fn us(ticks: Ticks) -> f64 {
    ticks as f64 / PER_US
}

/// Returns the mean of times. It is exactly the same for a list and for several copies of the list.
pub(crate) fn mean_us(times: impl ExactSizeIterator<Item = Ticks>) -> f64 {
    let count = times.len() as i128;
    let sum: i128 = times.map(i128::from).sum();
    ((sum / count) as f64 + (sum % count) as f64 / count as f64) / PER_US
}

pub(crate) fn too_long(model: &str) -> String {
    format!("the model `{model}` simulates up to 26 days, this case takes longer")
}

/// The number of entries of a group. A group fills a cache line, and its minimum is an entry of the
/// next level.
const FAN: usize = 8;

const UNSET: [Ticks; FAN] = [NEVER; FAN];

/// Timers in a tournament tree. The first level has the times, and every entry of a further level
/// is the minimum of [`FAN`] entries. Unset timers have the time [`NEVER`].
#[derive(Debug, Clone)]
pub(super) struct Timers {
    levels: Vec<Vec<[Ticks; FAN]>>,
    earliest: Ticks,
}

impl Timers {
    pub(super) fn new(count: usize) -> Self {
        let mut timers = Self { levels: vec![vec![UNSET]], earliest: NEVER };
        timers.grow(count);
        timers
    }

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

    pub(super) fn pop(&mut self, limit: Ticks) -> Option<usize> {
        if self.earliest > limit || self.earliest == NEVER {
            return None;
        }
        let mut timer = 0;
        for level in self.levels.iter().rev() {
            // One bit per entry, without branches, which would be mispredicted.
            let is_due = |due: u32, time: &Ticks| due << 1 | u32::from(*time <= limit);
            let due = level[timer].iter().rev().fold(0, is_due);
            timer = timer * FAN + due.trailing_zeros() as usize;
        }
        self.set(timer, NEVER);
        Some(timer)
    }
}

/// Returns the minimum. Independent pairs are compared first, so that the processor does it in
/// parallel.
fn least(entries: &[Ticks; FAN]) -> Ticks {
    let lesser = |a: Ticks, b: Ticks| if b < a { b } else { a };
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| lesser(entries[at], entries[at + FAN / 2]));
    lesser(lesser(a, c), lesser(b, d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_rounded_once_and_limited() {
        assert_eq!([0.3, 1e-6, 4e-7, 6e-7].map(ticks), [300_000, 1, 0, 1]);
        assert_eq!([1e300, f64::INFINITY].map(ticks), [LAST + 1; 2]);
        assert_eq!(us(ticks(86_400e6)), 86_400e6);
    }

    #[test]
    fn the_mean_of_copies_is_the_mean() {
        let times = [LAST, LAST - 1, 7];
        let copies: Vec<Ticks> = (0..81).map(|i| times[i % 3]).collect();
        assert_eq!(mean_us(times.into_iter()), mean_us(copies.into_iter()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

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
