//! Equal-cost multipath: messages use all shortest paths. Each vertex divides messages equally
//! among the links that lead nearer to the receiver.

use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{Network, Plane, Run, SplitMix64};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The links of a network and the distances between all vertices.
#[derive(Debug)]
pub(super) struct Ecmp {
    network: Adjacency,
    /// The hops from every vertex to every destination, sorted by destination and then by vertex.
    hops: Vec<u16>,
    planes: Vec<Plane>,
}

impl Ecmp {
    /// Computes the distances between all vertices of a network, whose links must be few enough to
    /// list them.
    pub(super) fn new(network: &Network) -> Self {
        let planes = network.planes().to_vec();
        let network = Adjacency::of(network).expect("networks with random routing are small");
        // A search along reversed links finds the distances to a vertex. They may differ from the
        // distances from this vertex, because links may exist in one direction only.
        let reversed = network.reversed();
        let hops = (0..network.vertices() as u64).flat_map(|to| reversed.hops_from(to));
        Self { hops: hops.map(|hops| hops as u16).collect(), network, planes }
    }

    /// Returns the hops of a shortest path.
    pub(super) fn hops(&self, from: u64, to: u64) -> u16 {
        self.hops[to as usize * self.network.vertices() + from as usize]
    }

    /// Returns the links of vertex `at` that lead nearer to vertex `to`. Each link is given by the
    /// vertex that it enters and by its number.
    fn nearer(&self, at: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let here = self.hops(at, to);
        self.network.numbered(at).filter(move |(end, _)| self.hops(*end, to) < here)
    }

    pub(super) fn route(
        &self,
        from: u64,
        to: u64,
        mut draw: SplitMix64,
        visit: &mut dyn FnMut(Run),
    ) -> u64 {
        let (mut at, mut crossed) = (from, 0);
        while at != to {
            let choices = self.nearer(at, to).count();
            let next = self.nearer(at, to).nth(draw.below(choices));
            let (end, link) = next.expect("a connected network has a link that leads nearer");
            visit(Run::in_planes(link, &self.planes));
            (at, crossed) = (end, crossed + 1);
        }
        crossed
    }

    /// Computes the expected link loads of messages, each given as (sender, receiver, load). Calls
    /// `visit` for each link with messages, with the expected number of messages on the link and
    /// their expected load. A link may be visited several times.
    pub(super) fn expected(
        &self,
        messages: &mut dyn Iterator<Item = (u64, u64, u64)>,
        visit: &mut dyn FnMut(u64, f64, f64),
    ) {
        // For each vertex, the fraction of the message that passes through it. The vertices that
        // are farthest from the receiver come first. So the fraction of a vertex is complete before
        // it is divided among the next links.
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
