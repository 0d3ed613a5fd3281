//! The collectives: which data each node has at the start, and needs at the end.

use swapmeet_abi::collective::{
    COLLECTIVES, CollectiveKind, FinalBlocks, InitialBlocks, RedundantDelivery,
};

/// Defines [`Collective`] and its list of variants, in ascending order of their ABI numbers.
macro_rules! collectives {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// A collective operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Collective {
            $($(#[$doc])+ $name,)+
        }

        impl Collective {
            /// All collectives, in ascending order of their ABI numbers.
            pub const ALL: [Self; COLLECTIVES.len()] = [$(Self::$name),+];
        }
    };
}

collectives! {
    /// Every node has a block for each node. Its block for itself is there from the start.
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
    /// Every node has a vector for each node, and receives the sum of all vectors for it.
    ReduceScatter,
    /// Every node has a vector, and every node receives the sum of all vectors.
    AllReduce,
    /// Every node has tokens, and each token goes to a set of nodes
    /// ([`Problem::tokens`](crate::Problem::tokens)). A send selects tokens by their owner
    /// ([`Blocks::origins`](crate::Blocks::origins)) and by their classes, the segments of the
    /// owner's block. The sender always keeps a copy. No node may receive a token twice.
    Dispatch,
    /// Every node has tokens, and each node of a token's set has a partial result for it. The owner
    /// of the token receives the sum of these results. A send selects sums by the owner
    /// ([`Blocks::destinations`](crate::Blocks::destinations)) and by the classes of the tokens,
    /// which are segments of the owner's block.
    Combine,
}

impl Collective {
    fn kind(self) -> &'static CollectiveKind {
        COLLECTIVES[self as usize]
    }

    /// Returns the name in workload specs and in schedule files, such as `reduce-scatter`.
    pub fn word(self) -> &'static str {
        self.kind().word
    }

    pub(crate) fn starts_at_root(self) -> bool {
        self.kind().initial == InitialBlocks::AllAtRoot
    }

    pub(crate) fn final_blocks(self) -> FinalBlocks {
        self.kind().required
    }

    pub(crate) fn allows_copies(self) -> bool {
        self.kind().redundant_delivery == RedundantDelivery::Allowed && !self.is_reduction()
    }

    pub(crate) fn is_reduction(self) -> bool {
        self.kind().sums
    }

    pub(crate) fn distinguishes_origins(self) -> bool {
        !self.starts_at_root() && !self.is_reduction()
    }

    pub(crate) fn distinguishes_destinations(self) -> bool {
        self.final_blocks() == FinalBlocks::ForNode
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|collective| collective.code() == code)
    }

    pub(crate) fn code(self) -> u32 {
        self.kind().code
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
