//! Placement of ranks on the nodes of a network. The arguments are `ranks=` and `place=`, which
//! follow the arguments of any topology. `place=random` without a seed draws the placement from the
//! seed of the repetition ([`Topology::sample`]).
//!
//! Rank r runs on node `node[r]` of the network, and a node may have several ranks. Algorithms see
//! the ranks as a grid. It is the network's own grid or, if nodes have several ranks, a grid of
//! nodes and ranks. Routes and links are those of the network's nodes. There is no link between two
//! ranks of the same node.

use super::degraded::DamageArgs;
use super::{Bisection, Properties, ReadFile, Route, RouteError, Run, Topology};
use crate::spec::{Arg, Spec, SpecError};
use std::borrow::Cow;
use std::sync::Arc;

mod order;

/// A description of the values of `place=`, for error messages.
const EXPECTED: &str = "block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE";

#[derive(Debug)]
struct Placed {
    properties: Properties,
    base: Arc<dyn Topology>,
    /// The number of ranks of each node.
    ranks_each: u64,
    /// The value of `place=` in the spec; empty if ranks are placed in blocks.
    place: String,
    /// For each rank, the node on which it runs.
    node: Vec<u32>,
    /// For each node, the rank that runs on it; empty if nodes have several ranks.
    rank: Vec<u32>,
}

/// The arguments that may follow the network's own arguments in any spec, with short descriptions.
pub const OPTIONS: [(&str, &str); 7] = [
    ("down", "failed links, such as 12-13"),
    ("slow", "slow links, such as 12-13:0.5"),
    ("faults", "a number of random failed links"),
    ("slow-links", "a number of random slow links, such as 3:0.5"),
    ("ranks", "ranks of each node"),
    (
        "place",
        "placement of ranks: block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE",
    ),
    ("routing", "minimal, valiant or ecmp"),
];

/// Returns the names of [`OPTIONS`].
pub(super) fn options<'a>() -> impl Iterator<Item = &'a str> {
    OPTIONS.iter().map(|(name, _)| *name)
}

/// The arguments for ranks and routing, which follow the network's own arguments.
#[derive(Debug, Default)]
pub(super) struct RankArgs<'a> {
    ranks: Option<&'a Arg>,
    place: Option<&'a Arg>,
    /// The argument `routing=`, which the module `routed` reads.
    pub(super) routing: Option<&'a Arg>,
}

/// Splits a spec into the network's spec and the arguments for failed links, ranks and routing.
pub(super) fn split<'a>(spec: &'a Spec, text: &'a str) -> (&'a str, DamageArgs<'a>, RankArgs<'a>) {
    let (mut end, mut ranks) = (text.len(), RankArgs::default());
    let mut damage = DamageArgs::default();
    for arg in spec.args().iter().rev().filter(|arg| arg.at() > 0) {
        match arg.key() {
            Some("ranks") => ranks.ranks = Some(arg),
            Some("place") => ranks.place = Some(arg),
            Some("routing") => ranks.routing = Some(arg),
            Some("down") => damage.down = Some(arg),
            Some("slow") => damage.slow = Some(arg),
            Some("faults") => damage.faults = Some(arg),
            Some("slow-links") => damage.slow_links = Some(arg),
            _ => break,
        }
        end = arg.at() - 1;
    }
    (&text[..end], damage, ranks)
}

/// Places ranks on the nodes of a network, as the arguments `ranks=` and `place=` request.
pub(super) fn parse(
    base: Arc<dyn Topology>,
    spec: &Spec,
    RankArgs { ranks, place, .. }: RankArgs<'_>,
    read: ReadFile<'_>,
) -> Result<Arc<dyn Topology>, SpecError> {
    /// The maximum number of ranks. The tables take eight bytes for each rank.
    const MAX: u64 = 1 << 24;
    let nodes = base.nodes();
    let ranks_each = ranks.map_or(Ok(1), |arg| {
        let number = arg.value().parse().ok().filter(|number: &u64| *number >= 1);
        let expected = "the number of ranks of each node, a whole number from 1 on";
        number.ok_or_else(|| spec.bad_value(arg, expected))
    })?;
    // If rank r runs on node r, no table is needed.
    let word = place.map_or("block", Arg::value);
    if let (Some(arg), Some(shape)) = (place, word.strip_prefix("fold:")) {
        return match ranks_each {
            1 => super::folded::parse(base, spec, arg, shape),
            _ => Err(spec.bad_value(arg, "one rank per node with fold:SHAPE")),
        };
    }
    let Some(arg) =
        place.or(ranks).filter(|_| ranks_each > 1 || !["block", "cyclic"].contains(&word))
    else {
        return Ok(base);
    };
    let Some(count) = ranks_each.checked_mul(nodes).filter(|count| *count <= MAX) else {
        let at = ranks.filter(|_| nodes <= MAX).unwrap_or(arg);
        let what = if ranks_each == 1 { "nodes" } else { "ranks" };
        let expected = format!("a network of at most {MAX} {what} to place ranks on");
        return Err(spec.bad_value(at, &expected));
    };
    // Find the node of each rank.
    let bad = |expected: &str| spec.bad_value(arg, expected);
    let in_blocks = |node: &dyn Fn(u64) -> u32| -> Vec<u32> {
        (0..count).map(|rank| node(rank / ranks_each)).collect()
    };
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    let (place, node) = match (kind, rest) {
        ("block", "") => (None, in_blocks(&|node| node as u32)),
        ("cyclic", "") => {
            (Some(word.to_owned()), (0..count).map(|rank| (rank % nodes) as u32).collect())
        }
        ("random", "") if word == RANDOM => (Some(word.to_owned()), random(count, ranks_each, 0)),
        ("random", seed) => {
            let seed: u64 = seed.parse().map_err(|_| bad(EXPECTED))?;
            (Some(format!("random:{seed}")), random(count, ranks_each, seed))
        }
        ("hilbert", "") => {
            let along = order::hilbert(base.radices()).ok_or_else(|| {
                bad("block, cyclic, random, random:SEED or file:FILE: hilbert is for sides that are all the same power of two")
            })?;
            (Some(word.to_owned()), in_blocks(&|position| along[position as usize]))
        }
        ("file", file) if !file.is_empty() => {
            let node = read(file)
                .and_then(|content| order::from_file(&content, nodes as u32, ranks_each as u32))
                .map_err(|message| {
                    spec.error(arg.value_at(), arg.value().len(), &format!("{file}: {message}"))
                })?;
            (Some(word.to_owned()), node)
        }
        _ => return Err(bad(EXPECTED)),
    };
    Ok(Arc::new(Placed::new(base, ranks_each, place.unwrap_or_default(), node)))
}

/// The value of `place=` for a placement that is drawn from the seed of the repetition.
const RANDOM: &str = "random";

/// Returns a random node for each rank.
fn random(count: u64, ranks_each: u64, seed: u64) -> Vec<u32> {
    let slots = order::shuffled(count as u32, seed).into_iter();
    slots.map(|slot| (u64::from(slot) / ranks_each) as u32).collect()
}

impl Placed {
    fn new(base: Arc<dyn Topology>, ranks_each: u64, place: String, node: Vec<u32>) -> Self {
        // With one rank for each node, find the rank of each node.
        let (nodes, count) = (base.nodes(), node.len() as u64);
        let mut rank = vec![0; if ranks_each == 1 { nodes as usize } else { 0 }];
        if ranks_each == 1 {
            (0..).zip(&node).for_each(|(r, at)| rank[*at as usize] = r);
        }
        let argument = if place.is_empty() { String::new() } else { format!(",place={place}") };
        let properties = Properties {
            spec: base.spec() + &argument,
            bisection: base.bisection().map(|cut| Bisection { side: cut.side * ranks_each, ..cut }),
            distance_sum: base.distance_sum().map(|sum| sum * ranks_each),
            hops_of_all_pairs: base
                .hops_of_all_pairs()
                .map(|hops| hops * u128::from(ranks_each).pow(2)),
            max_links: Some(base.max_links()),
            ..base.properties().clone()
        };
        let properties = match ranks_each {
            1 => properties,
            _ => Properties {
                spec: format!("{},ranks={ranks_each}{argument}", base.spec()),
                // A network whose nodes have several ranks has a kind of its own, so that, for
                // example, algorithms for tori do not accept it.
                kind: "ranks",
                nodes: count,
                switches: base.switches() + nodes,
                radices: if place == "cyclic" {
                    vec![ranks_each, nodes]
                } else {
                    vec![nodes, ranks_each]
                },
                ..properties
            },
        };
        Self { properties, base, ranks_each, place, node, rank }
    }

    fn node(&self, rank: u64) -> u64 {
        self.node[rank as usize].into()
    }

    /// Returns whether nodes have several ranks.
    fn shares_nodes(&self) -> bool {
        self.ranks_each > 1
    }

    /// Returns the vertex number of a node or switch of the network. Ranks have the lowest numbers.
    /// If nodes have several ranks, the nodes follow the ranks, and the switches follow the nodes.
    fn vertex(&self, vertex: u64) -> u64 {
        let behind = if self.shares_nodes() { self.nodes() } else { 0 };
        self.rank.get(vertex as usize).map_or(behind + vertex, |rank| u64::from(*rank))
    }
}

impl Topology for Placed {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn original(&self) -> Option<&dyn Topology> {
        Some(self.base.as_ref())
    }

    fn node_network(&self) -> Option<&dyn Topology> {
        self.shares_nodes().then_some(self.base.as_ref())
    }

    fn placed_on(&self) -> Option<&dyn Topology> {
        Some(self.base.as_ref())
    }

    fn host(&self, rank: u64) -> u64 {
        if self.shares_nodes() { self.node(rank) } else { rank }
    }

    fn base(&self) -> Option<(&dyn Topology, u64)> {
        if self.shares_nodes() { None } else { self.base.base() }
    }

    fn sample(&self, seed: u64) -> Option<Arc<dyn Topology>> {
        let (is_drawn, base) = (self.place == RANDOM, self.base.sample(seed));
        if !is_drawn && base.is_none() {
            return None;
        }
        let base = base.unwrap_or_else(|| Arc::clone(&self.base));
        let count = self.node.len() as u64;
        let node = if is_drawn { random(count, self.ranks_each, seed) } else { self.node.clone() };
        Some(Arc::new(Self::new(base, self.ranks_each, self.place.clone(), node)))
    }

    fn damage_is_invariant(&self, image: &dyn Fn(u64) -> u64) -> bool {
        // If ranks share nodes, a permutation of ranks does not determine the images of nodes, so
        // the damage counts as not invariant.
        let moved = |node: u64| self.node(image(self.rank[node as usize].into()));
        self.damage().is_none() || !self.shares_nodes() && self.base.damage_is_invariant(&moved)
    }

    fn eccentricity(&self, rank: u64) -> u64 {
        self.base.eccentricity(self.node(rank))
    }

    fn links_from(&self, rank: u64) -> Option<u64> {
        self.base.links_from(self.node(rank))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        self.base.own_route(self.node(from), self.node(to), visit)
    }

    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        // The entries of a path are ranks or other vertices. Replace each rank by its node. Signs
        // and order refer to the dimensions of the network, so they do not change.
        let behind = if self.shares_nodes() { self.nodes() } else { 0 };
        let vertex = |v: &u64| if *v < self.nodes() { self.node(*v) } else { *v - behind };
        let route = route.map(|route| match route.path.is_empty() {
            true => Cow::Borrowed(route),
            false => {
                Cow::Owned(Route { path: route.path.iter().map(vertex).collect(), ..route.clone() })
            }
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
