//! Recursive dual-nets, which are built from a regular base network, level by level (Y. Li, S.
//! Peng, W. Chu, *Recursive Dual-Net*).
//!
//! A dual-net of some level consists of clusters, each of which is a copy of the dual-net that is
//! one level lower or, at the first level, of the base. Let a cluster have n nodes. Node x of
//! cluster c of type t (0 or 1) is (t, c, x) and has the number `t n^2 + c n + x`. A cross-edge
//! leads from (t, c, x) to (1 - t, x, c). So any two clusters of different types are joined by one
//! edge, and no edge joins two clusters of the same type.
//!
//! Routes need no table, and no path is shorter (Theorem 2). If the destination has the other type,
//! the route leads within the sender's cluster to the node with the cross-edge to the destination's
//! cluster, crosses this edge, and ends within the destination's cluster. If the destination is in
//! another cluster of the same type, the route has two cross-edges. Between these, it leads through
//! a cluster of the other type.

use super::automorphisms::image_of_node;
use super::{
    Automorphisms, AxisSymmetry, Bisection, Family, Network, Parsed, Properties, ReadFile, Run,
};
use crate::limits;
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug, Clone)]
struct Rdn {
    properties: Properties,
    base: Network,
    n: u64,
}

pub(super) fn kind(name: &str, levels_and_base: &str) -> String {
    let base = levels_and_base.split_once('(').and_then(|(_, base)| base.strip_suffix(')'));
    base.map_or(name.to_owned(), |base| format!("{name} over {base}"))
}

pub(super) fn parse(spec: &Spec, read: ReadFile<'_>) -> Parsed {
    const EXPECTED: &str = "levels and a base, as in `rdn:1(hypercube:3)`";
    let arg = spec.only_word(EXPECTED)?;
    let text = arg.value();
    let (levels, inner) = text.split_once('(').ok_or_else(|| spec.bad_value(arg, EXPECTED))?;
    let at = arg.value_at() + levels.len() + 1;
    let Some(inner) = inner.strip_suffix(')') else {
        return Err(spec.error(
            at + inner.len() - 1,
            1,
            "expected the closing parenthesis at the end",
        ));
    };
    let level = levels.parse::<u32>().ok().filter(|k| *k >= 1).ok_or_else(|| {
        spec.error(
            arg.value_at(),
            levels.len().max(1),
            &format!("expected a number of levels from 1 on, found `{levels}`"),
        )
    })?;
    let mut net = super::parse_family(inner, read).map_err(|e| spec.nested(at, e))?;
    if net.properties().degree.is_none() {
        return Err(spec.error(
            at,
            inner.len(),
            &format!(
                "a base must be regular, and in `{inner}` some nodes have more links than others"
            ),
        ));
    }
    for k in 1..=level {
        net = Rdn::new(k, Network::of(net), inner).map(Arc::new).ok_or_else(|| {
            spec.error(
                arg.value_at(),
                levels.len(),
                &format!(
                    "{k} levels make more than {} nodes, the most that a topology may have",
                    limits::NODES
                ),
            )
        })?;
    }
    Ok(net)
}

impl Rdn {
    fn new(level: u32, base: Network, innermost: &str) -> Option<Self> {
        let n = base.nodes();
        n.checked_mul(n).and_then(|m| m.checked_mul(2)).filter(|nodes| *nodes <= limits::NODES)?;
        // The bisection is the better of two cuts. There are n clusters of n nodes of each type.
        //
        // 1. One side has n whole clusters, about half of each type. Half of the cross-edges are
        //    cut, of which there is one for each two clusters of different types.
        // 2. If the base has a cut into halves, let H be the node numbers of one half. One side has
        //    the clusters of type 0 whose numbers are in H and, of each cluster of type 1, the
        //    nodes whose numbers are in H. The only cut edges are within the n clusters of type 1.
        //
        // Theorem 1 claims a cut of `n_k / 4` links for `n_k` nodes, which is the first cut.
        let halves = base.bisection().filter(|cut| 2 * cut.side == n);
        let links =
            halves.map_or(u64::MAX, |cut| cut.links.saturating_mul(n)).min((n * n).div_ceil(2));
        // Let L be the distance between two nodes of a cluster. From (t, c, x) to a node (1 - t, d,
        // y) of the other type, the distance is `L(x, d) + 1 + L(c, y)`. To a node (t, d, y) of
        // another cluster of the same type, it is `L(c, d) + 2 + L(x, y)`. So if the sum of the
        // distances to all others is the same for all nodes of a cluster, it is also the same for
        // all nodes of the dual-net.
        let distance_sum = base.distance_sum().map(|below| {
            let other_type = 2 * n * below + n * n;
            below + other_type + n * below + 2 * n * (n - 1) + (n - 1) * below
        });
        let with_1 = |(least, most): (f64, f64)| (least.min(1.0), most.max(1.0));
        let nodes = 2 * n * n;
        let properties = Properties {
            spec: format!("rdn:{level}({innermost})"),
            kind: "rdn",
            nodes,
            switches: 2 * n * base.switches(),
            radices: [&[2], base.radices(), base.radices()].concat(),
            link_slots: 2 * n * base.link_slots() + nodes,
            degree: base.degree().map(|degree| degree + 1),
            diameter: if n == 1 { 1 } else { 2 * base.diameter() + 2 },
            bisection: Some(Bisection { side: n * n, links, exact: false }),
            distance_sum,
            bandwidths: base.bandwidths().map(with_1),
            latencies: base.latencies().map(with_1),
            ..Properties::default()
        };
        Some(Self { properties, n, base })
    }

    fn split(&self, node: u64) -> (u64, u64, u64) {
        (node / (self.n * self.n), node / self.n % self.n, node % self.n)
    }

    fn join(&self, t: u64, c: u64, x: u64) -> u64 {
        (t * self.n + c) * self.n + x
    }

    fn cluster_links(&self, t: u64, c: u64) -> u64 {
        (t * self.n + c) * self.base.link_slots()
    }

    fn cross(&self, node: u64) -> Run {
        Run::link(2 * self.n * self.base.link_slots() + node)
    }

    fn within(&self, (t, c): (u64, u64), from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let offset = self.cluster_links(t, c);
        self.base.minimal_route(from, to, &mut |run| {
            visit(Run { first: run.first + offset, plane: 0, ..run });
        })
    }
}

impl Family for Rdn {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn base(&self) -> Option<(&Network, u64)> {
        let below = self.base.base().map(|(base, levels)| (base, levels + 1));
        Some(below.unwrap_or((&self.base, 1)))
    }

    fn eccentricity(&self, node: u64) -> u64 {
        // Of the nodes of the same type, the farthest one is (t, k, v). The route to it leads from
        // c to k within a cluster of the other type, and then from x to v within cluster k.
        let (_, c, x) = self.split(node);
        if self.n == 1 { 1 } else { self.base.eccentricity(x) + self.base.eccentricity(c) + 2 }
    }

    fn bandwidth(&self, link: u64) -> f64 {
        let within = link < 2 * self.n * self.base.link_slots();
        if within { self.base.bandwidth(link % self.base.link_slots()) } else { 1.0 }
    }

    fn latency(&self, link: u64) -> f64 {
        let within = link < 2 * self.n * self.base.link_slots();
        if within { self.base.latency(link % self.base.link_slots()) } else { 1.0 }
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        // A requested path cannot pass switches, which have no number (t, c, x).
        if from.max(to) >= self.properties.nodes {
            return None;
        }
        let ((t, c, x), (u, d, y)) = (self.split(from), self.split(to));
        if t != u {
            return (c == y && x == d).then(|| self.cross(from));
        }
        let mut runs = Vec::new();
        let hops = (c == d).then(|| self.within((t, c), x, y, &mut |run| runs.push(run)));
        runs.pop().filter(|_| hops == Some(1))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let ((t, c, x), (u, d, y)) = (self.split(from), self.split(to));
        if t == u && c == d {
            return self.within((t, c), x, y, visit);
        }
        if t != u {
            let here = self.within((t, c), x, d, visit);
            visit(self.cross(self.join(t, c, d)));
            return here + 1 + self.within((u, d), c, y, visit);
        }
        visit(self.cross(from));
        let there = self.within((1 - t, x), c, d, visit);
        visit(self.cross(self.join(1 - t, x, d)));
        there + 2 + self.within((t, d), x, y, visit)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let slots = self.base.link_slots();
        let inside = 2 * self.n * slots;
        if link < inside {
            let cluster = link / slots;
            let vertex = |v: u64| match v.checked_sub(self.n) {
                None => cluster * self.n + v,
                Some(switch) => self.properties.nodes + cluster * self.base.switches() + switch,
            };
            return self.base.link_ends(link % slots).map(|(a, b)| (vertex(a), vertex(b)));
        }
        let node = link - inside;
        let (t, c, x) = self.split(node);
        (node < self.properties.nodes).then(|| (node, self.join(1 - t, x, c)))
    }
}

/// The dual-net is symmetric in the types: exchanging them maps each route from (t, c, x) to a
/// route from (1 - t, c, x).
impl Automorphisms for Rdn {
    fn axes(&self) -> Vec<AxisSymmetry> {
        let mut axes = vec![AxisSymmetry::Fixed; self.properties.radices.len()];
        axes[0] = AxisSymmetry::Rotations;
        axes
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let of_type = self.n * self.base.link_slots();
        match link.checked_sub(2 * of_type) {
            None => image(0, link / of_type) * of_type + link % of_type,
            Some(node) => 2 * of_type + image_of_node(&self.properties.radices, node, image),
        }
    }

    fn port(&self, link: u64) -> Option<(u64, u64)> {
        let slots = self.base.link_slots();
        match link.checked_sub(2 * self.n * slots) {
            None => {
                let (x, port) = self.base.automorphisms()?.port(link % slots)?;
                Some((link / slots * self.n + x, port))
            }
            Some(node) => Some((node, slots / self.n)),
        }
    }
}
