//! Lower bounds on link loads from cuts, which divide a network into two sides: the bytes that must
//! cross a cut, divided by the bandwidth of its links.
//!
//! Every cut gives a valid bound. These cuts are examined:
//! - The cuts that separate a single node.
//! - The bisection of the topology, if it is known.
//! - Further cuts, if the bisection may not be the best cut, or if nodes have different amounts of
//!   data for each other. Some of them separate a block of the grid of nodes (such as a group of a
//!   dragonfly), or the nodes at a switch. Others separate the first nodes from the last ones in an
//!   order of the nodes: along each dimension, by distance from node 0, by distance from the node
//!   that is farthest from node 0, and by the Fiedler vector of the network (the eigenvector of the
//!   second smallest eigenvalue of its Laplacian; Fiedler, 1973).
//! - Improvements of the best of these cuts by local search: a node, a switch, or a switch with its
//!   nodes is moved to the opposite side as long as this raises the bound.
//!
//! A switch is placed on a side by two rules, which are both tried. By the first rule, a switch
//! joins the side to which most of its links lead. The second rule only counts the links that lead
//! towards the nearest nodes.
//!
//! A further bound needs no cut: the bytes times hops of all blocks, divided by the bandwidth of
//! all links.

use super::BoundKind;
use crate::delivery::collective::BlockSizes;
use crate::network::communicators::Communicators;
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{self, strides};
use crate::simulation::Task;
use crate::simulation::demand::{Amounts, Blocks, Demand};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct OnLinks {
    pub bytes: f64,
    pub kind: BoundKind,
}

impl OnLinks {
    fn or(self, bytes: f64, kind: BoundKind) -> Self {
        if bytes > self.bytes * (1.0 + 1e-12) { Self { bytes, kind } } else { self }
    }

    fn or_distances(self, hop_bytes: f64, bandwidth: f64) -> Self {
        if bandwidth > 0.0 { self.or(hop_bytes / bandwidth, BoundKind::Distances) } else { self }
    }
}

/// The most nodes of a network whose links are examined one by one.
const MAX_NODES: u64 = 1 << 13;
/// The most nodes of a network in which every pair of nodes is examined.
const MAX_PAIRED: u64 = 1 << 10;
/// The most nodes of a network on which the local search runs.
const MAX_MOVED: u64 = 1 << 6;

/// Returns the largest of all bounds. `hop_bytes` is the sum of bytes times hops of all blocks,
/// `busiest` is the largest amount that a node sends or receives, and `root` is the root of the
/// collective, or node 0 without a root.
pub(super) fn on_links(
    task: &Task,
    demand: &Demand<'_>,
    root: u64,
    hop_bytes: f64,
    busiest: f64,
) -> OnLinks {
    let (topology, is_one) = (task.network().as_ref(), task.communicators.is_none());
    let none = OnLinks { bytes: 0.0, kind: BoundKind::NodeLinks };
    let found = if is_one { bisected(topology, demand) } else { none };
    let small = topology.nodes() <= if demand.is_cheap() { MAX_NODES } else { MAX_PAIRED };
    let Some(network) = small.then(|| CutGraph::of(topology)).flatten() else {
        let bandwidth = topology.max_links() as f64 * fastest(topology);
        let at_nodes = at_nodes(task, demand, root, busiest);
        return found.or(at_nodes, BoundKind::NodeLinks).or_distances(hop_bytes, bandwidth);
    };
    let found = found.or_distances(hop_bytes, network.links.bandwidth());
    let nodes = topology.nodes() as usize;
    let mut cut = Cut::new(&network, Side::new(task, demand, nodes));
    let mut best = Best::default();
    for node in 0..network.nodes() as u32 {
        cut.flip(node);
        best.consider(&cut);
        cut.flip(node);
    }
    let found = found.or(best.exact_bound(&mut cut), BoundKind::NodeLinks);
    if is_one && demand.is_even() && topology.bisection().is_some_and(|bisection| bisection.exact) {
        return found;
    }
    let physical = topology.physical();
    let radices = physical.radices();
    let mut orders = blocks(radices, &network);
    orders.extend(dimensions(radices, network.nodes()));
    let is_enough = if network.is_direct() {
        is_one && demand.is_even() && topology.bisection().is_some()
    } else {
        radices.len() > 1
    };
    if !is_enough {
        orders.extend(distances(&network));
    }
    let level = network.links.hops_from_nearest(0..network.nodes() as u32);
    let follow = [None, Some(level.as_slice())].map(|level| Follow::new(&network.links, level));
    for follow in &follow[..if network.is_direct() { 1 } else { 2 }] {
        orders.iter().for_each(|order| best.along(order, follow, &mut cut));
    }
    if topology.nodes() <= MAX_MOVED {
        best.improve(&mut cut);
    }
    found.or(best.exact_bound(&mut cut), BoundKind::Cut)
}

/// Returns the bound from the bisection; 0 if the bisection is not known, or if the number of nodes
/// on each side does not determine the amount of data that must cross.
fn bisected(topology: &topology::Network, demand: &Demand<'_>) -> OnLinks {
    let none = OnLinks { bytes: 0.0, kind: BoundKind::NodeLinks };
    let Some(cut) = topology.bisection() else { return none };
    let (side, others) = (cut.side as f64, (topology.nodes() - cut.side) as f64);
    let bytes = match demand {
        Demand::Even(amount) => side * others * *amount as f64,
        Demand::Copies(amounts) | Demand::Sums(amounts) => match amounts {
            Amounts::Same(amount) => others * *amount as f64,
            Amounts::One(_, amount) => *amount as f64,
            Amounts::Each(_) => 0.0,
        },
        Demand::SumForAll(amount) => *amount as f64,
        Demand::Pairs(_) | Demand::Tokens(..) => 0.0,
    };
    none.or(bytes / cut.links as f64, BoundKind::Bisection)
}

/// Returns a bound for a network whose links are not listed. It is the larger of two amounts per
/// link, divided by the largest bandwidth: the amount of the root (or node 0) per link of this
/// node, and `busiest` per link of a node.
fn at_nodes(task: &Task, demand: &Demand<'_>, root: u64, busiest: f64) -> f64 {
    let topology = task.network().as_ref();
    if topology.shares_nodes() {
        return 0.0;
    }
    let (out, into) = demand.at(root, task.topology.nodes());
    let rank = task.communicators.as_ref().map_or(root, |all| all.rank(0, root));
    let at_root = topology.links_from(rank).map_or(0.0, |n| out.max(into) / n as f64);
    // It is unknown which node is the busiest. It is assumed to be the node with the most links, so
    // the bound may be lower than necessary, but it is still valid.
    let most = topology.degree().or_else(|| {
        let listed = (0..topology.nodes()).take_while(|_| !demand.is_cheap());
        listed.filter_map(|node| topology.links_from(node)).max()
    });
    at_root.max(most.map_or(0.0, |n| busiest / n as f64)) / fastest(topology)
}

fn fastest(topology: &topology::Network) -> f64 {
    topology.bandwidths().map_or(1.0, |(_, most)| most)
}

/// A rule that places the switches on a side of a cut. As soon as more than half of the bandwidth
/// of a switch's *counted* links leads to the first side, the switch joins this side.
struct Follow<'a> {
    /// If only links to a lower level are counted, the level of each vertex: its hops from the
    /// nearest node.
    level: Option<&'a [u32]>,
    half: Vec<f64>,
}

impl<'a> Follow<'a> {
    fn new(network: &Adjacency, level: Option<&'a [u32]>) -> Self {
        let mut follow = Self { level, half: Vec::new() };
        let half = |switch| {
            let links =
                network.links_of(switch).filter(|(to, _)| follow.counts(*to, switch as u32));
            links.map(|(_, bandwidth)| bandwidth).sum::<f64>() / 2.0
        };
        follow.half = (0..network.vertices()).map(half).collect();
        follow
    }

    fn counts(&self, vertex: u32, switch: u32) -> bool {
        self.level.is_none_or(|level| level[vertex as usize] < level[switch as usize])
    }
}

struct CutGraph {
    links: Adjacency,
    reversed: Option<Adjacency>,
    ranks: Vec<Vec<u32>>,
    /// The sets of vertices that the local search moves: a vertex, or a switch and its nodes.
    movable: Vec<Vec<u32>>,
}

impl CutGraph {
    fn of(topology: &topology::Network) -> Option<Self> {
        let links = Adjacency::of(&topology.physical())?;
        // The two directions of a link can differ only if links have failed or are slow.
        let reversed = topology.damage().map(|_| links.reversed());
        let mut ranks = vec![Vec::new(); topology.physical_nodes() as usize];
        for rank in 0..topology.nodes() {
            ranks[topology.physical_node(rank) as usize].push(rank as u32);
        }
        let nodes = ranks.len() as u32;
        let vertices = links.vertices() as u32;
        let mut with_nodes: Vec<Vec<u32>> = (nodes..vertices).map(|switch| vec![switch]).collect();
        for node in 0..nodes {
            if let [switch] = links.out(node as usize)
                && *switch >= nodes
            {
                with_nodes[(switch - nodes) as usize].push(node);
            }
        }
        with_nodes.retain(|vertices| vertices.len() > 1);
        let movable = (0..vertices).map(|vertex| vec![vertex]).chain(with_nodes).collect();
        Some(Self { links, reversed, ranks, movable })
    }

    fn nodes(&self) -> usize {
        self.ranks.len()
    }

    fn is_direct(&self) -> bool {
        self.nodes() == self.links.vertices()
    }
}

#[derive(Debug)]
struct Side<'a> {
    demand: &'a Demand<'a>,
    communicators: Option<InCommunicators<'a>>,
    pairs: Option<Pairs>,
    inside: Vec<f64>,
    count: f64,
    /// The sum of the amounts ([`Demand::amounts`]) of the nodes in the set, which is the first
    /// side.
    own: f64,
    all: f64,
    /// The amounts that must leave and enter the set; only for `pairs`, tokens and communicators.
    /// For tokens that are combined, these are the amounts of the dispatch, and [`Side::bytes`]
    /// swaps them.
    crossing: (f64, f64),
    /// For each class of tokens, the number of its receivers in the set, without the owner. `None`
    /// without tokens, with communicators, or if there are too many pairs of a class and a
    /// receiver.
    receivers: Option<Vec<u32>>,
}

#[derive(Debug)]
struct InCommunicators<'a> {
    all: &'a Communicators,
    /// For each communicator, the number of its members in the set, and the sum of their amounts
    /// ([`Demand::amounts`]).
    inside: Vec<[f64; 2]>,
}

#[derive(Debug)]
struct Pairs {
    ends: Vec<(f64, f64)>,
    /// A square matrix, row by row: the amounts between two nodes in both directions together.
    both: Vec<f64>,
}

impl Pairs {
    fn of(task: &Task, demand: &Demand<'_>, nodes: usize) -> Option<Self> {
        let Demand::Pairs(_) = demand else { return None };
        let blocks = Blocks::of(task);
        const TOGETHER: usize = 8;
        let (mut ends, mut both) = (vec![(0.0, 0.0); nodes], vec![0.0; nodes * nodes]);
        // Several senders are visited together, because their amounts are adjacent in `both`.
        for first in (0..nodes).step_by(TOGETHER) {
            for to in 0..nodes {
                for from in (first..nodes.min(first + TOGETHER)).filter(|from| *from != to) {
                    let bytes = blocks.bytes(from as u64, to as u64) as f64;
                    ends[from].0 += bytes;
                    ends[to].1 += bytes;
                    both[from * nodes + to] += bytes;
                    both[to * nodes + from] += bytes;
                }
            }
        }
        Some(Self { ends, both })
    }
}

impl<'a> Side<'a> {
    fn new(task: &'a Task, demand: &'a Demand<'a>, nodes: usize) -> Self {
        /// The most pairs of a class and a receiver for which receivers are counted, because
        /// counting for a cut visits all pairs.
        const MAX_RECEIVERS: u64 = 1 << 25;
        let inside = vec![0.0; nodes];
        let receivers = match demand {
            Demand::Tokens(tokens, ..)
                if task.communicators.is_none() && tokens.pairs() <= MAX_RECEIVERS =>
            {
                Some(vec![0; tokens.all_classes()])
            }
            _ => None,
        };
        let pairs = Pairs::of(task, demand, nodes);
        let members = task.topology.nodes();
        let all = demand.amounts().map_or(0.0, |amounts| amounts.total(members));
        let communicators = task.communicators.as_deref();
        let communicators = communicators
            .map(|all| InCommunicators { all, inside: vec![[0.0; 2]; all.count() as usize] });
        let (count, own, crossing) = (0.0, 0.0, (0.0, 0.0));
        Self { demand, communicators, pairs, inside, count, own, all, crossing, receivers }
    }

    fn clear(&mut self, nodes: impl Iterator<Item = usize>) {
        nodes.for_each(|node| self.inside[node] = 0.0);
        (self.count, self.own, self.crossing) = (0.0, 0.0, (0.0, 0.0));
        self.receivers.iter_mut().for_each(|receivers| receivers.fill(0));
        self.communicators.iter_mut().for_each(|all| all.inside.fill([0.0; 2]));
    }

    /// Returns the amounts that must leave and enter the set in a communicator of `size` ranks.
    /// `here` is the number of its members in the set, and `own` is the sum of their amounts.
    fn of_one(&self, [here, own]: [f64; 2], size: f64) -> (f64, f64) {
        let there = size - here;
        if here == 0.0 || there == 0.0 {
            return (0.0, 0.0);
        }
        // Tokens in communicators have no bound by cuts.
        self.demand.across([here, there], [own, self.all - own]).unwrap_or_default()
    }

    fn flip(&mut self, node: usize) {
        let sign = 1.0 - 2.0 * self.inside[node];
        if let Some(Pairs { ends, both }) = &self.pairs {
            let with_node = &both[node * self.inside.len()..][..self.inside.len()];
            let within = dot(with_node, &self.inside);
            self.crossing.0 += sign * (ends[node].0 - within);
            self.crossing.1 += sign * (ends[node].1 - within);
        }
        // A rank in no communicator has no data.
        let place = match &self.communicators {
            Some(communicators) => communicators.all.place(node as u64),
            None => Some((0, node as u64)),
        };
        let own = self.demand.amounts().zip(place);
        let own = own.map_or(0.0, |(amounts, (_, member))| amounts.at(member) as f64);
        self.own += sign * own;
        if let (Some(InCommunicators { all, inside }), None, Some((communicator, _))) =
            (&self.communicators, &self.pairs, place)
        {
            let (communicator, size) = (communicator as usize, all.size() as f64);
            let before = inside[communicator];
            let after = [before[0] + sign, before[1] + sign * own];
            let [(out, into), (less_out, less_into)] =
                [after, before].map(|inside| self.of_one(inside, size));
            self.crossing.0 += out - less_out;
            self.crossing.1 += into - less_into;
            self.communicators.iter_mut().for_each(|all| all.inside[communicator] = after);
        }
        if let (Demand::Tokens(tokens, ..), Some(receivers)) = (self.demand, &mut self.receivers) {
            // Moving the node can affect only those tokens that the node has or receives.
            let node = node as u64;
            let own = (0..tokens.classes(node)).map(|class| (node, class));
            let wanted = tokens.wanted(node).iter().map(|(owner, class)| ((*owner).into(), *class));
            let wanted = wanted.filter(|(owner, _)| *owner != node);
            for (owner, class) in own.chain(wanted) {
                let index = tokens.class_index(owner, class);
                let others = tokens.receivers(owner, class).iter();
                let others = others.filter(|r| u64::from(**r) != owner).count() as u32;
                let bytes = tokens.bytes(owner)[class as usize] as f64;
                let mut add = |inside: bool, count: u32, sign: f64| {
                    if inside && count < others {
                        self.crossing.0 += sign * bytes;
                    } else if !inside && count > 0 {
                        self.crossing.1 += sign * bytes;
                    }
                };
                let (inside, count) = (self.inside[owner as usize] > 0.0, receivers[index]);
                add(inside, count, -1.0);
                if owner == node {
                    add(!inside, count, 1.0);
                } else {
                    receivers[index] = if sign > 0.0 { count + 1 } else { count - 1 };
                    add(inside, receivers[index], 1.0);
                }
            }
        }
        self.inside[node] += sign;
        self.count += sign;
    }

    fn bytes(&self) -> (f64, f64) {
        let (here, there) = (self.count, self.inside.len() as f64 - self.count);
        if here == 0.0 || there == 0.0 {
            return (0.0, 0.0);
        }
        if self.communicators.is_some() {
            return self.crossing;
        }
        let across = self.demand.across([here, there], [self.own, self.all - self.own]);
        across.unwrap_or(match self.demand {
            // A token crosses the cut once: from its owner in a dispatch, towards its owner in a
            // combine.
            Demand::Tokens(.., true) => (self.crossing.1, self.crossing.0),
            _ => self.crossing,
        })
    }
}

/// Returns the dot product. Eight partial sums let the compiler use vector instructions.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    rest + sums.iter().sum::<f64>()
}

struct Cut<'a> {
    network: &'a CutGraph,
    inside: Vec<bool>,
    leaving: f64,
    /// The bandwidth of the links from the second side to the first. Used only with
    /// [`CutGraph::reversed`].
    entering: f64,
    /// For each switch, the bandwidth of its counted links ([`Follow`]) to the first side.
    joined: Vec<f64>,
    side: Side<'a>,
}

impl<'a> Cut<'a> {
    fn new(network: &'a CutGraph, side: Side<'a>) -> Self {
        let vertices = network.links.vertices();
        Self {
            network,
            inside: vec![false; vertices],
            leaving: 0.0,
            entering: 0.0,
            joined: vec![0.0; vertices],
            side,
        }
    }

    fn flip(&mut self, vertex: u32) {
        let joins = !self.inside[vertex as usize];
        let reversed = self.network.reversed.as_ref();
        let mut add = |(to, bandwidth): (u32, f64), is_outgoing: bool| {
            let apart = self.inside[to as usize] != joins;
            let change = if apart { bandwidth } else { -bandwidth };
            // `leaves` states whether the link crosses from the first side to the second, before or
            // after the move. The vertex `to` does not move: it is on the second side if
            // `apart == joins`.
            let leaves = reversed.is_none() || (apart == joins) == is_outgoing;
            *(if leaves { &mut self.leaving } else { &mut self.entering }) += change;
        };
        self.network.links.links_of(vertex as usize).for_each(|link| add(link, true));
        let incoming = reversed.into_iter().flat_map(|links| links.links_of(vertex as usize));
        incoming.for_each(|link| add(link, false));
        self.inside[vertex as usize] = joins;
        for rank in self.network.ranks.get(vertex as usize).into_iter().flatten() {
            self.side.flip(*rank as usize);
        }
    }

    fn join(&mut self, node: u32, follow: &Follow<'_>, moved: &mut Vec<u32>) {
        let mut first = moved.len();
        moved.push(node);
        while let Some(&vertex) = moved.get(first) {
            first += 1;
            self.flip(vertex);
            for (to, bandwidth) in self.network.links.links_of(vertex as usize) {
                let is_switch = to as usize >= self.network.nodes();
                if !is_switch || !follow.counts(vertex, to) {
                    continue;
                }
                let (half, joined) = (follow.half[to as usize], &mut self.joined[to as usize]);
                if *joined <= half && *joined + bandwidth > half {
                    moved.push(to);
                }
                *joined += bandwidth;
            }
        }
    }

    fn clear(&mut self, moved: &[u32]) {
        for vertex in moved {
            self.inside[*vertex as usize] = false;
            self.network
                .links
                .out(*vertex as usize)
                .iter()
                .for_each(|to| self.joined[*to as usize] = 0.0);
        }
        let ranks = |vertex: &u32| self.network.ranks.get(*vertex as usize).into_iter().flatten();
        self.side.clear(moved.iter().flat_map(ranks).map(|rank| *rank as usize));
        (self.leaving, self.entering) = (0.0, 0.0);
    }

    fn bound(&self) -> f64 {
        let time = |bytes: f64, links: f64| {
            if bytes > 0.0 && links > 0.0 { bytes / links } else { 0.0 }
        };
        let two_way = self.network.reversed.is_none();
        let entering = if two_way { self.leaving } else { self.entering };
        let (out, into) = self.side.bytes();
        time(out, self.leaving).max(time(into, entering))
    }
}

#[derive(Default)]
struct Best {
    bound: f64,
    inside: Vec<bool>,
}

impl Best {
    fn consider(&mut self, cut: &Cut<'_>) {
        let bound = cut.bound();
        if bound > self.bound * (1.0 + 1e-12) {
            *self = Self { bound, inside: cut.inside.clone() };
        }
    }

    /// Moves the nodes of `order` to the first side one by one, and stores the best cut.
    fn along(&mut self, order: &[u32], follow: &Follow<'_>, cut: &mut Cut<'_>) {
        let mut moved = Vec::new();
        for node in order {
            cut.join(*node, follow, &mut moved);
            self.consider(cut);
        }
        cut.clear(&moved);
    }

    /// Moves the set of vertices ([`CutGraph::movable`]) that raises the bound most to the opposite
    /// side. Repeats this until no set raises the bound.
    fn improve(&mut self, cut: &mut Cut<'_>) {
        let network = cut.network;
        self.inside().for_each(|vertex| cut.flip(vertex));
        loop {
            let mut step = None;
            for vertices in &network.movable {
                let before = self.bound;
                vertices.iter().for_each(|vertex| cut.flip(*vertex));
                self.consider(cut);
                step = if self.bound > before { Some(vertices) } else { step };
                vertices.iter().for_each(|vertex| cut.flip(*vertex));
            }
            let Some(vertices) = step else { break };
            vertices.iter().for_each(|vertex| cut.flip(*vertex));
        }
        let inside: Vec<u32> = self.inside().collect();
        cut.clear(&inside);
    }

    fn inside(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.inside).filter(|(_, inside)| **inside).map(|(vertex, _)| vertex)
    }

    /// Returns the bound of the best cut, with the bandwidths of its links summed again, because
    /// each move of the search adds a rounding error.
    fn exact_bound(&self, cut: &mut Cut<'_>) -> f64 {
        let inside: Vec<u32> = self.inside().collect();
        inside.iter().for_each(|vertex| cut.flip(*vertex));
        let across = |leaving: bool| {
            let inside = |vertex: u32| cut.inside[vertex as usize];
            let links = cut.network.links.links();
            let crosses =
                links.filter(|(from, to, _)| inside(*from) == leaving && inside(*to) != leaving);
            crosses.map(|(.., bandwidth)| bandwidth).sum::<f64>()
        };
        (cut.leaving, cut.entering) = (across(true), across(false));
        let bound = cut.bound();
        cut.clear(&inside);
        bound
    }
}

/// Returns sets of nodes, each of which is one side of a cut. For each dimension of the grid, they
/// are sets of consecutive nodes, each of which has as many nodes as the stride of the dimension.
/// For each switch, the set has the nodes that are connected only to this switch.
fn blocks(radices: &[u64], network: &CutGraph) -> Vec<Vec<u32>> {
    let nodes = network.nodes() as u32;
    let mut blocks: Vec<Vec<u32>> = Vec::new();
    for stride in
        strides(radices).into_iter().filter(|stride| (2..u64::from(nodes)).contains(stride))
    {
        let numbers: Vec<u32> = (0..nodes).collect();
        blocks.extend(numbers.chunks(stride as usize).map(<[u32]>::to_vec));
    }
    let at_switches = network.movable.iter().filter(|vertices| vertices.len() > 1);
    blocks.extend(at_switches.map(|vertices| vertices[1..].to_vec()));
    blocks
}

fn dimensions(radices: &[u64], nodes: usize) -> impl Iterator<Item = Vec<u32>> {
    let strides = strides(radices).into_iter();
    strides
        .zip(radices)
        .map(move |(stride, radix)| sorted(nodes, |node| (node as u64 / stride % radix) as f64))
}

/// Returns the nodes by distance from node 0, by distance from the node that is farthest from node
/// 0, and by the Fiedler vector.
fn distances(network: &CutGraph) -> [Vec<u32>; 3] {
    let nodes = network.nodes();
    let hops = network.links.hops_from(0);
    let farthest = (0..nodes).max_by_key(|node| hops[*node]).unwrap_or(0);
    let back = network.links.hops_from(farthest as u64);
    let vibration = network.links.fiedler_vector();
    [
        sorted(nodes, |node| f64::from(hops[node])),
        sorted(nodes, |node| f64::from(back[node])),
        sorted(nodes, |node| vibration[node]),
    ]
}

fn sorted(nodes: usize, key: impl Fn(usize) -> f64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    order.sort_by(|a, b| key(*a as usize).total_cmp(&key(*b as usize)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::bound::traffic::demand_at_least;
    use crate::delivery::collective::{
        ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, BlockSizes, COMBINE, Collective, DISPATCH,
        GATHER, REDUCE, REDUCE_SCATTER, SCATTER, Tokens,
    };
    use crate::network::topology::parse;
    use crate::simulation::Task;
    use std::sync::Arc;

    const NODES: u64 = 5;

    /// With `by_origin`, all blocks of an origin have the same size, as some collectives require.
    #[derive(Debug)]
    struct Sizes {
        by_origin: bool,
    }

    impl BlockSizes for Sizes {
        fn bytes(&self, origin: u64, destination: u64) -> u64 {
            1 + origin * 7 + if self.by_origin { 0 } else { destination * destination }
        }

        fn largest(&self) -> u64 {
            (0..NODES).map(|to| self.bytes(NODES - 1, to)).max().unwrap()
        }
    }

    const TOKENS: [(u64, &[u32], u64); 5] = [
        (0, &[1, 2], 3),
        (0, &[0, 4], 5),
        (1, &[0, 2, 3, 4], 7),
        (3, &[3], 11),
        (4, &[0, 1, 2, 3, 4], 13),
    ];

    /// Returns each item of data: the nodes that have the item at the start, the nodes that need
    /// it, and its bytes.
    fn items(collective: &Collective, sizes: &Sizes) -> Vec<(Vec<u64>, Vec<u64>, u64)> {
        let all = || (0..NODES).collect::<Vec<u64>>();
        let pairs = || (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to)));
        let tokens = TOKENS.map(|(owner, receivers, bytes)| {
            (vec![owner], receivers.iter().map(|node| u64::from(*node)).collect(), bytes)
        });
        // A sum has the size of the terms of the root, or of node 0. If the sums of a
        // reduce-scatter differ in size, the bounds use the smallest, which is that for node 0.
        let sized_by = collective.root().unwrap_or(0);
        let sum = sizes.bytes(sized_by, sized_by);
        match (collective.kind().word, collective.root()) {
            ("alltoall", _) => {
                pairs().map(|(a, b)| (vec![a], vec![b], sizes.bytes(a, b))).collect()
            }
            ("scatter", Some(root)) => {
                all().iter().map(|b| (vec![root], vec![*b], sizes.bytes(root, *b))).collect()
            }
            ("gather", Some(root)) => {
                all().iter().map(|a| (vec![*a], vec![root], sizes.bytes(*a, root))).collect()
            }
            ("allgather", _) => {
                all().iter().map(|a| (vec![*a], all(), sizes.bytes(*a, *a))).collect()
            }
            ("broadcast", Some(root)) => vec![(vec![root], all(), sizes.bytes(root, root))],
            ("reduce", Some(root)) => vec![(all(), vec![root], sum)],
            ("reduce-scatter", _) => all().iter().map(|b| (all(), vec![*b], sum)).collect(),
            ("allreduce", _) => vec![(all(), all(), sum)],
            ("dispatch", _) => tokens.into(),
            ("combine", _) => tokens.map(|(owner, nodes, bytes)| (nodes, owner, bytes)).into(),
            (name, _) => panic!("{name}"),
        }
    }

    /// An item crosses a cut if a node on one side has it and a node on the opposite side needs it.
    /// For a sum, each node with a term has it.
    #[test]
    fn data_of_one_side_that_the_opposite_side_needs_crosses_every_cut_once() {
        let topology = parse(&format!("ring:{NODES}")).unwrap();
        let of_tokens = |kind: &'static _| {
            let of_node = |node| {
                let own = TOKENS.iter().filter(move |(owner, ..)| *owner == node);
                own.map(|(_, receivers, bytes)| (receivers.to_vec(), *bytes)).collect()
            };
            Collective::of_tokens(kind, Arc::new(Tokens::new(NODES, of_node)))
        };
        let mut collectives =
            [&ALL_TO_ALL, &ALL_GATHER, &REDUCE_SCATTER, &ALL_REDUCE].map(Collective::of).to_vec();
        collectives.extend(
            [&SCATTER, &GATHER, &BROADCAST, &REDUCE].map(|kind| Collective::of(kind).at(2)),
        );
        collectives.extend([&DISPATCH, &COMBINE].map(of_tokens));
        for collective in collectives {
            let name = collective.kind().word;
            let by_origin = name == "allgather" || name == "broadcast";
            let items = items(&collective, &Sizes { by_origin });
            let sizes = Arc::new(Sizes { by_origin });
            let task = Task { sizes: Some(sizes), ..Task::new(Arc::clone(&topology), collective) };
            let demand = demand_at_least(&task);
            let mut side = Side::new(&task, &demand, NODES as usize);
            for step in 1_u64..1 << NODES {
                side.flip(step.trailing_zeros() as usize);
                let set = step ^ (step >> 1);
                let crosses = |(have, need, _): &&(Vec<u64>, Vec<u64>, u64), from: bool| {
                    let inside = |node: &u64| (set >> node & 1 == 1) == from;
                    have.iter().any(inside) && need.iter().any(|node| !inside(node))
                };
                let total = |from: bool| {
                    items.iter().filter(|item| crosses(item, from)).map(|item| item.2).sum::<u64>()
                };
                assert_eq!(
                    side.bytes(),
                    (total(true) as f64, total(false) as f64),
                    "{name} {set:b}"
                );
                if set.is_power_of_two() && !matches!(demand, Demand::Tokens(..)) {
                    let of_node = demand.at(set.trailing_zeros().into(), NODES);
                    assert_eq!(of_node, side.bytes(), "{name} {set:b}");
                }
            }
        }
    }
}
