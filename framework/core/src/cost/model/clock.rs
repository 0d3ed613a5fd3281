//! The clocks of event-driven models: a time, and the critical path that leads to it.
//!
//! Times are whole numbers ([`Time`]), so a sum does not depend on the order of additions, and two
//! sequences with the same total duration end at exactly the same time. Simultaneous events are
//! ordered by the rules of a model, never by rounding errors.
//!
//! A [`Clock`] is a moment, such as an arrival. Ranks have a `RankClock` (`super::time_space`).

use crate::cost::kind::{Kind, Times};
use std::fmt::Debug;
use std::ops::{AddAssign, Sub};

/// A time or a duration in whole ticks.
pub trait Time: Copy + Ord + Default + Debug + Sub<Output = Self> {
    /// A duration on a critical path.
    type Part: Copy + Default + PartialEq + AddAssign + Debug;

    /// Returns the time in µs.
    fn us(self) -> f64;

    /// Returns the duration as a part of a critical path.
    fn part(self) -> Self::Part;

    /// Returns the time that is later by `ticks`, or the latest time that can be represented.
    fn plus(self, ticks: Self) -> Self;
}

impl Time for Ticks {
    type Part = f64;

    fn us(self) -> f64 {
        us(self)
    }

    fn part(self) -> f64 {
        us(self)
    }

    fn plus(self, ticks: Self) -> Self {
        self.saturating_add(ticks)
    }
}

impl Time for super::ticks::Ticks {
    type Part = Self;

    fn us(self) -> f64 {
        super::ticks::us(self)
    }

    fn part(self) -> Self {
        self
    }

    fn plus(self, ticks: Self) -> Self {
        self.saturating_add(ticks)
    }
}

/// A time in units of 10^-18 s. Parameters in µs are rounded to 12 decimals.
pub(super) type Ticks = u128;

const PER_US: f64 = 1e12;

pub(super) fn ticks(us: f64) -> Ticks {
    // Parameters are at most one day, about 10^23 ticks.
    (us * PER_US).round() as Ticks
}

/// Returns the time of `bytes` bytes, each of which takes `ticks`. Only the time of a fraction of a
/// byte is rounded.
pub(super) fn of_bytes(ticks: Ticks, bytes: f64) -> Ticks {
    if ticks == 0 {
        return 0;
    }
    let whole = bytes as u64;
    let (exact, part) = (ticks.saturating_mul(whole.into()), bytes - whole as f64);
    // Rounding is slow, and most messages have a whole number of bytes.
    if part == 0.0 {
        return exact;
    }
    exact.saturating_add((part * ticks as f64).round() as Ticks)
}

pub(super) fn us(ticks: Ticks) -> f64 {
    // Nearly all durations fit into 63 bits. Converting these is ten times as fast, and equally
    // exact.
    i64::try_from(ticks).map_or_else(|_| large_to_f64(ticks), |ticks| ticks as f64) / PER_US
}

/// This function is not inlined into [`us`], where it would make all conversions use 128 bits.
#[cold]
#[inline(never)]
fn large_to_f64(ticks: Ticks) -> f64 {
    ticks as f64
}

/// A time, and the critical path to it. Clocks are ordered by time. Simultaneous clocks are ordered
/// by the parts of their critical paths, if these parts are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clock<T: Time = Ticks> {
    at: T,
    path: Times<T::Part>,
}

impl<T: Time> Clock<T> {
    /// Returns the time.
    pub fn at(&self) -> T {
        self.at
    }

    /// Returns the time in µs.
    pub fn us(&self) -> f64 {
        self.at.us()
    }

    /// Returns the critical path to the time.
    pub fn path(&self) -> &Times<T::Part> {
        &self.path
    }

    /// Adds a duration. On the critical path, a wait for a peer counts as contention.
    #[must_use]
    pub(super) fn after(mut self, kind: Kind, ticks: T) -> Self {
        let part = if kind == Kind::Peer { Kind::Contention } else { kind };
        self.at = self.at.plus(ticks);
        self.path[part] += ticks.part();
        self
    }

    #[must_use]
    pub(super) fn after_wait(self, at: T) -> Self {
        if at > self.at { self.after(Kind::Contention, at - self.at) } else { self }
    }

    /// Returns the later of two clocks, and this clock if they are simultaneous.
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }
}

impl Clock {
    /// Returns the clock that is later by `us` µs of this kind.
    #[must_use]
    pub fn after_us(self, kind: Kind, us: f64) -> Self {
        self.after(kind, ticks(us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_any_length_are_converted_alike() {
        for ticks in [0, 1, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, u64::MAX.into(), (1 << 64) + 1] {
            assert_eq!(us(ticks), ticks as f64 / PER_US, "{ticks}");
        }
    }
}
