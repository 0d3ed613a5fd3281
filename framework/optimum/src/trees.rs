//! Packings of spanning trees. They give the least time of collectives that copy data. A sum takes
//! the same time as a copy in the network with all links reversed.
//!
//! Consider a set of vertices that does not contain all nodes. The data of the nodes in it must
//! leave the set at least once, so the time is at least this data, divided by the capacity of the
//! links that leave the set. The largest of these bounds is reached by a packing of trees (Edmonds,
//! 1973, for one root; Zhao et al., "ForestColl", 2024, for all nodes as roots).
//!
//! To find the largest bound, multiply all capacities by a time T. Add a source with a link to each
//! node, whose capacity is the data of the node. The time T is sufficient if the largest flow from
//! the source to every node is the sum of all amounts. Otherwise, the smallest cut is a set with a
//! larger bound, which is the next T (Dinkelbach's method). All numbers are fractions of whole
//! numbers, so the result is exact.

use crate::flow::{Progress, Ratio, expand};
use crate::network::CapacityNetwork;
use crate::{MAX_CELLS, OptimumError};
use swapmeet_flows::{Links, NONE};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreePacking {
    /// The data inside `cut`, divided by the capacity of the links that leave it.
    pub time: Ratio,
    /// The vertices of the set that gives `time`, in ascending order.
    pub cut: Vec<u32>,
}

/// Finds the least time in which every node with data can send it to all others. Calls `progress`
/// each time that a time is found to be sufficient for a receiver. Errors if a node cannot be
/// reached, if the problem is too large, or if `progress` stops the search.
pub(crate) fn pack(
    network: &CapacityNetwork,
    amounts: &[(u32, u64)],
    progress: &mut Progress<'_>,
) -> Result<TreePacking, OptimumError> {
    // If there are translations, all nodes have the same amount, so one receiver is enough.
    let receivers = if network.translations.is_empty() { network.nodes } else { 1 };
    let (sources, count) = (u64::from(receivers), network.link_count());
    if sources * count > MAX_CELLS {
        return Err(OptimumError::TooLarge { sources, links: count });
    }
    let (mut links, images) = expand(network);
    let mut capacities: Vec<u128> =
        images.iter().map(|image| network.links[*image as usize].capacity.into()).collect();
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

/// A maximum flow in whole numbers, computed with blocking flows (Dinic, 1970). Link `i` has two
/// arcs: `2 i` in its own direction, and `2 i + 1` in the opposite direction.
#[derive(Debug)]
struct MaxFlow {
    first: Vec<u32>,
    arcs: Vec<u32>,
    head: Vec<u32>,
    residual: Vec<u128>,
    level: Vec<u32>,
    next: Vec<u32>,
}

impl MaxFlow {
    fn new(links: &Links) -> Self {
        let (vertices, count) = (links.vertices(), links.count());
        let head: Vec<u32> =
            links.head.iter().zip(&links.tail).flat_map(|(head, tail)| [*head, *tail]).collect();
        let tail = |arc: u32| head[arc as usize ^ 1] as usize;
        let mut first = vec![0; vertices + 1];
        (0..2 * count as u32).for_each(|arc| first[tail(arc) + 1] += 1);
        for v in 0..vertices {
            first[v + 1] += first[v];
        }
        let (mut place, mut arcs) = (first.clone(), vec![0; 2 * count]);
        for arc in 0..2 * count as u32 {
            let place = &mut place[tail(arc)];
            arcs[*place as usize] = arc;
            *place += 1;
        }
        let next = first.clone();
        Self { first, arcs, residual: vec![0; head.len()], head, level: vec![NONE; vertices], next }
    }

    fn find(&mut self, capacity: impl Fn(usize) -> u128, from: u32, to: u32) -> u128 {
        for link in 0..self.residual.len() / 2 {
            self.residual[2 * link] = capacity(link);
            self.residual[2 * link + 1] = 0;
        }
        let mut flow = 0;
        while self.find_levels(from, to) {
            self.next.copy_from_slice(&self.first);
            loop {
                let found = self.augment(from, to);
                if found == 0 {
                    break;
                }
                flow += found;
            }
        }
        flow
    }

    /// After `find`, returns whether a vertex is on the source's side of the smallest cut.
    fn is_with_source(&self, vertex: u32) -> bool {
        self.level[vertex as usize] != NONE
    }

    fn find_levels(&mut self, from: u32, to: u32) -> bool {
        self.level.fill(NONE);
        self.level[from as usize] = 0;
        let mut queue = vec![from];
        let mut at = 0;
        while let Some(&vertex) = queue.get(at) {
            at += 1;
            for arc in self.arcs_of(vertex) {
                let arc = self.arcs[arc as usize];
                let head = self.head[arc as usize];
                if self.residual[arc as usize] > 0 && self.level[head as usize] == NONE {
                    self.level[head as usize] = self.level[vertex as usize] + 1;
                    queue.push(head);
                }
            }
        }
        self.level[to as usize] != NONE
    }

    fn arcs_of(&self, vertex: u32) -> std::ops::Range<u32> {
        self.first[vertex as usize]..self.first[vertex as usize + 1]
    }

    /// Sends as much as possible along a path of rising levels. Returns the amount, which is 0 if
    /// there is no path.
    fn augment(&mut self, from: u32, to: u32) -> u128 {
        let mut path: Vec<u32> = Vec::new();
        let mut vertex = from;
        while vertex != to {
            let end = self.first[vertex as usize + 1];
            let step = (self.next[vertex as usize]..end).find(|at| {
                let arc = self.arcs[*at as usize];
                let head = self.head[arc as usize];
                self.residual[arc as usize] > 0
                    && self.level[head as usize] == self.level[vertex as usize] + 1
            });
            self.next[vertex as usize] = step.unwrap_or(end);
            match step {
                Some(at) => {
                    path.push(self.arcs[at as usize]);
                    vertex = self.head[self.arcs[at as usize] as usize];
                }
                None => {
                    let Some(arc) = path.pop() else { return 0 };
                    vertex = self.head[arc as usize ^ 1];
                    self.next[vertex as usize] += 1;
                }
            }
        }
        let most = path.iter().map(|arc| self.residual[*arc as usize]).min().unwrap_or(0);
        for arc in path {
            self.residual[arc as usize] -= most;
            self.residual[arc as usize ^ 1] += most;
        }
        most
    }
}
