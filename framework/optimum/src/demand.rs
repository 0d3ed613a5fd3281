//! The demand of a problem: the amount of data that each node has for each other node.

use crate::error::{MAX_PAIRS, OptimumError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swapmeet_core::delivery::collective::{FinalBlocks, InitialBlocks};
use swapmeet_core::simulation::Task;

/// The data that a task moves, in units of load (blocks if blocks are counted, otherwise bytes).
/// Data whose origin and destination are the same node is left out, because it is a local copy and
/// takes no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// Every node has the same amount for every other node.
    Even(u64),
    /// Each listed node has data for some other nodes. Its entry lists these receivers in ascending
    /// order, with the amounts.
    Pairs(Vec<(u32, Vec<(u32, u64)>)>),
    /// Each listed node has an amount of data that all other nodes must receive. Nodes may copy the
    /// data.
    Copies(Vec<(u32, u64)>),
    /// Each listed node must receive a sum of this size, with a term from every node. Nodes may add
    /// their terms to partial sums.
    Sums(Vec<(u32, u64)>),
    /// Every node must receive the same sum of this size, with a term from every node.
    SumForAll(u64),
}

impl Demand {
    /// Returns the demand of a task. Ranks on the same node count as one node.
    ///
    /// # Errors
    ///
    /// Returns an error if the sum of all amounts is 2^53 or more, or if the data consists of
    /// tokens.
    pub fn of(task: &Task) -> Result<Self, OptimumError> {
        let kind = task.collective.kind();
        if kind.has_tokens {
            return Err(OptimumError::Tokens(kind.word));
        }
        let ranks = task.topology.nodes();
        let root = task.collective.root().unwrap_or(0);
        let host = |rank: u64| task.topology.host(rank) as u32;
        let load = |rank| task.block_load(rank, rank);
        let shared = task.topology.shares_nodes();
        // Returns, for each node, the sum of the amounts of the ranks on it.
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
                let amount = task.block_load(from, to);
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
            // Reductions.
            (_, FinalBlocks::AllAtRoot) if kind.sums => Self::Sums(vec![(host(root), load(root))]),
            (_, FinalBlocks::ForNode | FinalBlocks::Permuted) if kind.sums => {
                Self::Sums(at_nodes(&mut (0..ranks).map(|rank| (rank, load(rank)))))
            }
            (_, FinalBlocks::All) if kind.sums => Self::SumForAll(load(root)),
            // Collectives whose blocks may be copied.
            (InitialBlocks::Own, FinalBlocks::All) => {
                Self::Copies(at_nodes(&mut (0..ranks).map(|rank| (rank, load(rank)))))
            }
            (InitialBlocks::AllAtRoot, FinalBlocks::All) => {
                Self::Copies(at_nodes(&mut std::iter::once((root, load(root)))))
            }
            // Collectives in which each block has one receiver.
            (InitialBlocks::Own, FinalBlocks::ForNode) => match (&task.sizes, shared) {
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
            (InitialBlocks::AllAtRoot, FinalBlocks::AllAtRoot) | (_, FinalBlocks::Received) => {
                Self::Pairs(Vec::new())
            }
        };
        let hosts = task.topology.hosts();
        let total = demand.total(hosts);
        if total >= 1 << 53 { Err(OptimumError::TooManyBytes) } else { Ok(demand) }
    }

    /// Returns whether the demand is the same for all nodes, so that no translation of the network
    /// changes it.
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

    /// Returns whether each piece of data has one receiver.
    pub(crate) fn is_for_pairs(&self) -> bool {
        matches!(self, Self::Even(_) | Self::Pairs(_))
    }

    /// Returns an upper bound on the sum of the amounts for all pairs of nodes.
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
