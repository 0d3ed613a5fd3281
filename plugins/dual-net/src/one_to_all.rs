//! Algorithms 1 and 2: broadcast and scatter. T(k) = 2 T(k-1) + 2 alpha + .., so 2^k (T(0) + 2
//! alpha) - 2 alpha in all; as many m beta for a broadcast (Theorem 3), (n_k - 1) m beta for a
//! scatter (Theorem 4).
//!
//! From s = (s0, s1, s2), whose cross-edge leads to s' = (1 - s0, s2, s1):
//!
//! 1. s sends to s' (the block; the blocks for the other clusters of type s0);
//! 2. s and s' do the same, a level down, within their clusters C and C' (to node x goes what is
//!    for the cluster its cross-edge leads to);
//! 3. the nodes of C and C' send over their cross-edges, all but those that have nobody to tell: a
//!    cluster each;
//! 4. within each cluster, a level down, from the node that has it.
//!
//! As printed the third step is for nodes with `my_cluster_id = s1`, which never selects C' unless
//! s1 = s2, and the second starts Algorithm 2 within C' at node s2, where nothing is: from node 0
//! that is all the same, from most roots a part of the net gets nothing. What is meant is C and C',
//! and node s1.

use crate::net::{Line, Net};
use crate::sets::{Blocks, Sets, Which};
use crate::{DUAL_NET, Numbered, Payload, VARIANT_FROM_ONE, Variant};
use std::cmp::Reverse;
use swapmeet_sdk::{About, Collective, Grid, Problem, Schedule, Set, Stop};

pub(crate) const BROADCAST: Numbered = Numbered {
    about: About {
        name: "rdn-broadcast",
        title: "One-to-all broadcast, across and within two clusters, then across and within all",
        collectives: &[Collective::Broadcast],
        params: &[VARIANT_FROM_ONE],
        ..DUAL_NET
    },
    payload: Payload::Same,
    plan,
};

pub(crate) const SCATTER: Numbered = Numbered {
    about: About {
        name: "rdn-scatter",
        title: "One-to-all personalized, in bundles of a cluster's blocks",
        collectives: &[Collective::Scatter],
        params: &[VARIANT_FROM_ONE],
        ..DUAL_NET
    },
    payload: Payload::Personal,
    plan,
};

fn plan(
    problem: &Problem<'_>,
    net: &Net,
    variant: Variant,
    payload: Payload,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    OneToAll { net, sets: &Sets::new(net, false), variant, payload, schedule }.from(problem.root())
}

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
        sets: &Sets<'_>,
        level: usize,
        t: u64,
        clusters: &Which<'_>,
        nodes: &Which<'_>,
    ) -> Option<Blocks<'static>> {
        self.blocks.as_ref().map(|blocks| blocks.of(sets, level, t, clusters, nodes))
    }
}

/// The schedule of Algorithm 1 or 2.
struct OneToAll<'a, 'h> {
    net: &'a Net,
    sets: &'a Sets<'a>,
    variant: Variant,
    payload: Payload,
    schedule: &'a mut Schedule<'h>,
}

impl OneToAll<'_, '_> {
    /// From `root` to all.
    fn from(&mut self, root: u64) -> Result<(), Stop> {
        let blocks = (self.payload == Payload::Personal).then(|| self.sets.all());
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
        let (net, sets) = (self.net, self.sets);
        let n = net.nodes(level - 1);
        let printed = self.variant == Variant::Printed;

        self.schedule.step()?;
        for cluster in clusters {
            let partner = net.partner(level, cluster.root);
            let (s0, s1, _) = net.split(level, cluster.root);
            let (from, to) = (cluster.first + cluster.root, cluster.first + partner);
            if self.payload == Payload::Same {
                self.send(from, to, None)?;
                continue;
            }
            for others in sets.all_but(level - 1, s1) {
                let blocks = cluster.blocks(sets, level, s0, &Which::Product(&others), &Which::All);
                self.send(from, to, blocks.as_ref())?;
            }
        }

        let mut inner = Vec::new();
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            let begins = if printed && self.payload == Payload::Personal { s2 } else { s1 };
            inner.push(Rooted {
                first: cluster.first + net.join(level, s0, s1, 0),
                root: s2,
                blocks: cluster.blocks(sets, level, 1 - s0, &Which::Hole, &Which::All),
            });
            inner.push(Rooted {
                first: cluster.first + net.join(level, 1 - s0, s2, 0),
                root: begins,
                blocks: cluster.blocks(sets, level, s0, &Which::Hole, &Which::All),
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
                    if s_prime || (s && self.payload == Payload::Same) {
                        continue;
                    }
                    let from = net.join(level, t, c, x);
                    let blocks = cluster.blocks(sets, level, 1 - t, &Which::One(x), &Which::All);
                    self.send(
                        cluster.first + from,
                        cluster.first + net.partner(level, from),
                        blocks.as_ref(),
                    )?;
                }
            }
        }

        let mut inner = Vec::new();
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            for t in 0..2 {
                // Node s2 of C sent to the clusters of type s0 by way of C', whose number is s2;
                // and the other way round.
                let (root, own) = if t == s0 { (s2, s1) } else { (s1, s2) };
                for c in 0..n {
                    if self.payload == Payload::Same && c == own {
                        continue;
                    }
                    inner.push(Rooted {
                        first: cluster.first + net.join(level, t, c, 0),
                        root,
                        blocks: cluster.blocks(sets, level, t, &Which::One(c), &Which::Hole),
                    });
                }
            }
        }
        self.within(level - 1, &inner)
    }

    /// Along one dimension after another; those who have it already do so on all their lines at
    /// once. A broadcast goes from neighbour to neighbour in no order of dimensions where that is
    /// sooner.
    fn within_bases(&mut self, clusters: &[Rooted]) -> Result<(), Stop> {
        let base = &self.net.base;
        let moves = |len: u64| match (self.payload, self.net.line) {
            (Payload::Same, Line::Ring) => broadcast_on_ring(len),
            (Payload::Same, Line::Full) => broadcast_by_halves(len),
            (Payload::Personal, Line::Ring) => scatter_on_ring(len),
            (Payload::Personal, Line::Full) => scatter_by_halves(len),
        };
        let by_dimension: Vec<(usize, Vec<Vec<Move>>)> = (0..base.dimensions())
            .map(|dimension| (dimension, moves(base.radix(dimension))))
            .collect();
        if (self.payload, self.net.line) == (Payload::Same, Line::Ring) {
            let nearby = from_neighbour_to_neighbour(base);
            if nearby.len() < by_dimension.iter().map(|(_, steps)| steps.len()).sum() {
                return self.inform(clusters, &nearby);
            }
        }
        for (dimension, steps) in by_dimension {
            for step in steps {
                self.schedule.step()?;
                for cluster in clusters {
                    self.on_lines(cluster, dimension, &step)?;
                }
            }
        }
        Ok(())
    }

    /// Who tells whom in each step, by their places as seen from the root.
    fn inform(&mut self, clusters: &[Rooted], steps: &[Vec<(u64, u64)>]) -> Result<(), Stop> {
        let base = &self.net.base;
        for step in steps {
            self.schedule.step()?;
            for cluster in clusters {
                let node = |seen: u64| {
                    let shifted = |d| base.coordinate(seen, d) + base.coordinate(cluster.root, d);
                    cluster.first
                        + base.node((0..base.dimensions()).map(|d| shifted(d) % base.radix(d)))
                };
                for (from, to) in step {
                    self.send(node(*from), node(*to), None)?;
                }
            }
        }
        Ok(())
    }

    fn on_lines(&mut self, cluster: &Rooted, dimension: usize, step: &[Move]) -> Result<(), Stop> {
        let base = &self.net.base;
        // Lines through nodes that agree with the root in the dimensions still to come.
        let agrees = |v: u64| {
            (dimension..base.dimensions())
                .all(|d| base.coordinate(v, d) == base.coordinate(cluster.root, d))
        };
        for root in (0..base.nodes()).filter(|v| agrees(*v)) {
            for m in step {
                let at = |place: u64| cluster.first + base.shift(root, dimension, place as i64);
                let (first, mut nodes) = (base.coordinate(root, dimension) + m.first, [0]);
                let blocks = cluster
                    .blocks
                    .as_ref()
                    .map(|blocks| blocks.along(self.sets, dimension, (first, m.count), &mut nodes));
                self.send(at(m.from), at(m.to), blocks.as_ref())?;
            }
        }
        Ok(())
    }
}

/// Whoever has it tells, step after step, the neighbour with the most neighbours still to be told;
/// of those the farthest from the root, and in the order of who was told first. In a torus of odd
/// sides that meets where dimensions one after another wait for the slower half of each.
fn from_neighbour_to_neighbour(base: &Grid) -> Vec<Vec<(u64, u64)>> {
    let neighbours = |node: u64| {
        let sides = (0..base.dimensions()).flat_map(|d| [(d, 1), (d, -1)]);
        sides.map(move |(d, by)| base.shift(node, d, by)).filter(move |other| *other != node)
    };
    let far = |node: u64| -> u64 {
        base.coordinates(node).zip(base.radices()).map(|(c, n)| c.min(n - c)).sum()
    };
    let mut knows = vec![false; base.nodes() as usize];
    knows[0] = true;
    let (mut informed, mut steps) = (vec![0], Vec::new());
    while informed.len() < knows.len() {
        let mut step = Vec::new();
        for &from in &informed {
            let untold = |node: &u64| !knows[*node as usize];
            let most =
                |node: &u64| (neighbours(*node).filter(untold).count(), far(*node), Reverse(*node));
            if let Some(to) = neighbours(from).filter(untold).max_by_key(most) {
                knows[to as usize] = true;
                step.push((from, to));
            }
        }
        informed.extend(step.iter().map(|(_, to)| *to));
        steps.push(step);
    }
    steps
}

/// A message on a line, places counted from the root on: from, to, and whose blocks it carries,
/// `count` of them from `first` on.
struct Move {
    from: u64,
    to: u64,
    first: u64,
    count: u64,
}

/// Ahead from the first step on, back from the second on: ceil(N / 2) steps.
fn broadcast_on_ring(len: u64) -> Vec<Vec<Move>> {
    let (ahead, back) = (len / 2, (len - 1) / 2);
    let given = |from, to| Move { from, to, first: 0, count: len };
    let step = |i: u64| {
        let mut step = Vec::new();
        if i <= ahead {
            step.push(given(i - 1, i));
        }
        if (2..=back + 1).contains(&i) {
            step.push(given((len - (i - 2)) % len, len - (i - 1)));
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
            (0..know.min(len - know))
                .map(|v| Move { from: v, to: v + know, first: 0, count: len })
                .collect()
        })
        .collect()
}

/// The root sends one node's blocks a step, those for the farthest first and to either side in
/// turn, and nobody sends more: N - 1 steps.
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
                step.push(Move {
                    from: (len - (at - 1)) % len,
                    to: len - at,
                    first: len - d,
                    count: 1,
                });
            }
        }
        step
    };
    (1..len).map(step).collect()
}

/// Whoever has the blocks of several gives the smaller half of them to one of those: the root
/// always has the most, and sends N - 1 in all.
fn scatter_by_halves(len: u64) -> Vec<Vec<Move>> {
    let (mut steps, mut shares) = (Vec::new(), vec![(0, len)]);
    while shares.iter().any(|(_, count)| *count > 1) {
        let (mut step, mut halves) = (Vec::new(), Vec::new());
        for (first, count) in shares {
            let (kept, given) = (count - count / 2, count / 2);
            halves.push((first, kept));
            if given > 0 {
                halves.push((first + kept, given));
                step.push(Move {
                    from: first,
                    to: first + kept,
                    first: first + kept,
                    count: given,
                });
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

    #[test]
    fn neighbours_tell_a_torus_of_5_by_5_in_as_few_steps_as_doubling_would() {
        for (sides, steps) in
            [(&[5, 5][..], 5), (&[3, 3], 4), (&[5, 5, 5], 8), (&[4, 4], 4), (&[1], 0), (&[2, 3], 3)]
        {
            let base = Grid::new(sides).unwrap();
            let nearby = from_neighbour_to_neighbour(&base);
            assert_eq!(nearby.len(), steps, "{sides:?}");
            let mut know = BTreeSet::from([0]);
            for step in nearby {
                let before = know.clone();
                let senders: BTreeSet<u64> = step.iter().map(|(from, _)| *from).collect();
                assert_eq!(senders.len(), step.len(), "one port");
                for (from, to) in step {
                    assert!(before.contains(&from) && know.insert(to));
                    let apart = |d| {
                        (base.coordinate(to, d) + base.radix(d) - base.coordinate(from, d))
                            % base.radix(d)
                    };
                    let moved: Vec<usize> = (0..sides.len()).filter(|d| apart(*d) > 0).collect();
                    assert!(
                        moved.len() == 1 && [1, sides[moved[0]] - 1].contains(&apart(moved[0])),
                        "neighbours"
                    );
                }
            }
            assert_eq!(know.len() as u64, base.nodes());
        }
    }
    use std::collections::BTreeSet;

    type Moves = fn(u64) -> Vec<Vec<Move>>;

    /// What each place of a line holds in the end, and the longest message of each step; nobody
    /// sends or receives twice in a step, nobody sends what they don't have.
    fn carried_out(len: u64, moves: Moves, copies: bool) -> (Vec<BTreeSet<u64>>, Vec<u64>) {
        let mut held = vec![BTreeSet::new(); len as usize];
        held[0] = (0..len).collect();
        let mut longest = Vec::new();
        for step in moves(len) {
            let before = held.clone();
            let ends = |end: fn(&Move) -> u64| step.iter().map(end).collect::<BTreeSet<_>>().len();
            assert_eq!(
                (ends(|m| m.from), ends(|m| m.to)),
                (step.len(), step.len()),
                "one port, {len}"
            );
            for m in &step {
                for place in (m.first..m.first + m.count).map(|place| place % len) {
                    assert!(
                        before[m.from as usize].contains(&place),
                        "{len}: {} has not what is for {place}",
                        m.from
                    );
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
                assert!(
                    held.iter().zip(0..).all(|(h, place)| *h == BTreeSet::from([place])),
                    "{len}: {held:?}"
                );
                assert_eq!(longest.iter().sum::<u64>(), len - 1, "{len}");
            }
        }
    }

    /// On a ring messages go to a neighbour.
    #[test]
    fn on_rings_nobody_sends_farther_than_a_link() {
        for len in 2..40_u64 {
            for m in [broadcast_on_ring(len), scatter_on_ring(len)].into_iter().flatten().flatten()
            {
                let ahead = (m.to + len - m.from) % len;
                assert!(ahead == 1 || ahead == len - 1, "{len}: {} to {}", m.from, m.to);
            }
        }
    }
}
