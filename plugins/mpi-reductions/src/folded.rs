//! Ranks beyond a power of two: r of them give what they have to a neighbour before the first step,
//! and are given the result after the last. Of the first 2r nodes the even ones do, so that the
//! ranks that take part are the odd ones among these, and all others.

use swapmeet_sdk::{Axis, Blocks, Planned, Schedule, Stop, Symmetry};

/// Bits of a rank that an axis stands for: eight coordinates an axis, so that twenty bits are seven
/// axes of one word together.
const BITS: u32 = 3;

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

    /// The grid in which sets stay small: an axis for every three bits of the rank, the highest
    /// first, or a line where there are more nodes than ranks.
    pub(crate) fn radices(self) -> Vec<u64> {
        if !self.is_whole() {
            return vec![self.n];
        }
        let highest = self.steps() % BITS;
        let first = (highest > 0 || self.steps() == 0).then_some(1 << highest);
        first.into_iter().chain((0..self.steps() / BITS).map(|_| 1 << BITS)).collect()
    }

    /// For whom to plan, and what these are as ranks. Where all nodes take part, partners differ in
    /// one bit and sets in low bits that are known: (rank xor x) xor 2^i = (rank xor 2^i) xor x, on
    /// every axis. Where some fold into others, nothing is symmetric.
    pub(crate) fn planned(self, schedule: &mut Schedule<'_>) -> Result<Planned, Stop> {
        let symmetry = if self.is_whole() { Symmetry::xor(1) } else { Symmetry::NONE };
        schedule.symmetric(&vec![symmetry; self.radices().len()])
    }

    /// The rank of a node, if it takes part.
    pub(crate) fn rank(self, node: u64) -> Option<u64> {
        let beyond = self.n - self.ranks;
        match node.checked_sub(2 * beyond) {
            Some(rest) => Some(rest + beyond),
            None => (node % 2 == 1).then_some(node / 2),
        }
    }

    /// Where all nodes take part, those of the grid that agree with `rank` in its lowest `bits`
    /// bits: a subset for each axis.
    pub(crate) fn alike(self, rank: u64, bits: u32, axes: &mut Vec<Axis<'_>>) {
        axes.clear();
        axes.resize(self.steps().div_ceil(BITS).max(1) as usize, Axis::ALL);
        for (place, axis) in (0..).zip(axes.iter_mut().rev()) {
            let known = bits.saturating_sub(place * BITS).min(BITS);
            let width = (self.steps() - place * BITS).min(BITS);
            let (stride, c) = (1 << known, rank >> (place * BITS));
            *axis = Axis::stride(c % stride, stride, 1 << (width - known.min(width)));
        }
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
        (0..self.n - self.ranks)
            .try_for_each(|i| schedule.send(&Blocks::new(2 * i, 2 * i + 1).combine()))
    }

    /// They are given the result.
    pub(crate) fn unfold(self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        if self.is_whole() {
            return Ok(());
        }
        schedule.step()?;
        (0..self.n - self.ranks)
            .try_for_each(|i| schedule.send(&Blocks::new(2 * i + 1, 2 * i).copy()))
    }
}
