//! Networks with failed and slow links. The arguments are `down=`, `slow=`, `faults=` and
//! `slow-links=`, which follow the arguments of any topology.
//!
//! A route of the network's family is unchanged if none of its links has failed. Otherwise the
//! message takes a shortest path over the links that are left. If there are several shortest paths,
//! each vertex looks at its links that lead nearer to the receiver, and uses the link with the
//! lowest number. The same rule applies to requested routes, such as a direction in a dimension of
//! a torus.
//!
//! `faults=` and `slow-links=` state how many links are drawn at random. Without a seed of their
//! own, these links are drawn from the seed of the repetition ([`Network::sample`]).

use super::adjacency::{Adjacency, Link};
use super::properties::{common, extremes};
use super::routing_table::RoutingTable;
use super::{Network, Options, Plane, Properties, Run};
use crate::spec::SpecError;
use request::Request;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod draw;
mod request;
mod single;

pub use single::{SingleFault, single_faults};

/// A directed link, as the vertex that it leaves and the vertex that it enters. It stands for all
/// parallel links between these vertices.
type Ends = (u64, u64);

/// The failed and slow links of a network.
#[derive(Debug)]
pub struct Damage {
    request: Arc<Request>,
    /// All links of the intact network.
    intact: Arc<Adjacency>,
    links: DamagedLinks,
    /// The properties of the network with these links.
    pub(super) properties: Properties,
    /// The routes around failed links; `None` if no link has failed.
    pub(super) detours: Option<Detours>,
}

/// The links that have failed or are slow.
#[derive(Debug)]
struct DamagedLinks {
    down: BTreeSet<Ends>,
    /// The slow links, each with the fraction of its bandwidth that is left.
    slow: BTreeMap<Ends, f64>,
    /// The links that were drawn at random, as arguments of a spec.
    drawn: String,
}

/// The routes of a network in which links have failed.
#[derive(Debug)]
pub(super) struct Detours {
    /// The numbers of the failed links, in ascending order.
    failed: Vec<u64>,
    /// The shortest routes over the links that are left.
    table: RoutingTable,
    /// For each node, the distance to the farthest node.
    farthest: Vec<u64>,
    /// Whether every failed link has failed in both directions. Otherwise, some of the links that
    /// are left have no opposite link.
    is_two_way: bool,
}

/// Removes the failed links from a network, and slows down the slow links.
pub(super) fn parse(network: Network, options: &Options<'_>) -> Result<Network, SpecError> {
    /// The maximum number of links, because all links are listed.
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

/// Returns an error message that names a node which the links do not connect with the other nodes
/// in both directions; `None` if there is no such node. If the links divide the network, the named
/// node is in the smaller part.
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
    /// Draws the links that have no seed of their own from `seed`, and finds the routes and
    /// properties of the network that is left. `base` are the properties of the intact network.
    fn new(base: &Properties, intact: Arc<Adjacency>, request: Arc<Request>, seed: u64) -> Self {
        // Choose the failed and slow links, and list the links that are left.
        let links = request.draw(&intact, base.nodes, seed);
        let is_down = |link: &Link| links.down.contains(&(link.from, link.to));
        let mut failed: Vec<u64> = intact.each().filter(is_down).map(|link| link.number).collect();
        failed.sort_unstable();
        let network = intact.changed(|link| {
            let bandwidth = link.bandwidth * links.fraction((link.from, link.to));
            (!is_down(&link)).then_some(Link { bandwidth, ..link })
        });
        // Calculate the properties of the network that is left.
        let mut properties = Properties {
            spec: format!("{}{request}", base.spec),
            max_links: Some(network.link_count() as u64),
            bandwidths: extremes(network.each().map(|link| link.bandwidth)),
            // The family's cut is not used, because its links may have failed. Lower bounds then
            // search for cuts.
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

    /// Returns the damage with its random links drawn from a seed; `None` if it has none.
    pub(super) fn sample(&self, base: &Properties, seed: u64) -> Option<Self> {
        let (intact, request) = (Arc::clone(&self.intact), Arc::clone(&self.request));
        self.request.is_random().then(|| Self::new(base, intact, request, seed))
    }

    /// Returns the links that were drawn at random, in the form of arguments that name them, such
    /// as `down=3-4+7-8`. The text is empty if no link was drawn.
    pub fn drawn(&self) -> &str {
        &self.links.drawn
    }

    /// Returns the part of the bandwidth that is left on a link.
    pub(super) fn fraction(&self, ends: Ends) -> f64 {
        self.links.fraction(ends)
    }

    /// Returns whether a permutation of the nodes maps failed links to failed links, and slow links
    /// to links of the same speed.
    pub(super) fn is_invariant(&self, image: impl Fn(u64) -> u64) -> bool {
        let DamagedLinks { down, slow, .. } = &self.links;
        // A permutation of nodes does not determine the images of switches, so every failed or slow
        // link must be between nodes.
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
    /// Returns whether a link has failed.
    pub(super) fn has_failed(&self, link: u64) -> bool {
        self.failed.binary_search(&link).is_ok()
    }

    /// Returns whether a link of a run has failed.
    pub(super) fn is_broken(&self, run: Run) -> bool {
        let last = run.first + (run.len - 1) * run.stride;
        let from = self.failed.partition_point(|link| *link < run.first);
        let mut within = self.failed[from..].iter().take_while(|link| **link <= last);
        within.any(|link| (link - run.first).is_multiple_of(run.stride))
    }

    /// Calls `visit` with the links of a shortest path over the links that are left, and returns
    /// the number of its hops.
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

    /// Returns the distance to the farthest node. In a network with one-way links, this is the
    /// smaller of two values: the largest distance from the node, and the largest distance to it.
    /// Lower bounds use this value for both directions.
    pub(super) fn eccentricity(&self, node: u64) -> u64 {
        self.farthest[node as usize].min(self.table.distances(node).0)
    }

    /// Returns the number of links out of a node. Returns `None` in a network with one-way links,
    /// because a node may then have different numbers of links in and out.
    pub(super) fn links_from(&self, node: u64) -> Option<u64> {
        self.is_two_way.then(|| self.table.network().out(node as usize).len() as u64)
    }
}
