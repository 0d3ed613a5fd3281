//! The collectives. A collective defines which data each node has at the start, and which data each
//! node needs at the end.

use swapmeet_abi::{
    SWM_ALLGATHER, SWM_ALLREDUCE, SWM_ALLTOALL, SWM_BROADCAST, SWM_COMBINE_TOKENS, SWM_DISPATCH,
    SWM_GATHER, SWM_PERMUTATION, SWM_REDUCE, SWM_REDUCE_SCATTER, SWM_SCATTER,
};

/// A collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// Every node has a block for each node, including itself. The block for itself is at its
    /// destination from the start.
    AllToAll,
    /// The root has one block, and every node receives a copy of it.
    Broadcast,
    /// The root has a block for every node.
    Scatter,
    /// Every node has a block for the root.
    Gather,
    /// Every node has one block, and every node receives a copy of each block.
    AllGather,
    /// Every node has one block, which a permutation assigns to one receiver.
    Permutation,
    /// Every node has a vector, and the root receives the sum of all vectors.
    Reduce,
    /// Every node has one vector for each node. Each node receives the sum of the vectors that all
    /// nodes have for it.
    ReduceScatter,
    /// Every node has a vector, and every node receives the sum of all vectors.
    AllReduce,
    /// Every node has tokens, and each token goes to a set of nodes
    /// ([`Problem::tokens`](crate::Problem::tokens)). A send selects tokens by the node that they
    /// belong to ([`Blocks::origins`](crate::Blocks::origins)) and by their classes, which are the
    /// segments of the node's block. The sender always keeps a copy. No node may receive a token
    /// twice.
    Dispatch,
    /// Every node has tokens, and each node of a token's set has a partial result for the token.
    /// The node of the token receives the sum of these results. A send selects sums by the node of
    /// the tokens ([`Blocks::destinations`](crate::Blocks::destinations)) and by the classes of the
    /// tokens, which are the segments.
    Combine,
}

/// The rule that selects the blocks which each node must hold at the end of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinalBlocks {
    /// Each node holds the blocks of which it is the destination.
    ByDestination,
    AllBlocks,
    AllAtRoot,
    /// Each node holds the one block that the permutation assigns to it.
    ByPermutation,
    /// Each node holds the tokens of which it is a receiver.
    ByTokens,
}

impl Collective {
    /// All collectives, in ascending order of their numbers in the ABI.
    pub const ALL: [Self; 11] = [
        Self::AllToAll,
        Self::Broadcast,
        Self::Scatter,
        Self::Gather,
        Self::AllGather,
        Self::Permutation,
        Self::Reduce,
        Self::ReduceScatter,
        Self::AllReduce,
        Self::Dispatch,
        Self::Combine,
    ];

    /// Returns the name of the collective in workload specs and in schedule files, such as
    /// `reduce-scatter`.
    pub fn word(self) -> &'static str {
        match self {
            Self::AllToAll => "alltoall",
            Self::Broadcast => "broadcast",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::AllGather => "allgather",
            Self::Permutation => "permutation",
            Self::Reduce => "reduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllReduce => "allreduce",
            Self::Dispatch => "dispatch",
            Self::Combine => "combine",
        }
    }

    /// Returns whether only the root has blocks at the start.
    pub(crate) fn starts_at_root(self) -> bool {
        matches!(self, Self::Broadcast | Self::Scatter)
    }

    pub(crate) fn final_blocks(self) -> FinalBlocks {
        match self {
            Self::AllToAll | Self::Scatter | Self::ReduceScatter | Self::Combine => {
                FinalBlocks::ByDestination
            }
            Self::Dispatch => FinalBlocks::ByTokens,
            Self::Broadcast | Self::AllGather | Self::AllReduce => FinalBlocks::AllBlocks,
            Self::Gather | Self::Reduce => FinalBlocks::AllAtRoot,
            Self::Permutation => FinalBlocks::ByPermutation,
        }
    }

    /// Returns whether a node may receive a block that it already holds.
    pub(crate) fn allows_copies(self) -> bool {
        matches!(self, Self::Broadcast | Self::AllGather)
    }

    /// Returns whether the collective sums data of different nodes.
    pub(crate) fn is_reduction(self) -> bool {
        matches!(self, Self::Reduce | Self::ReduceScatter | Self::AllReduce | Self::Combine)
    }

    /// Returns whether the identity of a block includes its origin.
    pub(crate) fn distinguishes_origins(self) -> bool {
        !self.starts_at_root() && !self.is_reduction()
    }

    /// Returns whether the identity of a block includes its destination.
    pub(crate) fn distinguishes_destinations(self) -> bool {
        self.final_blocks() == FinalBlocks::ByDestination
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|collective| collective.code() == code)
    }

    pub(crate) fn code(self) -> u32 {
        match self {
            Self::AllToAll => SWM_ALLTOALL,
            Self::Broadcast => SWM_BROADCAST,
            Self::Scatter => SWM_SCATTER,
            Self::Gather => SWM_GATHER,
            Self::AllGather => SWM_ALLGATHER,
            Self::Permutation => SWM_PERMUTATION,
            Self::Reduce => SWM_REDUCE,
            Self::ReduceScatter => SWM_REDUCE_SCATTER,
            Self::AllReduce => SWM_ALLREDUCE,
            Self::Dispatch => SWM_DISPATCH,
            Self::Combine => SWM_COMBINE_TOKENS,
        }
    }

    pub(crate) fn bit(self) -> u64 {
        1 << self.code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_in_the_order_of_the_numbers() {
        assert!((0..).zip(Collective::ALL).all(|(code, collective)| collective.code() == code));
        assert!(
            Collective::ALL
                .into_iter()
                .all(|collective| Collective::from_code(collective.code()) == Some(collective))
        );
    }
}
