//! Times in whole numbers of ticks. Sums and differences are exact, so they do not depend on the
//! order in which they are computed.

/// A time or a duration in ticks. A tick is a picosecond.
pub(crate) type Ticks = i64;

/// The time of a timer that is not set.
pub(crate) const NEVER: Ticks = Ticks::MAX;

/// The latest time of an event: 26 days. The sum of a few times that are not later is never out of
/// range.
pub(crate) const LAST: Ticks = 1 << 61;

/// The number of ticks in a microsecond.
pub(crate) const PER_US: f64 = 1e6;

/// Converts a duration from µs to the nearest tick. Durations that are longer than [`LAST`] are
/// shortened to the first tick after it.
pub(crate) fn ticks(us: f64) -> Ticks {
    nearest(us * PER_US)
}

/// Rounds a number of ticks in the same way as [`ticks`].
pub(crate) fn nearest(ticks: f64) -> Ticks {
    (ticks.round() as Ticks).min(LAST + 1)
}

/// Converts a time from ticks to µs.
pub(crate) fn us(ticks: Ticks) -> f64 {
    ticks as f64 / PER_US
}

/// Returns the mean of times, in µs. It depends only on the mean: the mean of a list and the mean
/// of several copies of the list are the same number.
pub(crate) fn mean_us(times: impl ExactSizeIterator<Item = Ticks>) -> f64 {
    let count = times.len() as i128;
    let sum: i128 = times.map(i128::from).sum();
    ((sum / count) as f64 + (sum % count) as f64 / count as f64) / PER_US
}

/// Returns the reason why a case is refused that takes longer than [`LAST`].
pub(crate) fn too_long(model: &str) -> String {
    format!("the model `{model}` simulates up to 26 days, this case takes longer")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
