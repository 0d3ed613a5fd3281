//! A network whose ranks lie elsewhere than their numbers say: `ranks=` and `place=` after any
//! topology's own arguments.
//!
//! Rank r is at node `node[r]` of the network; several may be at one. Algorithms see ranks: in the
//! network's own grid, or, where a node has several, in one of nodes and of ranks at each. Routes
//! and links are those of nodes: between two ranks of one node there is none.

use super::wrapping::as_base;
use super::{Bisection, Read, Route, RouteError, Run, Topology};
use crate::spec::{Arg, Spec, SpecError};
use std::borrow::Cow;
use std::sync::Arc;

mod order;

/// What may follow `place=`.
const EXPECTED: &str = "block, cyclic, random:SEED, hilbert or file:FILE";

#[derive(Debug)]
struct Placed {
    base: Arc<dyn Topology>,
    /// Ranks at each node.
    each: u64,
    /// As the spec says it, if it does.
    place: Option<String>,
    /// Of several ranks a node, the grid of their numbers.
    grid: [u64; 2],
    /// For each rank, the node that it runs on.
    node: Vec<u32>,
    /// For each node, the rank that runs on it; nothing where there are several.
    rank: Vec<u32>,
}

/// What a spec says of ranks, behind the network's own arguments.
#[derive(Debug, Default)]
pub(super) struct Ranks<'a> {
    ranks: Option<&'a Arg>,
    place: Option<&'a Arg>,
    /// How messages are routed, which is not for this module.
    pub(super) routing: Option<&'a Arg>,
}

/// The spec without what it says of ranks, and that.
pub(super) fn split<'a>(spec: &'a Spec, text: &'a str) -> (&'a str, Ranks<'a>) {
    let (mut end, mut ranks) = (text.len(), Ranks::default());
    for arg in spec.args().iter().rev().filter(|arg| arg.at() > 0) {
        match arg.key() {
            Some("ranks") => ranks.ranks = Some(arg),
            Some("place") => ranks.place = Some(arg),
            Some("routing") => ranks.routing = Some(arg),
            _ => break,
        }
        end = arg.at() - 1;
    }
    (&text[..end], ranks)
}

/// The network with its ranks placed.
pub(super) fn parse(
    base: Arc<dyn Topology>,
    spec: &Spec,
    Ranks { ranks, place, .. }: Ranks<'_>,
    read: Read<'_>,
) -> Result<Arc<dyn Topology>, SpecError> {
    /// Tables take eight bytes a rank.
    const MOST: u64 = 1 << 24;
    let nodes = base.nodes();
    let each = ranks.map_or(Ok(1), |arg| {
        let each = arg.value().parse().ok().filter(|each: &u64| *each >= 1);
        each.ok_or_else(|| {
            spec.bad_value(arg, "how many ranks each node has, a whole number from 1 on")
        })
    })?;
    let block = place.is_none_or(|arg| arg.value() == "block");
    let (Some(said), false) =
        (place.or(ranks), each == 1 && (block || place.is_some_and(|arg| arg.value() == "cyclic")))
    else {
        return Ok(base);
    };
    let Some(count) = each.checked_mul(nodes).filter(|count| *count <= MOST) else {
        let at = ranks.filter(|_| nodes <= MOST).unwrap_or(said);
        return Err(spec.bad_value(
            at,
            &format!(
                "a network of at most {MOST} {} to place ranks on",
                if each == 1 { "nodes" } else { "ranks" }
            ),
        ));
    };
    let (n, grid) = (nodes as u32, [nodes, each]);
    let by_node = |order: &dyn Fn(u32) -> u32| {
        (0..count).map(|rank| order((rank / each) as u32)).collect::<Vec<_>>()
    };
    let placed = |place: Option<&str>, grid, node| (place.map(str::to_owned), grid, node);
    let (kind, rest) =
        place.map_or(("block", ""), |arg| arg.value().split_once(':').unwrap_or((arg.value(), "")));
    let bad = |expected: &str| spec.bad_value(said, expected);
    let (place, grid, node): (_, _, Vec<u32>) = match (kind, rest) {
        ("block", "") => placed(None, grid, by_node(&|node| node)),
        ("cyclic", "") => placed(
            Some("cyclic"),
            [each, nodes],
            (0..count).map(|rank| (rank % nodes) as u32).collect(),
        ),
        ("random", seed) => {
            let seed: u64 = seed.parse().map_err(|_| bad(EXPECTED))?;
            let slots = order::shuffled(count as u32, seed);
            let node = slots.into_iter().map(|slot| (u64::from(slot) / each) as u32).collect();
            placed(Some(&format!("random:{seed}")), grid, node)
        }
        ("hilbert", "") => {
            let along = order::hilbert(base.radices()).ok_or_else(|| {
                bad("block, cyclic, random:SEED or file:FILE: hilbert is for sides that are all the same power of two")
            })?;
            placed(Some("hilbert"), grid, by_node(&|place| along[place as usize]))
        }
        ("file", file) if !file.is_empty() => {
            let listed = read(file).and_then(|content| order::listed(&content, n, each as u32));
            let wrong = |message| {
                spec.error(said.value_at(), said.value().len(), &format!("{file}: {message}"))
            };
            placed(Some(said.value()), grid, listed.map_err(wrong)?)
        }
        _ => return Err(bad(EXPECTED)),
    };
    let mut rank = vec![0; if each == 1 { n as usize } else { 0 }];
    if each == 1 {
        (0..).zip(&node).for_each(|(r, at)| rank[*at as usize] = r);
    }
    Ok(Arc::new(Placed { base, each, place, grid, node, rank }))
}

impl Placed {
    fn node(&self, rank: u64) -> u64 {
        self.node[rank as usize].into()
    }

    /// Whether nodes have several ranks.
    fn shares(&self) -> bool {
        self.each > 1
    }

    /// A node's rank, its place behind all ranks where it has several; switches come after those.
    fn vertex(&self, vertex: u64) -> u64 {
        let behind = if self.shares() { self.nodes() } else { 0 };
        self.rank.get(vertex as usize).map_or(behind + vertex, |rank| u64::from(*rank))
    }
}

impl Topology for Placed {
    as_base! { link_slots planes diameter degree max_links bandwidths bandwidth latencies latency }

    fn spec(&self) -> String {
        let ranks = if self.shares() { format!(",ranks={}", self.each) } else { String::new() };
        let place = self.place.as_ref().map_or(String::new(), |place| format!(",place={place}"));
        format!("{}{ranks}{place}", self.base.spec())
    }

    /// What runs on a torus of nodes need not run on one whose nodes have several ranks.
    fn kind(&self) -> &'static str {
        if self.shares() { "ranks" } else { self.base.kind() }
    }

    fn nodes(&self) -> u64 {
        self.node.len() as u64
    }

    fn switches(&self) -> u64 {
        self.base.switches() + if self.shares() { self.base.nodes() } else { 0 }
    }

    fn node_network(&self) -> Option<&dyn Topology> {
        self.shares().then_some(self.base.as_ref())
    }

    fn host(&self, rank: u64) -> u64 {
        if self.shares() { self.node(rank) } else { rank }
    }

    fn radices(&self) -> &[u64] {
        if self.shares() { &self.grid } else { self.base.radices() }
    }

    fn base(&self) -> Option<(&dyn Topology, u64)> {
        if self.shares() { None } else { self.base.base() }
    }

    fn eccentricity(&self, rank: u64) -> u64 {
        self.base.eccentricity(self.node(rank))
    }

    fn links_from(&self, rank: u64) -> Option<u64> {
        self.base.links_from(self.node(rank))
    }

    fn bisection(&self) -> Option<Bisection> {
        self.base.bisection().map(|cut| Bisection { side: cut.side * self.each, ..cut })
    }

    fn distance_sum(&self) -> Option<u64> {
        self.base.distance_sum().map(|sum| sum * self.each)
    }

    fn hops_of_all_pairs(&self) -> Option<u128> {
        self.base
            .hops_of_all_pairs()
            .map(|hops| hops * u128::from(self.each) * u128::from(self.each))
    }

    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        // A path names ranks; directions are the network's.
        let route =
            route.map(|route| match route.path.iter().find(|rank| **rank >= self.nodes()) {
                None if !route.path.is_empty() => Cow::Owned(Route {
                    path: route.path.iter().map(|rank| self.node(*rank)).collect(),
                    ..route.clone()
                }),
                _ => Cow::Borrowed(route),
            });
        let named = |error| match error {
            RouteError::NoDimensions { .. } => RouteError::NoDimensions { topology: self.spec() },
            RouteError::Malformed { expected, got, .. } => {
                RouteError::Malformed { topology: self.spec(), expected, got }
            }
            RouteError::NoLink { from, to, .. } => RouteError::NoLink {
                topology: self.spec(),
                from: self.vertex(from),
                to: self.vertex(to),
            },
        };
        self.base.route(self.node(from), self.node(to), route.as_deref(), visit).map_err(named)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.base.link_ends(link).map(|(from, to)| (self.vertex(from), self.vertex(to)))
    }
}
