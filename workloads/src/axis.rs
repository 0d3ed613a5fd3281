//! What of a workload figures can be drawn over.

/// What of a workload an axis can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    /// Bytes of a block: all of them, their mean, or the large ones.
    BlockSize,
    /// Coefficient of variation of the sizes.
    Variation,
}
