//! The placement of ranks on the nodes of a network: the options `ranks=` and `place=`. If
//! `place=random` has no seed, the placement is drawn from the seed of the repetition
//! ([`Network::sample`]).
//!
//! Rank r runs on node `node[r]`, and a node may have several ranks. Algorithms see a grid of
//! ranks. It is the grid of the network or, if nodes have several ranks, a grid of nodes and ranks.
//! Routes and links are those between nodes.

use super::{Bisection, Network, Options, Properties, ReadFile, Route, RouteError, SplitMix64};
use crate::spec::{Arg, SpecError};
use crate::text::excerpt;
use std::borrow::Cow;

const EXPECTED: &str = "block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE";

#[derive(Debug)]
pub(super) struct Placement {
    ranks_each: u64,
    place: String,
    node: Vec<u32>,
    rank: Vec<u32>,
    ranks_of_job: u64,
}

pub(super) fn parse(
    network: Network,
    options: &Options<'_>,
    read: ReadFile<'_>,
) -> Result<Network, SpecError> {
    /// The maximum number of ranks. The tables take eight bytes for each rank.
    const MAX: u64 = 1 << 24;
    let (spec, nodes) = (options.spec, network.nodes());
    let (ranks, place) = (options.get("ranks"), options.get("place"));
    let ranks_each = ranks.map_or(Ok(1), |arg| {
        let number = arg.value().parse().ok().filter(|number: &u64| *number >= 1);
        let expected = "the number of ranks of each node, a whole number from 1 on";
        number.ok_or_else(|| spec.bad_value(arg, expected))
    })?;
    let word = place.map_or("block", Arg::value);
    if let (Some(arg), Some(shape)) = (place, word.strip_prefix("fold:")) {
        return match ranks_each {
            1 => super::folded::parse(&network, spec, arg, shape).map(Network::of),
            _ => Err(spec.bad_value(arg, "one rank per node with fold:SHAPE")),
        };
    }
    let Some(arg) =
        place.or(ranks).filter(|_| ranks_each > 1 || !["block", "cyclic"].contains(&word))
    else {
        return Ok(network);
    };
    let Some(count) = ranks_each.checked_mul(nodes).filter(|count| *count <= MAX) else {
        let at = ranks.filter(|_| nodes <= MAX).unwrap_or(arg);
        let what = if ranks_each == 1 { "nodes" } else { "ranks" };
        let expected = format!("a network of at most {MAX} {what} to place ranks on");
        return Err(spec.bad_value(at, &expected));
    };
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
            let along = hilbert(network.radices()).ok_or_else(|| {
                bad("block, cyclic, random, random:SEED or file:FILE: hilbert is for sides that are all the same power of two")
            })?;
            (Some(word.to_owned()), in_blocks(&|position| along[position as usize]))
        }
        ("file", file) if !file.is_empty() => {
            let node = read(file)
                .and_then(|content| from_file(&content, nodes as u32, ranks_each as u32))
                .map_err(|message| {
                    spec.error(arg.value_at(), arg.value().len(), &format!("{file}: {message}"))
                })?;
            (Some(word.to_owned()), node)
        }
        _ => return Err(bad(EXPECTED)),
    };
    Ok(network.placed(Placement::new(ranks_each, place.unwrap_or_default(), node)))
}

const RANDOM: &str = "random";

fn random(count: u64, ranks_each: u64, seed: u64) -> Vec<u32> {
    let slots = shuffled(count as u32, seed).into_iter();
    slots.map(|slot| (u64::from(slot) / ranks_each) as u32).collect()
}

impl Placement {
    fn new(ranks_each: u64, place: String, node: Vec<u32>) -> Self {
        let mut rank = vec![0; if ranks_each == 1 { node.len() } else { 0 }];
        if ranks_each == 1 {
            (0..).zip(&node).for_each(|(r, at)| rank[*at as usize] = r);
        }
        Self { ranks_each, place, ranks_of_job: node.len() as u64, node, rank }
    }

    /// Returns a placement with `jobs` copies of each rank. All copies are on the node of the
    /// original rank.
    pub(super) fn for_jobs(placement: Option<&Self>, nodes: u64, jobs: u64) -> Self {
        let (ranks_each, of_job) = match placement {
            Some(placement) => (placement.ranks_each, placement.node.clone()),
            None => (1, (0..nodes as u32).collect()),
        };
        let ranks_of_job = of_job.len() as u64;
        let placed = Self::new(ranks_each * jobs, String::new(), of_job.repeat(jobs as usize));
        Self { ranks_of_job, ..placed }
    }

    pub(super) fn in_job(&self, rank: u64) -> u64 {
        rank % self.ranks_of_job
    }

    pub(super) fn sample(&self, seed: u64) -> Option<Self> {
        let node = || random(self.count(), self.ranks_each, seed);
        (self.place == RANDOM).then(|| Self::new(self.ranks_each, self.place.clone(), node()))
    }

    pub(super) fn properties(&self, base: &Properties) -> Properties {
        let each = self.ranks_each;
        let place = Some(&self.place).filter(|place| !place.is_empty());
        let place = place.map_or(String::new(), |place| format!(",place={place}"));
        let properties = Properties {
            spec: format!("{}{place}", base.spec),
            bisection: base.bisection.map(|cut| Bisection { side: cut.side * each, ..cut }),
            distance_sum: base.distance_sum.map(|sum| sum * each),
            hops_of_all_pairs: base.hops_of_all_pairs().map(|hops| hops * u128::from(each).pow(2)),
            max_links: Some(base.max_links()),
            ..base.clone()
        };
        if each == 1 {
            return properties;
        }
        Properties {
            spec: format!("{},ranks={each}{place}", base.spec),
            // This network has another kind, so that algorithms for tori, for example, refuse it.
            kind: "ranks",
            nodes: self.count(),
            switches: base.switches + base.nodes,
            radices: if self.place == "cyclic" {
                vec![each, base.nodes]
            } else {
                vec![base.nodes, each]
            },
            ..properties
        }
    }

    fn count(&self) -> u64 {
        self.node.len() as u64
    }

    pub(super) fn shares_nodes(&self) -> bool {
        self.ranks_each > 1
    }

    pub(super) fn node(&self, rank: u64) -> u64 {
        self.node[rank as usize].into()
    }

    /// Converts the number of a node or switch of the family to its number in this network, which
    /// numbers ranks first, then shared nodes, then switches.
    pub(super) fn vertex(&self, vertex: u64) -> u64 {
        self.rank.get(vertex as usize).map_or(self.behind() + vertex, |rank| u64::from(*rank))
    }

    fn behind(&self) -> u64 {
        if self.shares_nodes() { self.count() } else { 0 }
    }

    pub(super) fn on_nodes<'a>(&self, route: &'a Route) -> Cow<'a, Route> {
        if route.path.is_empty() {
            return Cow::Borrowed(route);
        }
        let own = |v: &u64| if *v < self.count() { self.node(*v) } else { *v - self.behind() };
        Cow::Owned(Route { path: route.path.iter().map(own).collect(), ..route.clone() })
    }

    pub(super) fn renamed(&self, error: RouteError, spec: &str) -> RouteError {
        let topology = spec.to_owned();
        match error {
            RouteError::NoDimensions { .. } => RouteError::NoDimensions { topology },
            RouteError::Malformed { expected, got, .. } => {
                RouteError::Malformed { topology, expected, got }
            }
            RouteError::NoLink { from, to, .. } => {
                RouteError::NoLink { topology, from: self.vertex(from), to: self.vertex(to) }
            }
        }
    }
}

fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut draw = SplitMix64::new(seed);
    let mut numbers: Vec<u32> = (0..n).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, draw.below(last + 1));
    }
    numbers
}

/// If all sides are the same power of two, returns the nodes in the order of Hilbert's curve, on
/// which successive nodes are neighbours (J. Skilling, *Programming the Hilbert curve*, 2004).
fn hilbert(sides: &[u64]) -> Option<Vec<u32>> {
    let side = *sides.first()?;
    if !side.is_power_of_two() || sides.iter().any(|other| *other != side) {
        return None;
    }
    let (bits, dims) = (side.trailing_zeros(), sides.len());
    let nodes: u64 = sides.iter().product();
    let at = |rank: u64| {
        // Distribute the bits of the position among the coordinates in turn, the highest bit first.
        let mut x = vec![0_u64; dims];
        for bit in 0..bits as usize * dims {
            x[dims - 1 - bit % dims] |= ((rank >> bit) & 1) << (bit / dims);
        }
        // Decode the Gray code. Then undo the exchanges and inversions of each level.
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

/// Parses the node of each rank. Each node must occur `each` times. Text after a `#` is ignored.
fn from_file(content: &str, nodes: u32, each: u32) -> Result<Vec<u32>, String> {
    let mut seen = vec![0_u32; nodes as usize];
    let mut found = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        for word in
            line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
        {
            let node = word.parse::<u32>().ok().filter(|node| *node < nodes);
            let node = node.ok_or_else(|| {
                format!(
                    "line {number}: `{}` is not a node, expected a number from 0 to {}",
                    excerpt(word),
                    nodes - 1
                )
            })?;
            let here = &mut seen[node as usize];
            *here += 1;
            match each {
                1 if *here > 1 => {
                    return Err(format!(
                        "line {number}: node {node} is listed twice, expected one rank per node"
                    ));
                }
                _ if *here > each => {
                    return Err(format!(
                        "line {number}: node {node} is listed {here} times, expected {each} ranks per node"
                    ));
                }
                _ => {}
            }
            found.push(node);
        }
    }
    let (count, ranks) = (found.len(), u64::from(nodes) * u64::from(each));
    if count as u64 == ranks {
        Ok(found)
    } else {
        Err(format!("{count} nodes, expected one for each of {ranks} ranks"))
    }
}
