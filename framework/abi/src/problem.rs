//! The problem that an algorithm is to solve.

use crate::*;

/// Every node has a block for every node. Other names are complete exchange and all-to-all
/// personalized communication.
pub const SWM_ALLTOALL: u32 = 0;
/// The root has one block, which every node is to receive.
pub const SWM_BROADCAST: u32 = 1;
/// The root has a block for every node.
pub const SWM_SCATTER: u32 = 2;
/// Every node has a block for the root, which is to receive all blocks.
pub const SWM_GATHER: u32 = 3;
/// Every node has a block that every node is to receive (all-to-all broadcast, gossip).
pub const SWM_ALLGATHER: u32 = 4;
/// Every node has one block for one node, and no two nodes have a block for the same node.
pub const SWM_PERMUTATION: u32 = 5;
/// Every node has a vector, and the root is to receive the sum of all vectors. In this collective
/// and the next two, a node holds at most one value for each segment: the sum of the contributions
/// of some origins. A send takes whole values. [`SWM_COMBINE`] tells whether a sent value is added
/// to the receiver's value.
pub const SWM_REDUCE: u32 = 6;
/// Every node has one term for the result of every node, and each node is to receive the sum of all
/// terms for its result.
pub const SWM_REDUCE_SCATTER: u32 = 7;
/// Every node has a vector, and every node is to receive the sum of all vectors.
pub const SWM_ALLREDUCE: u32 = 8;
/// Since 1.1. Every node has tokens, and each token goes to a set of nodes. Nodes may copy and
/// forward tokens, but no node may receive a token twice. Tokens of one node with the same set form
/// a class ([`SwmHost::token_receivers`]), a segment of the node's block: a send selects tokens by
/// origins and segments. The sender always keeps a copy.
pub const SWM_DISPATCH: u32 = 9;
/// Since 1.1. Every node has tokens. Each node of a token's set has a partial result of the token,
/// and the node of the token is to receive the sum of these results. A send selects sums by
/// destinations (the nodes of the tokens) and segments (their classes).
pub const SWM_COMBINE_TOKENS: u32 = 10;

/// The network that connects the nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmTopology {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Number of axes of the topology's own grid.
    pub dim_count: u32,
    /// Family of the topology: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, etc.
    pub kind: SwmStr,
    /// The spec of the topology in canonical form, such as `torus:16x16`, for use in messages.
    pub spec: SwmStr,
    /// Number of nodes. They are numbered from 0.
    pub nodes: u64,
    /// The radix (number of coordinates) of each axis. Nodes are numbered row-major: the last axis
    /// varies fastest.
    pub dims: *const u64,
    /// For a dual-net, the topology of a cluster at the lowest level, which is not a dual-net
    /// itself. Null for other topologies.
    pub base: *const SwmTopology,
    /// For a dual-net, the number of levels above `base`, with those of nested dual-nets; otherwise
    /// 0.
    pub levels: u64,
}

/// A directed link of the network, among the links that leave one vertex ([`SwmHost::links`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwmLink {
    /// The vertex to which the link leads.
    pub to: u64,
    /// The bandwidth of the link, divided by the machine's bandwidth of a link.
    pub bandwidth: f64,
    /// The latency of the link, divided by the machine's time per link ([`SwmHost::hop_us`]).
    pub latency: f64,
}

/// A parameter that the user gave: `rdn-alltoall:variant=lean` has the key `variant` and the value
/// `lean`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmParam {
    /// The text before the equals sign.
    pub key: SwmStr,
    /// The text after the equals sign, unchanged.
    pub value: SwmStr,
}

/// The problem to solve. A plugin requests all further data, such as block sizes, with functions of
/// the host, such as [`SwmHost::block_bytes`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmProblem {
    /// Size of this struct in bytes.
    pub size: u32,
    /// The collective: one of the constants from [`SWM_ALLTOALL`] to [`SWM_COMBINE_TOKENS`].
    pub collective: u32,
    /// The network that connects the nodes.
    pub topology: *const SwmTopology,
    /// Root of a broadcast, scatter, gather or reduce; 0 for other collectives.
    pub root: u64,
    /// The parameters that the user gave.
    pub params: *const SwmParam,
    /// Number of entries of `params`.
    pub param_count: u64,
    /// Name of the permutation, such as `transpose-2d`; empty for other collectives.
    pub permutation: SwmStr,
}
