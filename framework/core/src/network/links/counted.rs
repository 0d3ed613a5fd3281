//! One counter a link, for topologies without lines.

use crate::network::topology::Run;

/// Counters that hold only while their mark is that of the current step.
#[derive(Debug)]
pub(super) struct Counted {
    /// For each link, the step in which it last had load, and the load. Pairs, because memory for
    /// zeroed pairs costs nothing until it is used.
    cells: Vec<(u64, u64)>,
    step: u64,
    max: u64,
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
        for i in 0..run.len {
            let (step, load) = &mut self.cells[(run.first + i * run.stride) as usize];
            *load = if *step == self.step { load.saturating_add(amount) } else { amount };
            *step = self.step;
            self.max = self.max.max(*load);
        }
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
