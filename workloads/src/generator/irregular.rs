//! Random sizes. There are two kinds. In the first kind, sizes are drawn from one of five
//! distributions with a given mean and a given coefficient of variation (standard deviation divided
//! by mean). In the second kind, sizes depend on the rank of the destination (Zipf distribution).
//! Optionally, only a fraction of all pairs has any bytes.
//!
//! Each size is computed from one random number in (0, 1), to which the quantile function of the
//! distribution is applied. The random numbers come from ChaCha8. Therefore, sizes are the same on
//! every platform and with every version of the libraries. Row r of the matrix uses stream r of
//! ChaCha8. If there are more nodes, the streams of existing rows therefore stay the same.

use super::matrix::Matrix;
use super::node_sizes::{NodeSizes, SizedBy};
use super::random::Stream;
use super::zipf::Zipf;
use super::{Generator, Pattern};
use crate::args::Args;
use crate::curve_axis::CurveAxis;
use statrs::distribution::{ContinuousCDF, Normal};
use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::spec::{Arg, SpecError, format_size, near_matches, parse_decimal};

pub(super) const IRREGULAR: Generator = Generator {
    name: "irregular",
    syntax: "irregular:dist=NAME,mean=SIZE,cv=X,exponent=S,density=D",
    help: "random sizes: uniform, exponential, lognormal, pareto, bimodal (one in ten is large) or zipf (each sender ranks its destinations at random, sizes are proportional to rank^-exponent); cv is standard deviation over mean (most samples of pareto with 1 or more vary less); a share of density (1) of all pairs has any bytes",
    keys: &["dist", "mean", "cv", "exponent", "density"],
    axes: &[(CurveAxis::BlockSize, "mean"), (CurveAxis::Variation, "cv")],
    sized_by_pair: true,
    sized_by_node: true,
    has_tokens: false,
    random: true,
    read,
};

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (dist, mean) = (args.require("dist")?, args.require("mean")?);
    let bytes = args.size(mean)? as f64;
    let is_zipf = dist.value() == Zipf::NAME;
    let others = args.take(if is_zipf { "cv" } else { "exponent" });
    let law = if is_zipf {
        let exponent = args.take("exponent");
        let exponent = exponent.map_or(Ok(1.0), |arg| args.number(arg, 0.0..=100.0))?;
        SizeLaw::ByRank(Zipf { mean: bytes, exponent })
    } else {
        SizeLaw::Independent(distribution(args, dist, bytes)?)
    };
    if let Some(other) = others {
        let has = if is_zipf {
            "an `exponent` instead of a `cv`"
        } else {
            "a `cv` instead of an `exponent`"
        };
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
    Ok(Arc::new(Irregular { law, density }))
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
    let number = parse_decimal(cv.value()).unwrap_or(f64::NAN);
    Distribution::new(shape, mean, number).map_err(|expected| args.spec.bad_value(cv, &expected))
}

/// The distribution of sizes, and the fraction of pairs that have any bytes.
#[derive(Debug)]
struct Irregular {
    law: SizeLaw,
    density: f64,
}

#[derive(Debug)]
enum SizeLaw {
    Independent(Distribution),
    ByRank(Zipf),
}

impl Pattern for Irregular {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        let mut arguments = match &self.law {
            SizeLaw::Independent(Distribution { shape, mean, cv }) => {
                let cv = (*shape != DistributionKind::Exponential).then(|| ("cv", cv.to_string()));
                [("dist", shape.to_string()), ("mean", format_size(*mean as u64))]
                    .into_iter()
                    .chain(cv)
                    .collect()
            }
            SizeLaw::ByRank(Zipf { mean, exponent }) => {
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
        if self.density == 1.0 {
            Matrix::check_nodes(nodes)?;
        }
        Ok(Arc::new(Matrix::from_rows(nodes, self.rows(nodes, nodes, element, seed))?))
    }

    /// Creates one size for each node. They are the sizes of row 0 of the matrix.
    fn sizes_of_nodes(
        &self,
        nodes: u64,
        element: u64,
        seed: u64,
    ) -> Result<Arc<dyn BlockSizes>, String> {
        let mut bytes = vec![0; nodes as usize];
        self.rows(nodes, 1, element, seed)(0, &mut bytes);
        Ok(Arc::new(NodeSizes { bytes, by: SizedBy::Origin }))
    }
}

impl Irregular {
    /// Returns a function that draws the sizes of the blocks that one node sends (a row of the
    /// matrix). All sizes are multiples of `element`. `rows` is the number of rows that the caller
    /// is going to draw.
    fn rows(&self, nodes: u64, rows: u64, element: u64, seed: u64) -> impl FnMut(u64, &mut [u64]) {
        let (table, sizes_by_rank) = match &self.law {
            SizeLaw::Independent(law) => {
                (Some(SizeTable::new(*law, element, nodes.saturating_mul(rows))), Vec::new())
            }
            SizeLaw::ByRank(zipf) => (None, zipf.sizes_by_rank(nodes, element)),
        };
        move |number, row| {
            let mut stream = Stream::new(seed, number);
            match &table {
                Some(table) => {
                    row.iter_mut().for_each(|size| *size = table.size(stream.fraction()));
                }
                None => {
                    let ranks = stream.shuffled(nodes);
                    let sizes = ranks.into_iter().map(|rank| sizes_by_rank[rank as usize]);
                    row.iter_mut().zip(sizes).for_each(|(size, drawn)| *size = drawn);
                }
            }
            if self.density < 1.0 {
                thin_row(row, number, self.density, seed);
            }
        }
    }
}

/// Keeps the sizes of a random fraction of the pairs in one row (`density`), and sets the other
/// sizes of this row to 0. The random numbers come from streams that are not used to draw sizes, so
/// that the kept sizes do not depend on the density.
fn thin_row(sizes: &mut [u64], row: u64, density: f64, seed: u64) {
    const BEYOND: u64 = 1 << 32;
    let mut stream = Stream::new(seed, BEYOND + row);
    sizes.iter_mut().for_each(|size| *size = if stream.fraction() < density { *size } else { 0 });
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistributionKind {
    /// Sizes are uniform in an interval. The coefficient of variation is at most 1/sqrt(3).
    Uniform,
    /// Sizes have an exponential distribution. The coefficient of variation is always 1.
    Exponential,
    /// Sizes have a log-normal distribution: the logarithm of a size has a normal distribution.
    Lognormal,
    /// Sizes follow a power law above a smallest size. If the coefficient of variation (cv) is
    /// about 1 or larger, very rare sizes determine most of the variance. Most samples contain none
    /// of these sizes, so the cv of a sample is smaller.
    Pareto,
    /// One tenth of the sizes is large, and all other sizes are small. The coefficient of variation
    /// is at most 3.
    Bimodal,
}

impl DistributionKind {
    /// All distributions with their names.
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

/// The fraction of large blocks in a bimodal workload.
const LARGE_SHARE: f64 = 0.1;

impl fmt::Display for DistributionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(shape, _)| shape == self).map_or("", |(_, name)| name))
    }
}

/// A distribution of sizes with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    pub shape: DistributionKind,
    /// The mean of the sizes in bytes.
    pub mean: f64,
    /// The coefficient of variation, which is the standard deviation divided by the mean.
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
            // The message states the largest valid cv. Round it down, so that the program accepts
            // the printed value.
            let most = (most * 1e4).floor() / 1e4;
            return Err(format!(
                "a number from 0 to {most}: with more, sizes would be negative or meaningless"
            ));
        }
        Ok(Self { shape, mean, cv })
    }

    /// Returns the quantile `u`: the size for which a fraction `u` of all sizes is smaller.
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
                // The exponent a of the power law follows from `cv^2 = 1 / (a (a - 2))`. The
                // smallest size is `mean (a - 1) / a`.
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

    /// Returns the quantile `u`, rounded to a multiple of `element`.
    fn size(&self, u: f64, element: u64) -> u64 {
        rounded(self.quantile(u), element)
    }
}

/// Rounds a size to a multiple of `element`.
fn rounded(bytes: f64, element: u64) -> u64 {
    ((bytes / element as f64).round().max(0.0) as u64).saturating_mul(element)
}

/// A table of sizes, because the computation of a quantile takes long. The interval from 0 to 1 is
/// divided into parts of equal length. A quantile function never decreases, so if both ends of a
/// part give the same size, every number in the part gives this size.
struct SizeTable {
    law: Distribution,
    element: u64,
    /// The size that all numbers of a part give; [`SizeTable::SEVERAL`] if they give several sizes.
    parts: Vec<u64>,
}

impl SizeTable {
    const SEVERAL: u64 = u64::MAX;
    /// The maximum number of parts. So many parts take 512 KiB, which fits in a cache.
    const MAX_PARTS: u64 = 1 << 16;
    /// The number of draws for each part. The creation of the table then takes a small part of the
    /// time of the draws.
    const DRAWS_PER_PART: u64 = 16;
    /// The fraction by which the sizes at the two ends of a part are moved apart. Because of
    /// rounding errors, the computed quantile of a larger number can be slightly smaller. This
    /// margin is larger than these errors.
    const MARGIN: f64 = 1e-9;

    /// Creates the table for a number of draws.
    fn new(law: Distribution, element: u64, draws: u64) -> Self {
        // The number of parts is a power of two, so that the position of a number is exact.
        let parts = (draws / Self::DRAWS_PER_PART).clamp(1, Self::MAX_PARTS).next_power_of_two();
        let quantile = |part: u64| law.quantile(part as f64 / parts as f64);
        let mut low = quantile(0);
        let parts = (1..=parts).map(|part| {
            let (start, end) = (low, quantile(part));
            low = end;
            let first = rounded(start * (1.0 - Self::MARGIN), element);
            let last = rounded(end * (1.0 + Self::MARGIN), element);
            // With a very small cv, the quantiles of 0 and 1 are NaN. The comparison is then false.
            if start <= end && first == last { first } else { Self::SEVERAL }
        });
        Self { law, element, parts: parts.collect() }
    }

    /// Returns the same size as [`Distribution::size`].
    fn size(&self, u: f64) -> u64 {
        match self.parts[(u * self.parts.len() as f64) as usize] {
            Self::SEVERAL => self.law.size(u, self.element),
            size => size,
        }
    }
}

/// Returns the quantile of the standard normal distribution.
pub(super) fn normal_quantile(u: f64) -> f64 {
    Normal::standard().inverse_cdf(u)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the sizes for all pairs of nodes.
    fn matrix(law: SizeLaw, density: f64, (nodes, element, seed): (u64, u64, u64)) -> Matrix {
        let irregular = Irregular { law, density };
        Matrix::from_rows(nodes, irregular.rows(nodes, nodes, element, seed)).unwrap()
    }

    #[test]
    fn samples_have_the_requested_mean_and_variation() {
        for (shape, cv) in [
            (DistributionKind::Uniform, 0.3),
            (DistributionKind::Exponential, 1.0),
            (DistributionKind::Lognormal, 0.8),
            (DistributionKind::Pareto, 0.4),
            (DistributionKind::Bimodal, 2.0),
        ] {
            let law = SizeLaw::Independent(Distribution::new(shape, 100_000.0, cv).unwrap());
            let matrix = matrix(law, 1.0, (300, 1, 7));
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

    /// Compares the table with the quantiles themselves. If most sizes are small, most of them come
    /// from the table. The table for a single draw has one part, whose ends may be infinite or NaN.
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

    /// The test uses quantiles instead of a sample. A sample is not suitable: for a cv of 2, a
    /// sample of four thousand sizes usually has a cv of about 1.1.
    #[test]
    fn a_power_law_has_the_requested_mean_and_variation() {
        for cv in [0.1, 0.4, 1.0, 2.0, 20.0] {
            let pareto = Distribution::new(DistributionKind::Pareto, 1000.0, cv).unwrap();
            let least = pareto.quantile(0.0);
            // P(size > x) = (smallest / x)^a
            let a = 0.5_f64.ln() / (least / pareto.quantile(0.5)).ln();
            assert!((least / pareto.quantile(0.999)).powf(a) / 0.001 - 1.0 < 1e-9);
            assert!((a * least / (a - 1.0) / 1000.0 - 1.0).abs() < 1e-9, "mean with cv {cv}");
            let variance = least * least * a / ((a - 1.0).powi(2) * (a - 2.0));
            assert!((variance.sqrt() / (1000.0 * cv) - 1.0).abs() < 1e-6, "cv {cv}: {variance}");
        }
    }

    /// Published results depend on these sizes. The expected values must never change.
    #[test]
    fn sizes_are_pinned() {
        let sizes = |shape, cv, element| {
            let law = SizeLaw::Independent(Distribution::new(shape, 1000.0, cv).unwrap());
            let matrix = matrix(law, 1.0, (2, element, 42));
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

    /// The expected number of kept sizes is a tenth of 40,000, with a standard deviation of 60. The
    /// kept sizes must be equal to those of the dense matrix.
    #[test]
    fn a_sparse_matrix_keeps_a_share_of_the_sizes() {
        let [dense, sparse] = [1.0, 0.1].map(|density| {
            let law = Distribution::new(DistributionKind::Lognormal, 1e6, 0.5).unwrap();
            matrix(SizeLaw::Independent(law), density, (200, 1, 7))
        });
        let pairs = || (0..200).flat_map(|o| (0..200).map(move |d| (o, d)));
        let left = pairs().filter(|(o, d)| sparse.bytes(*o, *d) > 0).count();
        assert!((3700..4300).contains(&left), "{left}");
        assert!(pairs().all(|(o, d)| [0, dense.bytes(o, d)].contains(&sparse.bytes(o, d))));
    }

    #[test]
    fn sizes_by_rank_are_proportional_and_senders_send_equal_amounts() {
        let by_rank = |mean, exponent, nodes, seed| {
            matrix(SizeLaw::ByRank(Zipf { mean, exponent }), 1.0, (nodes, 1, seed))
        };
        for row in 0..4 {
            let sizes = by_rank(25.0, 1.0, 4, 3);
            let mut sizes: Vec<u64> = (0..4).map(|to| sizes.bytes(row, to)).collect();
            sizes.sort_unstable();
            // 1 + 1/2 + 1/3 + 1/4 = 25/12. The row has 100 bytes, so the destination with rank 1
            // has 48 bytes.
            assert_eq!(sizes, [12, 16, 24, 48]);
        }
        let favourites = |seed: u64| {
            let matrix = by_rank(100.0, 1.0, 64, seed);
            (0..64)
                .map(|row| (0..64).max_by_key(|to| matrix.bytes(row, *to)).unwrap())
                .collect::<Vec<u64>>()
        };
        assert_ne!(favourites(1), favourites(2));
        assert_eq!(by_rank(8.0, 0.0, 3, 1), Matrix::new(3, vec![8; 9]));
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
