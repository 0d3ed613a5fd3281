//! Topologies: nodes, switches, directed links between them, and a route for every pair of nodes.
//!
//! Nodes are numbered in row-major order: the coordinate of the last axis changes fastest. Links
//! and routes are calculated, not stored. A route is reported as [`Run`]s, which are straight
//! sections of many links. So a million nodes need no tables, and a long straight route is as fast
//! to calculate as a short one.
//!
//! A family, such as `torus`, implements `Family` in its own file and has a row in `FAMILIES`.
//! [`OPTIONS`] are the arguments that any family may have.

use crate::network::mesh::{Mesh, expand_mesh};
use crate::spec::{Arg, Spec, SpecError};
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

pub(crate) mod adjacency;
pub(crate) mod automorphisms;
mod damage;
mod dragonfly;
mod fat_tree;
mod folded;
mod fully_connected;
mod graph;
mod grid;
mod groups;
mod hypercube;
mod hyperx;
mod jellyfish;
mod placement;
pub(crate) mod random;
mod rdn;
mod route;
mod routing;
mod slim_fly;
mod switched;
mod twisted_torus;

pub use automorphisms::{Automorphisms, AxisSymmetry};
use damage::Detours;
pub use damage::{Damage, SingleFault, single_faults};
pub use graph::{Graph, GraphError};
use grid::GridShape;
pub(crate) use grid::shorter;
use placement::Placement;
pub use random::SplitMix64;
use route::walk_path;
pub use route::{Plane, Route, RouteError, Run, Section, Switch};
pub use routing::RandomRouting;
use routing::Routing;

/// A network: its nodes, switches, links and routes.
///
/// A network has up to four parts, applied in this order: a family, failed and slow links, a
/// placement of ranks on nodes, and random routing. If there is a placement, the nodes of this type
/// are the ranks, and a node of the family that several ranks share is a *physical node*
/// ([`Network::physical`]). Link numbers are always those of the family.
#[derive(Debug, Clone)]
pub struct Network {
    properties: Properties,
    family: Arc<dyn Family>,
    damage: Option<Arc<Damage>>,
    placement: Option<Arc<Placement>>,
    routing: Option<Routing>,
    mesh: Option<Arc<Mesh>>,
}

impl Network {
    fn of(family: Arc<dyn Family>) -> Self {
        Self::new(family, None, None)
    }

    fn new(
        family: Arc<dyn Family>,
        damage: Option<Arc<Damage>>,
        placement: Option<Arc<Placement>>,
    ) -> Self {
        let base = damage.as_ref().map_or(family.properties(), |damage| &damage.properties);
        let properties = placement.as_ref().map_or(base.clone(), |ranks| ranks.properties(base));
        Self { properties, family, damage, placement, routing: None, mesh: None }
    }

    fn damaged(self, damage: Damage) -> Self {
        Self::new(self.family, Some(Arc::new(damage)), None)
    }

    fn placed(self, placement: Placement) -> Self {
        Self::new(self.family, self.damage, Some(Arc::new(placement)))
    }

    fn routed(mut self, routing: Routing) -> Self {
        self.properties.spec += &format!(",routing={}", routing.word());
        Self { routing: Some(routing), ..self }
    }

    fn with_mesh(mut self, mesh: Arc<Mesh>) -> Self {
        self.properties.spec += &format!(",mesh={mesh}");
        Self { mesh: Some(mesh), ..self }
    }

    pub(crate) fn without_mesh(self: &Arc<Self>) -> Arc<Self> {
        let Some(mesh) = &self.mesh else { return Arc::clone(self) };
        let spec = self.spec();
        let spec = spec.strip_suffix(&format!(",mesh={mesh}")).unwrap_or(&spec).to_owned();
        let properties = Properties { spec, ..self.properties.clone() };
        Arc::new(Self { properties, mesh: None, ..Self::clone(self) })
    }

    /// Returns the names of the axes of the ranks (`mesh=`), if the spec has them.
    pub fn mesh(&self) -> Option<&Mesh> {
        self.mesh.as_deref()
    }

    /// Returns this network with those random properties (routes, failed and slow links, placement)
    /// drawn from `seed` that have no seed of their own. Returns `None` if there are none.
    pub fn sample(&self, seed: u64) -> Option<Arc<Self>> {
        let damage =
            self.damage.as_ref().and_then(|damage| damage.sample(self.family.properties(), seed));
        let placement = self.placement.as_ref().and_then(|placement| placement.sample(seed));
        let has_changed = damage.is_some() || placement.is_some();
        if !has_changed && self.routing.is_none() {
            return None;
        }
        let damage = damage.map(Arc::new).or_else(|| self.damage.clone());
        let placement = placement.map(Arc::new).or_else(|| self.placement.clone());
        let network = Self::new(Arc::clone(&self.family), damage, placement);
        let network = match &self.routing {
            None => network,
            Some(routing) => {
                let routing = routing.sample(seed, has_changed.then_some(&network));
                network.routed(routing)
            }
        };
        Some(Arc::new(match &self.mesh {
            None => network,
            Some(mesh) => network.with_mesh(Arc::clone(mesh)),
        }))
    }

    /// Returns a network for several jobs that run at the same time, each on all ranks of this
    /// network, and a number `moved`. The ranks of the jobs are numbered one job after another.
    /// Ranks of different jobs that have the same number within their jobs share a node. A switch
    /// that has the number n in this network has the number n + `moved` in the new one.
    pub(crate) fn for_jobs(&self, jobs: u64) -> (Self, u64) {
        let nodes = self.family.properties().nodes;
        let placement = Placement::for_jobs(self.placement.as_deref(), nodes, jobs);
        let network =
            Self::new(Arc::clone(&self.family), self.damage.clone(), Some(Arc::new(placement)));
        let behind = if self.shares_nodes() { self.nodes() } else { 0 };
        let moved = network.nodes() - behind;
        (Self { routing: self.routing.clone(), ..network }, moved)
    }

    fn rank_in_job(&self, rank: u64) -> u64 {
        self.placement.as_ref().map_or(rank, |placement| placement.in_job(rank))
    }

    /// Returns the network on whose nodes ranks are placed (`ranks=`, `place=`). It has the same
    /// damage, but neither the placement nor random routing. Returns `None` if there is no
    /// placement, so that rank i is node i.
    pub fn placed_on(&self) -> Option<Self> {
        self.placement.as_ref()?;
        Some(Self::new(Arc::clone(&self.family), self.damage.clone(), None))
    }

    /// Returns whether several ranks share a node. Such nodes are switches of this network.
    pub fn shares_nodes(&self) -> bool {
        self.placement.as_ref().is_some_and(|placement| placement.shares_nodes())
    }

    /// Returns the network whose nodes have the ports and links. If several ranks share a node, it
    /// is [`Network::placed_on`], otherwise this network.
    pub fn physical(&self) -> Cow<'_, Self> {
        match self.placed_on().filter(|_| self.shares_nodes()) {
            Some(network) => Cow::Owned(network),
            None => Cow::Borrowed(self),
        }
    }

    /// Returns the number of nodes of [`Network::physical`].
    pub fn physical_nodes(&self) -> u64 {
        if self.shares_nodes() { self.family.properties().nodes } else { self.nodes() }
    }

    /// Returns the node of [`Network::physical`] that a rank uses.
    pub fn physical_node(&self, rank: u64) -> u64 {
        if self.shares_nodes() { self.node(rank) } else { rank }
    }

    /// Returns the vertex at which routes from and to a rank begin and end. If several ranks share
    /// a node, it is this node; otherwise it is the rank itself. Shared nodes are numbered after
    /// the ranks, and switches after the shared nodes.
    pub fn endpoint(&self, rank: u64) -> u64 {
        if self.shares_nodes() { self.nodes() + self.node(rank) } else { rank }
    }

    fn node(&self, rank: u64) -> u64 {
        self.placement.as_ref().map_or(rank, |placement| placement.node(rank))
    }

    /// Returns the failed and slow links; `None` if the spec has no arguments for such links.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_deref()
    }

    fn detours(&self) -> Option<&Detours> {
        self.damage.as_ref()?.detours.as_ref()
    }

    /// Returns whether a permutation `image` of the nodes maps failed links to failed links, and
    /// slow links to links that are equally slow.
    pub fn damage_is_invariant(&self, image: &dyn Fn(u64) -> u64) -> bool {
        let Some(damage) = &self.damage else { return true };
        match &self.placement {
            None => damage.is_invariant(image),
            Some(placement) => {
                !placement.shares_nodes()
                    && damage.is_invariant(|node| placement.node(image(placement.vertex(node))))
            }
        }
    }

    /// Returns the random routing, if there is one. [`Network::route`] then returns only one of the
    /// routes that may be drawn.
    pub fn random_routing(&self) -> Option<RandomRouting<'_>> {
        self.routing.as_ref().map(|routing| RandomRouting { network: self, routing })
    }

    /// Returns the network from which a dual-net (`rdn`) is built, and the number of levels.
    pub fn base(&self) -> Option<(&Self, u64)> {
        self.family.base().filter(|_| !self.shares_nodes())
    }

    /// Returns whether the network has neither damage nor a placement nor random routing, so that
    /// it has all symmetries of its family.
    pub(crate) fn is_intact(&self) -> bool {
        self.damage.is_none() && self.placement.is_none() && self.routing.is_none()
    }

    /// Returns the sides of a torus or mesh, and whether its lines are closed into rings.
    pub(crate) fn grid(&self) -> Option<(&[u64], bool)> {
        self.family.grid().filter(|_| self.is_intact())
    }

    /// Returns the known automorphisms, if there are any besides the identity.
    pub fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        self.family.automorphisms().filter(|_| self.is_intact())
    }

    /// Returns the radices of the node numbers, if all translations of their grid are automorphisms
    /// and there are no switches. Every link is then the image of a link that leaves node 0.
    pub fn translations(&self) -> Option<&[u64]> {
        let axes = self.automorphisms().filter(|_| self.switches() == 0)?.axes();
        (!axes.contains(&AxisSymmetry::Fixed)).then_some(self.radices())
    }

    /// Returns the spec in canonical form, such as `torus:16x16`.
    pub fn spec(&self) -> String {
        self.properties.spec.clone()
    }

    /// Returns the name of the family, such as `torus`.
    pub fn kind(&self) -> &'static str {
        self.properties.kind
    }

    /// Returns the number of nodes, at most 2^31.
    pub fn nodes(&self) -> u64 {
        self.properties.nodes
    }

    /// Returns whether a vertex is a switch that can add and copy the data of messages.
    pub fn can_reduce(&self, vertex: u64) -> bool {
        // If several ranks share a node, the messages between them need not pass a switch.
        !self.shares_nodes() && vertex >= self.nodes() && self.family.can_reduce(vertex)
    }

    /// Returns whether any switch can reduce.
    pub fn has_reducing_switches(&self) -> bool {
        self.switches() > 0 && self.can_reduce(self.nodes())
    }

    /// Returns the number of switches, which are numbered after the nodes.
    pub fn switches(&self) -> u64 {
        self.properties.switches
    }

    /// Returns the radix of each axis of the grid of node numbers.
    pub fn radices(&self) -> &[u64] {
        &self.properties.radices
    }

    /// Returns a number that is greater than all link numbers. Some smaller numbers may be unused.
    pub fn link_slots(&self) -> u64 {
        self.properties.link_slots
    }

    /// Returns the planes of links, if the network has any. The planes together contain every link.
    pub fn planes(&self) -> &[Plane] {
        &self.properties.planes
    }

    /// Returns the largest distance between two nodes, in hops.
    pub fn diameter(&self) -> u64 {
        self.properties.diameter
    }

    /// Returns the largest distance from the node of `rank` to any other node, in hops.
    pub fn eccentricity(&self, rank: u64) -> u64 {
        let node = self.node(rank);
        let of_family = || self.family.eccentricity(node);
        self.detours().map_or_else(of_family, |detours| detours.eccentricity(node))
    }

    /// Returns the number of links out of each node, if it is the same for all nodes.
    pub fn degree(&self) -> Option<u64> {
        self.properties.degree
    }

    /// Returns the number of links out of a node; `None` if it is not known without a search.
    pub fn links_from(&self, rank: u64) -> Option<u64> {
        let node = self.node(rank);
        let of_family = || self.family.links_from(node);
        self.detours().map_or_else(of_family, |detours| detours.links_from(node))
    }

    /// Returns the number of directed links or, if it is not known, an upper bound.
    pub fn max_links(&self) -> u64 {
        self.properties.max_links()
    }

    /// Returns the best known balanced cut.
    pub fn bisection(&self) -> Option<Bisection> {
        self.properties.bisection
    }

    /// Returns the sum of the distances from a node to all others, if it is the same for all nodes.
    pub fn distance_sum(&self) -> Option<u64> {
        self.properties.distance_sum
    }

    /// Returns the sum of the distances of all pairs of nodes, if it is known without a search.
    pub fn hops_of_all_pairs(&self) -> Option<u128> {
        self.properties.hops_of_all_pairs()
    }

    /// Returns the smallest and largest [`Network::bandwidth`]; `None` if all are 1.
    pub fn bandwidths(&self) -> Option<(f64, f64)> {
        self.properties.bandwidths
    }

    /// Returns the bandwidth of an existing link, as a multiple of the machine's bandwidth.
    pub fn bandwidth(&self, link: u64) -> f64 {
        let slowed = |damage: &Damage| Some(damage.fraction(self.family.link_ends(link)?));
        let fraction = self.damage().and_then(slowed).unwrap_or(1.0);
        self.family.bandwidth(link) * fraction
    }

    /// Returns the smallest and largest [`Network::latency`]; `None` if all are 1.
    pub fn latencies(&self) -> Option<(f64, f64)> {
        self.properties.latencies
    }

    /// Returns the latency of an existing link, as a multiple of the machine's `hop_us`.
    pub fn latency(&self, link: u64) -> f64 {
        self.family.latency(link)
    }

    /// Returns whether a link is inside a computer, such as between GPUs (only in the family
    /// `groups`).
    pub fn is_inside(&self, link: u64) -> bool {
        self.family.is_inside(link)
    }

    /// Returns the vertices that a link leaves and enters, if the link exists.
    pub fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let has_failed = || self.detours().is_some_and(|detours| detours.has_failed(link));
        let (from, to) = self.family.link_ends(link).filter(|_| !has_failed())?;
        Some(match &self.placement {
            None => (from, to),
            Some(placement) => (placement.vertex(from), placement.vertex(to)),
        })
    }

    /// Calls `visit` with the runs of a route, and returns the number of hops. If no `route` is
    /// requested, this is the network's own route. A requested `route` is a path or, on some
    /// topologies, a choice of directions. May panic if a node does not exist. Errors if the
    /// topology does not have the requested route.
    pub fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        let Some(route) = route else {
            return Ok(match &self.routing {
                Some(routing) => routing.route(self, from, to, visit),
                None => self.minimal_route(from, to, visit),
            });
        };
        if let Some(Section { skipped, links, .. }) = route.section {
            let whole = Route { section: None, ..route.clone() };
            let mut number = 0;
            self.route(from, to, Some(&whole), &mut |run| {
                assert_eq!(run.len, 1, "a network with planes has switches that reduce");
                if (skipped..skipped + links).contains(&number) {
                    visit(run);
                }
                number += 1;
            })?;
            return Ok(links);
        }
        let on_nodes = match &self.placement {
            Some(placement) => placement.on_nodes(route),
            None => Cow::Borrowed(route),
        };
        let ends = (self.node(from), self.node(to));
        let requested = |visit: &mut dyn FnMut(Run)| {
            self.family.requested_route(ends.0, ends.1, &on_nodes, visit)
        };
        self.around_failures(ends, requested, visit).map_err(|error| match &self.placement {
            Some(placement) => placement.renamed(error, &self.properties.spec),
            None => error,
        })
    }

    /// Calls `visit` with the runs of the route that the network has without random routing.
    /// Returns its number of hops.
    pub fn minimal_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let ends = (self.node(from), self.node(to));
        let own = |visit: &mut dyn FnMut(Run)| {
            Ok::<_, Infallible>(self.family.own_route(ends.0, ends.1, visit))
        };
        let Ok(hops) = self.around_failures(ends, own, visit);
        hops
    }

    #[inline]
    fn around_failures<E>(
        &self,
        ends: (u64, u64),
        route: impl Fn(&mut dyn FnMut(Run)) -> Result<u64, E>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, E> {
        if let Some(detours) = self.detours() {
            let mut is_broken = false;
            route(&mut |run| is_broken |= detours.is_broken(run))?;
            if is_broken {
                return Ok(detours.follow(ends, self.planes(), visit));
            }
        }
        route(visit)
    }
}

/// A cut of the network into two nearly equal sides, for lower bounds on times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bisection {
    /// The number of nodes on the smaller side.
    pub side: u64,
    /// The number of directed links from one side to the other. Each has at most the bandwidth 1.
    pub links: u64,
    /// Whether it is proved that no cut into two halves has fewer links. The halves of an odd
    /// number of nodes differ by one node.
    pub exact: bool,
}

/// The values that the methods of [`Network`] with the same names return.
#[derive(Debug, Clone, Default)]
struct Properties {
    spec: String,
    kind: &'static str,
    nodes: u64,
    switches: u64,
    radices: Vec<u64>,
    link_slots: u64,
    planes: Vec<Plane>,
    diameter: u64,
    degree: Option<u64>,
    bisection: Option<Bisection>,
    distance_sum: Option<u64>,
    hops_of_all_pairs: Option<u128>,
    /// If `None`, it is `degree` times the number of nodes or, without a `degree`, `link_slots`.
    max_links: Option<u64>,
    bandwidths: Option<(f64, f64)>,
    latencies: Option<(f64, f64)>,
}

impl Properties {
    fn max_links(&self) -> u64 {
        let regular = self.degree.filter(|_| self.switches == 0);
        let links = regular.map_or(self.link_slots, |degree| degree * self.nodes);
        self.max_links.unwrap_or(links)
    }

    fn hops_of_all_pairs(&self) -> Option<u128> {
        let all_equal = || Some(u128::from(self.distance_sum?) * u128::from(self.nodes));
        self.hops_of_all_pairs.or_else(all_equal)
    }
}

fn common<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next()?;
    items.all(|other| other == first).then_some(first)
}

fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let extend = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
    let (least, most) = values.fold((f64::INFINITY, 0.0), extend);
    (least < 1.0 || most > 1.0).then_some((least, most))
}

/// A family, without options. Methods have the same meaning as the methods of [`Network`] with the
/// same names.
trait Family: fmt::Debug + Send + Sync {
    fn properties(&self) -> &Properties;
    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64;
    fn link_between(&self, _from: u64, _to: u64) -> Option<Run> {
        None
    }
    fn requested_route(
        &self,
        from: u64,
        to: u64,
        route: &Route,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        if !route.path.is_empty() {
            let link = |a, b| self.link_between(a, b);
            return walk_path(self.properties(), (from, to), &route.path, link, visit);
        }
        if !route.signs.is_empty() || !route.order.is_empty() {
            return Err(RouteError::NoDimensions { topology: self.properties().spec.clone() });
        }
        Ok(self.own_route(from, to, visit))
    }
    fn link_ends(&self, link: u64) -> Option<(u64, u64)>;
    fn can_reduce(&self, _vertex: u64) -> bool {
        false
    }
    fn eccentricity(&self, _node: u64) -> u64 {
        self.properties().diameter
    }
    fn links_from(&self, _node: u64) -> Option<u64> {
        self.properties().degree
    }
    fn bandwidth(&self, _link: u64) -> f64 {
        1.0
    }
    fn latency(&self, _link: u64) -> f64 {
        1.0
    }
    fn is_inside(&self, _link: u64) -> bool {
        false
    }
    fn grid(&self) -> Option<(&[u64], bool)> {
        None
    }
    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        None
    }
    fn base(&self) -> Option<(&Network, u64)> {
        None
    }
}

/// A row of the table of families.
#[derive(Debug)]
pub struct FamilyEntry {
    /// The name before the colon of a spec.
    pub name: &'static str,
    /// The form of the family's specs, with placeholders for numbers.
    pub syntax: &'static str,
    /// A short description, for lists of topologies.
    pub help: &'static str,
    /// A small example of a spec for tests and `check`; empty if the family needs a file.
    pub example: &'static str,
    kind: fn(&str, &str) -> String,
    make: fn(&Spec, ReadFile<'_>) -> Parsed,
}

/// Returns the kind of a network. A plot has one curve for each kind, such as all grids with the
/// same number of dimensions. A graph from a file is a kind of its own. The options of a spec are
/// part of the kind.
pub fn kind(topology: &str) -> String {
    let option = option_names().filter_map(|name| topology.find(&format!(",{name}="))).min();
    let (network, options) = topology.split_at(option.unwrap_or(topology.len()));
    let (name, arguments) = network.split_once(':').unwrap_or((network, ""));
    let family = FAMILIES.iter().find(|family| family.name == name);
    let kind = family.map_or(name.to_owned(), |family| (family.kind)(name, arguments));
    kind + &options.replace(',', ", ")
}

fn of_any_size(name: &str, arguments: &str) -> String {
    let more = arguments.split_once(',').map_or(String::new(), |(_, more)| format!(", {more}"));
    format!("{name}{more}")
}

fn of_dimensions(name: &str, arguments: &str) -> String {
    let (sides, _) = arguments.split_once(',').unwrap_or((arguments, ""));
    let open = sides.split('x').enumerate().filter(|(_, side)| side.ends_with('o'));
    let open: String = open.map(|(axis, _)| format!(", {axis} open")).collect();
    format!("{}D {}{open}", sides.split('x').count(), of_any_size(name, arguments))
}

type Parsed = Result<Arc<dyn Family>, SpecError>;

/// A function that reads a file that is named in a spec. Its error is the reason why the file
/// cannot be read.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Returns the stride of each axis of a grid: the difference between the numbers of two nodes that
/// are neighbours along the axis.
pub fn strides(radices: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; radices.len()];
    for axis in (1..radices.len()).rev() {
        strides[axis - 1] = strides[axis] * radices[axis];
    }
    strides
}

/// Returns all families, in the order in which lists show them.
pub fn families() -> &'static [FamilyEntry] {
    FAMILIES
}

static FAMILIES: &[FamilyEntry] = &[
    FamilyEntry {
        name: "torus",
        syntax: "torus:AxBx..",
        help: "a ring in each dimension, a line where an `o` (open) follows; any number of dimensions, row-major node numbers",
        example: "torus:3x5",
        kind: of_dimensions,
        make: |spec, _| grid::parse(spec, GridShape::Torus),
    },
    FamilyEntry {
        name: "mesh",
        syntax: "mesh:AxBx..",
        help: "a line in each dimension; any number of dimensions, row-major node numbers",
        example: "mesh:4x5",
        kind: of_dimensions,
        make: |spec, _| grid::parse(spec, GridShape::Mesh),
    },
    FamilyEntry {
        name: "tofu",
        syntax: "tofu:XxYxZ",
        help: "Tofu, the network of Fugaku: units of 2x3x2 nodes, and rings of X, Y and Z units; an `o` (open) follows if they are lines",
        example: "tofu:2x1x2o",
        kind: of_any_size,
        make: |spec, _| grid::parse(spec, GridShape::Tofu),
    },
    FamilyEntry {
        name: "ring",
        syntax: "ring:N",
        help: "N nodes in a cycle",
        example: "ring:13",
        kind: of_any_size,
        make: |spec, _| grid::parse(spec, GridShape::Ring),
    },
    FamilyEntry {
        name: "hypercube",
        syntax: "hypercube:D",
        help: "2^D nodes, linked where their numbers differ in one bit",
        example: "hypercube:4",
        kind: of_any_size,
        make: |spec, _| hypercube::parse(spec),
    },
    FamilyEntry {
        name: "fully-connected",
        syntax: "fully-connected:N",
        help: "a link from every node to every other",
        example: "fully-connected:5",
        kind: of_any_size,
        make: |spec, _| fully_connected::parse(spec),
    },
    FamilyEntry {
        name: "fat-tree",
        syntax: "fat-tree:KxL,reduce=switch",
        help: "K^L nodes under L levels of switches with K links down and K up; up/down routing; with reduce=switch, switches add and copy data",
        example: "fat-tree:3x3",
        kind: of_any_size,
        make: |spec, _| fat_tree::parse(spec),
    },
    FamilyEntry {
        name: "twisted-torus",
        syntax: "twisted-torus:AxBx..",
        help: "a torus of sides a and 2a; the closing links of short sides are shifted by half of every long side, as in TPU v4 (4x4x8)",
        example: "twisted-torus:4x8",
        kind: of_dimensions,
        make: |spec, _| twisted_torus::parse(spec),
    },
    FamilyEntry {
        name: "hyperx",
        syntax: "hyperx:AxBx..,nodes=P",
        help: "a grid of switches with P nodes each; a switch is linked to all others on its lines",
        example: "hyperx:3x4,nodes=2",
        kind: of_dimensions,
        make: |spec, _| hyperx::parse(spec),
    },
    FamilyEntry {
        name: "dragonfly",
        syntax: "dragonfly:GxRxP",
        help: "G groups of R routers with P nodes each; links between all routers of a group, and one link between every two groups",
        example: "dragonfly:3x2x2",
        kind: of_any_size,
        make: |spec, _| dragonfly::parse(spec),
    },
    FamilyEntry {
        name: "slim-fly",
        syntax: "slim-fly:Q,nodes=P",
        help: "2Q^2 routers with P nodes each, at most two hops apart; Q is a prime power",
        example: "slim-fly:5",
        kind: of_any_size,
        make: |spec, _| slim_fly::parse(spec),
    },
    FamilyEntry {
        name: "jellyfish",
        syntax: "jellyfish:SxDxP,seed=X",
        help: "S switches with P nodes each, and random links to D other switches",
        example: "jellyfish:10x3x2,seed=1",
        kind: of_any_size,
        make: |spec, _| jellyfish::parse(spec),
    },
    FamilyEntry {
        name: "groups",
        syntax: "groups:GxR,inside=B",
        help: "two tiers: G groups of R ranks, all joined by one switch; links within a group have B times the bandwidth and, with inside_hop=H, H times the latency; with reduce=switch, the switch of a group adds and copies data",
        example: "groups:3x4",
        kind: of_any_size,
        make: |spec, _| groups::parse(spec),
    },
    FamilyEntry {
        name: "rdn",
        syntax: "rdn:K(BASE)",
        help: "a recursive dual-net of K levels over a regular base, such as rdn:2(torus:5x5)",
        example: "rdn:1(torus:2x3)",
        kind: rdn::kind,
        make: rdn::parse,
    },
    FamilyEntry {
        name: "graph",
        syntax: "graph:FILE",
        help: "any network: each line of the file has two vertices and optionally a bandwidth, or `switch` and vertices without ranks; shortest routes, at a tie through the lowest neighbour",
        example: "",
        kind: |name, file| format!("{name}:{file}"),
        make: graph::parse,
    },
];

/// An argument that every topology may have.
#[derive(Debug)]
pub struct TopologyOption {
    /// The key of the argument.
    pub name: &'static str,
    /// A short description, for completions.
    pub help: &'static str,
    is_random: fn(&str) -> bool,
}

/// The arguments that any family may have, in the order of a canonical spec.
pub static OPTIONS: [TopologyOption; 8] = [
    TopologyOption::new("down", "failed links, such as 12-13", |_| false),
    TopologyOption::new("slow", "slow links, such as 12-13:0.5", |_| false),
    TopologyOption::new("faults", "a number of random failed links", |value| !value.contains(':')),
    TopologyOption::new("slow-links", "a number of random slow links, such as 3:0.5", |value| {
        value.matches(':').count() == 1
    }),
    TopologyOption::new("ranks", "ranks of each node", |_| false),
    TopologyOption::new(
        "place",
        "placement of ranks: block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE",
        |value| value == "random",
    ),
    TopologyOption::new("routing", "minimal, valiant or ecmp", |value| value != "minimal"),
    TopologyOption::new(
        "mesh",
        "names of the digits of rank numbers, as in dp:4/ep:32/tp:4",
        |_| false,
    ),
];

impl TopologyOption {
    const fn new(name: &'static str, help: &'static str, is_random: fn(&str) -> bool) -> Self {
        Self { name, help, is_random }
    }
}

fn option_names<'a>() -> impl Iterator<Item = &'a str> {
    OPTIONS.iter().map(|option| option.name)
}

fn option(arg: &Arg) -> Option<&'static TopologyOption> {
    OPTIONS.iter().find(|option| arg.key() == Some(option.name))
}

#[derive(Debug, Clone, Copy)]
struct Options<'a> {
    spec: &'a Spec,
    args: &'a [Arg],
}

impl<'a> Options<'a> {
    fn split(spec: &'a Spec, text: &'a str) -> (&'a str, Self) {
        let own = spec.args().iter().rposition(|arg| option(arg).is_none());
        let args = &spec.args()[own.map_or(0, |last| last + 1)..];
        let end = args.first().map_or(text.len(), |arg| arg.at() - 1);
        (&text[..end], Self { spec, args })
    }

    fn get(&self, name: &str) -> Option<&'a Arg> {
        self.args.iter().find(|arg| arg.key() == Some(name))
    }
}

/// Returns whether a spec has random properties that [`Network::sample`] would draw, because they
/// have no seed. The spec need not be valid.
///
/// ```
/// use swapmeet_core::network::topology::is_random;
/// assert!(is_random("torus:4x4,faults=2") && !is_random("torus:4x4,faults=2:7"));
/// ```
pub fn is_random(spec: &str) -> bool {
    let Ok(spec) = Spec::parse("topology", spec) else { return false };
    let is_random = |arg: &Arg| option(arg).is_some_and(|option| (option.is_random)(arg.value()));
    spec.args().iter().any(is_random)
}

/// Parses the spec of a topology that takes no file.
///
/// ```
/// let torus = swapmeet_core::network::topology::parse("torus:16x8").unwrap();
/// assert_eq!((torus.nodes(), torus.diameter()), (128, 12));
/// let error = swapmeet_core::network::topology::parse("torus:16x0").unwrap_err();
/// assert_eq!(error.to_string(), "topology `torus:16x0`: dimension 2 is 0, expected a whole number from 1 on");
/// ```
pub fn parse(text: &str) -> Result<Arc<Network>, SpecError> {
    parse_with(text, &|_| Err("can't be read here".to_owned()))
}

/// Parses the spec of a topology. `read` reads the files that the spec names.
pub fn parse_with(text: &str, read: ReadFile<'_>) -> Result<Arc<Network>, SpecError> {
    let spec = Spec::parse("topology", text)?;
    let (own, options) = Options::split(&spec, text);
    let family = parse_family(own, read).map_err(|e| spec.nested(0, e))?;
    let network = damage::parse(Network::of(family), &options)?;
    let network = placement::parse(network, &options, read)?;
    let network = routing::parse(network, &options)?;
    let Some(arg) = options.get("mesh") else { return Ok(Arc::new(network)) };
    let mesh = Mesh::parse(arg.value(), network.nodes());
    let mesh = mesh.map_err(|expected| spec.bad_value(arg, &expected))?;
    Ok(Arc::new(network.with_mesh(Arc::new(mesh))))
}

/// If the topology has a range of meshes (`mesh=orders(..)` or `mesh=shapes(..)`), returns one spec
/// for each mesh of the range. Returns any other text unchanged, even if it is not valid.
///
/// ```
/// use swapmeet_core::network::topology::expand_meshes;
/// let read = &|_: &str| Err("can't be read here".to_owned());
/// assert_eq!(
///     expand_meshes("torus:4x4,mesh=orders(dp:2/tp:8)", read).unwrap(),
///     ["torus:4x4,mesh=dp:2/tp:8", "torus:4x4,mesh=tp:8/dp:2"]
/// );
/// ```
pub fn expand_meshes(text: &str, read: ReadFile<'_>) -> Result<Vec<String>, SpecError> {
    let spec = Spec::parse("topology", text);
    let is_range = |arg: &&Arg| arg.key() == Some("mesh") && arg.value().ends_with(')');
    let Some((spec, arg)) = spec.as_ref().ok().and_then(|spec| {
        let arg = spec.args().iter().find(is_range)?;
        Some((spec, arg))
    }) else {
        return Ok(vec![text.to_owned()]);
    };
    let (before, after) = (&text[..arg.at() - 1], &text[arg.at() + arg.len()..]);
    let network = parse_with(&format!("{before}{after}"), read)?;
    let meshes = expand_mesh(arg.value(), network.radices());
    let meshes = meshes.map_err(|expected| spec.bad_value(arg, &expected))?;
    Ok(meshes.iter().map(|mesh| format!("{before},mesh={mesh}{after}")).collect())
}

fn parse_family(text: &str, read: ReadFile<'_>) -> Parsed {
    let spec = Spec::parse("topology", text)?;
    let Some(family) = FAMILIES.iter().find(|f| f.name == spec.name()) else {
        return Err(spec.unknown_name(FAMILIES.iter().map(|f| f.name)));
    };
    // If the family has no keys, any key that is not an option is an error.
    let is_unknown =
        |arg: &&Arg| arg.key().is_some_and(|key| !option_names().any(|name| name == key));
    match spec.args().iter().skip(1).find(is_unknown) {
        Some(arg) if !family.syntax.contains('=') => Err(spec.unknown_key(arg, option_names())),
        _ => (family.make)(&spec, read),
    }
}

#[cfg(test)]
pub(crate) mod tests;
