//! Algorithms 3 and 4: allgather and all-to-all.
//!
//! The time on a net of k levels is T(k) = 2 T(k-1) + 2 alpha + the time of the transfers. With
//! start-ups alone, it is `2^k (T(0) + 2 alpha) - 2 alpha`. The transfers take:
//! * in an allgather, `(n_k - 1) m beta` (Theorem 5);
//! * in a *lean* all-to-all, m beta times the sum of the distances from a node to all nodes (less
//!   than the approximation of Theorem 6).
//!
//! The lists below have the four steps of an algorithm at node (t, c, x), whose partner is (1 - t,
//! x, c). *One level down* means: the same algorithm within each cluster. A star stands for all
//! numbers.
//!
//! Allgather (Algorithm 3):
//!
//! 1. Within the cluster, one level down: the node receives the blocks of the nodes (t, c, *).
//! 2. To the partner: the node sends all these blocks. It then also has the blocks of the nodes
//!    (1 - t, x, *): one for each node of its cluster. Step 3 treats them as one block.
//! 3. Within the cluster, one level down: the node receives the blocks of all nodes (1 - t, *, *).
//! 4. To the partner: the node sends the blocks of all nodes (1 - t, *, *). The *lean* variant
//!    leaves out the blocks of the partner's cluster, which the partner already has.
//!
//! All-to-all as printed (Algorithm 4):
//!
//! 1. To the partner: the node sends the blocks for all nodes of type t, except its own.
//! 2. Within the cluster, one level down: the node sends to node d the blocks for `(1 - t, d, *)`.
//! 3. To the partner: the node sends all blocks received in step 2.
//! 4. Within the cluster, one level down: the node sends to each node y the block for (t, c, y).
//!
//! All-to-all, *lean*: a block is sent to a partner only if it comes nearer to its destination.
//!
//! 1. Within the cluster, one level down: the node sends to each node d the blocks for the nodes
//!    `(1 - t, d, *)`, and to each node y the blocks for the nodes `(t, *, y)`.
//! 2. To the partner: the node sends all blocks whose destination is not the node itself.
//! 3. Within the cluster, one level down: the node sends to each node y the blocks for `(t, c, y)`,
//!    and to each node d the blocks for `(1 - t, d, c)`.
//! 4. To the partner: the node sends the blocks whose destination is the partner.

use crate::net::{Line, Net};
use crate::sets::{
    Blocks,
    NodeSelection::{self, All, Hole, One, Product},
    Sets,
};
use crate::{DUAL_NET, NetCollective, Payload, VARIANT, Variant};
use swapmeet_sdk::{About, Collective, Planned, Problem, Schedule, Set, Stop, Symmetry};

pub(crate) const ALL_GATHER: NetCollective = NetCollective {
    about: About {
        name: "rdn-allgather",
        title: "Allgather within and across clusters",
        collectives: &[Collective::AllGather],
        params: &[VARIANT],
        ..DUAL_NET
    },
    payload: Payload::Shared,
    plan,
};

pub(crate) const ALL_TO_ALL: NetCollective = NetCollective {
    about: About {
        name: "rdn-alltoall",
        title: "All-to-all within and across clusters",
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
    // If the two types of the highest level are exchanged, partners are mapped to partners and
    // clusters to clusters. A shift along one axis does not do this. The partner of (t, c, x) is
    // (1 - t, x, c), so a shift of the clusters of one type would have to shift the nodes within
    // the clusters of the other.
    let mut symmetry = vec![Symmetry::NONE; sets.grid().len()];
    if let Some(types) = symmetry.first_mut().filter(|_| net.levels() > 0) {
        *types = Symmetry::xor(1);
    }
    let planned = &schedule.symmetric(&symmetry)?;
    AllToAll { net, sets, variant, payload, schedule, planned }.exchange()
}

struct Cluster {
    first: u64,
    blocks: Vec<Blocks<'static>>,
}

struct AllToAll<'a, 'h> {
    net: &'a Net,
    sets: &'a Sets<'a>,
    variant: Variant,
    payload: Payload,
    schedule: &'a mut Schedule<'h>,
    /// The planned nodes: those of one type, if the host derives the sends of the others.
    planned: &'a Planned,
}

type Select<'a> = dyn Fn(&Blocks<'static>, u64, u64, u64) -> Vec<Blocks<'static>> + 'a;

impl AllToAll<'_, '_> {
    fn exchange(&mut self) -> Result<(), Stop> {
        let whole = Cluster { first: 0, blocks: vec![self.sets.all()] };
        self.within(self.net.levels(), &[whole])
    }

    fn send(&mut self, from: u64, to: u64, blocks: &Blocks<'_>) -> Result<(), Stop> {
        let place = |node| self.sets.place(self.net.levels(), node);
        if !self.planned.contains(place(from)) {
            return Ok(());
        }
        let (send, set) =
            (swapmeet_sdk::Blocks::new(place(from), place(to)), Set::product(blocks.axes()));
        self.schedule.send(&match self.payload {
            Payload::Shared => send.origins(set).copy(),
            Payload::Personal => send.destinations(set),
        })
    }

    fn within(&mut self, level: usize, clusters: &[Cluster]) -> Result<(), Stop> {
        if level == 0 {
            return self.within_bases(clusters);
        }
        // `of` restricts blocks to the given nodes, `but` to all clusters except c.
        let sets = self.sets;
        let of = |b: &Blocks<'static>, t: u64, c: NodeSelection<'_>, x: NodeSelection<'_>| {
            b.restrict(sets, level, t, c, x)
        };
        let but = |b: &Blocks<'static>, t: u64, c: u64, x: NodeSelection<'_>| {
            let others = sets.all_but(level - 1, c);
            others.iter().map(|others| of(b, t, Product(others), x)).collect::<Vec<_>>()
        };
        match (self.payload, self.variant) {
            // Algorithm 3, steps 1 to 4.
            (Payload::Shared, variant) => {
                self.inside(level, clusters, &|b, t, c| vec![of(b, t, One(c), Hole)])?;
                self.cross(level, clusters, &|b, t, c, _| vec![of(b, t, One(c), All)])?;
                self.inside(level, clusters, &|b, t, _| vec![of(b, 1 - t, Hole, All)])?;
                self.cross(level, clusters, &|b, t, _, x| match variant {
                    Variant::Printed => vec![of(b, 1 - t, All, All)],
                    Variant::Lean => but(b, 1 - t, x, All),
                })
            }
            // Algorithm 4 as printed, steps 1 to 4.
            (Payload::Personal, Variant::Printed) => {
                self.cross(level, clusters, &|b, t, c, x| {
                    let mut blocks = but(b, t, c, All);
                    let others = sets.all_but(level - 1, x);
                    blocks.extend(others.iter().map(|others| of(b, t, One(c), Product(others))));
                    blocks
                })?;
                self.inside(level, clusters, &|b, t, _| vec![of(b, 1 - t, Hole, All)])?;
                self.cross(level, clusters, &|b, t, _, x| vec![of(b, 1 - t, One(x), All)])?;
                self.inside(level, clusters, &|b, t, c| vec![of(b, t, One(c), Hole)])
            }
            // Algorithm 4, lean, steps 1 to 4.
            (Payload::Personal, Variant::Lean) => {
                self.inside(level, clusters, &|b, t, _| {
                    vec![of(b, 1 - t, Hole, All), of(b, t, All, Hole)]
                })?;
                self.cross(level, clusters, &|b, t, c, x| {
                    let mut blocks = but(b, t, c, One(x));
                    blocks.push(of(b, 1 - t, One(x), All));
                    blocks
                })?;
                self.inside(level, clusters, &|b, t, c| {
                    vec![of(b, t, One(c), Hole), of(b, 1 - t, Hole, One(c))]
                })?;
                self.cross(level, clusters, &|b, t, c, x| vec![of(b, 1 - t, One(x), One(c))])
            }
        }
    }

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

    fn within_bases(&mut self, clusters: &[Cluster]) -> Result<(), Stop> {
        for dimension in 0..self.net.base.dimensions() {
            let len = self.net.base.radix(dimension);
            let steps = match (self.payload, self.net.line) {
                (Payload::Shared, Line::Ring) => gather_on_ring(len),
                (Payload::Shared, Line::Full) => gather_by_doubling(len),
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

/// A message of each node v on a line: it is sent to node v + `by`, and has the blocks of `count`
/// nodes from v + `first` on.
struct Shift {
    by: u64,
    first: u64,
    count: u64,
}

/// Allgather on a ring of N nodes: in N - 1 steps, each node passes on the block that it received
/// last.
fn gather_on_ring(len: u64) -> Vec<Shift> {
    (0..len - 1).map(|age| Shift { by: 1, first: len - age, count: 1 }).collect()
}

/// Bruck's allgather: in step s (from 0), each node sends its blocks to the node 2^s positions
/// before it.
fn gather_by_doubling(len: u64) -> Vec<Shift> {
    let powers = (0..u64::BITS).map(|i| 1 << i).take_while(|distance| *distance < len);
    powers
        .map(|distance: u64| Shift {
            by: len - distance,
            first: 0,
            count: distance.min(len - distance),
        })
        .collect()
}

/// All-to-all on a ring of N nodes. First, blocks for nodes up to N / 2 positions ahead are sent
/// forwards, those for one node fewer in each step. Then the other blocks are sent backwards in the
/// same way.
fn exchange_on_ring(len: u64) -> Vec<Shift> {
    let ahead = (1..=len / 2).rev().map(|count| Shift { by: 1, first: 1, count });
    let back =
        (1..=(len - 1) / 2).rev().map(|count| Shift { by: len - 1, first: len - count, count });
    ahead.chain(back).collect()
}

/// All-to-all on a fully connected line: in step s, each node sends to the node s positions ahead.
fn exchange_in_pairs(len: u64) -> Vec<Shift> {
    (1..len).map(|by| Shift { by, first: by, count: 1 }).collect()
}
