//! A network whose ranks lie elsewhere than their numbers say: `place=` after any topology's own arguments.
//!
//! Rank r is at node `node[r]` of the network. Algorithms see ranks, in the network's own grid; routes and links are those of nodes.

use super::{Bisection, Plane, Read, Route, RouteError, Run, Topology};
use crate::spec::{Arg, Spec, SpecError};
use std::borrow::Cow;
use std::sync::Arc;

/// What may follow `place=`.
const EXPECTED: &str = "random:SEED, hilbert or file:FILE";

#[derive(Debug)]
struct Placed {
    base: Arc<dyn Topology>,
    /// As the spec says it.
    place: String,
    /// For each rank, the node that it runs on.
    node: Vec<u32>,
    /// For each node, the rank that runs on it.
    rank: Vec<u32>,
}

/// The spec without its placement, and that, if it has one.
pub(super) fn split<'a>(spec: &'a Spec, text: &'a str) -> (&'a str, Option<&'a Arg>) {
    match spec.args() {
        [.., last] if last.key() == Some("place") && last.at() > 0 => (&text[..last.at() - 1], Some(last)),
        _ => (text, None),
    }
}

/// The network with its ranks placed.
pub(super) fn parse(
    base: Arc<dyn Topology>,
    spec: &Spec,
    arg: &Arg,
    read: Read<'_>,
) -> Result<Arc<dyn Topology>, SpecError> {
    /// Tables take eight bytes a node.
    const MOST: u64 = 1 << 24;
    if base.nodes() > MOST {
        return Err(spec.bad_value(arg, &format!("a network of at most {MOST} nodes to place ranks on")));
    }
    let n = base.nodes() as u32;
    let (kind, rest) = arg.value().split_once(':').unwrap_or((arg.value(), ""));
    let (node, place) = match (kind, rest) {
        ("random", seed) => {
            let seed: u64 = seed.parse().map_err(|_| spec.bad_value(arg, EXPECTED))?;
            (shuffled(n, seed), format!("random:{seed}"))
        }
        ("hilbert", "") => {
            let node = hilbert(base.radices()).ok_or_else(|| {
                spec.bad_value(arg, "random:SEED or file:FILE: hilbert is for sides that are all the same power of two")
            })?;
            (node, "hilbert".to_owned())
        }
        ("file", file) if !file.is_empty() => {
            let listed = read(file).and_then(|content| listed(&content, n));
            let wrong = |message| spec.error(arg.value_at(), arg.value().len(), &format!("{file}: {message}"));
            (listed.map_err(wrong)?, arg.value().to_owned())
        }
        _ => return Err(spec.bad_value(arg, EXPECTED)),
    };
    let mut rank = vec![0; n as usize];
    (0..).zip(&node).for_each(|(r, at)| rank[*at as usize] = r);
    Ok(Arc::new(Placed { base, place, node, rank }))
}

/// The numbers below n in random order, by SplitMix64.
fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut draw = super::draw::Draw::new(seed);
    let mut numbers: Vec<u32> = (0..n).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, draw.below(last + 1));
    }
    numbers
}

/// Ranks along Hilbert's curve, from one node to a neighbour always (J. Skilling, *Programming the Hilbert curve*, 2004); `None` unless all sides are the same power of two.
fn hilbert(sides: &[u64]) -> Option<Vec<u32>> {
    let side = *sides.first()?;
    if !side.is_power_of_two() || sides.iter().any(|other| *other != side) {
        return None;
    }
    let (bits, dims) = (side.trailing_zeros(), sides.len());
    let nodes: u64 = sides.iter().product();
    let at = |rank: u64| {
        // The bits of the rank, dealt to the coordinates from the highest on.
        let mut x = vec![0_u64; dims];
        for bit in 0..bits as usize * dims {
            x[dims - 1 - bit % dims] |= ((rank >> bit) & 1) << (bit / dims);
        }
        // Gray decode, then undo what each level exchanged and turned round.
        let top = x[dims - 1] >> 1;
        for i in (1..dims).rev() {
            x[i] ^= x[i - 1];
        }
        x[0] ^= top;
        let mut q = 2;
        while q < side {
            for i in (0..dims).rev() {
                if x[i] & q != 0 {
                    x[0] ^= q - 1;
                } else {
                    let t = (x[0] ^ x[i]) & (q - 1);
                    x[0] ^= t;
                    x[i] ^= t;
                }
            }
            q *= 2;
        }
        x.iter().fold(0, |node, c| node * side + c) as u32
    };
    Some((0..nodes).map(at).collect())
}

/// Ranks' nodes from a file: as many numbers as there are nodes, each once; what follows a `#` is a comment.
fn listed(content: &str, nodes: u32) -> Result<Vec<u32>, String> {
    let mut seen = vec![false; nodes as usize];
    let mut found = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
            let node = word.parse::<u32>().ok().filter(|node| *node < nodes);
            let node = node.ok_or_else(|| {
                format!("line {number}: `{word}` is no node, expected a number from 0 to {}", nodes - 1)
            })?;
            if std::mem::replace(&mut seen[node as usize], true) {
                return Err(format!("line {number}: node {node} is there twice, expected one rank a node"));
            }
            found.push(node);
        }
    }
    match found.len() as u32 {
        count if count == nodes => Ok(found),
        count => Err(format!("{count} nodes, expected one for each of {nodes} ranks")),
    }
}

impl Placed {
    fn node(&self, rank: u64) -> u64 {
        self.node[rank as usize].into()
    }

    /// A node's rank; switches are what they are.
    fn vertex(&self, vertex: u64) -> u64 {
        self.rank.get(vertex as usize).map_or(vertex, |rank| u64::from(*rank))
    }
}

impl Topology for Placed {
    fn spec(&self) -> String {
        format!("{},place={}", self.base.spec(), self.place)
    }

    fn kind(&self) -> &'static str {
        self.base.kind()
    }

    fn nodes(&self) -> u64 {
        self.base.nodes()
    }

    fn switches(&self) -> u64 {
        self.base.switches()
    }

    fn radices(&self) -> &[u64] {
        self.base.radices()
    }

    fn base(&self) -> Option<(&dyn Topology, u64)> {
        self.base.base()
    }

    fn link_slots(&self) -> u64 {
        self.base.link_slots()
    }

    fn planes(&self) -> &[Plane] {
        self.base.planes()
    }

    fn diameter(&self) -> u64 {
        self.base.diameter()
    }

    fn farthest_from(&self, rank: u64) -> u64 {
        self.base.farthest_from(self.node(rank))
    }

    fn degree(&self) -> Option<u64> {
        self.base.degree()
    }

    fn links_from(&self, rank: u64) -> Option<u64> {
        self.base.links_from(self.node(rank))
    }

    fn links_in_all(&self) -> u64 {
        self.base.links_in_all()
    }

    fn bisection(&self) -> Option<Bisection> {
        self.base.bisection()
    }

    fn distance_sum(&self) -> Option<u64> {
        self.base.distance_sum()
    }

    fn hops_of_all_pairs(&self) -> Option<u128> {
        self.base.hops_of_all_pairs()
    }

    fn bandwidths(&self) -> Option<(f64, f64)> {
        self.base.bandwidths()
    }

    fn bandwidth(&self, link: u64) -> f64 {
        self.base.bandwidth(link)
    }

    fn route(&self, from: u64, to: u64, route: Option<&Route>, visit: &mut dyn FnMut(Run)) -> Result<u64, RouteError> {
        // A path names ranks; directions are the network's.
        let route = route.map(|route| match route.path.iter().find(|rank| **rank >= self.nodes()) {
            None if !route.path.is_empty() => {
                Cow::Owned(Route { path: route.path.iter().map(|rank| self.node(*rank)).collect(), ..route.clone() })
            }
            _ => Cow::Borrowed(route),
        });
        let named = |error| match error {
            RouteError::NoDimensions { .. } => RouteError::NoDimensions { topology: self.spec() },
            RouteError::Malformed { expected, got, .. } => {
                RouteError::Malformed { topology: self.spec(), expected, got }
            }
            RouteError::NoLink { from, to, .. } => {
                RouteError::NoLink { topology: self.spec(), from: self.vertex(from), to: self.vertex(to) }
            }
        };
        self.base.route(self.node(from), self.node(to), route.as_deref(), visit).map_err(named)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.base.link_ends(link).map(|(from, to)| (self.vertex(from), self.vertex(to)))
    }
}
