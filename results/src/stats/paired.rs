//! Statistics of paired samples. Two times with the same seed have the same sizes. So their
//! difference does not contain the effect of the sizes, which causes most of the spread.

use super::{Interval, Ratio, Summary, t_quantile};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Returns the two-sided p-value of the paired t test, whose null hypothesis is a mean difference
/// of 0. Returns `None` for a single pair, or if all differences are equal.
pub fn paired_t_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let differences = Summary::of(&differences(a, b))?;
    let error = differences.standard_error().filter(|error| *error > 0.0)?;
    let distribution = StudentsT::new(0.0, 1.0, differences.n as f64 - 1.0).ok()?;
    Some((2.0 * distribution.sf((differences.mean / error).abs())).min(1.0)).filter(|p| !p.is_nan())
}

/// Returns the two-sided p-value of Wilcoxon's signed-rank test, whose null hypothesis is that the
/// differences are symmetric around 0. Returns `None` in the same cases as [`paired_t_p`]. Pairs
/// without a difference do not count. The p-value is exact for up to 200 pairs. Otherwise it is the
/// normal approximation, corrected for ties.
pub fn wilcoxon_p(a: &[f64], b: &[f64]) -> Option<f64> {
    const MOST_COUNTED: usize = 200;
    let all = differences(a, b);
    if all.len() < 2 || all.iter().all(|d| *d == all[0]) {
        return None;
    }
    let mut differences: Vec<f64> = all.into_iter().filter(|d| *d != 0.0).collect();
    differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Ranks are doubled, so that they are integers: tied values have the mean of their ranks.
    let mut ranks: Vec<usize> = Vec::new();
    for tied in differences.chunk_by(|a, b| a.abs() == b.abs()) {
        let twice = 2 * ranks.len() + tied.len() + 1;
        ranks.extend(tied.iter().map(|_| twice));
    }
    let above: usize =
        ranks.iter().zip(&differences).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
    Some(if ranks.len() <= MOST_COUNTED {
        counted(&ranks, above)
    } else {
        approximated(&ranks, above)
    })
}

/// Returns the share of sign assignments that are at least as extreme. Ranks are doubled.
fn counted(ranks: &[usize], above: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    // `ways[s]` is the number of sign assignments whose sum is s.
    let mut ways = vec![0.0_f64; total + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for sum in (*rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let tail: f64 = ways[..=above.min(total - above)].iter().sum();
    (2.0 * tail / (ranks.len() as f64).exp2()).min(1.0)
}

fn approximated(ranks: &[usize], above: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    let variance = ranks.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0;
    let z = (total as f64 / 2.0 - above.min(total - above) as f64) / variance.sqrt();
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

/// Returns the ratio of the means, with a confidence interval by the delta method as in
/// [`ratio`](super::ratio()). But variation that both values of a pair share does not widen the
/// interval. Student's t has n - 1 degrees of freedom.
pub fn paired_ratio(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let (own, base) = (Summary::of(a)?, Summary::of(b)?);
    let plain = super::ratio(&own, &base)?;
    if plain.interval.is_none_or(|interval| interval.is_point()) {
        return Some(plain);
    }
    // To first order, ln(ā/b̄) has the same variance as the mean of a/ā - b/b̄.
    let relative: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / own.mean - b / base.mean).collect();
    let error = Summary::of(&relative)?.standard_error()?;
    let half = t_quantile(own.n as f64 - 1.0) * error;
    let interval = Interval { low: plain.value * (-half).exp(), high: plain.value * half.exp() };
    Some(Ratio { value: plain.value, interval: Some(interval) })
}

/// Cohen's d for pairs: the mean difference divided by the standard deviation of differences.
pub fn paired_effect(a: &[f64], b: &[f64]) -> Option<f64> {
    let differences = Summary::of(&differences(a, b))?;
    differences.sd.filter(|sd| *sd > 0.0).map(|sd| differences.mean / sd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::ratio;
    use crate::stats::tests::{SLEEP, assert_near};

    /// Hamilton's depression scale before and after a treatment, from Hollander & Wolfe (1973),
    /// page 29. This is R's example of `wilcox.test`, where the test is one-sided.
    const BEFORE: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    #[expect(clippy::approx_constant, reason = "a measurement")]
    const AFTER: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

    /// The expected values are from R. `t.test(before, after, paired = TRUE)` gives p = 0.01618,
    /// and `wilcox.test(before, after, paired = TRUE)` gives p = 0.03906 (20 of 512 sign
    /// assignments).
    #[test]
    fn depression_before_and_after() {
        assert_near(paired_t_p(&BEFORE, &AFTER).unwrap(), 0.016_176_627_434_9);
        assert_near(wilcoxon_p(&BEFORE, &AFTER).unwrap(), 20.0 / 512.0);
        assert_near(wilcoxon_p(&AFTER, &BEFORE).unwrap(), 20.0 / 512.0);
    }

    /// The expected values are from R. `t.test(extra ~ group, data = sleep, paired = TRUE)` gives t
    /// = -4.0621, p = 0.002833. Nine of the ten differences have the same sign, and one is 0, so
    /// Wilcoxon's p is 2/512.
    #[test]
    fn students_sleep_in_pairs() {
        assert_near(paired_t_p(&SLEEP[0], &SLEEP[1]).unwrap(), 0.002_832_890_197_4);
        assert_near(wilcoxon_p(&SLEEP[0], &SLEEP[1]).unwrap(), 2.0 / 512.0);
        assert_near(paired_effect(&SLEEP[0], &SLEEP[1]).unwrap(), -4.062_127_683 / 10.0_f64.sqrt());
    }

    #[test]
    fn common_variation_does_not_widen_a_paired_ratio() {
        let base = [10.0, 14.0, 9.0, 17.0];
        let other: Vec<f64> =
            base.iter().zip([0.01, -0.01, 0.02, 0.0]).map(|(b, noise)| b * (2.0 + noise)).collect();
        let width = |ratio: Ratio| ratio.interval.map(|i| i.high / i.low).unwrap();
        let paired = paired_ratio(&other, &base).unwrap();
        let apart = ratio(&Summary::of(&other).unwrap(), &Summary::of(&base).unwrap()).unwrap();
        assert_eq!(paired.value, apart.value);
        assert!(width(paired) < 1.05 && width(apart) > 1.5);
    }

    #[test]
    fn paired_samples_without_spread_have_no_p_value_or_effect() {
        let (a, b) = ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]);
        assert_eq!(
            (paired_t_p(&a, &b), wilcoxon_p(&a, &b), paired_effect(&a, &b)),
            (None, None, None)
        );
        assert_eq!((paired_t_p(&a[..1], &b[..1]), wilcoxon_p(&a[..1], &b[..1])), (None, None));
        assert_eq!(paired_ratio(&[1.0], &[2.0]), Some(Ratio { value: 0.5, interval: None }));
    }

    #[test]
    fn the_approximation_for_many_pairs_is_accurate() {
        let ranks: Vec<usize> = (1..=200).map(|rank| 2 * rank).collect();
        for above in [14_000, 16_000, 18_000, 20_100] {
            let (counted, approximated) = (counted(&ranks, above), approximated(&ranks, above));
            assert!((counted - approximated).abs() < 0.001, "{above}: {counted} {approximated}");
        }
        let (a, b): (Vec<f64>, Vec<f64>) =
            (0..300).map(|i| (f64::from(i % 7), f64::from(i % 5))).unzip();
        assert!(wilcoxon_p(&a, &b).is_some_and(|p| p < 0.001));
    }
}
