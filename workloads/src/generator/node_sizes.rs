//! One size for each node. Collectives use it if each node has, sends or receives one block.

use swapmeet_core::delivery::collective::BlockSizes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizedBy {
    Origin,
    Destination,
}

#[derive(Debug)]
pub(super) struct NodeSizes {
    pub(super) bytes: Vec<u64>,
    pub(super) by: SizedBy,
}

impl BlockSizes for NodeSizes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        let node = match self.by {
            SizedBy::Origin => origin,
            SizedBy::Destination => destination,
        };
        self.bytes[node as usize]
    }

    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        let (sized, times) = match self.by {
            SizedBy::Origin => (origins, destinations.len()),
            SizedBy::Destination => (destinations, origins.len()),
        };
        sized.iter().map(|node| self.bytes[*node as usize]).sum::<u64>() * times as u64
    }

    fn largest(&self) -> u64 {
        self.bytes.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_size_of_their_node() {
        let by = |by| NodeSizes { bytes: vec![1, 20, 300], by };
        assert_eq!(
            (by(SizedBy::Origin).bytes(1, 2), by(SizedBy::Destination).bytes(1, 2)),
            (20, 300)
        );
        assert_eq!(
            (
                by(SizedBy::Origin).total(&[0, 2], &[1]),
                by(SizedBy::Destination).total(&[0, 2], &[1])
            ),
            (301, 40)
        );
    }
}
