//! The arguments of workloads over which curves can be drawn.

/// A property of a workload over which curves can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    /// The bytes of a block: of all blocks, of a block on average, or of the large blocks.
    BlockSize,
    /// The coefficient of variation of the sizes.
    Variation,
}
