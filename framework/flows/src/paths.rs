//! Directed links, and trees of shortest paths. The lengths of links are whole numbers.

/// The number that means "no vertex" or "no link".
pub const NONE: u32 = u32::MAX;

/// Directed links, sorted by the vertex that they leave (compressed sparse rows).
#[derive(Debug, Clone)]
pub struct Links {
    /// The links out of vertex `v` have the numbers `first[v]..first[v + 1]`.
    pub first: Vec<u32>,
    pub tail: Vec<u32>,
    pub head: Vec<u32>,
}

impl Default for Links {
    fn default() -> Self {
        Self { first: vec![0], tail: Vec::new(), head: Vec::new() }
    }
}

impl Links {
    /// Adds a link from the current vertex to `head`. The current vertex is the one after all
    /// completed vertices.
    pub fn push(&mut self, head: u32) {
        self.tail.push(self.vertices() as u32);
        self.head.push(head);
    }

    /// Completes the current vertex. No link that leaves it can be added afterwards.
    pub fn end_vertex(&mut self) {
        self.first.push(self.head.len() as u32);
    }

    pub fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    pub fn count(&self) -> usize {
        self.head.len()
    }

    pub fn out(&self, vertex: usize) -> std::ops::Range<usize> {
        self.first[vertex] as usize..self.first[vertex + 1] as usize
    }

    /// Returns the reversed links, and for each of them the number of the original link.
    pub fn reversed(&self) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        order.sort_by_key(|link| self.head[*link as usize]);
        let mut first = vec![0; self.first.len()];
        self.head.iter().for_each(|head| first[*head as usize + 1] += 1);
        (1..first.len()).for_each(|vertex| first[vertex] += first[vertex - 1]);
        let pick = |ends: &[u32]| order.iter().map(|link| ends[*link as usize]).collect();
        (Self { first, tail: pick(&self.head), head: pick(&self.tail) }, order)
    }
}

/// The tree of shortest paths from one source. The same tables are used for one source after
/// another. Vertices to be processed are in a ring of buckets, by their distances modulo the size
/// of the ring (Dial, 1969). A set of bits with two levels finds the next bucket that is not empty.
#[derive(Debug)]
pub struct ShortestPaths {
    /// The distance of each vertex from the source; [`NONE`] if there is no path.
    pub distance: Vec<u32>,
    /// The last link on the path from the source to each vertex; [`NONE`] for the source.
    pub parent: Vec<u32>,
    /// The vertices that have a path, in ascending order of their distances from the source.
    pub order: Vec<u32>,
    /// The first vertex of each bucket. The vertices of a bucket form a doubly linked list.
    bucket: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// A bit for each bucket, which is set if the bucket is not empty.
    occupied: Vec<u64>,
    summary: Vec<u64>,
}

impl ShortestPaths {
    /// Creates tables for this number of vertices and for link lengths up to `longest`.
    pub fn new(vertices: usize, longest: u32) -> Self {
        let ring = (longest as usize + 1).next_power_of_two().max(4096);
        Self {
            distance: vec![NONE; vertices],
            parent: vec![NONE; vertices],
            order: Vec::with_capacity(vertices),
            bucket: vec![NONE; ring],
            next: vec![NONE; vertices],
            previous: vec![NONE; vertices],
            occupied: vec![0; ring / 64],
            summary: vec![0; ring / 4096],
        }
    }

    /// Computes the shortest paths from `from` to all vertices. Distances must fit into 32 bits.
    pub fn find(&mut self, links: &Links, lengths: &[u32], from: u32) {
        self.distance.fill(NONE);
        self.order.clear();
        self.distance[from as usize] = 0;
        self.parent[from as usize] = NONE;
        self.put(from, 0);
        let mut now = 0;
        while let Some(bucket) = self.next_bucket(now) {
            now = bucket;
            let vertex = self.bucket[bucket];
            let here = self.distance[vertex as usize];
            self.remove(vertex, here);
            self.order.push(vertex);
            for link in links.out(vertex as usize) {
                let (to, distance) = (links.head[link], here + lengths[link]);
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
    pub fn path_to(&self, links: &Links, to: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut at = to as usize;
        while self.parent[at] != NONE {
            path.push(self.parent[at]);
            at = links.tail[self.parent[at] as usize] as usize;
        }
        path.reverse();
    }

    fn put(&mut self, vertex: u32, distance: u32) {
        let bucket = distance as usize & (self.bucket.len() - 1);
        let first = self.bucket[bucket];
        self.next[vertex as usize] = first;
        self.previous[vertex as usize] = NONE;
        if first != NONE {
            self.previous[first as usize] = vertex;
        }
        self.bucket[bucket] = vertex;
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.summary[bucket / 4096] |= 1 << (bucket / 64 % 64);
    }

    fn remove(&mut self, vertex: u32, distance: u32) {
        let bucket = distance as usize & (self.bucket.len() - 1);
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
            let word = &mut self.occupied[bucket / 64];
            *word &= !(1 << (bucket % 64));
            if *word == 0 {
                self.summary[bucket / 4096] &= !(1 << (bucket / 64 % 64));
            }
        }
    }

    /// Returns the first bucket that is not empty, searching around the ring from bucket `now` on.
    fn next_bucket(&self, now: usize) -> Option<usize> {
        let here = self.occupied[now / 64] & (!0 << (now % 64));
        if here != 0 {
            return Some(now / 64 * 64 + here.trailing_zeros() as usize);
        }
        // `summary` has a bit for each word of `occupied`. First search the words after the current
        // one in its group of 64, then the following groups around the ring, which end with the
        // words before the current one.
        let (group, words) = (now / 4096, self.summary.len());
        let behind = (!0_u64).checked_shl((now / 64 % 64) as u32 + 1).unwrap_or(0);
        for round in 0..=words {
            let at = (group + round) % words;
            let mask = if round == 0 { behind } else { !0 };
            let found = self.summary[at] & mask;
            if found != 0 {
                let word = at * 64 + found.trailing_zeros() as usize;
                return Some(word * 64 + self.occupied[word].trailing_zeros() as usize);
            }
        }
        None
    }
}
