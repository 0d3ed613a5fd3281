//! The demand of a task: which data nodes need from other nodes, and whether it can be copied or
//! added on the way. Different collectives can have the same demand. Lower bounds and the optimum
//! of a network depend only on the demand.

use crate::delivery::collective::{BlockSizes, FinalBlocks, MaxTraffic, Tokens, pair_traffic};
use crate::network::communicators::Communicators;
use crate::simulation::Task;

/// The data that nodes have for other nodes: in blocks if blocks are counted, otherwise in bytes.
#[derive(Debug)]
pub enum Demand<'a> {
    /// Every node has the same amount for every other node.
    Even(u64),
    /// Each piece of data has one origin and one destination.
    Pairs(Blocks<'a>),
    /// For each node, the amount of its data. All other nodes must receive this data and may copy
    /// it.
    Copies(Amounts),
    /// For each node, the size of the sum that it must receive. A sum has a term from every node,
    /// and nodes may add terms to partial sums.
    Sums(Amounts),
    /// A sum of this size that every node must receive, with a term from every node.
    SumForAll(u64),
    /// The tokens of a dispatch or a combine, their sizes by pairs of nodes, and whether they
    /// belong to a combine. Nodes on the routes may copy tokens, or add terms to partial sums.
    Tokens(&'a Tokens, &'a dyn BlockSizes, bool),
}

/// For each node, an amount of data.
#[derive(Debug)]
pub enum Amounts {
    /// The same amount for every node.
    Same(u64),
    /// A node and its amount. All other nodes have none.
    One(u64, u64),
    /// The amounts of all nodes.
    Each(Vec<u64>),
}

impl<'a> Demand<'a> {
    /// Returns the demand of a task, or of one of its communicators.
    pub fn of(task: &'a Task) -> Self {
        let (kind, sizes) = (task.collective.kind(), task.sizes.as_deref());
        if let Some((tokens, sizes)) = task.collective.tokens().zip(sizes) {
            return Self::Tokens(tokens, sizes, kind.sums);
        }
        let load = |node| task.block_load(node, node);
        let amounts = || match (task.collective.root(), sizes) {
            (Some(root), _) => Amounts::One(root, load(root)),
            (None, Some(_)) => Amounts::Each((0..task.topology.nodes()).map(load).collect()),
            (None, None) => Amounts::Same(1),
        };
        match (kind.required, kind.sums) {
            (FinalBlocks::ForNode, false) if kind.exchanges() && sizes.is_none() => Self::Even(1),
            (FinalBlocks::All, false) => Self::Copies(amounts()),
            (FinalBlocks::All, true) => Self::SumForAll(load(0)),
            (FinalBlocks::ForNode | FinalBlocks::AllAtRoot | FinalBlocks::Permuted, true) => {
                Self::Sums(amounts())
            }
            (FinalBlocks::ForNode | FinalBlocks::AllAtRoot | FinalBlocks::Permuted, false)
            | (FinalBlocks::Received, _) => Self::Pairs(Blocks::of_one(task)),
        }
    }
}

impl Amounts {
    /// Returns the amount of a node.
    pub fn at(&self, node: u64) -> u64 {
        match self {
            Self::Same(amount) => *amount,
            Self::One(holder, amount) if node == *holder => *amount,
            Self::One(..) => 0,
            Self::Each(amounts) => amounts[node as usize],
        }
    }

    /// Returns the nodes below `nodes` that have data, each with its amount.
    pub fn listed(&self, nodes: u64) -> impl Iterator<Item = (u64, u64)> {
        let range = if let Self::One(holder, _) = self { *holder..holder + 1 } else { 0..nodes };
        range.map(|node| (node, self.at(node))).filter(|(_, amount)| *amount > 0)
    }
}

/// The sizes of the blocks of a task, each with one origin and one destination. If a pair of nodes
/// has no block, its size is 0.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a> {
    task: &'a Task,
    communicators: Option<&'a Communicators>,
    exchange: Option<&'a dyn BlockSizes>,
}

impl<'a> Blocks<'a> {
    /// Returns the blocks of a task between the ranks of its network, in all communicators.
    pub fn of(task: &'a Task) -> Self {
        Self { communicators: task.communicators.as_deref(), ..Self::of_one(task) }
    }

    /// Returns the blocks between the members of one communicator.
    pub fn of_one(task: &'a Task) -> Self {
        let exchange = task.sizes.as_deref().filter(|_| task.collective.kind().exchanges());
        Self { task, communicators: None, exchange }
    }

    /// Returns the number of pairs of nodes that may have a block.
    pub fn pairs(&self) -> u64 {
        let nodes = self.task.topology.nodes();
        let count = self.communicators.map_or(1, Communicators::count);
        count * if self.task.collective.kind().exchanges() { nodes * nodes } else { nodes }
    }

    fn between_members(&self, origin: u64, destination: u64) -> u64 {
        match self.exchange {
            Some(sizes) => sizes.bytes(origin, destination),
            None if self.task.receivers(origin).contains(&destination) => {
                self.task.block_load(origin, destination)
            }
            None => 0,
        }
    }

    fn each_member(&self, origin: u64, visit: &mut dyn FnMut(u64, u64)) {
        if let Some(sizes) = self.exchange {
            return sizes.each_receiver(origin, self.task.topology.nodes(), visit);
        }
        let sizes = self.task.receivers(origin).map(|to| (to, self.task.block_load(origin, to)));
        sizes.filter(|(_, bytes)| *bytes > 0).for_each(|(to, bytes)| visit(to, bytes));
    }
}

impl BlockSizes for Blocks<'_> {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        match self.communicators {
            None => self.between_members(origin, destination),
            Some(all) => match (all.place(origin), all.place(destination)) {
                (Some((of, from)), Some((other, to))) if of == other => {
                    self.between_members(from, to)
                }
                _ => 0,
            },
        }
    }

    fn each_receiver(&self, origin: u64, _: u64, visit: &mut dyn FnMut(u64, u64)) {
        match self.communicators {
            None => self.each_member(origin, visit),
            Some(all) => {
                let Some((communicator, member)) = all.place(origin) else { return };
                self.each_member(member, &mut |to, bytes| {
                    visit(all.rank(communicator, to), bytes);
                });
            }
        }
    }

    fn largest(&self) -> u64 {
        self.task.sizes.as_ref().map_or(1, |sizes| sizes.largest())
    }

    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        let of_one = self.exchange.filter(|_| self.communicators.is_none());
        of_one.map_or_else(|| pair_traffic(self, nodes), |sizes| sizes.max_traffic(nodes))
    }
}
