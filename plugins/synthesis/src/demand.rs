//! The demand: which blocks each node has for which other nodes.

use swapmeet_sdk::{Collective, Problem, Stop};

/// The largest number of pairs of nodes with data. A search with so many takes a minute and 3 GB.
pub(crate) const MAX_PAIRS: u64 = 10_000_000;

/// The data of each source. Blocks are divided into equal segments, which may take different paths.
pub(crate) struct Demand {
    pub sources: Vec<u32>,
    /// For each source, the receivers, each with the size of a segment. The size is in bytes, or 1
    /// if blocks are counted.
    pub rows: Vec<Vec<(u32, u32)>>,
    pub counts_blocks: bool,
    pub segments: u32,
    /// The amount that a link of the smallest bandwidth carries in a step, in the unit of `rows`.
    pub quota: u64,
}

impl Demand {
    /// Reads the demand. In a step, a link of the smallest bandwidth carries `group` blocks (or
    /// segments, if the user divides blocks). If sizes differ, it carries `group` times the mean
    /// size of the blocks with data, but at least two of the largest segments.
    pub(crate) fn read(
        problem: &Problem<'_>,
        group: u64,
        segments: Option<u32>,
    ) -> Result<Self, Stop> {
        let (nodes, root) = (problem.topology().nodes(), problem.root());
        let collective = problem.collective();
        let pairs = match collective {
            Collective::AllToAll => nodes.saturating_mul(nodes.saturating_sub(1)),
            _ => nodes,
        }
        .saturating_mul(segments.unwrap_or(1).into());
        if pairs > MAX_PAIRS {
            return Err(Stop::unsupported(format!(
                "{pairs} blocks or segments are too many to find a path for each, expected at most {MAX_PAIRS}: use fewer nodes or segments, or an algorithm with a rule, such as `pairwise` or `dim-rotation`"
            )));
        }
        let receivers = |from: u64| match collective {
            Collective::Scatter if from != root => 0..0,
            Collective::Gather => root..root + 1,
            Collective::Permutation => problem.destination(from)..problem.destination(from) + 1,
            _ => 0..nodes,
        };
        let uniform = problem.is_uniform();
        let (mut sources, mut blocks) = (Vec::new(), Vec::new());
        for from in 0..nodes {
            // A block without bytes must arrive too.
            let mut row: Vec<(u32, u64)> =
                receivers(from).map(|to| (to as u32, u64::from(uniform))).collect();
            if !uniform {
                for pair in problem.demand(from)? {
                    if let Ok(at) =
                        row.binary_search_by_key(&pair.destination, |(to, _)| (*to).into())
                    {
                        row[at].1 = pair.bytes;
                    }
                }
            }
            row.retain(|(to, _)| u64::from(*to) != from);
            if !row.is_empty() {
                sources.push(from as u32);
                blocks.push(row);
            }
        }
        let sizes = || blocks.iter().flatten().map(|(_, size)| *size).filter(|size| *size > 0);
        let total: u128 = sizes().map(u128::from).sum();
        let mean = total.div_ceil((sizes().count() as u128).max(1)).max(1) as u64;
        let segments =
            segments.unwrap_or_else(|| if uniform { 1 } else { segments_of(sizes, mean) });
        let of_segment = |size: u64| {
            let size = if uniform { size } else { size.div_ceil(segments.into()) };
            u32::try_from(size).map_err(|_| {
                Stop::unsupported("a block has 2^32 bytes or more: divide all sizes by a constant")
            })
        };
        let rows: Result<_, Stop> = blocks
            .iter()
            .map(|row| row.iter().map(|(to, size)| Ok((*to, of_segment(*size)?))).collect())
            .collect();
        let largest = sizes().max().unwrap_or(1).div_ceil(segments.into());
        let quota = if uniform { group } else { group.saturating_mul(mean).max(2 * largest) };
        Ok(Self { sources, rows: rows?, counts_blocks: uniform, segments, quota })
    }

    pub(crate) fn is_even(&self, nodes: usize) -> bool {
        self.counts_blocks && self.rows.iter().map(Vec::len).sum::<usize>() == nodes * (nodes - 1)
    }
}

/// Returns the number of segments of a block: the power of two up to 256 with the least estimated
/// loss. More segments fill steps better, but the size of each is rounded up to bytes. A segment of
/// the largest block has at least about a sixteenth of the mean block size.
fn segments_of<I: Iterator<Item = u64>>(sizes: impl Fn() -> I, mean: u64) -> u32 {
    let total = sizes().map(u128::from).sum::<u128>() as f64;
    let largest = sizes().max().unwrap_or(1);
    // The mean, over all bytes, of the size of the block to which the byte belongs.
    let of_byte = sizes().map(|size| size as f64 * size as f64).sum::<f64>() / total;
    let loss = |segments: u64| {
        let rounded = sizes().map(|size| u128::from(size.div_ceil(segments) * segments));
        let of_rounding = rounded.sum::<u128>() as f64 / total - 1.0;
        let of_steps = of_byte / (6 * segments * mean) as f64;
        of_rounding + of_steps
    };
    let most = (16 * largest).div_ceil(mean).clamp(1, 256).next_power_of_two();
    let candidates = (0..=most.ilog2()).map(|power| 1 << power);
    candidates.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(1) as u32
}
