//! Statistics of repeated cases: summaries, ratios with their uncertainty, tests of whether two differ.
//!
//! Repetitions of a case that has nothing random in it are all the same. Then intervals collapse to a point and there is nothing to test: that is
//! said rather than dressed up as certainty ([`Spread::None`]).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// What is known of the spread of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// One value: nothing is known.
    Unknown,
    /// All values are the same.
    None,
    /// Values differ.
    Some,
}

/// An interval of confidence, 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A sample in a few figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The middle one, or the mean of the middle two.
    pub median: f64,
    /// The standard deviation, with n - 1; `None` for one value.
    pub sd: Option<f64>,
    /// The 95 % interval of the mean, by Student's t with n - 1 degrees of freedom; `None` for one value.
    pub interval: Option<Interval>,
    /// What is known of the spread.
    pub spread: Spread,
}

impl Summary {
    /// Summarises values, of which there must be one; `None` otherwise.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) };
        if n == 1 {
            return Some(Self { n, mean, median, sd: None, interval: None, spread: Spread::Unknown });
        }
        if sorted[0] == sorted[n - 1] {
            // Not by way of the sums, whose rounding would show a spread that isn't there.
            let value = sorted[0];
            let interval = Some(Interval { low: value, high: value });
            return Some(Self { n, mean: value, median, sd: Some(0.0), interval, spread: Spread::None });
        }
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
        let half = quantile(n as f64 - 1.0) * (variance / n as f64).sqrt();
        Some(Self {
            n,
            mean,
            median,
            sd: Some(variance.sqrt()),
            interval: Some(Interval { low: mean - half, high: mean + half }),
            spread: Spread::Some,
        })
    }

    /// The variance of the mean; `None` for one value.
    fn variance_of_mean(&self) -> Option<f64> {
        self.sd.map(|sd| sd * sd / self.n as f64)
    }
}

/// Student's t for a 95 % interval.
fn quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(0.975))
}

/// One mean over another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio of the means.
    pub value: f64,
    /// Its 95 % interval; `None` where either is a single value.
    pub interval: Option<Interval>,
}

/// The ratio of the means of two samples of positive values; `None` where it is undefined.
///
/// The interval is that of the logarithm of the ratio by the delta method, `ln(a/b) ± t sqrt(va/(na a²) + vb/(nb b²))`, with the degrees of freedom of
/// Welch and Satterthwaite for that sum, taken back by the exponential. Times are positive and their ratio is skewed: this interval stays
/// positive and is the same seen from either side (`b/a` has the reciprocal ends), which Fieller's need not be.
pub fn ratio(a: &Summary, b: &Summary) -> Option<Ratio> {
    if a.mean <= 0.0 || b.mean <= 0.0 {
        return None;
    }
    let value = a.mean / b.mean;
    let (Some(va), Some(vb)) = (a.variance_of_mean(), b.variance_of_mean()) else {
        return Some(Ratio { value, interval: None });
    };
    let (ra, rb) = (va / (a.mean * a.mean), vb / (b.mean * b.mean));
    if ra + rb == 0.0 {
        return Some(Ratio { value, interval: Some(Interval { low: value, high: value }) });
    }
    let half = quantile(welch_freedom(ra, a.n, rb, b.n)) * (ra + rb).sqrt();
    Some(Ratio { value, interval: Some(Interval { low: value * (-half).exp(), high: value * half.exp() }) })
}

/// Welch and Satterthwaite's degrees of freedom of a sum of two independent variances of means.
fn welch_freedom(va: f64, na: usize, vb: f64, nb: usize) -> f64 {
    (va + vb) * (va + vb) / (va * va / (na as f64 - 1.0) + vb * vb / (nb as f64 - 1.0))
}

/// Two-sided p of Welch's t test that two means are the same; `None` where there is no spread to test against.
pub fn welch_p(a: &Summary, b: &Summary) -> Option<f64> {
    let (va, vb) = (a.variance_of_mean()?, b.variance_of_mean()?);
    if va + vb == 0.0 {
        return None;
    }
    let t = (a.mean - b.mean).abs() / (va + vb).sqrt();
    let distribution = StudentsT::new(0.0, 1.0, welch_freedom(va, a.n, vb, b.n)).ok()?;
    Some((2.0 * distribution.sf(t)).min(1.0))
}

/// Two-sided p of the Mann-Whitney U test that neither of two samples tends to be larger; `None` for single values, and where neither sample has any
/// spread.
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
    // Beyond this the normal approximation is good to a thousandth.
    const MOST_PAIRS: usize = 400;
    if ties || a.len() * b.len() > MOST_PAIRS {
        return Some(asymptotic);
    }
    Some(exact_p(u, a.len(), b.len()))
}

/// Exact two-sided p of Mann and Whitney's U without ties: twice the share of the ways to deal the ranks in which U is at least as far out.
///
/// Our own because statrs 0.19 returns the complement wherever the first sample is not the larger one.
fn exact_p(u: f64, n: usize, m: usize) -> f64 {
    // ways[k]: how many ways to deal i ranks to the first sample and all so far have U = k; the Gaussian binomial, factor by factor
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
    let far = u.max(most as f64 - u).ceil() as usize;
    let tail: f64 = ways[far.min(most)..].iter().sum();
    (2.0 * tail / ways.iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected figures: scipy.stats (ttest_ind with equal_var=False, mannwhitneyu, t.ppf).
    const A: [f64; 5] = [12.1, 11.8, 12.6, 12.0, 12.3];
    const B: [f64; 4] = [13.4, 13.9, 13.1, 14.2];

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6 * b.abs().max(1.0)
    }

    #[test]
    fn a_sample_is_summarised_with_students_interval() {
        let s = Summary::of(&A).unwrap();
        let i = s.interval.unwrap();
        assert!(near(s.mean, 12.16) && near(s.median, 12.1) && near(s.sd.unwrap(), 0.304959013), "{s:?}");
        assert!(near(i.low, 11.781343371) && near(i.high, 12.538656628), "{i:?}");
    }

    #[test]
    fn means_are_compared_by_ratio_and_by_tests() {
        let (a, b) = (Summary::of(&A).unwrap(), Summary::of(&B).unwrap());
        let r = ratio(&a, &b).unwrap();
        let i = r.interval.unwrap();
        assert!(near(r.value, 0.890842490) && near(i.low, 0.843927274) && near(i.high, 0.940365796), "{r:?}");
        assert!(near(welch_p(&a, &b).unwrap(), 0.003686755), "{:?}", welch_p(&a, &b));
        assert!(near(mann_whitney_p(&A, &B).unwrap(), 0.015873015), "{:?}", mann_whitney_p(&A, &B));
        assert_eq!(mann_whitney_p(&A, &B), mann_whitney_p(&B, &A));
        // all of three above all of three: 2 of the 20 ways to deal the ranks
        assert!(near(mann_whitney_p(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap(), 0.1));
        let back = ratio(&b, &a).unwrap().interval.unwrap();
        assert!(near(back.low, 1.0 / i.high) && near(back.high, 1.0 / i.low), "the same seen from either side");
    }

    #[test]
    fn one_value_has_no_uncertainty_to_state() {
        let one = Summary::of(&[5.0]).unwrap();
        assert_eq!((one.sd, one.interval, one.spread), (None, None, Spread::Unknown));
        let many = Summary::of(&A).unwrap();
        assert_eq!(ratio(&one, &many).unwrap().interval, None);
        assert_eq!((welch_p(&one, &many), mann_whitney_p(&[5.0], &A)), (None, None));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn repetitions_that_are_all_the_same_have_no_spread_and_no_p() {
        let same = Summary::of(&[0.1; 7]).unwrap();
        assert_eq!((same.mean, same.sd, same.spread), (0.1, Some(0.0), Spread::None));
        let other = Summary::of(&[0.2; 3]).unwrap();
        let r = ratio(&same, &other).unwrap();
        assert_eq!((r.value, r.interval), (0.5, Some(Interval { low: 0.5, high: 0.5 })));
        assert_eq!((welch_p(&same, &other), mann_whitney_p(&[0.1; 7], &[0.2; 3])), (None, None));
    }

    #[test]
    fn a_ratio_to_nothing_is_undefined() {
        let (zero, some) = (Summary::of(&[0.0, 0.0]).unwrap(), Summary::of(&A).unwrap());
        assert_eq!((ratio(&some, &zero), ratio(&zero, &some)), (None, None));
    }
}
