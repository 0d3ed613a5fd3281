//! Reduction of the number of participating nodes from p to a power of two, 2^k. There are e = p -
//! 2^k excess nodes. Before the first step, the nodes 0, 2, etc. to 2e - 2 send their data to the
//! next node, and after the last step they receive the result from it. All other nodes participate,
//! and have the ranks 0 to 2^k - 1.

use swapmeet_sdk::{Axis, Blocks, Planned, Schedule, Stop, Symmetry};

/// The number of bits of a rank on one axis. Seven axes have twenty bits, and their 56 coordinates
/// fit into a word.
const BITS: u32 = 3;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Participants {
    n: u64,
    ranks: u64,
}

impl Participants {
    pub(crate) fn new(n: u64) -> Self {
        Self { n, ranks: if n == 0 { 0 } else { 1 << n.ilog2() } }
    }

    pub(crate) fn ranks(self) -> u64 {
        self.ranks
    }

    pub(crate) fn steps(self) -> u32 {
        self.ranks.trailing_zeros()
    }

    pub(crate) fn is_whole(self) -> bool {
        self.n == self.ranks
    }

    /// Returns the radices of the grid. If all nodes participate, the grid has one axis for every
    /// three bits of the rank. The ranks that agree in some bits then have few coordinates on each
    /// axis. Otherwise, the grid has one axis.
    pub(crate) fn radices(self) -> Vec<u64> {
        if !self.is_whole() {
            return vec![self.n];
        }
        let highest = self.steps() % BITS;
        let first = (highest > 0 || self.steps() == 0).then_some(1 << highest);
        first.into_iter().chain((0..self.steps() / BITS).map(|_| 1 << BITS)).collect()
    }

    /// Declares the symmetry and returns the nodes to plan. If all nodes participate, exclusive-or
    /// with any x is a symmetry, for two reasons. Partners differ in one bit, and `(rank xor x) xor
    /// 2^i = (rank xor 2^i) xor x`. If ranks agree in low bits ([`Self::agreeing_nodes`]), so do
    /// their images.
    pub(crate) fn planned(self, schedule: &mut Schedule<'_>) -> Result<Planned, Stop> {
        let symmetry = if self.is_whole() { Symmetry::xor(1) } else { Symmetry::NONE };
        schedule.symmetric(&vec![symmetry; self.radices().len()])
    }

    pub(crate) fn rank(self, node: u64) -> Option<u64> {
        let excess = self.n - self.ranks;
        match node.checked_sub(2 * excess) {
            Some(rest) => Some(rest + excess),
            None => (node % 2 == 1).then_some(node / 2),
        }
    }

    /// Sets `axes` to the nodes whose numbers agree with `rank` in the lowest `bits` bits.
    pub(crate) fn agreeing_nodes(self, rank: u64, bits: u32, axes: &mut Vec<Axis<'_>>) {
        axes.clear();
        axes.resize(self.steps().div_ceil(BITS).max(1) as usize, Axis::ALL);
        for (place, axis) in (0..).zip(axes.iter_mut().rev()) {
            let known = bits.saturating_sub(place * BITS).min(BITS);
            let width = (self.steps() - place * BITS).min(BITS);
            let (stride, c) = (1 << known, rank >> (place * BITS));
            *axis = Axis::stride(c % stride, stride, 1 << (width - known.min(width)));
        }
    }

    pub(crate) fn node(self, rank: u64) -> u64 {
        let excess = self.n - self.ranks;
        if rank < excess { 2 * rank + 1 } else { rank + excess }
    }

    pub(crate) fn send_excess(self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        if self.is_whole() {
            return Ok(());
        }
        schedule.step()?;
        (0..self.n - self.ranks)
            .try_for_each(|i| schedule.send(&Blocks::new(2 * i, 2 * i + 1).combine()))
    }

    pub(crate) fn return_to_excess(self, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        if self.is_whole() {
            return Ok(());
        }
        schedule.step()?;
        (0..self.n - self.ranks)
            .try_for_each(|i| schedule.send(&Blocks::new(2 * i + 1, 2 * i).copy()))
    }
}
