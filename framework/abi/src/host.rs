//! What a plugin may ask of the host.

use crate::*;
use core::ffi::c_void;

/// What `supports` and `plan` return when all went well.
pub const SWM_OK: i32 = 0;
/// The algorithm can't run on this problem; the reason was given with [`SwmHost::fail`].
pub const SWM_UNSUPPORTED: i32 = 1;
/// The plugin failed; the reason was given with [`SwmHost::fail`].
pub const SWM_ERROR: i32 = 2;
/// The host refused a call (the schedule broke a rule, or the case was stopped); the plugin should
/// return this at once.
pub const SWM_STOPPED: i32 = 3;
/// The plugin hands on a schedule from elsewhere, and that breaks a rule which the host can't see;
/// which, was said with [`SwmHost::fail`].
pub const SWM_INVALID: i32 = 4;

/// Level for [`SwmHost::log`]: the line is shown behind `warning: `.
pub const SWM_LOG_WARN: u32 = 1;
/// Level for [`SwmHost::log`]: the line is shown as it is.
pub const SWM_LOG_INFO: u32 = 2;

/// What a plugin may ask of the host. Each function takes `ctx` first; those that return `i32`
/// return [`SWM_OK`] or [`SWM_STOPPED`].
///
/// Sizes and machine parameters are asked for rather than given: a schedule whose making did not
/// ask for the block size is the same for every block size, and the host then prices many cases
/// from one run of it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmHost {
    /// Size of this struct.
    pub size: u32,
    /// Zero; there for alignment, and for later.
    pub reserved: u32,
    /// The host's own; handed back in every call.
    pub ctx: *mut c_void,
    /// Says why the plugin is about to return [`SWM_UNSUPPORTED`], [`SWM_ERROR`] or
    /// [`SWM_INVALID`].
    pub fail: Option<unsafe extern "C" fn(ctx: *mut c_void, reason: SwmStr)>,
    /// A line for the log; `level` is [`SWM_LOG_WARN`] or [`SWM_LOG_INFO`].
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, line: SwmStr)>,
    /// Bytes of each block when sizes are uniform, else the largest block.
    pub block_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Bytes of the block from node `from` to node `to` of the machine; `from` and `to` may be the
    /// same, for what a node has for itself.
    pub pair_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64, to: u64) -> u64>,
    /// Messages a node may send, and receive, at a time; `u64::MAX` for all links at once.
    pub ports: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Circuits a directed link carries at a time.
    pub virtual_channels: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// Bytes of the unit that is redistributed; block sizes are multiples of it.
    pub element_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u64>,
    /// For a permutation, the node of the machine that node `from` has its block for; `from` itself
    /// for other collectives.
    pub destination: Option<unsafe extern "C" fn(ctx: *mut c_void, from: u64) -> u64>,
    /// The machine's start-up of a message in microseconds (alpha), 0 if it has none. This and the
    /// two below are for choosing among forms that the algorithm declares, not for making up a
    /// schedule machine by machine.
    pub startup_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// The machine's time per link of a route in microseconds, 0 if it has none.
    pub hop_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// The machine's time per byte of a message in microseconds (beta), 0 if it has none.
    pub byte_us: Option<unsafe extern "C" fn(ctx: *mut c_void) -> f64>,
    /// Sets the grid and the segments of blocks; before the first step, once.
    pub layout: Option<unsafe extern "C" fn(ctx: *mut c_void, layout: *const SwmLayout) -> i32>,
    /// Says which node of the machine runs node `node` of the grid, and whether it is that one's
    /// home, where its own blocks are (`home` 1), or a virtual node that only passes on what others
    /// have (`home` 0). After `layout`, before the first step; needed for every node when the grid
    /// has not as many nodes as the machine, and for none when it has.
    pub place:
        Option<unsafe extern "C" fn(ctx: *mut c_void, node: u64, physical: u64, home: u32) -> i32>,
    /// Begins a phase: a name for a run of steps.
    pub phase: Option<unsafe extern "C" fn(ctx: *mut c_void, name: SwmStr) -> i32>,
    /// Begins a step: what follows happens at once, and what arrives can be sent on only in a later
    /// step.
    pub step: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// Adds a send of blocks to the current step.
    pub send_blocks: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBlocks) -> i32>,
    /// Every node rearranges all it holds, once, between two steps.
    pub rearrange: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// In a schedule of byte counts, between steps: a node sorts all it holds into buckets, what
    /// has just arrived included.
    pub redistribute: Option<
        unsafe extern "C" fn(ctx: *mut c_void, redistribution: *const SwmRedistribution) -> i32,
    >,
    /// In a schedule of byte counts, adds a send of a bucket to the current step.
    pub send_bucket: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBucket) -> i32>,
    /// In a schedule of byte counts, adds a send of so many bytes for each of some destinations to
    /// the current step.
    pub send_bytes: Option<unsafe extern "C" fn(ctx: *mut c_void, send: *const SwmBytes) -> i32>,
    /// Says under which group the schedule is invariant, and asks for whom to plan; after `layout`
    /// and `place`, before the first step, once. The group is the product of what it does to each
    /// axis of the grid, or, given one axis alone, does this to the nodes' numbers: whatever one of
    /// its elements does to the nodes of every send and to the members of its sets makes another
    /// send of the same step. The host writes to `planned`, for each axis, how many coordinates it
    /// is to plan for, from 0 on: `unit` of them where one node of each orbit will do, the radix
    /// where it wants everyone. Only nodes with such coordinates send from then on, in ascending
    /// order, each all that it sends in a step; what the others do follows from the group. A plugin
    /// that never calls it plans for everyone.
    pub symmetric: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            axes: *const SwmSymmetry,
            axis_count: u64,
            planned: *mut u64,
        ) -> i32,
    >,
}
