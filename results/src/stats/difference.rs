//! Tests of whether two independent samples differ significantly.

use super::{Summary, welch_freedom};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// Returns the two-sided p-value of Welch's t test, or `None` for a single value or no spread.
pub fn welch_p(a: &Summary, b: &Summary) -> Option<f64> {
    let (sa, sb) = (a.standard_error()?, b.standard_error()?);
    let both = sa.hypot(sb);
    if both == 0.0 {
        return None;
    }
    let t = (a.mean - b.mean).abs() / both;
    let distribution = StudentsT::new(0.0, 1.0, welch_freedom((sa, a.n), (sb, b.n))).ok()?;
    Some((2.0 * distribution.sf(t)).min(1.0)).filter(|p| !p.is_nan())
}

/// Returns the two-sided p-value of the Mann-Whitney U test, whose null hypothesis is that neither
/// sample tends to have larger values. Returns `None` in the same cases as [`welch_p`]. The p-value
/// is exact for small samples without ties. Otherwise it is the normal approximation, corrected for
/// ties and continuity.
pub fn mann_whitney_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let spread = |sample: &[f64]| sample.iter().any(|v| *v != sample[0]);
    if a.len() < 2 || b.len() < 2 || !(spread(a) || spread(b)) {
        return None;
    }
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    let (u, asymptotic) = mannwhitneyu(a, b, method, Alternative::TwoSided).ok()?;
    let mut all = [a, b].concat();
    all.sort_by(f64::total_cmp);
    let ties = all.windows(2).any(|w| w[0] == w[1]);
    // The maximum number of steps for computing the exact p-value. Two samples of 100 values need
    // this number. For such samples, the normal approximation errs by less than 0.001. For a small
    // and a large sample, its error can be 0.03. But then few steps suffice: 2 values and 250,000
    // values are within the limit.
    const MOST_STEPS: usize = 1_000_000;
    let (fewer, more) = (a.len().min(b.len()), a.len().max(b.len()));
    if ties || fewer.saturating_mul(fewer).saturating_mul(more) > MOST_STEPS {
        return Some(asymptotic);
    }
    Some(exact_p(u, fewer, more))
}

/// Returns the exact two-sided p-value without ties: twice the proportion of those rank assignments
/// that are in the tail from `u` on. It is not computed with statrs 0.19, which returns the
/// complement unless the first sample is the larger one.
fn exact_p(u: f64, n: usize, m: usize) -> f64 {
    // `ways[k]` is the number of rank assignments with U = k. These numbers are the coefficients of
    // the Gaussian binomial, the product over i of (1 - q^(m + i)) / (1 - q^i).
    let most = n * m;
    let mut ways = vec![0.0_f64; most + 1];
    ways[0] = 1.0;
    for i in 1..=n {
        for k in (m + i..=most).rev() {
            ways[k] -= ways[k - m - i];
        }
        for k in i..=most {
            ways[k] += ways[k - i];
        }
    }
    // Both tails have the same probability, but that of the upper one is computed less accurately.
    let near = u.min(most as f64 - u).floor() as usize;
    let tail: f64 = ways[..=near.min(most)].iter().sum();
    (2.0 * tail / ways.iter().sum::<f64>()).min(1.0)
}

/// Returns Hedges's g. It is the difference of the means divided by the pooled standard deviation
/// (Cohen's d), corrected for the bias of small samples. Returns `None` in the same cases as
/// [`welch_p`].
pub fn effect(a: &Summary, b: &Summary) -> Option<f64> {
    let (freedom_a, freedom_b) = ((a.n - 1) as f64, (b.n - 1) as f64);
    let freedom = freedom_a + freedom_b;
    let variance = (freedom_a * a.sd?.powi(2) + freedom_b * b.sd?.powi(2)) / freedom;
    (variance > 0.0)
        .then(|| (a.mean - b.mean) / variance.sqrt() * (1.0 - 3.0 / (4.0 * freedom - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::{SLEEP, assert_near};

    fn welch(a: &[f64], b: &[f64]) -> Option<f64> {
        welch_p(&Summary::of(a).unwrap(), &Summary::of(b).unwrap())
    }

    /// The expected values are from R. `t.test(extra ~ group, data = sleep)` gives t = -1.8608, df
    /// = 17.776, p = 0.07939. `wilcox.test`, with ties, gives p = 0.06933.
    #[test]
    fn students_sleep() {
        assert_near(welch(&SLEEP[0], &SLEEP[1]).unwrap(), 0.079_394_140_2);
        assert_near(mann_whitney_p(&SLEEP[0], &SLEEP[1]).unwrap(), 0.069_327_575_4);
    }

    /// Permeability of the human chorioamnion, from Hollander & Wolfe, Nonparametric Statistical
    /// Methods (1973), page 69. This is R's example of `wilcox.test`, whose one-sided p-value is
    /// 0.1272.
    #[test]
    fn permeability_at_term_and_earlier() {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let earlier = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert_near(mann_whitney_p(&term, &earlier).unwrap(), 0.254_412_254_4);
        assert_near(mann_whitney_p(&earlier, &term).unwrap(), 0.254_412_254_4);
        assert_near(welch(&term, &earlier).unwrap(), 0.062_101_343_8);
    }

    #[test]
    fn small_samples_have_exact_p_values() {
        // Of the 20 rank assignments, 2 are at least as extreme as this one.
        assert_near(mann_whitney_p(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap(), 0.1);
        // The expected value for two interleaved samples of 20 values was computed with scipy.
        let a: Vec<f64> = (0..20).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|v| v + 3.5).collect();
        assert_near(mann_whitney_p(&a, &b).unwrap(), 0.085_914_019_985_7);
    }

    /// The expected values were computed with unlimited integers, and confirmed with scipy. The
    /// errors of the normal approximation are 0.004, 0.00002 and 0.03. In the last case, it is
    /// wrong by orders of magnitude.
    #[test]
    fn p_values_of_100_against_100_and_2_against_201_are_exact() {
        let row = |n: u32, from: f64| (0..n).map(|v| f64::from(v) + from).collect::<Vec<_>>();
        let cases = [
            ((21, 0.0), (20, 2.4), 0.318_932_436_774_1),
            ((100, 0.0), (100, 16.5), 0.000_192_287_413_842_75),
            ((2, 150.5), (201, 0.0), 0.248_744_086_231_3),
            ((100, 0.0), (100, 99.5), 2.208_760_693_199_5e-59),
        ];
        for (a, b, p) in cases {
            let (a, b) = (row(a.0, a.1), row(b.0, b.1));
            assert_near(mann_whitney_p(&a, &b).unwrap() / p, 1.0);
            assert_near(mann_whitney_p(&b, &a).unwrap() / p, 1.0);
        }
    }

    /// Cohen's d of the sleep data is -0.832. For 18 degrees of freedom, Hedges's factor is 1 -
    /// 3/71.
    #[test]
    fn an_effect_is_in_standard_deviations() {
        let [a, b] = SLEEP.map(|values| Summary::of(&values).unwrap());
        assert_near(effect(&a, &b).unwrap(), -0.832_181_112_2 * (1.0 - 3.0 / 71.0));
        assert_eq!(
            effect(&Summary::of(&[0.1; 7]).unwrap(), &Summary::of(&[0.2; 3]).unwrap()),
            None
        );
        assert_eq!(effect(&a, &Summary::of(&[5.0]).unwrap()), None);
    }

    #[test]
    fn samples_without_spread_have_no_p_value() {
        assert_eq!(
            (welch(&[0.1; 7], &[0.2; 3]), mann_whitney_p(&[0.1; 7], &[0.2; 3])),
            (None, None)
        );
        assert_eq!((welch(&[5.0], &SLEEP[0]), mann_whitney_p(&[5.0], &SLEEP[0])), (None, None));
        assert!(welch(&[0.1; 7], &SLEEP[0]).is_some_and(f64::is_finite));
        assert!(mann_whitney_p(&[0.1; 7], &SLEEP[0]).is_some_and(f64::is_finite));
    }
}
