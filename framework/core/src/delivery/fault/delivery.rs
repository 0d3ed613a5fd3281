//! Faults that are found during a step.

use super::place::{Block, BlockLocation, Count, PlacedNode};

/// A send that does not fit the data that its sender or its receiver holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryFault {
    /// A strict send selects a block that the sender does not hold.
    #[error("{from} sends {to} {block}, which it does not hold{location}")]
    NotHeld {
        /// The sender.
        from: PlacedNode,
        /// The receiver.
        to: PlacedNode,
        /// The first selected block that the sender does not hold.
        block: Block,
        /// The location of the block.
        location: BlockLocation,
    },
    /// A node receives a block that it already holds.
    #[error("{block} is delivered twice: {node} already holds it")]
    DeliveredTwice {
        /// The receiver.
        node: PlacedNode,
        /// The first block that the receiver already holds.
        block: Block,
    },
    /// A received value is combined with the receiver's value, although both contain the same
    /// contribution.
    #[error("{node} counts {block} twice: it is in both its own value and the received one")]
    CountedTwice {
        /// The receiver.
        node: PlacedNode,
        /// The first contribution that is counted twice.
        block: Block,
    },
    /// A node sends a value as a result, although the value lacks a contribution that the receiver
    /// never gets. This fault is found only at the end of the schedule.
    #[error(
        "{from} passes on to {to} a value without {block}{location}; missing in total: {missing} at {nodes}"
    )]
    PassedOn {
        /// The sender.
        from: PlacedNode,
        /// The receiver.
        to: PlacedNode,
        /// The first missing contribution.
        block: Block,
        /// The location of the contribution at the end.
        location: BlockLocation,
        /// Number of contributions that are missing at the end.
        missing: Count,
        /// Number of nodes that lack a contribution.
        nodes: Count,
    },
    /// A received value replaces the receiver's value, although it lacks a contribution that the
    /// receiver's value contains.
    #[error(
        "{node} loses {block}: the received value replaces its own value, which contains it (combine the two)"
    )]
    Replaced {
        /// The receiver.
        node: PlacedNode,
        /// The first contribution that is lost.
        block: Block,
    },
}
