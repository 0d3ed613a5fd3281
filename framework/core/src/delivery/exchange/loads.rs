//! How much each node holds.

/// The load at every node of the machine, and the most there has been.
#[derive(Debug)]
pub(super) struct Loads {
    held: Vec<u64>,
    peak: u64,
    /// Whether a step has ended in which anything was sent.
    begun: bool,
}

impl Loads {
    pub fn new(held: Vec<u64>) -> Self {
        Self { held, peak: 0, begun: false }
    }

    pub fn left(&mut self, physical: u64, load: u64) {
        self.held[physical as usize] -= load;
    }

    /// What comes often in one step may go over, until the step's end takes off what is there already.
    pub fn came(&mut self, physical: u64, load: u64) {
        let held = &mut self.held[physical as usize];
        *held = held.wrapping_add(load);
    }

    /// Of what came, so much was there already.
    pub fn wasted(&mut self, physical: u64, load: u64) {
        let held = &mut self.held[physical as usize];
        *held = held.wrapping_sub(load);
    }

    /// Ends a step in which these received.
    pub fn end_step(&mut self, receivers: impl Iterator<Item = u64>, anything: bool) {
        self.peak = receivers.map(|physical| self.held[physical as usize]).fold(self.peak, u64::max);
        if anything && !std::mem::replace(&mut self.begun, true) {
            // Later, only a node that receives can hold more than some node held before.
            self.peak = self.held.iter().copied().max().unwrap_or(0);
        }
    }

    pub fn held(&self) -> &[u64] {
        &self.held
    }

    pub fn peak(&self) -> u64 {
        self.peak
    }
}
