//! Algorithms 3 and 4: all-gather and all-to-all. T(k) = 2 T(k-1) + 2 alpha + .., so 2^k (T(0) + 2
//! alpha) - 2 alpha in all; (n_k - 1) m beta for an all-gather (Theorem 5), n_k times the sum of a
//! node's distances, over its links, for an all-to-all (Theorem 6).
//!
//! All-gather (Algorithm 3), with n nodes a cluster, at node (t, c, x):
//!
//! 1. within the cluster, a level down: has the blocks of (t, c, *);
//! 2. to the partner: all of them; has those of (1 - t, x, *) now, n blocks that count as one
//! 3. within the cluster, a level down: has those of (1 - t, *, *);
//! 4. to the partner: those. *Lean* without its own cluster's, which it has.
//!
//! All-to-all as printed (Algorithm 4):
//!
//! 1. to the partner: what is for type t (but the own block);
//! 2. within the cluster, a level down: what is for (1 - t, d, *) to node d;
//! 3. to the partner: all of that;
//! 4. within the cluster, a level down: what is for (t, c, y) to node y.
//!
//! *Lean*, which crosses only where it must and so sends no block farther than its distance:
//!
//! 1. within the cluster, a level down: what is for (1 - t, d, *) to node d; what is for (t, *, y)
//!    to node y, and with d = c that is its destination;
//! 2. to the partner: all that isn't for the node itself;
//! 3. within the cluster, a level down: what is for (t, c, y) to node y, what is for (1 - t, d, c)
//!    to node d;
//! 4. to the partner: what is for it.

use crate::net::{Line, Net};
use crate::sets::{Blocks, Sets, Which};
use crate::{DUAL_NET, Numbered, Payload, VARIANT, Variant};
use swapmeet_sdk::{About, Collective, Problem, Schedule, Set, Stop, Symmetry};

pub(crate) const ALL_GATHER: Numbered = Numbered {
    about: About {
        name: "rdn-allgather",
        title: "All-to-all broadcast: within clusters, across, within, across",
        collectives: &[Collective::AllGather],
        params: &[VARIANT],
        ..DUAL_NET
    },
    payload: Payload::Same,
    plan,
};

pub(crate) const ALL_TO_ALL: Numbered = Numbered {
    about: About {
        name: "rdn-alltoall",
        title: "All-to-all personalized: blocks meet at the cross-edge that leads to their cluster",
        collectives: &[Collective::AllToAll],
        params: &[VARIANT],
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
    let printed = (variant, payload) == (Variant::Printed, Payload::Personal);
    let sets = &Sets::new(net, printed);
    if printed {
        for node in 0..problem.topology().nodes() {
            schedule.place(sets.place(net.levels(), node), node, true)?;
        }
    }
    // Types are alike: with all types of the highest level exchanged, partners are partners,
    // clusters are clusters, and every rule says of 1 - t what it said of t. (A cluster's number is
    // a node's in the other type, so that no shift of one axis alone leaves the net as it is.)
    let mut symmetry = vec![Symmetry::NONE; sets.grid().len()];
    if let Some(types) = symmetry.first_mut().filter(|_| net.levels() > 0) {
        *types = Symmetry::xor(1);
    }
    let planned = schedule.symmetric(&symmetry)?.len();
    AllToAll { net, sets, variant, payload, schedule, planned }.exchange()
}

/// A cluster, and what it calls the blocks of its nodes: one product after another.
struct Cluster {
    first: u64,
    blocks: Vec<Blocks<'static>>,
}

/// The schedule of Algorithm 3 or 4.
struct AllToAll<'a, 'h> {
    net: &'a Net,
    sets: &'a Sets<'a>,
    variant: Variant,
    payload: Payload,
    schedule: &'a mut Schedule<'h>,
    /// How many nodes are planned for, those of the lowest places: all, or those of type 0.
    planned: u64,
}

/// For a node (t, c, x): which blocks.
type Select<'a> = dyn Fn(&Blocks<'static>, u64, u64, u64) -> Vec<Blocks<'static>> + 'a;

impl AllToAll<'_, '_> {
    /// From all to all.
    fn exchange(&mut self) -> Result<(), Stop> {
        let whole = Cluster { first: 0, blocks: vec![self.sets.all()] };
        self.within(self.net.levels(), &[whole])
    }

    fn send(&mut self, from: u64, to: u64, blocks: &Blocks<'_>) -> Result<(), Stop> {
        let place = |node| self.sets.place(self.net.levels(), node);
        if place(from) >= self.planned {
            return Ok(());
        }
        let (send, set) =
            (swapmeet_sdk::Blocks::new(place(from), place(to)), Set::product(blocks.axes()));
        self.schedule.send(&match self.payload {
            Payload::Same => send.origins(set).copy(),
            Payload::Personal => send.destinations(set),
        })
    }

    /// All at once within clusters of a level.
    fn within(&mut self, level: usize, clusters: &[Cluster]) -> Result<(), Stop> {
        if level == 0 {
            return self.within_bases(clusters);
        }
        let sets = self.sets;
        let of =
            |b: &Blocks<'static>, t: u64, c: &Which<'_>, x: &Which<'_>| b.of(sets, level, t, c, x);
        let but = |b: &Blocks<'static>, t: u64, c: u64, x: &Which<'_>| -> Vec<Blocks<'static>> {
            sets.all_but(level - 1, c)
                .iter()
                .map(|others| of(b, t, &Which::Product(others), x))
                .collect()
        };
        match (self.payload, self.variant) {
            (Payload::Same, variant) => {
                self.inside(level, clusters, &|b, t, c| {
                    vec![of(b, t, &Which::One(c), &Which::Hole)]
                })?;
                self.cross(level, clusters, &|b, t, c, _| {
                    vec![of(b, t, &Which::One(c), &Which::All)]
                })?;
                self.inside(level, clusters, &|b, t, _| {
                    vec![of(b, 1 - t, &Which::Hole, &Which::All)]
                })?;
                self.cross(level, clusters, &|b, t, _, x| match variant {
                    Variant::Printed => vec![of(b, 1 - t, &Which::All, &Which::All)],
                    Variant::Lean => but(b, 1 - t, x, &Which::All),
                })
            }
            (Payload::Personal, Variant::Printed) => {
                self.cross(level, clusters, &|b, t, c, x| {
                    let mut blocks = but(b, t, c, &Which::All);
                    let others = sets.all_but(level - 1, x);
                    blocks.extend(
                        others
                            .iter()
                            .map(|others| of(b, t, &Which::One(c), &Which::Product(others))),
                    );
                    blocks
                })?;
                self.inside(level, clusters, &|b, t, _| {
                    vec![of(b, 1 - t, &Which::Hole, &Which::All)]
                })?;
                self.cross(level, clusters, &|b, t, _, x| {
                    vec![of(b, 1 - t, &Which::One(x), &Which::All)]
                })?;
                self.inside(level, clusters, &|b, t, c| {
                    vec![of(b, t, &Which::One(c), &Which::Hole)]
                })
            }
            (Payload::Personal, Variant::Lean) => {
                self.inside(level, clusters, &|b, t, _| {
                    vec![
                        of(b, 1 - t, &Which::Hole, &Which::All),
                        of(b, t, &Which::All, &Which::Hole),
                    ]
                })?;
                self.cross(level, clusters, &|b, t, c, x| {
                    let mut blocks = but(b, t, c, &Which::One(x));
                    blocks.push(of(b, 1 - t, &Which::One(x), &Which::All));
                    blocks
                })?;
                self.inside(level, clusters, &|b, t, c| {
                    vec![
                        of(b, t, &Which::One(c), &Which::Hole),
                        of(b, 1 - t, &Which::Hole, &Which::One(c)),
                    ]
                })?;
                self.cross(level, clusters, &|b, t, c, x| {
                    vec![of(b, 1 - t, &Which::One(x), &Which::One(c))]
                })
            }
        }
    }

    /// Within each cluster (t, c), a level down.
    fn inside(
        &mut self,
        level: usize,
        clusters: &[Cluster],
        blocks: &dyn Fn(&Blocks<'static>, u64, u64) -> Vec<Blocks<'static>>,
    ) -> Result<(), Stop> {
        let mut inner = Vec::new();
        for cluster in clusters {
            for t in 0..2 {
                for c in 0..self.net.nodes(level - 1) {
                    inner.push(Cluster {
                        first: cluster.first + self.net.join(level, t, c, 0),
                        blocks: cluster.blocks.iter().flat_map(|b| blocks(b, t, c)).collect(),
                    });
                }
            }
        }
        self.within(level - 1, &inner)
    }

    /// A step in which every node sends to its partner.
    fn cross(
        &mut self,
        level: usize,
        clusters: &[Cluster],
        select: &Select<'_>,
    ) -> Result<(), Stop> {
        self.schedule.step()?;
        for cluster in clusters {
            for node in 0..self.net.nodes(level) {
                let (t, c, x) = self.net.split(level, node);
                let (from, to) =
                    (cluster.first + node, cluster.first + self.net.partner(level, node));
                for blocks in cluster.blocks.iter().flat_map(|b| select(b, t, c, x)) {
                    self.send(from, to, &blocks)?;
                }
            }
        }
        Ok(())
    }

    /// Along one dimension after another.
    fn within_bases(&mut self, clusters: &[Cluster]) -> Result<(), Stop> {
        for dimension in 0..self.net.base.dimensions() {
            let len = self.net.base.radix(dimension);
            let steps = match (self.payload, self.net.line) {
                (Payload::Same, Line::Ring) => gather_on_ring(len),
                (Payload::Same, Line::Full) => gather_by_doubling(len),
                (Payload::Personal, Line::Ring) => exchange_on_ring(len),
                (Payload::Personal, Line::Full) => exchange_in_pairs(len),
            };
            for step in steps {
                self.schedule.step()?;
                for cluster in clusters {
                    self.on_lines(cluster, dimension, &step)?;
                }
            }
        }
        Ok(())
    }

    /// Every node does the same.
    fn on_lines(&mut self, cluster: &Cluster, dimension: usize, step: &Shift) -> Result<(), Stop> {
        let base = &self.net.base;
        for v in 0..base.nodes() {
            let (from, to) =
                (cluster.first + v, cluster.first + base.shift(v, dimension, step.by as i64));
            let first = base.coordinate(v, dimension) + step.first;
            for blocks in &cluster.blocks {
                let mut nodes = [0];
                self.send(
                    from,
                    to,
                    &blocks.along(self.sets, dimension, (first, step.count), &mut nodes),
                )?;
            }
        }
        Ok(())
    }
}

/// A step on a line of N nodes: node v sends to v + `by` the blocks of the `count` nodes from v +
/// `first` on, all modulo N.
struct Shift {
    by: u64,
    first: u64,
    count: u64,
}

/// What came last goes one on: N - 1 steps of one block.
fn gather_on_ring(len: u64) -> Vec<Shift> {
    (0..len - 1).map(|age| Shift { by: 1, first: len - age, count: 1 }).collect()
}

/// Bruck's: what one has to the node 1, 2, 4, .. behind, N - 1 blocks in all.
fn gather_by_doubling(len: u64) -> Vec<Shift> {
    let powers = (0..u64::BITS).map(|i| 1 << i).take_while(|have| *have < len);
    powers
        .map(|have: u64| Shift { by: len - have, first: 0, count: have.min(len - have) })
        .collect()
}

/// What is for those up to N / 2 ahead goes ahead, a node less far each step; then the rest back:
/// no block goes a longer way than it must.
fn exchange_on_ring(len: u64) -> Vec<Shift> {
    let ahead = (1..=len / 2).rev().map(|far| Shift { by: 1, first: 1, count: far });
    let back =
        (1..=(len - 1) / 2).rev().map(|far| Shift { by: len - 1, first: len - far, count: far });
    ahead.chain(back).collect()
}

/// To the node 1, 2, 3, .. ahead what is for it.
fn exchange_in_pairs(len: u64) -> Vec<Shift> {
    (1..len).map(|by| Shift { by, first: by, count: 1 }).collect()
}
