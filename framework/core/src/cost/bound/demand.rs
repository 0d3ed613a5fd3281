//! The demand of a task: the data that each node has for the other nodes.

use crate::delivery::collective::{BlockSizes, FinalBlocks, InitialBlocks, Tokens};
use crate::network::topology::Network;
use crate::simulation::Task;

/// The data that each node has for the other nodes. Amounts are in blocks if blocks are counted,
/// else in bytes. In a variant with a root, the first field is the root, and the second field has
/// the amounts.
#[derive(Debug)]
pub(super) enum Demand<'a> {
    /// No data.
    None,
    /// The same amount from each node to each other node.
    Uniform(f64),
    /// A table of amounts from each node to each other node.
    Pairs(&'a dyn BlockSizes),
    /// A scatter: the root has an amount for each node.
    FromRoot(u64, Amounts<'a>),
    /// A gather: each node has an amount for the root.
    ToRoot(u64, Amounts<'a>),
    /// A permutation of the nodes: each node has an amount for one node, its image.
    Permutation(&'a [u32], Amounts<'a>),
    /// The root has the same data for all nodes. Nodes may copy the data.
    Broadcast(u64, f64),
    /// Each node has data for all nodes, and nodes may copy the data. All nodes have the same
    /// amount.
    AllGather(f64),
    /// Each node has data for all nodes, and nodes may copy the data. The amounts differ.
    AllGatherUneven(OwnSizes),
    /// The root receives a sum with a term from every node. Nodes on the routes may add terms to
    /// partial sums.
    Reduce(u64, f64),
    /// Each node receives a different sum, and each sum has a term from every node.
    ReduceScatter(f64),
    /// All nodes receive the same sum, which has a term from every node.
    AllReduce(f64),
    /// The tokens of a dispatch or a combine, their sizes by pairs of nodes, and whether the
    /// collective is a combine. Nodes on the routes may copy tokens, or add terms to partial sums.
    Tokens(&'a Tokens, &'a dyn BlockSizes, bool),
}

/// The amounts of data between pairs of nodes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amounts<'a> {
    /// The same amount for every pair.
    Same(f64),
    /// The sizes of the blocks of a task.
    Sized(&'a Task),
}

impl Amounts<'_> {
    fn between(self, from: u64, to: u64) -> f64 {
        match self {
            Self::Same(bytes) => bytes,
            Self::Sized(task) => task.block_load(from, to) as f64,
        }
    }
}

/// The amount of data that each node has at the start, and the sum of these amounts.
#[derive(Debug)]
pub(super) struct OwnSizes {
    of: Vec<f64>,
    all: f64,
}

impl OwnSizes {
    fn new(task: &Task) -> Self {
        let nodes = 0..task.topology.nodes();
        let of: Vec<f64> = nodes.map(|node| task.block_load(node, node) as f64).collect();
        Self { all: of.iter().sum(), of }
    }

    pub(super) fn at(&self, node: u64) -> f64 {
        self.of[node as usize]
    }

    /// Returns the total amount of data of all nodes.
    pub(super) fn all(&self) -> f64 {
        self.all
    }

    /// Returns a lower bound on the largest distance from a node with data to any node. It is only
    /// a lower bound because not all nodes with data are examined.
    fn farthest(&self, topology: &Network) -> u64 {
        /// The largest number of nodes that are examined.
        const MAX: usize = 64;
        let with_any =
            || (0_u64..).zip(&self.of).filter(|(_, own)| **own > 0.0).map(|(node, _)| node);
        if with_any().count() == self.of.len() {
            return topology.diameter();
        }
        with_any().take(MAX).map(|node| topology.eccentricity(node)).max().unwrap_or(0)
    }
}

/// The largest loads that a node sends and receives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct EndLoads {
    pub sent: f64,
    pub received: f64,
    /// Whether the node with the largest load to send also has the largest load to receive.
    pub by_same_node: bool,
    /// The largest number of peers that a node must send to or receive from.
    pub peers: u64,
    /// Whether no block of the task is empty.
    pub is_complete: bool,
}

impl<'a> Demand<'a> {
    pub(super) fn of(task: &'a Task) -> Self {
        let (kind, root, sizes) =
            (task.collective.kind(), task.collective.root().unwrap_or(0), task.sizes.as_deref());
        let amounts = sizes.map_or(Amounts::Same(1.0), |_| Amounts::Sized(task));
        let nodes = task.topology.nodes();
        let load = |node| task.block_load(node, node);
        // Every node has or needs the same data, or data of the same size.
        let same = |load: u64, demand: &dyn Fn(f64) -> Self| match load {
            0 if task.skip_empty => Self::None,
            load => demand(load as f64),
        };
        if let Some((tokens, sizes)) = task.collective.tokens().zip(sizes) {
            return Self::Tokens(tokens, sizes, kind.sums);
        }
        match (kind.initial, kind.required) {
            (_, FinalBlocks::AllAtRoot) if kind.sums => {
                same(load(root), &|bytes| Self::Reduce(root, bytes))
            }
            (_, FinalBlocks::ForNode | FinalBlocks::Permuted) if kind.sums => {
                // If sums have different sizes, the smallest size still gives lower bounds.
                let least = sizes.map_or(Some(1), |_| (0..nodes).map(load).min());
                same(least.unwrap_or(0), &Self::ReduceScatter)
            }
            (_, FinalBlocks::All) if kind.sums => same(load(root), &Self::AllReduce),
            (InitialBlocks::Own, FinalBlocks::ForNode) => {
                sizes.map_or(Self::Uniform(1.0), Self::Pairs)
            }
            (InitialBlocks::Own, FinalBlocks::All) => match sizes {
                Some(_) => Self::AllGatherUneven(OwnSizes::new(task)),
                None => Self::AllGather(1.0),
            },
            (InitialBlocks::Own, FinalBlocks::AllAtRoot) => Self::ToRoot(root, amounts),
            (InitialBlocks::Own, FinalBlocks::Permuted) => task
                .collective
                .images()
                .map_or(Self::None, |images| Self::Permutation(images, amounts)),
            (InitialBlocks::AllAtRoot, FinalBlocks::ForNode | FinalBlocks::Permuted) => {
                Self::FromRoot(root, amounts)
            }
            (InitialBlocks::AllAtRoot, FinalBlocks::All) => {
                same(load(root), &|bytes| Self::Broadcast(root, bytes))
            }
            (InitialBlocks::AllAtRoot, FinalBlocks::AllAtRoot) | (_, FinalBlocks::Received) => {
                Self::None
            }
        }
    }

    /// Returns the amount of data for `to` that only `from` has.
    pub(super) fn between(&self, from: u64, to: u64) -> f64 {
        match self {
            Self::Uniform(bytes) => *bytes,
            Self::Pairs(sizes) => sizes.bytes(from, to) as f64,
            Self::FromRoot(root, amounts) if from == *root => amounts.between(from, to),
            Self::ToRoot(root, amounts) if to == *root => amounts.between(from, to),
            Self::Permutation(images, amounts) if u64::from(images[from as usize]) == to => {
                amounts.between(from, to)
            }
            // `from` has no data for `to`, or nodes on the route may copy or reduce the data, so
            // that it need not come from `from`.
            Self::None
            | Self::FromRoot(..)
            | Self::ToRoot(..)
            | Self::Permutation(..)
            | Self::Broadcast(..)
            | Self::AllGather(_)
            | Self::AllGatherUneven(_)
            | Self::Reduce(..)
            | Self::ReduceScatter(_)
            | Self::AllReduce(_)
            | Self::Tokens(..) => 0.0,
        }
    }

    /// Returns the largest loads that a node sends and receives.
    pub(super) fn ends(&self, nodes: u64) -> EndLoads {
        let others = nodes - 1;
        let every = |sent, received, by_same_node| EndLoads {
            sent,
            received,
            by_same_node,
            peers: others,
            is_complete: true,
        };
        match self {
            Self::None => EndLoads::default(),
            Self::Uniform(bytes) => every(others as f64 * bytes, others as f64 * bytes, true),
            Self::AllGather(bytes) => every(*bytes, others as f64 * bytes, true),
            Self::AllGatherUneven(own) => {
                let least = own.of.iter().copied().fold(f64::MAX, f64::min).min(own.all);
                let most = own.of.iter().copied().fold(0.0, f64::max);
                let peers = if own.all > 0.0 { others } else { 0 };
                EndLoads {
                    sent: most,
                    received: own.all - least,
                    by_same_node: false,
                    peers,
                    is_complete: least > 0.0,
                }
            }
            Self::Broadcast(_, bytes) | Self::Reduce(_, bytes) => every(*bytes, *bytes, false),
            Self::ReduceScatter(bytes) => every(others as f64 * bytes, *bytes, true),
            // Each byte of the sum needs `n - 1` transfers to collect all terms, and `n - 1`
            // transfers to distribute the result. At best each of the n nodes sends an equal share.
            Self::AllReduce(bytes) => {
                let each = 2.0 * others as f64 / nodes as f64 * bytes;
                every(each, each, true)
            }
            Self::FromRoot(_, Amounts::Same(bytes)) => every(others as f64 * bytes, *bytes, false),
            Self::ToRoot(_, Amounts::Same(bytes)) => every(*bytes, others as f64 * bytes, false),
            Self::Permutation(images, amounts) => {
                let moved = moved(images).map(|(from, to)| amounts.between(from, to));
                let (mut most, mut is_complete) = (0.0_f64, true);
                for bytes in moved {
                    (most, is_complete) = (most.max(bytes), is_complete && bytes > 0.0);
                }
                // Every node sends and receives one block at most.
                let by_same_node = matches!(amounts, Amounts::Same(_));
                let peers = u64::from(most > 0.0);
                EndLoads { sent: most, received: most, by_same_node, peers, is_complete }
            }
            Self::Pairs(sizes) | Self::Tokens(_, sizes, _) => {
                let busiest = sizes.max_traffic(nodes);
                let is_complete = busiest.pairs == nodes * others;
                let (sent, received) = (busiest.sent as f64, busiest.received as f64);
                EndLoads { sent, received, by_same_node: false, peers: busiest.peers, is_complete }
            }
            Self::FromRoot(root, Amounts::Sized(_)) => {
                of_root(nodes, |node| self.between(*root, node), *root)
            }
            Self::ToRoot(root, Amounts::Sized(_)) => {
                let backwards = of_root(nodes, |node| self.between(node, *root), *root);
                EndLoads { sent: backwards.received, received: backwards.sent, ..backwards }
            }
        }
    }

    /// Returns a lower bound on the amount that the busiest node reduces. A sum of n terms needs
    /// n - 1 additions, which can be divided among all nodes at best.
    pub(super) fn summed(&self, nodes: u64) -> f64 {
        let others = (nodes - 1) as f64;
        match self {
            Self::Reduce(_, bytes) | Self::AllReduce(bytes) => others / nodes as f64 * bytes,
            Self::ReduceScatter(bytes) => others * bytes,
            Self::None
            | Self::Uniform(_)
            | Self::Pairs(_)
            | Self::FromRoot(..)
            | Self::ToRoot(..)
            | Self::Permutation(..)
            | Self::Broadcast(..)
            | Self::AllGather(_)
            | Self::AllGatherUneven(_)
            | Self::Tokens(..) => 0.0,
        }
    }

    /// Returns the amount that must leave a node, and the amount that must enter it.
    pub(super) fn at(&self, node: u64, nodes: u64) -> (f64, f64) {
        let others = (nodes - 1) as f64;
        match self {
            Self::None => (0.0, 0.0),
            Self::Uniform(bytes) => (others * bytes, others * bytes),
            Self::AllGather(bytes) => (*bytes, others * bytes),
            Self::AllGatherUneven(own) => (own.at(node), own.all - own.at(node)),
            Self::Broadcast(root, bytes) if node == *root => (*bytes, 0.0),
            Self::Broadcast(_, bytes) => (0.0, *bytes),
            Self::Reduce(root, bytes) if node == *root => (0.0, *bytes),
            Self::Reduce(_, bytes) => (*bytes, 0.0),
            Self::ReduceScatter(bytes) => (others * bytes, *bytes),
            Self::AllReduce(bytes) => (*bytes, *bytes),
            Self::FromRoot(..) | Self::ToRoot(..) | Self::Permutation(..) | Self::Pairs(_) => {
                let others = (0..nodes).filter(|other| *other != node);
                others.fold((0.0, 0.0), |(out, into), other| {
                    (out + self.between(node, other), into + self.between(other, node))
                })
            }
            // The caller uses these amounts for a bound at the root. Tokens have no root. With 0,
            // only the caller's second bound remains, that of the busiest node.
            Self::Tokens(..) => (0.0, 0.0),
        }
    }

    /// Returns whether the amounts that must cross a cut can be computed without a table of all
    /// pairs of nodes. If so, they follow from the nodes on each side, from the data that each node
    /// has at the start, or from the receivers of each class of tokens.
    ///
    /// In the other demands, the amount can be different for each pair of nodes. In a scatter or a
    /// gather, it also depends on which of the two nodes is the root.
    /// [`Side`](super::crossing::Side) reads all of these amounts from the table.
    pub(super) fn is_cheap(&self) -> bool {
        !matches!(
            self,
            Self::Pairs(_) | Self::FromRoot(..) | Self::ToRoot(..) | Self::Permutation(..)
        )
    }

    /// Returns whether each node has the same amount for every other node.
    pub(super) fn is_even(&self) -> bool {
        matches!(
            self,
            Self::Uniform(_) | Self::AllGather(_) | Self::ReduceScatter(_) | Self::AllReduce(_)
        )
    }

    /// Returns the root, or node 0 if there is none.
    pub(super) fn root(&self) -> u64 {
        match self {
            Self::FromRoot(root, _)
            | Self::ToRoot(root, _)
            | Self::Broadcast(root, _)
            | Self::Reduce(root, _) => *root,
            Self::None
            | Self::Uniform(_)
            | Self::Pairs(_)
            | Self::Permutation(..)
            | Self::AllGather(_)
            | Self::AllGatherUneven(_)
            | Self::ReduceScatter(_)
            | Self::AllReduce(_)
            | Self::Tokens(..) => 0,
        }
    }

    /// Returns two values. The first is the sum of bytes times hops of all blocks, on shortest
    /// routes. The second is the largest distance between a node and a node for which it has data.
    /// Data that may be copied or reduced on its route counts as one hop for each node that
    /// receives a copy or sends a term. Returns `None` if there are too many pairs of nodes.
    pub(super) fn hop_bytes(&self, topology: &Network) -> Option<(f64, u64)> {
        /// The largest number of routes that are examined.
        const MAX_ROUTES: u64 = 1 << 18;
        let n = topology.nodes();
        // Each copy of data, and each term of a sum, crosses at least one link to reach another
        // node of the network. Ranks that share a node use no link between them.
        let elsewhere = topology.hosts() - 1;
        let hops = |from, to| topology.minimal_route(from, to, &mut |_| {});
        let over = |pairs: &mut dyn Iterator<Item = (u64, u64)>| {
            let (mut sum, mut farthest) = (0.0, 0);
            for (from, to) in pairs {
                let (bytes, hops) = (self.between(from, to), hops(from, to));
                sum += bytes * hops as f64;
                farthest = if bytes > 0.0 { farthest.max(hops) } else { farthest };
            }
            Some((sum, farthest))
        };
        match self {
            Self::None => Some((0.0, 0)),
            Self::Uniform(bytes) => {
                Some((topology.hops_of_all_pairs()? as f64 * bytes, topology.diameter()))
            }
            Self::AllGather(bytes) | Self::ReduceScatter(bytes) => {
                Some((n as f64 * elsewhere as f64 * bytes, topology.diameter()))
            }
            Self::AllGatherUneven(own) => {
                Some((elsewhere as f64 * own.all, own.farthest(topology)))
            }
            Self::Broadcast(root, bytes) | Self::Reduce(root, bytes) => {
                Some((elsewhere as f64 * bytes, topology.eccentricity(*root)))
            }
            Self::AllReduce(bytes) => Some((2.0 * elsewhere as f64 * bytes, topology.diameter())),
            Self::Permutation(images, _) => over(&mut moved(images)),
            Self::FromRoot(root, _) if n <= MAX_ROUTES => {
                over(&mut (0..n).map(|node| (*root, node)))
            }
            Self::ToRoot(root, _) if n <= MAX_ROUTES => over(&mut (0..n).map(|node| (node, *root))),
            Self::Pairs(_) if n * n <= MAX_ROUTES => {
                over(&mut (0..n * n).map(|pair| (pair / n, pair % n)))
            }
            Self::FromRoot(..) | Self::ToRoot(..) | Self::Pairs(_) => None,
            Self::Tokens(tokens, ..) => {
                // A token crosses at least one link for each other node of the network that has a
                // receiver.
                let bytes = token_hops(tokens, topology);
                Some((bytes, u64::from(bytes > 0.0)))
            }
        }
    }
}

/// Returns the nodes that a permutation does not map to themselves, each with its image.
fn moved(images: &[u32]) -> impl Iterator<Item = (u64, u64)> {
    (0..).zip(images).map(|(from, to)| (from, u64::from(*to))).filter(|(from, to)| from != to)
}

/// Returns a lower bound on the bytes times hops of all tokens. Each token counts its bytes once
/// for each node of the network that has a receiver, except for the node that has the token.
fn token_hops(tokens: &Tokens, topology: &Network) -> f64 {
    let mut sum = 0.0;
    let mut hosts = Vec::new();
    for node in 0..tokens.nodes() {
        for (class, bytes) in (0..).zip(tokens.bytes(node)) {
            hosts.clear();
            hosts.extend(tokens.receivers(node, class).iter().map(|r| topology.host((*r).into())));
            hosts.sort_unstable();
            hosts.dedup();
            let others = hosts.iter().filter(|host| **host != topology.host(node)).count();
            sum += *bytes as f64 * others as f64;
        }
    }
    sum
}

/// Returns the amount that the root of a scatter sends, and the largest amount that another node
/// receives.
fn of_root(nodes: u64, bytes: impl Fn(u64) -> f64, root: u64) -> EndLoads {
    let mut ends = EndLoads::default();
    for bytes in (0..nodes).filter(|node| *node != root).map(bytes) {
        ends.sent += bytes;
        ends.received = ends.received.max(bytes);
        ends.peers += u64::from(bytes > 0.0);
    }
    EndLoads { is_complete: ends.peers == nodes - 1, ..ends }
}
