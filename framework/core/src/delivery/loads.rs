//! The load that each node holds, and the load that it reduces in a step. A load is an amount of
//! data, in units of blocks or in bytes.

/// The load that each node holds, and the largest load that any node has held so far.
#[derive(Debug)]
pub(crate) struct Loads {
    held: Vec<u64>,
    peak: u64,
    /// For each node, the load that it reduced into its own values in the current step (or in the
    /// last step, if `is_ended`). Empty until a node reduces anything.
    summed: Vec<u64>,
    /// The nodes whose entry in `summed` is not 0.
    summing: Vec<u64>,
    is_ended: bool,
}

impl Loads {
    pub(crate) fn new(held: Vec<u64>) -> Self {
        let peak = held.iter().copied().max().unwrap_or(0);
        Self { held, peak, summed: Vec::new(), summing: Vec::new(), is_ended: false }
    }

    /// Moves a load from one node to another or, if `copy`, adds it to the second node only. In a
    /// step with redundant deliveries, the load of a receiver may exceed 64 bits and wrap around,
    /// until [`Loads::discarded`] subtracts these deliveries.
    #[inline]
    pub(crate) fn moved(&mut self, (from, to): (u64, u64), copy: bool, load: u64) {
        if !copy {
            self.held[from as usize] -= load;
        }
        let held = &mut self.held[to as usize];
        *held = held.wrapping_add(load);
    }

    /// Subtracts a load that a node received but did not store.
    pub(crate) fn discarded(&mut self, node: u64, load: u64) {
        let held = &mut self.held[node as usize];
        *held = held.wrapping_sub(load);
    }

    /// Adds a load that a node reduced into its own values.
    pub(crate) fn summed(&mut self, node: u64, load: u64) {
        self.summed.resize(self.held.len(), 0);
        self.clear_last_step();
        let summed = &mut self.summed[node as usize];
        if *summed == 0 {
            self.summing.push(node);
        }
        *summed += load;
    }

    /// Clears the loads that nodes reduced in the last step.
    fn clear_last_step(&mut self) {
        if std::mem::take(&mut self.is_ended) {
            self.summing.drain(..).for_each(|node| self.summed[node as usize] = 0);
        }
    }

    /// Returns the largest load that a node reduced in the last completed step.
    pub(crate) fn most_summed(&self) -> u64 {
        self.summing.iter().map(|node| self.summed[*node as usize]).max().unwrap_or(0)
    }

    /// Returns, for each node, the load that it reduced in the last completed step. Empty if no
    /// node reduced anything.
    pub(crate) fn all_summed(&self) -> &[u64] {
        if self.summing.is_empty() { &[] } else { &self.summed }
    }

    /// Ends a step. Only the nodes that received data in this step can exceed the previous peak.
    pub(crate) fn end_step(&mut self, receivers: impl Iterator<Item = u64>) {
        self.peak = receivers.map(|node| self.held[node as usize]).fold(self.peak, u64::max);
        // If no node reduced anything in this step, `summed` still contains the loads of the
        // previous step.
        self.clear_last_step();
        self.is_ended = true;
    }

    pub(crate) fn held(&self) -> &[u64] {
        &self.held
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }
}
