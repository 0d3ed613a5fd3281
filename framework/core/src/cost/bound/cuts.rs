//! Lower bounds on link loads from cuts: the bytes that must cross a cut share its links.
//!
//! Every cut gives a valid bound. These cuts are examined:
//! - Each single node.
//! - The bisection of the topology, if it is known.
//! - If it is not known, or if traffic is uneven: cuts along orders of the nodes. These are the
//!   order along each dimension, by distance from node 0, by distance from the node that is
//!   farthest from it, and by the Fiedler vector of the network (the eigenvector of the second
//!   smallest eigenvalue of its Laplacian; Fiedler, 1973).
//! - Improvements of the best of these: single nodes are moved to the other side while that raises
//!   the bound (local search).
//!
//! Another bound is that all bytes times hops share all links. If bandwidths differ, a hop counts
//! with the inverse bandwidth of its link.

use super::BoundKind;
use super::demand::Demand;
use crate::network::topology::Topology;
use crate::network::topology::adjacency::Adjacency;

/// The bytes that some link must carry, divided by its bandwidth, and the argument.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct OnLinks {
    pub bytes: f64,
    pub kind: BoundKind,
}

impl OnLinks {
    /// Returns the larger bound; at a tie (up to rounding) this one.
    fn or(self, bytes: f64, kind: BoundKind) -> Self {
        if bytes > self.bytes * (1.0 + 1e-12) { Self { bytes, kind } } else { self }
    }
}

/// Largest number of nodes for which links are examined one by one.
const MAX_NODES: u64 = 1 << 13;
/// Largest number of nodes for which every pair is examined along every order.
const MAX_PAIRED: u64 = 1 << 10;
/// Largest number of nodes for the local search.
const MAX_MOVED: u64 = 1 << 6;

/// Returns the best bound. `hop_bytes`: all bytes times hops.
pub(super) fn on_links(topology: &dyn Topology, demand: &Demand<'_>, hop_bytes: f64) -> OnLinks {
    let nodes = topology.nodes();
    let found = OnLinks { bytes: 0.0, kind: BoundKind::NodeLinks };
    let found = bisected(topology, demand, found);
    if topology.node_network().is_some() {
        // Messages between ranks of one node use no link.
        let bandwidth = topology.max_links() as f64 * fastest(topology);
        return found
            .or(if bandwidth > 0.0 { hop_bytes / bandwidth } else { 0.0 }, BoundKind::Distances);
    }
    let small = nodes <= if demand.is_cheap() { MAX_NODES } else { MAX_PAIRED };
    let listed = (small && topology.switches() == 0).then(|| Adjacency::of(topology)).flatten();
    let Some(network) = listed else {
        let bandwidth = topology.max_links() as f64 * fastest(topology);
        let at_root = at_node(topology, demand, demand.root());
        return found
            .or(at_root, BoundKind::NodeLinks)
            .or(hop_bytes / bandwidth, BoundKind::Distances);
    };
    let mut found = found.or(hop_bytes / network.bandwidth(), BoundKind::Distances);
    for node in 0..nodes {
        let (out, into) = demand.at(node, nodes);
        found = found.or(out.max(into) / network.bandwidth_of(node), BoundKind::NodeLinks);
    }
    if topology.bisection().is_some() && demand.is_even() {
        return found;
    }
    let mut best = Cut { bytes: 0.0, side: Vec::new() };
    for order in orders(topology, &network) {
        best = best.or_along(&order, &network, demand);
    }
    if nodes <= MAX_MOVED {
        best.improve(&network, demand);
    }
    found.or(best.bytes, BoundKind::Cut)
}

/// Returns the bound from the known bisection of the topology, if all nodes have the same demand.
fn bisected(topology: &dyn Topology, demand: &Demand<'_>, found: OnLinks) -> OnLinks {
    let Some(cut) = topology.bisection() else { return found };
    let (side, others) = (cut.side as f64, (topology.nodes() - cut.side) as f64);
    let bytes = match demand {
        Demand::Uniform(bytes) => side * others * bytes,
        Demand::AllGather(bytes) | Demand::ReduceScatter(bytes) => others * bytes,
        Demand::Broadcast(_, bytes) | Demand::Reduce(_, bytes) | Demand::AllReduce(bytes) => *bytes,
        Demand::None
        | Demand::AllGatherUneven(_)
        | Demand::Pairs(_)
        | Demand::FromRoot(..)
        | Demand::ToRoot(..)
        | Demand::Permutation(..) => 0.0,
    };
    found.or(bytes / (cut.links as f64 * fastest(topology)), BoundKind::Bisection)
}

fn fastest(topology: &dyn Topology) -> f64 {
    topology.bandwidths().map_or(1.0, |(_, most)| most)
}

/// A cut, and its bound.
struct Cut {
    bytes: f64,
    side: Vec<bool>,
}

impl Cut {
    fn or_along(self, order: &[u32], network: &Adjacency, demand: &Demand<'_>) -> Self {
        let mut place = vec![0; order.len()];
        for (k, node) in (0_u32..).zip(order) {
            place[*node as usize] = k;
        }
        // Compute the bandwidth of the links that leave the first k nodes. The opposite links have
        // the same bandwidth.
        let mut change = vec![0.0; order.len() + 1];
        for (from, to, bandwidth) in network.links() {
            let (from, to) = (place[from as usize], place[to as usize]);
            if from < to {
                change[from as usize + 1] += bandwidth;
                change[to as usize + 1] -= bandwidth;
            }
        }
        let (mut at, mut across) = (0, 0.0);
        let (mut bytes, mut first) = (self.bytes, 0);
        demand.sweep(order, order.len(), |k, out, into| {
            while at < k {
                at += 1;
                across += change[at];
            }
            let here = if across > 0.0 { out.max(into) / across } else { 0.0 };
            if here > bytes {
                (bytes, first) = (here, k);
            }
        });
        if first == 0 {
            return self;
        }
        Self { bytes, side: place.iter().map(|k| (*k as usize) < first).collect() }
    }

    /// Moves single nodes to the other side, each time the one that raises the bound most, until no
    /// move helps.
    fn improve(&mut self, network: &Adjacency, demand: &Demand<'_>) {
        let mut moved = !self.side.is_empty();
        while std::mem::take(&mut moved) {
            let mut best = (self.bytes, 0);
            for node in 0..self.side.len() {
                self.side[node] ^= true;
                let bound = self.bound(network, demand);
                best = if bound > best.0 { (bound, node) } else { best };
                self.side[node] ^= true;
            }
            if best.0 > self.bytes * (1.0 + 1e-12) {
                self.side[best.1] ^= true;
                (self.bytes, moved) = (best.0, true);
            }
        }
    }

    fn bound(&self, network: &Adjacency, demand: &Demand<'_>) -> f64 {
        let inside = |node: u32| self.side[node as usize];
        let links = network.links().filter(|(from, to, _)| inside(*from) && !inside(*to));
        let across: f64 = links.map(|(.., bandwidth)| bandwidth).sum();
        let order: Vec<u32> = (0..self.side.len() as u32).filter(|node| inside(*node)).collect();
        let (out, into) = demand.across(&order, self.side.len());
        if across > 0.0 { out.max(into) / across } else { 0.0 }
    }
}

/// Returns the orders of the nodes along which cuts are examined.
fn orders(topology: &dyn Topology, network: &Adjacency) -> Vec<Vec<u32>> {
    let n = topology.nodes() as u32;
    let by = |key: &dyn Fn(u32) -> f64| {
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by(|a, b| key(*a).total_cmp(&key(*b)));
        order
    };
    let radices = topology.radices();
    let mut orders = Vec::new();
    let mut stride = topology.nodes();
    for radix in radices {
        stride /= radix;
        orders.push(by(&|node| (u64::from(node) / stride % radix) as f64));
    }
    let hops = network.hops_from(0);
    let farthest = (0..n).max_by_key(|node| hops[*node as usize]).unwrap_or(0);
    let back = network.hops_from(farthest.into());
    orders.push(by(&|node| f64::from(hops[node as usize])));
    orders.push(by(&|node| f64::from(back[node as usize])));
    let vibration = network.fiedler_vector();
    orders.push(by(&|node| vibration[node as usize]));
    orders
}

/// Returns the bound from the links of one node.
fn at_node(topology: &dyn Topology, demand: &Demand<'_>, node: u64) -> f64 {
    let (out, into) = demand.at(node, topology.nodes());
    topology
        .links_from(node)
        .map_or(0.0, |links| out.max(into) / (links as f64 * fastest(topology)))
}
