//! The grid in which a schedule numbers its nodes, and the symmetries of that grid.

#[cfg(doc)]
use crate::SwmHost;

/// [`SwmLayout::flags`]: the schedule moves byte counts instead of blocks. Each node then holds a
/// number of bytes for each destination, without their origins. A node may redistribute its bytes
/// in units of one element ([`SwmHost::element_bytes`]). The host verifies that all bytes for each
/// destination arrive there.
pub const SWM_BYTE_COUNTS: u32 = 1;
/// [`SwmLayout::flags`]: every block (in a reduction, every vector) is cut into one part for each
/// node of the machine. `SwmBlocks::destinations` then selects parts by these nodes. Each part is
/// split into `segments`. Use this flag only for collectives whose blocks are not distinguished by
/// their destinations, such as broadcast and allreduce.
pub const SWM_IN_PARTS: u32 = 2;

/// [`SwmSymmetry::kind`]: the symmetries do not change the coordinates of the axis.
pub const SWM_FIXED: u32 = 0;
/// [`SwmSymmetry::kind`]: the symmetries add any multiple of `unit` to a coordinate, modulo the
/// radix of the axis. `unit` must divide the radix.
pub const SWM_SHIFT: u32 = 1;
/// [`SwmSymmetry::kind`]: the symmetries map a coordinate to its exclusive-or with any multiple of
/// `unit`. `unit` and the radix of the axis must be powers of two.
pub const SWM_XOR: u32 = 2;

/// The grid in which a schedule numbers its nodes, if not the topology's own grid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmLayout {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Number of axes of the grid; 0 for the topology's own grid.
    pub axis_count: u32,
    /// The radix (number of coordinates) of each axis. Nodes are numbered row-major: the last axis
    /// varies fastest.
    pub radices: *const u64,
    /// Number of segments into which every block is split. 0 and 1 both mean whole blocks.
    pub segments: u32,
    /// 0 for a schedule of whole blocks, [`SWM_BYTE_COUNTS`] or [`SWM_IN_PARTS`].
    pub flags: u32,
}

/// The action of a symmetry group on the coordinates of one axis of the schedule's grid
/// ([`SwmHost::symmetric`]). A struct of zeros leaves the coordinates unchanged.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmSymmetry {
    /// [`SWM_FIXED`], [`SWM_SHIFT`] or [`SWM_XOR`].
    pub kind: u32,
    /// Reserved; must be zero.
    pub reserved: u32,
    /// For [`SWM_SHIFT`], the smallest shift, of which all shifts are multiples. For [`SWM_XOR`],
    /// the value of the lowest bit that may change.
    pub unit: u64,
}
