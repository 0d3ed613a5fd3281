//! One counter per link, for topologies without planes.

use super::Counter;
use crate::network::topology::Run;

/// An array of counters. Each counter stores the step of its last change, and counts as 0 in all
/// other steps. So clearing the array takes no time.
#[derive(Debug)]
pub(super) struct Counters {
    /// For each link, the last step in which it had load, and the load. The two are stored as a
    /// pair, because the allocator provides zeroed pairs without writing to memory.
    cells: Vec<(u64, u64)>,
    step: u64,
    max: u64,
}

impl Counters {
    pub(super) fn new(slots: usize) -> Self {
        Self { cells: vec![(0, 0); slots], step: 1, max: 0 }
    }

    pub(super) fn add(&mut self, run: Run, amount: u64) {
        for link in run.links() {
            let (step, load) = &mut self.cells[link as usize];
            *load = if *step == self.step { load.saturating_add(amount) } else { amount };
            *step = self.step;
            self.max = self.max.max(*load);
        }
    }
}

impl Counter for Counters {
    fn clear(&mut self) {
        self.step += 1;
        self.max = 0;
    }

    fn max(&mut self) -> u64 {
        self.max
    }

    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        for (link, (step, load)) in (0..).zip(&self.cells) {
            if *step == self.step && *load > 0 {
                visit(link, *load);
            }
        }
    }
}
