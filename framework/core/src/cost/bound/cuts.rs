//! What the links must carry: whatever divides the nodes, what must cross from one side to the
//! other shares the links between them.
//!
//! Every cut is a valid bound; these are looked at. Each node alone (its own links, where a
//! machine's ports are more than they are). The family's bisection. And where a network has none,
//! or what is moved is uneven, cuts along orders of the nodes: along each dimension; by distance
//! from node 0, and from the node farthest from it; along the slowest vibration of the network (the
//! eigenvector of its Laplacian's second eigenvalue, by power iteration: Fiedler, 1973). From the
//! best of these single nodes are moved to the other side while that helps. Beside cuts, all bytes
//! times hops share all links; where bandwidths differ, a hop counts its link's inverse bandwidth,
//! too.

use super::BoundKind;
use super::demand::Demand;
use crate::network::adjacency::Adjacency;
use crate::network::topology::Topology;

/// The most bytes that a link must carry, over its bandwidth, and what shows it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct OnLinks {
    pub bytes: f64,
    pub kind: BoundKind,
}

impl OnLinks {
    /// The better one; at a tie, rounding aside, the one that is there.
    fn or(self, bytes: f64, kind: BoundKind) -> Self {
        if bytes > self.bytes * (1.0 + 1e-12) { Self { bytes, kind } } else { self }
    }
}

/// Nodes whose links are looked at one by one.
const MOST_NODES: u64 = 1 << 13;
/// Nodes of which every pair is looked at along every order.
const MOST_PAIRED: u64 = 1 << 10;
/// Nodes that are moved from side to side.
const MOST_MOVED: u64 = 1 << 6;

/// The best bound there is. `hop_bytes` are those of all that moves.
pub(super) fn on_links(topology: &dyn Topology, demand: &Demand<'_>, hop_bytes: f64) -> OnLinks {
    let nodes = topology.nodes();
    let found = OnLinks { bytes: 0.0, kind: BoundKind::NodeLinks };
    let found = bisected(topology, demand, found);
    if topology.node_network().is_some() {
        // What a rank has for others of its node goes over none of its links.
        let bandwidth = topology.max_links() as f64 * fastest(topology);
        return found
            .or(if bandwidth > 0.0 { hop_bytes / bandwidth } else { 0.0 }, BoundKind::Distances);
    }
    let small = nodes <= if demand.is_cheap() { MOST_NODES } else { MOST_PAIRED };
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
    if nodes <= MOST_MOVED {
        best.improve(&network, demand);
    }
    found.or(best.bytes, BoundKind::Cut)
}

/// A family's best known cut, which any nodes may be on either side of, where as much goes from
/// each.
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

/// The first nodes of some order against the rest.
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
        // Bandwidth of the links that lead out of the first k nodes: the links back are as many and
        // as fast.
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

    /// Moves the node that raises the bound most to the other side, while one does.
    fn improve(&mut self, network: &Adjacency, demand: &Demand<'_>) {
        let mut moved = !self.side.is_empty();
        while std::mem::take(&mut moved) {
            let mut best = (self.bytes, 0);
            for node in 0..self.side.len() {
                self.side[node] ^= true;
                let shown = self.shown(network, demand);
                best = if shown > best.0 { (shown, node) } else { best };
                self.side[node] ^= true;
            }
            if best.0 > self.bytes * (1.0 + 1e-12) {
                self.side[best.1] ^= true;
                (self.bytes, moved) = (best.0, true);
            }
        }
    }

    fn shown(&self, network: &Adjacency, demand: &Demand<'_>) -> f64 {
        let inside = |node: u32| self.side[node as usize];
        let links = network.links().filter(|(from, to, _)| inside(*from) && !inside(*to));
        let across: f64 = links.map(|(.., bandwidth)| bandwidth).sum();
        let order: Vec<u32> = (0..self.side.len() as u32).filter(|node| inside(*node)).collect();
        let (out, into) = demand.across(&order, self.side.len());
        if across > 0.0 { out.max(into) / across } else { 0.0 }
    }
}

/// Orders of the nodes along which cuts are looked at.
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

/// What one node's links must carry.
fn at_node(topology: &dyn Topology, demand: &Demand<'_>, node: u64) -> f64 {
    let (out, into) = demand.at(node, topology.nodes());
    topology
        .links_from(node)
        .map_or(0.0, |links| out.max(into) / (links as f64 * fastest(topology)))
}
