//! Sets of coordinates and of nodes.

/// [`SwmAxis::kind`] or [`SwmSet::kind`]: every coordinate of the axis, or every node.
pub const SWM_ALL: u32 = 0;
/// [`SwmAxis::kind`]: the `count` coordinates `first`, `first + stride`, etc., modulo the axis's
/// radix.
pub const SWM_RANGE: u32 = 1;
/// [`SwmAxis::kind`]: the coordinates whose bits are set in `words`.
pub const SWM_BITS: u32 = 2;
/// [`SwmSet::kind`]: the single node `node`.
pub const SWM_NODE: u32 = 1;
/// [`SwmSet::kind`]: the product of `axes`.
pub const SWM_AXES: u32 = 2;

/// A subset of the coordinates of one axis of the grid. A struct of zeros selects every coordinate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmAxis {
    /// [`SWM_ALL`], [`SWM_RANGE`] or [`SWM_BITS`].
    pub kind: u32,
    /// Reserved; must be zero.
    pub reserved: u32,
    /// First coordinate of a range, below the axis's radix.
    pub first: u64,
    /// Distance between consecutive members of a range, at least 1.
    pub stride: u64,
    /// For a range, the number of its members. A range wraps around at the end of the axis, but no
    /// coordinate may occur twice. For a bit set, the number of entries of `words`.
    pub count: u64,
    /// The bit set. Coordinate `c` is a member if bit `c % 64` of word `c / 64` is set.
    pub words: *const u64,
}

impl SwmAxis {
    /// Every coordinate of the axis, whatever its radix.
    pub const ALL: Self = Self {
        kind: SWM_ALL,
        reserved: 0,
        first: 0,
        stride: 0,
        count: 0,
        words: core::ptr::null(),
    };

    /// Returns the range of `count` coordinates from `first`, `stride` apart, modulo the radix.
    pub const fn range(first: u64, stride: u64, count: u64) -> Self {
        Self { kind: SWM_RANGE, reserved: 0, first, stride, count, words: core::ptr::null() }
    }
}

/// A set of nodes of the schedule's grid.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmSet {
    /// [`SWM_ALL`], [`SWM_NODE`] or [`SWM_AXES`].
    pub kind: u32,
    /// Number of axes of the grid, when `kind` is [`SWM_AXES`].
    pub axis_count: u32,
    /// The node, when `kind` is [`SWM_NODE`].
    pub node: u64,
    /// One subset for each axis, when `kind` is [`SWM_AXES`].
    pub axes: *const SwmAxis,
}

impl SwmSet {
    /// Every node of the grid, whatever its axes.
    pub const ALL: Self = Self { kind: SWM_ALL, axis_count: 0, node: 0, axes: core::ptr::null() };
}
