//! What connects the nodes: directed, full-duplex links and deterministic routes, all by
//! arithmetic.
//!
//! Nodes are numbered row-major over a mixed-radix grid (the last axis fastest). A route is never
//! stored: it is handed out as runs of links, so that a million nodes cost no tables and a long
//! straight route costs as little as a short one.

use crate::spec::{Spec, SpecError};
use std::fmt;
use std::sync::Arc;

mod delegate;
mod dragonfly;
mod fat_tree;
mod field;
mod fully_connected;
mod graph;
mod grid;
mod groups;
mod hypercube;
mod hyperx;
mod jellyfish;
mod placed;
mod random;
mod rdn;
mod route;
mod routed;
mod routing_table;
mod slim_fly;
mod switched;
mod twisted_torus;

pub use fat_tree::FatTree;
pub use fully_connected::FullyConnected;
pub use graph::{Graph, GraphError};
pub use grid::{GridNet, GridShape};
pub use hypercube::Hypercube;
pub use rdn::Rdn;
pub use route::{Route, RouteError, Run};

use route::{explicit_route, walk_path};

/// Links that form lines along one axis in one direction: link `offset + (o * radix + c) * stride +
/// i` is the one that leaves coordinate `c` of line `(o, i)`. Where a topology has planes, the load
/// of long runs is summed along lines instead of link by link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// First link of the plane.
    pub offset: u64,
    /// Lines one after another, each `radix * stride` links long.
    pub outer: u64,
    /// Coordinates in a line.
    pub radix: u64,
    /// Distance between neighbours on a line.
    pub stride: u64,
}

impl Plane {
    /// How many link numbers it takes.
    pub fn links(&self) -> u64 {
        self.outer * self.radix * self.stride
    }
}

/// A balanced cut and what crosses it, for lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bisection {
    /// Nodes on the smaller side.
    pub side: u64,
    /// Directed links that lead from one side to the other (one way).
    pub links: u64,
    /// Whether no cut into halves has fewer links (halves that differ by a node, where there are an
    /// odd number); false if that isn't known.
    pub exact: bool,
}

/// How routes look from different nodes, where the topology's own numbers of nodes and links say
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regularity<'a> {
    /// None of these: it has to be looked at link by link.
    Irregular,
    /// Rings of these sides, in planes of links by number of dimension and sign, each numbered by
    /// the nodes that its links leave; routes go dimension by dimension, the last first. Rotating a
    /// dimension takes routes to routes.
    Torus(&'a [u64]),
    /// The same with lines instead of rings, and no rotations.
    Mesh(&'a [u64]),
    /// So many bits, with a link to change each; link `node * bits + bit` leaves the node. Changing
    /// bits takes routes to routes.
    Hypercube(u32),
    /// A link for every two nodes: whatever is done to nodes takes routes to routes.
    Complete,
    /// Two halves alike, the lower and the upper nodes: exchanging them takes routes to routes.
    /// Links are numbered so many within one half, as many within the other, then those that leave
    /// one for the other, by the nodes that they leave.
    Halves {
        /// Numbers of links within a half.
        within: u64,
    },
}

/// What connects the nodes.
pub trait Topology: fmt::Debug + Send + Sync {
    /// The whole spec in canonical form, such as `torus:16x16`.
    fn spec(&self) -> String;
    /// The family, such as `torus`.
    fn kind(&self) -> &'static str;
    /// Nodes, numbered from 0; at most 2^31.
    fn nodes(&self) -> u64;
    /// Vertices that aren't nodes, numbered after them.
    fn switches(&self) -> u64 {
        0
    }
    /// Where several ranks share a node, which they are the nodes of collectives then: the network
    /// of the nodes that they are on.
    fn node_network(&self) -> Option<&dyn Topology> {
        None
    }
    /// Whose ports and links a rank has: its own, but where ranks share a node, that node's, by its
    /// number in the network of nodes.
    fn host(&self, rank: u64) -> u64 {
        rank
    }
    /// Where routes are drawn among several: what is expected of all draws. Then
    /// [`Topology::route`] is one of them.
    fn random_routing(&self) -> Option<&dyn RandomRouting> {
        None
    }
    /// Radix of each axis of the grid of node numbers.
    fn radices(&self) -> &[u64];
    /// Of a dual-net, what a cluster is at the lowest level, and how many levels there are above
    /// it; `None` for other topologies.
    fn base(&self) -> Option<(&dyn Topology, u64)> {
        None
    }
    /// How its routes look from different nodes.
    fn regularity(&self) -> Regularity<'_> {
        Regularity::Irregular
    }
    /// Links are numbered below this; not every number need be a link.
    fn link_slots(&self) -> u64;
    /// Lines of links, if the topology has them; together they cover all link numbers.
    fn planes(&self) -> &[Plane] {
        &[]
    }
    /// The most hops between two nodes by the shortest route.
    fn diameter(&self) -> u64;
    /// The most hops from a node, by the shortest route.
    fn eccentricity(&self, _node: u64) -> u64 {
        self.diameter()
    }
    /// Links out of each node, if all have as many.
    fn degree(&self) -> Option<u64>;
    /// Links out of a node, if that is known without a look at all.
    fn links_from(&self, _node: u64) -> Option<u64> {
        self.degree()
    }
    /// Directed links, or something above their number.
    fn max_links(&self) -> u64 {
        let regular = self.degree().filter(|_| self.switches() == 0);
        regular.map_or(self.link_slots(), |degree| degree * self.nodes())
    }
    /// The best balanced cut known.
    fn bisection(&self) -> Option<Bisection> {
        None
    }
    /// The hops from a node to all others together, each by the shortest route, where the topology
    /// looks the same from each of its nodes; `None` where it doesn't.
    fn distance_sum(&self) -> Option<u64>;
    /// The hops from each node to all others together, each by the shortest route; `None` if that
    /// is not known without a look at all.
    fn hops_of_all_pairs(&self) -> Option<u128> {
        self.distance_sum().map(|sum| u128::from(sum) * u128::from(self.nodes()))
    }
    /// The least and the greatest bandwidth of a link, as multiples of the machine's; `None` where
    /// all have the machine's.
    fn bandwidths(&self) -> Option<(f64, f64)> {
        None
    }
    /// The bandwidth of a link that there is, as a multiple of the machine's.
    fn bandwidth(&self, _link: u64) -> f64 {
        1.0
    }
    /// The least and the most that crossing a link costs, as multiples of the machine's `hop_us`;
    /// `None` where all cost that.
    fn latencies(&self) -> Option<(f64, f64)> {
        None
    }
    /// What crossing a link that there is costs, as a multiple of the machine's `hop_us`.
    fn latency(&self, _link: u64) -> f64 {
        1.0
    }
    /// Hands out the route as runs of links and returns the hops. `way` is `None` for the
    /// topology's own route.
    ///
    /// # Errors
    /// When `way` asks for what the topology doesn't have.
    ///
    /// # Panics
    /// May panic when a node doesn't exist: callers check.
    fn route(
        &self,
        from: u64,
        to: u64,
        route: Option<&Route>,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError>;

    /// The ends of a link, from and to; `None` if there is no such link. Ends from
    /// [`Topology::nodes`] on are [`Topology::switches`].
    fn link_ends(&self, link: u64) -> Option<(u64, u64)>;
}

/// A network whose routes are drawn among several.
pub trait RandomRouting {
    /// The same with routes drawn from another seed.
    fn with_seed(&self, seed: u64) -> Arc<dyn Topology>;
    /// The same with its own routes.
    fn minimal(&self) -> &dyn Topology;
    /// Calls `visit` with links and what messages, (from, to, load) each, are expected to put on
    /// them: how many, and their load. A link may come several times.
    fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    );
    /// The hops of a message that are expected.
    fn expected_hops(&self, from: u64, to: u64) -> f64;
}

/// A family of topologies: one row feeds parsing, lists and near matches.
#[derive(Debug)]
pub struct Family {
    /// The name before the colon.
    pub name: &'static str,
    /// What comes after it.
    pub syntax: &'static str,
    /// What it connects and how, for lists.
    pub help: &'static str,
    /// A small one, which `check` tries, and whose links, routes and distances are held against
    /// searches; empty where it takes a file.
    pub example: &'static str,
    make: fn(&Spec, ReadFile<'_>) -> Made,
}

type Made = Result<Arc<dyn Topology>, SpecError>;

/// Reads a file that a spec names; the error says why it can't be.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// What a node's number grows by with each coordinate of a grid: nodes are numbered row-major, the
/// last axis fastest.
pub fn strides(radices: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; radices.len()];
    for axis in (1..radices.len()).rev() {
        strides[axis - 1] = strides[axis] * radices[axis];
    }
    strides
}

/// The families in the order in which they are listed.
pub fn families() -> &'static [Family] {
    FAMILIES
}

static FAMILIES: &[Family] = &[
    Family {
        name: "torus",
        syntax: "torus:AxBx..",
        help: "a ring in each dimension, a line where an `o` (open) follows; any number of dimensions, row-major node numbers",
        example: "torus:3x5",
        make: |spec, _| grid::parse(spec, GridShape::Torus),
    },
    Family {
        name: "mesh",
        syntax: "mesh:AxBx..",
        help: "a line in each dimension; any number of dimensions, row-major node numbers",
        example: "mesh:4x5",
        make: |spec, _| grid::parse(spec, GridShape::Mesh),
    },
    Family {
        name: "ring",
        syntax: "ring:N",
        help: "N nodes in a cycle",
        example: "ring:13",
        make: |spec, _| grid::parse(spec, GridShape::Ring),
    },
    Family {
        name: "hypercube",
        syntax: "hypercube:D",
        help: "2^D nodes, linked where their numbers differ in one bit",
        example: "hypercube:4",
        make: |spec, _| hypercube::parse(spec),
    },
    Family {
        name: "fully-connected",
        syntax: "fully-connected:N",
        help: "a link from every node to every other",
        example: "fully-connected:5",
        make: |spec, _| fully_connected::parse(spec),
    },
    Family {
        name: "fat-tree",
        syntax: "fat-tree:KxL",
        help: "K^L nodes under L levels of switches with K links down and K up; up/down routing",
        example: "fat-tree:3x3",
        make: |spec, _| fat_tree::parse(spec),
    },
    Family {
        name: "twisted-torus",
        syntax: "twisted-torus:AxBx..",
        help: "sides a and 2a; where a short ring closes, it leads half of every long side away, as in TPU v4's 4x4x8",
        example: "twisted-torus:4x8",
        make: |spec, _| twisted_torus::parse(spec),
    },
    Family {
        name: "hyperx",
        syntax: "hyperx:AxBx..,nodes=P",
        help: "a grid of switches, each linked to all others along its lines, with P nodes each",
        example: "hyperx:3x4,nodes=2",
        make: |spec, _| hyperx::parse(spec),
    },
    Family {
        name: "dragonfly",
        syntax: "dragonfly:GxRxP",
        help: "G groups of R routers with P nodes each; routers of a group all linked, a link between every two groups",
        example: "dragonfly:3x2x2",
        make: |spec, _| dragonfly::parse(spec),
    },
    Family {
        name: "slim-fly",
        syntax: "slim-fly:Q,nodes=P",
        help: "2Q^2 routers two hops apart at most, with P nodes each; Q a prime power",
        example: "slim-fly:5",
        make: |spec, _| slim_fly::parse(spec),
    },
    Family {
        name: "jellyfish",
        syntax: "jellyfish:SxDxP,seed=X",
        help: "S switches, linked at random with D others each, and P nodes each",
        example: "jellyfish:10x3x2,seed=1",
        make: |spec, _| jellyfish::parse(spec),
    },
    Family {
        name: "groups",
        syntax: "groups:GxR,inside=B",
        help: "two tiers: G groups of R ranks, with links of B times the bandwidth within a group, and with inside_hop=H of H times the hop; one switch joins all",
        example: "groups:3x4",
        make: |spec, _| groups::parse(spec),
    },
    Family {
        name: "rdn",
        syntax: "rdn:K(BASE)",
        help: "a recursive dual-net of K levels over a regular base, such as rdn:2(torus:5x5)",
        example: "rdn:1(torus:2x3)",
        make: rdn::parse,
    },
    Family {
        name: "graph",
        syntax: "graph:FILE",
        help: "any network: a line an edge, two node numbers and perhaps a bandwidth; shortest routes, at a tie by the lowest neighbour",
        example: "",
        make: graph::parse,
    },
];

/// The topology that a spec names, where that takes no file.
///
/// ```
/// let torus = swapmeet_core::network::topology::parse("torus:16x8").unwrap();
/// assert_eq!((torus.nodes(), torus.diameter()), (128, 12));
/// let error = swapmeet_core::network::topology::parse("torus:16x0").unwrap_err();
/// assert_eq!(error.to_string(), "topology `torus:16x0`: dimension 2 is 0, expected a whole number from 1 on");
/// ```
pub fn parse(text: &str) -> Result<Arc<dyn Topology>, SpecError> {
    parse_with(text, &|_| Err("can't be read here".to_owned()))
}

/// The topology that a spec names; `read` reads the files that are named in it.
pub fn parse_with(text: &str, read: ReadFile<'_>) -> Result<Arc<dyn Topology>, SpecError> {
    let spec = Spec::parse("topology", text)?;
    let (network, ranks) = placed::split(&spec, text);
    // What is wrong is shown where it stands in the whole.
    let base = parse_network(network, read)
        .map_err(|e| SpecError { near: e.near, ..spec.error(e.at, e.len, &e.message) })?;
    let routing = ranks.routing;
    routed::parse(placed::parse(base, &spec, ranks, read)?, &spec, routing)
}

/// The topology that a spec names, where ranks lie as their numbers say.
fn parse_network(text: &str, read: ReadFile<'_>) -> Result<Arc<dyn Topology>, SpecError> {
    let spec = Spec::parse("topology", text)?;
    match FAMILIES.iter().find(|f| f.name == spec.name()) {
        Some(family) => (family.make)(&spec, read),
        None => Err(spec.unknown_name(FAMILIES.iter().map(|f| f.name))),
    }
}

#[cfg(test)]
pub(crate) mod tests;
