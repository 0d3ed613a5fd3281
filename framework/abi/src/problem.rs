//! What is to be done.

use crate::*;

/// Every node has a block for every node: complete exchange, all-to-all personalized communication.
pub const SWM_ALLTOALL: u32 = 0;
/// The root has one block, which everyone is to have.
pub const SWM_BROADCAST: u32 = 1;
/// The root has a block for everyone.
pub const SWM_SCATTER: u32 = 2;
/// Everyone has a block for the root.
pub const SWM_GATHER: u32 = 3;
/// Everyone has a block that everyone is to have: all-to-all broadcast, gossip.
pub const SWM_ALLGATHER: u32 = 4;
/// Every node has one block for one other, no two for the same.
pub const SWM_PERMUTATION: u32 = 5;
/// Every node has a vector, whose sum the root is to have. In this and the two below a node holds
/// one value of every segment, which sums what is *contributed* to it by the origins of the blocks
/// in it; sends take values as a whole, and [`SWM_COMBINE`] says whether they are added to the
/// receiver's.
pub const SWM_REDUCE: u32 = 6;
/// Every node has a term for every node's result; each is to have the sum of those for it.
pub const SWM_REDUCE_SCATTER: u32 = 7;
/// Every node has a vector, whose sum everyone is to have.
pub const SWM_ALLREDUCE: u32 = 8;

/// What connects the nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmTopology {
    /// Size of this struct.
    pub size: u32,
    /// Axes of the topology's own grid.
    pub dim_count: u32,
    /// The family: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, ..
    pub kind: SwmStr,
    /// The whole spec in canonical form, such as `torus:16x16`: for messages. What it says is in
    /// the other fields, none need take it apart.
    pub spec: SwmStr,
    /// Nodes, numbered from 0.
    pub nodes: u64,
    /// Radix of each axis; nodes are numbered row-major, the last axis fastest.
    pub dims: *const u64,
    /// Of a dual-net, what a cluster is at the lowest level, which is none itself; null for other
    /// topologies.
    pub base: *const SwmTopology,
    /// Of a dual-net, how many levels there are above the base, whatever way they are nested in its
    /// spec; else 0.
    pub levels: u64,
}

/// A parameter as the user gave it: `variant` and `lean` in `rdn-alltoall:variant=lean`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmParam {
    /// Before the equals sign.
    pub key: SwmStr,
    /// After the equals sign, as the user wrote it.
    pub value: SwmStr,
}

/// What is to be done, but for what a plugin has to ask for ([`SwmHost::block_bytes`] and its
/// neighbours).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmProblem {
    /// Size of this struct.
    pub size: u32,
    /// Which collective: [`SWM_ALLTOALL`] or another of its row.
    pub collective: u32,
    /// What connects the nodes.
    pub topology: *const SwmTopology,
    /// The root of a broadcast, scatter, gather or reduce; else 0.
    pub root: u64,
    /// The parameters that the user gave; those left out are not among them.
    pub params: *const SwmParam,
    /// How many parameters there are.
    pub param_count: u64,
    /// Which permutation, such as `transpose-2d`; else empty.
    pub permutation: SwmStr,
}
