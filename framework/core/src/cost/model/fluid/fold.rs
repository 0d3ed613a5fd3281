//! A folded network, which is smaller than the network but gives the same times. It has one node
//! and one link for each orbit.
//!
//! Folding is possible if translations of the network map a schedule onto itself. An orbit is the
//! set of all images of a node, or of a link, under these translations. All nodes of an orbit do
//! the same work at the same time, and all links of an orbit have the same load. If the route of a
//! message has several links of an orbit, the message crosses the link of the folded network this
//! number of times.

use crate::network::topology::{Regularity, Topology};

/// A torus and its orbits of nodes. In each dimension, neighbouring nodes of an orbit are one
/// *period* apart. A hypercube is a torus of rings of two nodes. Other networks are not folded:
/// they are stored as one ring whose period is its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    nodes: u32,
    sides: Vec<u32>,
    periods: Vec<u32>,
    links: Links,
    /// The number of links between nodes in the network before folding.
    slots: u64,
    /// For each node, its orbit; empty if the network is not folded.
    orbit: Vec<u32>,
    /// For each orbit, its first node; empty if the network is not folded.
    first: Vec<u32>,
    orbits: usize,
}

/// The order in which the links of a network are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Links are sorted by plane, and within a plane by source node.
    ByPlane,
    /// Links are sorted by source node. The number is the number of links of each node.
    ByNode(u64),
}

impl Fold {
    /// Folds a network into a single orbit. Returns `None` if the translations of the network
    /// change routes or the speeds of links.
    pub(super) fn smallest(topology: &dyn Topology) -> Option<Self> {
        let has_equal_links = topology.bandwidths().is_none() && topology.latencies().is_none();
        if !has_equal_links
            || topology.node_network().is_some()
            || topology.random_routing().is_some()
        {
            return None;
        }
        let (sides, links) = match topology.regularity() {
            Regularity::Torus(sides) => {
                (sides.iter().map(|side| *side as u32).collect(), Links::ByPlane)
            }
            Regularity::Hypercube(bits) => (vec![2; bits as usize], Links::ByNode(bits.into())),
            Regularity::Mesh(_)
            | Regularity::Complete
            | Regularity::Halves { .. }
            | Regularity::Irregular => {
                return None;
            }
        };
        let periods = vec![1; sides.len()];
        Some(Self::new(sides, periods, links, topology.link_slots()))
    }

    /// Returns the network without folding.
    pub(super) fn plain(topology: &dyn Topology) -> Self {
        let sides = vec![topology.nodes() as u32];
        Self::new(sides.clone(), sides, Links::ByPlane, topology.link_slots())
    }

    fn new(sides: Vec<u32>, periods: Vec<u32>, links: Links, slots: u64) -> Self {
        let orbits = periods.iter().product::<u32>() as usize;
        let nodes = sides.iter().product();
        let mut fold = Self {
            nodes,
            sides,
            periods,
            links,
            slots,
            orbit: Vec::new(),
            first: Vec::new(),
            orbits,
        };
        if fold.periods != fold.sides {
            fold.first = vec![u32::MAX; orbits];
            for node in 0..fold.nodes() {
                let (mut rest, mut orbit, mut stride) = (node, 0, 1);
                for (side, period) in fold.sides.iter().zip(&fold.periods).rev() {
                    orbit += rest % side % period * stride;
                    (rest, stride) = (rest / side, stride * period);
                }
                let first = &mut fold.first[orbit as usize];
                *first = node.min(*first);
                fold.orbit.push(orbit);
            }
        }
        fold
    }

    /// Returns the same network, folded with the given periods.
    pub(super) fn with(&self, periods: Vec<u32>) -> Self {
        Self::new(self.sides.clone(), periods, self.links, self.slots)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.orbit.is_empty()
    }

    pub(super) fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(super) fn orbits(&self) -> usize {
        self.orbits
    }

    pub(super) fn sides(&self) -> &[u32] {
        &self.sides
    }

    pub(super) fn periods(&self) -> &[u32] {
        &self.periods
    }

    /// Returns the orbit of a node.
    pub(super) fn orbit(&self, node: u32) -> u32 {
        if self.is_plain() { node } else { self.orbit[node as usize] }
    }

    /// Returns the first node of an orbit, which represents it.
    pub(super) fn first(&self, orbit: u32) -> u32 {
        if self.is_plain() { orbit } else { self.first[orbit as usize] }
    }

    /// Returns the number of links of the folded network. The last links are the injection links:
    /// each orbit of nodes has one in each direction.
    pub(super) fn links(&self) -> u64 {
        self.slots() + 2 * self.orbits as u64
    }

    /// Returns the number of links between nodes in the folded network.
    pub(super) fn slots(&self) -> u64 {
        if self.is_plain() {
            self.slots
        } else {
            self.slots / u64::from(self.nodes) * self.orbits as u64
        }
    }

    /// Returns the orbit of a link between nodes.
    pub(super) fn link(&self, link: u64) -> u32 {
        if self.is_plain() {
            return link as u32;
        }
        let (nodes, orbits) = (u64::from(self.nodes()), self.orbits as u64);
        let folded = match self.links {
            Links::ByPlane => {
                link / nodes * orbits + u64::from(self.orbit[(link % nodes) as usize])
            }
            Links::ByNode(of) => u64::from(self.orbit[(link / of) as usize]) * of + link % of,
        };
        folded as u32
    }

    /// Returns the image of `node` under the translation that maps `from` to `to`.
    pub(super) fn moved(&self, node: u32, from: u32, to: u32) -> u32 {
        let (mut at, mut from, mut to, mut moved, mut stride) = (node, from, to, 0, 1);
        for side in self.sides.iter().rev() {
            moved += (at % side + to % side + side - from % side) % side * stride;
            (at, from, to, stride) = (at / side, from / side, to / side, stride * side);
        }
        moved
    }

    /// Returns the image of each node under a translation by `by` in one dimension.
    pub(super) fn images(&self, dimension: usize, by: u32) -> Vec<u32> {
        let (side, stride) =
            (self.sides[dimension], self.sides[dimension + 1..].iter().product::<u32>());
        let image = |node: u32| {
            let at = node / stride % side;
            node - at * stride + (at + by) % side * stride
        };
        (0..self.nodes()).map(image).collect()
    }
}
