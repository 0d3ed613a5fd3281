//! What is to reach whom.

use swapmeet_abi::{
    SWM_ALLGATHER, SWM_ALLREDUCE, SWM_ALLTOALL, SWM_BROADCAST, SWM_GATHER, SWM_PERMUTATION,
    SWM_REDUCE, SWM_REDUCE_SCATTER, SWM_SCATTER,
};

/// What is to reach whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// Every node has a block for every node; that for itself is where it should be already.
    AllToAll,
    /// The root has one block for everyone.
    Broadcast,
    /// The root has a block for each.
    Scatter,
    /// Each has a block for the root.
    Gather,
    /// Each has a block for everyone.
    AllGather,
    /// Each has one block for one other.
    Permutation,
    /// Each has a vector, whose sum the root is to have.
    Reduce,
    /// Each has a term for each node's result, and each is to have the sum of those for it.
    ReduceScatter,
    /// Each has a vector, whose sum everyone is to have.
    AllReduce,
}

/// Who has blocks at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Each,
    Root,
}

/// Who is to have which blocks in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Each those that are for it.
    EachItsOwn,
    EachAll,
    RootAll,
    /// Each that of the node whose block is for it.
    EachItsSenders,
}

impl Collective {
    /// All of them: for what does whatever it is asked to do.
    pub const ALL: [Self; 9] = [
        Self::AllToAll,
        Self::Broadcast,
        Self::Scatter,
        Self::Gather,
        Self::AllGather,
        Self::Permutation,
        Self::Reduce,
        Self::ReduceScatter,
        Self::AllReduce,
    ];

    /// Who has blocks at first.
    pub(crate) fn before(self) -> Before {
        match self {
            Self::Broadcast | Self::Scatter => Before::Root,
            Self::AllToAll
            | Self::Gather
            | Self::AllGather
            | Self::Permutation
            | Self::Reduce
            | Self::ReduceScatter
            | Self::AllReduce => Before::Each,
        }
    }

    /// Who is to have which blocks in the end.
    pub(crate) fn after(self) -> After {
        match self {
            Self::AllToAll | Self::Scatter | Self::ReduceScatter => After::EachItsOwn,
            Self::Broadcast | Self::AllGather | Self::AllReduce => After::EachAll,
            Self::Gather | Self::Reduce => After::RootAll,
            Self::Permutation => After::EachItsSenders,
        }
    }

    /// Whether a block may come to a node that has it.
    pub(crate) fn takes_copies(self) -> bool {
        match self {
            Self::Broadcast | Self::AllGather => true,
            Self::AllToAll
            | Self::Scatter
            | Self::Gather
            | Self::Permutation
            | Self::Reduce
            | Self::ReduceScatter
            | Self::AllReduce => false,
        }
    }

    /// Whether what comes from different nodes is summed.
    pub(crate) fn sums(self) -> bool {
        match self {
            Self::Reduce | Self::ReduceScatter | Self::AllReduce => true,
            Self::AllToAll
            | Self::Broadcast
            | Self::Scatter
            | Self::Gather
            | Self::AllGather
            | Self::Permutation => false,
        }
    }

    /// Whether blocks are told apart by where they come from.
    pub(crate) fn tells_origins(self) -> bool {
        self.before() == Before::Each && !self.sums()
    }

    /// Whether blocks are told apart by where they go.
    pub(crate) fn tells_destinations(self) -> bool {
        self.after() == After::EachItsOwn
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
        }
    }

    pub(crate) fn bit(self) -> u64 {
        1 << self.code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that is not among all of them would be unknown to plugins, whatever its number.
    #[test]
    fn all_stand_in_the_order_of_their_numbers() {
        assert!((0..).zip(Collective::ALL).all(|(code, collective)| collective.code() == code));
        assert!(
            Collective::ALL
                .into_iter()
                .all(|collective| Collective::from_code(collective.code()) == Some(collective))
        );
    }
}
