//! How much each node holds.

use super::arriving::Settled;

/// The load at every node of the machine, and the most there has been.
#[derive(Debug)]
pub(crate) struct Loads {
    held: Vec<u64>,
    peak: u64,
    /// What nodes have summed in the step under way, or in the one that has just ended; and those
    /// that have.
    summed: Vec<u64>,
    summing: Vec<u64>,
    is_ended: bool,
}

impl Loads {
    pub(crate) fn new(held: Vec<u64>) -> Self {
        let peak = held.iter().copied().max().unwrap_or(0);
        Self { held, peak, summed: Vec::new(), summing: Vec::new(), is_ended: false }
    }

    /// A load has left its sender, unless that keeps a copy, for its receiver. What comes often in
    /// one step may go over, until the step's end takes off what is there already.
    #[inline]
    pub(crate) fn moved(&mut self, (from, to): (u64, u64), copy: bool, load: u64) {
        if !copy {
            self.held[from as usize] -= load;
        }
        let held = &mut self.held[to as usize];
        *held = held.wrapping_add(load);
    }

    /// What came is settled at its receiver.
    pub(crate) fn settle(&mut self, settled: Settled) {
        match settled {
            Settled::Wasted(physical, load) => {
                let held = &mut self.held[physical as usize];
                *held = held.wrapping_sub(load);
            }
            Settled::Summed(physical, load) => {
                self.summed.resize(self.held.len(), 0);
                self.begin();
                let summed = &mut self.summed[physical as usize];
                if *summed == 0 {
                    self.summing.push(physical);
                }
                *summed += load;
            }
        }
    }

    /// Forgets what was summed in the step before.
    fn begin(&mut self) {
        if std::mem::take(&mut self.is_ended) {
            self.summing.drain(..).for_each(|physical| self.summed[physical as usize] = 0);
        }
    }

    /// The most that one node summed in the step that has ended; only those that did are looked at.
    pub(crate) fn most_summed(&self) -> u64 {
        self.summing.iter().map(|physical| self.summed[*physical as usize]).max().unwrap_or(0)
    }

    /// What each node summed in the step that has ended; empty if none did.
    pub(crate) fn all_summed(&self) -> &[u64] {
        if self.summing.is_empty() { &[] } else { &self.summed }
    }

    /// Ends a step in which these received: only they can hold more than some node held before.
    pub(crate) fn end_step(&mut self, receivers: impl Iterator<Item = u64>) {
        self.peak =
            receivers.map(|physical| self.held[physical as usize]).fold(self.peak, u64::max);
        // Nobody summed anything in this one, if it is still the one before that is known.
        self.begin();
        self.is_ended = true;
    }

    pub(crate) fn held(&self) -> &[u64] {
        &self.held
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}
