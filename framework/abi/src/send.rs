//! The sends and redistributions of a schedule.

use crate::*;

/// [`SwmBlocks::flags`]: the sender must hold every selected block. Without this flag, the send
/// takes those of the selected blocks that the sender holds.
pub const SWM_STRICT: u32 = 1;
/// [`SwmBlocks::flags`]: the sender keeps the data that it sends, as in broadcast and allgather.
pub const SWM_COPY: u32 = 2;
/// [`SwmBlocks::flags`], in reductions: the receiver adds each received value to its own value of
/// the same segment, if it has one. The two values must not contain the contribution of the same
/// origin. Without this flag, the received value replaces the receiver's value, and must contain
/// all of its contributions.
pub const SWM_COMBINE: u32 = 8;
/// A flag of every kind of send: `from` may equal `to`. Such a send is a local copy and takes no
/// time.
pub const SWM_LOCAL: u32 = 4;

/// [`SwmByteCount::bytes`]: all bytes that the sender holds for the destination, except the bytes
/// that a redistribution has put into buckets.
pub const SWM_ALL_BYTES: u64 = u64::MAX;

/// The route of a message that does not take the topology's own route. A route is given by `path`,
/// or by `signs` and `order`. If a path is given, `signs` only select one of the parallel links of
/// a torus dimension of size 2. Dimensions are those of the topology, even if the schedule defines
/// another grid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmRoute {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Number of entries of `signs` and of `order`, if these are not null.
    pub dim_count: u32,
    /// The direction in each dimension: 1 for plus, -1 for minus, or 0 for the shorter direction.
    /// Null means 0 in every dimension.
    pub signs: *const i8,
    /// The dimensions in the order in which the message crosses them; null for the topology's own
    /// order.
    pub order: *const u32,
    /// The nodes of the route after the sender. Each node is a neighbour of the node before it, and
    /// the last node is the receiver. Null for a route by dimensions. Since 1.1, the path may lead
    /// over switches, whose numbers follow those of the nodes.
    pub path: *const u64,
    /// Number of entries of `path`.
    pub path_len: u64,
}

/// A send of blocks ([`SwmHost::send_blocks`]). It selects the blocks that `from` holds and that
/// have an origin in `origins` and a destination in `destinations`. These blocks are sent to `to`.
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
    /// It is at its destination from the start and may stay there, but a strict send of all blocks
    /// that start at a node includes it. In a reduction, `origins` must be [`SWM_ALL`], because a
    /// sum is sent with the contributions of all its origins.
    pub origins: SwmSet,
    /// The destinations of the selected blocks. With [`SWM_IN_PARTS`], the nodes whose parts of the
    /// blocks are selected. In a permutation without parts, `destinations` must be [`SWM_ALL`],
    /// because its blocks are distinguished by their origins.
    pub destinations: SwmSet,
    /// The selected segments of each block, if blocks are split into segments
    /// ([`SwmLayout::segments`]).
    pub segments: SwmAxis,
    /// The route; null for the topology's own route.
    pub route: *const SwmRoute,
    /// The plugin's name for this send in error messages, such as its position in an input file. It
    /// may be empty.
    pub label: SwmStr,
    /// Since 1.1: bytes that the message carries in addition to the blocks, such as padding, or the
    /// sizes of blocks. The message is then sent even if no block is selected. It must be 0 if all
    /// blocks have the same size, because the host then counts blocks instead of bytes.
    pub extra_bytes: u64,
    /// Since 1.2, in reductions: the switch that adds the sent values, as a vertex
    /// ([`SwmHost::vertices`]); 0 for none, because vertex 0 is a node. The switch adds the values
    /// of all sends of the step with the same reducer, receiver and selected blocks, and the receiver
    /// gets one message with the sum. A node that contributes to its own sum sends its value to
    /// itself, over the switch. The send needs [`SWM_STRICT`] and [`SWM_COMBINE`], and its route must
    /// pass the switch. If the routes of these sends meet at switches before it, these also add.
    /// The schedule may claim no symmetry.
    pub reducer: u64,
    /// Since 1.2: the switch that copies the sent blocks, as a vertex; 0 for none. The switch copies
    /// the blocks of all sends of the step with the same multicaster, sender and selected blocks, and
    /// the sender sends one message. The send needs [`SWM_STRICT`] and, in collectives where a send
    /// could move its blocks, [`SWM_COPY`]. Its route must pass the switch. If the routes of these
    /// sends part at switches after it, these also copy. A send has at most one of `reducer` and
    /// `multicaster`, and the schedule may claim no symmetry.
    pub multicaster: u64,
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
    /// Number of the bucket, counted from 0, below [`SwmRedistribution::buckets`] of the sender's
    /// last redistribution.
    pub bucket: u64,
    /// The route; null for the topology's own route.
    pub route: *const SwmRoute,
}

/// A send of a number of bytes for each listed destination ([`SwmHost::send_bytes`]), in a schedule
/// of byte counts. It does not send bytes that are in buckets.
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
    /// One entry for each destination for which the message has bytes.
    pub counts: *const SwmByteCount,
    /// Number of entries of `counts`.
    pub count: u64,
    /// The route; null for the topology's own route.
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

/// A redistribution. A node sorts all the data that it holds, also that for itself, into buckets,
/// element by element. Element x (counted from 0) of the data for destination d has the number `e =
/// (starts[d] + x) % cycle`. It is put into bucket `(first + firsts[d] + e) % buckets`. The buckets
/// are then sent one by one ([`SwmHost::send_bucket`]).
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
    /// The number of elements after which the numbers `e` start again at 0; usually `buckets`.
    pub cycle: u64,
    /// The bucket, below `buckets`, of an element with number 0 whose destination has no offset in
    /// `firsts`.
    pub first: u64,
    /// For each destination, the number of its first element, below `cycle`. Null means zeros.
    pub starts: *const u32,
    /// For each destination, an offset below `buckets` that is added to `first`. Null means zeros.
    pub firsts: *const u32,
    /// Number of entries of `starts` and of `firsts`, if not null. It must be the number of nodes.
    pub node_count: u64,
}
