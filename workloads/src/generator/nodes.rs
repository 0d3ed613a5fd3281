//! A size a node: of what each has for everyone, or the root for each, or each for the root.

use swapmeet_core::delivery::collective::BlockSizes;

/// Whose size a block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The node's that it comes from.
    Origin,
    /// The node's that it is for.
    Destination,
}

/// Bytes of each node's block.
#[derive(Debug)]
pub(super) struct NodeSizes {
    pub(super) of: Vec<u64>,
    pub(super) by: By,
}

impl BlockSizes for NodeSizes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        let node = match self.by {
            By::Origin => origin,
            By::Destination => destination,
        };
        self.of[node as usize]
    }

    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        let (sized, times) = match self.by {
            By::Origin => (origins, destinations.len()),
            By::Destination => (destinations, origins.len()),
        };
        sized.iter().map(|node| self.of[*node as usize]).sum::<u64>() * times as u64
    }

    fn largest(&self) -> u64 {
        self.of.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_a_node_has_its_size() {
        let by = |by| NodeSizes { of: vec![1, 20, 300], by };
        assert_eq!((by(By::Origin).bytes(1, 2), by(By::Destination).bytes(1, 2)), (20, 300));
        assert_eq!(
            (by(By::Origin).total(&[0, 2], &[1]), by(By::Destination).total(&[0, 2], &[1])),
            (301, 40)
        );
    }
}
