//! Statistics of repeated cases.
//!
//! Repetitions of a deterministic case are identical. Their confidence interval is a point, and
//! there is nothing to test ([`Spread::None`]). Repetition r has the same seed for all algorithms,
//! and so the same random sizes. Therefore, times of two algorithms are compared in pairs. Samples
//! with different seeds are treated as independent.

mod difference;
mod holm;
mod paired;
mod ratio;

pub use difference::{effect, mann_whitney_p, welch_p};
pub use holm::holm;
pub use paired::{paired_effect, paired_ratio, paired_t_p, wilcoxon_p};
pub use ratio::{Ratio, ratio};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The level of significance. Two times differ significantly if the corrected p-value is below it.
pub const LEVEL: f64 = 0.05;

/// Whether the values of a sample differ from each other, as far as this is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// There is only one value, so the spread is unknown.
    Unknown,
    /// All values are equal.
    None,
    Some,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn is_point(&self) -> bool {
        self.low == self.high
    }

    /// Returns whether the interval contains a value. Both ends belong to the interval.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub n: usize,
    pub mean: f64,
    /// The median. With an even number of values, it is the mean of the two middle values.
    pub median: f64,
    /// The standard deviation, with the divisor n - 1; `None` if there is only one value.
    pub sd: Option<f64>,
    /// The 95 % confidence interval of the mean, by Student's t; `None` if there is only one value.
    pub interval: Option<Interval>,
    pub spread: Spread,
}

impl Summary {
    /// Returns `None` if there are no values, or if any value is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (sorted[0], sorted[n - 1]);
        let median = if n % 2 == 1 {
            sorted[n / 2]
        } else {
            f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])
        };
        if least == most {
            // The sums below have rounding errors, which would look like a spread.
            let (sd, interval) = (Some(0.0), Some(Interval { low: least, high: least }));
            let known = Self { n, mean: least, median, sd, interval, spread: Spread::None };
            return Some(if n > 1 {
                known
            } else {
                Self { sd: None, interval: None, spread: Spread::Unknown, ..known }
            });
        }
        // Values are divided by a power of two near the largest value. This prevents an overflow
        // and changes no digits.
        let unit = least.abs().max(most.abs()).log2().floor().exp2();
        let count = n as f64;
        let mean = values.iter().map(|v| v / unit).sum::<f64>() / count;
        let variance =
            values.iter().map(|v| (v / unit - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half = t_quantile(count - 1.0) * (variance / count).sqrt() * unit;
        let (mean, sd) = (mean * unit, Some(variance.sqrt() * unit));
        let interval = Some(Interval { low: mean - half, high: mean + half });
        Some(Self { n, mean, median, sd, interval, spread: Spread::Some })
    }

    fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / (self.n as f64).sqrt())
    }
}

pub fn distinct(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Returns the quantile of Student's t distribution for a two-sided interval of 95 %.
fn t_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(0.975))
}

/// Returns the degrees of freedom by Welch and Satterthwaite for the difference of two means with
/// standard errors `a` and `b`: `(a² + b²)² / (a⁴/(na - 1) + b⁴/(nb - 1))`. `a²` and `b²` are first
/// divided by `a² + b²`, to prevent an overflow.
fn welch_freedom((a, na): (f64, usize), (b, nb): (f64, usize)) -> f64 {
    let both = a.hypot(b);
    let (a, b) = ((a / both).powi(2), (b / both).powi(2));
    (a * a / (na as f64 - 1.0) + b * b / (nb as f64 - 1.0)).recip()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hours of sleep gained with two drugs, from Student's paper of 1908 (`sleep` in R).
    pub(super) const SLEEP: [[f64; 10]; 2] = [
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ];

    pub(super) fn assert_near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-7 * b.abs().max(1.0), "{a} is not {b}");
    }

    /// The expected values are from R: `t.test(extra)` for the first group.
    #[test]
    fn a_sample_is_summarised_with_students_interval() {
        let s = Summary::of(&SLEEP[0]).unwrap();
        assert_eq!((s.n, s.spread), (10, Spread::Some));
        assert_near(s.mean, 0.75);
        assert_near(s.median, 0.35);
        assert_near(s.sd.unwrap(), 1.789_009_657_8);
        assert_near(s.interval.unwrap().low, -0.529_780_413_5);
        assert_near(s.interval.unwrap().high, 2.029_780_413_5);
    }

    #[test]
    fn one_value_has_no_uncertainty() {
        let one = Summary::of(&[5.0]).unwrap();
        assert_eq!(
            (one.mean, one.median, one.sd, one.interval, one.spread),
            (5.0, 5.0, None, None, Spread::Unknown)
        );
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn equal_repetitions_have_no_spread() {
        let same = Summary::of(&[0.1; 7]).unwrap();
        assert_eq!((same.mean, same.sd, same.spread), (0.1, Some(0.0), Spread::None));
        assert!(same.interval.unwrap().is_point());
    }

    #[test]
    fn values_of_any_size_are_summarised() {
        let [small, plain, large] =
            [1e-300, 1.0, 1e300].map(|unit| Summary::of(&[unit, 2.0 * unit, 4.0 * unit]).unwrap());
        assert_near(small.sd.unwrap() * 1e300, plain.sd.unwrap());
        assert_near(large.sd.unwrap() / 1e300, plain.sd.unwrap());
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
    }
}
