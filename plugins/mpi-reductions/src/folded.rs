//! Ranks beyond a power of two: r of them give what they have to a neighbour before the first step, and are given the result after the last. Of the first 2r
//! nodes the even ones do, so that the ranks that take part are the odd ones among these, and all others.

use swapmeet_sdk::{Blocks, Schedule, Stop};

/// The ranks that take part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folded {
    n: u64,
    ranks: u64,
}

impl Folded {
    pub(crate) fn of(n: u64) -> Self {
        Self { n, ranks: if n == 0 { 0 } else { 1 << n.ilog2() } }
    }

    /// How many there are, a power of two.
    pub(crate) fn ranks(self) -> u64 {
        self.ranks
    }

    /// Its logarithm.
    pub(crate) fn steps(self) -> u32 {
        self.ranks.trailing_zeros()
    }

    /// Whether all nodes are among them.
    pub(crate) fn is_whole(self) -> bool {
        self.n == self.ranks
    }

    /// The grid in which sets stay small: an axis a bit of the rank, the highest first, or a line where there are more nodes than ranks.
    pub(crate) fn radices(self) -> Vec<u64> {
        if self.is_whole() && self.n > 1 { vec![2; self.steps() as usize] } else { vec![self.n] }
    }

    /// The node of a rank.
    pub(crate) fn node(self, rank: u64) -> u64 {
        let beyond = self.n - self.ranks;
        if rank < beyond { 2 * rank + 1 } else { rank + beyond }
    }

    /// Those who don't take part give what they have.
    pub(crate) fn fold(self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        if self.is_whole() {
            return Ok(());
        }
        schedule.step()?;
        (0..self.n - self.ranks).try_for_each(|i| schedule.send(&Blocks::new(2 * i, 2 * i + 1).combine()))
    }

    /// They are given the result.
    pub(crate) fn unfold(self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        if self.is_whole() {
            return Ok(());
        }
        schedule.step()?;
        (0..self.n - self.ranks).try_for_each(|i| schedule.send(&Blocks::new(2 * i + 1, 2 * i).copy()))
    }
}
