//! A network as a list of links, for algorithms that visit every link (searches, network statistics
//! and cuts).

use super::Network;
use crate::places::Places;
use std::collections::VecDeque;
use std::ops::Range;

/// The links of a network, sorted by the vertex that they leave (compressed sparse rows). Vertices
/// are the nodes, followed by the switches.
#[derive(Debug, Clone)]
pub(crate) struct Adjacency {
    /// The links out of vertex `v` have the indices `first[v]..first[v + 1]`.
    first: Vec<usize>,
    ends: Vec<u32>,
    /// For each link, its number in the topology.
    numbers: Vec<u64>,
    bandwidths: Vec<f64>,
}

/// A directed link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    /// The number of the link in the topology.
    pub number: u64,
    /// The vertex that the link leaves.
    pub from: u64,
    /// The vertex that the link enters.
    pub to: u64,
    /// The bandwidth, as a multiple of the machine's bandwidth.
    pub bandwidth: f64,
}

/// The maximum number of link numbers that a topology may have if its links are listed.
const MAX_SLOTS: u64 = 1 << 25;

impl Adjacency {
    /// Lists the links of a topology; `None` if it has more than 2^25 link numbers.
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

    /// Creates a network of links. `links` returns an iterator over all links. It is called twice
    /// and must return the same links both times.
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

    /// Returns an iterator over all links, sorted by the vertex that they leave.
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

    /// Returns the network with only those links for which `change` returns a link. A returned link
    /// may have other properties than the original link.
    pub(crate) fn changed(&self, change: impl Fn(Link) -> Option<Link>) -> Self {
        Self::of_links(self.vertices(), || self.each().filter_map(&change))
    }

    /// Returns the network with the direction of every link reversed.
    pub(crate) fn reversed(&self) -> Self {
        self.changed(|link| Some(Link { from: link.to, to: link.from, ..link }))
    }

    /// Creates a network from a list of the neighbours of each vertex. Links are numbered in the
    /// order of these lists and have bandwidth 1.
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

    /// Returns the number of directed links, including all parallel links.
    pub(crate) fn link_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the indices of the links out of a vertex.
    pub(crate) fn range(&self, vertex: u64) -> Range<usize> {
        self.first[vertex as usize]..self.first[vertex as usize + 1]
    }

    /// Returns the vertex that a link leaves and the vertex that it enters.
    pub(crate) fn link_ends(&self, index: u64) -> Option<(u64, u64)> {
        let to = *self.ends.get(index as usize)?;
        let from = self.first.partition_point(|first| *first as u64 <= index) - 1;
        Some((from as u64, to.into()))
    }

    /// Returns the vertex to which the link with this index leads.
    pub(crate) fn end(&self, index: usize) -> u64 {
        self.ends[index].into()
    }

    /// Returns the number in the topology of the link with this index.
    pub(crate) fn number(&self, index: usize) -> u64 {
        self.numbers[index]
    }

    /// Returns the neighbours of a vertex, one for each link.
    pub(crate) fn out(&self, vertex: usize) -> &[u32] {
        &self.ends[self.range(vertex as u64)]
    }

    /// Returns the neighbours of a vertex, each with the topology's number of the link to it.
    pub(crate) fn numbered(&self, vertex: u64) -> impl Iterator<Item = (u64, u64)> {
        let range = self.range(vertex);
        let ends = self.ends[range.clone()].iter().map(|end| u64::from(*end));
        ends.zip(self.numbers[range].iter().copied())
    }

    /// Returns, for every link, the vertex that it leaves, the vertex to which it leads, and its
    /// bandwidth.
    pub(crate) fn links(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        (0..self.vertices())
            .flat_map(|v| self.links_of(v).map(move |(to, bandwidth)| (v as u32, to, bandwidth)))
    }

    /// Returns the vertex at the end of each link out of a vertex, and the link's bandwidth.
    pub(crate) fn links_of(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.range(vertex as u64);
        self.ends[range.clone()].iter().copied().zip(self.bandwidths[range].iter().copied())
    }

    /// Returns the sum of the bandwidths of all links.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.bandwidths.iter().sum()
    }

    /// Returns the sum of the bandwidths of the links out of a vertex.
    pub(crate) fn bandwidth_of(&self, vertex: u64) -> f64 {
        self.links_of(vertex as usize).map(|(_, bandwidth)| bandwidth).sum()
    }

    /// Returns the hops of a shortest path from one vertex to every vertex, found by breadth-first
    /// search; `u32::MAX` if there is no path.
    pub(crate) fn hops_from(&self, from: u64) -> Vec<u32> {
        self.hops_from_nearest([from as u32])
    }

    /// Returns the lowest vertex that cannot be reached from the vertex `from`, if there is one.
    pub(crate) fn unreached_from(&self, from: u64) -> Option<u64> {
        self.hops_from(from).iter().position(|hops| *hops == u32::MAX).map(|lost| lost as u64)
    }

    /// Returns, for every vertex, the hops from the nearest of several vertices; `u32::MAX` if
    /// there is no path.
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

    /// Approximates the Fiedler vector, which is the eigenvector of the second smallest eigenvalue
    /// of the Laplacian, by power iteration. Closely connected vertices have similar values.
    pub(crate) fn fiedler_vector(&self) -> Vec<f64> {
        /// The maximum number of links that all iterations together visit.
        const MAX_VISITS: usize = 1 << 26;
        let n = self.vertices();
        let iterations = (MAX_VISITS / self.link_count().max(1)).clamp(1, 300);
        let most = (0..n as u64).map(|v| self.bandwidth_of(v)).fold(0.0, f64::max);
        // The start vector is arbitrary, but it is the same on every platform.
        let mut at: Vec<f64> =
            (0..n as u64).map(|v| (v.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as f64).collect();
        for _ in 0..iterations {
            // Remove the constant component, whose eigenvalue is the smallest one, and normalise
            // the vector.
            let mean = at.iter().sum::<f64>() / n as f64;
            at.iter_mut().for_each(|x| *x -= mean);
            let norm = at.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm == 0.0 {
                break;
            }
            at.iter_mut().for_each(|x| *x /= norm);
            // Multiply by the matrix `2 most I - L`, where I is the identity, L the Laplacian, and
            // `most` the largest sum of bandwidths at a vertex. Both matrices have the same
            // eigenvectors. The largest eigenvalues of this matrix belong to the smallest
            // eigenvalues of L.
            let pulled = |v: usize| {
                self.links_of(v).map(|(to, b)| b * (at[to as usize] - at[v])).sum::<f64>()
            };
            at = (0..n).map(|v| 2.0 * most * at[v] + pulled(v)).collect();
        }
        at
    }
}
