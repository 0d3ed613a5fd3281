//! Algorithms 1 and 2: broadcast and scatter. On a net of k levels, a broadcast takes T(k) = 2
//! T(k-1) + 2 (alpha + m beta) (Theorem 3). A scatter has as many start-ups, and transfers of
//! `(n_k - 1) m beta` in total (Theorem 4). The root is s = (s0, s1, s2): its type, its cluster,
//! and its number within the cluster. Its partner is s' = (1 - s0, s2, s1). C is the cluster of s,
//! and C' is the cluster of s'.
//!
//! 1. s sends to s' the block (broadcast) or the blocks for all clusters of type s0 but C
//!    (scatter).
//! 2. s and s' run the algorithm one level down, within C and C'. In a scatter, each node x gets
//!    the blocks for the cluster to which its cross-edge leads.
//! 3. The nodes of C and C' send over their cross-edges, each to a different cluster, unless their
//!    partners already have the data.
//! 4. Each cluster runs the algorithm one level down, from the node that received data in step 3.
//!
//! Errata:
//! * The paper prints step 3 for nodes with `my_cluster_id = s1`, which are in C' only if s1 = s2.
//! * The paper prints step 2 of Algorithm 2 with node s2 of C' as the root, which has no data. The
//!   correct root is node s1. From most roots, a part of the net would receive nothing.

use crate::net::{Line, Net};
use crate::sets::{
    Blocks,
    NodeSelection::{self, All, Hole, One, Product},
    Sets,
};
use crate::{DUAL_NET, NetCollective, ONE_TO_ALL_VARIANT, Payload, Variant};
use line::{
    LineMessage, broadcast_by_halves, broadcast_on_ring, scatter_by_halves, scatter_on_ring,
};
use std::cmp::Reverse;
use swapmeet_sdk::{About, Collective, Grid, Problem, Schedule, Set, Stop};

pub mod line;

pub(crate) const BROADCAST: NetCollective = NetCollective {
    about: About {
        name: "rdn-broadcast",
        title: "Broadcast within and across clusters",
        collectives: &[Collective::Broadcast],
        params: &[ONE_TO_ALL_VARIANT],
        ..DUAL_NET
    },
    payload: Payload::Shared,
    plan,
};

pub(crate) const SCATTER: NetCollective = NetCollective {
    about: About {
        name: "rdn-scatter",
        title: "Scatter within and across clusters",
        collectives: &[Collective::Scatter],
        params: &[ONE_TO_ALL_VARIANT],
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

#[derive(Clone)]
struct RootedCluster {
    first: u64,
    root: u64,
    /// The blocks for the nodes of the cluster, or `None` in a broadcast, which has only one block.
    blocks: Option<Blocks<'static>>,
}

impl RootedCluster {
    fn blocks(
        &self,
        sets: &Sets<'_>,
        level: usize,
        t: u64,
        clusters: NodeSelection<'_>,
        nodes: NodeSelection<'_>,
    ) -> Option<Blocks<'static>> {
        self.blocks.as_ref().map(|blocks| blocks.restrict(sets, level, t, clusters, nodes))
    }
}

struct OneToAll<'a, 'h> {
    net: &'a Net,
    sets: &'a Sets<'a>,
    variant: Variant,
    payload: Payload,
    schedule: &'a mut Schedule<'h>,
}

impl OneToAll<'_, '_> {
    fn from(&mut self, root: u64) -> Result<(), Stop> {
        let blocks = (self.payload == Payload::Personal).then(|| self.sets.all());
        self.within(self.net.levels(), &[RootedCluster { first: 0, root, blocks }])
    }

    fn send(&mut self, from: u64, to: u64, blocks: Option<&Blocks<'_>>) -> Result<(), Stop> {
        let send = swapmeet_sdk::Blocks::new(from, to);
        match blocks {
            None => self.schedule.send(&send.copy()),
            Some(blocks) => self.schedule.send(&send.destinations(Set::product(blocks.axes()))),
        }
    }

    fn within(&mut self, level: usize, clusters: &[RootedCluster]) -> Result<(), Stop> {
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
            if self.payload == Payload::Shared {
                self.send(from, to, None)?;
                continue;
            }
            for others in sets.all_but(level - 1, s1) {
                let blocks = cluster.blocks(sets, level, s0, Product(&others), All);
                self.send(from, to, blocks.as_ref())?;
            }
        }

        let mut inner = Vec::new();
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            let inner_root = if printed && self.payload == Payload::Personal { s2 } else { s1 };
            inner.push(RootedCluster {
                first: cluster.first + net.join(level, s0, s1, 0),
                root: s2,
                blocks: cluster.blocks(sets, level, 1 - s0, Hole, All),
            });
            inner.push(RootedCluster {
                first: cluster.first + net.join(level, 1 - s0, s2, 0),
                root: inner_root,
                blocks: cluster.blocks(sets, level, s0, Hole, All),
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
                    // Node s' needs no message, because it already has its data. In a broadcast,
                    // neither does the partner of s', which is s.
                    let s = t == s0 && x == s2;
                    let s_prime = t != s0 && x == s1;
                    if s_prime || (s && self.payload == Payload::Shared) {
                        continue;
                    }
                    let from = net.join(level, t, c, x);
                    let blocks = cluster.blocks(sets, level, 1 - t, One(x), All);
                    let (from, to) =
                        (cluster.first + from, cluster.first + net.partner(level, from));
                    self.send(from, to, blocks.as_ref())?;
                }
            }
        }

        let mut inner = Vec::new();
        for cluster in clusters {
            let (s0, s1, s2) = net.split(level, cluster.root);
            for t in 0..2 {
                // The data for clusters of type s0 was sent from nodes of C', so in each cluster it
                // is at the node with the number s2. The data for the other type was sent from C,
                // so it is at the node with the number s1.
                let (root, own) = if t == s0 { (s2, s1) } else { (s1, s2) };
                for c in 0..n {
                    if self.payload == Payload::Shared && c == own {
                        continue;
                    }
                    inner.push(RootedCluster {
                        first: cluster.first + net.join(level, t, c, 0),
                        root,
                        blocks: cluster.blocks(sets, level, t, One(c), Hole),
                    });
                }
            }
        }
        self.within(level - 1, &inner)
    }

    /// Plans the collective within base networks, one dimension after another, on all lines that
    /// have data. If it takes fewer steps, a broadcast on rings instead spreads from neighbour to
    /// neighbour in all dimensions.
    fn within_bases(&mut self, clusters: &[RootedCluster]) -> Result<(), Stop> {
        let base = &self.net.base;
        let moves = |len: u64| match (self.payload, self.net.line) {
            (Payload::Shared, Line::Ring) => broadcast_on_ring(len),
            (Payload::Shared, Line::Full) => broadcast_by_halves(len),
            (Payload::Personal, Line::Ring) => scatter_on_ring(len),
            (Payload::Personal, Line::Full) => scatter_by_halves(len),
        };
        let by_dimension: Vec<(usize, Vec<Vec<LineMessage>>)> = (0..base.dimensions())
            .map(|dimension| (dimension, moves(base.radix(dimension))))
            .collect();
        if (self.payload, self.net.line) == (Payload::Shared, Line::Ring) {
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

    fn inform(
        &mut self,
        clusters: &[RootedCluster],
        steps: &[Vec<(u64, u64)>],
    ) -> Result<(), Stop> {
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

    fn on_lines(
        &mut self,
        cluster: &RootedCluster,
        dimension: usize,
        step: &[LineMessage],
    ) -> Result<(), Stop> {
        let base = &self.net.base;
        // The nodes that agree with the root in this dimension and in all later ones have data.
        // Each of them is the root of its line.
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

/// Returns the steps of a broadcast from neighbour to neighbour. In each step, the informed nodes
/// inform one neighbour each, in the order in which they were informed. They choose the uninformed
/// neighbour with the most uninformed neighbours and, among equals, the farthest from the root.
///
/// On a torus with odd sides, this can take fewer steps than one dimension after another. There,
/// the root of a line sends backwards one step later than forwards. The forward half of the line
/// therefore waits for one step before the next dimension.
pub fn from_neighbour_to_neighbour(base: &Grid) -> Vec<Vec<(u64, u64)>> {
    let neighbours = |node: u64| {
        let sides = (0..base.dimensions()).flat_map(|d| [(d, 1), (d, -1)]);
        sides.map(move |(d, by)| base.shift(node, d, by)).filter(move |other| *other != node)
    };
    let distance = |node: u64| -> u64 {
        base.coordinates(node).zip(base.radices()).map(|(c, n)| c.min(n - c)).sum()
    };
    let mut informed_nodes = vec![false; base.nodes() as usize];
    informed_nodes[0] = true;
    let (mut informed, mut steps) = (vec![0], Vec::new());
    while informed.len() < informed_nodes.len() {
        let mut step = Vec::new();
        for &from in &informed {
            let uninformed = |node: &u64| !informed_nodes[*node as usize];
            let most = |node: &u64| {
                (neighbours(*node).filter(uninformed).count(), distance(*node), Reverse(*node))
            };
            if let Some(to) = neighbours(from).filter(uninformed).max_by_key(most) {
                informed_nodes[to as usize] = true;
                step.push((from, to));
            }
        }
        informed.extend(step.iter().map(|(_, to)| *to));
        steps.push(step);
    }
    steps
}
