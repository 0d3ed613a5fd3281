//! Sizes of blocks, where they differ.

use std::fmt;

/// Blocks of different sizes. Uniform sizes have no table: blocks are counted instead.
pub trait BlockSizes: fmt::Debug + Send + Sync {
    /// Bytes of the block from node `origin` to node `destination` of the machine; whatever the
    /// destination, of a block that is for everyone.
    fn bytes(&self, origin: u64, destination: u64) -> u64;

    /// Bytes of all blocks from one of `origins` to one of `destinations`, both ascending.
    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        origins
            .iter()
            .flat_map(|&o| destinations.iter().map(move |&d| (o, d)))
            .map(|(o, d)| self.bytes(o, d))
            .sum()
    }

    /// The largest block in bytes, 0 if there is none.
    fn largest(&self) -> u64;

    /// What the busiest of so many nodes have to send and receive.
    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        let mut received = vec![(0_u64, 0_u64); nodes as usize];
        let mut busiest = MaxTraffic::default();
        for origin in 0..nodes {
            let (mut bytes, mut peers) = (0, 0);
            for destination in (0..nodes).filter(|destination| *destination != origin) {
                let block = self.bytes(origin, destination);
                let (all, from) = &mut received[destination as usize];
                (*all, *from) = (*all + block, *from + u64::from(block > 0));
                (bytes, peers) = (bytes + block, peers + u64::from(block > 0));
            }
            busiest.sent = busiest.sent.max(bytes);
            busiest.peers = busiest.peers.max(peers);
            busiest.pairs += peers;
        }
        for (bytes, peers) in received {
            busiest.received = busiest.received.max(bytes);
            busiest.peers = busiest.peers.max(peers);
        }
        busiest
    }
}

/// What the busiest nodes have to send and receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaxTraffic {
    /// The most bytes that one node has for all others together.
    pub sent: u64,
    /// The most bytes that all others together have for one.
    pub received: u64,
    /// The most others that one node has something for, or that have something for it.
    pub peers: u64,
    /// Pairs of different nodes of which the first has something for the second.
    pub pairs: u64,
}
