//! The table of the collectives. A collective defines which blocks each node holds at the start,
//! and must hold at the end. The table is not part of the boundary: it is here because the host,
//! the SDK and programs must agree on it.

use crate::*;

/// The blocks that each node holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialBlocks {
    /// Each node holds the blocks that come from it.
    Own,
    /// The root holds all blocks.
    AllAtRoot,
}

/// The blocks that each node must hold at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalBlocks {
    /// Each node holds the blocks that are destined for it.
    ForNode,
    /// Each node holds all blocks.
    All,
    /// The root holds all blocks.
    AllAtRoot,
    /// Each node holds the block of the node that the permutation maps to it.
    Permuted,
    /// Each node holds the tokens whose sets of receivers contain it.
    Received,
}

/// The consequence if a node receives a block that it already holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedundantDelivery {
    /// There is no fault, although the message is longer than necessary.
    Allowed,
    /// A fault ends the case.
    Fault,
}

/// One of the three sets by which a send selects blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The nodes that the blocks come from.
    Origins,
    /// The nodes that the blocks must reach, or the numbers of the parts if each block is divided
    /// into one part per node.
    Destinations,
    /// The segments into which each block is divided.
    Segments,
}

/// A kind of collective. It does not include the root or the permutation of a single collective.
#[derive(Debug, PartialEq, Eq)]
pub struct CollectiveKind {
    /// Name in specs and in result rows.
    pub word: &'static str,
    /// Description of the initial and the required blocks, for lists of collectives.
    pub help: &'static str,
    /// Number in the plugin ABI.
    pub code: u32,
    /// The blocks that each node holds at the start.
    pub initial: InitialBlocks,
    /// The blocks that each node must hold at the end.
    pub required: FinalBlocks,
    /// The consequence if a node receives a block that it already holds.
    pub redundant_delivery: RedundantDelivery,
    /// Whether a schedule may trace byte counts per destination instead of blocks, because the
    /// origin of the data does not matter.
    pub by_byte_counts: bool,
    /// Whether the collective is a reduction: blocks of several origins are contributions to one
    /// sum.
    pub sums: bool,
    /// Whether data consists of tokens. Each token belongs to a node and has a set of receivers.
    /// The tokens of a node with the same receivers form a class, which is a segment of the node's
    /// block.
    pub has_tokens: bool,
}

/// Defines the kinds of collectives, and [`COLLECTIVES`]. Fields that are not given have the values
/// of [`EXCHANGE`].
macro_rules! collectives {
    ($($(#[$doc:meta])+ $name:ident { $($field:ident: $value:expr),+ $(,)? })+) => {
        $($(#[$doc])+
        pub static $name: CollectiveKind = CollectiveKind { $($field: $value),+, ..EXCHANGE };)+

        /// All collectives, in the order of their codes in the plugin ABI.
        pub static COLLECTIVES: [&CollectiveKind; [$(stringify!($name)),+].len()] = [$(&$name),+];
    };
}

/// A collective in which each node has a block for each node, and no node may receive one twice.
const EXCHANGE: CollectiveKind = CollectiveKind {
    word: "",
    help: "",
    code: 0,
    initial: InitialBlocks::Own,
    required: FinalBlocks::ForNode,
    redundant_delivery: RedundantDelivery::Fault,
    by_byte_counts: false,
    sums: false,
    has_tokens: false,
};

collectives! {
    /// Each node has a block for each node. A node's block for itself needs no message.
    ALL_TO_ALL {
        word: "alltoall",
        help: "every node has a block for every node, itself included",
        code: SWM_ALLTOALL,
        by_byte_counts: true,
    }

    /// The root has one block for all nodes.
    BROADCAST {
        word: "broadcast",
        help: "the root sends one block to all nodes",
        code: SWM_BROADCAST,
        initial: InitialBlocks::AllAtRoot,
        required: FinalBlocks::All,
        redundant_delivery: RedundantDelivery::Allowed,
    }

    /// The root has a block for each node.
    SCATTER {
        word: "scatter",
        help: "the root has a block for each node",
        code: SWM_SCATTER,
        initial: InitialBlocks::AllAtRoot,
    }

    /// Each node has a block for the root.
    GATHER {
        word: "gather",
        help: "each node has a block for the root",
        code: SWM_GATHER,
        required: FinalBlocks::AllAtRoot,
    }

    /// Each node has a block for all nodes.
    ALL_GATHER {
        word: "allgather",
        help: "each node sends one block to all nodes",
        code: SWM_ALLGATHER,
        required: FinalBlocks::All,
        redundant_delivery: RedundantDelivery::Allowed,
    }

    /// Each node has a block for one other node.
    PERMUTATION {
        word: "permutation",
        help: "each node has a block for one other node",
        code: SWM_PERMUTATION,
        required: FinalBlocks::Permuted,
    }

    /// Each node has a vector. The root receives their sum.
    REDUCE {
        word: "reduce",
        help: "each node has a vector; the root receives their sum",
        code: SWM_REDUCE,
        required: FinalBlocks::AllAtRoot,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
    }

    /// Each node has a vector with one element per node, and receives the sum of its elements.
    REDUCE_SCATTER {
        word: "reduce-scatter",
        help: "each node has a vector with one element per node and receives the sum of its elements",
        code: SWM_REDUCE_SCATTER,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
    }

    /// Each node has a vector. All nodes receive their sum.
    ALL_REDUCE {
        word: "allreduce",
        help: "each node has a vector; all nodes receive their sum",
        code: SWM_ALLREDUCE,
        required: FinalBlocks::All,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
    }

    /// Each node has tokens. Each token goes to a set of nodes, which may copy and forward tokens.
    DISPATCH {
        word: "dispatch",
        help: "each node has tokens; each token goes to a set of nodes, one copy to each",
        code: SWM_DISPATCH,
        required: FinalBlocks::Received,
        has_tokens: true,
    }

    /// Each node has tokens. Each node in the set of a token has a partial result of this token.
    /// The node to which the token belongs receives the sum of these results.
    COMBINE {
        word: "combine",
        help: "each node has tokens and receives, for each of them, the sum of the results of a set of nodes",
        code: SWM_COMBINE_TOKENS,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
        has_tokens: true,
    }
}

/// Returns the collectives whose bits are set in `bits`. A collective has the bit `1 << code`.
pub fn of_bits(bits: u64) -> impl Iterator<Item = &'static CollectiveKind> {
    COLLECTIVES.into_iter().filter(move |kind| bits >> kind.code & 1 == 1)
}

impl CollectiveKind {
    /// Returns whether there is a root: only this node holds blocks at the start, or must hold some
    /// at the end.
    pub fn is_rooted(&self) -> bool {
        self.initial == InitialBlocks::AllAtRoot || self.required == FinalBlocks::AllAtRoot
    }

    /// Returns whether a permutation determines the destinations.
    pub fn permutes(&self) -> bool {
        self.required == FinalBlocks::Permuted
    }

    /// Returns whether blocks are distinguished by `side`. The block of a broadcast is
    /// distinguished neither by its origin nor by its destination.
    pub fn distinguishes(&self, side: Side) -> bool {
        match side {
            Side::Origins => self.initial == InitialBlocks::Own,
            Side::Destinations => self.required == FinalBlocks::ForNode,
            Side::Segments => true,
        }
    }

    /// Returns whether each block has one origin and one destination, which may determine its size.
    pub fn is_sized_by_pair(&self) -> bool {
        match self.required {
            FinalBlocks::ForNode | FinalBlocks::AllAtRoot => !self.sums,
            FinalBlocks::All | FinalBlocks::Permuted | FinalBlocks::Received => false,
        }
    }

    /// Returns whether blocks are distinguished by their origin and by their destination, and are
    /// not added.
    pub fn exchanges(&self) -> bool {
        !self.sums && self.distinguishes(Side::Origins) && self.distinguishes(Side::Destinations)
    }

    /// Returns whether each block must reach all nodes and is not a term of a sum. The size of a
    /// block may then depend on its origin, but not on its destination.
    pub fn is_sized_by_origin(&self) -> bool {
        match self.required {
            FinalBlocks::All => !self.sums,
            FinalBlocks::ForNode
            | FinalBlocks::AllAtRoot
            | FinalBlocks::Permuted
            | FinalBlocks::Received => false,
        }
    }

    /// Returns whether each node sends data to every other node, or for tokens, whether it may do
    /// so.
    pub fn connects_all_pairs(&self) -> bool {
        match (self.initial, self.required) {
            (
                InitialBlocks::Own,
                FinalBlocks::ForNode | FinalBlocks::All | FinalBlocks::Received,
            ) => true,
            (InitialBlocks::Own, FinalBlocks::AllAtRoot | FinalBlocks::Permuted)
            | (InitialBlocks::AllAtRoot, _) => false,
        }
    }

    /// Returns whether a send may select blocks by `side`. In a reduction, a value is sent with all
    /// of its contributions, so a send cannot select origins.
    pub fn may_name(&self, side: Side) -> bool {
        self.distinguishes(side) && !(self.sums && side == Side::Origins)
    }

    /// Returns the indefinite article of the name.
    pub fn article(&self) -> &'static str {
        if self.word.starts_with('a') { "an" } else { "a" }
    }
}
