//! The loads that pass through each node's send and receive buffers in one phase. They include data
//! that a node sends to itself.

/// The loads that one node has sent and received in the phase `phase`. If this is an earlier phase
/// than the current one, both sums are outdated and count as 0.
#[derive(Debug, Clone, Copy, Default)]
struct NodeBuffers {
    phase: u32,
    /// For each sum, the high bits that do not fit into `low`.
    carried: [u16; 2],
    low: [u64; 2],
}

impl NodeBuffers {
    const SENT: usize = 0;
    const RECEIVED: usize = 1;

    /// Adds a load to one of the two sums (sent or received) and returns the new sum. Sums are not
    /// stored as 128-bit integers, because these would double the size of the table of all nodes.
    /// Reading this table takes most of the time.
    #[inline]
    fn add(&mut self, phase: u32, which: usize, load: u64) -> u128 {
        if self.phase != phase {
            *self = Self { phase, ..Self::default() };
        }
        let (low, carry) = self.low[which].overflowing_add(load);
        self.low[which] = low;
        self.carried[which] = self.carried[which].saturating_add(carry.into());
        u128::from(self.carried[which]) << 64 | u128::from(low)
    }
}

/// The loads in the buffers of all nodes, and the largest loads so far.
#[derive(Debug)]
pub(super) struct Buffers {
    nodes: Vec<NodeBuffers>,
    phase: u32,
    most: (u128, u128),
}

impl Buffers {
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes: vec![NodeBuffers::default(); nodes], phase: 0, most: (0, 0) }
    }

    /// Begins a phase, with empty buffers.
    pub(super) fn begin_phase(&mut self) {
        self.phase += 1;
    }

    /// Adds a load that a node sends, to another node or to itself.
    #[inline]
    pub(super) fn moved(&mut self, from: u32, to: u32, load: u64) {
        let sent = self.nodes[from as usize].add(self.phase, NodeBuffers::SENT, load);
        let received = self.nodes[to as usize].add(self.phase, NodeBuffers::RECEIVED, load);
        self.most = (self.most.0.max(sent), self.most.1.max(received));
    }

    /// Returns two values: the largest load that a node sends in a phase, and the largest load that
    /// a node receives in a phase.
    pub(super) fn most(&self) -> (u128, u128) {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_a_phase_are_exact_beyond_64_bits() {
        let mut buffers = Buffers::new(4);
        buffers.begin_phase();
        (0..5).for_each(|_| buffers.moved(0, 3, u64::MAX));
        buffers.moved(3, 3, 7);
        let most = 5 * u128::from(u64::MAX);
        assert_eq!(buffers.most(), (most, most + 7));
        buffers.begin_phase();
        buffers.moved(0, 0, u64::MAX);
        assert_eq!(buffers.most(), (most, most + 7), "a phase begins with empty buffers");
    }
}
