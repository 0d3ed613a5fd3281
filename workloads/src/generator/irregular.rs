//! Random sizes from one of five distributions, or by the rank of the destination (Zipf).
//! Optionally, only a fraction of the pairs has data. A size is the quantile at a random number in
//! (0, 1) from ChaCha8, so that it is the same on every platform and with every version of the
//! libraries. Row r uses stream r, so that the first rows of a larger network are drawn from the
//! same numbers.

use super::distribution::{Distribution, DistributionKind, SizeTable};
use super::matrix::Matrix;
use super::node_sizes::{NodeSizes, SizedBy};
use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis};
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

    /// The sizes of nodes are those of row 0 of the matrix.
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
    /// Returns a function that draws the sizes of a row, in multiples of `element`. It is called
    /// for `rows` rows.
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

/// Keeps a random fraction (`density`) of the sizes, and sets all others to 0. The kept sizes do
/// not depend on `density`, because the random numbers for this choice come from other streams.
fn thin_row(sizes: &mut [u64], row: u64, density: f64, seed: u64) {
    const BEYOND: u64 = 1 << 32;
    let mut stream = Stream::new(seed, BEYOND + row);
    sizes.iter_mut().for_each(|size| *size = if stream.fraction() < density { *size } else { 0 });
}

/// Each sender puts its destinations in a random order, which gives them ranks. The bytes for rank
/// r are proportional to r^-exponent, and the sum is `mean` times the number of nodes.
#[derive(Debug, Clone, Copy)]
struct Zipf {
    mean: f64,
    exponent: f64,
}

impl Zipf {
    const NAME: &'static str = "zipf";

    /// Returns the size for each rank, in descending order, in multiples of `element`.
    fn sizes_by_rank(&self, nodes: u64, element: u64) -> Vec<u64> {
        let weights: Vec<f64> =
            (1..=nodes).map(|rank| (rank as f64).powf(-self.exponent)).collect();
        let unit = self.mean * nodes as f64 / weights.iter().sum::<f64>() / element as f64;
        weights.iter().map(|w| ((w * unit).round() as u64).saturating_mul(element)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Published results depend on these sizes.
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

    /// Of 40,000 pairs, about 4,000 keep their size (with a standard deviation of 60). The other
    /// sizes are 0.
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
            // 1 + 1/2 + 1/3 + 1/4 = 25/12, so rank 1 has 48 of 100 bytes.
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
}
