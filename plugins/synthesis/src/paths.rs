//! Shortest-path trees with whole-number lengths.
//!
//! Vertices wait in a ring of buckets, one for each distance modulo the size of the ring (R. Dial,
//! 1969). A two-level set of bits finds the next bucket that is not empty, so no heap is needed.

use crate::network::{NONE, Network};

/// The number of buckets. Every link must be shorter than this number, so that all vertices of a
/// bucket have the same distance.
const RING: usize = 4096;
/// The length to which the prices of the most expensive links are scaled. It is less than `RING`.
pub(crate) const LONGEST: f32 = 4000.0;

/// A search for the shortest-path tree of one vertex after another.
pub(crate) struct ShortestPaths {
    /// The distance of each vertex; `NONE` if there is no path.
    pub distance: Vec<u32>,
    /// For each vertex, the last link of its path in the tree; `NONE` for the root.
    pub parent: Vec<u32>,
    /// The vertices that have a path, in ascending order of their distances.
    pub order: Vec<u32>,
    /// The first vertex of each bucket. The vertices of a bucket form a doubly linked list.
    bucket: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// A bit for each bucket that is not empty.
    occupied: [u64; RING / 64],
    /// A bit for each word of `occupied` that is not zero.
    summary: u64,
}

impl ShortestPaths {
    pub(crate) fn new(vertices: usize) -> Self {
        Self {
            distance: vec![NONE; vertices],
            parent: vec![NONE; vertices],
            order: Vec::with_capacity(vertices),
            bucket: vec![NONE; RING],
            next: vec![NONE; vertices],
            previous: vec![NONE; vertices],
            occupied: [0; RING / 64],
            summary: 0,
        }
    }

    /// Finds the shortest-path tree of vertex `from`. Lengths must be at least 1 and less than
    /// `RING`.
    pub(crate) fn find(&mut self, network: &Network, lengths: &[u32], from: u32) {
        self.distance.fill(NONE);
        self.order.clear();
        self.distance[from as usize] = 0;
        self.parent[from as usize] = NONE;
        self.put(from, 0);
        let mut now = 0;
        while self.summary != 0 {
            now = self.next_bucket(now);
            let vertex = self.bucket[now];
            let here = self.distance[vertex as usize];
            self.remove(vertex, here);
            self.order.push(vertex);
            for link in network.out(vertex as usize) {
                let (to, distance) = (network.head[link], here + lengths[link]);
                let known = self.distance[to as usize];
                if distance < known {
                    if known != NONE {
                        self.remove(to, known);
                    }
                    self.distance[to as usize] = distance;
                    self.parent[to as usize] = link as u32;
                    self.put(to, distance);
                }
            }
        }
    }

    /// Replaces `path` by the links of the path to vertex `to`, in order.
    pub(crate) fn path_to(&self, network: &Network, to: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut at = to as usize;
        while self.parent[at] != NONE {
            path.push(self.parent[at]);
            at = network.tail[self.parent[at] as usize] as usize;
        }
        path.reverse();
    }

    fn put(&mut self, vertex: u32, distance: u32) {
        let bucket = distance as usize % RING;
        let first = self.bucket[bucket];
        self.next[vertex as usize] = first;
        self.previous[vertex as usize] = NONE;
        if first != NONE {
            self.previous[first as usize] = vertex;
        }
        self.bucket[bucket] = vertex;
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.summary |= 1 << (bucket / 64);
    }

    fn remove(&mut self, vertex: u32, distance: u32) {
        let bucket = distance as usize % RING;
        let (previous, next) = (self.previous[vertex as usize], self.next[vertex as usize]);
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        if previous != NONE {
            self.next[previous as usize] = next;
            return;
        }
        self.bucket[bucket] = next;
        if next == NONE {
            self.occupied[bucket / 64] &= !(1 << (bucket % 64));
            if self.occupied[bucket / 64] == 0 {
                self.summary &= !(1 << (bucket / 64));
            }
        }
    }

    /// Returns the first bucket that is not empty, from bucket `now` on and then from bucket 0 on.
    /// At least one bucket must not be empty.
    fn next_bucket(&self, now: usize) -> usize {
        let here = self.occupied[now / 64] & (!0 << (now % 64));
        if here != 0 {
            return now / 64 * 64 + here.trailing_zeros() as usize;
        }
        // Search the words after this word. If all of them are zero, search from the first word on.
        let behind = self.summary & (!0_u64).checked_shl(now as u32 / 64 + 1).unwrap_or(0);
        let words = if behind != 0 { behind } else { self.summary };
        let word = words.trailing_zeros() as usize;
        word * 64 + self.occupied[word].trailing_zeros() as usize
    }
}
