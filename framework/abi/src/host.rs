//! The functions of the host that a plugin may call.

use crate::*;
use core::ffi::c_void;

/// Return value of `supports` and `plan`: success.
pub const SWM_OK: i32 = 0;
/// The algorithm cannot run on this problem. The plugin has given the reason with
/// [`SwmHost::fail`].
pub const SWM_UNSUPPORTED: i32 = 1;
/// The plugin failed. It has given the reason with [`SwmHost::fail`].
pub const SWM_ERROR: i32 = 2;
/// The host refused a call because the schedule broke a rule or because the case was stopped. The
/// plugin should return this value at once.
pub const SWM_STOPPED: i32 = 3;
/// The plugin passes on a schedule from another source, and that schedule breaks a rule which the
/// host cannot check. The plugin has named the rule with [`SwmHost::fail`].
pub const SWM_INVALID: i32 = 4;

/// Level for [`SwmHost::log`]: the line is shown with the prefix `warning: `.
pub const SWM_LOG_WARN: u32 = 1;
/// Level for [`SwmHost::log`]: the line is shown unchanged.
pub const SWM_LOG_INFO: u32 = 2;

/// The functions of the host that a plugin may call. Each function takes `ctx` as its first
/// argument. Functions that return `i32` return [`SWM_OK`] or [`SWM_STOPPED`].
///
/// A plugin requests sizes and machine parameters instead of receiving them with the problem. A
/// schedule that was planned without requesting the block size is the same for every block size,
/// and the host then computes the times of many cases from one plan.
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
    /// Writes a line to the log. `level` is [`SWM_LOG_WARN`] or [`SWM_LOG_INFO`].
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, line: SwmStr)>,
    /// Returns the size of each block in bytes. Where sizes differ, it returns the size of the
    /// largest block.
    pub block_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the bytes of the block from node `from` to node `to` of the machine. `from` and `to`
    /// may be the same node: the block that a node has for itself.
    pub pair_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64, to: u64) -> u64>,
    /// Returns the port limit of the machine: the number of messages that a node may send, and may
    /// receive, at the same time. `u64::MAX` means all links at once. The promise of an algorithm
    /// is [`SwmAlgorithm::ports`].
    pub ports: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the number of circuits that a directed link carries at the same time.
    pub virtual_channels: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns the size in bytes of one element, the unit of redistribution. Block sizes are
    /// multiples of it.
    pub element_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Returns, in a permutation, the node of the machine that receives the block of node `from`.
    /// In other collectives it returns `from`.
    pub destination: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64) -> u64>,
    /// Returns the start-up time of a message in microseconds (alpha), 0 if the machine has none.
    /// Use this function and the next two to choose among forms that the algorithm declares as a
    /// parameter, not to build a different schedule for each machine.
    pub startup_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Returns the time per link of a route in microseconds, 0 if the machine has none.
    pub hop_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Returns the time per byte of a message in microseconds (beta), 0 if the machine has none.
    pub byte_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Sets the grid of the schedule and the number of segments of each block. Call it at most
    /// once, before the first step.
    pub layout: Option<unsafe extern "C" fn(ctx: *mut c_void, layout: *const SwmLayout) -> i32>,
    /// Places node `node` of the schedule's grid on node `physical` of the machine. With `home` 1
    /// the blocks of the machine node start and end at this grid node. With `home` 0 the grid node
    /// is virtual: it only passes on blocks of other nodes. Call it after `layout` and before the
    /// first step, for every node of a grid whose node count differs from that of the machine;
    /// otherwise do not call it.
    pub place:
        Option<unsafe extern "C" fn(ctx: *mut c_void, node: u64, physical: u64, home: u32) -> i32>,
    /// Begins a phase: a named sequence of steps.
    pub phase: Option<unsafe extern "C" fn(ctx: *mut c_void, name: SwmStr) -> i32>,
    /// Begins a step. All sends of a step happen at the same time; data that arrives in a step can
    /// be sent on only in a later step.
    pub step: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// Adds a send of blocks to the current step.
    pub send_blocks: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBlocks) -> i32>,
    /// Every node rearranges all the data that it holds, once, between two steps.
    pub rearrange: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// In a schedule of byte counts, between steps: a node sorts all the data that it holds into
    /// buckets, including the data that arrived in the last step.
    pub redistribute: Option<
        unsafe extern "C" fn(ctx: *mut c_void, redistribution: *const SwmRedistribution) -> i32,
    >,
    /// In a schedule of byte counts, adds a send of a bucket to the current step.
    pub send_bucket: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBucket) -> i32>,
    /// In a schedule of byte counts, adds to the current step a send of a given number of bytes for
    /// each of some destinations.
    pub send_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBytes) -> i32>,
    /// Declares a group under which the schedule is invariant, and reads which nodes to plan. Call
    /// it at most once, after `layout` and `place` and before the first step.
    ///
    /// The group is the product of one action for each axis of the grid. If `axis_count` is 1, the
    /// action applies to the node numbers. Invariant means: if an element of the group is applied
    /// to the sender and the receiver of a send and to the members of its sets, the result is
    /// another send of the same step.
    ///
    /// The host writes to `planned`, for each axis, how many coordinates to plan, counted from 0.
    /// The count is `unit` where one node of each orbit is enough, and the radix where the host
    /// wants all nodes. From then on only nodes with such coordinates may send. The plugin lists
    /// them in ascending order, each with all its sends of the step; the host derives the sends of
    /// all other nodes from the group. A plugin that never calls this function plans all nodes.
    pub symmetric: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            axes: *const SwmSymmetry,
            axis_count: u64,
            planned: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. As [`SwmHost::symmetric`], for a plugin that can plan any node of an orbit. Use it
    /// instead of `symmetric` if it is not null.
    ///
    /// The host writes to `first`, for each axis, the first coordinate to plan, and to `planned` how
    /// many to plan from there on. `first` is a multiple of the axis's `unit`: 0 for the nodes that
    /// `symmetric` would name, or another one where the host compares the claim with what other
    /// nodes of the orbits plan. From then on only nodes with coordinates from `first` to
    /// `first + planned - 1` may send. Both lists have room for one value for each axis.
    pub symmetric_from: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            axes: *const SwmSymmetry,
            axis_count: u64,
            first: *mut u64,
            planned: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Returns the number of vertices of the network. The nodes have the lowest numbers.
    /// All other vertices are switches, which have no data of their own. If several ranks share a
    /// node of the machine, the ranks are the nodes of the problem and have no links, and the nodes
    /// of the machine are listed like switches, before the switches.
    pub vertices: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Since 1.1. Reads the directed links that leave a vertex. The host writes at most `room` links
    /// to `links`, in ascending order of their ends, and the number of all links of the vertex to
    /// `count`. Parallel links to the same vertex are listed separately.
    pub links: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            vertex: u64,
            links: *mut SwmLink,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
    /// Since 1.1. Returns 1 if all blocks have the same size, and 0 otherwise. A schedule for blocks
    /// of the same size is valid for every size, so this is not a request for the sizes.
    pub uniform: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// Since 1.1. Reads the demand of node `from` of the machine: the nodes that are to receive data
    /// which starts at `from`, each with its number of bytes. Receivers of 0 bytes are left out. The
    /// node itself is listed if it has a block for itself. In a reduction, the receivers are the
    /// nodes of the results, and the bytes are those of a term. The host writes at most `room` pairs
    /// to `demand`, in ascending order of the receivers, and the number of all pairs to `count`.
    pub demand: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            from: u64,
            demand: *mut SwmByteCount,
            room: u64,
            count: *mut u64,
        ) -> i32,
    >,
}
