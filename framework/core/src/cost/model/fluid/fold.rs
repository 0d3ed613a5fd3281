//! A folded network. It has one node for each orbit of nodes of the original network, and one link
//! for each orbit of links. A simulation of the folded network is faster and gives the same times.
//!
//! Folding is possible if translations of the network (shifts of the coordinates of its nodes) map
//! a schedule onto itself. An orbit is the set of all images of a node, or of a link, under these
//! translations. All nodes of an orbit do the same work at the same time, and all links of an orbit
//! have the same load. If the route of a message has m links of an orbit, and the orbit has as many
//! links as there are translations, then m images of the message cross each of these links. If the
//! orbit has only 1/k as many links as there are translations, k m images cross each of its links.

use crate::network::topology::automorphisms::{CoordinatePermutation, OrbitTable};
use crate::network::topology::{AxisSymmetry, Network};

/// The grid of the node numbers of a network, and the orbits of its nodes and links. In each
/// dimension, neighbouring nodes of an orbit are one *period* apart. A network that is not folded
/// is stored as one dimension, whose period is the number of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    nodes: u32,
    sides: Vec<u32>,
    periods: Vec<u32>,
    /// The number of links between nodes in the original network.
    slots: u64,
    /// The orbits of links; `None` if the network is not folded.
    links: Option<OrbitTable>,
    /// For each node, its orbit; empty if the network is not folded.
    orbit: Vec<u32>,
    /// For each orbit, its first node; empty if the network is not folded.
    first: Vec<u32>,
    orbits: usize,
}

impl Fold {
    /// Folds a network by all of its translations. Returns `None` if the network has none, or if it
    /// cannot be folded because ranks share nodes or routes are random.
    pub(super) fn smallest(topology: &Network) -> Option<Self> {
        Self::of_axes(topology, |_, side| vec![side])
    }

    /// Folds a network by all exclusive-ors of node numbers that are automorphisms, and by all
    /// translations of its other axes. Each axis whose coordinates may be permuted, and whose
    /// length is a power of two, is stored as several dimensions of length 2. A translation in such
    /// a dimension is an exclusive-or with a power of two. Returns `None` if the network has no
    /// such axis.
    pub(super) fn by_exclusive_or(topology: &Network) -> Option<Self> {
        let fold = Self::of_axes(topology, |axis, side| match axis {
            AxisSymmetry::Permutations if side.is_power_of_two() && side > 1 => {
                vec![2; side.ilog2() as usize]
            }
            _ => vec![side],
        })?;
        (fold.sides.len() > topology.radices().len()).then_some(fold)
    }

    /// Folds a network as far as possible. An axis of the network can be stored as several
    /// dimensions: `sides` returns their lengths, for the symmetry and the length of the axis.
    fn of_axes(topology: &Network, sides: impl Fn(AxisSymmetry, u32) -> Vec<u32>) -> Option<Self> {
        if topology.shares_nodes() || topology.random_routing().is_some() {
            return None;
        }
        let axes = topology.automorphisms()?.axes();
        let (mut all, mut periods) = (Vec::new(), Vec::new());
        for (axis, &length) in axes.into_iter().zip(topology.radices()) {
            for side in sides(axis, length as u32) {
                all.push(side);
                periods.push(if axis == AxisSymmetry::Fixed { side } else { 1 });
            }
        }
        (periods != all).then(|| Self::new(topology, all, periods))
    }

    /// Returns the network without folding.
    pub(super) fn plain(topology: &Network) -> Self {
        let sides = vec![topology.nodes() as u32];
        Self::new(topology, sides.clone(), sides)
    }

    fn new(topology: &Network, sides: Vec<u32>, periods: Vec<u32>) -> Self {
        let orbits = periods.iter().product::<u32>() as usize;
        let mut fold = Self {
            nodes: sides.iter().product(),
            slots: topology.link_slots(),
            links: None,
            orbit: Vec::new(),
            first: Vec::new(),
            orbits,
            sides,
            periods,
        };
        if fold.periods == fold.sides {
            return fold;
        }
        // The orbits of nodes.
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
        // The orbits of links. Each folded dimension has one generator, the rotation by its period.
        let moved = (0..fold.sides.len()).filter(|d| fold.periods[*d] < fold.sides[*d]);
        let generators: Vec<CoordinatePermutation> = moved
            .filter_map(|d| {
                let image = |node: u64| fold.image(node as u32, d, fold.periods[d]).into();
                CoordinatePermutation::of(topology, &image)
            })
            .collect();
        fold.links = Some(OrbitTable::new(topology, &generators));
        fold
    }

    /// Returns the same network, folded with the given periods.
    pub(super) fn with(&self, topology: &Network, periods: Vec<u32>) -> Self {
        Self::new(topology, self.sides.clone(), periods)
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

    /// Returns the first node of an orbit, which represents all nodes of the orbit.
    pub(super) fn first(&self, orbit: u32) -> u32 {
        if self.is_plain() { orbit } else { self.first[orbit as usize] }
    }

    /// Returns the number of links of the folded network. The last ones are injection links: each
    /// orbit of nodes has one link into the network and one link out of it.
    pub(super) fn links(&self) -> u64 {
        self.slots() + 2 * self.orbits as u64
    }

    /// Returns the number of links between nodes in the folded network.
    pub(super) fn slots(&self) -> u64 {
        self.links.as_ref().map_or(self.slots, |links| links.count() as u64)
    }

    /// Returns the orbit of a link between nodes, and a number of messages. If a message crosses
    /// one link of the orbit, this number of its images cross each link of the orbit.
    pub(super) fn link(&self, link: u64) -> (u32, u32) {
        let Some(links) = &self.links else { return (link as u32, 1) };
        let orbit = links.orbit(link);
        let translations = self.nodes() as usize / self.orbits;
        (orbit, (translations as u64 / links.link_count(orbit)) as u32)
    }

    /// Returns the first link of an orbit of links between nodes.
    pub(super) fn first_link(&self, orbit: u64) -> u64 {
        self.links.as_ref().map_or(orbit, |links| links.first(orbit as u32))
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
        (0..self.nodes()).map(|node| self.image(node, dimension, by)).collect()
    }

    fn image(&self, node: u32, dimension: usize, by: u32) -> u32 {
        let side = self.sides[dimension];
        let stride: u32 = self.sides[dimension + 1..].iter().product();
        let at = node / stride % side;
        node - at * stride + (at + by) % side * stride
    }
}
