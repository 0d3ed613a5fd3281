//! The amounts of data that must leave and enter a set of nodes. The amounts are updated when a
//! node joins or leaves the set.

use crate::delivery::collective::BlockSizes;
use crate::simulation::demand::Demand;

/// A set of nodes, and the amounts of data that must pass between the set and the nodes outside.
#[derive(Debug)]
pub(super) struct Side<'a> {
    demand: &'a Demand<'a>,
    /// The amounts for all pairs of nodes; `None` if the amounts that cross a cut can be computed
    /// without this table ([`Demand::is_cheap`]).
    pairs: Option<Pairs>,
    /// 1 for each node in the set, and 0 for each node outside.
    inside: Vec<f64>,
    count: f64,
    /// The sum of the amounts of the nodes in the set, and that of all nodes; only for demands with
    /// amounts of single nodes ([`Demand::amounts`]).
    own: f64,
    all: f64,
    /// The amount that must leave the set, and the amount that must enter it. Used only if there is
    /// a table (`pairs`), or if the data consists of tokens. A combine moves data between the same
    /// nodes as a dispatch of the same tokens, in the opposite direction. For a combine, this field
    /// has the amounts of that dispatch, and [`Side::bytes`] swaps them.
    crossing: (f64, f64),
    /// For each class of tokens (the tokens of a node that have the same receivers), the number of
    /// its receivers in the set. The node that has the tokens is not counted. `None` if the data
    /// does not consist of tokens, or if there are too many pairs of a class and a receiver.
    receivers: Option<Vec<u32>>,
}

/// The amounts of data between all pairs of nodes, for a demand in which these amounts differ.
#[derive(Debug)]
struct Pairs {
    /// For each node, the amount that must leave it, and the amount that must enter it.
    ends: Vec<(f64, f64)>,
    /// A square matrix, stored row by row. Its element for two nodes is the amount between them in
    /// both directions together.
    both: Vec<f64>,
}

impl Pairs {
    /// Creates the table of a demand. Returns `None` if the amounts across a cut can be computed
    /// without a table ([`Demand::is_cheap`]).
    fn of(demand: &Demand<'_>, nodes: usize) -> Option<Self> {
        let Demand::Pairs(blocks) = demand else { return None };
        /// The number of senders that are visited together: the number of amounts in a cache line.
        const TOGETHER: usize = 8;
        let (mut ends, mut both) = (vec![(0.0, 0.0); nodes], vec![0.0; nodes * nodes]);
        // Visit several senders together, because their amounts are adjacent in a receiver's row of
        // `both`.
        for first in (0..nodes).step_by(TOGETHER) {
            for to in 0..nodes {
                for from in (first..nodes.min(first + TOGETHER)).filter(|from| *from != to) {
                    let bytes = blocks.bytes(from as u64, to as u64) as f64;
                    ends[from].0 += bytes;
                    ends[to].1 += bytes;
                    both[from * nodes + to] += bytes;
                    both[to * nodes + from] += bytes;
                }
            }
        }
        Some(Self { ends, both })
    }
}

impl<'a> Side<'a> {
    /// Creates an empty set.
    pub(super) fn new(demand: &'a Demand<'a>, nodes: usize) -> Self {
        /// The largest number of pairs of a class and a receiver for which receivers are counted.
        /// The time to examine a cut is proportional to the number of these pairs.
        const MAX_RECEIVERS: u64 = 1 << 25;
        let inside = vec![0.0; nodes];
        let receivers = match demand {
            Demand::Tokens(tokens, ..) if tokens.pairs() <= MAX_RECEIVERS => {
                Some(vec![0; tokens.all_classes()])
            }
            _ => None,
        };
        let pairs = Pairs::of(demand, nodes);
        let all = demand.amounts().map_or(0.0, |amounts| amounts.total(nodes as u64));
        Self { demand, pairs, inside, count: 0.0, own: 0.0, all, crossing: (0.0, 0.0), receivers }
    }

    /// Empties the set. `nodes` lists all nodes that are in the set before the call.
    pub(super) fn clear(&mut self, nodes: impl Iterator<Item = usize>) {
        nodes.for_each(|node| self.inside[node] = 0.0);
        (self.count, self.own, self.crossing) = (0.0, 0.0, (0.0, 0.0));
        self.receivers.iter_mut().for_each(|receivers| receivers.fill(0));
    }

    /// Adds a node to the set. Removes the node if it is in the set already.
    pub(super) fn flip(&mut self, node: usize) {
        let sign = 1.0 - 2.0 * self.inside[node];
        if let Some(Pairs { ends, both }) = &self.pairs {
            let with_node = &both[node * self.inside.len()..][..self.inside.len()];
            let within = dot(with_node, &self.inside);
            self.crossing.0 += sign * (ends[node].0 - within);
            self.crossing.1 += sign * (ends[node].1 - within);
        }
        if let Some(amounts) = self.demand.amounts() {
            self.own += sign * amounts.at(node as u64) as f64;
        }
        if let (Demand::Tokens(tokens, ..), Some(receivers)) = (self.demand, &mut self.receivers) {
            // Subtract the tokens that must cross the cut before the node changes sides, and add
            // the tokens that must cross the cut afterwards. The change affects only tokens that
            // the node has or receives.
            let node = node as u64;
            let own = (0..tokens.classes(node)).map(|class| (node, class));
            let wanted = tokens.wanted(node).iter().map(|(owner, class)| ((*owner).into(), *class));
            let wanted = wanted.filter(|(owner, _)| *owner != node);
            for (owner, class) in own.chain(wanted) {
                let index = tokens.class_index(owner, class);
                let others = tokens.receivers(owner, class).iter();
                let others = others.filter(|r| u64::from(**r) != owner).count() as u32;
                let bytes = tokens.bytes(owner)[class as usize] as f64;
                let mut add = |inside: bool, count: u32, sign: f64| {
                    if inside && count < others {
                        self.crossing.0 += sign * bytes;
                    } else if !inside && count > 0 {
                        self.crossing.1 += sign * bytes;
                    }
                };
                let (inside, count) = (self.inside[owner as usize] > 0.0, receivers[index]);
                add(inside, count, -1.0);
                if owner == node {
                    add(!inside, count, 1.0);
                } else {
                    receivers[index] = if sign > 0.0 { count + 1 } else { count - 1 };
                    add(inside, receivers[index], 1.0);
                }
            }
        }
        self.inside[node] += sign;
        self.count += sign;
    }

    /// Returns two amounts: the data that must leave the set, and the data that must enter it.
    pub(super) fn bytes(&self) -> (f64, f64) {
        let (here, there) = (self.count, self.inside.len() as f64 - self.count);
        if here == 0.0 || there == 0.0 {
            return (0.0, 0.0);
        }
        let across = self.demand.across([here, there], [self.own, self.all - self.own]);
        across.unwrap_or(match self.demand {
            // A token crosses the cut once. In a dispatch it moves away from the node that has it,
            // and in a combine towards this node.
            Demand::Tokens(.., true) => (self.crossing.1, self.crossing.0),
            _ => self.crossing,
        })
    }
}

/// Returns the dot product of two vectors. The function keeps eight partial sums, so that the
/// compiler can use vector instructions. All values are whole numbers, so the order of additions
/// does not change the result.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::bound::demand::demand_at_least;
    use crate::delivery::collective::{
        ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, BlockSizes, COMBINE, Collective, DISPATCH,
        GATHER, REDUCE, REDUCE_SCATTER, SCATTER, Tokens,
    };
    use crate::network::topology::parse;
    use crate::simulation::Task;
    use std::sync::Arc;

    const NODES: u64 = 5;

    /// Block sizes. With `by_origin`, all blocks of an origin have the same size, as some
    /// collectives require.
    #[derive(Debug)]
    struct Sizes {
        by_origin: bool,
    }

    impl BlockSizes for Sizes {
        fn bytes(&self, origin: u64, destination: u64) -> u64 {
            1 + origin * 7 + if self.by_origin { 0 } else { destination * destination }
        }

        fn largest(&self) -> u64 {
            (0..NODES).map(|to| self.bytes(NODES - 1, to)).max().unwrap()
        }
    }

    /// The owner, the receivers and the bytes of each class of tokens.
    const TOKENS: [(u64, &[u32], u64); 5] = [
        (0, &[1, 2], 3),
        (0, &[0, 4], 5),
        (1, &[0, 2, 3, 4], 7),
        (3, &[3], 11),
        (4, &[0, 1, 2, 3, 4], 13),
    ];

    /// Returns each item of data that a set of nodes may have to send or receive: the nodes that
    /// have the item (or a term of it) at the start, the nodes that need it at the end, and its
    /// bytes.
    fn items(collective: &Collective, sizes: &Sizes) -> Vec<(Vec<u64>, Vec<u64>, u64)> {
        let all = || (0..NODES).collect::<Vec<u64>>();
        let pairs = || (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to)));
        let tokens = TOKENS.map(|(owner, receivers, bytes)| {
            (vec![owner], receivers.iter().map(|node| u64::from(*node)).collect(), bytes)
        });
        // A sum has the size of the terms of the root, or of node 0 if there is no root. If the sums of
        // a reduce-scatter have different sizes, the bounds use the smallest, which is that for node 0.
        let sized_by = collective.root().unwrap_or(0);
        let sum = sizes.bytes(sized_by, sized_by);
        match (collective.kind().word, collective.root()) {
            ("alltoall", _) => {
                pairs().map(|(a, b)| (vec![a], vec![b], sizes.bytes(a, b))).collect()
            }
            ("scatter", Some(root)) => {
                all().iter().map(|b| (vec![root], vec![*b], sizes.bytes(root, *b))).collect()
            }
            ("gather", Some(root)) => {
                all().iter().map(|a| (vec![*a], vec![root], sizes.bytes(*a, root))).collect()
            }
            ("allgather", _) => {
                all().iter().map(|a| (vec![*a], all(), sizes.bytes(*a, *a))).collect()
            }
            ("broadcast", Some(root)) => vec![(vec![root], all(), sizes.bytes(root, root))],
            ("reduce", Some(root)) => vec![(all(), vec![root], sum)],
            ("reduce-scatter", _) => all().iter().map(|b| (all(), vec![*b], sum)).collect(),
            ("allreduce", _) => vec![(all(), all(), sum)],
            ("dispatch", _) => tokens.into(),
            ("combine", _) => tokens.map(|(owner, nodes, bytes)| (nodes, owner, bytes)).into(),
            (name, _) => panic!("{name}"),
        }
    }

    /// An item of data crosses a cut if a node on one side has it and a node on the opposite side
    /// needs it. An item can be a sum, to which several nodes contribute one term each. As every
    /// term must be added, a sum crosses the cut if at least one node with a term is on one side
    /// and at least one node that needs the sum is on the opposite side.
    #[test]
    fn data_of_one_side_that_the_opposite_side_needs_crosses_every_cut_once() {
        let topology = parse(&format!("ring:{NODES}")).unwrap();
        let of_tokens = |kind: &'static _| {
            let of_node = |node| {
                let own = TOKENS.iter().filter(move |(owner, ..)| *owner == node);
                own.map(|(_, receivers, bytes)| (receivers.to_vec(), *bytes)).collect()
            };
            Collective::of_tokens(kind, Arc::new(Tokens::new(NODES, of_node)))
        };
        let mut collectives =
            [&ALL_TO_ALL, &ALL_GATHER, &REDUCE_SCATTER, &ALL_REDUCE].map(Collective::of).to_vec();
        collectives.extend(
            [&SCATTER, &GATHER, &BROADCAST, &REDUCE].map(|kind| Collective::of(kind).at(2)),
        );
        collectives.extend([&DISPATCH, &COMBINE].map(of_tokens));
        for collective in collectives {
            let name = collective.kind().word;
            let by_origin = name == "allgather" || name == "broadcast";
            let items = items(&collective, &Sizes { by_origin });
            let sizes = Arc::new(Sizes { by_origin });
            let task = Task { sizes: Some(sizes), ..Task::new(Arc::clone(&topology), collective) };
            let demand = demand_at_least(&task);
            let mut side = Side::new(&demand, NODES as usize);
            // Sets in the order of a Gray code differ from the previous set by one node.
            for step in 1_u64..1 << NODES {
                side.flip(step.trailing_zeros() as usize);
                let set = step ^ (step >> 1);
                let crosses = |(have, need, _): &&(Vec<u64>, Vec<u64>, u64), from: bool| {
                    let inside = |node: &u64| (set >> node & 1 == 1) == from;
                    have.iter().any(inside) && need.iter().any(|node| !inside(node))
                };
                let total = |from: bool| {
                    items.iter().filter(|item| crosses(item, from)).map(|item| item.2).sum::<u64>()
                };
                assert_eq!(
                    side.bytes(),
                    (total(true) as f64, total(false) as f64),
                    "{name} {set:b}"
                );
                // For a set of one node, `Demand::at` must give the same amounts. Tokens are left
                // out, because `Demand::at` does not support them.
                if set.is_power_of_two() && !matches!(demand, Demand::Tokens(..)) {
                    let of_node = demand.at(set.trailing_zeros().into(), NODES);
                    assert_eq!(of_node, side.bytes(), "{name} {set:b}");
                }
            }
        }
    }
}
