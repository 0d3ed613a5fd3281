/// A property of a workload that can be the horizontal axis of a plot with curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    /// The number of bytes of a block. If blocks differ in size, this is the mean size or the size
    /// of the large blocks, depending on the generator.
    BlockSize,
    /// The coefficient of variation of the block sizes.
    Variation,
}
