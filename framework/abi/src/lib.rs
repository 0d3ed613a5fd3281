//! The boundary between Swapmeet and its plugins: plain C, written by hand.
//!
//! Everything that crosses is here: fixed-width integers, pointers, sizes and function tables; no `bool`, no `enum`, no Rust type
//! whose layout the compiler chooses. `include/swapmeet.h` is generated from this file, so that Rust and C read one definition.
//!
//! # What is promised
//! * A plugin exports one symbol, [`ENTRY_SYMBOL`]. What it returns begins with [`SwmHead`], whose layout is frozen for ever; the
//!   host reads nothing else before it has compared the versions in it.
//! * A plugin built for 1.x loads in every host 1.y. Minor versions only append fields to structs that carry their `size`; a reader
//!   takes the smaller of the two sizes and treats what is missing as zero.
//! * Memory never changes owner. What the host hands to a plugin is valid until the call returns; what a plugin hands to the host
//!   in a call is read before that call returns, except the plugin's own tables, which must stay for the life of the process.
//! * No unwinding crosses. One call to `plan` happens on one thread; different calls may happen on different threads.
//!
//! Rejected: crates that derive a stable ABI for Rust traits (they let changed layouts through or abort at a panic), WebAssembly
//! components (minutes of build for a plugin of fifty lines). A table of functions costs 3 ns a call and any language can fill it.

#![no_std]
#![warn(missing_docs)]

use core::ffi::c_void;

mod layout;
mod sized;

pub use sized::{Growing, read_sized};

/// `"SWAPMEET"` in ASCII, first byte lowest: the first eight bytes of every plugin's table.
pub const SWM_MAGIC: u64 = 0x5445_454D_5041_5753;
const _: () = assert!(SWM_MAGIC == u64::from_le_bytes(*b"SWAPMEET"));
/// Plugins and hosts of different major versions refuse each other.
pub const SWM_ABI_MAJOR: u32 = 1;
/// Grows when fields are appended; never a reason to refuse.
pub const SWM_ABI_MINOR: u32 = 0;
/// The one symbol a plugin exports, of type [`SwmEntry`]; NUL-terminated for the loader.
pub const ENTRY_SYMBOL: &core::ffi::CStr = c"swapmeet_plugin";

/// What `supports` and `plan` return when all went well.
pub const SWM_OK: i32 = 0;
/// The algorithm can't run on this problem; the reason was given with [`SwmHost::fail`].
pub const SWM_UNSUPPORTED: i32 = 1;
/// The plugin failed; the reason was given with [`SwmHost::fail`].
pub const SWM_ERROR: i32 = 2;
/// The host refused a call (the schedule broke a rule, or the case was stopped); the plugin should return this at once.
pub const SWM_STOPPED: i32 = 3;
/// The plugin hands on a schedule from elsewhere, and that breaks a rule which the host can't see; which, was said with [`SwmHost::fail`].
pub const SWM_INVALID: i32 = 4;

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
/// Every node has a vector, whose sum the root is to have. In this and the two below a node holds one value of every segment, which sums what is
/// *contributed* to it by the origins of the blocks in it; sends take values as a whole, and [`SWM_COMBINE`] says whether they are added to the receiver's.
pub const SWM_REDUCE: u32 = 6;
/// Every node has a term for every node's result; each is to have the sum of those for it.
pub const SWM_REDUCE_SCATTER: u32 = 7;
/// Every node has a vector, whose sum everyone is to have.
pub const SWM_ALLREDUCE: u32 = 8;

/// A set of every coordinate, or of every node.
pub const SWM_ALL: u32 = 0;
/// [`SwmAxis`]: `first`, `first + stride`, .. (`count` of them), each modulo the axis's radix.
pub const SWM_RANGE: u32 = 1;
/// [`SwmAxis`]: the coordinates whose bits are set in `words`.
pub const SWM_BITS: u32 = 2;
/// [`SwmSet`]: the single node `node`.
pub const SWM_NODE: u32 = 1;
/// [`SwmSet`]: the product of `axes`.
pub const SWM_AXES: u32 = 2;

/// [`SwmBlocks::flags`]: every block selected must be held; without it the selection is a rule over whatever is held.
pub const SWM_STRICT: u32 = 1;
/// [`SwmBlocks::flags`]: the sender keeps what it sends (broadcast, allgather).
pub const SWM_COPY: u32 = 2;
/// [`SwmBlocks::flags`], in reductions: the receiver adds what it is sent to the values that it has, in which none of the same contributions may be.
/// Without it what is sent takes their place, and must have all their contributions in it. Where the receiver has nothing, both are the same.
pub const SWM_COMBINE: u32 = 8;
/// Flags of any send: `from` may equal `to`; such a send is a local copy and costs nothing.
pub const SWM_LOCAL: u32 = 4;

/// [`SwmLayout::flags`]: the schedule moves byte counts, not blocks. A node then holds so many bytes for each destination, whoever they come
/// from, and may redistribute them element by element; delivery is proved by following the bytes for each destination.
pub const SWM_BYTE_COUNTS: u32 = 1;
/// [`SwmLayout::flags`]: every block, or vector, is cut into one part for each node of the machine, and `destinations` of a send name parts by those
/// nodes; for collectives whose blocks have no destination to be told apart by. Each part is then split in `segments`.
pub const SWM_IN_PARTS: u32 = 2;
/// [`SwmByteCount::bytes`]: all that the sender holds for the destination, outside of buckets.
pub const SWM_ALL_BYTES: u64 = u64::MAX;

/// [`SwmParamInfo::kind`]: any text.
pub const SWM_PARAM_TEXT: u32 = 0;
/// [`SwmParamInfo::kind`]: a whole number, from 0 on.
pub const SWM_PARAM_NUMBER: u32 = 1;
/// [`SwmParamInfo::kind`]: one of the words in `values`.
pub const SWM_PARAM_CHOICE: u32 = 2;
/// [`SwmParamInfo::kind`]: the path of a regular file, which the algorithm reads while it plans. The host reads it, too: its digest stands in the row.
pub const SWM_PARAM_FILE: u32 = 3;

/// [`SwmSymmetry::kind`]: the group leaves the axis as it is.
pub const SWM_FIXED: u32 = 0;
/// [`SwmSymmetry::kind`]: the group adds the multiples of `unit`, modulo the radix, which `unit` divides.
pub const SWM_SHIFT: u32 = 1;
/// [`SwmSymmetry::kind`]: the group takes the exclusive-or with the multiples of `unit`; `unit` and the radix are powers of two.
pub const SWM_XOR: u32 = 2;

/// Level for [`SwmHost::log`]: the line is shown behind `warning: `.
pub const SWM_LOG_WARN: u32 = 1;
/// Level for [`SwmHost::log`]: the line is shown as it is.
pub const SWM_LOG_INFO: u32 = 2;

/// Text: UTF-8, not NUL-terminated. `ptr` may be null when `len` is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmStr {
    /// The first of the `len` bytes.
    pub ptr: *const u8,
    /// Length in bytes, not in characters.
    pub len: usize,
}

/// A subset of the coordinates of one axis of the grid. Zero is every coordinate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmAxis {
    /// [`SWM_ALL`], [`SWM_RANGE`] or [`SWM_BITS`].
    pub kind: u32,
    /// Zero; there for alignment, and for later.
    pub reserved: u32,
    /// First coordinate of a range; below the axis's radix.
    pub first: u64,
    /// Distance between members of a range; at least 1.
    pub stride: u64,
    /// Members of a range (cyclic; no coordinate may come up twice), or words in `words`.
    pub count: u64,
    /// Bit `c % 64` of word `c / 64` is coordinate `c`.
    pub words: *const u64,
}

/// A set of nodes of the schedule's grid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmSet {
    /// [`SWM_ALL`], [`SWM_NODE`] or [`SWM_AXES`].
    pub kind: u32,
    /// As many as the grid has, when `kind` is [`SWM_AXES`].
    pub axis_count: u32,
    /// The one node, when `kind` is [`SWM_NODE`].
    pub node: u64,
    /// One subset an axis.
    pub axes: *const SwmAxis,
}

/// How a message should travel, where the topology's own route won't do. Dimensions are those of the topology.
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
    /// The nodes passed through, the receiver last, each a neighbour of the one before; null for a route by dimensions.
    pub path: *const u64,
    /// How many nodes `path` has.
    pub path_len: u64,
}

/// A send of blocks ([`SwmHost::send_blocks`]): of what `from` holds, the blocks with origin in `origins` and destination in `destinations` go
/// to `to`.
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
    /// Where the blocks come from. In an all-to-all every node also has a block for itself, which is where it should be from the start and may
    /// stay there: a strict send of everything a node holds takes it along. In a reduction [`SWM_ALL`]: a sum goes as a whole.
    pub origins: SwmSet,
    /// Where the blocks go. In a permutation [`SWM_ALL`]: its blocks are known by their origins. With [`SWM_IN_PARTS`], which parts of them.
    pub destinations: SwmSet,
    /// Which segments of each block, where blocks are split ([`SwmLayout::segments`]).
    pub segments: SwmAxis,
    /// Null for the topology's own route. A path in it wins over signs and order.
    pub route: *const SwmRoute,
    /// What the plugin calls this send, such as the place in a file that it was read from: faults say it. Empty for nothing.
    pub label: SwmStr,
}

/// A send of one bucket of what `from` has redistributed ([`SwmHost::send_bucket`]), in a schedule of byte counts.
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
    /// The bucket, counted from 0, below [`SwmRedistribution::buckets`] of the sender's last redistribution.
    pub bucket: u64,
    /// Null for the topology's own route. A path in it wins over signs and order.
    pub route: *const SwmRoute,
}

/// A send of so many bytes for each of some destinations ([`SwmHost::send_bytes`]), in a schedule of byte counts; what is in buckets isn't touched.
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
    /// How many: a multiple of the element's size ([`SwmHost::element_bytes`]), or [`SWM_ALL_BYTES`].
    pub bytes: u64,
}

/// A node sorts all it holds into buckets, element by element. Element x (from 0) of what it holds for destination d has number
/// `e = (starts[d] + x) % cycle` and goes to bucket `(first + firsts[d] + e) % buckets`. Buckets are then sent one by one
/// ([`SwmHost::send_bucket`]). What the node holds for itself is redistributed with the rest.
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
    /// After how many elements the round begins again; as many as there are buckets in the plain case.
    pub cycle: u64,
    /// The bucket that the first element goes to, below `buckets`.
    pub first: u64,
    /// For each destination the number its elements begin with, below `cycle`; null for 0 everywhere.
    pub starts: *const u32,
    /// For each destination what is added to `first`, below `buckets`; null for 0 everywhere.
    pub firsts: *const u32,
    /// Length of `starts` and of `firsts` where they are not null: the nodes.
    pub node_count: u64,
}

/// The grid in which a schedule speaks of nodes, when the topology's own won't do.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmLayout {
    /// Size of this struct.
    pub size: u32,
    /// Axes of the grid; 0 for the topology's own.
    pub axis_count: u32,
    /// Radix of each axis; nodes are numbered row-major, the last axis fastest.
    pub radices: *const u64,
    /// Segments into which every block is split; 0 and 1 mean whole.
    pub segments: u32,
    /// 0 for a schedule of whole blocks, [`SWM_BYTE_COUNTS`] for one of byte counts, [`SWM_IN_PARTS`] for one of parts of blocks.
    pub flags: u32,
}

/// How a group moves the coordinates of one axis of the schedule's grid ([`SwmHost::symmetric`]). Zero leaves them as they are.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmSymmetry {
    /// [`SWM_FIXED`], [`SWM_SHIFT`] or [`SWM_XOR`].
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// The period of a shift, the lowest bit of an exclusive-or.
    pub unit: u64,
}

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
    /// The whole spec in canonical form, such as `torus:16x16`: for messages. What it says is in the other fields, none need take it apart.
    pub spec: SwmStr,
    /// Nodes, numbered from 0.
    pub nodes: u64,
    /// Radix of each axis; nodes are numbered row-major, the last axis fastest.
    pub dims: *const u64,
    /// Of a dual-net, what a cluster is at the lowest level, which is none itself; null for other topologies.
    pub base: *const SwmTopology,
    /// Of a dual-net, how many levels there are above the base, whatever way they are nested in its spec; else 0.
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

/// What is to be done, but for what a plugin has to ask for ([`SwmHost::block_bytes`] and its neighbours).
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

/// What a plugin may ask of the host. Each function takes `ctx` first; those that return `i32` return [`SWM_OK`] or [`SWM_STOPPED`].
///
/// Sizes and machine parameters are asked for rather than given: a schedule whose making did not ask for the block size is
/// the same for every block size, and the host then prices many cases from one run of it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmHost {
    /// Size of this struct.
    pub size: u32,
    /// Zero; there for alignment, and for later.
    pub reserved: u32,
    /// The host's own; handed back in every call.
    pub ctx: *mut c_void,
    /// Says why the plugin is about to return [`SWM_UNSUPPORTED`], [`SWM_ERROR`] or [`SWM_INVALID`].
    pub fail: Option<unsafe extern "C" fn(ctx: *mut c_void, reason: SwmStr)>,
    /// A line for the log; `level` is [`SWM_LOG_WARN`] or [`SWM_LOG_INFO`].
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, line: SwmStr)>,
    /// Bytes of each block when sizes are uniform, else the largest block.
    pub block_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Bytes of the block from node `from` to node `to` of the machine; `from` and `to` may be the same, for what a node has for itself.
    pub pair_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64, to: u64) -> u64>,
    /// Messages a node may send, and receive, at a time; `u64::MAX` for all links at once.
    pub ports: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Circuits a directed link carries at a time.
    pub virtual_channels: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Bytes of the unit that is redistributed; block sizes are multiples of it.
    pub element_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// For a permutation, the node of the machine that node `from` has its block for; `from` itself for other collectives.
    pub destination: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64) -> u64>,
    /// The machine's start-up of a message in microseconds (alpha), 0 if it has none. This and the two below are for choosing among forms that the
    /// algorithm declares, not for making up a schedule machine by machine.
    pub startup_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// The machine's time per link of a route in microseconds, 0 if it has none.
    pub hop_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// The machine's time per byte of a message in microseconds (beta), 0 if it has none.
    pub byte_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Sets the grid and the segments of blocks; before the first step, once.
    pub layout: Option<unsafe extern "C" fn(ctx: *mut c_void, layout: *const SwmLayout) -> i32>,
    /// Says which node of the machine runs node `node` of the grid, and whether it is that one's home, where its own blocks are (`home` 1), or a
    /// virtual node that only passes on what others have (`home` 0). After `layout`, before the first step; needed for every node when the grid
    /// has not as many nodes as the machine, and for none when it has.
    pub place: Option<unsafe extern "C" fn(ctx: *mut c_void, node: u64, physical: u64, home: u32) -> i32>,
    /// Begins a phase: a name for a run of steps.
    pub phase: Option<unsafe extern "C" fn(ctx: *mut c_void, name: SwmStr) -> i32>,
    /// Begins a step: what follows happens at once, and what arrives can be sent on only in a later step.
    pub step: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// Adds a send of blocks to the current step.
    pub send_blocks: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBlocks) -> i32>,
    /// Every node rearranges all it holds, once, between two steps.
    pub rearrange: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// In a schedule of byte counts, between steps: a node sorts all it holds into buckets, what has just arrived included.
    pub redistribute: Option<unsafe extern "C" fn(ctx: *mut c_void, redistribution: *const SwmRedistribution) -> i32>,
    /// In a schedule of byte counts, adds a send of a bucket to the current step.
    pub send_bucket: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBucket) -> i32>,
    /// In a schedule of byte counts, adds a send of so many bytes for each of some destinations to the current step.
    pub send_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBytes) -> i32>,
    /// Says under which group the schedule is invariant, and asks for whom to plan; after `layout` and `place`, before the first step, once. The
    /// group is the product of what it does to each axis of the grid, or, given one axis alone, does this to the nodes' numbers: whatever one of its elements does to the
    /// nodes of every send and to the members of its sets makes another send of the same step. The host writes to `planned`, for each axis, how many coordinates it is to plan
    /// for, from 0 on: `unit` of them where one node of each orbit will do, the radix where it wants everyone. Only nodes with such coordinates send from then on, in ascending order, each all that it sends in a step;
    /// what the others do follows from the group. A plugin that never calls it plans for everyone.
    pub symmetric: Option<
        unsafe extern "C" fn(ctx: *mut c_void, axes: *const SwmSymmetry, axis_count: u64, planned: *mut u64) -> i32,
    >,
}

/// A parameter that an algorithm takes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmParamInfo {
    /// Size of this struct.
    pub size: u32,
    /// [`SWM_PARAM_TEXT`], [`SWM_PARAM_NUMBER`], [`SWM_PARAM_CHOICE`] or [`SWM_PARAM_FILE`].
    pub kind: u32,
    /// Its key: lower case, digits and hyphens.
    pub key: SwmStr,
    /// What it is when not given; empty if that depends on the problem, as `help` then says.
    pub default_value: SwmStr,
    /// One line: meaning, values.
    pub help: SwmStr,
    /// The words that a [`SWM_PARAM_CHOICE`] may be, its default among them. Others never reach the algorithm; `swapmeet check` tries each.
    pub values: *const SwmStr,
    /// How many words there are.
    pub value_count: u64,
}

/// Either answers whether the algorithm can run, or gives its schedule. Returns [`SWM_OK`], [`SWM_UNSUPPORTED`], [`SWM_ERROR`],
/// [`SWM_STOPPED`] or [`SWM_INVALID`].
pub type SwmRun =
    unsafe extern "C" fn(algorithm: *const SwmAlgorithm, problem: *const SwmProblem, host: *const SwmHost) -> i32;

/// One algorithm of a plugin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmAlgorithm {
    /// Size of this struct.
    pub size: u32,
    /// Zero; there for alignment, and for later.
    pub reserved: u32,
    /// The name users type: lower case, digits and hyphens.
    pub name: SwmStr,
    /// One line for lists.
    pub title: SwmStr,
    /// Where it was published.
    pub paper: SwmStr,
    /// On what it runs, in words.
    pub accepts: SwmStr,
    /// Bit `1 << SWM_ALLTOALL`, .. for each collective it does.
    pub collectives: u64,
    /// The parameters it takes, in the order in which specs name them: pointers, so that [`SwmParamInfo`] can grow.
    pub params: *const *const SwmParamInfo,
    /// How many parameters there are.
    pub param_count: u64,
    /// The plugin's own: the host hands the table back and never looks at it.
    pub user: *const c_void,
    /// Whether it can run; asked before `plan`. Null if it always can.
    pub supports: Option<
        unsafe extern "C" fn(algorithm: *const SwmAlgorithm, problem: *const SwmProblem, host: *const SwmHost) -> i32,
    >,
    /// Gives the schedule, step by step. Null, with no name, where the plugin failed at describing the algorithm: `title` then says why, and
    /// the host refuses the plugin with it.
    pub plan: Option<
        unsafe extern "C" fn(algorithm: *const SwmAlgorithm, problem: *const SwmProblem, host: *const SwmHost) -> i32,
    >,
    /// The most messages that a node sends, and the most that it receives, in one step: 1 for a one-port algorithm, `u64::MAX`
    /// for one that uses all links, 0 where the plugin doesn't say. `swapmeet check` holds the schedules to it.
    pub ports: u64,
}

/// The first 24 bytes of a plugin's table: frozen for ever, read before anything else.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmHead {
    /// [`SWM_MAGIC`]: what the host knows a table by.
    pub magic: u64,
    /// [`SWM_ABI_MAJOR`] of the header the plugin was built with.
    pub abi_major: u32,
    /// [`SWM_ABI_MINOR`] of the header the plugin was built with.
    pub abi_minor: u32,
    /// Size of the whole table.
    pub size: u32,
    /// Zero; there for alignment, and for later.
    pub reserved: u32,
}

/// A plugin's table: who it is and what it offers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmPlugin {
    /// What is frozen: versions and size.
    pub head: SwmHead,
    /// The plugin's name: lower case, digits and hyphens.
    pub name: SwmStr,
    /// Its version, such as `0.1.0`.
    pub version: SwmStr,
    /// Its licence, an SPDX expression.
    pub licence: SwmStr,
    /// Pointers, so that [`SwmAlgorithm`] can grow.
    pub algorithms: *const *const SwmAlgorithm,
    /// How many algorithms there are.
    pub algorithm_count: u64,
}

/// The type of `swapmeet_plugin`, the one symbol a plugin exports. The table must stay for the life of the process.
pub type SwmEntry = unsafe extern "C" fn() -> *const SwmPlugin;

impl SwmStr {
    /// Text that lives as long as `text` does.
    pub const fn new(text: &str) -> Self {
        Self { ptr: text.as_ptr(), len: text.len() }
    }

    /// The empty text, where a text may be left out.
    pub const EMPTY: Self = Self { ptr: core::ptr::null(), len: 0 };

    /// The bytes, empty for null.
    ///
    /// # Safety
    /// `ptr` must be null or point to `len` readable bytes that stay unchanged for `'a`.
    pub const unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.ptr.is_null() {
            return &[];
        }
        // SAFETY: the caller promises what is needed.
        unsafe { core::slice::from_raw_parts(self.ptr, self.len) }
    }
}

impl SwmAxis {
    /// Every coordinate of the axis, whatever its radix.
    pub const ALL: Self = Self { kind: SWM_ALL, reserved: 0, first: 0, stride: 0, count: 0, words: core::ptr::null() };

    /// `count` coordinates from `first` on, `stride` apart, modulo the radix.
    pub const fn range(first: u64, stride: u64, count: u64) -> Self {
        Self { kind: SWM_RANGE, reserved: 0, first, stride, count, words: core::ptr::null() }
    }
}

impl SwmSet {
    /// Every node of the grid, whatever its axes.
    pub const ALL: Self = Self { kind: SWM_ALL, axis_count: 0, node: 0, axes: core::ptr::null() };
}

// SAFETY: tables are constant data behind const pointers; nobody writes through them.
unsafe impl Sync for SwmPlugin {}
// SAFETY: as above.
unsafe impl Sync for SwmAlgorithm {}
// SAFETY: as above.
unsafe impl Sync for SwmParamInfo {}
// SAFETY: as above.
unsafe impl Sync for SwmStr {}
