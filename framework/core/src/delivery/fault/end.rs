//! What is missing once the schedule has ended.

use super::place::{Block, BlockLocation, Count, PlacedNode};

/// Something that is not where it should be at the end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndFault {
    /// The schedule ended too early.
    #[error(
        "{block} was never delivered to {node}{location}; {missing} in all are missing, at {nodes}"
    )]
    NeverDelivered {
        /// Who should have it.
        node: PlacedNode,
        /// The first such block.
        block: Block,
        /// Where the block is instead.
        location: BlockLocation,
        /// How many are missing.
        missing: Count,
        /// How many nodes miss some.
        nodes: Count,
    },
    /// The schedule ended with something redistributed and not sent.
    #[error("node {node} has not sent bucket {bucket} of what it redistributed")]
    BucketUnsent {
        /// The node of the schedule's grid that redistributed.
        node: u64,
        /// The first such bucket.
        bucket: u64,
    },
    /// The schedule of byte counts ended too early.
    #[error(
        "{node} still has {bytes} for node {destination}; {all} in all are not at their destination, at {nodes}"
    )]
    MisplacedBytes {
        /// The node that has them.
        node: PlacedNode,
        /// The node that should have them.
        destination: u64,
        /// How many it has for that destination.
        bytes: Count,
        /// How many are astray in all.
        all: Count,
        /// How many nodes hold some.
        nodes: Count,
    },
}
