//! Sizes that follow a Zipf distribution. Each sender gives its destinations random ranks. The
//! number of bytes for the destination with rank r is proportional to r^-exponent.

/// The parameters of a Zipf distribution. Each sender sends in total `mean` times the number of
/// nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zipf {
    pub(super) mean: f64,
    pub(super) exponent: f64,
}

impl Zipf {
    pub(super) const NAME: &'static str = "zipf";

    /// Returns the size of the block for each rank of Zipf's law, in descending order. All sizes
    /// are multiples of `element`.
    pub(super) fn sizes_by_rank(&self, nodes: u64, element: u64) -> Vec<u64> {
        let weights: Vec<f64> =
            (1..=nodes).map(|rank| (rank as f64).powf(-self.exponent)).collect();
        let unit = self.mean * nodes as f64 / weights.iter().sum::<f64>() / element as f64;
        weights.iter().map(|w| ((w * unit).round() as u64).saturating_mul(element)).collect()
    }
}
