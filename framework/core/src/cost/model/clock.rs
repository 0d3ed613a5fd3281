//! The clocks of event-driven models. A clock has a time, and the critical path that leads to it.
//!
//! Times are whole numbers (`Ticks`), so that sums do not depend on the order of additions. Two
//! sequences of work with the same duration therefore end at exactly the same time. The rules of
//! the model determine the order of simultaneous events, and rounding errors never do.

use super::path::Path;

/// A time in units of 10^-18 s. Parameters in µs are rounded to 12 decimals.
pub(super) type Ticks = u128;

const PER_US: f64 = 1e12;

/// Converts the value of a parameter from µs to ticks.
pub(super) fn ticks(us: f64) -> Ticks {
    // Parameters are at most one day. This is about 10^23 ticks, so the number fits in 128 bits.
    (us * PER_US).round() as Ticks
}

/// Multiplies a time per byte by a number of bytes. Only the product with the fractional part of
/// `bytes` is rounded.
pub(super) fn of_bytes(ticks: Ticks, bytes: f64) -> Ticks {
    // Skip the multiplication if bytes cost no time. In most machines, some kinds of bytes do not.
    if ticks == 0 {
        return 0;
    }
    let whole = bytes as u64;
    let (exact, part) = (ticks.saturating_mul(whole.into()), bytes - whole as f64);
    // Skip the rounding, which is slow, for a whole number of bytes. Most messages have one.
    if part == 0.0 {
        return exact;
    }
    exact.saturating_add((part * ticks as f64).round() as Ticks)
}

/// Converts a time from ticks to µs.
pub(super) fn us(ticks: Ticks) -> f64 {
    // Nearly all durations fit in 63 bits. The conversion of a 64-bit number then gives the same
    // number as the conversion of a 128-bit number, in a tenth of the time.
    i64::try_from(ticks).map_or_else(|_| large_to_f64(ticks), |ticks| ticks as f64) / PER_US
}

/// Converts a duration that does not fit in 63 bits. This is a separate function because the
/// compiler would otherwise convert every duration with 128 bits before it checks the size.
#[cold]
#[inline(never)]
fn large_to_f64(ticks: Ticks) -> f64 {
    ticks as f64
}

/// A time, and the critical path to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Clock {
    pub(super) at: Ticks,
    /// The critical path to the time.
    pub path: Path,
}

impl Clock {
    /// Returns the time in µs.
    pub fn us(&self) -> f64 {
        us(self.at)
    }

    pub(super) fn started(mut self, ticks: Ticks) -> Self {
        self.at += ticks;
        self.path.startup += us(ticks);
        self
    }

    pub(super) fn transmitted(mut self, ticks: Ticks) -> Self {
        self.at = self.at.saturating_add(ticks);
        self.path.transmission += us(ticks);
        self
    }

    pub(super) fn propagated(mut self, ticks: Ticks) -> Self {
        self.at += ticks;
        self.path.propagation += us(ticks);
        self
    }

    pub(super) fn rearranged(mut self, ticks: Ticks) -> Self {
        self.at = self.at.saturating_add(ticks);
        self.path.rearrangement += us(ticks);
        self
    }

    pub(super) fn reduced(mut self, ticks: Ticks) -> Self {
        self.at = self.at.saturating_add(ticks);
        self.path.reduction += us(ticks);
        self
    }

    /// Returns the clock after a rearrangement of data that takes `us` µs.
    #[must_use]
    pub fn composed(self, us: f64) -> Self {
        self.rearranged(ticks(us))
    }

    pub(super) fn past_barrier(mut self, ticks: Ticks) -> Self {
        self.at += ticks;
        self.path.barrier += us(ticks);
        self
    }

    /// Returns the clock after a wait until the time `at`; unchanged if `at` is earlier.
    pub(super) fn waited_until(mut self, at: Ticks) -> Self {
        if at > self.at {
            self.path.contention += us(at - self.at);
            self.at = at;
        }
        self
    }

    /// Returns the later of two clocks, with its critical path.
    pub(super) fn later(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short and long durations give the same number as a direct conversion of 128 bits.
    #[test]
    fn durations_of_any_length_are_converted_alike() {
        for ticks in [0, 1, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, u64::MAX.into(), (1 << 64) + 1] {
            assert_eq!(us(ticks), ticks as f64 / PER_US, "{ticks}");
        }
    }
}
