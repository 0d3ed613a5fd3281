//! Sizes that follow a Zipf distribution. Each sender gives its destinations random ranks. The
//! number of bytes for the destination with rank r is proportional to r^-exponent.

use super::matrix::Matrix;
use super::random::Stream;
use std::ops::Range;

/// The parameters of a Zipf distribution. Each sender sends in total `mean` times the number of
/// nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zipf {
    pub(super) mean: f64,
    pub(super) exponent: f64,
}

impl Zipf {
    pub(super) const NAME: &'static str = "zipf";

    /// Draws the sizes for all pairs of nodes. All sizes are multiples of `element`.
    pub(super) fn matrix(&self, nodes: u64, element: u64, seed: u64) -> Matrix {
        Matrix::new(nodes, self.rows(0..nodes, nodes, element, seed))
    }

    /// Draws the sizes of the blocks that the nodes in `rows` send, one node after another.
    pub(super) fn rows(&self, rows: Range<u64>, nodes: u64, element: u64, seed: u64) -> Vec<u64> {
        let weights: Vec<f64> =
            (1..=nodes).map(|rank| (rank as f64).powf(-self.exponent)).collect();
        let unit = self.mean * nodes as f64 / weights.iter().sum::<f64>() / element as f64;
        let sizes: Vec<u64> =
            weights.iter().map(|w| ((w * unit).round() as u64).saturating_mul(element)).collect();
        let ranks = rows.flat_map(|row| Stream::new(seed, row).shuffled(nodes));
        ranks.map(|rank| sizes[rank as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::delivery::collective::BlockSizes;

    #[test]
    fn sizes_are_proportional_to_ranks_and_senders_send_equal_amounts() {
        let matrix = Zipf { mean: 25.0 / 12.0 * 12.0, exponent: 1.0 }.matrix(4, 1, 3);
        for row in 0..4 {
            let mut sizes: Vec<u64> = (0..4).map(|to| matrix.bytes(row, to)).collect();
            sizes.sort_unstable();
            // 1 + 1/2 + 1/3 + 1/4 = 25/12. The row has 100 bytes, so the destination with rank 1
            // has 48 bytes.
            assert_eq!(sizes, [12, 16, 24, 48]);
        }
        let favourites = |seed: u64| {
            let matrix = Zipf { mean: 100.0, exponent: 1.0 }.matrix(64, 1, seed);
            (0..64)
                .map(|row| (0..64).max_by_key(|to| matrix.bytes(row, *to)).unwrap())
                .collect::<Vec<u64>>()
        };
        assert_ne!(favourites(1), favourites(2));
        assert_eq!(Zipf { mean: 8.0, exponent: 0.0 }.matrix(3, 1, 1), Matrix::new(3, vec![8; 9]));
    }
}
