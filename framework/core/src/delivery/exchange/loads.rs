//! How much each node holds.

/// The load at every node of the machine, and the most there has been.
#[derive(Debug)]
pub(super) struct Loads {
    held: Vec<u64>,
    peak: u64,
}

impl Loads {
    pub(super) fn new(held: Vec<u64>) -> Self {
        Self { peak: held.iter().copied().max().unwrap_or(0), held }
    }

    pub(super) fn left(&mut self, physical: u64, load: u64) {
        self.held[physical as usize] -= load;
    }

    /// What comes often in one step may go over, until the step's end takes off what is there already.
    pub(super) fn came(&mut self, physical: u64, load: u64) {
        let held = &mut self.held[physical as usize];
        *held = held.wrapping_add(load);
    }

    /// Of what came, so much was there already.
    pub(super) fn wasted(&mut self, physical: u64, load: u64) {
        let held = &mut self.held[physical as usize];
        *held = held.wrapping_sub(load);
    }

    /// Ends a step in which these received: only they can hold more than some node held before.
    pub(super) fn end_step(&mut self, receivers: impl Iterator<Item = u64>) {
        self.peak = receivers.map(|physical| self.held[physical as usize]).fold(self.peak, u64::max);
    }

    pub(super) fn held(&self) -> &[u64] {
        &self.held
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak
    }
}
