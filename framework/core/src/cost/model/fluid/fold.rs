//! A network folded along its translations: where these map a schedule onto itself, all nodes of an
//! orbit do the same at the same time, and so do all links of one. One of each is followed, and a
//! message crosses a link of the folded network as often as its way has links of that orbit.

use crate::network::topology::{Regularity, Topology};

/// A torus, or a hypercube (rings of two), and how far apart the nodes of an orbit are in each
/// dimension. Any other network is a ring that is not folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    nodes: u32,
    sides: Vec<u32>,
    periods: Vec<u32>,
    links: Links,
    /// Links between nodes, not folded.
    slots: u64,
    /// For each node the number of its orbit, and for each orbit its first node; empty where
    /// nothing is folded.
    orbit: Vec<u32>,
    first: Vec<u32>,
    orbits: usize,
}

/// How links are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    /// In planes, each by the nodes that links leave.
    InPlanes,
    /// So many for each node.
    OfNodes(u64),
}

impl Fold {
    /// As narrow as can be, if the network's translations take routes to routes and links to links
    /// that are alike.
    pub(super) fn narrowest(topology: &dyn Topology) -> Option<Self> {
        let alike = topology.bandwidths().is_none() && topology.latencies().is_none();
        if !alike || topology.node_network().is_some() || topology.random_routing().is_some() {
            return None;
        }
        let (sides, links) = match topology.regularity() {
            Regularity::Torus(sides) => {
                (sides.iter().map(|side| *side as u32).collect(), Links::InPlanes)
            }
            Regularity::Hypercube(bits) => (vec![2; bits as usize], Links::OfNodes(bits.into())),
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

    /// Nothing is folded.
    pub(super) fn plain(topology: &dyn Topology) -> Self {
        let sides = vec![topology.nodes() as u32];
        Self::new(sides.clone(), sides, Links::InPlanes, topology.link_slots())
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

    /// The same network with other periods.
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

    /// The orbit of a node.
    pub(super) fn orbit(&self, node: u32) -> u32 {
        if self.is_plain() { node } else { self.orbit[node as usize] }
    }

    /// An orbit's first node, which stands for all of them.
    pub(super) fn first(&self, orbit: u32) -> u32 {
        if self.is_plain() { orbit } else { self.first[orbit as usize] }
    }

    /// How many links there are, those of nodes' own ways out and in last.
    pub(super) fn links(&self) -> u64 {
        self.slots() + 2 * self.orbits as u64
    }

    /// Of these links how many are between nodes.
    pub(super) fn slots(&self) -> u64 {
        if self.is_plain() {
            self.slots
        } else {
            self.slots / u64::from(self.nodes) * self.orbits as u64
        }
    }

    /// The link of the folded network that a link between nodes is one of.
    pub(super) fn link(&self, link: u64) -> u32 {
        if self.is_plain() {
            return link as u32;
        }
        let (nodes, orbits) = (u64::from(self.nodes()), self.orbits as u64);
        let folded = match self.links {
            Links::InPlanes => {
                link / nodes * orbits + u64::from(self.orbit[(link % nodes) as usize])
            }
            Links::OfNodes(of) => u64::from(self.orbit[(link / of) as usize]) * of + link % of,
        };
        folded as u32
    }

    /// A node moved by the translation that takes `from` to `to`.
    pub(super) fn moved(&self, node: u32, from: u32, to: u32) -> u32 {
        let (mut at, mut from, mut to, mut moved, mut stride) = (node, from, to, 0, 1);
        for side in self.sides.iter().rev() {
            moved += (at % side + to % side + side - from % side) % side * stride;
            (at, from, to, stride) = (at / side, from / side, to / side, stride * side);
        }
        moved
    }

    /// Where a translation of one dimension takes each node.
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
