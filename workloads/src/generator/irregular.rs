//! Random sizes with a mean and a coefficient of variation (standard deviation over mean), from one
//! of five distributions; or by rank, after Zipf; and of all pairs only some.
//!
//! Every size takes one number in (0, 1) from ChaCha8, put through the distribution's inverse: so
//! sizes are the same on every platform and whatever the version of any library of distributions.
//! Row r is stream r of the generator; adding nodes changes no other row's stream.

use super::matrix::Matrix;
use super::nodes::{By, NodeSizes};
use super::random::Stream;
use super::zipf::Zipf;
use super::{Generator, Pattern};
use crate::args::Args;
use crate::axis::CurveAxis;
use statrs::distribution::{ContinuousCDF, Normal};
use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::spec::{Arg, SpecError, format_size, near_matches};

pub(super) const IRREGULAR: Generator = Generator {
    name: "irregular",
    syntax: "irregular:dist=NAME,mean=SIZE,cv=X,exponent=S,density=D",
    help: "every size at random: uniform, exponential, lognormal, pareto or bimodal (one in ten large); cv is standard deviation over mean; pareto with 1 or more mostly draws less, its tail being seldom drawn; zipf ranks each sender's destinations at random, sizes fall as rank^-exponent (1); of all pairs a share of density (1) has anything",
    keys: &["dist", "mean", "cv", "exponent", "density"],
    axes: &[(CurveAxis::BlockSize, "mean"), (CurveAxis::Variation, "cv")],
    sized_by_pair: true,
    sized_by_node: true,
    random: true,
    read,
};

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (dist, mean) = (args.require("dist")?, args.require("mean")?);
    let bytes = args.size(mean)? as f64;
    let by_rank = dist.value() == Zipf::NAME;
    let others = args.take(if by_rank { "cv" } else { "exponent" });
    let drawn = if by_rank {
        let exponent = args.take("exponent");
        let exponent = exponent.map_or(Ok(1.0), |arg| args.number(arg, 0.0..=100.0))?;
        Drawn::ByRank(Zipf { mean: bytes, exponent })
    } else {
        Drawn::OneByOne(distribution(args, dist, bytes)?)
    };
    if let Some(other) = others {
        let has = if by_rank { "an `exponent`, no `cv`" } else { "a `cv`, no `exponent`" };
        return Err(args.spec.error(
            other.at(),
            other.len(),
            &format!("sizes of dist={} have {has}", dist.value()),
        ));
    }
    let density = match args.take("density") {
        None => 1.0,
        Some(arg) => args.number(arg, 0.0..=1.0)?,
    };
    Ok(Arc::new(Irregular { drawn, density }))
}

fn distribution(args: &mut Args<'_>, dist: &Arg, mean: f64) -> Result<Distribution, SpecError> {
    let shape = DistributionKind::ALL
        .iter()
        .find(|(_, name)| *name == dist.value())
        .map(|(shape, _)| *shape);
    let shape = shape.ok_or_else(|| {
        let names = || DistributionKind::ALL.iter().map(|(_, name)| *name).chain([Zipf::NAME]);
        let expected = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        SpecError {
            near: near_matches(dist.value(), names()),
            ..args.spec.bad_value(dist, &expected)
        }
    })?;
    let cv = match (args.take("cv"), shape) {
        (Some(cv), _) => cv,
        (None, DistributionKind::Exponential) => return Ok(Distribution { shape, mean, cv: 1.0 }),
        (
            None,
            DistributionKind::Uniform
            | DistributionKind::Lognormal
            | DistributionKind::Pareto
            | DistributionKind::Bimodal,
        ) => {
            return Err(args.missing("cv"));
        }
    };
    let number = cv.value().parse::<f64>().unwrap_or(f64::NAN);
    Distribution::new(shape, mean, number).map_err(|expected| args.spec.bad_value(cv, &expected))
}

/// Sizes, and which share of pairs has any.
#[derive(Debug)]
struct Irregular {
    drawn: Drawn,
    density: f64,
}

#[derive(Debug)]
enum Drawn {
    OneByOne(Distribution),
    ByRank(Zipf),
}

impl Pattern for Irregular {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        let mut arguments = match &self.drawn {
            Drawn::OneByOne(Distribution { shape, mean, cv }) => {
                let cv = (*shape != DistributionKind::Exponential).then(|| ("cv", cv.to_string()));
                [("dist", shape.to_string()), ("mean", format_size(*mean as u64))]
                    .into_iter()
                    .chain(cv)
                    .collect()
            }
            Drawn::ByRank(Zipf { mean, exponent }) => {
                let exponent = (*exponent != 1.0).then(|| ("exponent", exponent.to_string()));
                let first = [("dist", Zipf::NAME.to_owned()), ("mean", format_size(*mean as u64))];
                first.into_iter().chain(exponent).collect::<Vec<_>>()
            }
        };
        if self.density != 1.0 {
            arguments.push(("density", self.density.to_string()));
        }
        arguments
    }

    fn sizes(&self, nodes: u64, element: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Matrix::affordable(nodes)?;
        let matrix = match &self.drawn {
            Drawn::OneByOne(distribution) => distribution.matrix(nodes, element, seed),
            Drawn::ByRank(zipf) => zipf.matrix(nodes, element, seed),
        };
        Ok(Arc::new(if self.density < 1.0 { thinned(matrix, self.density, seed) } else { matrix }))
    }

    /// As what the matrix has for node 0 to send: a draw for each node.
    fn sizes_of_nodes(
        &self,
        nodes: u64,
        element: u64,
        seed: u64,
    ) -> Result<Arc<dyn BlockSizes>, String> {
        let mut of = match &self.drawn {
            Drawn::OneByOne(distribution) => distribution.row(0, nodes, element, seed),
            Drawn::ByRank(zipf) => zipf.rows(0..1, nodes, element, seed),
        };
        if self.density < 1.0 {
            thin(&mut of, 0, self.density, seed);
        }
        Ok(Arc::new(NodeSizes { of, by: By::Origin }))
    }
}

/// The same sizes for a share of pairs, drawn one by one, and nothing for the others. Draws are
/// from streams beyond those of sizes, so that what is left is as large as it was.
fn thinned(mut matrix: Matrix, density: f64, seed: u64) -> Matrix {
    (0..).zip(matrix.rows_mut()).for_each(|(row, sizes)| thin(sizes, row, density, seed));
    matrix
}

/// A row of them.
fn thin(sizes: &mut [u64], row: u64, density: f64, seed: u64) {
    const BEYOND: u64 = 1 << 32;
    let mut stream = Stream::new(seed, BEYOND + row);
    sizes.iter_mut().for_each(|size| *size = if stream.fraction() < density { *size } else { 0 });
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistributionKind {
    /// Evenly between two ends; cv up to 1/sqrt(3).
    Uniform,
    /// Exponential; cv is 1.
    Exponential,
    /// The logarithm is normal.
    Lognormal,
    /// A power law from a smallest size on. From a cv of about 1 on, the variance rests on sizes so
    /// rare that most samples have none of them, and less spread.
    Pareto,
    /// One in ten is large, the others are small; cv up to 3.
    Bimodal,
}

impl DistributionKind {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Uniform, "uniform"),
        (Self::Exponential, "exponential"),
        (Self::Lognormal, "lognormal"),
        (Self::Pareto, "pareto"),
        (Self::Bimodal, "bimodal"),
    ];

    /// The largest cv with which no size is negative.
    fn most_cv(self) -> f64 {
        match self {
            Self::Uniform => 1.0 / 3.0_f64.sqrt(),
            Self::Exponential => 1.0,
            Self::Lognormal | Self::Pareto => 100.0,
            Self::Bimodal => ((1.0 - LARGE_SHARE) / LARGE_SHARE).sqrt(),
        }
    }
}

/// Which share of a bimodal workload's blocks is large.
const LARGE_SHARE: f64 = 0.1;

impl fmt::Display for DistributionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(shape, _)| shape == self).map_or("", |(_, name)| name))
    }
}

/// A distribution with its two figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    pub shape: DistributionKind,
    /// Mean size in bytes.
    pub mean: f64,
    /// Standard deviation over mean.
    pub cv: f64,
}

impl Distribution {
    /// Checks that there is such a distribution. `Err` says what was expected of `cv`.
    pub fn new(shape: DistributionKind, mean: f64, cv: f64) -> Result<Self, String> {
        let most = shape.most_cv();
        if shape == DistributionKind::Exponential && cv != 1.0 {
            return Err("1, which an exponential distribution has by nature".to_owned());
        }
        if !(0.0..=most + 1e-12).contains(&cv) {
            // Rounded down: what is said to be the most must be taken.
            let most = (most * 1e4).floor() / 1e4;
            return Err(format!(
                "a number from 0 to {most}: with more, sizes would be negative (or mean nothing)"
            ));
        }
        Ok(Self { shape, mean, cv })
    }

    /// The size below which a share `u` of all sizes is.
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
                // cv^2 = 1 / (a (a - 2)); the smallest size is mean (a - 1) / a
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

    /// Sizes among so many nodes, in multiples of `element`.
    pub fn matrix(&self, nodes: u64, element: u64, seed: u64) -> Matrix {
        Matrix::new(nodes, (0..nodes).flat_map(|row| self.row(row, nodes, element, seed)).collect())
    }

    /// What one node has for each.
    fn row(&self, row: u64, nodes: u64, element: u64, seed: u64) -> Vec<u64> {
        let mut stream = Stream::new(seed, row);
        let mut size = || {
            let elements = (self.quantile(stream.fraction()) / element as f64).round().max(0.0);
            (elements as u64).saturating_mul(element)
        };
        (0..nodes).map(|_| size()).collect()
    }
}

/// The standard normal's quantile.
pub(super) fn normal_quantile(u: f64) -> f64 {
    Normal::standard().inverse_cdf(u)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_mean_and_variation_asked_for() {
        for (shape, cv) in [
            (DistributionKind::Uniform, 0.3),
            (DistributionKind::Exponential, 1.0),
            (DistributionKind::Lognormal, 0.8),
            (DistributionKind::Pareto, 0.4),
            (DistributionKind::Bimodal, 2.0),
        ] {
            let matrix = Distribution::new(shape, 100_000.0, cv).unwrap().matrix(300, 1, 7);
            let n = 90_000.0;
            let all: Vec<u64> = (0..300).collect();
            let mean = matrix.total(&all, &all) as f64 / n;
            let squares: f64 = all
                .iter()
                .flat_map(|o| all.iter().map(move |d| (o, d)))
                .map(|(o, d)| (matrix.bytes(*o, *d) as f64 - mean).powi(2))
                .sum();
            let found = (squares / n).sqrt() / mean;
            assert!((mean / 100_000.0 - 1.0).abs() < 0.02, "{shape}: mean {mean}");
            assert!((found / cv - 1.0).abs() < 0.1, "{shape}: cv {found}");
        }
    }

    /// What a sample can't show: asked for a cv of 2, four thousand sizes mostly have one of about
    /// 1.1. So it is read off the quantiles.
    #[test]
    fn a_power_law_has_the_mean_and_variation_asked_for() {
        for cv in [0.1, 0.4, 1.0, 2.0, 20.0] {
            let pareto = Distribution::new(DistributionKind::Pareto, 1000.0, cv).unwrap();
            let least = pareto.quantile(0.0);
            // P(size > x) = (least / x)^a
            let a = 0.5_f64.ln() / (least / pareto.quantile(0.5)).ln();
            assert!((least / pareto.quantile(0.999)).powf(a) / 0.001 - 1.0 < 1e-9);
            assert!((a * least / (a - 1.0) / 1000.0 - 1.0).abs() < 1e-9, "mean with cv {cv}");
            let variance = least * least * a / ((a - 1.0).powi(2) * (a - 2.0));
            assert!((variance.sqrt() / (1000.0 * cv) - 1.0).abs() < 1e-6, "cv {cv}: {variance}");
        }
    }

    /// Rows of results depend on these: they must never change.
    #[test]
    fn sizes_are_pinned() {
        let sizes = |shape, cv, element| {
            let matrix = Distribution::new(shape, 1000.0, cv).unwrap().matrix(2, element, 42);
            [matrix.bytes(0, 0), matrix.bytes(0, 1), matrix.bytes(1, 0), matrix.bytes(1, 1)]
        };
        assert_eq!(
            [
                sizes(DistributionKind::Uniform, 0.5, 1),
                sizes(DistributionKind::Exponential, 1.0, 1),
                sizes(DistributionKind::Lognormal, 2.0, 1),
                sizes(DistributionKind::Pareto, 2.0, 1),
                sizes(DistributionKind::Bimodal, 2.0, 8),
            ],
            PINNED
        );
    }

    const PINNED: [[u64; 4]; 5] = [
        [1315, 1780, 1375, 423],
        [1145, 3001, 1262, 183],
        [815, 3616, 926, 131],
        [907, 2177, 958, 575],
        [336, 7000, 336, 336],
    ];

    /// Of 40,000 pairs a tenth: 4,000, with a standard deviation of 60. What is left is as large as
    /// in the dense matrix.
    #[test]
    fn of_a_sparse_matrix_a_share_of_the_sizes_is_left() {
        let dense =
            Distribution::new(DistributionKind::Lognormal, 1e6, 0.5).unwrap().matrix(200, 1, 7);
        let sparse = thinned(dense.clone(), 0.1, 7);
        let pairs = || (0..200).flat_map(|o| (0..200).map(move |d| (o, d)));
        let left = pairs().filter(|(o, d)| sparse.bytes(*o, *d) > 0).count();
        assert!((3700..4300).contains(&left), "{left}");
        assert!(pairs().all(|(o, d)| [0, dense.bytes(o, d)].contains(&sparse.bytes(o, d))));
    }

    #[test]
    fn variation_that_would_need_negative_sizes_is_refused() {
        let cv = |shape, cv| Distribution::new(shape, 10.0, cv).unwrap_err();
        assert_eq!(
            cv(DistributionKind::Uniform, 0.6),
            "a number from 0 to 0.5773: with more, sizes would be negative (or mean nothing)"
        );
        assert_eq!(
            cv(DistributionKind::Bimodal, 3.1),
            "a number from 0 to 3: with more, sizes would be negative (or mean nothing)"
        );
        assert_eq!(
            cv(DistributionKind::Exponential, 0.5),
            "1, which an exponential distribution has by nature"
        );
        assert!(cv(DistributionKind::Pareto, f64::NAN).starts_with("a number from 0"));
    }
}
