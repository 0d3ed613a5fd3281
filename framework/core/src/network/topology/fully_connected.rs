//! Complete graphs: a link from every node to every other node.

use super::{Automorphisms, AxisSymmetry, Bisection, Family, Parsed, Properties, Run};
use crate::spec::Spec;
use std::sync::Arc;

/// A complete graph of n nodes. Link `from * n + to` leads from `from` to `to`.
#[derive(Debug, Clone)]
struct FullyConnected {
    properties: Properties,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    /// The maximum number of nodes. During a simulation, every node has a set of nodes, with one
    /// bit for each of them.
    const MAX: u64 = 1 << 22;
    let arg = spec.only_word("a number of nodes, as in `fully-connected:64`")?;
    let nodes = arg.value().parse::<u64>().ok().filter(|n| (1..=MAX).contains(n));
    let nodes =
        nodes.ok_or_else(|| spec.bad_value(arg, &format!("a number of nodes from 1 to {MAX}")))?;
    Ok(Arc::new(FullyConnected::new(nodes)))
}

impl FullyConnected {
    fn new(nodes: u64) -> Self {
        let side = nodes / 2;
        let bisection = Bisection { side, links: side * (nodes - side), exact: true };
        let properties = Properties {
            spec: format!("fully-connected:{nodes}"),
            kind: "fully-connected",
            nodes,
            radices: vec![nodes],
            link_slots: nodes * nodes,
            degree: Some(nodes - 1),
            diameter: u64::from(nodes > 1),
            bisection: (side > 0).then_some(bisection),
            distance_sum: Some(nodes - 1),
            ..Properties::default()
        };
        Self { properties }
    }
}

impl Family for FullyConnected {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        (from != to).then(|| Run::link(from * self.properties.nodes + to))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        self.link_between(from, to).map_or(0, |run| {
            visit(run);
            1
        })
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let n = self.properties.nodes;
        (link < n * n && link / n != link % n).then(|| (link / n, link % n))
    }
}

impl Automorphisms for FullyConnected {
    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Permutations]
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let n = self.properties.nodes;
        image(0, link / n) * n + image(0, link % n)
    }
}
