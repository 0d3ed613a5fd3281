//! Automorphisms of networks: permutations of nodes and links that map routes to routes, and links
//! to links of the same bandwidth and latency.
//!
//! A network states a product of groups of permutations, one for each axis of its node numbers.
//! [`CoordinatePermutation::of`] decides whether a permutation of nodes is in this product. It
//! examines every node, so it does not rely on the symmetry that a schedule claims.

use super::{Network, strides};

/// The permutations of the coordinates of one axis that are automorphisms if applied to all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisSymmetry {
    /// Only the identity is known.
    Fixed,
    /// Rotations, which add a number modulo the radix of the axis.
    Rotations,
    /// All permutations.
    Permutations,
}

/// A network whose routes are mapped to routes if the coordinates of each axis are permuted.
pub trait Automorphisms {
    /// Returns the symmetry of each axis of the node numbers ([`Network::radices`]).
    fn axes(&self) -> Vec<AxisSymmetry>;
    /// Returns the image of an existing link. `image(axis, coordinate)` returns the image of a
    /// coordinate.
    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64;
    /// Returns the node that a link leaves, and the port of the link. The port is a number of the
    /// link at this node that is the same for all images of the link. Returns `None` if the network
    /// has no ports.
    fn port(&self, _link: u64) -> Option<(u64, u64)> {
        None
    }
}

pub(super) fn image_of_node(radices: &[u64], node: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
    let (mut rest, mut stride, mut moved) = (node, 1, 0);
    for (axis, radix) in radices.iter().enumerate().rev() {
        moved += image(axis, rest % radix) * stride;
        (rest, stride) = (rest / radix, stride * radix);
    }
    moved
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CoordinatePermutation(Vec<Vec<u64>>);

impl CoordinatePermutation {
    /// Returns a permutation of nodes as permutations of coordinates; `None` if it is no known
    /// automorphism.
    pub(crate) fn of(topology: &Network, image: &dyn Fn(u64) -> u64) -> Option<Self> {
        let (radices, axes) = (topology.radices(), topology.automorphisms()?.axes());
        let strides = strides(radices);
        let (sides, first) = (|| axes.iter().zip(radices).zip(&strides), image(0));
        let images = sides().map(|((symmetry, radix), stride)| {
            let coordinate = |node: u64| node / stride % radix;
            let images: Vec<u64> = (0..*radix).map(|at| coordinate(image(at * stride))).collect();
            let by = coordinate(first);
            let rotates = |by: u64| (0..).zip(&images).all(|(at, to)| *to == (at + by) % radix);
            match symmetry {
                AxisSymmetry::Fixed => rotates(0),
                AxisSymmetry::Rotations => rotates(by),
                AxisSymmetry::Permutations => true,
            }
            .then_some(images)
        });
        let images = Self(images.collect::<Option<_>>()?);
        let is_image = |node| image_of_node(radices, node, &|axis, at| images.0[axis][at as usize]);
        (0..topology.nodes()).all(|node| image(node) == is_image(node)).then_some(images)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Orbits {
    orbits: Vec<u32>,
    first: Vec<u64>,
    sizes: Vec<u64>,
}

impl Orbits {
    const NONE: u32 = u32::MAX;

    pub(crate) fn of_nodes(topology: &Network, generators: &[CoordinatePermutation]) -> Self {
        let radices = topology.radices();
        let image = |node, CoordinatePermutation(images): &CoordinatePermutation| {
            image_of_node(radices, node, &|axis, at| images[axis][at as usize])
        };
        Self::new(topology.nodes(), |_| true, generators, image)
    }

    pub(crate) fn of_links(topology: &Network, generators: &[CoordinatePermutation]) -> Self {
        let automorphisms = topology.automorphisms();
        let image = |link, CoordinatePermutation(images): &CoordinatePermutation| {
            let network = automorphisms.expect("a network with generators has automorphisms");
            network.image_of_link(link, &|axis, at| images[axis][at as usize])
        };
        let exists = |link| topology.link_ends(link).is_some();
        Self::new(topology.link_slots(), exists, generators, image)
    }

    fn new<P>(
        numbers: u64,
        exists: impl Fn(u64) -> bool,
        generators: &[P],
        image: impl Fn(u64, &P) -> u64,
    ) -> Self {
        let orbits = vec![Self::NONE; numbers as usize];
        let mut found = Self { orbits, first: Vec::new(), sizes: Vec::new() };
        let mut open = Vec::new();
        for first in (0..numbers).filter(|number| exists(*number)) {
            if found.orbits[first as usize] != Self::NONE {
                continue;
            }
            // The generators alone reach the whole orbit. Their inverses are not needed, because
            // permutations have finite order.
            let orbit = found.first.len() as u32;
            found.orbits[first as usize] = orbit;
            open.push(first);
            let mut size = 0;
            while let Some(member) = open.pop() {
                size += 1;
                for generator in generators {
                    let to = image(member, generator);
                    let of = &mut found.orbits[to as usize];
                    if *of == Self::NONE {
                        *of = orbit;
                        open.push(to);
                    }
                }
            }
            found.first.push(first);
            found.sizes.push(size);
        }
        found
    }

    pub(crate) fn count(&self) -> usize {
        self.first.len()
    }

    pub(crate) fn orbit(&self, member: u64) -> u32 {
        self.orbits[member as usize]
    }

    pub(crate) fn first(&self, orbit: u32) -> u64 {
        self.first[orbit as usize]
    }

    pub(crate) fn size(&self, orbit: u32) -> u64 {
        self.sizes[orbit as usize]
    }
}
