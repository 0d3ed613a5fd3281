//! The blocks of a message, as far as rearrangement depends on them.
//!
//! A block is the data of one node for another, or for all others; in a reduction, a value, whatever
//! its contributions. Segments and parts of a block are pieces of it. Blocks of no bytes do not
//! count. A message of several blocks is gathered and scattered.

/// The blocks of a send or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Contents {
    /// No block that has any bytes.
    #[default]
    Nothing,
    /// One block, or pieces of it: its origin and its destination, 0 where blocks are not
    /// distinguished by these.
    One(u64, u64),
    /// Several blocks.
    Several,
}

impl Contents {
    /// Returns the contents of two sends together.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, rest) | (rest, Self::Nothing) => rest,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}
