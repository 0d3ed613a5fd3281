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

pub use sizes::{BlockSizes, Busiest};

/// What each node holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Each node the blocks that come from it.
    EachItsOwn,
    /// The root every block, the others none.
    RootAll,
}

/// What each node is to hold at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Each node the blocks that are for it.
    EachWhatIsForIt,
    /// Each node every block.
    EachAll,
    /// The root every block.
    RootAll,
    /// Each node the block of the node that a permutation takes to it.
    EachItsSendersOwn,
}

/// What it means that a block comes to a node that has it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondCopy {
    /// A message longer than it need be.
    Waste,
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
    pub before: Before,
    /// What each node is to hold at the end.
    pub after: After,
    /// Whether nodes may receive what they have.
    pub second_copy: SecondCopy,
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
    before: Before::EachItsOwn,
    after: After::EachWhatIsForIt,
    second_copy: SecondCopy::Fault,
    by_byte_counts: true,
    sums: false,
};

/// The root has one block, which everyone is to have.
pub static BROADCAST: CollectiveKind = CollectiveKind {
    word: "broadcast",
    help: "the root has one block, which everyone is to have",
    code: 1,
    before: Before::RootAll,
    after: After::EachAll,
    second_copy: SecondCopy::Waste,
    by_byte_counts: false,
    sums: false,
};

/// The root has a block for each.
pub static SCATTER: CollectiveKind = CollectiveKind {
    word: "scatter",
    help: "the root has a block for each",
    code: 2,
    before: Before::RootAll,
    after: After::EachWhatIsForIt,
    second_copy: SecondCopy::Fault,
    by_byte_counts: false,
    sums: false,
};

/// Each has a block for the root.
pub static GATHER: CollectiveKind = CollectiveKind {
    word: "gather",
    help: "each has a block for the root",
    code: 3,
    before: Before::EachItsOwn,
    after: After::RootAll,
    second_copy: SecondCopy::Fault,
    by_byte_counts: false,
    sums: false,
};

/// Each has a block that everyone is to have.
pub static ALL_GATHER: CollectiveKind = CollectiveKind {
    word: "allgather",
    help: "each has a block that everyone is to have",
    code: 4,
    before: Before::EachItsOwn,
    after: After::EachAll,
    second_copy: SecondCopy::Waste,
    by_byte_counts: false,
    sums: false,
};

/// Each has a block for one other.
pub static PERMUTATION: CollectiveKind = CollectiveKind {
    word: "permutation",
    help: "each has a block for one other",
    code: 5,
    before: Before::EachItsOwn,
    after: After::EachItsSendersOwn,
    second_copy: SecondCopy::Fault,
    by_byte_counts: false,
    sums: false,
};

/// Each has a vector; the root is to have their sum.
pub static REDUCE: CollectiveKind = CollectiveKind {
    word: "reduce",
    help: "each has a vector, whose sum the root is to have",
    code: 6,
    before: Before::EachItsOwn,
    after: After::RootAll,
    second_copy: SecondCopy::Waste,
    by_byte_counts: false,
    sums: true,
};

/// Each has a vector with a result for each node; each is to have the sum of those for it.
pub static REDUCE_SCATTER: CollectiveKind = CollectiveKind {
    word: "reduce-scatter",
    help: "each has a term for each node's result, and each is to have the sum of those for it",
    code: 7,
    before: Before::EachItsOwn,
    after: After::EachWhatIsForIt,
    second_copy: SecondCopy::Waste,
    by_byte_counts: false,
    sums: true,
};

/// Each has a vector; everyone is to have their sum.
pub static ALL_REDUCE: CollectiveKind = CollectiveKind {
    word: "allreduce",
    help: "each has a vector, whose sum everyone is to have",
    code: 8,
    before: Before::EachItsOwn,
    after: After::EachAll,
    second_copy: SecondCopy::Waste,
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
        self.before == Before::RootAll || self.after == After::RootAll
    }

    /// Whether a permutation says where blocks go.
    pub fn permutes(&self) -> bool {
        self.after == After::EachItsSendersOwn
    }

    /// Whether blocks are told apart by `side`: a broadcast's block has neither origin nor
    /// destination to tell it from others.
    pub fn tells_apart(&self, side: Side) -> bool {
        match side {
            Side::Origins => self.before == Before::EachItsOwn,
            Side::Destinations => self.after == After::EachWhatIsForIt,
            Side::Segments => true,
        }
    }

    /// Whether each block goes from one node to one other, and its size can depend on both.
    pub fn is_sized_by_pair(&self) -> bool {
        match self.after {
            After::EachWhatIsForIt | After::RootAll => !self.sums,
            After::EachAll | After::EachItsSendersOwn => false,
        }
    }

    /// Whether blocks go to everyone, so that their sizes can depend on who has them, and on
    /// nothing else.
    pub fn is_sized_by_origin(&self) -> bool {
        match self.after {
            After::EachAll => !self.sums,
            After::EachWhatIsForIt | After::RootAll | After::EachItsSendersOwn => false,
        }
    }

    /// Whether what each node has goes to every other.
    pub fn is_from_each_to_each(&self) -> bool {
        match (self.before, self.after) {
            (Before::EachItsOwn, After::EachWhatIsForIt | After::EachAll) => true,
            (Before::EachItsOwn, After::RootAll | After::EachItsSendersOwn)
            | (Before::RootAll, _) => false,
        }
    }

    /// Whether a send may name a set of `side`: what was summed goes as a whole.
    fn may_name(&self, side: Side) -> bool {
        self.tells_apart(side) && !(self.sums && side == Side::Origins)
    }

    /// Why a set of `side` says nothing about its blocks; `None` if it does. Taken for all, it
    /// would send more than was meant.
    pub fn refuses(&self, side: Side) -> Option<String> {
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
    pub fn before(&self, node: u64) -> Blocks {
        match self.kind.before {
            Before::EachItsOwn => Blocks::From(node),
            Before::RootAll => self.all_at_root(node),
        }
    }

    /// What `node` is to hold at the end.
    pub fn after(&self, node: u64) -> Blocks {
        match (self.kind.after, &self.permutation) {
            (After::EachWhatIsForIt, _) => Blocks::For(node),
            (After::EachAll, _) => Blocks::All,
            (After::RootAll, _) => self.all_at_root(node),
            (After::EachItsSendersOwn, Some(permutation)) => {
                Blocks::From(permutation.from[node as usize].into())
            }
            (After::EachItsSendersOwn, None) => Blocks::From(node),
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
        assert_eq!((rotate.before(0), rotate.after(0)), (Blocks::From(0), Blocks::From(2)));
        assert_eq!(Collective::of(&PERMUTATION).after(1), Blocks::From(1));
    }

    #[test]
    fn a_root_alone_begins_or_ends_with_everything() {
        let scatter = Collective::of(&SCATTER).at(2);
        assert_eq!(
            [0, 1, 2].map(|node| scatter.before(node)),
            [Blocks::None, Blocks::None, Blocks::All]
        );
        assert_eq!(Collective::of(&GATHER).after(0), Blocks::All);
        assert_eq!((scatter.root(), Collective::of(&ALL_GATHER).root()), (Some(2), None));
    }

    #[test]
    fn sets_that_tell_no_blocks_apart_are_refused() {
        let refused = |kind: &CollectiveKind| {
            [Side::Origins, Side::Destinations].map(|side| kind.refuses(side))
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
