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
//! own, these links are drawn from the seed of the repetition ([`Topology::sample`]).

use super::adjacency::{Adjacency, Link};
use super::properties::{common, extremes};
use super::routing_table::RoutingTable;
use super::{Properties, Route, RouteError, Run, Topology};
use crate::spec::{Spec, SpecError};
use request::Request;
use std::collections::BTreeSet;
use std::sync::Arc;

mod draw;
mod request;
mod single;

pub(super) use request::DamageArgs;
pub use single::{SingleFault, single_faults};

/// A directed link, as the vertex that it leaves and the vertex that it enters. It stands for all
/// parallel links between these vertices.
type Ends = (u64, u64);

/// The failed and slow links of a network.
#[derive(Debug, Clone, Default)]
pub struct Damage {
    /// The failed links.
    down: BTreeSet<Ends>,
    /// The slow links, each with the fraction of its bandwidth that is left. They are sorted.
    slow: Vec<(Ends, f64)>,
    /// The links that were drawn at random, as arguments of a spec.
    drawn: String,
}

impl Damage {
    /// Returns the links that were drawn at random, in the form of arguments that name them, such
    /// as `down=3-4+7-8`. The text is empty if no link was drawn.
    pub fn drawn(&self) -> &str {
        &self.drawn
    }

    /// Returns the damage with sorted slow links.
    fn sorted(mut self) -> Self {
        self.slow.sort_by_key(|(ends, _)| *ends);
        self
    }

    /// Returns the part of the bandwidth that is left on a link.
    fn fraction(&self, ends: Ends) -> f64 {
        let slow = self.slow.binary_search_by_key(&ends, |(ends, _)| *ends);
        slow.map_or(1.0, |index| self.slow[index].1)
    }

    /// Returns whether a permutation of the vertices maps failed links to failed links, and slow
    /// links to links of the same speed.
    fn is_invariant(&self, image: impl Fn(u64) -> u64) -> bool {
        let moved = |(from, to): Ends| (image(from), image(to));
        self.down.iter().all(|ends| self.down.contains(&moved(*ends)))
            && self.slow.iter().all(|(ends, fraction)| self.fraction(moved(*ends)) == *fraction)
    }
}

/// A network with failed and slow links.
#[derive(Debug)]
struct Degraded {
    properties: Properties,
    base: Arc<dyn Topology>,
    /// All links of the intact network.
    intact: Arc<Adjacency>,
    request: Arc<Request>,
    damage: Damage,
    /// The numbers of the failed links, in ascending order.
    failed: Vec<u64>,
    /// The shortest routes over the links that are left; `None` if no link has failed.
    table: Option<RoutingTable>,
    /// For each node, the distance to the farthest node; empty if no link has failed.
    farthest: Vec<u64>,
    /// Whether every failed link has failed in both directions. Otherwise, some of the links that
    /// are left have no opposite link.
    is_two_way: bool,
}

/// Removes the failed links from a network, and slows down the slow links.
pub(super) fn parse(
    base: Arc<dyn Topology>,
    spec: &Spec,
    args: DamageArgs<'_>,
) -> Result<Arc<dyn Topology>, SpecError> {
    /// The maximum number of links, because all links are listed.
    const MAX_LINKS: u64 = 1 << 22;
    const MAX_VERTICES: u64 = RoutingTable::MAX_VERTICES;
    let Some(first) = args.first() else { return Ok(base) };
    let fits = base.nodes() + base.switches() <= MAX_VERTICES && base.link_slots() <= MAX_LINKS;
    let Some(intact) = fits.then(|| Adjacency::of(base.as_ref())).flatten() else {
        let most = format!(
            "a network of at most {MAX_VERTICES} vertices and {MAX_LINKS} links to find routes around failed links"
        );
        return Err(spec.bad_value(first, &most));
    };
    let request = Request::parse(spec, &args, base.as_ref(), &intact)?;
    if let Some(cut_off) = cut_off(&request.left(&intact), base.nodes()) {
        let arg = args.down.unwrap_or(first);
        return Err(spec.error(arg.value_at(), arg.value().len(), &format!("down: {cut_off}")));
    }
    Ok(Arc::new(Degraded::new(base, Arc::new(intact), Arc::new(request), 0)))
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

impl Degraded {
    /// Creates the network. Links without a seed of their own are drawn from `seed`.
    fn new(
        base: Arc<dyn Topology>,
        intact: Arc<Adjacency>,
        request: Arc<Request>,
        seed: u64,
    ) -> Self {
        // Choose the failed and slow links, and list the links that are left.
        let damage = request.draw(&intact, base.nodes(), seed);
        let is_down = |link: &Link| damage.down.contains(&(link.from, link.to));
        let mut failed: Vec<u64> = intact.each().filter(is_down).map(|link| link.number).collect();
        failed.sort_unstable();
        let network = intact.changed(|link| {
            let bandwidth = link.bandwidth * damage.fraction((link.from, link.to));
            (!is_down(&link)).then_some(Link { bandwidth, ..link })
        });
        // Calculate the properties of the network that is left.
        let nodes = base.nodes();
        let is_two_way = damage.down.iter().all(|(a, b)| damage.down.contains(&(*b, *a)));
        let properties = Properties {
            spec: base.spec() + &request.to_string(),
            max_links: Some(network.link_count() as u64),
            bandwidths: extremes(network.each().map(|link| link.bandwidth)),
            // The family's cut is not used, because its links may have failed. Lower bounds then
            // search for cuts.
            bisection: None,
            hops_of_all_pairs: base.hops_of_all_pairs(),
            ..base.properties().clone()
        };
        let mut net = Self {
            properties,
            base,
            intact,
            request,
            damage,
            failed,
            table: None,
            farthest: Vec::new(),
            is_two_way,
        };
        if !net.failed.is_empty() {
            let degree = common((0..nodes).map(|node| network.range(node).len() as u64));
            let hops = |from| network.hops_from(from)[..nodes as usize].to_vec();
            net.farthest =
                (0..nodes).map(|from| hops(from).into_iter().max().unwrap_or(0).into()).collect();
            let table = RoutingTable::find(network, nodes);
            let sums = (0..nodes).map(|node| u128::from(table.distances(node).1));
            let properties = &mut net.properties;
            properties.degree = degree.filter(|_| is_two_way);
            properties.diameter = net.farthest.iter().copied().max().unwrap_or(0);
            properties.distance_sum = None;
            properties.hops_of_all_pairs = Some(sums.sum());
            net.table = Some(table);
        }
        net
    }

    /// Returns whether a link has failed.
    fn has_failed(&self, link: u64) -> bool {
        self.failed.binary_search(&link).is_ok()
    }

    /// Returns whether a link of a run has failed.
    fn is_broken(&self, run: Run) -> bool {
        let last = run.first + (run.len - 1) * run.stride;
        let from = self.failed.partition_point(|link| *link < run.first);
        let mut within = self.failed[from..].iter().take_while(|link| **link <= last);
        within.any(|link| (link - run.first).is_multiple_of(run.stride))
    }

    /// Calls `visit` with the links of a shortest path over the links that are left, and returns
    /// the number of its hops.
    fn detour(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (mut at, mut hops) = (from, 0);
        // If no link has failed, no route needs a detour.
        let table = self.table.as_ref().expect("a link has failed");
        while at != to {
            let (network, link) = (table.network(), table.next_link(at, to));
            visit(Run::in_planes(network.number(link), self.planes()));
            (at, hops) = (network.end(link), hops + 1);
        }
        hops
    }
}

impl Topology for Degraded {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn original(&self) -> Option<&dyn Topology> {
        Some(self.base.as_ref())
    }

    fn sample(&self, seed: u64) -> Option<Arc<dyn Topology>> {
        let (base, intact) = (Arc::clone(&self.base), Arc::clone(&self.intact));
        self.request.is_random().then(|| {
            Arc::new(Self::new(base, intact, Arc::clone(&self.request), seed)) as Arc<dyn Topology>
        })
    }

    fn damage(&self) -> Option<&Damage> {
        Some(&self.damage)
    }

    fn damage_is_invariant(&self, image: &dyn Fn(u64) -> u64) -> bool {
        // A permutation of nodes does not determine the images of switches, so every failed or slow
        // link must be between nodes.
        let is_node = |(from, to): &Ends| *from < self.nodes() && *to < self.nodes();
        let slow = self.damage.slow.iter().map(|(ends, _)| ends);
        self.damage.down.iter().chain(slow).all(is_node) && self.damage.is_invariant(image)
    }

    /// In a network with one-way links, this is the smaller of two values: the largest distance
    /// from the node, and the largest distance to it. Lower bounds use this value for both
    /// directions.
    fn eccentricity(&self, node: u64) -> u64 {
        match &self.table {
            Some(table) => self.farthest[node as usize].min(table.distances(node).0),
            None => self.base.eccentricity(node),
        }
    }

    /// Returns `None` in a network with one-way links, because a node may then have different
    /// numbers of links in and out.
    fn links_from(&self, node: u64) -> Option<u64> {
        match &self.table {
            Some(table) => self.is_two_way.then(|| table.network().out(node as usize).len() as u64),
            None => self.base.links_from(node),
        }
    }

    fn bandwidth(&self, link: u64) -> f64 {
        let fraction = self.link_ends(link).map_or(1.0, |ends| self.damage.fraction(ends));
        self.base.bandwidth(link) * fraction
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        self.base.link_between(from, to).filter(|run| !self.is_broken(*run))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let mut is_broken = false;
        if self.table.is_some() {
            self.base.own_route(from, to, &mut |run| is_broken |= self.is_broken(run));
        }
        if is_broken { self.detour(from, to, visit) } else { self.base.own_route(from, to, visit) }
    }

    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        let mut is_broken = false;
        self.base.route(from, to, route, &mut |run| is_broken |= self.is_broken(run))?;
        match is_broken {
            true => Ok(self.detour(from, to, visit)),
            false => self.base.route(from, to, route, visit),
        }
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.base.link_ends(link).filter(|_| !self.has_failed(link))
    }
}
