//! The data that each node has for each other node. Nodes are those of the network, not ranks.

use crate::{MAX_PAIRS, OptimumError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::simulation::Task;
use swapmeet_core::simulation::demand::{self, Amounts, Blocks};

/// The data that a task moves, without local copies. If loads count blocks, the unit is a block,
/// otherwise a byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// Every node has the same amount for every other node.
    Even(u64),
    /// For each listed node, its receivers in ascending order, with the amounts.
    Pairs(Vec<(u32, Vec<(u32, u64)>)>),
    /// Each listed node has an amount that all other nodes must receive. Nodes may copy it.
    Copies(Vec<(u32, u64)>),
    /// Each listed node must receive a sum of this size, to which every node contributes a term.
    /// Nodes may add terms to partial sums.
    Sums(Vec<(u32, u64)>),
    /// Every node must receive the same sum of this size, to which every node contributes a term.
    SumForAll(u64),
}

impl Demand {
    /// Returns the demand of a task. Ranks on the same node count as one node. Errors if the sum of
    /// all amounts is 2^53 or more, or if the data consists of tokens.
    pub fn of(task: &Task) -> Result<Self, OptimumError> {
        let network = task.network();
        let ranks = network.nodes();
        let node = |rank: u64| network.physical_node(rank) as u32;
        let at_nodes = |amounts: &Amounts| {
            let mut nodes = BTreeMap::new();
            for (rank, amount) in amounts.listed(ranks) {
                let sum: &mut u64 = nodes.entry(node(rank)).or_default();
                *sum = sum.saturating_add(amount);
            }
            nodes.into_iter().collect()
        };
        let between_nodes = |blocks: &Blocks<'_>| {
            if blocks.pairs() > MAX_PAIRS {
                return Err(OptimumError::TooManyPairs { pairs: blocks.pairs() });
            }
            let mut rows: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
            for from in 0..ranks {
                blocks.each_receiver(from, ranks, &mut |to, amount| {
                    if node(from) != node(to) {
                        let row = rows.entry(node(from)).or_default();
                        let sum = row.entry(node(to)).or_default();
                        *sum = sum.saturating_add(amount);
                    }
                });
            }
            let row = |(from, row): (u32, BTreeMap<u32, u64>)| (from, row.into_iter().collect());
            Ok(Self::Pairs(rows.into_iter().map(row).collect()))
        };
        let demand = demand::Demand::of(task);
        let is_for_pairs = matches!(demand, demand::Demand::Even(_) | demand::Demand::Pairs(_));
        if network.has_reducing_switches() && !is_for_pairs {
            return Err(OptimumError::ReducingSwitches(task.collective.kind().word));
        }
        let demand = match demand {
            demand::Demand::Even(amount)
                if !network.shares_nodes() && task.communicators.is_none() =>
            {
                Self::Even(amount)
            }
            demand::Demand::Even(_) => between_nodes(&Blocks::of(task))?,
            demand::Demand::Pairs(_) => between_nodes(&Blocks::of(task))?,
            demand::Demand::Copies(_) | demand::Demand::Sums(_) | demand::Demand::SumForAll(_)
                if task.communicators.is_some() =>
            {
                return Err(OptimumError::Communicators(task.collective.kind().word));
            }
            demand::Demand::Copies(amounts) => Self::Copies(at_nodes(&amounts)),
            demand::Demand::Sums(amounts) => Self::Sums(at_nodes(&amounts)),
            demand::Demand::SumForAll(amount) => Self::SumForAll(amount),
            demand::Demand::Tokens(..) => {
                return Err(OptimumError::Tokens(task.collective.kind().word));
            }
        };
        let physical_nodes = network.physical_nodes();
        let total = demand.total(physical_nodes);
        if total >= 1 << 53 { Err(OptimumError::TooManyBytes) } else { Ok(demand) }
    }

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

    pub(crate) fn is_for_pairs(&self) -> bool {
        matches!(self, Self::Even(_) | Self::Pairs(_))
    }

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
