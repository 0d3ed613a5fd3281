//! The workload `birkhoff`: a random sparse matrix in which all rows and columns have the same sum.
//! By Birkhoff's theorem, it is drawn as a sum of weighted permutation matrices.

use super::distribution::normal_quantile;
use super::matrix::Matrix;
use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis};
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::spec::{SpecError, format_size};

pub(super) const BIRKHOFF: Generator = Generator {
    name: "birkhoff",
    syntax: "birkhoff:sparsity=S,spread=D,bytes=SIZE",
    help: "each node sends and receives SIZE bytes (1MiB); a fraction of S of the pairs (0.5) has no data; D (0) is the standard deviation of the logarithm of the weights of the permutations whose sum is the matrix",
    keys: &["sparsity", "spread", "bytes"],
    axes: &[(CurveAxis::BlockSize, "bytes")],
    sized_by_pair: true,
    sized_by_node: false,
    has_tokens: false,
    random: true,
    read,
};

const SPARSITY: f64 = 0.5;
const BYTES: u64 = 1 << 20;

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let (sparsity, spread, bytes) =
        (args.take("sparsity"), args.take("spread"), args.take("bytes"));
    Ok(Arc::new(Birkhoff {
        sparsity: sparsity.map_or(Ok(SPARSITY), |arg| args.number(arg, 0.0..=1.0))?,
        spread: spread.map_or(Ok(0.0), |arg| args.number(arg, 0.0..=10.0))?,
        bytes: bytes.map_or(Ok(BYTES), |arg| args.whole_elements(arg))?,
    }))
}

#[derive(Debug)]
struct Birkhoff {
    /// The fraction of pairs of different nodes without data.
    sparsity: f64,
    /// The standard deviation of the logarithm of the weights of permutations.
    spread: f64,
    /// The number of bytes that each node sends to all other nodes together.
    bytes: u64,
}

impl Pattern for Birkhoff {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        let mut arguments = Vec::new();
        if self.sparsity != SPARSITY {
            arguments.push(("sparsity", self.sparsity.to_string()));
        }
        if self.spread > 0.0 {
            arguments.push(("spread", self.spread.to_string()));
        }
        if self.bytes != BYTES {
            arguments.push(("bytes", format_size(self.bytes)));
        }
        arguments
    }

    fn sizes(&self, nodes: u64, element: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Matrix::check_nodes(nodes)?;
        let n = nodes as usize;
        let mut bytes = vec![0; n * n];
        // Draw permutations without fixed points, at least one, until enough pairs have data. Only
        // the weights are stored, because there can be more permutations than nodes.
        let pairs = nodes * nodes.saturating_sub(1);
        let wanted = ((1.0 - self.sparsity) * pairs as f64).round() as u64;
        let (mut weights, mut reached) = (Vec::new(), 0);
        let mut stream = Stream::new(seed, 0);
        while nodes > 1 && (weights.is_empty() || reached < wanted) {
            let to = derangement(&mut stream, nodes);
            for (row, to) in bytes.chunks_exact_mut(n).zip(&to) {
                reached += 1 - std::mem::replace(&mut row[*to as usize], 1);
            }
            weights.push((self.spread * normal_quantile(stream.fraction())).exp());
        }
        // Draw the same permutations again, and divide the bytes of a row in proportion to their
        // weights. The borders between shares are rounded, so that the shares add up to all bytes.
        bytes.fill(0);
        let all: f64 = weights.iter().sum();
        let elements = (self.bytes / element) as f64;
        let (mut sum, mut start) = (0.0, 0);
        stream = Stream::new(seed, 0);
        for (i, weight) in weights.iter().enumerate() {
            let to = derangement(&mut stream, nodes);
            stream.fraction();
            sum += weight;
            let share = if i + 1 == weights.len() { 1.0 } else { sum / all };
            let end = (share * elements).round() as u64;
            for (row, to) in bytes.chunks_exact_mut(n).zip(&to) {
                row[*to as usize] += (end - start) * element;
            }
            start = end;
        }
        Ok(Arc::new(Matrix::new(nodes, bytes)))
    }
}

/// Draws a permutation without fixed points. About one permutation in 2.7 (e) has none, and all of
/// these are equally likely.
fn derangement(stream: &mut Stream, nodes: u64) -> Vec<u64> {
    loop {
        let to = stream.shuffled(nodes);
        if (0..).zip(&to).all(|(from, to)| from != *to) {
            return to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_and_columns_have_the_same_sum() {
        for (n, sparsity, spread, bytes, element) in [
            (2, 0.0, 0.0, 8, 1),
            (9, 0.3, 1.5, 1000, 8),
            (40, 0.9, 0.5, 1 << 30, 4),
            (30, 1.0, 0.0, 7, 1),
        ] {
            let bytes = bytes / element * element;
            let birkhoff = Birkhoff { sparsity, spread, bytes };
            let sizes = birkhoff.sizes(n, element, 3).unwrap();
            let all: Vec<u64> = (0..n).collect();
            for node in 0..n {
                assert_eq!(sizes.total(&[node], &all), bytes, "row {node} of {n}");
                assert_eq!(sizes.total(&all, &[node]), bytes, "column {node} of {n}");
                assert_eq!(sizes.bytes(node, node), 0);
                assert!(all.iter().all(|to| sizes.bytes(node, *to).is_multiple_of(element)));
            }
        }
    }

    /// The last permutation may add more pairs with data than requested, but less than n more.
    #[test]
    fn sparsity_is_the_fraction_of_pairs_without_data() {
        for sparsity in [0.0, 0.25, 0.5, 0.9, 0.99] {
            let birkhoff = Birkhoff { sparsity, spread: 0.0, bytes: 1 << 30 };
            let sizes = birkhoff.sizes(50, 1, 8).unwrap();
            let pairs = sizes.max_traffic(50).pairs as f64;
            let wanted = (1.0 - sparsity) * 50.0 * 49.0;
            assert!(pairs >= wanted && pairs <= wanted + 50.0, "{sparsity}: {pairs}");
        }
    }

    #[test]
    fn spread_makes_shares_unequal() {
        let largest = |spread| {
            let birkhoff = Birkhoff { sparsity: 0.8, spread, bytes: 1 << 30 };
            birkhoff.sizes(50, 1, 8).unwrap().largest()
        };
        assert!(largest(0.0) < 1 << 29 && largest(3.0) > 2 * largest(0.0));
    }
}
