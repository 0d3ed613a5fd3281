//! Lists the possible failures of a single link, and whether each of them disconnects nodes.

use super::draw;
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{Automorphisms, AxisSymmetry, Network};
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
    // If all translations of the nodes are automorphisms, the orbit of a link is given by the
    // differences between the coordinates of its ends. If all permutations of a coordinate are
    // automorphisms, too, all differences except 0 are equivalent. In all other networks, no
    // symmetry is used (`None`).
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
            disconnects: !draw::stays_connected(&links, &down, network.nodes(), (a, b)),
            images: if one_per_orbit && orbit.is_some() { images[&orbit] } else { 1 },
        }
    };
    Some(pairs.iter().filter(is_first).map(fault).collect())
}
