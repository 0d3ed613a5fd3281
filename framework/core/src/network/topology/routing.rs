//! Random routing: the option `routing=`, the last argument of a topology.
//!
//! With `valiant`, a message is sent to a random intermediate vertex, and from there to its
//! receiver, by routes of the network without the option (L. G. Valiant, G. J. Brebner, *Universal
//! Schemes for Parallel Communication*, 1981). With `ecmp` (equal-cost multipath), each vertex
//! divides messages equally among the links that lead nearer to the receiver (RFC 2992).
//!
//! [`Network::route`] returns a single route, which is drawn from a seed and is the same for all
//! messages with the same sender and receiver. [`RandomRouting`] calculates the expected loads over
//! all possible draws.

use super::adjacency::Adjacency;
use super::{Network, Options, Plane, Run, SplitMix64};
use crate::spec::SpecError;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

#[derive(Debug, Clone)]
pub(super) struct Routing {
    method: Method,
    seed: u64,
}

#[derive(Debug, Clone)]
enum Method {
    Valiant(Arc<Valiant>),
    Ecmp(Arc<Ecmp>),
}

/// The random routing of a network.
#[derive(Debug, Clone, Copy)]
pub struct RandomRouting<'a> {
    pub(super) network: &'a Network,
    pub(super) routing: &'a Routing,
}

pub(super) fn parse(network: Network, options: &Options<'_>) -> Result<Network, SpecError> {
    /// The table of distances takes two bytes for each pair of vertices, so their number is
    /// limited.
    const MAX_VERTICES: u64 = 1 << 13;
    /// The expected load of each link is stored, so the number of links is limited.
    const MAX_LINKS: u64 = 1 << 22;
    let Some(arg) = options.get("routing") else { return Ok(network) };
    let bad = |expected: &str| options.spec.bad_value(arg, expected);
    if arg.value() == "minimal" {
        return Ok(network);
    }
    if !["valiant", "ecmp"].contains(&arg.value()) {
        return Err(bad("minimal, valiant or ecmp"));
    }
    if network.bandwidths().is_some() || network.latencies().is_some() {
        return Err(bad("minimal: other routings need links of equal bandwidth and latency"));
    }
    if network.kind() == "groups" {
        return Err(bad("minimal: there is only one route between two ranks"));
    }
    let physical = network.physical();
    if physical.nodes() + physical.switches() > MAX_VERTICES || physical.link_slots() > MAX_LINKS {
        return Err(bad(&format!(
            "minimal: other routings are for networks of at most {MAX_VERTICES} vertices and {MAX_LINKS} links"
        )));
    }
    let method = match arg.value() {
        "ecmp" => Method::Ecmp(Arc::new(Ecmp::new(&physical))),
        _ => Method::Valiant(Arc::new(Valiant::new(physical.into_owned()))),
    };
    Ok(network.routed(Routing { method, seed: 0 }))
}

impl Routing {
    pub(super) fn word(&self) -> &'static str {
        match self.method {
            Method::Valiant(_) => "valiant",
            Method::Ecmp(_) => "ecmp",
        }
    }

    /// Returns the routing with routes drawn from `seed`. If the network has also changed, the new
    /// network is in `changed`.
    pub(super) fn sample(&self, seed: u64, changed: Option<&Network>) -> Self {
        let method = match (&self.method, changed.map(Network::physical)) {
            (method, None) => method.clone(),
            (Method::Ecmp(_), Some(physical)) => Method::Ecmp(Arc::new(Ecmp::new(&physical))),
            (Method::Valiant(_), Some(physical)) => {
                Method::Valiant(Arc::new(Valiant::new(physical.into_owned())))
            }
        };
        Self { method, seed }
    }

    pub(super) fn route(
        &self,
        network: &Network,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        // If several jobs run at the same time, the messages of each job take the same routes as
        // without the other jobs.
        let [from_in_job, to_in_job] = [from, to].map(|rank| network.rank_in_job(rank));
        let seed = self.seed ^ (from_in_job << 32 | to_in_job).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let (draw, from, to) =
            (SplitMix64::new(seed), network.physical_node(from), network.physical_node(to));
        match &self.method {
            Method::Valiant(valiant) => valiant.route((from, to), draw, visit),
            Method::Ecmp(ecmp) => ecmp.route(from, to, draw, visit),
        }
    }
}

impl RandomRouting<'_> {
    /// Computes the expected link loads of messages, given by sender, receiver and load. For each
    /// link that messages can use, calls `visit`, perhaps several times, with the expected number
    /// and load of messages.
    pub fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        let node = |rank| self.network.physical_node(rank);
        let messages = &mut messages.map(|(from, to, load)| (node(from), node(to), load));
        match &self.routing.method {
            Method::Valiant(valiant) => valiant.expected(messages, visit),
            Method::Ecmp(ecmp) => ecmp.expected(messages, visit),
        }
    }

    /// Returns the expected number of hops of a message.
    pub fn expected_hops(&self, from: u64, to: u64) -> f64 {
        let (from, to) = (self.network.physical_node(from), self.network.physical_node(to));
        match &self.routing.method {
            Method::Valiant(valiant) => valiant.expected_hops(from, to),
            Method::Ecmp(ecmp) => ecmp.hops(from, to).into(),
        }
    }
}

#[derive(Debug)]
struct Ecmp {
    network: Adjacency,
    /// The hops from every vertex to every destination, sorted by destination and then by vertex.
    hops: Vec<u16>,
    planes: Vec<Plane>,
}

impl Ecmp {
    fn new(network: &Network) -> Self {
        let planes = network.planes().to_vec();
        let network = Adjacency::of(network).expect("networks with random routing are small");
        // Distances to a vertex can differ from distances from it, so the search follows links
        // backwards.
        let reversed = network.reversed();
        let hops = (0..network.vertices() as u64).flat_map(|to| reversed.hops_from(to));
        Self { hops: hops.map(|hops| hops as u16).collect(), network, planes }
    }

    fn hops(&self, from: u64, to: u64) -> u16 {
        self.hops[to as usize * self.network.vertices() + from as usize]
    }

    fn nearer(&self, at: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let here = self.hops(at, to);
        self.network.numbered(at).filter(move |(end, _)| self.hops(*end, to) < here)
    }

    fn route(&self, from: u64, to: u64, mut draw: SplitMix64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (mut at, mut crossed) = (from, 0);
        while at != to {
            let choices = self.nearer(at, to).count();
            let next = self.nearer(at, to).nth(draw.below(choices));
            let (end, link) = next.expect("a connected network has a link that leads nearer");
            visit(Run::in_planes(link, &self.planes));
            (at, crossed) = (end, crossed + 1);
        }
        crossed
    }

    fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        // For each vertex, the fraction of the message that passes it. The vertex that is farthest
        // from the receiver is processed first.
        let mut passing: BTreeMap<(Reverse<u16>, u64), f64> = BTreeMap::new();
        for (from, to, load) in messages.filter(|(from, to, _)| from != to) {
            passing.insert((Reverse(self.hops(from, to)), from), 1.0);
            while let Some(((_, at), share)) = passing.pop_first() {
                let each = share / self.nearer(at, to).count().max(1) as f64;
                for (end, link) in self.nearer(at, to) {
                    visit(link, each, each * load as f64);
                    if end != to {
                        *passing.entry((Reverse(self.hops(end, to)), end)).or_default() += each;
                    }
                }
            }
        }
    }
}

/// Valiant's routing. Intermediate vertices are switches if the network has any, otherwise nodes.
///
/// Each half of a route depends only on the intermediate vertex and on one end, the sender or the
/// receiver. For each half, node and link, it is counted once for how many intermediate vertices
/// the route uses the link. Expected loads are these counts, divided by the number of intermediate
/// vertices.
#[derive(Debug)]
struct Valiant {
    network: Network,
    /// All nodes or, if intermediate vertices are switches, one node of each switch that has nodes.
    intermediates: Vec<u64>,
    /// For each node, the link to its switch; `None` if nodes are the intermediate vertices.
    switch_links: Option<Vec<SwitchLink>>,
    halves: [Vec<OnceLock<Half>>; 2],
}

#[derive(Debug, Clone, Copy)]
struct SwitchLink {
    switch: u64,
    up: u64,
    down: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum HalfKind {
    First,
    Second,
}

#[derive(Debug)]
struct Half {
    links: Vec<(u64, u64)>,
    hops: u64,
}

impl Valiant {
    fn new(network: Network) -> Self {
        let nodes = network.nodes();
        let at_switches = network.switches() > 0 && network.degree() == Some(1);
        let switch_links = if at_switches { switch_links(&network) } else { None };
        let mut representatives = BTreeMap::new();
        for node in 0..nodes {
            let vertex = switch_links.as_ref().map_or(node, |links| links[node as usize].switch);
            representatives.entry(vertex).or_insert(node);
        }
        let halves = [(); 2].map(|()| (0..nodes).map(|_| OnceLock::new()).collect());
        let intermediates = representatives.into_values().collect();
        Self { network, intermediates, switch_links, halves }
    }

    fn route(
        &self,
        (from, to): (u64, u64),
        mut draw: SplitMix64,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        if from == to {
            return 0;
        }
        let via = self.intermediates[draw.below(self.intermediates.len())];
        let first = self.half_route(from, via, HalfKind::First);
        let second = self.half_route(to, via, HalfKind::Second);
        first.into_iter().chain(second).fold(0, |hops, run| {
            visit(run);
            hops + run.len
        })
    }

    fn half_route(&self, node: u64, via: u64, kind: HalfKind) -> Vec<Run> {
        let (from, to) = if kind == HalfKind::First { (node, via) } else { (via, node) };
        let mut runs = Vec::new();
        if from != to {
            self.network.minimal_route(from, to, &mut |run| runs.push(run));
        }
        let Some(links) = &self.switch_links else { return runs };
        let (own, drawn) = (links[node as usize], links[via as usize]);
        // Remove the link of the intermediate node, because the half begins or ends at its switch.
        // A run is a single link, because networks with switches have no planes.
        match kind {
            HalfKind::First if own.switch == drawn.switch => vec![Run::link(own.up)],
            HalfKind::Second if own.switch == drawn.switch => vec![Run::link(own.down)],
            HalfKind::First => {
                runs.pop();
                runs
            }
            HalfKind::Second => {
                runs.remove(0);
                runs
            }
        }
    }

    fn half(&self, node: u64, kind: HalfKind) -> &Half {
        self.halves[kind as usize][node as usize].get_or_init(|| {
            let vias = self.intermediates.iter();
            Half::count(vias.map(|via| self.half_route(node, *via, kind)))
        })
    }

    fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        let mut ends: HashMap<(u64, HalfKind), (u64, u128)> = HashMap::new();
        for (from, to, load) in messages.filter(|(from, to, _)| from != to) {
            for end in [(from, HalfKind::First), (to, HalfKind::Second)] {
                let (count, sum) = ends.entry(end).or_default();
                (*count, *sum) = (*count + 1, *sum + u128::from(load));
            }
        }
        // The sums in `on` are the expected number of messages and the expected load of each link,
        // multiplied by the number of intermediate vertices.
        let mut on = vec![(0_u64, 0_u128); self.network.link_slots() as usize];
        for ((node, kind), (count, load)) in ends {
            for (link, times) in &self.half(node, kind).links {
                let (messages, sum) = &mut on[*link as usize];
                *messages += count * times;
                *sum += load * u128::from(*times);
            }
        }
        let of = self.intermediates.len() as f64;
        for (link, (messages, load)) in (0..).zip(on).filter(|(_, (messages, _))| *messages > 0) {
            visit(link, messages as f64 / of, load as f64 / of);
        }
    }

    fn expected_hops(&self, from: u64, to: u64) -> f64 {
        if from == to {
            return 0.0;
        }
        let hops = self.half(from, HalfKind::First).hops + self.half(to, HalfKind::Second).hops;
        hops as f64 / self.intermediates.len() as f64
    }
}

impl Half {
    fn count(routes: impl Iterator<Item = Vec<Run>>) -> Self {
        let (mut links, mut hops) = (BTreeMap::new(), 0);
        for run in routes.flatten() {
            hops += run.len;
            for link in run.links() {
                *links.entry(link).or_insert(0) += 1;
            }
        }
        Self { links: links.into_iter().collect(), hops }
    }
}

fn switch_links(network: &Network) -> Option<Vec<SwitchLink>> {
    let nodes = network.nodes();
    let (mut up, mut down) = (vec![None; nodes as usize], vec![None; nodes as usize]);
    for link in 0..network.link_slots() {
        match network.link_ends(link) {
            Some((from, to)) if from < nodes && to >= nodes => up[from as usize] = Some((link, to)),
            Some((from, to)) if from >= nodes && to < nodes => down[to as usize] = Some(link),
            _ => {}
        }
    }
    let link = |(up, down): (Option<(u64, u64)>, Option<u64>)| {
        up.zip(down).map(|((up, switch), down)| SwitchLink { switch, up, down })
    };
    up.into_iter().zip(down).map(link).collect()
}
