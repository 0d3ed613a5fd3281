//! One counter a link, for topologies without lines.

use crate::network::topology::Run;

/// Counters that hold only while their mark is that of the current step.
#[derive(Debug)]
pub(super) struct Counted {
    /// For each link, the step in which it last had load, and the load. Pairs, because memory for zeroed pairs costs nothing until it is used.
    cells: Vec<(u64, u64)>,
    step: u64,
    max: u64,
}

/// Some links that follow each other.
#[repr(align(128))]
pub(super) struct Counter<'a> {
    cells: &'a mut [(u64, u64)],
    first: usize,
    step: u64,
    max: u64,
}

impl Counter<'_> {
    #[inline]
    pub(super) fn add(&mut self, link: u64, amount: u64) {
        let (step, load) = &mut self.cells[link as usize - self.first];
        *load = if *step == self.step { load.saturating_add(amount) } else { amount };
        *step = self.step;
        self.max = self.max.max(*load);
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }
}

impl Counted {
    pub(super) fn new(slots: usize) -> Self {
        Self { cells: vec![(0, 0); slots], step: 1, max: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.step += 1;
        self.max = 0;
    }

    pub(super) fn add(&mut self, run: Run, amount: u64) {
        let Self { cells, step, max } = self;
        let mut all = Counter { cells, first: 0, step: *step, max: *max };
        (0..run.len).for_each(|i| all.add(run.first + i * run.stride, amount));
        *max = all.max;
    }

    /// Counters of so many links each.
    pub(super) fn split(&mut self, links: usize) -> impl Iterator<Item = Counter<'_>> {
        let (step, max) = (self.step, self.max);
        let parts = (0..).step_by(links).zip(self.cells.chunks_mut(links));
        parts.map(move |(first, cells)| Counter { cells, first, step, max })
    }

    /// Some counter had come so far.
    pub(super) fn at_least(&mut self, max: u64) {
        self.max = self.max.max(max);
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    pub(super) fn for_each_loaded(&self, visit: &mut dyn FnMut(u64, u64)) {
        for (link, (step, load)) in (0..).zip(&self.cells) {
            if *step == self.step && *load > 0 {
                visit(link, *load);
            }
        }
    }
}
