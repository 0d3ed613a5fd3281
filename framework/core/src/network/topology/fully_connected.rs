//! Complete graphs: a link from every node to every other node.

use super::{Bisection, Regularity, Route, RouteError, Run, Topology, explicit_route};
use crate::spec::{Spec, SpecError};
use std::sync::Arc;

/// The complete graph. Link `from * n + to` leads from `from` to `to`, for n nodes.
#[derive(Debug, Clone)]
pub struct FullyConnected {
    nodes: [u64; 1],
}

pub(super) fn parse(spec: &Spec) -> Result<Arc<dyn Topology>, SpecError> {
    /// The most nodes: a set over one axis takes one bit for each coordinate, and every node has
    /// one.
    const MAX: u64 = 1 << 22;
    let arg = spec.only_word("a number of nodes, as in `fully-connected:64`")?;
    let nodes = arg.value().parse::<u64>().ok().filter(|n| (1..=MAX).contains(n));
    let nodes =
        nodes.ok_or_else(|| spec.bad_value(arg, &format!("a number of nodes from 1 to {MAX}")))?;
    Ok(Arc::new(FullyConnected::new(nodes)))
}

impl FullyConnected {
    /// Creates the complete graph of `nodes` nodes.
    pub fn new(nodes: u64) -> Self {
        Self { nodes: [nodes] }
    }

    fn link(&self, from: u64, to: u64) -> Option<Run> {
        (from != to).then(|| Run::link(from * self.nodes() + to))
    }
}

impl Topology for FullyConnected {
    fn spec(&self) -> String {
        format!("fully-connected:{}", self.nodes())
    }

    fn kind(&self) -> &'static str {
        "fully-connected"
    }

    fn nodes(&self) -> u64 {
        self.nodes[0]
    }

    fn radices(&self) -> &[u64] {
        &self.nodes
    }

    fn regularity(&self) -> Regularity<'_> {
        Regularity::Complete
    }

    fn link_slots(&self) -> u64 {
        self.nodes() * self.nodes()
    }

    fn degree(&self) -> Option<u64> {
        Some(self.nodes() - 1)
    }

    fn diameter(&self) -> u64 {
        u64::from(self.nodes() > 1)
    }

    fn bisection(&self) -> Option<Bisection> {
        let (n, side) = (self.nodes(), self.nodes() / 2);
        (side > 0).then(|| Bisection { side, links: side * (n - side), exact: true })
    }

    fn distance_sum(&self) -> Option<u64> {
        Some(self.nodes() - 1)
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
        self.link(from, to).map_or(Ok(0), |run| {
            visit(run);
            Ok(1)
        })
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let n = self.nodes();
        (link < n * n && link / n != link % n).then(|| (link / n, link % n))
    }
}
