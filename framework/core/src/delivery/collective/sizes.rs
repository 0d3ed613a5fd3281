//! Blocks of different sizes.

use std::fmt;

/// The sizes of blocks, if these differ. (If all blocks have the same size, blocks are counted
/// instead of bytes.)
pub trait BlockSizes: fmt::Debug + Send + Sync {
    /// Returns the bytes of the block from node `origin` to node `destination` of the machine. If
    /// blocks go to all nodes, `destination` is ignored.
    fn bytes(&self, origin: u64, destination: u64) -> u64;

    /// Returns the total bytes of the blocks from `origins` to `destinations`. Both lists are in
    /// ascending order.
    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        origins
            .iter()
            .flat_map(|&o| destinations.iter().map(move |&d| (o, d)))
            .map(|(o, d)| self.bytes(o, d))
            .sum()
    }

    /// Calls `visit` with each of the nodes 0 to `nodes` - 1 for which `origin` has a block that is
    /// not empty, in ascending order, and with the bytes of this block.
    fn each_receiver(&self, origin: u64, nodes: u64, visit: &mut dyn FnMut(u64, u64)) {
        let sizes = (0..nodes).map(|destination| (destination, self.bytes(origin, destination)));
        sizes.filter(|(_, bytes)| *bytes > 0).for_each(|(to, bytes)| visit(to, bytes));
    }

    /// Returns the bytes of the largest block; 0 if there are no blocks.
    fn largest(&self) -> u64;

    /// Returns the maximum traffic among the nodes 0 to `nodes` - 1.
    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        pair_traffic(self, nodes)
    }
}

/// Returns the maximum traffic among the nodes 0 to `nodes` - 1, if each pair of nodes exchanges
/// its block without other nodes.
pub(crate) fn pair_traffic<S: BlockSizes + ?Sized>(sizes: &S, nodes: u64) -> MaxTraffic {
    let mut received = vec![(0_u64, 0_u64); nodes as usize];
    let mut busiest = MaxTraffic::default();
    for origin in 0..nodes {
        let (mut bytes, mut peers) = (0, 0);
        sizes.each_receiver(origin, nodes, &mut |destination, block| {
            if destination != origin {
                let (all, from) = &mut received[destination as usize];
                (*all, *from) = (*all + block, *from + 1);
                (bytes, peers) = (bytes + block, peers + 1);
            }
        });
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

/// The traffic between different nodes: the largest values of any node, and the total number of
/// pairs of nodes that exchange data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaxTraffic {
    /// The largest number of bytes that one node has in all blocks for other nodes together.
    pub sent: u64,
    /// The largest number of bytes that one node receives in all blocks of other nodes together.
    pub received: u64,
    /// The largest number of peers of a node. A node sends blocks that are not empty to some nodes,
    /// and receives such blocks from some nodes; the larger of these two counts is its number of
    /// peers.
    pub peers: u64,
    /// Number of ordered pairs of different nodes whose block is not empty.
    pub pairs: u64,
}

/// A table of block sizes for tests. Row i has the bytes of the blocks from node i to each node.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct SizeTable(pub Vec<Vec<u64>>);

#[cfg(test)]
impl SizeTable {
    /// Creates the sizes of the blocks among `nodes` nodes, given a function of origin and
    /// destination.
    pub(crate) fn of(
        nodes: u64,
        bytes: impl Fn(u64, u64) -> u64,
    ) -> Option<std::sync::Arc<dyn BlockSizes>> {
        let row = |origin| (0..nodes).map(|destination| bytes(origin, destination)).collect();
        Some(std::sync::Arc::new(Self((0..nodes).map(row).collect())))
    }
}

#[cfg(test)]
impl BlockSizes for SizeTable {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        self.0[origin as usize][destination as usize]
    }

    fn largest(&self) -> u64 {
        self.0.iter().flatten().copied().max().unwrap_or(0)
    }
}
