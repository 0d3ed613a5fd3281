//! Which block is to reach whom.

use crate::delivery::boxes::Side;
use std::fmt;
use std::sync::Arc;

/// A collective operation over nodes 0 .. n-1 of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Collective {
    /// Every node has a block for every node (its own included, which needs no message).
    AllToAll,
    /// The root has one block, which everyone is to have.
    Broadcast {
        /// The root.
        root: u64,
    },
    /// The root has a block for each.
    Scatter {
        /// The root.
        root: u64,
    },
    /// Each has a block for the root.
    Gather {
        /// The root.
        root: u64,
    },
    /// Each has a block that everyone is to have.
    AllGather,
    /// Each has a block for one other.
    Permutation {
        /// Its name, such as `transpose-2d`.
        name: String,
        /// Where each node's block goes; every node once.
        to: Arc<[u32]>,
    },
}

impl Collective {
    /// The word in specs and rows.
    pub fn word(&self) -> &'static str {
        match self {
            Self::AllToAll => "alltoall",
            Self::Broadcast { .. } => "broadcast",
            Self::Scatter { .. } => "scatter",
            Self::Gather { .. } => "gather",
            Self::AllGather => "allgather",
            Self::Permutation { .. } => "permutation",
        }
    }

    /// Whether blocks are told apart by `side`: a broadcast's block has neither origin nor destination to tell it from others.
    pub fn tells_apart(&self, side: Side) -> bool {
        match side {
            Side::Origins => {
                matches!(self, Self::AllToAll | Self::Gather { .. } | Self::AllGather | Self::Permutation { .. })
            }
            Side::Destinations => matches!(self, Self::AllToAll | Self::Scatter { .. }),
            Side::Segments => true,
        }
    }

    /// Whether everyone ends with the same: then a node may receive what it has, which is waste but not wrong.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Broadcast { .. } | Self::AllGather)
    }

    /// The root, where there is one.
    pub fn root(&self) -> Option<u64> {
        match self {
            Self::Broadcast { root } | Self::Scatter { root } | Self::Gather { root } => Some(*root),
            _ => None,
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Blocks of different sizes. Uniform sizes have no table: blocks are counted instead.
pub trait BlockSizes: fmt::Debug + Send + Sync {
    /// Bytes of the block from node `origin` to node `destination` of the machine.
    fn bytes(&self, origin: u64, destination: u64) -> u64;

    /// Bytes of all blocks from one of `origins` to one of `destinations`, both ascending.
    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        origins.iter().flat_map(|&o| destinations.iter().map(move |&d| (o, d))).map(|(o, d)| self.bytes(o, d)).sum()
    }

    /// The largest block.
    fn largest(&self) -> u64;

    /// What the busiest of so many nodes have to send and receive.
    fn busiest(&self, nodes: u64) -> Busiest {
        let mut received = vec![(0_u64, 0_u64); nodes as usize];
        let mut busiest = Busiest::default();
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
pub struct Busiest {
    /// The most bytes that one node has for all others together.
    pub sent: u64,
    /// The most bytes that all others together have for one.
    pub received: u64,
    /// The most others that one node has something for, or that have something for it.
    pub peers: u64,
    /// Pairs of different nodes of which the first has something for the second.
    pub pairs: u64,
}
