//! The contents of a message: no block, one block or several blocks. Several blocks must be
//! rearranged: the sender gathers them and the receiver scatters them.
//!
//! A block is the data of one node for another node, or for all other nodes. In a reduction a block
//! is one value, whatever contributions the value contains. Segments and parts belong to a block
//! and are not counted separately. Blocks of 0 bytes are not counted.

/// The blocks of a send or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Contents {
    /// No block that has any bytes.
    #[default]
    Nothing,
    /// One block, or pieces of one block. The two numbers are its origin and its destination. If
    /// the collective does not distinguish blocks by origin (or by destination), the number of the
    /// origin (or destination) is the same for all blocks.
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
