//! Recursive dual-nets over a regular base (Y. Li, S. Peng, W. Chu: *Recursive Dual-Net*).
//!
//! With n nodes in a cluster, node (t, c, x) is number `t n^2 + c n + x`: type 0 or 1, cluster c,
//! node x of the cluster. A cluster is a copy of the base, or of the dual-net one level down; a
//! cross-edge leads from (t, c, x) to (1 - t, x, c). So between two clusters of different type
//! there is just one edge, and none between clusters of the same type.
//!
//! Routes need no table (Theorem 2). To the other type: within the cluster to the node with the
//! edge, across, within the cluster to the destination. To another cluster of the same type:
//! across, within the cluster of the other type, across again, and within the cluster to the
//! destination. No way is shorter.

use super::{Bisection, ReadFile, Regularity, Route, RouteError, Run, Topology, explicit_route};
use crate::limits;
use crate::spec::{Spec, SpecError};
use std::sync::Arc;

/// One level over `base`.
#[derive(Debug, Clone)]
pub struct Rdn {
    /// Levels, this one included.
    level: u32,
    /// What a cluster is.
    base: Arc<dyn Topology>,
    /// The spec within the parentheses.
    innermost: String,
    /// Nodes of a cluster.
    n: u64,
    /// The type, then the cluster's and the node's digits in the base.
    digits: Vec<u64>,
}

pub(super) fn parse(spec: &Spec, read: ReadFile<'_>) -> Result<Arc<dyn Topology>, SpecError> {
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
    // What is wrong with the base is shown where it stands in the whole.
    let mut net = super::parse_network(inner, read)
        .map_err(|e| SpecError { near: e.near, ..spec.error(at + e.at, e.len, &e.message) })?;
    if net.degree().is_none() {
        return Err(spec.error(
            at,
            inner.len(),
            &format!(
                "a base must be regular, and in `{inner}` some nodes have more links than others"
            ),
        ));
    }
    for k in 1..=level {
        net = Rdn::new(k, net, inner).map(Arc::new).ok_or_else(|| {
            spec.error(
                arg.value_at(),
                levels.len(),
                &format!(
                    "{k} levels make more than {} nodes, which is the most a topology may have",
                    limits::NODES
                ),
            )
        })?;
    }
    Ok(net)
}

impl Rdn {
    /// The level-th dual-net, whose clusters are `base`; `None` if that is too large.
    fn new(level: u32, base: Arc<dyn Topology>, innermost: &str) -> Option<Self> {
        let n = base.nodes();
        n.checked_mul(n).and_then(|m| m.checked_mul(2)).filter(|nodes| *nodes <= limits::NODES)?;
        let digits = [&[2], base.radices(), base.radices()].concat();
        Some(Self { level, innermost: innermost.to_owned(), n, digits, base })
    }

    fn split(&self, node: u64) -> (u64, u64, u64) {
        (node / (self.n * self.n), node / self.n % self.n, node % self.n)
    }

    fn join(&self, t: u64, c: u64, x: u64) -> u64 {
        (t * self.n + c) * self.n + x
    }

    /// The links of cluster (t, c) begin here.
    fn cluster_links(&self, t: u64, c: u64) -> u64 {
        (t * self.n + c) * self.base.link_slots()
    }

    /// The cross-edge out of a node.
    fn cross(&self, node: u64) -> Run {
        Run::link(2 * self.n * self.base.link_slots() + node)
    }

    /// The link between neighbours: the cross-edge, or one within a cluster.
    fn link(&self, from: u64, to: u64) -> Option<Run> {
        let ((t, c, x), (u, d, y)) = (self.split(from), self.split(to));
        if t != u {
            return (c == y && x == d).then(|| self.cross(from));
        }
        let mut runs = Vec::new();
        let hops = (c == d).then(|| self.within((t, c), x, y, &mut |run| runs.push(run)));
        runs.pop().filter(|_| matches!(hops, Some(Ok(1))))
    }

    fn within(
        &self,
        (t, c): (u64, u64),
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        let offset = self.cluster_links(t, c);
        self.base.route(from, to, None, &mut |run| {
            visit(Run { first: run.first + offset, plane: 0, ..run })
        })
    }
}

impl Topology for Rdn {
    fn spec(&self) -> String {
        format!("rdn:{}({})", self.level, self.innermost)
    }

    fn kind(&self) -> &'static str {
        "rdn"
    }

    fn nodes(&self) -> u64 {
        2 * self.n * self.n
    }

    /// Each cluster has its own.
    fn switches(&self) -> u64 {
        2 * self.n * self.base.switches()
    }

    fn radices(&self) -> &[u64] {
        &self.digits
    }

    /// The types: every route from (t, c, x) has its like from (1 - t, c, x).
    fn regularity(&self) -> Regularity<'_> {
        Regularity::Halves { within: self.n * self.base.link_slots() }
    }

    fn link_slots(&self) -> u64 {
        2 * self.n * self.base.link_slots() + self.nodes()
    }

    /// Theorem 1: twice that of a cluster, and two crossings; of a single node, the one edge.
    fn base(&self) -> Option<(&dyn Topology, u64)> {
        let below = self.base.base().map(|(base, levels)| (base, levels + 1));
        Some(below.unwrap_or((self.base.as_ref(), 1)))
    }

    fn diameter(&self) -> u64 {
        if self.n == 1 { 1 } else { 2 * self.base.diameter() + 2 }
    }

    fn eccentricity(&self, node: u64) -> u64 {
        // From (t, c, x) to node v of cluster k of its own type: by way of any j from x to v, and
        // from c to k within cluster j of the other type.
        let (_, c, x) = self.split(node);
        if self.n == 1 { 1 } else { self.base.eccentricity(x) + self.base.eccentricity(c) + 2 }
    }

    fn degree(&self) -> Option<u64> {
        self.base.degree().map(|d| d + 1)
    }

    /// Of two cuts, that of fewer links. Whole clusters, as many of one type as are left out of the
    /// other: between two clusters of different type there is one edge, half of these are cut. Or,
    /// where a cluster of n nodes is cut into halves, with H a half of its nodes' numbers: the
    /// clusters of type 0 with a number in H whole, and of each cluster of type 1 the nodes in H;
    /// cross-edges then join like with like, and only n clusters are cut. (Theorem 1 claims n_k /
    /// 4, the first of the two.)
    fn bisection(&self) -> Option<Bisection> {
        let n = self.n;
        let halves = self.base.bisection().filter(|cut| 2 * cut.side == n);
        let links =
            halves.map_or(u64::MAX, |cut| cut.links.saturating_mul(n)).min((n * n).div_ceil(2));
        Some(Bisection { side: n * n, links, exact: false })
    }

    /// To a node (u, d, y) of the other type it is L(x, d) + 1 + L(c, y); to one of the same type
    /// in another cluster L(c, d) + 2 + L(x, y). A cluster's nodes all have the same sum, so the
    /// nodes of the whole do.
    fn distance_sum(&self) -> Option<u64> {
        let (n, below) = (self.n, self.base.distance_sum()?);
        let other_type = 2 * n * below + n * n;
        let other_clusters = n * below + 2 * n * (n - 1) + (n - 1) * below;
        Some(below + other_type + other_clusters)
    }

    fn bandwidths(&self) -> Option<(f64, f64)> {
        // Cross-edges have the machine's.
        self.base.bandwidths().map(|(least, most)| (least.min(1.0), most.max(1.0)))
    }

    fn bandwidth(&self, link: u64) -> f64 {
        let within = link < 2 * self.n * self.base.link_slots();
        if within { self.base.bandwidth(link % self.base.link_slots()) } else { 1.0 }
    }

    fn latencies(&self) -> Option<(f64, f64)> {
        // Cross-edges have the machine's.
        self.base.latencies().map(|(least, most)| (least.min(1.0), most.max(1.0)))
    }

    fn latency(&self, link: u64) -> f64 {
        let within = link < 2 * self.n * self.base.link_slots();
        if within { self.base.latency(link % self.base.link_slots()) } else { 1.0 }
    }

    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        if let Some(hops) = explicit_route(self, (from, to), route, |a, b| self.link(a, b), visit)?
        {
            return Ok(hops);
        }
        let ((t, c, x), (u, d, y)) = (self.split(from), self.split(to));
        if t == u && c == d {
            return self.within((t, c), x, y, visit);
        }
        if t != u {
            let here = self.within((t, c), x, d, visit)?;
            visit(self.cross(self.join(t, c, d)));
            return Ok(here + 1 + self.within((u, d), c, y, visit)?);
        }
        visit(self.cross(from));
        let there = self.within((1 - t, x), c, d, visit)?;
        visit(self.cross(self.join(1 - t, x, d)));
        Ok(there + 2 + self.within((t, d), x, y, visit)?)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let slots = self.base.link_slots();
        let inside = 2 * self.n * slots;
        if link < inside {
            let cluster = link / slots;
            let vertex = |v: u64| match v.checked_sub(self.n) {
                None => cluster * self.n + v,
                Some(switch) => self.nodes() + cluster * self.base.switches() + switch,
            };
            return self.base.link_ends(link % slots).map(|(a, b)| (vertex(a), vertex(b)));
        }
        let node = link - inside;
        let (t, c, x) = self.split(node);
        (node < self.nodes()).then(|| (node, self.join(1 - t, x, c)))
    }
}
