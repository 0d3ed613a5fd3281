//! What a plugin says of itself.

use crate::*;
use core::ffi::c_void;

/// [`SwmParamInfo::kind`]: any text.
pub const SWM_PARAM_TEXT: u32 = 0;
/// [`SwmParamInfo::kind`]: a whole number, from 0 on.
pub const SWM_PARAM_NUMBER: u32 = 1;
/// [`SwmParamInfo::kind`]: one of the words in `values`.
pub const SWM_PARAM_CHOICE: u32 = 2;
/// [`SwmParamInfo::kind`]: the path of a regular file, which the algorithm reads while it plans.
/// The host reads it, too: its digest stands in the row.
pub const SWM_PARAM_FILE: u32 = 3;

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
    /// The words that a [`SWM_PARAM_CHOICE`] may be, its default among them. Others never reach the
    /// algorithm; `swapmeet check` tries each.
    pub values: *const SwmStr,
    /// How many words there are.
    pub value_count: u64,
}

/// Either answers whether the algorithm can run, or gives its schedule. Returns [`SWM_OK`],
/// [`SWM_UNSUPPORTED`], [`SWM_ERROR`], [`SWM_STOPPED`] or [`SWM_INVALID`].
pub type SwmRun = unsafe extern "C" fn(
    algorithm: *const SwmAlgorithm,
    problem: *const SwmProblem,
    host: *const SwmHost,
) -> i32;

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
    /// The parameters it takes, in the order in which specs name them: pointers, so that
    /// [`SwmParamInfo`] can grow.
    pub params: *const *const SwmParamInfo,
    /// How many parameters there are.
    pub param_count: u64,
    /// The plugin's own: the host hands the table back and never looks at it.
    pub user: *const c_void,
    /// Whether it can run; asked before `plan`. Null if it always can.
    pub supports: Option<
        unsafe extern "C" fn(
            algorithm: *const SwmAlgorithm,
            problem: *const SwmProblem,
            host: *const SwmHost,
        ) -> i32,
    >,
    /// Gives the schedule, step by step. Null, with no name, where the plugin failed at describing
    /// the algorithm: `title` then says why, and the host refuses the plugin with it.
    pub plan: Option<
        unsafe extern "C" fn(
            algorithm: *const SwmAlgorithm,
            problem: *const SwmProblem,
            host: *const SwmHost,
        ) -> i32,
    >,
    /// The most messages that a node sends, and the most that it receives, in one step: 1 for a
    /// one-port algorithm, `u64::MAX` for one that uses all links, 0 where the plugin doesn't say.
    /// `swapmeet check` holds the schedules to it.
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

/// The type of `swapmeet_plugin`, the one symbol a plugin exports. The table must stay for the life
/// of the process; nobody writes to it.
pub type SwmEntry = unsafe extern "C" fn() -> *mut SwmPlugin;

// SAFETY: tables are constant data behind const pointers; nobody writes through them.
unsafe impl Sync for SwmPlugin {}
// SAFETY: as above.
unsafe impl Sync for SwmAlgorithm {}
// SAFETY: as above.
unsafe impl Sync for SwmParamInfo {}
// SAFETY: as above.
unsafe impl Sync for SwmStr {}
