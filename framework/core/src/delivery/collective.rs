//! Collectives: which blocks each node holds at the start, and must hold at the end.
//!
//! Each collective is a row of [`COLLECTIVES`]. All other properties follow from this row: whether
//! blocks are distinguished by origin and by destination, by which sets a send may select blocks,
//! whether there is a root, which block sizes are possible, and the lower bounds.

mod tokens;

use std::fmt;
use std::sync::Arc;
pub use swapmeet_abi::collective::*;
pub use tokens::{TokenSizes, Tokens};

/// Returns the reason why a send must not select blocks of a collective by `side`, or `None` if it
/// may. If the set were ignored, the send would move more blocks than intended.
pub fn set_error(kind: &CollectiveKind, side: Side) -> Option<String> {
    if kind.may_name(side) {
        return None;
    }
    let known = match (kind.may_name(Side::Origins), kind.may_name(Side::Destinations)) {
        _ if kind.sums && side == Side::Origins => "which combines the values of all origins",
        (true, _) if kind.has_tokens => "whose tokens are distinguished by origin and segment only",
        (true, _) => "whose blocks are distinguished by origin only",
        (false, true) => "whose blocks are distinguished by destination only",
        (false, false) if kind.sums => "whose vector is not divided into parts",
        (false, false) => "in which there is one block",
    };
    Some(format!("can't be used in {} {}, {known}", kind.article(), kind.word))
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
    /// The blocks whose origin is this node.
    From(u64),
    /// The blocks whose destination is this node. In a reduction, these are all contributions to
    /// its result.
    For(u64),
    /// The tokens that this node receives.
    ReceivedBy(u64),
}

impl Collective {
    /// Returns a collective of this kind, with node 0 as root and the identity as permutation.
    pub fn of(kind: &'static CollectiveKind) -> Self {
        Self { kind, root: 0, permutation: None, tokens: None }
    }

    /// Sets the root.
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

    /// Returns the kind of the collective, a row of [`COLLECTIVES`].
    pub fn kind(&self) -> &'static CollectiveKind {
        self.kind
    }

    /// Returns the root, if there is one.
    pub fn root(&self) -> Option<u64> {
        self.kind.is_rooted().then_some(self.root)
    }

    pub(crate) fn shared_end(&self) -> u64 {
        self.root().unwrap_or(0)
    }

    /// Returns the origin and the destination that [`BlockSizes`] get for a block, or for the sum
    /// to which the block contributes.
    pub(crate) fn sizing_nodes(&self, origin: u64, destination: u64) -> [u64; 2] {
        [(Side::Origins, origin), (Side::Destinations, destination)]
            .map(|(side, node)| if self.kind.may_name(side) { node } else { self.shared_end() })
    }

    /// Returns the name of the permutation, if there is one.
    pub fn permutation_name(&self) -> Option<&str> {
        self.permutation.as_ref().map(|permutation| &*permutation.name)
    }

    /// Returns the image of each node under the permutation, if one is set.
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

/// The sizes of blocks that differ in size. Blocks of the same size are counted instead.
pub trait BlockSizes: fmt::Debug + Send + Sync {
    /// Returns the bytes of the block from `origin` to `destination`. Both are nodes of the
    /// machine. If each block is for all nodes, `destination` is ignored.
    fn bytes(&self, origin: u64, destination: u64) -> u64;

    /// Returns the bytes of all blocks from `origins` to `destinations`. Both lists are sorted.
    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        origins
            .iter()
            .flat_map(|&o| destinations.iter().map(move |&d| (o, d)))
            .map(|(o, d)| self.bytes(o, d))
            .sum()
    }

    /// Calls `visit` with each node for which `origin` has a block that is not empty, and with the
    /// bytes of the block. The nodes are in ascending order, below `nodes`.
    fn each_receiver(&self, origin: u64, nodes: u64, visit: &mut dyn FnMut(u64, u64)) {
        let sizes = (0..nodes).map(|destination| (destination, self.bytes(origin, destination)));
        sizes.filter(|(_, bytes)| *bytes > 0).for_each(|(to, bytes)| visit(to, bytes));
    }

    /// Returns the bytes of the largest block; 0 if there are no blocks.
    fn largest(&self) -> u64;

    /// Returns the maximum traffic among the nodes with numbers below `nodes`.
    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        pair_traffic(self, nodes)
    }
}

pub(crate) fn pair_traffic<S: BlockSizes + ?Sized>(sizes: &S, nodes: u64) -> MaxTraffic {
    let mut received = vec![(0_u64, 0_u64); nodes as usize];
    let mut busiest = MaxTraffic::default();
    for origin in 0..nodes {
        let (mut bytes, mut peers) = (0, 0);
        sizes.each_receiver(origin, nodes, &mut |destination, block| {
            if destination != origin {
                let (all, from) = &mut received[destination as usize];
                (*all, *from) = (*all + block, *from + 1);
                (bytes, peers) = (bytes + block, peers + 1);
            }
        });
        busiest.sent = busiest.sent.max(bytes);
        busiest.peers = busiest.peers.max(peers);
        busiest.pairs += peers;
    }
    for (bytes, peers) in received {
        busiest.received = busiest.received.max(bytes);
        busiest.peers = busiest.peers.max(peers);
    }
    busiest
}

/// The traffic between different nodes. All values except `pairs` are the largest of any node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaxTraffic {
    /// The total bytes that one node has for all other nodes.
    pub sent: u64,
    /// The total bytes that all other nodes have for one node.
    pub received: u64,
    /// The number of nodes to which a node sends blocks that are not empty, or from which it
    /// receives such blocks, whichever is larger.
    pub peers: u64,
    /// The number of ordered pairs of different nodes whose block is not empty.
    pub pairs: u64,
}

#[cfg(test)]
#[derive(Debug)]
pub(crate) struct SizeTable(pub Vec<Vec<u64>>);

#[cfg(test)]
impl SizeTable {
    pub(crate) fn of(
        nodes: u64,
        bytes: impl Fn(u64, u64) -> u64,
    ) -> Option<std::sync::Arc<dyn BlockSizes>> {
        let row = |origin| (0..nodes).map(|destination| bytes(origin, destination)).collect();
        Some(std::sync::Arc::new(Self((0..nodes).map(row).collect())))
    }
}

#[cfg(test)]
impl BlockSizes for SizeTable {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        self.0[origin as usize][destination as usize]
    }

    fn largest(&self) -> u64 {
        self.0.iter().flatten().copied().max().unwrap_or(0)
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
        assert_eq!(sides.map(|side| set_error(&ALL_TO_ALL, side)), [None, None]);
        assert_eq!(set_error(&REDUCE_SCATTER, Side::Destinations), None);
        let refused = |kind: &CollectiveKind, side| set_error(kind, side).unwrap();
        insta::assert_snapshot!(refused(&BROADCAST, Side::Origins), @"can't be used in a broadcast, in which there is one block");
        insta::assert_snapshot!(refused(&BROADCAST, Side::Destinations), @"can't be used in a broadcast, in which there is one block");
        insta::assert_snapshot!(refused(&SCATTER, Side::Origins), @"can't be used in a scatter, whose blocks are distinguished by destination only");
        insta::assert_snapshot!(refused(&ALL_GATHER, Side::Destinations), @"can't be used in an allgather, whose blocks are distinguished by origin only");
        insta::assert_snapshot!(refused(&REDUCE_SCATTER, Side::Origins), @"can't be used in a reduce-scatter, which combines the values of all origins");
        insta::assert_snapshot!(refused(&REDUCE, Side::Destinations), @"can't be used in a reduce, whose vector is not divided into parts");
    }
}
