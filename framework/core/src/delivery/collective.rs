//! Which block is to reach whom.
//!
//! A collective is what each node holds before and what each is to hold after: a row of
//! [`COLLECTIVES`]. All else follows: by what blocks are told apart, which sets a schedule may
//! name, whether there is a root, which sizes there can be, what must move at least. Whoever adds
//! one adds its row.

use crate::delivery::boxes::Side;
use std::fmt;
use std::sync::Arc;

mod sizes;

pub use sizes::{BlockSizes, MaxTraffic};

/// What each node holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialBlocks {
    /// Each node the blocks that come from it.
    Own,
    /// The root every block, the others none.
    AllAtRoot,
}

/// What each node is to hold at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalBlocks {
    /// Each node the blocks that are for it.
    ForNode,
    /// Each node every block.
    All,
    /// The root every block.
    AllAtRoot,
    /// Each node the block of the node that a permutation takes to it.
    Permuted,
}

/// What it means that a block comes to a node that has it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedundantDelivery {
    /// A message longer than it need be.
    Allowed,
    /// A fault that ends the case.
    Fault,
}

/// A collective, but for its root or permutation.
#[derive(Debug, PartialEq, Eq)]
pub struct CollectiveKind {
    /// The word in specs and rows.
    pub word: &'static str,
    /// What each node has and is to have, for lists.
    pub help: &'static str,
    /// Its number at the plugin boundary.
    pub code: u32,
    /// What each node holds at the start.
    pub initial: InitialBlocks,
    /// What each node is to hold at the end.
    pub required: FinalBlocks,
    /// Whether nodes may receive what they have.
    pub redundant_delivery: RedundantDelivery,
    /// Whether it can be done by byte counts for each destination: where it does not matter where
    /// data comes from.
    pub by_byte_counts: bool,
    /// Whether what comes from different nodes is summed: then a node holds one value where
    /// elsewhere it holds a block from each.
    pub sums: bool,
}

/// Every node has a block for every node (its own included, which needs no message).
pub static ALL_TO_ALL: CollectiveKind = CollectiveKind {
    word: "alltoall",
    help: "every node has a block for every node; its own is there already",
    code: 0,
    initial: InitialBlocks::Own,
    required: FinalBlocks::ForNode,
    redundant_delivery: RedundantDelivery::Fault,
    by_byte_counts: true,
    sums: false,
};

/// The root has one block, which everyone is to have.
pub static BROADCAST: CollectiveKind = CollectiveKind {
    word: "broadcast",
    help: "the root has one block, which everyone is to have",
    code: 1,
    initial: InitialBlocks::AllAtRoot,
    required: FinalBlocks::All,
    redundant_delivery: RedundantDelivery::Allowed,
    by_byte_counts: false,
    sums: false,
};

/// The root has a block for each.
pub static SCATTER: CollectiveKind = CollectiveKind {
    word: "scatter",
    help: "the root has a block for each",
    code: 2,
    initial: InitialBlocks::AllAtRoot,
    required: FinalBlocks::ForNode,
    redundant_delivery: RedundantDelivery::Fault,
    by_byte_counts: false,
    sums: false,
};

/// Each has a block for the root.
pub static GATHER: CollectiveKind = CollectiveKind {
    word: "gather",
    help: "each has a block for the root",
    code: 3,
    initial: InitialBlocks::Own,
    required: FinalBlocks::AllAtRoot,
    redundant_delivery: RedundantDelivery::Fault,
    by_byte_counts: false,
    sums: false,
};

/// Each has a block that everyone is to have.
pub static ALL_GATHER: CollectiveKind = CollectiveKind {
    word: "allgather",
    help: "each has a block that everyone is to have",
    code: 4,
    initial: InitialBlocks::Own,
    required: FinalBlocks::All,
    redundant_delivery: RedundantDelivery::Allowed,
    by_byte_counts: false,
    sums: false,
};

/// Each has a block for one other.
pub static PERMUTATION: CollectiveKind = CollectiveKind {
    word: "permutation",
    help: "each has a block for one other",
    code: 5,
    initial: InitialBlocks::Own,
    required: FinalBlocks::Permuted,
    redundant_delivery: RedundantDelivery::Fault,
    by_byte_counts: false,
    sums: false,
};

/// Each has a vector; the root is to have their sum.
pub static REDUCE: CollectiveKind = CollectiveKind {
    word: "reduce",
    help: "each has a vector, whose sum the root is to have",
    code: 6,
    initial: InitialBlocks::Own,
    required: FinalBlocks::AllAtRoot,
    redundant_delivery: RedundantDelivery::Allowed,
    by_byte_counts: false,
    sums: true,
};

/// Each has a vector with a result for each node; each is to have the sum of those for it.
pub static REDUCE_SCATTER: CollectiveKind = CollectiveKind {
    word: "reduce-scatter",
    help: "each has a term for each node's result, and each is to have the sum of those for it",
    code: 7,
    initial: InitialBlocks::Own,
    required: FinalBlocks::ForNode,
    redundant_delivery: RedundantDelivery::Allowed,
    by_byte_counts: false,
    sums: true,
};

/// Each has a vector; everyone is to have their sum.
pub static ALL_REDUCE: CollectiveKind = CollectiveKind {
    word: "allreduce",
    help: "each has a vector, whose sum everyone is to have",
    code: 8,
    initial: InitialBlocks::Own,
    required: FinalBlocks::All,
    redundant_delivery: RedundantDelivery::Allowed,
    by_byte_counts: false,
    sums: true,
};

/// All collectives, in the order of their numbers.
pub static COLLECTIVES: [&CollectiveKind; 9] = [
    &ALL_TO_ALL,
    &BROADCAST,
    &SCATTER,
    &GATHER,
    &ALL_GATHER,
    &PERMUTATION,
    &REDUCE,
    &REDUCE_SCATTER,
    &ALL_REDUCE,
];

/// The collectives of a set that has bit `1 << code` for each.
pub fn of_bits(bits: u64) -> impl Iterator<Item = &'static CollectiveKind> {
    COLLECTIVES.into_iter().filter(move |kind| bits >> kind.code & 1 == 1)
}

impl CollectiveKind {
    /// Whether one node has, or is to have, everything.
    pub fn is_rooted(&self) -> bool {
        self.initial == InitialBlocks::AllAtRoot || self.required == FinalBlocks::AllAtRoot
    }

    /// Whether a permutation says where blocks go.
    pub fn permutes(&self) -> bool {
        self.required == FinalBlocks::Permuted
    }

    /// Whether blocks are told apart by `side`: a broadcast's block has neither origin nor
    /// destination to tell it from others.
    pub fn distinguishes(&self, side: Side) -> bool {
        match side {
            Side::Origins => self.initial == InitialBlocks::Own,
            Side::Destinations => self.required == FinalBlocks::ForNode,
            Side::Segments => true,
        }
    }

    /// Whether each block goes from one node to one other, and its size can depend on both.
    pub fn is_sized_by_pair(&self) -> bool {
        match self.required {
            FinalBlocks::ForNode | FinalBlocks::AllAtRoot => !self.sums,
            FinalBlocks::All | FinalBlocks::Permuted => false,
        }
    }

    /// Whether blocks go to everyone, so that their sizes can depend on who has them, and on
    /// nothing else.
    pub fn is_sized_by_origin(&self) -> bool {
        match self.required {
            FinalBlocks::All => !self.sums,
            FinalBlocks::ForNode | FinalBlocks::AllAtRoot | FinalBlocks::Permuted => false,
        }
    }

    /// Whether what each node has goes to every other.
    pub fn connects_all_pairs(&self) -> bool {
        match (self.initial, self.required) {
            (InitialBlocks::Own, FinalBlocks::ForNode | FinalBlocks::All) => true,
            (InitialBlocks::Own, FinalBlocks::AllAtRoot | FinalBlocks::Permuted)
            | (InitialBlocks::AllAtRoot, _) => false,
        }
    }

    /// Whether a send may name a set of `side`: what was summed goes as a whole.
    fn may_name(&self, side: Side) -> bool {
        self.distinguishes(side) && !(self.sums && side == Side::Origins)
    }

    /// Why a set of `side` says nothing about its blocks; `None` if it does. Taken for all, it
    /// would send more than was meant.
    pub fn set_error(&self, side: Side) -> Option<String> {
        if self.may_name(side) {
            return None;
        }
        let known = match (self.may_name(Side::Origins), self.may_name(Side::Destinations)) {
            _ if self.sums && side == Side::Origins => "which sums what comes from different nodes",
            (true, _) => "whose blocks are known by their origins",
            (false, true) => "whose blocks are known by their destinations",
            (false, false) if self.sums => "whose vector is not laid out in parts",
            (false, false) => "in which there is one block",
        };
        Some(format!("can't be used in {}, {known}", self.with_article()))
    }

    /// `a scatter`, `an allgather`.
    pub fn with_article(&self) -> String {
        format!("{} {}", if self.word.starts_with('a') { "an" } else { "a" }, self.word)
    }
}

/// A collective operation over nodes 0 .. n-1 of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    kind: &'static CollectiveKind,
    root: u64,
    permutation: Option<Permutation>,
}

/// A permutation with its name, such as `transpose-2d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    name: String,
    to: Arc<[u32]>,
    from: Arc<[u32]>,
}

/// Blocks, of all that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// No block at all.
    None,
    /// Every block of the collective.
    All,
    /// Those that come from a node.
    From(u64),
    /// Those that are for a node.
    For(u64),
}

impl Collective {
    /// One of this kind, its root, where it has one, at node 0. A permutation takes every node to
    /// itself: see [`Collective::permutation`].
    pub fn of(kind: &'static CollectiveKind) -> Self {
        Self { kind, root: 0, permutation: None }
    }

    /// The same with its root at `root`.
    #[must_use]
    pub fn at(self, root: u64) -> Self {
        Self { root, ..self }
    }

    /// The permutation of this name, which takes node i to `to[i]`, every node once.
    pub fn permutation(name: &str, to: Arc<[u32]>) -> Self {
        let mut from = vec![0; to.len()];
        for (sender, receiver) in (0..).zip(to.iter()) {
            from[*receiver as usize] = sender;
        }
        let permutation = Permutation { name: name.to_owned(), to, from: from.into() };
        Self { kind: &PERMUTATION, root: 0, permutation: Some(permutation) }
    }

    /// Its row of the table of collectives.
    pub fn kind(&self) -> &'static CollectiveKind {
        self.kind
    }

    /// The root, where there is one.
    pub fn root(&self) -> Option<u64> {
        self.kind.is_rooted().then_some(self.root)
    }

    /// The permutation's name, where there is one.
    pub fn permutation_name(&self) -> Option<&str> {
        self.permutation.as_ref().map(|permutation| &*permutation.name)
    }

    /// Where a permutation takes each node; `None` where there is none.
    pub fn images(&self) -> Option<&[u32]> {
        self.permutation.as_ref().map(|permutation| &*permutation.to)
    }

    /// What `node` holds at the start.
    pub fn initial(&self, node: u64) -> Blocks {
        match self.kind.initial {
            InitialBlocks::Own => Blocks::From(node),
            InitialBlocks::AllAtRoot => self.all_at_root(node),
        }
    }

    /// What `node` is to hold at the end.
    pub fn required(&self, node: u64) -> Blocks {
        match (self.kind.required, &self.permutation) {
            (FinalBlocks::ForNode, _) => Blocks::For(node),
            (FinalBlocks::All, _) => Blocks::All,
            (FinalBlocks::AllAtRoot, _) => self.all_at_root(node),
            (FinalBlocks::Permuted, Some(permutation)) => {
                Blocks::From(permutation.from[node as usize].into())
            }
            (FinalBlocks::Permuted, None) => Blocks::From(node),
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
    fn rows_stand_in_the_order_of_their_numbers() {
        assert!((0..).zip(COLLECTIVES).all(|(code, kind)| kind.code == code));
    }

    /// One that is not would run, and be taken for the one that has its number.
    #[test]
    fn every_row_of_this_file_stands_in_the_table() {
        let is_row =
            |line: &&str| line.starts_with("pub static") && line.contains(": CollectiveKind =");
        assert_eq!(include_str!("collective.rs").lines().filter(is_row).count(), COLLECTIVES.len());
    }

    #[test]
    fn a_permutation_ends_with_what_its_sender_had() {
        let rotate = Collective::permutation("rotate", [1, 2, 0].into());
        assert_eq!((rotate.initial(0), rotate.required(0)), (Blocks::From(0), Blocks::From(2)));
        assert_eq!(Collective::of(&PERMUTATION).required(1), Blocks::From(1));
    }

    #[test]
    fn a_root_alone_begins_or_ends_with_everything() {
        let scatter = Collective::of(&SCATTER).at(2);
        assert_eq!(
            [0, 1, 2].map(|node| scatter.initial(node)),
            [Blocks::None, Blocks::None, Blocks::All]
        );
        assert_eq!(Collective::of(&GATHER).required(0), Blocks::All);
        assert_eq!((scatter.root(), Collective::of(&ALL_GATHER).root()), (Some(2), None));
    }

    #[test]
    fn sets_that_tell_no_blocks_apart_are_refused() {
        let refused = |kind: &CollectiveKind| {
            [Side::Origins, Side::Destinations].map(|side| kind.set_error(side))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(refused(&ALL_TO_ALL), [None, None]);
        assert_eq!(
            refused(&BROADCAST),
            [const { "can't be used in a broadcast, in which there is one block" }; 2].map(some)
        );
        assert_eq!(
            refused(&SCATTER)[0],
            some("can't be used in a scatter, whose blocks are known by their destinations")
        );
        assert_eq!(
            refused(&ALL_GATHER)[1],
            some("can't be used in an allgather, whose blocks are known by their origins")
        );
        assert_eq!(
            refused(&REDUCE_SCATTER),
            [
                some(
                    "can't be used in a reduce-scatter, which sums what comes from different nodes"
                ),
                None
            ]
        );
        assert_eq!(
            refused(&REDUCE)[1],
            some("can't be used in a reduce, whose vector is not laid out in parts")
        );
    }
}
