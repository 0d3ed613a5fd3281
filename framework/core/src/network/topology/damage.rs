//! Networks with failed and slow links: the options `down=`, `slow=`, `faults=` and `slow-links=`.
//!
//! If the family's route has no failed links, it is used. Otherwise the message takes a shortest
//! path over the links that are left: of the links that lead nearer to the receiver, each vertex
//! uses the one with the lowest number. The same rule applies to requested routes, such as a
//! direction in a dimension of a torus.
//!
//! `faults=` and `slow-links=` are numbers of links that are drawn at random. The seed is part of
//! the option, or that of the repetition ([`Network::sample`]).

use super::adjacency::{Adjacency, Link, RoutingTable};
use super::random::SplitMix64;
use super::{
    Automorphisms, AxisSymmetry, Graph, Network, Options, Plane, Properties, Run, common, extremes,
};
use crate::spec::{Arg, Spec, SpecError};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The vertices that a directed link leaves and enters. If there are parallel links, the pair
/// stands for all of them.
type Ends = (u64, u64);

/// The failed and slow links of a network.
#[derive(Debug)]
pub struct Damage {
    request: Arc<Request>,
    intact: Arc<Adjacency>,
    links: DamagedLinks,
    pub(super) properties: Properties,
    pub(super) detours: Option<Detours>,
}

#[derive(Debug)]
struct DamagedLinks {
    down: BTreeSet<Ends>,
    slow: BTreeMap<Ends, f64>,
    drawn: String,
}

#[derive(Debug)]
pub(super) struct Detours {
    failed: Vec<u64>,
    table: RoutingTable,
    farthest: Vec<u64>,
    is_two_way: bool,
}

pub(super) fn parse(network: Network, options: &Options<'_>) -> Result<Network, SpecError> {
    const MAX_LINKS: u64 = 1 << 22;
    const MAX_VERTICES: u64 = RoutingTable::MAX_VERTICES;
    let given = ["down", "slow", "faults", "slow-links"].into_iter().find_map(|n| options.get(n));
    let Some(first) = given else { return Ok(network) };
    let vertices = network.nodes() + network.switches();
    let fits = vertices <= MAX_VERTICES && network.link_slots() <= MAX_LINKS;
    let Some(intact) = fits.then(|| Adjacency::of(&network)).flatten() else {
        let most = format!(
            "a network of at most {MAX_VERTICES} vertices and {MAX_LINKS} links to find routes around failed links"
        );
        return Err(options.spec.bad_value(first, &most));
    };
    let request = Request::parse(options, &network, &intact)?;
    if let Some(cut_off) = cut_off(&request.left(&intact), network.nodes()) {
        let arg = options.get("down").unwrap_or(first);
        let message = format!("down: {cut_off}");
        return Err(options.spec.error(arg.value_at(), arg.value().len(), &message));
    }
    let damage = Damage::new(&network.properties, Arc::new(intact), Arc::new(request), 0);
    Ok(network.damaged(damage))
}

/// If some node has no path to or from another node, returns an error message about such a node,
/// which is in the smaller part of the divided network.
fn cut_off(network: &Adjacency, nodes: u64) -> Option<String> {
    let (there, back) = (network.hops_from(0), network.reversed().hops_from(0));
    let is_lost = |node: &u64| [&there, &back].iter().any(|hops| hops[*node as usize] == u32::MAX);
    let mut lost = (0..nodes).filter(is_lost);
    let first = lost.next()?;
    let (node, peer) = if 2 * (1 + lost.count() as u64) > nodes { (0, first) } else { (first, 0) };
    let (from, to) = if there[first as usize] == u32::MAX { (0, first) } else { (first, 0) };
    Some(format!(
        "node {node} is cut off from node {peer}: no path is left from node {from} to node {to}"
    ))
}

impl Damage {
    /// Draws the random damaged links from `seed`, unless the options have their own seeds. `base`
    /// has the properties of the intact network.
    fn new(base: &Properties, intact: Arc<Adjacency>, request: Arc<Request>, seed: u64) -> Self {
        let links = request.draw(&intact, base.nodes, seed);
        let is_down = |link: &Link| links.down.contains(&(link.from, link.to));
        let mut failed: Vec<u64> = intact.each().filter(is_down).map(|link| link.number).collect();
        failed.sort_unstable();
        let network = intact.changed(|link| {
            let bandwidth = link.bandwidth * links.fraction((link.from, link.to));
            (!is_down(&link)).then_some(Link { bandwidth, ..link })
        });
        let mut properties = Properties {
            spec: format!("{}{request}", base.spec),
            max_links: Some(network.link_count() as u64),
            bandwidths: extremes(network.each().map(|link| link.bandwidth)),
            bisection: None,
            hops_of_all_pairs: base.hops_of_all_pairs(),
            ..base.clone()
        };
        let mut detours = None;
        if !failed.is_empty() {
            let nodes = 0..base.nodes;
            let is_two_way = links.down.iter().all(|(a, b)| links.down.contains(&(*b, *a)));
            let degree = common(nodes.clone().map(|node| network.range(node).len() as u64));
            let farthest_from = |from| {
                let hops = network.hops_from(from);
                hops[..base.nodes as usize].iter().copied().max().unwrap_or(0).into()
            };
            let farthest: Vec<u64> = nodes.clone().map(farthest_from).collect();
            let table = RoutingTable::find(network, base.nodes);
            let sums = nodes.map(|node| u128::from(table.distances(node).1));
            properties.degree = degree.filter(|_| is_two_way);
            properties.diameter = farthest.iter().copied().max().unwrap_or(0);
            properties.distance_sum = None;
            properties.hops_of_all_pairs = Some(sums.sum());
            detours = Some(Detours { failed, table, farthest, is_two_way });
        }
        Self { request, intact, links, properties, detours }
    }

    /// If random links have no seed of their own, returns the damage with these links drawn from
    /// `seed`.
    pub(super) fn sample(&self, base: &Properties, seed: u64) -> Option<Self> {
        let (intact, request) = (Arc::clone(&self.intact), Arc::clone(&self.request));
        self.request.is_random().then(|| Self::new(base, intact, request, seed))
    }

    /// Returns the links that were drawn at random, as arguments such as `down=3-4+7-8`.
    pub fn drawn(&self) -> &str {
        &self.links.drawn
    }

    pub(super) fn fraction(&self, ends: Ends) -> f64 {
        self.links.fraction(ends)
    }

    pub(super) fn is_invariant(&self, image: impl Fn(u64) -> u64) -> bool {
        let DamagedLinks { down, slow, .. } = &self.links;
        // Damage of links of switches is never invariant, because a permutation of the nodes does
        // not determine the images of switches.
        let is_node = |(from, to): &Ends| (*from).max(*to) < self.properties.nodes;
        let moved = |(from, to): &Ends| (image(*from), image(*to));
        down.iter().chain(slow.keys()).all(is_node)
            && down.iter().all(|ends| down.contains(&moved(ends)))
            && slow.iter().all(|(ends, fraction)| self.fraction(moved(ends)) == *fraction)
    }
}

impl DamagedLinks {
    fn fraction(&self, ends: Ends) -> f64 {
        self.slow.get(&ends).copied().unwrap_or(1.0)
    }
}

impl Detours {
    pub(super) fn has_failed(&self, link: u64) -> bool {
        self.failed.binary_search(&link).is_ok()
    }

    pub(super) fn is_broken(&self, run: Run) -> bool {
        let last = run.first + (run.len - 1) * run.stride;
        let from = self.failed.partition_point(|link| *link < run.first);
        let mut within = self.failed[from..].iter().take_while(|link| **link <= last);
        within.any(|link| (link - run.first).is_multiple_of(run.stride))
    }

    pub(super) fn follow(
        &self,
        (from, to): (u64, u64),
        planes: &[Plane],
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let (network, link) = (self.table.network(), self.table.next_link(at, to));
            visit(Run::in_planes(network.number(link), planes));
            (at, hops) = (network.end(link), hops + 1);
        }
        hops
    }

    /// Returns the largest distance from the node to another node, or the largest distance to the
    /// node if it is smaller. Lower bounds for sending and for receiving use this value.
    pub(super) fn eccentricity(&self, node: u64) -> u64 {
        self.farthest[node as usize].min(self.table.distances(node).0)
    }

    /// Returns the number of links out of a node, which lower bounds use for sending and for
    /// receiving. Returns `None` if there are one-way links, because then the numbers may differ.
    pub(super) fn links_from(&self, node: u64) -> Option<u64> {
        self.is_two_way.then(|| self.table.network().out(node as usize).len() as u64)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Draw {
    count: u64,
    seed: Option<u64>,
}

#[derive(Debug, Default)]
struct Request {
    down: BTreeSet<Ends>,
    slow: BTreeMap<Ends, f64>,
    faults: Option<Draw>,
    slow_links: Option<(Draw, f64)>,
}

const LINKS: &str = "links as in `3-4+7-8` (`3~4`: only the direction from 3 to 4)";
const SLOW: &str = "links and the fraction of the bandwidth that is left, as in `3-4:0.5+7-8:0.1`";

impl Request {
    fn parse(options: &Options<'_>, base: &Network, intact: &Adjacency) -> Result<Self, SpecError> {
        let (mut request, spec) = (Self::default(), options.spec);
        let listed = |name| {
            let arg = options.get(name).into_iter();
            arg.flat_map(|arg| items(arg).map(move |item| (item, arg)))
        };
        for (item, arg) in listed("down") {
            request.down.extend(ends(spec, arg, item, LINKS, base, intact)?);
        }
        for (item, arg) in listed("slow") {
            let (at, text) = item;
            let bad = || spec.bad_value(arg, SLOW);
            let (link, fraction) = text.split_once(':').ok_or_else(bad)?;
            let fraction = parse_fraction(fraction).ok_or_else(bad)?;
            for link in ends(spec, arg, (at, link), SLOW, base, intact)? {
                if request.down.contains(&link) {
                    let message = format!("slow: the link {text} is also listed in `down=`");
                    return Err(spec.error(at, text.len(), &message));
                }
                request.slow.insert(link, fraction);
            }
        }
        // Links may fail at random only as long as a spanning forest of the two-way links is left.
        let pairs = two_way_links(&request.left(intact));
        let spare = pairs.len() - spanning_links(&pairs, intact.vertices());
        if let Some(arg) = options.get("faults") {
            let bad = || {
                spec.bad_value(
                    arg,
                    &format!("K or K:SEED, where at most {spare} of the {} links fail so that all vertices stay connected", pairs.len()),
                )
            };
            let draw = Draw::parse(arg.value()).filter(|draw| draw.count <= spare as u64);
            request.faults = Some(draw.ok_or_else(bad)?);
        }
        if let Some(arg) = options.get("slow-links") {
            let is_slow = |(a, b): &&Ends| {
                request.slow.contains_key(&(*a, *b)) || request.slow.contains_key(&(*b, *a))
            };
            let slow = pairs.iter().filter(is_slow).count() as u64;
            let failed = request.faults.map_or(0, |draw| draw.count);
            let most = (pairs.len() as u64).saturating_sub(slow + failed);
            let bad = || {
                spec.bad_value(
                    arg,
                    &format!("K:FRACTION or K:FRACTION:SEED with at most {most} links and a fraction above 0 and up to 1, as in `2:0.5`"),
                )
            };
            let (count, rest) = arg.value().split_once(':').ok_or_else(bad)?;
            let (fraction, seed) = rest.split_once(':').map_or((rest, None), |(f, s)| (f, Some(s)));
            let draw = seed.map_or_else(|| count.to_owned(), |seed| format!("{count}:{seed}"));
            let draw = Draw::parse(&draw).filter(|draw| draw.count <= most).ok_or_else(bad)?;
            request.slow_links = Some((draw, parse_fraction(fraction).ok_or_else(bad)?));
        }
        Ok(request)
    }

    fn left(&self, intact: &Adjacency) -> Adjacency {
        intact.changed(|link| (!self.down.contains(&(link.from, link.to))).then_some(link))
    }

    fn is_random(&self) -> bool {
        let draws = self.faults.into_iter().chain(self.slow_links.map(|(draw, _)| draw));
        draws.into_iter().any(|draw| draw.seed.is_none())
    }

    fn draw(&self, intact: &Adjacency, nodes: u64, seed: u64) -> DamagedLinks {
        let both = |(a, b): Ends| [(a, b), (b, a)];
        let mut failed = BTreeSet::new();
        if let Some(Draw { count, seed: own }) = self.faults {
            let drawn = draw_failures(&self.left(intact), nodes, count, own.unwrap_or(seed));
            failed.extend(drawn.into_iter().flat_map(both));
        }
        let mut slowed = BTreeMap::new();
        if let Some((Draw { count, seed: own }, fraction)) = self.slow_links {
            let is_taken = |ends: Ends| failed.contains(&ends) || self.slow.contains_key(&ends);
            let mut pairs = two_way_links(&self.left(intact));
            pairs.retain(|pair| both(*pair).into_iter().all(|ends| !is_taken(ends)));
            let drawn = draw_slow(pairs, count, own.unwrap_or(seed));
            slowed.extend(drawn.into_iter().flat_map(both).map(|ends| (ends, fraction)));
        }
        let drawn = Listed(&failed, &slowed).to_string();
        DamagedLinks {
            down: &self.down | &failed,
            slow: self.slow.iter().chain(&slowed).map(|(ends, f)| (*ends, *f)).collect(),
            drawn: drawn.trim_start_matches(',').to_owned(),
        }
    }
}

impl Draw {
    fn parse(text: &str) -> Option<Self> {
        let (count, seed) = text.split_once(':').map_or((text, None), |(k, s)| (k, Some(s)));
        Some(Self { count: count.parse().ok()?, seed: seed.map(str::parse).transpose().ok()? })
    }
}

fn parse_fraction(text: &str) -> Option<f64> {
    const LEAST: f64 = 1.0 / Graph::MAX_BANDWIDTH;
    text.parse().ok().filter(|fraction| (LEAST..=1.0).contains(fraction))
}

fn items(arg: &Arg) -> impl Iterator<Item = (usize, &str)> {
    let start = arg.value().as_ptr() as usize;
    arg.value()
        .split('+')
        .map(move |item| (arg.value_at() + (item.as_ptr() as usize - start), item))
}

/// Reads a link: `3-4` means both directions, and `3~4` only the direction from 3 to 4.
fn ends(
    spec: &Spec,
    arg: &Arg,
    (at, item): (usize, &str),
    expected: &str,
    base: &Network,
    intact: &Adjacency,
) -> Result<Vec<Ends>, SpecError> {
    let bad = || spec.bad_value(arg, expected);
    let (sign, both) = if item.contains('~') { ('~', false) } else { ('-', true) };
    let (from, to) = item.split_once(sign).ok_or_else(bad)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
    let (from, to) = (number(from)?, number(to)?);
    let directions = if both { vec![(from, to), (to, from)] } else { vec![(from, to)] };
    let exists = |(from, to): &Ends| {
        *from < intact.vertices() as u64 && intact.out(*from as usize).contains(&(*to as u32))
    };
    if to <= u64::from(u32::MAX) && directions.iter().all(exists) {
        return Ok(directions);
    }
    let (key, network) = (arg.key().unwrap_or_default(), base.spec());
    let message = format!(
        "{key}: {network} has no link from {from} to {to}; `swapmeet list topologies --describe {network}` lists the links"
    );
    Err(spec.error(at, item.len(), &message))
}

/// Failed links, and slow links with their bandwidths, printed as arguments of a spec.
struct Listed<'a>(&'a BTreeSet<Ends>, &'a BTreeMap<Ends, f64>);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(down, slow) = self;
        let name = |(a, b): Ends, opposite: bool| match opposite {
            true if a < b => Some(format!("{a}-{b}")),
            true => None,
            false => Some(format!("{a}~{b}")),
        };
        let down = down.iter().filter_map(|&(a, b)| name((a, b), down.contains(&(b, a))));
        let slow = slow.iter().filter_map(|(&(a, b), fraction)| {
            let link = name((a, b), slow.get(&(b, a)) == Some(fraction))?;
            Some(format!("{link}:{fraction}"))
        });
        let mut argument = |key: &str, links: Vec<String>| match links.is_empty() {
            true => Ok(()),
            false => write!(f, ",{key}={}", links.join("+")),
        };
        argument("down", down.collect())?;
        argument("slow", slow.collect())
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = |draw: &Draw| draw.seed.map_or(String::new(), |seed| format!(":{seed}"));
        Listed(&self.down, &self.slow).fmt(f)?;
        if let Some(draw) = &self.faults {
            write!(f, ",faults={}{}", draw.count, seed(draw))?;
        }
        match &self.slow_links {
            Some((draw, fraction)) => {
                write!(f, ",slow-links={}:{fraction}{}", draw.count, seed(draw))
            }
            None => Ok(()),
        }
    }
}

fn two_way_links(network: &Adjacency) -> Vec<Ends> {
    let links: BTreeSet<Ends> = network.each().map(|link| (link.from, link.to)).collect();
    links.iter().copied().filter(|(a, b)| a < b && links.contains(&(*b, *a))).collect()
}

fn spanning_links(pairs: &[Ends], vertices: usize) -> usize {
    let mut root: Vec<usize> = (0..vertices).collect();
    let find = |root: &mut Vec<usize>, mut v: usize| {
        while root[v] != v {
            root[v] = root[root[v]];
            v = root[v];
        }
        v
    };
    let joins = |(a, b): &&Ends| {
        let (a, b) = (find(&mut root, *a as usize), find(&mut root, *b as usize));
        root[a] = b;
        a != b
    };
    pairs.iter().filter(joins).count()
}

/// Draws `count` links that fail and leave all nodes connected. If the seed is the same, the links
/// that fail for a count also fail for every larger count.
fn draw_failures(network: &Adjacency, nodes: u64, count: u64, seed: u64) -> Vec<Ends> {
    let mut down = BTreeSet::new();
    let drawn = shuffled(two_way_links(network), seed).filter(|&(a, b)| {
        down.extend([(a, b), (b, a)]);
        let is_connected = stays_connected(network, &down, nodes, (a, b));
        if !is_connected {
            down.remove(&(a, b));
            down.remove(&(b, a));
        }
        is_connected
    });
    drawn.take(count as usize).collect()
}

fn draw_slow(pairs: Vec<Ends>, count: u64, seed: u64) -> Vec<Ends> {
    /// Makes the draws of slow links independent of the draws of failed links with the same seed.
    const STREAM: u64 = 0x5107_1146_0000_0001;
    shuffled(pairs, seed ^ STREAM).take(count as usize).collect()
}

fn shuffled(mut pairs: Vec<Ends>, seed: u64) -> impl Iterator<Item = Ends> {
    let mut draw = SplitMix64::new(seed);
    (0..pairs.len()).map(move |first| {
        let other = first + draw.below(pairs.len() - first);
        pairs.swap(first, other);
        pairs[first]
    })
}

fn stays_connected(network: &Adjacency, down: &BTreeSet<Ends>, nodes: u64, (a, b): Ends) -> bool {
    connects(network, down, a, b) && connects(network, down, b, a)
        || all_connected(network, down, nodes)
}

/// Returns whether a path without failed links leads from `from` to `to`. It is usually short.
fn connects(network: &Adjacency, down: &BTreeSet<Ends>, from: u64, to: u64) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for next in network.out(at as usize).iter().map(|end| u64::from(*end)) {
            if down.contains(&(at, next)) || !seen.insert(next) {
                continue;
            }
            if next == to {
                return true;
            }
            queue.push_back(next);
        }
    }
    false
}

fn all_connected(network: &Adjacency, down: &BTreeSet<Ends>, nodes: u64) -> bool {
    let left = network.changed(|link| (!down.contains(&(link.from, link.to))).then_some(link));
    let reached = |network: &Adjacency| {
        network.hops_from(0)[..nodes as usize].iter().all(|hops| *hops != u32::MAX)
    };
    reached(&left) && reached(&left.reversed())
}

/// The failure of one link of a network, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SingleFault {
    /// The vertices that the link connects. The one with the lower number comes first.
    pub ends: (u64, u64),
    /// Whether the failure leaves a node without a path to another node.
    pub disconnects: bool,
    /// The number of links that this failure represents: the size of the link's orbit if there is
    /// one failure per orbit, otherwise 1.
    pub images: u64,
}

/// Returns the failures of all links that exist in both directions, in ascending order. If
/// `one_per_orbit`, returns only one failure for all links that symmetries of the network (such as
/// rotations of a torus) map to each other. Returns `None` if the network has too many links to
/// list them.
///
/// ```
/// use swapmeet_core::network::topology::{parse, single_faults};
/// let torus = parse("torus:4x8").unwrap();
/// assert_eq!(single_faults(&torus, false).unwrap().len(), 64);
/// let orbits = single_faults(&torus, true).unwrap();
/// assert_eq!(orbits.iter().map(|fault| fault.ends).collect::<Vec<_>>(), [(0, 1), (0, 8)]);
/// ```
pub fn single_faults(topology: &Network, one_per_orbit: bool) -> Option<Vec<SingleFault>> {
    let placed_on = topology.placed_on();
    let network = placed_on.as_ref().unwrap_or(topology);
    let links = Adjacency::of(network)?;
    let pairs = two_way_links(&links);
    // If all translations of the nodes are automorphisms, the differences between the coordinates
    // of a link's ends identify its orbit. On axes whose coordinates may be permuted, all
    // differences except 0 are equivalent.
    let axes = network.translations().and(network.automorphisms()).map(Automorphisms::axes);
    let difference = |axes: &[AxisSymmetry], mut from: u64, mut to: u64| {
        let (mut difference, mut stride) = (0, 1);
        for (symmetry, radix) in axes.iter().zip(network.radices()).rev() {
            let by = (to % radix + radix - from % radix) % radix;
            let most = if *symmetry == AxisSymmetry::Permutations { 1 } else { radix - 1 };
            difference += by.min(most) * stride;
            (from, to, stride) = (from / radix, to / radix, stride * radix);
        }
        difference
    };
    let orbit = |(a, b): (u64, u64)| {
        axes.as_ref().map(|axes| difference(axes, a, b).min(difference(axes, b, a)))
    };
    let mut images: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    pairs.iter().for_each(|pair| *images.entry(orbit(*pair)).or_default() += 1);
    let mut seen = BTreeSet::new();
    let is_first = |pair: &&(u64, u64)| {
        let orbit = orbit(**pair);
        !one_per_orbit || orbit.is_none() || seen.insert(orbit)
    };
    let fault = |&(a, b): &(u64, u64)| {
        let down = BTreeSet::from([(a, b), (b, a)]);
        let orbit = orbit((a, b));
        SingleFault {
            ends: (a, b),
            disconnects: !stays_connected(&links, &down, network.nodes(), (a, b)),
            images: if one_per_orbit && orbit.is_some() { images[&orbit] } else { 1 },
        }
    };
    Some(pairs.iter().filter(is_first).map(fault).collect())
}
