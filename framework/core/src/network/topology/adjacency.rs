//! The links of a network as a list, for algorithms that visit all links, and tables of shortest
//! routes.

use super::Network;
use crate::places::Places;
use std::collections::VecDeque;
use std::ops::Range;

/// The links of a network, sorted by the vertex that they leave (compressed sparse rows).
#[derive(Debug, Clone)]
pub(crate) struct Adjacency {
    first: Vec<usize>,
    ends: Vec<u32>,
    numbers: Vec<u64>,
    bandwidths: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub number: u64,
    pub from: u64,
    pub to: u64,
    pub bandwidth: f64,
}

const MAX_SLOTS: u64 = 1 << 25;

impl Adjacency {
    pub(crate) fn of(topology: &Network) -> Option<Self> {
        if topology.link_slots() > MAX_SLOTS {
            return None;
        }
        let links = || {
            (0..topology.link_slots()).filter_map(|link| {
                let (from, to) = topology.link_ends(link)?;
                Some(Link { number: link, from, to, bandwidth: topology.bandwidth(link) })
            })
        };
        Some(Self::of_links((topology.nodes() + topology.switches()) as usize, links))
    }

    /// Creates the list. `links` is called twice and must return the same links both times.
    fn of_links<I: Iterator<Item = Link>>(vertices: usize, links: impl Fn() -> I) -> Self {
        let mut places = Places::of(vertices, links().map(|link| link.from as usize));
        let count = places.first[vertices];
        let mut network = Self {
            first: Vec::new(),
            ends: vec![0; count],
            numbers: vec![0; count],
            bandwidths: vec![1.0; count],
        };
        for link in links() {
            let index = places.take(link.from as usize);
            network.ends[index] = link.to as u32;
            network.numbers[index] = link.number;
            network.bandwidths[index] = link.bandwidth;
        }
        network.first = places.first;
        network
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = Link> {
        (0..self.vertices() as u64).flat_map(move |from| {
            self.range(from).map(move |index| Link {
                number: self.numbers[index],
                from,
                to: self.end(index),
                bandwidth: self.bandwidths[index],
            })
        })
    }

    pub(crate) fn changed(&self, change: impl Fn(Link) -> Option<Link>) -> Self {
        Self::of_links(self.vertices(), || self.each().filter_map(&change))
    }

    pub(crate) fn reversed(&self) -> Self {
        self.changed(|link| Some(Link { from: link.to, to: link.from, ..link }))
    }

    pub(crate) fn from_neighbours(neighbours: &[Vec<u32>]) -> Self {
        let ends = neighbours.concat();
        let first = neighbours.iter().scan(0, |sum, ends| {
            *sum += ends.len();
            Some(*sum)
        });
        Self {
            first: std::iter::once(0).chain(first).collect(),
            numbers: (0..ends.len() as u64).collect(),
            bandwidths: vec![1.0; ends.len()],
            ends,
        }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn link_count(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn range(&self, vertex: u64) -> Range<usize> {
        self.first[vertex as usize]..self.first[vertex as usize + 1]
    }

    pub(crate) fn link_ends(&self, index: u64) -> Option<(u64, u64)> {
        let to = *self.ends.get(index as usize)?;
        let from = self.first.partition_point(|first| *first as u64 <= index) - 1;
        Some((from as u64, to.into()))
    }

    pub(crate) fn end(&self, index: usize) -> u64 {
        self.ends[index].into()
    }

    pub(crate) fn number(&self, index: usize) -> u64 {
        self.numbers[index]
    }

    pub(crate) fn out(&self, vertex: usize) -> &[u32] {
        &self.ends[self.range(vertex as u64)]
    }

    pub(crate) fn numbered(&self, vertex: u64) -> impl Iterator<Item = (u64, u64)> {
        let range = self.range(vertex);
        let ends = self.ends[range.clone()].iter().map(|end| u64::from(*end));
        ends.zip(self.numbers[range].iter().copied())
    }

    pub(crate) fn links(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        (0..self.vertices())
            .flat_map(|v| self.links_of(v).map(move |(to, bandwidth)| (v as u32, to, bandwidth)))
    }

    pub(crate) fn links_of(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.range(vertex as u64);
        self.ends[range.clone()].iter().copied().zip(self.bandwidths[range].iter().copied())
    }

    pub(crate) fn bandwidth(&self) -> f64 {
        self.bandwidths.iter().sum()
    }

    pub(crate) fn bandwidth_of(&self, vertex: u64) -> f64 {
        self.links_of(vertex as usize).map(|(_, bandwidth)| bandwidth).sum()
    }

    pub(crate) fn hops_from(&self, from: u64) -> Vec<u32> {
        self.hops_from_nearest([from as u32])
    }

    pub(crate) fn unreached_from(&self, from: u64) -> Option<u64> {
        self.hops_from(from).iter().position(|hops| *hops == u32::MAX).map(|lost| lost as u64)
    }

    pub(crate) fn hops_from_nearest(&self, from: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.vertices()];
        let mut queue = VecDeque::from_iter(from);
        queue.iter().for_each(|v| hops[*v as usize] = 0);
        while let Some(v) = queue.pop_front() {
            let here = hops[v as usize];
            for &next in self.out(v as usize) {
                if hops[next as usize] == u32::MAX {
                    hops[next as usize] = here + 1;
                    queue.push_back(next);
                }
            }
        }
        hops
    }

    /// Approximates the Fiedler vector, which has similar values at vertices that are close to each
    /// other, by power iteration.
    pub(crate) fn fiedler_vector(&self) -> Vec<f64> {
        const MAX_VISITS: usize = 1 << 26;
        let n = self.vertices();
        let iterations = (MAX_VISITS / self.link_count().max(1)).clamp(1, 300);
        let most = (0..n as u64).map(|v| self.bandwidth_of(v)).fold(0.0, f64::max);
        // The start vector is arbitrary, but the same on all platforms.
        let mut at: Vec<f64> =
            (0..n as u64).map(|v| (v.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as f64).collect();
        for _ in 0..iterations {
            // Remove the constant component, which belongs to the smallest eigenvalue of the
            // Laplacian, and normalise.
            let mean = at.iter().sum::<f64>() / n as f64;
            at.iter_mut().for_each(|x| *x -= mean);
            let norm = at.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm == 0.0 {
                break;
            }
            at.iter_mut().for_each(|x| *x /= norm);
            // Multiply by `2 most I - L`, where I is the identity, L is the Laplacian, and `most`
            // is the largest sum of bandwidths at a vertex. The largest eigenvalues of this matrix
            // belong to the smallest eigenvalues of L.
            let pulled = |v: usize| {
                self.links_of(v).map(|(to, b)| b * (at[to as usize] - at[v])).sum::<f64>()
            };
            at = (0..n).map(|v| 2.0 * most * at[v] + pulled(v)).collect();
        }
        at
    }
}

/// For every vertex and destination, the next link on a shortest route. Destinations are the
/// vertices with the lowest numbers. Of the links that lead nearer to the destination, a vertex
/// uses the first one.
#[derive(Debug, Clone)]
pub(super) struct RoutingTable {
    network: Adjacency,
    next: Vec<u16>,
    distances: Vec<(u64, u64)>,
}

/// Means that the vertex is the destination, or that no route leads to the destination.
const NOWHERE: u16 = u16::MAX;

impl RoutingTable {
    /// The maximum number of vertices. A table for all pairs of so many vertices takes 128 MiB.
    pub(super) const MAX_VERTICES: u64 = 1 << 13;

    pub(super) fn find(network: Adjacency, destinations: u64) -> Self {
        let (mut next, mut distances) = (Vec::new(), Vec::new());
        // Distances to a destination can differ from those from it, so the search follows links
        // backwards.
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

    pub(super) fn network(&self) -> &Adjacency {
        &self.network
    }

    pub(super) fn next_position(&self, at: u64, to: u64) -> u64 {
        let position = self.next[to as usize * self.network.vertices() + at as usize];
        assert!(position != NOWHERE, "no route leads from vertex {at} to vertex {to}");
        position.into()
    }

    pub(super) fn next_link(&self, at: u64, to: u64) -> usize {
        self.network.range(at).start + self.next_position(at, to) as usize
    }

    pub(super) fn distances(&self, destination: u64) -> (u64, u64) {
        self.distances[destination as usize]
    }
}
