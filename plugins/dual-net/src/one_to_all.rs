//! Algorithms 1 and 2: broadcast and scatter.
//!
//! From s = (s0, s1, s2), whose cross-edge leads to s' = (1 - s0, s2, s1):
//!
//! 1. s sends to s' (the block; the blocks for the other clusters of type s0);
//! 2. s and s' do the same, a level down, within their clusters C and C' (to node x goes what is for the cluster its cross-edge leads to);
//! 3. the nodes of C and C' send over their cross-edges, all but those that have nobody to tell: a cluster each;
//! 4. within each cluster, a level down, from the node that has it.
//!
//! As printed the third step is for nodes with `my_cluster_id = s1`, which never selects C' unless s1 = s2, and the second starts Algorithm 2 within C' at
//! node s2, where nothing is: from node 0 that is all the same, from most roots a part of the net gets nothing. What is meant is C and C', and node s1.

use crate::net::{Blocks, Dimension, Line, Net, Which};
use crate::{Goods, Variant};
use swapmeet_sdk::{Schedule, Set, Stop};

/// A cluster with a root of its own.
#[derive(Clone)]
struct Rooted {
    /// The number of its first node.
    first: u64,
    /// Which of its nodes begins.
    root: u64,
    /// What it calls the blocks for its nodes. A broadcast has but one block.
    blocks: Option<Blocks<'static>>,
}

impl Rooted {
    /// Blocks of (t, clusters, nodes), where blocks are told apart.
    fn blocks(
        &self,
        net: &Net,
        level: usize,
        t: u64,
        clusters: &Which<'_>,
        nodes: &Which<'_>,
    ) -> Option<Blocks<'static>> {
        self.blocks.as_ref().map(|blocks| blocks.of(net, level, t, clusters, nodes))
    }
}

/// The schedule of Algorithm 1 or 2.
pub struct OneToAll<'a, 'h> {
    pub net: &'a Net,
    pub variant: Variant,
    pub goods: Goods,
    pub schedule: &'a mut Schedule<'h>,
}

impl OneToAll<'_, '_> {
    /// From `root` to all.
    pub fn plan(&mut self, root: u64) -> Result<(), Stop> {
        let blocks = (self.goods == Goods::Personal).then(|| self.net.blocks());
        self.within(self.net.levels(), &[Rooted { first: 0, root, blocks }])
    }

    fn send(&mut self, from: u64, to: u64, blocks: Option<&Blocks<'_>>) -> Result<(), Stop> {
        let send = swapmeet_sdk::Blocks::new(from, to);
        match blocks {
            None => self.schedule.send(&send.copy()),
            Some(blocks) => self.schedule.send(&send.destinations(Set::product(blocks.axes()))),
        }
    }

    /// All at once within clusters of a level.
    fn within(&mut self, level: usize, clusters: &[Rooted]) -> Result<(), Stop> {
        if level == 0 {
            return self.within_bases(clusters);
        }
        let net = self.net;
        let n = net.nodes(level - 1);
        let printed = self.variant == Variant::Printed;

        self.schedule.step()?;
        for cluster in clusters {
            let partner = net.partner(level, cluster.root);
            let (s0, s1, _) = net.split(level, cluster.root);
            let (from, to) = (cluster.first + cluster.root, cluster.first + partner);
            if self.goods == Goods::Same {
                self.send(from, to, None)?;
                continue;
            }
            for others in net.all_but(level - 1, s1) {
                let blocks = cluster.blocks(net, level, s0, &Which::Product(&others), &Which::All);
                self.send(from, to, blocks.as_ref())?;
            }
        }

        let mut inner = Vec::new();
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            let begins = if printed && self.goods == Goods::Personal { s2 } else { s1 };
            inner.push(Rooted {
                first: cluster.first + net.join(level, s0, s1, 0),
                root: s2,
                blocks: cluster.blocks(net, level, 1 - s0, &Which::Hole, &Which::All),
            });
            inner.push(Rooted {
                first: cluster.first + net.join(level, 1 - s0, s2, 0),
                root: begins,
                blocks: cluster.blocks(net, level, s0, &Which::Hole, &Which::All),
            });
        }
        self.within(level - 1, &inner)?;

        self.schedule.step()?;
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            for (t, c) in [(s0, s1), (1 - s0, s2)] {
                if printed && c != s1 {
                    continue;
                }
                for x in 0..n {
                    // s' is told already; a broadcast's s has told it.
                    let s = t == s0 && x == s2;
                    let s_prime = t != s0 && x == s1;
                    if s_prime || (s && self.goods == Goods::Same) {
                        continue;
                    }
                    let from = net.join(level, t, c, x);
                    let blocks = cluster.blocks(net, level, 1 - t, &Which::One(x), &Which::All);
                    self.send(cluster.first + from, cluster.first + net.partner(level, from), blocks.as_ref())?;
                }
            }
        }

        let mut inner = Vec::new();
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            for t in 0..2 {
                // Node s2 of C sent to the clusters of type s0 by way of C', whose number is s2; and the other way round.
                let (root, own) = if t == s0 { (s2, s1) } else { (s1, s2) };
                for c in 0..n {
                    if self.goods == Goods::Same && c == own {
                        continue;
                    }
                    inner.push(Rooted {
                        first: cluster.first + net.join(level, t, c, 0),
                        root,
                        blocks: cluster.blocks(net, level, t, &Which::One(c), &Which::Hole),
                    });
                }
            }
        }
        self.within(level - 1, &inner)
    }

    /// Along one dimension after another; those who have it already do so on all their lines at once.
    fn within_bases(&mut self, clusters: &[Rooted]) -> Result<(), Stop> {
        for dimension in self.net.dimensions() {
            let moves = match (self.goods, self.net.line) {
                (Goods::Same, Line::Ring) => broadcast_on_ring(dimension.len),
                (Goods::Same, Line::Full) => broadcast_by_halves(dimension.len),
                (Goods::Personal, Line::Ring) => scatter_on_ring(dimension.len),
                (Goods::Personal, Line::Full) => scatter_by_halves(dimension.len),
            };
            for step in moves {
                self.schedule.step()?;
                for cluster in clusters {
                    self.on_lines(cluster, dimension, &step)?;
                }
            }
        }
        Ok(())
    }

    fn on_lines(&mut self, cluster: &Rooted, dimension: Dimension, step: &[Move]) -> Result<(), Stop> {
        let whole = dimension.len * dimension.stride;
        // Lines through nodes that agree with the root in the dimensions still to come.
        for line in 0..self.net.nodes(0) / whole {
            let root = line * whole + cluster.root % whole;
            for m in step {
                let from = cluster.first + dimension.ahead(root, m.from);
                let to = cluster.first + dimension.ahead(root, m.to);
                let (which, mut nodes) = ((dimension, dimension.of(root) + m.first, m.count), [0]);
                let blocks = cluster.blocks.as_ref().map(|blocks| blocks.along(self.net, which, &mut nodes));
                self.send(from, to, blocks.as_ref())?;
            }
        }
        Ok(())
    }
}

/// A message on a line, places counted from the root on: from, to, and whose blocks it carries, `count` of them from `first` on.
struct Move {
    from: u64,
    to: u64,
    first: u64,
    count: u64,
}

/// Ahead from the first step on, back from the second on: ceil(N / 2) steps.
fn broadcast_on_ring(len: u64) -> Vec<Vec<Move>> {
    let (ahead, back) = (len / 2, (len - 1) / 2);
    let told = |from, to| Move { from, to, first: 0, count: len };
    let step = |i: u64| {
        let mut step = Vec::new();
        if i <= ahead {
            step.push(told(i - 1, i));
        }
        if (2..=back + 1).contains(&i) {
            step.push(told((len - (i - 2)) % len, len - (i - 1)));
        }
        step
    };
    (1..=len.div_ceil(2).min(len - 1)).map(step).collect()
}

/// Twice as many know it after each step.
fn broadcast_by_halves(len: u64) -> Vec<Vec<Move>> {
    let powers = (0..u64::BITS).map(|i| 1 << i).take_while(|know| *know < len);
    powers
        .map(|know: u64| {
            (0..know.min(len - know)).map(|v| Move { from: v, to: v + know, first: 0, count: len }).collect()
        })
        .collect()
}

/// The root sends one node's blocks a step, those for the farthest first and to either side in turn, and nobody sends more: N - 1 steps.
fn scatter_on_ring(len: u64) -> Vec<Vec<Move>> {
    let (ahead, back) = (len / 2, (len - 1) / 2);
    let step = |i: u64| {
        let mut step = Vec::new();
        for d in 1..=ahead {
            // What is for d ahead sets out in step 1 + 2 (ahead - d).
            let at = i.saturating_sub(2 * (ahead - d));
            if (1..=d).contains(&at) {
                step.push(Move { from: at - 1, to: at, first: d, count: 1 });
            }
        }
        for d in 1..=back {
            let at = i.saturating_sub(1 + 2 * (back - d));
            if (1..=d).contains(&at) {
                step.push(Move { from: (len - (at - 1)) % len, to: len - at, first: len - d, count: 1 });
            }
        }
        step
    };
    (1..len).map(step).collect()
}

/// Whoever has the blocks of several gives the smaller half of them to one of those: the root always has the most, and sends N - 1 in all.
fn scatter_by_halves(len: u64) -> Vec<Vec<Move>> {
    let (mut steps, mut shares) = (Vec::new(), vec![(0, len)]);
    while shares.iter().any(|(_, count)| *count > 1) {
        let (mut step, mut halves) = (Vec::new(), Vec::new());
        for (first, count) in shares {
            let (kept, given) = (count - count / 2, count / 2);
            halves.push((first, kept));
            if given > 0 {
                halves.push((first + kept, given));
                step.push(Move { from: first, to: first + kept, first: first + kept, count: given });
            }
        }
        steps.push(step);
        shares = halves;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Moves = fn(u64) -> Vec<Vec<Move>>;

    /// What each place of a line holds in the end, and the longest message of each step; nobody sends or receives twice in a step, nobody sends what they don't have.
    fn carried_out(len: u64, moves: Moves, copies: bool) -> (Vec<BTreeSet<u64>>, Vec<u64>) {
        let mut held = vec![BTreeSet::new(); len as usize];
        held[0] = (0..len).collect();
        let mut longest = Vec::new();
        for step in moves(len) {
            let before = held.clone();
            let ends = |end: fn(&Move) -> u64| step.iter().map(end).collect::<BTreeSet<_>>().len();
            assert_eq!((ends(|m| m.from), ends(|m| m.to)), (step.len(), step.len()), "one port, {len}");
            for m in &step {
                for place in (m.first..m.first + m.count).map(|place| place % len) {
                    assert!(before[m.from as usize].contains(&place), "{len}: {} has not what is for {place}", m.from);
                    held[m.to as usize].insert(place);
                    if !copies {
                        held[m.from as usize].remove(&place);
                    }
                }
            }
            longest.push(step.iter().map(|m| m.count).max().unwrap());
        }
        (held, longest)
    }

    #[test]
    fn a_broadcast_reaches_every_place_of_a_line() {
        let doubling = |len: u64| u64::from(len.next_power_of_two().trailing_zeros());
        for len in 1..40_u64 {
            for (moves, steps) in [
                (broadcast_on_ring as Moves, len.div_ceil(2).min(len - 1)),
                (broadcast_by_halves as Moves, doubling(len)),
            ] {
                let (held, longest) = carried_out(len, moves, true);
                assert!(held.iter().all(|h| h.len() as u64 == len), "{len}");
                assert_eq!(longest.len() as u64, steps, "{len}");
            }
        }
    }

    #[test]
    fn a_scatter_gives_every_place_its_own_and_the_longest_messages_are_the_roots() {
        for len in 1..40_u64 {
            for moves in [scatter_on_ring as Moves, scatter_by_halves] {
                let (held, longest) = carried_out(len, moves, false);
                assert!(held.iter().zip(0..).all(|(h, place)| *h == BTreeSet::from([place])), "{len}: {held:?}");
                assert_eq!(longest.iter().sum::<u64>(), len - 1, "{len}");
            }
        }
    }

    /// On a ring messages go to a neighbour.
    #[test]
    fn on_rings_nobody_sends_farther_than_a_link() {
        for len in 2..40_u64 {
            for m in [broadcast_on_ring(len), scatter_on_ring(len)].into_iter().flatten().flatten() {
                let ahead = (m.to + len - m.from) % len;
                assert!(ahead == 1 || ahead == len - 1, "{len}: {} to {}", m.from, m.to);
            }
        }
    }
}
