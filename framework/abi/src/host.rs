//! The functions of the host that a plugin may call.

use crate::*;
use core::ffi::c_void;

/// Return value of `supports`, of `plan` and of the host's functions: success.
pub const SWM_OK: i32 = 0;
/// Return value of `supports` and `plan`: the algorithm cannot run on this problem. The plugin has
/// given the reason with [`SwmHost::fail`].
pub const SWM_UNSUPPORTED: i32 = 1;
/// Return value of `supports` and `plan`: the plugin failed. It has given the reason with
/// [`SwmHost::fail`].
pub const SWM_ERROR: i32 = 2;
/// Return value of the host's functions: the host refused the call, because the schedule broke a
/// rule or because the case was stopped. The plugin should then immediately return this value from
/// `supports` or `plan`.
pub const SWM_STOPPED: i32 = 3;
/// Return value of `supports` and `plan`: the plugin passes on a schedule from another source, and
/// that schedule breaks a rule which the host cannot check. The plugin has named the rule with
/// [`SwmHost::fail`].
pub const SWM_INVALID: i32 = 4;

/// Level for [`SwmHost::log`]: the line is shown with the prefix `warning: `.
pub const SWM_LOG_WARN: u32 = 1;
/// Level for [`SwmHost::log`]: the line is shown unchanged.
pub const SWM_LOG_INFO: u32 = 2;
/// Level for [`SwmHost::log`], since version 1.1: the line is shown unchanged, and the column `note`
/// of the row contains it, too. A host of version 1.0 only shows it.
pub const SWM_LOG_NOTE: u32 = 3;

/// The functions of the host that a plugin may call. Each function takes `ctx` as its first
/// argument. Functions that return `i32` return [`SWM_OK`] or [`SWM_STOPPED`].
///
/// The problem does not contain block sizes and machine parameters. A plugin requests them with
/// these functions, so that the host knows which of them the schedule depends on. A schedule that
/// was planned without requesting the block size is the same for every block size. The host then
/// computes the times of many cases from one plan.
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
    /// Writes a line to the log. `level` is [`SWM_LOG_WARN`], [`SWM_LOG_INFO`] or
    /// [`SWM_LOG_NOTE`].
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, line: SwmStr)>,
    /// Returns the size of each block in bytes. If blocks differ in size, returns the size of the
    /// largest block.
    pub block_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the number of bytes of the block from node `from` to node `to` of the machine. If
    /// both are the same node, this is the block that the node has for itself.
    pub pair_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64, to: u64) -> u64>,
    /// Returns the port limit of the machine: the number of messages that a node may send, and may
    /// receive, at the same time. `u64::MAX` means that a node may use all of its links at the same
    /// time. The number of ports that an algorithm promises not to exceed is
    /// [`SwmAlgorithm::ports`].
    pub ports: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the number of circuits that a directed link carries at the same time.
    pub virtual_channels: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the size of one element in bytes. Elements are the units of data that a
    /// redistribution moves ([`SwmHost::redistribute`]). Block sizes are multiples of the element
    /// size.
    pub element_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// In a permutation, returns the node of the machine that receives the block of node `from`. In
    /// other collectives, returns `from`.
    pub destination: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64) -> u64>,
    /// Returns the start-up time of a message in microseconds (alpha), 0 if the machine has none.
    /// Use this function, `hop_us` and `byte_us` only to choose among variants that the user can
    /// also select with a parameter of the algorithm. Do not use them to build a different schedule
    /// for each machine.
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
    /// Makes every node rearrange all the data that it holds. Call it between two steps, once for
    /// each rearrangement.
    pub rearrange: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// In a schedule of byte counts, makes a node sort all the data that it holds into buckets,
    /// including the data that arrived in the last step. Call it between two steps.
    pub redistribute: Option<
        unsafe extern "C" fn(ctx: *mut c_void, redistribution: *const SwmRedistribution) -> i32,
    >,
    /// In a schedule of byte counts, adds a send of a bucket to the current step.
    pub send_bucket: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBucket) -> i32>,
    /// In a schedule of byte counts, adds a send to the current step. The send lists destinations,
    /// each with a number of bytes.
    pub send_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBytes) -> i32>,
    /// Declares a group of symmetries under which the schedule is invariant, and returns which
    /// nodes the plugin must plan. Call it at most once, after `layout` and `place` and before the
    /// first step.
    ///
    /// The group is the product of one action for each axis of the grid. If `axis_count` is 1, the
    /// action applies to the node numbers. The schedule is invariant if each symmetry maps each
    /// send to a send of the same step. The symmetry is applied to the sender, to the receiver and
    /// to the members of the sets of the send. The orbit of a node is the set of nodes to which the
    /// symmetries map it.
    ///
    /// For each axis, the host writes to `planned` the number of coordinates to plan, counted from
    /// 0. If it is enough to plan one node of each orbit, this number is [`SwmSymmetry::unit`], or
    /// the radix on an axis of kind [`SWM_FIXED`]. If the host requests all nodes, it is the radix.
    /// After this call, only nodes with these coordinates may send. In each step, the plugin lists
    /// these nodes in ascending order, each with all of its sends. The host derives the sends of
    /// all other nodes from the group. A plugin that never calls this function plans all nodes.
    pub symmetric: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            axes: *const SwmSymmetry,
            axis_count: u64,
            planned: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Does the same as [`SwmHost::symmetric`], for a plugin that can plan any node of
    /// an orbit. Such a plugin should call this function instead of `symmetric` if it is not null.
    ///
    /// The host writes to `first`, for each axis, the first coordinate to plan, and to `planned`
    /// the number of coordinates to plan from there on. `first` is a multiple of the axis's `unit`.
    /// It is 0 if the host requests the nodes that `symmetric` would name. It is another multiple
    /// if the host checks the declared symmetry by planning other nodes of the orbits. After this
    /// call, only nodes with coordinates from `first` to `first + planned - 1` may send. Both lists
    /// have room for one value for each axis.
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
    /// have no links. In this case, the nodes of the machine also count as switches: their numbers
    /// follow those of the ranks, and the actual switches come last.
    pub vertices: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Since 1.1. Reads the directed links that leave a vertex. The host writes at most `room`
    /// links to `links`, in ascending order of the vertices to which they lead. It writes the
    /// number of all links that leave the vertex to `count`. Parallel links to the same vertex are
    /// listed separately.
    pub links: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            vertex: u64,
            links: *mut SwmLink,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Returns 1 if all blocks have the same size, and 0 otherwise. This call does not
    /// count as a request for block sizes, because a schedule for blocks of the same size is valid
    /// for every size.
    pub uniform: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// Since 1.1. Reads the demand of node `from` of the machine: the nodes that must receive data
    /// which starts at `from`, each with its number of bytes. Receivers of 0 bytes are left out.
    /// The node itself is listed if it has a block for itself. In a reduction, the receivers are
    /// the nodes that need results, and each number of bytes is the size of one term of a sum. The
    /// host writes at most `room` pairs to `demand`, in ascending order of the receivers. It writes
    /// the number of all pairs to `count`.
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
    /// writes the total bytes of at most `room` classes to `bytes`, in the order of their numbers.
    /// It writes the number of all classes of the node to `count`. Other collectives have no tokens.
    /// The number of segments of a block is the largest number of classes of a node, at least 1.
    pub token_bytes: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            node: u64,
            bytes: *mut u64,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Reads the receivers of a class of the tokens of a node. The host writes at most
    /// `room` nodes to `receivers`, in ascending order, and the number of all receivers to `count`.
    /// The node of the tokens can be a receiver.
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
    /// Since 1.1. Returns 1 if a message over several links of the machine crosses all of them at
    /// once and shares each of them with other messages, and 0 if it occupies them alone or is
    /// stored by each node on its route. If 1, a message that takes the route of some data is at
    /// least as fast as messages between neighbours that forward this data.
    pub shares_routes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// Since 1.2. Returns 1 if a vertex is a switch that can add and copy the data of sends
    /// ([`SwmBlocks::reducer`], [`SwmBlocks::multicaster`]), and 0 otherwise.
    pub can_reduce: Option<unsafe extern "C" fn(ctx: *mut c_void, vertex: u64) -> u32>,
}
