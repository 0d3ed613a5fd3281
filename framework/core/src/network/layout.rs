//! The layout of a network in drawings: the position of each vertex, and the links.

use crate::network::topology::Network;
use std::collections::{BTreeSet, HashMap};
use std::f64::consts::TAU;

/// A position in a drawing. The distance of neighbouring nodes is about 1, and y grows downwards.
pub type Position = [f64; 2];

/// The layout of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Whether nodes are drawn in rows and columns. Long links that are straight lines would then
    /// cross other nodes.
    pub is_grid: bool,
    /// The pairs of vertices that are joined by a directed link.
    pub links: BTreeSet<(u64, u64)>,
    /// The position of each vertex. Ranks come first, then nodes if several ranks share a node,
    /// then switches.
    pub positions: Vec<Position>,
}

impl Layout {
    /// Creates the layout of a network.
    pub fn new(topology: &Network) -> Self {
        Self {
            is_grid: is_grid(topology.placed_on().as_ref().unwrap_or(topology)),
            links: links(topology).map(|(_, ends)| ends).collect(),
            positions: positions(topology),
        }
    }
}

fn links(topology: &Network) -> impl Iterator<Item = (u64, (u64, u64))> {
    (0..topology.link_slots()).filter_map(|link| Some((link, topology.link_ends(link)?)))
}

fn is_grid(network: &Network) -> bool {
    network.switches() == 0 && network.radices().iter().filter(|radix| **radix > 1).count() > 1
}

fn positions(topology: &Network) -> Vec<Position> {
    let Some(network) = topology.placed_on() else {
        return match (topology.switches(), is_grid(topology)) {
            (0, true) => (0..topology.nodes()).map(|n| grid(n, topology.radices())).collect(),
            (0, false) => circle(topology.nodes(), topology.nodes()),
            _ => layers(topology),
        };
    };
    // Links have the same numbers in `topology` and in `network`. So the ends of a link are the
    // same vertices in both.
    let own = positions(&network);
    let network_ends: HashMap<u64, (u64, u64)> = links(&network).collect();
    let mut known = HashMap::new();
    for (link, (from, to)) in links(topology) {
        if let Some((network_from, network_to)) = network_ends.get(&link) {
            known.insert(from, *network_from);
            known.insert(to, *network_to);
        }
    }
    let vertices = known.keys().map(|vertex| vertex + 1).max().unwrap_or(0).max(topology.nodes());
    let at = |vertex: &u64| known.get(vertex).and_then(|node| own.get(*node as usize)).copied();
    let mut sharing: HashMap<u64, u64> = HashMap::new();
    (0..vertices)
        .map(|vertex| {
            if vertex >= topology.nodes() || topology.endpoint(vertex) == vertex {
                return at(&vertex).unwrap_or_default();
            }
            let shared = topology.endpoint(vertex);
            let earlier = sharing.entry(shared).or_default();
            let angle = *earlier as f64 * 0.9;
            *earlier += 1;
            let [x, y] = at(&shared).unwrap_or_default();
            [x + 0.3 * angle.sin(), y - 0.3 * angle.cos()]
        })
        .collect()
}

/// Returns the position of a node in a grid. The last axis is horizontal, and the axis before it is
/// vertical. Each further pair of axes places copies of this drawing next to each other and below
/// each other.
fn grid(node: u64, radices: &[u64]) -> Position {
    let (mut rest, mut position, mut pitch) = (node, [0.0; 2], [1.0; 2]);
    let axes = radices.iter().rev().filter(|radix| **radix > 1);
    for (axis, radix) in axes.enumerate() {
        position[axis % 2] += (rest % radix) as f64 * pitch[axis % 2];
        pitch[axis % 2] = pitch[axis % 2] * *radix as f64 + 0.8;
        rest /= radix;
    }
    position
}

fn circle(count: u64, room: u64) -> Vec<Position> {
    let radius = (room as f64 / TAU).max(0.5);
    (0..count)
        .map(|i| {
            let angle = (i as f64 + 0.5) / count as f64 * TAU;
            [radius * angle.sin(), -radius * angle.cos()]
        })
        .collect()
}

/// Returns the positions in a network with switches. Nodes are on the outer circle. Switches are on
/// inner circles, according to their distance from the closest node.
fn layers(topology: &Network) -> Vec<Position> {
    let vertices = (topology.nodes() + topology.switches()) as usize;
    let mut neighbours = vec![Vec::new(); vertices];
    for (_, (from, to)) in links(topology) {
        neighbours[from as usize].push(to as usize);
    }
    let mut layers: Vec<Vec<usize>> = vec![(0..topology.nodes() as usize).collect()];
    let mut seen: Vec<bool> = (0..vertices).map(|v| (v as u64) < topology.nodes()).collect();
    while let Some(last) = layers.last().filter(|layer| !layer.is_empty()) {
        let mut next: Vec<usize> = Vec::new();
        for neighbour in last.iter().flat_map(|vertex| &neighbours[*vertex]) {
            if !std::mem::replace(&mut seen[*neighbour], true) {
                next.push(*neighbour);
            }
        }
        next.sort_unstable();
        layers.push(next);
    }
    layers.pop();
    // A switch with links to all nodes, such as the one between groups, is drawn in the centre.
    if let [nodes, switches] = &mut layers[..] {
        let is_central =
            |switch: &usize| nodes.iter().all(|node| neighbours[*switch].contains(node));
        let (central, others): (Vec<_>, Vec<_>) = switches.iter().partition(|s| is_central(s));
        if !central.is_empty() && !others.is_empty() {
            *switches = others;
            layers.push(central);
        }
    }
    layers[0].sort_by_key(|node| (neighbours[*node].iter().min().copied(), *node));
    let (count, mut positions) = (layers.len(), vec![[0.0; 2]; vertices]);
    for (depth, layer) in layers.iter().enumerate() {
        let scale = 1.0 - depth as f64 / count as f64;
        let room = topology.nodes().max(layers.iter().map(Vec::len).max().unwrap_or(0) as u64);
        let around = circle(layer.len() as u64, room);
        for (vertex, [x, y]) in layer.iter().zip(around) {
            let shrunk = if depth > 0 && layer.len() == 1 { 0.0 } else { scale };
            positions[*vertex] = [x * shrunk, y * shrunk];
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::{families, parse};

    #[test]
    fn vertices_of_every_family_have_their_own_positions() {
        let examples = families().iter().map(|family| family.example.to_owned());
        let more = [
            "torus:2x2x2x2x2",
            "ring:2",
            "mesh:1x5",
            "torus:4x4,place=random:1",
            "mesh:2x2,ranks=3",
            "fat-tree:2x2,ranks=2",
            "torus:4x4,down=0-1",
            "dragonfly:3x2x2,routing=valiant",
            "fat-tree:4x4",
        ]
        .map(str::to_owned);
        for spec in examples.chain(more).filter(|spec| !spec.is_empty()) {
            let topology = parse(&spec).unwrap();
            let Layout { links, positions, .. } = Layout::new(&topology);
            for (from, to) in links {
                assert!(from.max(to) < positions.len() as u64, "{spec}: {from}-{to}");
            }
            let different: BTreeSet<_> =
                positions.iter().map(|[x, y]| (x.to_bits(), y.to_bits())).collect();
            assert_eq!(different.len(), positions.len(), "{spec}");
            assert!(positions.len() as u64 >= topology.nodes(), "{spec}");
        }
        let groups = positions(parse("groups:4x4").unwrap().as_ref());
        assert_eq!(groups.last(), Some(&[0.0, 0.0]));
    }
}
