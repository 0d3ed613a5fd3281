//! The grid in which a schedule speaks of nodes, and what maps it onto itself.

#[cfg(doc)]
use crate::SwmHost;

/// [`SwmLayout::flags`]: the schedule moves byte counts, not blocks. A node then holds so many
/// bytes for each destination, whoever they come from, and may redistribute them element by
/// element; delivery is proved by following the bytes for each destination.
pub const SWM_BYTE_COUNTS: u32 = 1;
/// [`SwmLayout::flags`]: every block, or vector, is cut into one part for each node of the machine,
/// and `destinations` of a send name parts by those nodes; for collectives whose blocks have no
/// destination to be told apart by. Each part is then split in `segments`.
pub const SWM_IN_PARTS: u32 = 2;

/// [`SwmSymmetry::kind`]: the group leaves the axis as it is.
pub const SWM_FIXED: u32 = 0;
/// [`SwmSymmetry::kind`]: the group adds the multiples of `unit`, modulo the radix, which `unit`
/// divides.
pub const SWM_SHIFT: u32 = 1;
/// [`SwmSymmetry::kind`]: the group takes the exclusive-or with the multiples of `unit`; `unit` and
/// the radix are powers of two.
pub const SWM_XOR: u32 = 2;

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
    /// 0 for a schedule of whole blocks, [`SWM_BYTE_COUNTS`] for one of byte counts,
    /// [`SWM_IN_PARTS`] for one of parts of blocks.
    pub flags: u32,
}

/// How a group moves the coordinates of one axis of the schedule's grid ([`SwmHost::symmetric`]).
/// Zero leaves them as they are.
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
