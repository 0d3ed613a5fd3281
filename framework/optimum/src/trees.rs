//! Packings of spanning trees. They give the least time of collectives that copy data.
//!
//! Each set of vertices that does not contain all nodes gives a lower bound on the time. Even if
//! data may be copied, the data of the nodes in the set must leave the set at least once. The time
//! is therefore at least the amount of data inside the set, divided by the capacity of the links
//! that leave the set. There is a packing of trees that takes no more time than the largest of
//! these bounds (Edmonds, 1973, for one root; Zhao et al., "ForestColl", 2024, for all nodes as
//! roots).
//!
//! To find the largest bound, add a source to the network. It has a link to each node, whose
//! capacity is the amount of data of the node. Multiply the capacities of all original links by a
//! time T. The time T is sufficient if the largest flow from the source to every node is the sum of
//! all amounts. If the flow to a node is smaller, the smallest cut between the source and this node
//! is a set with a larger bound. This bound is the next T (Dinkelbach's method). All numbers are
//! fractions of whole numbers, so the result is exact.
//!
//! A sum takes the same time as a copy with all links reversed.

use crate::error::{MAX_CELLS, OptimumError};
use crate::flow::{Progress, Ratio, expand};
use crate::max_flow::MaxFlow;
use crate::network::CapacityNetwork;

/// The least time of a collective that copies data, and the set of vertices that limits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreePacking {
    /// The data inside `cut`, divided by the capacity of the links that leave it.
    pub time: Ratio,
    /// The vertices of the set that gives `time`, in ascending order.
    pub cut: Vec<u32>,
}

/// Finds the least time in which every node with an amount of data can send it to all others. Calls
/// `progress` for each receiver, as soon as the time is sufficient for it.
///
/// # Errors
///
/// If a node cannot be reached, if the problem is too large, or if `progress` stops the search.
pub(crate) fn pack(
    network: &CapacityNetwork,
    amounts: &[(u32, u64)],
    progress: &mut Progress<'_>,
) -> Result<TreePacking, OptimumError> {
    // With translations all nodes have the same amount, so one receiver is enough.
    let receivers = if network.translations.is_empty() { network.nodes } else { 1 };
    let (sources, count) = (u64::from(receivers), network.link_count());
    if sources * count > MAX_CELLS {
        return Err(OptimumError::TooLarge { sources, links: count });
    }
    let (mut links, images) = expand(network);
    let mut capacities: Vec<u128> =
        images.iter().map(|image| network.links[*image as usize].capacity.into()).collect();
    // Add a source, with a link to each node that has data.
    let (own, source) = (links.count(), network.vertices);
    for &(node, amount) in amounts {
        links.push(node);
        capacities.push(amount.into());
    }
    links.end_vertex();
    let all: u128 = amounts.iter().map(|(_, amount)| u128::from(*amount)).sum();
    let mut packing = TreePacking { time: (0, 1), cut: Vec::new() };
    if all == 0 || network.nodes < 2 {
        return Ok(packing);
    }
    let mut flow = MaxFlow::new(&links);
    for receiver in 0..receivers {
        loop {
            let (numerator, denominator) = packing.time;
            let capacity =
                |link: usize| capacities[link] * if link < own { numerator } else { denominator };
            if flow.find(capacity, source, receiver) >= all * denominator {
                break;
            }
            let inside = |vertex: u32| flow.is_with_source(vertex);
            let cut: Vec<u32> = (0..network.vertices).filter(|vertex| inside(*vertex)).collect();
            let amount = amounts.iter().filter(|(node, _)| inside(*node)).map(|(_, x)| *x);
            let leaving = (0..own).filter(|l| inside(links.tail[*l]) && !inside(links.head[*l]));
            let leaving: u128 = leaving.map(|link| capacities[link]).sum();
            if leaving == 0 {
                let from = cut.first().copied().unwrap_or_default().into();
                return Err(OptimumError::Unconnected { from, to: receiver.into() });
            }
            packing = TreePacking { time: (amount.map(u128::from).sum(), leaving), cut };
        }
        if !progress(0.0, f64::INFINITY) {
            return Err(OptimumError::Stopped);
        }
    }
    Ok(packing)
}
