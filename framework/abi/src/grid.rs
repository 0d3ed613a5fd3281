//! The grid in which a schedule numbers its nodes, and the symmetries of that grid.

#[cfg(doc)]
use crate::SwmHost;

/// [`SwmLayout::flags`]: the schedule moves byte counts instead of blocks. Each node then holds a
/// number of bytes for each destination, without regard to their origin, and may redistribute them
/// element by element. The host verifies delivery by following the bytes for each destination.
pub const SWM_BYTE_COUNTS: u32 = 1;
/// [`SwmLayout::flags`]: every block, or vector, is cut into one part for each node of the machine,
/// and `destinations` of a send selects parts by those nodes. This is for collectives whose blocks
/// are not distinguished by destination. Each part is then split into `segments`.
pub const SWM_IN_PARTS: u32 = 2;

/// [`SwmSymmetry::kind`]: the group leaves the coordinates of the axis unchanged.
pub const SWM_FIXED: u32 = 0;
/// [`SwmSymmetry::kind`]: the group adds the multiples of `unit`, modulo the radix. `unit` must
/// divide the radix.
pub const SWM_SHIFT: u32 = 1;
/// [`SwmSymmetry::kind`]: the group takes the exclusive-or with the multiples of `unit`. `unit` and
/// the radix must be powers of two.
pub const SWM_XOR: u32 = 2;

/// The grid in which a schedule numbers its nodes, where it is not the topology's own grid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmLayout {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Number of axes of the grid; 0 for the topology's own grid.
    pub axis_count: u32,
    /// Radix of each axis. Nodes are numbered row-major: the last axis varies fastest.
    pub radices: *const u64,
    /// Number of segments into which every block is split; 0 and 1 both mean whole blocks.
    pub segments: u32,
    /// 0 for a schedule of whole blocks, [`SWM_BYTE_COUNTS`] for a schedule of byte counts,
    /// [`SWM_IN_PARTS`] for a schedule of parts of blocks.
    pub flags: u32,
}

/// The action of a symmetry group on the coordinates of one axis of the schedule's grid
/// ([`SwmHost::symmetric`]). All zero leaves them unchanged.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmSymmetry {
    /// [`SWM_FIXED`], [`SWM_SHIFT`] or [`SWM_XOR`].
    pub kind: u32,
    /// Reserved; must be zero.
    pub reserved: u32,
    /// Period of a shift, or lowest bit of an exclusive-or.
    pub unit: u64,
}
