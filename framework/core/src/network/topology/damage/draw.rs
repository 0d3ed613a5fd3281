//! Random draws of failed and slow links.

use super::Ends;
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::random::SplitMix64;
use std::collections::{BTreeSet, VecDeque};

/// Returns the pairs of vertices that are linked in both directions, in ascending order. The first
/// vertex of a pair has the lower number.
pub(super) fn pairs(network: &Adjacency) -> Vec<Ends> {
    let links: BTreeSet<Ends> = network.each().map(|link| (link.from, link.to)).collect();
    links.iter().copied().filter(|(a, b)| a < b && links.contains(&(*b, *a))).collect()
}

/// Returns the number of links in a spanning forest of the graph whose links are `pairs`.
pub(super) fn spanning_links(pairs: &[Ends], vertices: usize) -> usize {
    let mut root: Vec<usize> = (0..vertices).collect();
    let find = |root: &mut Vec<usize>, mut v: usize| {
        while root[v] != v {
            root[v] = root[root[v]];
            v = root[v];
        }
        v
    };
    let joins = |(a, b): &&Ends| {
        let (a, b) = (find(&mut root, *a as usize), find(&mut root, *b as usize));
        root[a] = b;
        a != b
    };
    pairs.iter().filter(joins).count()
}

/// Draws `count` links that fail. A link is skipped if its failure would leave a node without a
/// path to another node. With the same seed, the links that are drawn for a count are also drawn
/// for every larger count.
pub(super) fn failures(network: &Adjacency, nodes: u64, count: u64, seed: u64) -> Vec<Ends> {
    let mut down = BTreeSet::new();
    let drawn = shuffled(pairs(network), seed).filter(|&(a, b)| {
        down.extend([(a, b), (b, a)]);
        let is_connected = stays_connected(network, &down, nodes, (a, b));
        if !is_connected {
            down.remove(&(a, b));
            down.remove(&(b, a));
        }
        is_connected
    });
    drawn.take(count as usize).collect()
}

/// Draws `count` of the links `pairs`, which become slow.
pub(super) fn slow(pairs: Vec<Ends>, count: u64, seed: u64) -> Vec<Ends> {
    /// A number that makes these draws independent of the draws of failed links with the same seed.
    const STREAM: u64 = 0x5107_1146_0000_0001;
    shuffled(pairs, seed ^ STREAM).take(count as usize).collect()
}

/// Returns the links `pairs` in a random order.
fn shuffled(mut pairs: Vec<Ends>, seed: u64) -> impl Iterator<Item = Ends> {
    let mut draw = SplitMix64::new(seed);
    (0..pairs.len()).map(move |first| {
        let other = first + draw.below(pairs.len() - first);
        pairs.swap(first, other);
        pairs[first]
    })
}

/// Returns whether all nodes are still connected with each other after the failure of a link, which
/// is one of the links in `down`. All nodes must have been connected before this failure.
pub(super) fn stays_connected(
    network: &Adjacency,
    down: &BTreeSet<Ends>,
    nodes: u64,
    (a, b): Ends,
) -> bool {
    connects(network, down, a, b) && connects(network, down, b, a)
        || all_connected(network, down, nodes)
}

/// Returns whether a path leads from one vertex to another without the failed links. The search
/// ends at the second vertex, which is near in most networks.
fn connects(network: &Adjacency, down: &BTreeSet<Ends>, from: u64, to: u64) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for next in network.out(at as usize).iter().map(|end| u64::from(*end)) {
            if down.contains(&(at, next)) || !seen.insert(next) {
                continue;
            }
            if next == to {
                return true;
            }
            queue.push_back(next);
        }
    }
    false
}

/// Returns whether a path leads from every node to every other node without the failed links.
/// Switches may be cut off.
fn all_connected(network: &Adjacency, down: &BTreeSet<Ends>, nodes: u64) -> bool {
    let left = network.changed(|link| (!down.contains(&(link.from, link.to))).then_some(link));
    let reached = |network: &Adjacency| {
        network.hops_from(0)[..nodes as usize].iter().all(|hops| *hops != u32::MAX)
    };
    reached(&left) && reached(&left.reversed())
}
