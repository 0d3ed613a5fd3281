//! Shortest routes in any network. A table has the next link for each pair of a vertex and a
//! destination, with two bytes for each pair.

use crate::network::topology::adjacency::Adjacency;

/// A table of the next link from every vertex to every destination. The destinations are the
/// vertices with the lowest numbers. If there are several shortest routes, the table has the
/// vertex's first link that leads nearer to the destination.
#[derive(Debug, Clone)]
pub(super) struct RoutingTable {
    network: Adjacency,
    /// For each destination and vertex, the position of the next link among the vertex's links.
    /// Sorted by destination, then by vertex.
    next: Vec<u16>,
    /// For each destination, the hops from the farthest other destination, and the sum of the hops
    /// from all other destinations.
    distances: Vec<(u64, u64)>,
}

/// A special value in the table: there is no next link, because the vertex is the destination, or
/// because no route leads to the destination.
const NOWHERE: u16 = u16::MAX;

impl RoutingTable {
    /// The maximum number of vertices. A table for all pairs of this many vertices takes 128 MiB.
    pub(super) const MAX_VERTICES: u64 = 1 << 13;

    /// Finds the routes to the first `destinations` vertices. If no route leads from a vertex to a
    /// destination, the table has no next link for this pair.
    pub(super) fn find(network: Adjacency, destinations: u64) -> Self {
        let (mut next, mut distances) = (Vec::new(), Vec::new());
        // A search along reversed links finds the distances to a destination. They may differ from
        // the distances from this destination, because links may exist in one direction only.
        let reversed = network.reversed();
        for destination in 0..destinations {
            let hops = reversed.hops_from(destination);
            next.extend((0..).zip(&hops).map(|(v, here)| {
                let nearer = network.out(v).iter().position(|end| hops[*end as usize] < *here);
                nearer.map_or(NOWHERE, |nearer| nearer as u16)
            }));
            let from_others = || hops[..destinations as usize].iter().map(|h| u64::from(*h));
            distances.push((from_others().max().unwrap_or(0), from_others().sum()));
        }
        Self { network, next, distances }
    }

    /// Returns the links of the network.
    pub(super) fn network(&self) -> &Adjacency {
        &self.network
    }

    /// Returns the next link on the route from vertex `at` to vertex `to`, as a position among the
    /// links of `at`.
    pub(super) fn next_position(&self, at: u64, to: u64) -> u64 {
        let position = self.next[to as usize * self.network.vertices() + at as usize];
        assert!(position != NOWHERE, "no route leads from vertex {at} to vertex {to}");
        position.into()
    }

    /// Returns the index of the next link on the route from vertex `at` to vertex `to`.
    pub(super) fn next_link(&self, at: u64, to: u64) -> usize {
        self.network.range(at).start + self.next_position(at, to) as usize
    }

    /// Returns the hops to a destination from the farthest other destination, and the sum of the
    /// hops from all other destinations.
    pub(super) fn distances(&self, destination: u64) -> (u64, u64) {
        self.distances[destination as usize]
    }
}
