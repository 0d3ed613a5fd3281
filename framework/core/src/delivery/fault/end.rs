//! Faults that are found after the last step.

use super::place::{Block, BlockLocation, Count, PlacedNode};

/// An incomplete result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndFault {
    /// A node lacks a block that it must hold.
    #[error(
        "{block} was never delivered to {node}{location}; missing in total: {missing} at {nodes}"
    )]
    NeverDelivered {
        /// The node that lacks the block.
        node: PlacedNode,
        /// The first block that the node lacks.
        block: Block,
        /// The location of the block.
        location: BlockLocation,
        /// Number of missing blocks or contributions.
        missing: Count,
        /// Number of nodes that lack a block.
        nodes: Count,
    },
    /// A bucket of a redistribution was not sent.
    #[error("node {node} has not sent bucket {bucket} of what it redistributed")]
    BucketUnsent {
        /// The node of the schedule's grid that redistributed.
        node: u64,
        /// The first bucket that was not sent.
        bucket: u64,
    },
    /// A node holds bytes for another node.
    #[error(
        "{node} still holds {bytes} for node {destination}; misplaced in total: {all} at {nodes}"
    )]
    MisplacedBytes {
        /// The first node that holds bytes for another node.
        node: PlacedNode,
        /// The destination of the bytes.
        destination: u64,
        /// Number of bytes that the node holds for this destination.
        bytes: Count,
        /// Number of bytes that are not at their destination.
        all: Count,
        /// Number of nodes that hold such bytes.
        nodes: Count,
    },
}
