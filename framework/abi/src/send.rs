//! What a schedule sends and redistributes.

use crate::*;

/// [`SwmBlocks::flags`]: every block selected must be held; without it the selection is a rule over
/// whatever is held.
pub const SWM_STRICT: u32 = 1;
/// [`SwmBlocks::flags`]: the sender keeps what it sends (broadcast, allgather).
pub const SWM_COPY: u32 = 2;
/// [`SwmBlocks::flags`], in reductions: the receiver adds what it is sent to the values that it
/// has, in which none of the same contributions may be. Without it what is sent takes their place,
/// and must have all their contributions in it. Where the receiver has nothing, both are the same.
pub const SWM_COMBINE: u32 = 8;
/// Flags of any send: `from` may equal `to`; such a send is a local copy and costs nothing.
pub const SWM_LOCAL: u32 = 4;

/// [`SwmByteCount::bytes`]: all that the sender holds for the destination, outside of buckets.
pub const SWM_ALL_BYTES: u64 = u64::MAX;

/// How a message should travel, where the topology's own route won't do. Dimensions are those of
/// the topology.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmRoute {
    /// Size of this struct.
    pub size: u32,
    /// Length of `signs` and of `order` where they are not null.
    pub dim_count: u32,
    /// For each dimension 1 (plus), -1 (minus) or 0 (the shorter way); null for all 0.
    pub signs: *const i8,
    /// The dimensions in the order in which they are travelled; null for the topology's own order.
    pub order: *const u32,
    /// The nodes passed through, the receiver last, each a neighbour of the one before; null for a
    /// route by dimensions.
    pub path: *const u64,
    /// How many nodes `path` has.
    pub path_len: u64,
}

/// A send of blocks ([`SwmHost::send_blocks`]): of what `from` holds, the blocks with origin in
/// `origins` and destination in `destinations` go to `to`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmBlocks {
    /// Size of this struct.
    pub size: u32,
    /// [`SWM_STRICT`] | [`SWM_COPY`] | [`SWM_LOCAL`] | [`SWM_COMBINE`].
    pub flags: u32,
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// Where the blocks come from. In an all-to-all every node also has a block for itself, which
    /// is where it should be from the start and may stay there: a strict send of everything a node
    /// holds takes it along. In a reduction [`SWM_ALL`]: a sum goes as a whole.
    pub origins: SwmSet,
    /// Where the blocks go. In a permutation [`SWM_ALL`]: its blocks are known by their origins.
    /// With [`SWM_IN_PARTS`], which parts of them.
    pub destinations: SwmSet,
    /// Which segments of each block, where blocks are split ([`SwmLayout::segments`]).
    pub segments: SwmAxis,
    /// Null for the topology's own route. A path in it wins over signs and order.
    pub route: *const SwmRoute,
    /// What the plugin calls this send, such as the place in a file that it was read from: faults
    /// say it. Empty for nothing.
    pub label: SwmStr,
}

/// A send of one bucket of what `from` has redistributed ([`SwmHost::send_bucket`]), in a schedule
/// of byte counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmBucket {
    /// Size of this struct.
    pub size: u32,
    /// 0, or [`SWM_LOCAL`] where `from` and `to` are the same.
    pub flags: u32,
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// The bucket, counted from 0, below [`SwmRedistribution::buckets`] of the sender's last
    /// redistribution.
    pub bucket: u64,
    /// Null for the topology's own route. A path in it wins over signs and order.
    pub route: *const SwmRoute,
}

/// A send of so many bytes for each of some destinations ([`SwmHost::send_bytes`]), in a schedule
/// of byte counts; what is in buckets isn't touched.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmBytes {
    /// Size of this struct.
    pub size: u32,
    /// 0, or [`SWM_LOCAL`] where `from` and `to` are the same.
    pub flags: u32,
    /// Sender, a node of the schedule's grid.
    pub from: u64,
    /// Receiver, a node of the schedule's grid.
    pub to: u64,
    /// A byte count for each destination that anything goes for.
    pub counts: *const SwmByteCount,
    /// How many byte counts there are.
    pub count: u64,
    /// Null for the topology's own route. A path in it wins over signs and order.
    pub route: *const SwmRoute,
}

/// So many bytes for one destination.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwmByteCount {
    /// The node that the bytes are to end at.
    pub destination: u64,
    /// How many: a multiple of the element's size ([`SwmHost::element_bytes`]), or
    /// [`SWM_ALL_BYTES`].
    pub bytes: u64,
}

/// A node sorts all it holds into buckets, element by element. Element x (from 0) of what it holds
/// for destination d has number `e = (starts[d] + x) % cycle` and goes to bucket `(first +
/// firsts[d] + e) % buckets`. Buckets are then sent one by one ([`SwmHost::send_bucket`]). What the
/// node holds for itself is redistributed with the rest.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmRedistribution {
    /// Size of this struct.
    pub size: u32,
    /// Zero; there for alignment, and for later.
    pub flags: u32,
    /// The node of the schedule's grid that redistributes what it holds.
    pub node: u64,
    /// How many buckets there are.
    pub buckets: u64,
    /// After how many elements the round begins again; as many as there are buckets in the plain
    /// case.
    pub cycle: u64,
    /// The bucket that the first element goes to, below `buckets`.
    pub first: u64,
    /// For each destination the number its elements begin with, below `cycle`; null for 0
    /// everywhere.
    pub starts: *const u32,
    /// For each destination what is added to `first`, below `buckets`; null for 0 everywhere.
    pub firsts: *const u32,
    /// Length of `starts` and of `firsts` where they are not null: the nodes.
    pub node_count: u64,
}
