use statrs::distribution::{ContinuousCDF, Normal};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistributionKind {
    /// Sizes are uniform in an interval. The coefficient of variation is at most 1/sqrt(3).
    Uniform,
    /// Sizes have an exponential distribution. The coefficient of variation is always 1.
    Exponential,
    /// Sizes have a log-normal distribution: the logarithm of a size has a normal distribution.
    Lognormal,
    /// Sizes follow a power law above a smallest size. If the coefficient of variation (cv) is
    /// about 1 or more, the variance depends on very rare sizes, so most samples have a smaller
    /// variance.
    Pareto,
    /// One tenth of the sizes is large. The coefficient of variation is at most 3.
    Bimodal,
}

impl DistributionKind {
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Uniform, "uniform"),
        (Self::Exponential, "exponential"),
        (Self::Lognormal, "lognormal"),
        (Self::Pareto, "pareto"),
        (Self::Bimodal, "bimodal"),
    ];

    /// Returns the largest coefficient of variation for which all sizes are at least 0.
    fn max_cv(self) -> f64 {
        match self {
            Self::Uniform => 1.0 / 3.0_f64.sqrt(),
            Self::Exponential => 1.0,
            Self::Lognormal | Self::Pareto => 100.0,
            Self::Bimodal => ((1.0 - LARGE_SHARE) / LARGE_SHARE).sqrt(),
        }
    }
}

const LARGE_SHARE: f64 = 0.1;

impl fmt::Display for DistributionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(shape, _)| shape == self).map_or("", |(_, name)| name))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    pub shape: DistributionKind,
    pub mean: f64,
    pub cv: f64,
}

impl Distribution {
    /// Creates a distribution. `Err` states which values of `cv` are valid.
    pub fn new(shape: DistributionKind, mean: f64, cv: f64) -> Result<Self, String> {
        let most = shape.max_cv();
        if shape == DistributionKind::Exponential && cv != 1.0 {
            return Err("1, the value of every exponential distribution".to_owned());
        }
        if !(0.0..=most + 1e-12).contains(&cv) {
            let most = (most * 1e4).floor() / 1e4;
            return Err(format!(
                "a number from 0 to {most}: with more, sizes would be negative or meaningless"
            ));
        }
        Ok(Self { shape, mean, cv })
    }

    /// Returns the size below which a fraction `u` of all sizes lies.
    fn quantile(&self, u: f64) -> f64 {
        let Self { shape, mean, cv } = *self;
        if cv == 0.0 {
            return mean;
        }
        match shape {
            DistributionKind::Uniform => mean * (1.0 + cv * 3.0_f64.sqrt() * (2.0 * u - 1.0)),
            DistributionKind::Exponential => -mean * (1.0 - u).ln(),
            DistributionKind::Lognormal => {
                let variance = (1.0 + cv * cv).ln();
                (mean.ln() - variance / 2.0 + variance.sqrt() * normal_quantile(u)).exp()
            }
            DistributionKind::Pareto => {
                // By `cv^2 = 1 / (a (a - 2))`, the smallest size is `mean (a - 1) / a`.
                let a = 1.0 + (1.0 + 1.0 / (cv * cv)).sqrt();
                mean * (a - 1.0) / a * (1.0 - u).powf(-1.0 / a)
            }
            DistributionKind::Bimodal => {
                let p = LARGE_SHARE;
                if u < 1.0 - p {
                    mean * (1.0 - cv * (p / (1.0 - p)).sqrt())
                } else {
                    mean * (1.0 + cv * ((1.0 - p) / p).sqrt())
                }
            }
        }
    }

    fn size(&self, u: f64, element: u64) -> u64 {
        rounded(self.quantile(u), element)
    }
}

fn rounded(bytes: f64, element: u64) -> u64 {
    ((bytes / element as f64).round().max(0.0) as u64).saturating_mul(element)
}

/// A table of sizes, because the computation of a quantile takes long. The interval from 0 to 1 is
/// divided into equal parts, with one entry for each part. A quantile function never decreases, so
/// if both ends of a part give the same size, all numbers in the part do.
pub(super) struct SizeTable {
    law: Distribution,
    element: u64,
    /// For each part, the size that all its numbers give, or [`SizeTable::SEVERAL`] if they give
    /// several sizes.
    parts: Vec<u64>,
}

impl SizeTable {
    const SEVERAL: u64 = u64::MAX;
    /// A table with this number of parts takes 512 KiB, which fits in a cache.
    const MAX_PARTS: u64 = 1 << 16;
    /// With this number of draws for each part, the table takes little time compared to the draws.
    const DRAWS_PER_PART: u64 = 16;
    /// Rounding errors can make the computed quantile of a larger number smaller, so the sizes at
    /// the two ends of a part are moved apart by this fraction.
    const MARGIN: f64 = 1e-9;

    pub(super) fn new(law: Distribution, element: u64, draws: u64) -> Self {
        // The number of parts is a power of two, so that the part of a number is computed without
        // rounding.
        let parts = (draws / Self::DRAWS_PER_PART).clamp(1, Self::MAX_PARTS).next_power_of_two();
        let quantile = |part: u64| law.quantile(part as f64 / parts as f64);
        let mut low = quantile(0);
        let parts = (1..=parts).map(|part| {
            let (start, end) = (low, quantile(part));
            low = end;
            let first = rounded(start * (1.0 - Self::MARGIN), element);
            let last = rounded(end * (1.0 + Self::MARGIN), element);
            // With a very small cv, the quantiles of 0 and 1 are NaN, and `start <= end` is false.
            if start <= end && first == last { first } else { Self::SEVERAL }
        });
        Self { law, element, parts: parts.collect() }
    }

    pub(super) fn size(&self, u: f64) -> u64 {
        match self.parts[(u * self.parts.len() as f64) as usize] {
            Self::SEVERAL => self.law.size(u, self.element),
            size => size,
        }
    }
}

pub(super) fn normal_quantile(u: f64) -> f64 {
    Normal::standard().inverse_cdf(u)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::random::Stream;

    /// If most sizes are small, most parts must have a single size. A table for a single draw has
    /// one part, whose ends may be infinite or NaN.
    #[test]
    fn a_table_gives_the_sizes_of_the_quantiles() {
        let mut stream = Stream::new(5, 0);
        for (shape, cv) in [
            (DistributionKind::Uniform, 0.5),
            (DistributionKind::Uniform, 0.0),
            (DistributionKind::Exponential, 1.0),
            (DistributionKind::Lognormal, 1.0),
            (DistributionKind::Lognormal, 1e-9),
            (DistributionKind::Pareto, 2.0),
            (DistributionKind::Bimodal, 2.0),
        ] {
            for (mean, element, draws) in [(30.0, 1, 1 << 16), (3e6, 1, 1 << 10), (500.0, 64, 1)] {
                let law = Distribution::new(shape, mean, cv).unwrap();
                let table = SizeTable::new(law, element, draws);
                let several = table.parts.iter().filter(|size| **size == SizeTable::SEVERAL);
                assert!(mean > 30.0 || several.count() * 8 < table.parts.len(), "{shape}");
                let ends = [0.5, 0.25, 0.9, f64::EPSILON, 1.0 - f64::EPSILON];
                for u in ends.into_iter().chain((0..2000).map(|_| stream.fraction())) {
                    assert_eq!(table.size(u), law.size(u, element), "{shape} {mean} {u}");
                }
            }
        }
    }

    /// If cv is 2, four thousand drawn sizes have a cv of only about 1.1, so the quantiles are
    /// tested instead.
    #[test]
    fn a_power_law_has_the_requested_mean_and_variation() {
        for cv in [0.1, 0.4, 1.0, 2.0, 20.0] {
            let pareto = Distribution::new(DistributionKind::Pareto, 1000.0, cv).unwrap();
            let least = pareto.quantile(0.0);
            // For a power law, P(size > x) = (smallest / x)^a.
            let a = 0.5_f64.ln() / (least / pareto.quantile(0.5)).ln();
            assert!((least / pareto.quantile(0.999)).powf(a) / 0.001 - 1.0 < 1e-9);
            assert!((a * least / (a - 1.0) / 1000.0 - 1.0).abs() < 1e-9, "mean with cv {cv}");
            let variance = least * least * a / ((a - 1.0).powi(2) * (a - 2.0));
            assert!((variance.sqrt() / (1000.0 * cv) - 1.0).abs() < 1e-6, "cv {cv}: {variance}");
        }
    }

    #[test]
    fn variation_that_would_need_negative_sizes_is_refused() {
        let cv = |shape, cv| Distribution::new(shape, 10.0, cv).unwrap_err();
        assert_eq!(
            cv(DistributionKind::Uniform, 0.6),
            "a number from 0 to 0.5773: with more, sizes would be negative or meaningless"
        );
        assert_eq!(
            cv(DistributionKind::Bimodal, 3.1),
            "a number from 0 to 3: with more, sizes would be negative or meaningless"
        );
        assert_eq!(
            cv(DistributionKind::Exponential, 0.5),
            "1, the value of every exponential distribution"
        );
        assert!(cv(DistributionKind::Pareto, f64::NAN).starts_with("a number from 0"));
    }
}
