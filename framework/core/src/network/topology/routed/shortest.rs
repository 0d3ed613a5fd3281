//! Equal-cost multipath: all paths of the fewest hops, each vertex sharing out alike over the links
//! that lead nearer.

use crate::network::topology::draw::Draw;
use crate::network::topology::{Plane, Run, Topology};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// The links of a network by the vertex that they leave, and how far vertices are apart.
#[derive(Debug)]
pub(super) struct Shortest {
    /// Of each vertex, the ends and numbers of its links.
    links: Vec<Vec<(u32, u64)>>,
    /// Hops from each vertex to each, those to one vertex after another.
    hops: Vec<u16>,
    planes: Vec<Plane>,
}

impl Shortest {
    /// Of a network of nodes.
    pub(super) fn new(network: &dyn Topology) -> Self {
        let vertices = (network.nodes() + network.switches()) as usize;
        let mut links = vec![Vec::new(); vertices];
        let mut into = vec![Vec::new(); vertices];
        for link in 0..network.link_slots() {
            if let Some((from, to)) = network.link_ends(link) {
                links[from as usize].push((to as u32, link));
                into[to as usize].push(from as u32);
            }
        }
        let mut hops = vec![u16::MAX; vertices * vertices];
        for to in 0..vertices {
            let hops = &mut hops[to * vertices..(to + 1) * vertices];
            hops[to] = 0;
            let mut queue = VecDeque::from([to as u32]);
            while let Some(at) = queue.pop_front() {
                let next = hops[at as usize] + 1;
                for from in &into[at as usize] {
                    if hops[*from as usize] == u16::MAX {
                        hops[*from as usize] = next;
                        queue.push_back(*from);
                    }
                }
            }
        }
        let planes = network.planes().to_vec();
        Self { links, hops, planes }
    }

    fn hops(&self, from: u64, to: u64) -> u16 {
        self.hops[to as usize * self.links.len() + from as usize]
    }

    /// The links that lead from a vertex nearer to another.
    fn nearer(&self, at: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let here = self.hops(at, to);
        let links = self.links[at as usize].iter().map(|(end, link)| (u64::from(*end), *link));
        links.filter(move |(end, _)| self.hops(*end, to) < here)
    }

    pub(super) fn route(
        &self,
        from: u64,
        to: u64,
        mut draw: Draw,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        let (mut at, mut crossed) = (from, 0);
        while at != to {
            let ways = self.nearer(at, to).count();
            // A connected network has a way.
            let Some((end, link)) = self.nearer(at, to).nth(draw.below(ways)) else { break };
            let plane = self
                .planes
                .iter()
                .position(|p| (p.offset..p.offset + p.links()).contains(&link))
                .unwrap_or(0);
            let stride = self.planes.get(plane).map_or(1, |plane| plane.stride);
            visit(Run { first: link, stride, len: 1, plane: plane as u32 });
            (at, crossed) = (end, crossed + 1);
        }
        crossed
    }

    /// What messages between nodes, (from, to, load) each, are expected to put on links: messages
    /// and load, a link perhaps several times.
    pub(super) fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        // What passes vertices, the farthest first, so that all that passes one is there before it
        // goes on.
        let mut passing: BTreeMap<(Reverse<u16>, u64), f64> = BTreeMap::new();
        for (from, to, load) in messages.filter(|(from, to, _)| from != to) {
            passing.insert((Reverse(self.hops(from, to)), from), 1.0);
            while let Some(((_, at), share)) = passing.pop_first() {
                let each = share / self.nearer(at, to).count().max(1) as f64;
                for (end, link) in self.nearer(at, to) {
                    visit(link, each, each * load as f64);
                    if end != to {
                        *passing.entry((Reverse(self.hops(end, to)), end)).or_default() += each;
                    }
                }
            }
        }
    }
}
