//! The amount of data that each node has for each other node.

use crate::error::{MAX_PAIRS, OptimumError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swapmeet_core::delivery::collective::{BlockSizes, FinalBlocks, InitialBlocks};
use swapmeet_core::simulation::Task;

/// The data that a task moves, in units of load: blocks if these are counted, otherwise bytes.
/// Data that stays at its node is left out: it is a local copy and takes no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// The same amount from every node to every other node.
    Even(u64),
    /// For each node with data for others, the receivers in ascending order with the amounts.
    Pairs(Vec<(u32, Vec<(u32, u64)>)>),
    /// Each of these nodes has an amount that all other nodes receive. Nodes may copy it.
    Copies(Vec<(u32, u64)>),
    /// Each of these nodes receives a sum of this amount, with a term from every node. Nodes may
    /// add their terms to partial sums.
    Sums(Vec<(u32, u64)>),
    /// Every node receives the same sum of this amount, with a term from every node.
    SumForAll(u64),
}

impl Demand {
    /// Returns the demand of a task. Ranks that share a node are one node.
    ///
    /// # Errors
    /// If the amounts add up to 2^53 or more.
    pub fn of(task: &Task) -> Result<Self, OptimumError> {
        let (kind, sizes) = (task.collective.kind(), task.sizes.as_deref());
        let ranks = task.topology.nodes();
        let root = task.collective.root().unwrap_or(0);
        let host = |rank: u64| task.topology.host(rank) as u32;
        let block = sizes.map_or(1, BlockSizes::largest);
        let bytes = |from, to| sizes.map_or(1, |sizes| sizes.bytes(from, to));
        let shared = task.topology.node_network().is_some();
        // Adds up the amounts of the ranks of each node.
        let at_nodes = |amounts: &mut dyn Iterator<Item = (u64, u64)>| {
            let mut nodes = BTreeMap::new();
            for (rank, amount) in amounts.filter(|(_, amount)| *amount > 0) {
                let sum: &mut u64 = nodes.entry(host(rank)).or_default();
                *sum = sum.saturating_add(amount);
            }
            nodes.into_iter().collect::<Vec<(u32, u64)>>()
        };
        let from_ranks = |senders: &mut dyn Iterator<Item = u64>,
                          receivers: &dyn Fn(u64) -> Vec<u64>| {
            let mut rows: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
            for (from, to) in
                senders.flat_map(|from| receivers(from).into_iter().map(move |to| (from, to)))
            {
                let amount = bytes(from, to);
                if amount > 0 && host(from) != host(to) {
                    let sum = rows.entry(host(from)).or_default().entry(host(to)).or_default();
                    *sum = sum.saturating_add(amount);
                }
            }
            let row = |(from, row): (u32, BTreeMap<u32, u64>)| (from, row.into_iter().collect());
            Self::Pairs(rows.into_iter().map(row).collect())
        };
        let all = || (0..ranks).collect::<Vec<u64>>();
        let demand = match (kind.initial, kind.required) {
            // The results of a reduction, which all have the same size.
            (_, FinalBlocks::AllAtRoot) if kind.sums => Self::Sums(vec![(host(root), block)]),
            (_, FinalBlocks::ForNode | FinalBlocks::Permuted) if kind.sums => {
                Self::Sums(at_nodes(&mut (0..ranks).map(|rank| (rank, block))))
            }
            (_, FinalBlocks::All) if kind.sums => Self::SumForAll(block),
            // Blocks that may be copied.
            (InitialBlocks::Own, FinalBlocks::All) => {
                Self::Copies(at_nodes(&mut (0..ranks).map(|rank| (rank, bytes(rank, rank)))))
            }
            (InitialBlocks::AllAtRoot, FinalBlocks::All) => {
                Self::Copies(at_nodes(&mut std::iter::once((root, bytes(root, root)))))
            }
            // Blocks that have one receiver each.
            (InitialBlocks::Own, FinalBlocks::ForNode) => match (sizes, shared) {
                (None, false) => Self::Even(1),
                _ if ranks.saturating_mul(ranks) > MAX_PAIRS => {
                    return Err(OptimumError::TooManyPairs { pairs: ranks.saturating_mul(ranks) });
                }
                _ => from_ranks(&mut (0..ranks), &|_| all()),
            },
            (InitialBlocks::Own, FinalBlocks::AllAtRoot) => {
                from_ranks(&mut (0..ranks), &|_| vec![root])
            }
            (InitialBlocks::Own, FinalBlocks::Permuted) => {
                let images = task.collective.images().unwrap_or_default();
                from_ranks(&mut (0..images.len() as u64), &|from| {
                    vec![images[from as usize].into()]
                })
            }
            (InitialBlocks::AllAtRoot, FinalBlocks::ForNode | FinalBlocks::Permuted) => {
                from_ranks(&mut std::iter::once(root), &|_| all())
            }
            (InitialBlocks::AllAtRoot, FinalBlocks::AllAtRoot) => Self::Pairs(Vec::new()),
        };
        let hosts = task.topology.node_network().map_or(ranks, |network| network.nodes());
        let total = demand.total(hosts);
        if total >= 1 << 53 { Err(OptimumError::TooManyBytes) } else { Ok(demand) }
    }

    /// Returns whether every node has the same demand for, or from, every other node.
    pub fn is_even(&self, nodes: u64) -> bool {
        match self {
            Self::Even(_) | Self::SumForAll(_) => true,
            Self::Pairs(_) => false,
            Self::Copies(amounts) | Self::Sums(amounts) => {
                amounts.len() as u64 == nodes
                    && amounts.windows(2).all(|pair| pair[0].1 == pair[1].1)
            }
        }
    }

    /// Returns an upper bound of the sum of all amounts.
    fn total(&self, nodes: u64) -> u128 {
        let sum =
            |amounts: &[(u32, u64)]| amounts.iter().map(|(_, x)| u128::from(*x)).sum::<u128>();
        match self {
            Self::Even(amount) => u128::from(*amount) * u128::from(nodes) * u128::from(nodes),
            Self::Pairs(rows) => rows.iter().map(|(_, row)| sum(row)).sum(),
            Self::Copies(amounts) | Self::Sums(amounts) => sum(amounts) * u128::from(nodes),
            Self::SumForAll(amount) => u128::from(*amount) * 2 * u128::from(nodes),
        }
    }
}
