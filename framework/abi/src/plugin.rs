//! The tables in which a plugin describes itself.

use crate::*;
use core::ffi::c_void;

/// [`SwmParamInfo::kind`]: any text.
pub const SWM_PARAM_TEXT: u32 = 0;
/// [`SwmParamInfo::kind`]: a whole number of at least 0.
pub const SWM_PARAM_NUMBER: u32 = 1;
/// [`SwmParamInfo::kind`]: one of the words in `values`.
pub const SWM_PARAM_CHOICE: u32 = 2;
/// [`SwmParamInfo::kind`]: the path of a regular file, which the algorithm reads while it plans.
/// The host writes the digest of the file to the row of the case.
pub const SWM_PARAM_FILE: u32 = 3;

/// A parameter that an algorithm takes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmParamInfo {
    /// Size of this struct in bytes.
    pub size: u32,
    /// [`SWM_PARAM_TEXT`], [`SWM_PARAM_NUMBER`], [`SWM_PARAM_CHOICE`] or [`SWM_PARAM_FILE`].
    pub kind: u32,
    /// Key of the parameter: lower-case letters, digits and hyphens.
    pub key: SwmStr,
    /// The value if the user gives none. Empty if that value depends on the problem, as `help`
    /// explains.
    pub default_value: SwmStr,
    /// One line of help: the meaning and the possible values.
    pub help: SwmStr,
    /// The words of a [`SWM_PARAM_CHOICE`], including its default. The host refuses all other words
    /// before it calls the algorithm. `swapmeet check` tests the algorithm with each word.
    pub values: *const SwmStr,
    /// Number of entries of `values`.
    pub value_count: u64,
}

/// The type of `supports` and `plan` of an algorithm. Both return [`SWM_OK`], [`SWM_UNSUPPORTED`],
/// [`SWM_ERROR`], [`SWM_STOPPED`] or [`SWM_INVALID`].
pub type SwmRun = unsafe extern "C" fn(
    algorithm: *const SwmAlgorithm,
    problem: *const SwmProblem,
    host: *const SwmHost,
) -> i32;

/// One algorithm of a plugin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmAlgorithm {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Reserved; must be zero.
    pub reserved: u32,
    /// Name that users type: lower-case letters, digits and hyphens.
    pub name: SwmStr,
    /// Short description for lists, at most about 60 characters.
    pub title: SwmStr,
    /// Publication: authors, title, year.
    pub paper: SwmStr,
    /// Supported topologies and sizes, as a text for users.
    pub accepts: SwmStr,
    /// The sum of `1 << c` for each supported collective `c`, such as `1 << SWM_ALLTOALL`.
    pub collectives: u64,
    /// The parameters of the algorithm, in the order in which specs name them. The list has
    /// pointers so that [`SwmParamInfo`] can grow.
    pub params: *const *const SwmParamInfo,
    /// Number of entries of `params`.
    pub param_count: u64,
    /// Data of the plugin. The host never reads it.
    pub user: *const c_void,
    /// Tells whether the algorithm can run on a problem. The host calls this function before
    /// `plan`. Null if the algorithm can always run.
    pub supports: Option<
        unsafe extern "C" fn(
            algorithm: *const SwmAlgorithm,
            problem: *const SwmProblem,
            host: *const SwmHost,
        ) -> i32,
    >,
    /// Passes the schedule to the host, step by step. If `plan` is null and `name` is empty, the
    /// plugin failed while it described the algorithm. The host then refuses the plugin and shows
    /// `title` as the reason.
    pub plan: Option<
        unsafe extern "C" fn(
            algorithm: *const SwmAlgorithm,
            problem: *const SwmProblem,
            host: *const SwmHost,
        ) -> i32,
    >,
    /// The port promise of the algorithm: the largest number of messages that a node sends, or
    /// receives, in one step. The value is `u64::MAX` for an algorithm that may use all links of a
    /// node in the same step, and 0 for no promise. `swapmeet check` compares the schedules with
    /// it. The port limit of the machine is [`SwmHost::ports`].
    pub ports: u64,
}

/// The first 24 bytes of a plugin's table, whose layout never changes. The host reads them first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmHead {
    /// [`SWM_MAGIC`], by which the host recognizes a table.
    pub magic: u64,
    /// [`SWM_ABI_MAJOR`] of the header with which the plugin was built.
    pub abi_major: u32,
    /// [`SWM_ABI_MINOR`] of the header with which the plugin was built.
    pub abi_minor: u32,
    /// Size of the whole table in bytes.
    pub size: u32,
    /// Reserved; must be zero.
    pub reserved: u32,
}

/// The table of a plugin: its name, its version and its algorithms.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmPlugin {
    /// Magic number, versions and size.
    pub head: SwmHead,
    /// Name of the plugin: lower-case letters, digits and hyphens.
    pub name: SwmStr,
    /// Version of the plugin, such as `0.1.0`.
    pub version: SwmStr,
    /// Licence of the plugin, as an SPDX expression.
    pub licence: SwmStr,
    /// The algorithms. The list has pointers so that [`SwmAlgorithm`] can grow.
    pub algorithms: *const *const SwmAlgorithm,
    /// Number of entries of `algorithms`.
    pub algorithm_count: u64,
}

/// The type of `swapmeet_plugin`, the only symbol that a plugin exports. The table must stay valid
/// for the life of the process. The host never writes to it.
pub type SwmEntry = unsafe extern "C" fn() -> *mut SwmPlugin;

// SAFETY: tables are constant data behind const pointers, and nothing writes through them.
unsafe impl Sync for SwmPlugin {}
// SAFETY: as for `SwmPlugin`, an algorithm's table is constant data, and nothing writes through it.
unsafe impl Sync for SwmAlgorithm {}
// SAFETY: as for `SwmPlugin`, a parameter's table is constant data, and nothing writes through it.
unsafe impl Sync for SwmParamInfo {}
// SAFETY: the bytes of a text are constant data behind a const pointer, and nothing writes to them.
unsafe impl Sync for SwmStr {}
