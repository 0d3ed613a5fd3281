//! Sets of coordinates and of nodes.

/// A set of every coordinate, or of every node.
pub const SWM_ALL: u32 = 0;
/// [`SwmAxis`]: `first`, `first + stride`, .. (`count` of them), each modulo the axis's radix.
pub const SWM_RANGE: u32 = 1;
/// [`SwmAxis`]: the coordinates whose bits are set in `words`.
pub const SWM_BITS: u32 = 2;
/// [`SwmSet`]: the single node `node`.
pub const SWM_NODE: u32 = 1;
/// [`SwmSet`]: the product of `axes`.
pub const SWM_AXES: u32 = 2;

/// A subset of the coordinates of one axis of the grid. Zero is every coordinate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmAxis {
    /// [`SWM_ALL`], [`SWM_RANGE`] or [`SWM_BITS`].
    pub kind: u32,
    /// Zero; there for alignment, and for later.
    pub reserved: u32,
    /// First coordinate of a range; below the axis's radix.
    pub first: u64,
    /// Distance between members of a range; at least 1.
    pub stride: u64,
    /// Members of a range (cyclic; no coordinate may come up twice), or words in `words`.
    pub count: u64,
    /// Bit `c % 64` of word `c / 64` is coordinate `c`.
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

    /// `count` coordinates from `first` on, `stride` apart, modulo the radix.
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
    /// As many as the grid has, when `kind` is [`SWM_AXES`].
    pub axis_count: u32,
    /// The one node, when `kind` is [`SWM_NODE`].
    pub node: u64,
    /// One subset an axis.
    pub axes: *const SwmAxis,
}

impl SwmSet {
    /// Every node of the grid, whatever its axes.
    pub const ALL: Self = Self { kind: SWM_ALL, axis_count: 0, node: 0, axes: core::ptr::null() };
}
