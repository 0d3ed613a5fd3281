//! What following blocks found in a step.

use super::place::{Block, BlockLocation, PlacedNode};

/// A send of what isn't there, or is there already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryFault {
    /// A strict send of what the sender doesn't hold.
    #[error("{from} sends {to} {block}, which it does not hold{location}")]
    NotHeld {
        /// The node that sends it.
        from: PlacedNode,
        /// The node it is sent to.
        to: PlacedNode,
        /// The first such block.
        block: Block,
        /// Where the block is instead.
        location: BlockLocation,
    },
    /// A block reached a node that has it.
    #[error("{block} is delivered twice, {node} has it already")]
    DeliveredTwice {
        /// The node that has it.
        node: PlacedNode,
        /// The first such block.
        block: Block,
    },
    /// A sum with a contribution in it that the receiver's own has, too.
    #[error(
        "{node} counts {block} twice: its own value has it, and so has what it is sent to combine"
    )]
    CountedTwice {
        /// The receiver, which has a value of its own.
        node: PlacedNode,
        /// The first such contribution.
        block: Block,
    },
    /// A value replaced by one without a contribution of its own.
    #[error(
        "{node} loses {block}: what it is sent replaces its own value, which has it (combine the two)"
    )]
    Replaced {
        /// The receiver, which has a value of its own.
        node: PlacedNode,
        /// The first such contribution.
        block: Block,
    },
}
