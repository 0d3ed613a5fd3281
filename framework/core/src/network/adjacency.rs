//! A network as a list of links, for whoever must look at every one: figures of networks, and cuts
//! for bounds.

use super::topology::Topology;
use std::collections::VecDeque;

/// Links by the vertex they leave; switches come after the nodes.
#[derive(Debug)]
pub(crate) struct Adjacency {
    first: Vec<usize>,
    ends: Vec<u32>,
    bandwidths: Vec<f64>,
}

/// Link numbers are looked through up to here.
const MOST_SLOTS: u64 = 1 << 25;

impl Adjacency {
    /// `None` for more links than are looked through.
    pub(crate) fn of(topology: &dyn Topology) -> Option<Self> {
        if topology.link_slots() > MOST_SLOTS {
            return None;
        }
        let links = || {
            (0..topology.link_slots()).filter_map(|link| Some((link, topology.link_ends(link)?)))
        };
        let vertices = (topology.nodes() + topology.switches()) as usize;
        let mut first = vec![0; vertices + 1];
        links().for_each(|(_, (from, _))| first[from as usize + 1] += 1);
        for v in 0..vertices {
            first[v + 1] += first[v];
        }
        let mut next = first.clone();
        let (mut ends, mut bandwidths) = (vec![0; first[vertices]], vec![1.0; first[vertices]]);
        for (link, (from, to)) in links() {
            let at = next[from as usize];
            ends[at] = to as u32;
            bandwidths[at] = topology.bandwidth(link);
            next[from as usize] += 1;
        }
        Some(Self { first, ends, bandwidths })
    }

    pub(crate) fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    /// Directed links, parallel ones counted each.
    pub(crate) fn link_count(&self) -> usize {
        self.ends.len()
    }

    /// The ends of the links out of a vertex.
    pub(crate) fn out(&self, vertex: usize) -> &[u32] {
        &self.ends[self.first[vertex]..self.first[vertex + 1]]
    }

    /// The ends and the bandwidth of every link.
    pub(crate) fn links(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        (0..self.vertices())
            .flat_map(|v| self.links_of(v).map(move |(to, bandwidth)| (v as u32, to, bandwidth)))
    }

    fn links_of(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.first[vertex]..self.first[vertex + 1];
        self.ends[range.clone()].iter().copied().zip(self.bandwidths[range].iter().copied())
    }

    /// Of all links together.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.bandwidths.iter().sum()
    }

    /// Of the links out of a vertex together.
    pub(crate) fn bandwidth_of(&self, vertex: u64) -> f64 {
        self.links_of(vertex as usize).map(|(_, bandwidth)| bandwidth).sum()
    }

    /// Hops from a vertex to each, by the shortest way.
    pub(crate) fn hops_from(&self, from: u64) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.vertices()];
        hops[from as usize] = 0;
        let mut queue = VecDeque::from([from as u32]);
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

    /// The eigenvector of the second smallest eigenvalue of the Laplacian (Fiedler's), as far as
    /// power iteration brings it out: vertices that are closely connected have values close to one
    /// another.
    pub(crate) fn fiedler_vector(&self) -> Vec<f64> {
        /// Links that are looked at, over all iterations.
        const MOST_LOOKS: usize = 1 << 26;
        let n = self.vertices();
        let iterations = (MOST_LOOKS / self.link_count().max(1)).clamp(1, 300);
        let most = (0..n as u64).map(|v| self.bandwidth_of(v)).fold(0.0, f64::max);
        // Any start that is orthogonal to nothing in particular, the same everywhere.
        let mut at: Vec<f64> =
            (0..n as u64).map(|v| (v.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as f64).collect();
        for _ in 0..iterations {
            let mean = at.iter().sum::<f64>() / n as f64;
            at.iter_mut().for_each(|x| *x -= mean);
            let norm = at.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm == 0.0 {
                break;
            }
            at.iter_mut().for_each(|x| *x /= norm);
            let pulled = |v: usize| {
                self.links_of(v).map(|(to, b)| b * (at[to as usize] - at[v])).sum::<f64>()
            };
            at = (0..n).map(|v| 2.0 * most * at[v] + pulled(v)).collect();
        }
        at
    }
}
