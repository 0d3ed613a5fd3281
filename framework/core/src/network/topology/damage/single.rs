//! Lists the possible failures of a single link, and whether each of them disconnects nodes.

use super::draw;
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{Network, Regularity};
use std::collections::{BTreeMap, BTreeSet};

/// The failure of one link of a network, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SingleFault {
    /// The vertices that the link connects. The first one has the lower number.
    pub ends: (u64, u64),
    /// Whether the failure leaves a node without a path to another node.
    pub disconnects: bool,
    /// The number of links for which this failure stands. If one link is listed for each orbit,
    /// these are all links to which the symmetries of the network map this link. Otherwise the
    /// number is 1.
    pub images: u64,
}

/// Returns the failures of all links that exist in both directions, in ascending order. If
/// `one_per_orbit`, returns only one of several links that the symmetries of the network (such as
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
    let pairs = draw::pairs(&links);
    // In a torus or hypercube, translations map all links of a dimension to each other, so the
    // dimension identifies the orbit of a link. In a complete graph, permutations of the nodes map
    // all links to each other, so there is one orbit. In all other networks, no symmetry is used
    // (`None`).
    let dimension = |(a, b): (u64, u64)| match network.regularity() {
        Regularity::Torus(sides) => {
            let mut rest = (a, b);
            let differs = |side: &u64| {
                let apart = rest.0 % side != rest.1 % side;
                rest = (rest.0 / side, rest.1 / side);
                apart
            };
            sides.iter().rev().position(differs).map(|dimension| dimension as u64)
        }
        Regularity::Hypercube(_) => Some(a ^ b),
        Regularity::Complete => Some(0),
        Regularity::Mesh(_) | Regularity::Halves { .. } | Regularity::Irregular => None,
    };
    let mut images: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    pairs.iter().for_each(|pair| *images.entry(dimension(*pair)).or_default() += 1);
    let mut seen = BTreeSet::new();
    let is_first = |pair: &&(u64, u64)| {
        let dimension = dimension(**pair);
        !one_per_orbit || dimension.is_none() || seen.insert(dimension)
    };
    let fault = |&(a, b): &(u64, u64)| {
        let down = BTreeSet::from([(a, b), (b, a)]);
        let dimension = dimension((a, b));
        SingleFault {
            ends: (a, b),
            disconnects: !draw::stays_connected(&links, &down, network.nodes(), (a, b)),
            images: if one_per_orbit && dimension.is_some() { images[&dimension] } else { 1 },
        }
    };
    Some(pairs.iter().filter(is_first).map(fault).collect())
}
