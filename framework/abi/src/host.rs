//! The functions of the host that a plugin may call.

use crate::*;
use core::ffi::c_void;

/// Return value of `supports`, of `plan` and of the host's functions: success.
pub const SWM_OK: i32 = 0;
/// Return value of `supports` and `plan`: the algorithm cannot run on this problem, for the reason
/// that the plugin has given with [`SwmHost::fail`].
pub const SWM_UNSUPPORTED: i32 = 1;
/// Return value of `supports` and `plan`: the plugin failed, for the reason given with
/// [`SwmHost::fail`].
pub const SWM_ERROR: i32 = 2;
/// Return value of the host's functions: the host refused the call, because the schedule broke a
/// rule or because the case was stopped. `supports` or `plan` should then immediately return this
/// value.
pub const SWM_STOPPED: i32 = 3;
/// Return value of `supports` and `plan`: a schedule from another source breaks a rule that the
/// host cannot check. The plugin has named the rule with [`SwmHost::fail`].
pub const SWM_INVALID: i32 = 4;

/// Level for [`SwmHost::log`]: the line is shown with the prefix `warning: `.
pub const SWM_LOG_WARN: u32 = 1;
/// Level for [`SwmHost::log`]: the line is shown unchanged.
pub const SWM_LOG_INFO: u32 = 2;
/// Level for [`SwmHost::log`], since version 1.1: the line is shown unchanged, and the column
/// `note` of the row contains it, too. A host of version 1.0 only shows it.
pub const SWM_LOG_NOTE: u32 = 3;

/// The functions of the host that a plugin may call. Each takes `ctx` as its first argument. Those
/// that return `i32` return [`SWM_OK`] or [`SWM_STOPPED`].
///
/// The problem does not contain block sizes and machine parameters. A plugin requests them with
/// these functions, so that the host knows on which of them the schedule depends. A schedule that
/// was planned without requesting the block size is used for every block size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmHost {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Reserved; zero.
    pub reserved: u32,
    /// Opaque pointer of the host; pass it as the first argument of every call.
    pub ctx: *mut c_void,
    /// Gives the reason for the [`SWM_UNSUPPORTED`], [`SWM_ERROR`] or [`SWM_INVALID`] that the
    /// plugin is about to return.
    pub fail: Option<unsafe extern "C" fn(ctx: *mut c_void, reason: SwmStr)>,
    /// Writes a line to the log with the level [`SWM_LOG_WARN`], [`SWM_LOG_INFO`] or
    /// [`SWM_LOG_NOTE`].
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, line: SwmStr)>,
    /// Returns the size of each block in bytes, or of the largest if blocks differ in size.
    pub block_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the number of bytes of the block from node `from` to node `to` of the machine, which
    /// may be the same.
    pub pair_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64, to: u64) -> u64>,
    /// Returns the port limit of the machine: the number of messages that a node may send, and may
    /// receive, at the same time. `u64::MAX` means all links of the node. The promise of an
    /// algorithm is [`SwmAlgorithm::ports`].
    pub ports: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the number of circuits that a directed link carries at the same time.
    pub virtual_channels: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the size of one element in bytes, of which block sizes are multiples. A
    /// redistribution moves whole elements ([`SwmHost::redistribute`]).
    pub element_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// In a permutation, returns the node of the machine that receives the block of node `from`. In
    /// other collectives, returns `from`.
    pub destination: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64) -> u64>,
    /// Returns the start-up time of a message in microseconds (alpha), 0 if the machine has none.
    /// Use this function, `hop_us` and `byte_us` only to choose among variants that the user can
    /// also select with a parameter of the algorithm.
    pub startup_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Returns the time per link of a route in microseconds, 0 if the machine has none.
    pub hop_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Returns the time per byte of a message in microseconds (beta), 0 if the machine has none.
    pub byte_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Sets the grid of the schedule and the number of segments of each block. Call it at most
    /// once, before the first step.
    pub layout: Option<unsafe extern "C" fn(ctx: *mut c_void, layout: *const SwmLayout) -> i32>,
    /// Places node `node` of the schedule's grid on node `physical` of the machine. If `home` is 1,
    /// the blocks of the machine node start and end at this grid node. If `home` is 0, the grid
    /// node is virtual: it only forwards blocks of other nodes. If the grid and the machine have
    /// different numbers of nodes, call this function once for every node of the grid, after
    /// `layout` and before the first step. Otherwise do not call it.
    pub place:
        Option<unsafe extern "C" fn(ctx: *mut c_void, node: u64, physical: u64, home: u32) -> i32>,
    /// Begins a phase: a named sequence of steps.
    pub phase: Option<unsafe extern "C" fn(ctx: *mut c_void, name: SwmStr) -> i32>,
    /// Begins a step. All sends of a step happen at the same time; data that arrives in a step can
    /// be sent on only in a later step.
    pub step: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// Adds a send of blocks to the current step.
    pub send_blocks: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBlocks) -> i32>,
    /// Makes every node rearrange all the data that it holds. Call it between two steps.
    pub rearrange: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// In a schedule of byte counts, makes a node sort all the data that it holds into buckets,
    /// including the data that arrived in the last step. Call it between two steps.
    pub redistribute: Option<
        unsafe extern "C" fn(ctx: *mut c_void, redistribution: *const SwmRedistribution) -> i32,
    >,
    /// In a schedule of byte counts, adds a send of a bucket to the current step.
    pub send_bucket: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBucket) -> i32>,
    /// In a schedule of byte counts, adds a send of a number of bytes for each listed destination.
    pub send_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBytes) -> i32>,
    /// Declares a group of symmetries under which the schedule is invariant, and returns which
    /// nodes the plugin must plan. Call it at most once, after `layout` and `place` and before the
    /// first step.
    ///
    /// The group is the product of one action for each axis of the grid. If `axis_count` is 1, the
    /// action applies to the node numbers. The schedule is invariant if each symmetry maps each
    /// send (its sender, its receiver and the members of its sets) to a send of the same step. The
    /// orbit of a node is the set of nodes to which the symmetries map it.
    ///
    /// For each axis, the host writes to `planned` the number of coordinates to plan, from 0 on:
    /// [`SwmSymmetry::unit`] (the radix on an axis of kind [`SWM_FIXED`]) if it is enough to plan
    /// one node of each orbit, otherwise the radix. After this call, only nodes with these
    /// coordinates may send. In each step, the plugin lists them in ascending order, each with all
    /// of its sends. Without this call, a plugin plans all nodes.
    pub symmetric: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            axes: *const SwmSymmetry,
            axis_count: u64,
            planned: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Does the same as [`SwmHost::symmetric`], for a plugin that can plan any node of
    /// an orbit. Such a plugin should call this function if it is not null.
    ///
    /// For each axis, the host writes to `first` the first coordinate to plan, and to `planned` the
    /// number of coordinates to plan from there on. `first` is a multiple of the axis's `unit`: 0
    /// if the host requests the nodes that `symmetric` would name, another if it checks the
    /// declared symmetry by planning other nodes of the orbits. After this call, only nodes with
    /// these coordinates may send. Both lists have room for one value for each axis.
    pub symmetric_from: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            axes: *const SwmSymmetry,
            axis_count: u64,
            first: *mut u64,
            planned: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Returns the number of vertices of the network. The nodes of the problem have the
    /// lowest numbers. All other vertices count as switches, which have no data of their own. If
    /// several ranks share a node of the machine, the nodes of the problem are the ranks, which
    /// have no links. The nodes of the machine then count as switches, with the next numbers.
    pub vertices: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Since 1.1. Reads the directed links that leave a vertex. The host writes at most `room`
    /// links to `links`, in ascending order of the vertices to which they lead, with parallel links
    /// listed separately, and the number of all of them to `count`.
    pub links: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            vertex: u64,
            links: *mut SwmLink,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Returns 1 if all blocks have the same size, and 0 otherwise. This does not count
    /// as a request for block sizes, because a schedule for blocks of one size is valid for every
    /// size.
    pub uniform: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// Since 1.1. Reads the demand of node `from` of the machine: the nodes that must receive data
    /// which starts at `from`, each with its number of bytes. Receivers of 0 bytes are left out.
    /// The node itself is listed if it has a block for itself. In a reduction, the receivers are
    /// the nodes that need results, and each number is the size of one term of a sum. The host
    /// writes at most `room` pairs to `demand`, in ascending order of the receivers, and the number
    /// of all pairs to `count`.
    pub demand: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            from: u64,
            demand: *mut SwmByteCount,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Reads the classes of the tokens of a node, in a dispatch or a combine. The host
    /// writes the total bytes of at most `room` classes to `bytes`, in the order of their numbers,
    /// and the number of all classes of the node to `count`. The number of segments of a block is
    /// the largest number of classes of a node, at least 1.
    pub token_bytes: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            node: u64,
            bytes: *mut u64,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Reads the receivers of a class of the tokens of a node, which can include the
    /// node. The host writes at most `room` nodes to `receivers`, in ascending order, and the
    /// number of all to `count`.
    pub token_receivers: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            node: u64,
            token_class: u64,
            receivers: *mut u64,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Returns 1 if a message crosses all links of its route at once and shares each of
    /// them with other messages, and 0 if it occupies them alone or is stored by each node on its
    /// route. If 1, a message is at least as fast as messages between neighbours that forward its
    /// data.
    pub shares_routes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// Since 1.2. Returns 1 if a vertex is a switch that can add and copy the data of sends
    /// ([`SwmBlocks::reducer`], [`SwmBlocks::multicaster`]), and 0 otherwise.
    pub can_reduce: Option<unsafe extern "C" fn(ctx: *mut c_void, vertex: u64) -> u32>,
}
