//! Finds the sizes of a sparse matrix without a search.

/// An index of the sizes of a sparse matrix. It takes 12 bytes for each 64 pairs of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SparseIndex {
    /// The number of 64-bit words of `bits` for each row.
    words: usize,
    /// One bit for each pair: whether its size is not 0.
    bits: Vec<u64>,
    /// For each word of `bits`, the number of sizes in all words before it.
    before: Vec<u32>,
}

impl SparseIndex {
    pub(super) fn new(nodes: u64, first: &[usize], columns: &[u32]) -> Self {
        let words = nodes.div_ceil(64) as usize;
        let mut bits = vec![0; nodes as usize * words];
        for (row, ends) in bits.chunks_exact_mut(words).zip(first.windows(2)) {
            for column in &columns[ends[0]..ends[1]] {
                row[*column as usize / 64] |= 1 << (column % 64);
            }
        }
        let mut sizes = 0;
        let before = bits.iter().map(|word: &u64| {
            sizes += word.count_ones();
            sizes - word.count_ones()
        });
        let before = before.collect();
        Self { words, bits, before }
    }

    /// Returns the position of a size; `None` if it is 0.
    pub(super) fn position(&self, row: u64, column: u64) -> Option<usize> {
        let at = row as usize * self.words + column as usize / 64;
        let (word, bit) = (self.bits[at], 1 << (column % 64));
        let earlier = (word & (bit - 1)).count_ones();
        (word & bit != 0).then(|| (self.before[at] + earlier) as usize)
    }
}
