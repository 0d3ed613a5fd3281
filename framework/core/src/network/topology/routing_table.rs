//! Shortest routes in any network, by a table of next links: two bytes for a vertex and a
//! destination.

use std::collections::VecDeque;

/// Which link comes next, from any vertex to the first ones. Among several shortest routes it is
/// the first link of those that lead nearer.
#[derive(Debug, Clone)]
pub(super) struct RoutingTable {
    /// The links out of vertex v are `first[v]` to `first[v + 1]` - 1.
    first: Vec<u32>,
    ends: Vec<u32>,
    /// For each destination and vertex, which of the vertex's links.
    next: Vec<u16>,
    /// From each destination: hops to the farthest other, and to all others together.
    reach: Vec<(u64, u64)>,
}

/// A vertex that isn't reached, or is the destination itself.
const NOWHERE: u16 = u16::MAX;

impl RoutingTable {
    /// The most vertices: the table takes 128 MiB.
    pub(super) const MOST: u64 = 1 << 13;

    /// Routes over links both ways, listed by the vertex they leave, to the first vertices; `Err`
    /// is a vertex that has no way to vertex 0.
    pub(super) fn find(links: &[Vec<u32>], destinations: u64) -> Result<Self, u64> {
        let n = links.len();
        let mut first = vec![0];
        first.extend(links.iter().scan(0, |sum, ends| {
            *sum += ends.len() as u32;
            Some(*sum)
        }));
        let mut table = Self { first, ends: links.concat(), next: Vec::new(), reach: Vec::new() };
        table.next = vec![NOWHERE; n * destinations as usize];
        let mut hops = vec![u32::MAX; n];
        let mut queue = VecDeque::new();
        for destination in 0..destinations as usize {
            hops.fill(u32::MAX);
            hops[destination] = 0;
            queue.push_back(destination);
            while let Some(v) = queue.pop_front() {
                for end in &links[v] {
                    if hops[*end as usize] == u32::MAX {
                        hops[*end as usize] = hops[v] + 1;
                        queue.push_back(*end as usize);
                    }
                }
            }
            if let Some(lost) = hops.iter().position(|hops| *hops == u32::MAX) {
                return Err(lost as u64);
            }
            for (v, next) in
                table.next[destination * n..(destination + 1) * n].iter_mut().enumerate()
            {
                let nearer = links[v].iter().position(|end| hops[*end as usize] < hops[v]);
                *next = nearer.map_or(NOWHERE, |nearer| nearer as u16);
            }
            let to_others = || hops[..destinations as usize].iter().map(|h| u64::from(*h));
            table.reach.push((to_others().max().unwrap_or(0), to_others().sum()));
        }
        Ok(table)
    }

    /// The numbers of the links out of a vertex.
    pub(super) fn links_of(&self, vertex: u64) -> std::ops::Range<usize> {
        self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize
    }

    /// Where a link leads.
    pub(super) fn end(&self, link: usize) -> u64 {
        self.ends[link].into()
    }

    /// Where a link comes from and where it leads, if there is such a link.
    pub(super) fn ends(&self, link: u64) -> Option<(u64, u64)> {
        let to = *self.ends.get(link as usize)?;
        let from = self.first.partition_point(|first| u64::from(*first) <= link) - 1;
        Some((from as u64, to.into()))
    }

    pub(super) fn links(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Which of a vertex's links leads on to a destination that it isn't.
    pub(super) fn next(&self, at: u64, to: u64) -> u64 {
        let vertices = self.first.len() as u64 - 1;
        self.next[(to * vertices + at) as usize].into()
    }

    /// From a destination: hops to the farthest other, and to all others together.
    pub(super) fn reach(&self, destination: u64) -> (u64, u64) {
        self.reach[destination as usize]
    }
}
