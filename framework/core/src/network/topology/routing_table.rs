//! Shortest routes in any network. A table has the next link for each pair of a vertex and a
//! destination, with two bytes for each pair.

use crate::network::topology::adjacency::Adjacency;
use std::ops::Range;

/// A table of the next link from every vertex to every destination. The destinations are the
/// vertices with the lowest numbers. If there are several shortest routes, the table has the
/// vertex's first link that leads nearer to the destination.
#[derive(Debug, Clone)]
pub(super) struct RoutingTable {
    network: Adjacency,
    /// For each destination and vertex, the position of the next link among the vertex's links.
    next: Vec<u16>,
    /// For each destination, the hops to the farthest other destination, and the sum of the hops to
    /// all other destinations.
    distances: Vec<(u64, u64)>,
}

/// The entry of a destination itself, which has no next link.
const NOWHERE: u16 = u16::MAX;

impl RoutingTable {
    /// The maximum number of vertices. A table for all pairs of this many vertices takes 128 MiB.
    pub(super) const MAX_VERTICES: u64 = 1 << 13;

    /// Finds the routes to the first `destinations` vertices. `neighbours` has every link in both
    /// directions. `Err` has a vertex that is not connected to vertex 0.
    pub(super) fn find(neighbours: &[Vec<u32>], destinations: u64) -> Result<Self, u64> {
        let network = Adjacency::from_neighbours(neighbours);
        let (mut next, mut distances) = (Vec::new(), Vec::new());
        for destination in 0..destinations {
            let hops = network.hops_from(destination);
            if let Some(lost) = hops.iter().position(|hops| *hops == u32::MAX) {
                return Err(lost as u64);
            }
            next.extend((0..).zip(neighbours).map(|(v, ends): (usize, _)| {
                let nearer = ends.iter().position(|end| hops[*end as usize] < hops[v]);
                nearer.map_or(NOWHERE, |nearer| nearer as u16)
            }));
            let to_others = || hops[..destinations as usize].iter().map(|h| u64::from(*h));
            distances.push((to_others().max().unwrap_or(0), to_others().sum()));
        }
        Ok(Self { network, next, distances })
    }

    /// Returns the numbers of the links out of a vertex.
    pub(super) fn links_of(&self, vertex: u64) -> Range<usize> {
        self.network.range(vertex)
    }

    /// Returns the vertex to which a link leads.
    pub(super) fn end(&self, link: usize) -> u64 {
        self.network.end(link)
    }

    /// Returns the vertex that a link leaves and the vertex to which it leads, if there is a link
    /// with this number.
    pub(super) fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.network.link_ends(link)
    }

    pub(super) fn links(&self) -> u64 {
        self.network.link_count() as u64
    }

    /// Returns the next link on the route from vertex `at` to vertex `to`, as a position among the
    /// links of `at`.
    pub(super) fn next_link(&self, at: u64, to: u64) -> u64 {
        self.next[to as usize * self.network.vertices() + at as usize].into()
    }

    /// Returns the hops from a destination to the farthest other destination, and the sum of the
    /// hops to all other destinations.
    pub(super) fn distances(&self, destination: u64) -> (u64, u64) {
        self.distances[destination as usize]
    }
}
