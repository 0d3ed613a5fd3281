//! `pat-allgather` and `pat-reduce-scatter`: parallel aggregated trees, as in NCCL
//! (`src/include/collectives.h`, commit 5067397) and in S. Jeaugey, *PAT: a new algorithm for
//! all-gather and reduce-scatter operations at scale*, arXiv 2506.20252 (2025).
//!
//! Let P be the number of ranks p, rounded up to a power of two, and A the largest number of blocks
//! in a message, a power of two. The allgather takes `(log2 A + P/A - 1) alpha + (p - 1) m beta`,
//! the reduce-scatter `(log2 A + P/A - 1) alpha + (p - 1)/p m beta + (p - 1)/p m gamma`, where m is
//! the size of all results.
//!
//! In the allgather, each block spreads along its own binomial tree. The rank at position i of this
//! tree is the i-th rank before the origin of the block. It receives the block over a distance
//! equal to the lowest set bit of i (4 for i = 12). Messages over long distances are sent first,
//! while ranks have few blocks. The steps are those in which positions receive a block:
//!
//! 1. In the logarithmic steps, the distance is halved from P/2 down to P/A. The positions are the
//!    odd multiples of the distance. Then all multiples of P/A have the block.
//! 2. In the linear steps, each multiple of P/A is the root of a subtree of P/A positions. All
//!    subtrees grow by one position in each step, in depth-first order, so that a rank keeps at
//!    most A log2(P/A) blocks of other ranks that it has not yet sent on.
//!
//! The reduce-scatter reduces along the same trees in reverse: first the linear steps, from the
//! last position of a subtree to the first, and then the logarithmic steps with doubled distances.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Set, Stop, Symmetry,
};

pub struct Pat {
    about: About,
}

const AGGREGATION: ParamInfo = ParamInfo::number(
    "aggregation",
    "",
    "A, the most blocks that a rank sends in a step, a power of two [default: half of the ranks; NCCL uses fewer if blocks are large]",
);

const PAPER: About = About {
    paper: "S. Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale (arXiv 2506.20252)",
    params: &[AGGREGATION],
    ..ANYWHERE
};

pub const ALL_GATHER: Pat = Pat {
    about: About {
        name: "pat-allgather",
        title: "Allgather on parallel aggregated trees (NCCL)",
        collectives: &[Collective::AllGather],
        ..PAPER
    },
};

pub const REDUCE_SCATTER: Pat = Pat {
    about: About {
        name: "pat-reduce-scatter",
        title: "Reduce-scatter on parallel aggregated trees (NCCL)",
        collectives: &[Collective::ReduceScatter],
        ..PAPER
    },
};

/// The positions `first`, `first + stride`, etc. that are less than the number of ranks.
struct Positions {
    first: u64,
    stride: u64,
}

impl Positions {
    fn distance(&self) -> u64 {
        1 << self.first.trailing_zeros()
    }

    fn count(&self, n: u64) -> u64 {
        n.saturating_sub(self.first).div_ceil(self.stride)
    }
}

/// Appends all other positions of the subtree of `size` positions (a power of two) below `root`.
/// They are in depth-first order, with the farthest child of each position first.
fn depth_first(root: u64, size: u64, order: &mut Vec<u64>) {
    let mut child = size / 2;
    while child > 0 {
        order.push(root + child);
        depth_first(root + child, child, order);
        child /= 2;
    }
}

fn steps(collective: Collective, n: u64, aggregation: u64) -> Vec<Positions> {
    let aggregation = aggregation.min((n / 2).max(1).next_power_of_two());
    let whole = n.next_power_of_two();
    let stride = whole / aggregation;
    let distances =
        std::iter::successors(Some(whole / 2), |d| Some(d / 2)).take_while(|d| *d >= stride);
    let logarithmic = distances.map(|first| Positions { first, stride: 2 * first });
    let linear = |first| Positions { first, stride };
    let mut steps: Vec<Positions> = if collective == Collective::AllGather {
        let mut order = Vec::new();
        depth_first(0, stride, &mut order);
        logarithmic.chain(order.into_iter().map(linear)).collect()
    } else {
        let mut steps: Vec<Positions> = logarithmic.chain((1..stride).map(linear)).collect();
        steps.reverse();
        steps
    };
    steps.retain(|positions| positions.first < n);
    steps
}

impl Algorithm for Pat {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, collective) = (problem.topology().nodes(), problem.collective());
        let steps = steps(collective, n, aggregation(problem)?);
        schedule.layout(&[n], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        for positions in &steps {
            let (distance, count) = (positions.distance(), positions.count(n));
            schedule.step()?;
            for rank in &planned {
                if collective == Collective::AllGather {
                    let first = (rank + positions.first - distance) % n;
                    let origins = [Axis::stride(first, positions.stride, count)];
                    let send = Blocks::new(rank, (rank + n - distance) % n).copy().strict();
                    schedule.send(&send.origins(Set::product(&origins)))?;
                } else {
                    let first = (rank + positions.first) % n;
                    let parts = [Axis::stride(first, positions.stride, count)];
                    let send = Blocks::new(rank, (rank + distance) % n).strict().combine();
                    schedule.send(&send.destinations(Set::product(&parts)))?;
                }
            }
        }
        Ok(())
    }
}

fn aggregation(problem: &Problem<'_>) -> Result<u64, Stop> {
    let given: Option<u64> = problem.given("aggregation")?;
    match given {
        Some(blocks) if !blocks.is_power_of_two() => {
            Err(Stop::failed(format!("`aggregation={blocks}`: expected a power of two")))
        }
        blocks => Ok(blocks.unwrap_or(u64::MAX)),
    }
}
