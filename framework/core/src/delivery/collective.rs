//! Collectives. A collective defines which blocks each node holds at the start, and which blocks
//! each node must hold at the end.
//!
//! Each collective is a row of [`COLLECTIVES`]. All further properties follow from this row:
//! whether blocks are distinguished by origin and by destination, by which sets a send may select
//! blocks, whether there is a root, which block sizes are possible, and the lower bounds. A new
//! collective needs only a new row.

use crate::delivery::boxes::Side;
use std::fmt;
use std::sync::Arc;

mod sizes;
mod tokens;

#[cfg(test)]
pub(crate) use sizes::SizeTable;
pub use sizes::{BlockSizes, MaxTraffic};
pub use tokens::{TokenSizes, Tokens};

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
    /// Whether a schedule may trace byte counts per destination instead of blocks. This is possible
    /// only if the origin of the data does not matter.
    pub by_byte_counts: bool,
    /// Whether the collective is a reduction. The blocks of several origins are then contributions
    /// to one sum.
    pub sums: bool,
    /// Whether data consists of [`Tokens`]. Each token belongs to a node and has a set of
    /// receivers. The tokens of a node with the same receivers form a class. These classes are the
    /// segments of the node's block.
    pub has_tokens: bool,
}

/// Defines the kinds of collectives, and [`COLLECTIVES`]. Fields that are not given have the values
/// of [`EXCHANGE`].
macro_rules! collectives {
    ($($(#[$doc:meta])+ $name:ident { $($field:ident: $value:expr),+ $(,)? })+) => {
        $($(#[$doc])+
        pub static $name: CollectiveKind = CollectiveKind { $($field: $value),+, ..EXCHANGE };)+

        /// All collectives, in the order of their codes in the plugin ABI.
        pub static COLLECTIVES: [&CollectiveKind; 11] = [$(&$name),+];
    };
}

/// A collective in which each node has a block for each node, and no node may receive a block
/// twice.
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
        code: 0,
        by_byte_counts: true,
    }

    /// The root has one block for all nodes.
    BROADCAST {
        word: "broadcast",
        help: "the root sends one block to all nodes",
        code: 1,
        initial: InitialBlocks::AllAtRoot,
        required: FinalBlocks::All,
        redundant_delivery: RedundantDelivery::Allowed,
    }

    /// The root has a block for each node.
    SCATTER {
        word: "scatter",
        help: "the root has a block for each node",
        code: 2,
        initial: InitialBlocks::AllAtRoot,
    }

    /// Each node has a block for the root.
    GATHER {
        word: "gather",
        help: "each node has a block for the root",
        code: 3,
        required: FinalBlocks::AllAtRoot,
    }

    /// Each node has a block for all nodes.
    ALL_GATHER {
        word: "allgather",
        help: "each node sends one block to all nodes",
        code: 4,
        required: FinalBlocks::All,
        redundant_delivery: RedundantDelivery::Allowed,
    }

    /// Each node has a block for one other node.
    PERMUTATION {
        word: "permutation",
        help: "each node has a block for one other node",
        code: 5,
        required: FinalBlocks::Permuted,
    }

    /// Each node has a vector. The root receives their sum.
    REDUCE {
        word: "reduce",
        help: "each node has a vector; the root receives their sum",
        code: 6,
        required: FinalBlocks::AllAtRoot,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
    }

    /// Each node has a vector with one element per node. Each node receives the sum of the elements
    /// for this node.
    REDUCE_SCATTER {
        word: "reduce-scatter",
        help: "each node has a vector with one element per node and receives the sum of its elements",
        code: 7,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
    }

    /// Each node has a vector. All nodes receive their sum.
    ALL_REDUCE {
        word: "allreduce",
        help: "each node has a vector; all nodes receive their sum",
        code: 8,
        required: FinalBlocks::All,
        redundant_delivery: RedundantDelivery::Allowed,
        sums: true,
    }

    /// Each node has tokens. Each token goes to a set of nodes, and nodes may copy and forward
    /// tokens.
    DISPATCH {
        word: "dispatch",
        help: "each node has tokens; each token goes to a set of nodes, one copy to each",
        code: 9,
        required: FinalBlocks::Received,
        has_tokens: true,
    }

    /// Each node has tokens. Each node in the set of a token has a partial result of this token.
    /// The node to which the token belongs receives the sum of these results.
    COMBINE {
        word: "combine",
        help: "each node has tokens and receives, for each of them, the sum of the results of a set of nodes",
        code: 10,
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
    /// Returns whether there is a root: only this node holds blocks at the start, or only this node
    /// must hold blocks at the end.
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

    /// Returns whether each block has one origin and one destination, so that its size may depend
    /// on both.
    pub fn is_sized_by_pair(&self) -> bool {
        match self.required {
            FinalBlocks::ForNode | FinalBlocks::AllAtRoot => !self.sums,
            FinalBlocks::All | FinalBlocks::Permuted | FinalBlocks::Received => false,
        }
    }

    /// Returns whether blocks are distinguished by their origin and by their destination, as in an
    /// all-to-all. Returns `false` for reductions.
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

    /// Returns whether each node sends data to every other node. For tokens, returns whether it may
    /// do so.
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
    fn may_name(&self, side: Side) -> bool {
        self.distinguishes(side) && !(self.sums && side == Side::Origins)
    }

    /// Returns the reason why a send cannot select blocks by `side`, or `None` if it can. A send
    /// that gives a set for this side is refused: if the set were ignored, the send would move more
    /// blocks than intended.
    pub fn set_error(&self, side: Side) -> Option<String> {
        if self.may_name(side) {
            return None;
        }
        let known = match (self.may_name(Side::Origins), self.may_name(Side::Destinations)) {
            _ if self.sums && side == Side::Origins => "which combines the values of all origins",
            (true, _) if self.has_tokens => {
                "whose tokens are distinguished by origin and segment only"
            }
            (true, _) => "whose blocks are distinguished by origin only",
            (false, true) => "whose blocks are distinguished by destination only",
            (false, false) if self.sums => "whose vector is not divided into parts",
            (false, false) => "in which there is one block",
        };
        Some(format!("can't be used in {}, {known}", self.with_article()))
    }

    /// Returns the name with its article, such as `an allgather`.
    pub fn with_article(&self) -> String {
        format!("{} {}", if self.word.starts_with('a') { "an" } else { "a" }, self.word)
    }
}

/// A collective operation among the nodes 0 to n-1 of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    kind: &'static CollectiveKind,
    root: u64,
    permutation: Option<Permutation>,
    tokens: Option<Arc<Tokens>>,
}

/// A permutation and its name, such as `transpose-2d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    name: String,
    to: Arc<[u32]>,
    from: Arc<[u32]>,
}

/// A subset of the blocks of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// No block.
    None,
    /// All blocks of the collective.
    All,
    /// The blocks that come from a node.
    From(u64),
    /// The blocks that are destined for a node. In a reduction, these are all contributions to the
    /// node's result.
    For(u64),
    /// The tokens that a node receives.
    ReceivedBy(u64),
}

impl Collective {
    /// Returns a collective of this kind. The root, if the collective has one, is node 0. A
    /// permutation maps each node to itself; for other permutations see
    /// [`Collective::permutation`].
    pub fn of(kind: &'static CollectiveKind) -> Self {
        Self { kind, root: 0, permutation: None, tokens: None }
    }

    /// Returns the collective with the root `root`.
    #[must_use]
    pub fn at(self, root: u64) -> Self {
        Self { root, ..self }
    }

    /// Returns a named permutation that maps node i to `to[i]`. The values must be distinct.
    pub fn permutation(name: &str, to: Arc<[u32]>) -> Self {
        let mut from = vec![0; to.len()];
        for (sender, receiver) in (0..).zip(to.iter()) {
            from[*receiver as usize] = sender;
        }
        let permutation = Permutation { name: name.to_owned(), to, from: from.into() };
        Self { permutation: Some(permutation), ..Self::of(&PERMUTATION) }
    }

    /// Returns a dispatch or a combine of these tokens.
    pub fn of_tokens(kind: &'static CollectiveKind, tokens: Arc<Tokens>) -> Self {
        Self { tokens: Some(tokens), ..Self::of(kind) }
    }

    /// Returns the tokens of a dispatch or a combine.
    pub fn tokens(&self) -> Option<&Arc<Tokens>> {
        self.tokens.as_ref()
    }

    /// Returns the kind of the collective, which is a row of [`COLLECTIVES`].
    pub fn kind(&self) -> &'static CollectiveKind {
        self.kind
    }

    /// Returns the root, if there is one.
    pub fn root(&self) -> Option<u64> {
        self.kind.is_rooted().then_some(self.root)
    }

    /// Returns the node that is passed to [`BlockSizes`] for a side which does not distinguish
    /// blocks: the root, or node 0 if there is no root.
    pub(crate) fn shared_end(&self) -> u64 {
        self.root().unwrap_or(0)
    }

    /// Returns the nodes that are passed to [`BlockSizes`] for the block from `origin` to
    /// `destination`, or for the sum to which this block contributes.
    pub(crate) fn sizing_nodes(&self, origin: u64, destination: u64) -> [u64; 2] {
        [(Side::Origins, origin), (Side::Destinations, destination)]
            .map(|(side, node)| if self.kind.may_name(side) { node } else { self.shared_end() })
    }

    /// Returns the name of the permutation, if there is one.
    pub fn permutation_name(&self) -> Option<&str> {
        self.permutation.as_ref().map(|permutation| &*permutation.name)
    }

    /// Returns, for each node, the node to which the permutation maps it; `None` if no permutation
    /// is set.
    pub fn images(&self) -> Option<&[u32]> {
        self.permutation.as_ref().map(|permutation| &*permutation.to)
    }

    /// Returns the blocks that `node` holds at the start.
    pub fn initial(&self, node: u64) -> Blocks {
        match self.kind.initial {
            InitialBlocks::Own => Blocks::From(node),
            InitialBlocks::AllAtRoot => self.all_at_root(node),
        }
    }

    /// Returns the blocks that `node` must hold at the end.
    pub fn required(&self, node: u64) -> Blocks {
        match (self.kind.required, &self.permutation) {
            (FinalBlocks::ForNode, _) => Blocks::For(node),
            (FinalBlocks::All, _) => Blocks::All,
            (FinalBlocks::AllAtRoot, _) => self.all_at_root(node),
            (FinalBlocks::Permuted, Some(permutation)) => {
                Blocks::From(permutation.from[node as usize].into())
            }
            (FinalBlocks::Permuted, None) => Blocks::From(node),
            (FinalBlocks::Received, _) => Blocks::ReceivedBy(node),
        }
    }

    fn all_at_root(&self, node: u64) -> Blocks {
        if node == self.root { Blocks::All } else { Blocks::None }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_their_numbers() {
        assert!((0..).zip(COLLECTIVES).all(|(code, kind)| kind.code == code));
    }

    #[test]
    fn a_permutation_requires_the_block_of_the_node_mapped_to_each() {
        let rotate = Collective::permutation("rotate", [1, 2, 0].into());
        assert_eq!((rotate.initial(0), rotate.required(0)), (Blocks::From(0), Blocks::From(2)));
        assert_eq!(rotate.permutation_name(), Some("rotate"));
        assert_eq!(Collective::of(&PERMUTATION).required(1), Blocks::From(1));
    }

    #[test]
    fn some_collectives_connect_all_pairs_of_nodes() {
        let words = COLLECTIVES.iter().filter(|kind| kind.connects_all_pairs());
        let words: Vec<&str> = words.map(|kind| kind.word).collect();
        assert_eq!(
            words,
            ["alltoall", "allgather", "reduce-scatter", "allreduce", "dispatch", "combine"]
        );
    }

    #[test]
    fn blocks_of_an_exchange_have_an_origin_and_a_destination() {
        let words = COLLECTIVES.iter().filter(|kind| kind.exchanges()).map(|kind| kind.word);
        assert_eq!(words.collect::<Vec<_>>(), ["alltoall"]);
    }

    #[test]
    fn only_the_root_holds_all_blocks() {
        let scatter = Collective::of(&SCATTER).at(2);
        assert_eq!(
            [0, 1, 2].map(|node| scatter.initial(node)),
            [Blocks::None, Blocks::None, Blocks::All]
        );
        assert_eq!(Collective::of(&GATHER).required(0), Blocks::All);
        assert_eq!((scatter.root(), Collective::of(&ALL_GATHER).root()), (Some(2), None));
    }

    #[test]
    fn sets_that_distinguish_no_blocks_are_refused() {
        let sides = [Side::Origins, Side::Destinations];
        assert_eq!(sides.map(|side| ALL_TO_ALL.set_error(side)), [None, None]);
        assert_eq!(REDUCE_SCATTER.set_error(Side::Destinations), None);
        let refused = |kind: &CollectiveKind, side| kind.set_error(side).unwrap();
        insta::assert_snapshot!(refused(&BROADCAST, Side::Origins), @"can't be used in a broadcast, in which there is one block");
        insta::assert_snapshot!(refused(&BROADCAST, Side::Destinations), @"can't be used in a broadcast, in which there is one block");
        insta::assert_snapshot!(refused(&SCATTER, Side::Origins), @"can't be used in a scatter, whose blocks are distinguished by destination only");
        insta::assert_snapshot!(refused(&ALL_GATHER, Side::Destinations), @"can't be used in an allgather, whose blocks are distinguished by origin only");
        insta::assert_snapshot!(refused(&REDUCE_SCATTER, Side::Origins), @"can't be used in a reduce-scatter, which combines the values of all origins");
        insta::assert_snapshot!(refused(&REDUCE, Side::Destinations), @"can't be used in a reduce, whose vector is not divided into parts");
    }
}
