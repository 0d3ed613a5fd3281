//! The contents of a message: no block, one block or several blocks. A message of several blocks
//! must be rearranged: it is gathered by the sender and scattered by the receiver.
//!
//! A block is the data of one node for another node, or for all others. In a reduction it is one
//! value, whatever contributions the value contains. Segments and parts are pieces of a block and
//! are not counted as blocks. Blocks of 0 bytes are not counted.

/// The blocks of a send or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Contents {
    /// No block that has any bytes.
    #[default]
    Nothing,
    /// One block, or pieces of one block: the origin and the destination. A number by which the
    /// collective does not distinguish blocks is the same for all blocks.
    One(u64, u64),
    /// Several blocks.
    Several,
}

impl Contents {
    /// Returns the contents of one message that consists of two sends.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, rest) | (rest, Self::Nothing) => rest,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}
