//! The sends and redistributions of a schedule.

use crate::*;

/// [`SwmBlocks::flags`]: the sender must hold every selected block. Without this flag the send
/// takes those selected blocks that the sender holds.
pub const SWM_STRICT: u32 = 1;
/// [`SwmBlocks::flags`]: the sender keeps what it sends (broadcast, allgather).
pub const SWM_COPY: u32 = 2;
/// [`SwmBlocks::flags`], in reductions: the receiver adds the values that it receives to its own
/// values. No contribution may be contained in both. Without this flag the received values replace
/// the receiver's values, and must contain all contributions of these. If the receiver has no
/// value, both give the same result.
pub const SWM_COMBINE: u32 = 8;
/// Flag of any send: `from` may equal `to`. Such a send is a local copy and costs nothing.
pub const SWM_LOCAL: u32 = 4;

/// [`SwmByteCount::bytes`]: all bytes that the sender holds for the destination, except those in
/// buckets.
pub const SWM_ALL_BYTES: u64 = u64::MAX;

/// The route of a message, where it is not the topology's own. Dimensions are those of the
/// topology.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmRoute {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Length of `signs` and of `order`, where these are not null.
    pub dim_count: u32,
    /// For each dimension 1 (plus), -1 (minus) or 0 (the shorter direction); null for all 0.
    pub signs: *const i8,
    /// The dimensions in the order in which the message crosses them; null for the topology's own
    /// order.
    pub order: *const u32,
    /// The nodes after the sender, ending with the receiver, each a neighbour of the node before
    /// it; null for a route by dimensions.
    pub path: *const u64,
    /// Number of entries of `path`.
    pub path_len: u64,
}

/// A send of blocks ([`SwmHost::send_blocks`]). Of the blocks that `from` holds, those with an
/// origin in `origins` and a destination in `destinations` are sent to `to`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmBlocks {
    /// Size of this struct in bytes.
    pub size: u32,
    /// [`SWM_STRICT`] | [`SWM_COPY`] | [`SWM_LOCAL`] | [`SWM_COMBINE`].
    pub flags: u32,
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// The origins of the selected blocks. In an all-to-all every node also has a block for itself.
    /// That block is at its destination from the start and may stay there; a strict send of all the
    /// blocks of a node includes it. In a reduction this must be [`SWM_ALL`], because sums are sent
    /// as a whole.
    pub origins: SwmSet,
    /// The destinations of the selected blocks. In a permutation this must be [`SWM_ALL`], because
    /// its blocks are distinguished by their origins. With [`SWM_IN_PARTS`] it selects parts of the
    /// blocks.
    pub destinations: SwmSet,
    /// The selected segments of each block, where blocks are split ([`SwmLayout::segments`]).
    pub segments: SwmAxis,
    /// The route; null for the topology's own route. A path takes precedence over signs and order.
    pub route: *const SwmRoute,
    /// The plugin's name for this send, such as its position in an input file. Error messages
    /// include it. Empty for none.
    pub label: SwmStr,
}

/// A send of one bucket of the sender's last redistribution ([`SwmHost::send_bucket`]), in a
/// schedule of byte counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmBucket {
    /// Size of this struct in bytes.
    pub size: u32,
    /// 0, or [`SWM_LOCAL`] where `from` and `to` are the same node.
    pub flags: u32,
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// Number of the bucket, from 0, below [`SwmRedistribution::buckets`] of the sender's last
    /// redistribution.
    pub bucket: u64,
    /// The route; null for the topology's own route. A path takes precedence over signs and order.
    pub route: *const SwmRoute,
}

/// A send of a given number of bytes for each of some destinations ([`SwmHost::send_bytes`]), in a
/// schedule of byte counts. Bytes in buckets are not affected.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmBytes {
    /// Size of this struct in bytes.
    pub size: u32,
    /// 0, or [`SWM_LOCAL`] where `from` and `to` are the same node.
    pub flags: u32,
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// A byte count for each destination that the message has bytes for.
    pub counts: *const SwmByteCount,
    /// Number of entries of `counts`.
    pub count: u64,
    /// The route; null for the topology's own route. A path takes precedence over signs and order.
    pub route: *const SwmRoute,
}

/// A number of bytes for one destination.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwmByteCount {
    /// The destination of the bytes.
    pub destination: u64,
    /// The number of bytes: a multiple of the element size ([`SwmHost::element_bytes`]), or
    /// [`SWM_ALL_BYTES`].
    pub bytes: u64,
}

/// A node sorts all the data that it holds into buckets, element by element. Element x (from 0) of
/// the data for destination d has the number `e = (starts[d] + x) % cycle` and is put into bucket
/// `(first + firsts[d] + e) % buckets`. The buckets are then sent one by one
/// ([`SwmHost::send_bucket`]). Data that the node holds for itself is redistributed too.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmRedistribution {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Reserved; must be zero.
    pub flags: u32,
    /// The node of the schedule's grid that redistributes its data.
    pub node: u64,
    /// Number of buckets.
    pub buckets: u64,
    /// Number of elements after which the numbering starts again; equal to `buckets` in the simple
    /// case.
    pub cycle: u64,
    /// The bucket of the first element, below `buckets`.
    pub first: u64,
    /// For each destination the number of its first element, below `cycle`; null for 0 everywhere.
    pub starts: *const u32,
    /// For each destination an offset added to `first`, below `buckets`; null for 0 everywhere.
    pub firsts: *const u32,
    /// Number of entries of `starts` and of `firsts`, where these are not null: the number of
    /// nodes.
    pub node_count: u64,
}
