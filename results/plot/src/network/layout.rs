//! Positions of the vertices of a network on a picture, and the lines of its links.

use crate::marks::outline::Point;
use std::collections::{BTreeMap, VecDeque};
use std::f64::consts::TAU;
use swapmeet_core::network::topology::{Network, parse, strides};

/// A pair of vertices that are linked. The first one has the lower number.
pub(super) type Ends = (u64, u64);

/// A layout of a network. Neighbouring vertices have a distance of about 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// The position of each vertex: nodes first, then switches.
    pub(super) places: Vec<Point>,
    /// The number of vertices that are nodes.
    pub(super) nodes: u64,
    /// The linked vertices of the network.
    pub(super) links: Vec<Ends>,
    /// The grid, if the network is drawn as one.
    grid: Option<Grid>,
}

/// A grid that is drawn as planes of rows and columns.
#[derive(Debug, Clone, PartialEq)]
struct Grid {
    /// The numbers of planes, rows and columns.
    sides: [u64; 3],
}

/// The length of the stubs of a link that is not drawn as one line.
const STUB: f64 = 0.42;

impl Layout {
    /// Lays out the network of a spec without placement and routing. If the spec names a file, the
    /// network consists of the links `known`.
    pub(super) fn of(spec: &str, known: &[Ends]) -> Self {
        match parse(spec) {
            Ok(network) => Self::of_network(network.as_ref()),
            Err(_) => {
                let vertices = known.iter().map(|(a, b)| a.max(b) + 1).max().unwrap_or(0);
                Self::on_circles(vertices, vertices, known.to_vec())
            }
        }
    }

    fn of_network(network: &Network) -> Self {
        let ends = (0..network.link_slots()).filter_map(|link| network.link_ends(link));
        let mut links: Vec<Ends> = ends.map(|(a, b)| (a.min(b), a.max(b))).collect();
        links.sort_unstable();
        links.dedup();
        let sides = match *network.radices() {
            _ if !matches!(network.kind(), "torus" | "mesh") => None,
            [rows, columns] => Some([1, rows, columns]),
            [planes, rows, columns] => Some([planes, rows, columns]),
            _ => None,
        };
        match sides {
            Some(sides) => {
                let grid = Grid { sides };
                let places = (0..network.nodes()).map(|node| grid.place(node)).collect();
                Self { places, nodes: network.nodes(), links, grid: Some(grid) }
            }
            None => {
                let vertices = network.nodes() + network.switches();
                Self::on_circles(network.nodes(), vertices, links)
            }
        }
    }

    /// Places nodes on a circle. Switches are on smaller circles inside: the more hops a switch is
    /// away from the nodes, the smaller its circle.
    fn on_circles(nodes: u64, vertices: u64, links: Vec<Ends>) -> Self {
        let mut neighbours: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (a, b) in &links {
            neighbours.entry(*a).or_default().push(*b);
            neighbours.entry(*b).or_default().push(*a);
        }
        // Find the level of each vertex, which is its distance from the nearest node.
        let mut levels: Vec<Option<usize>> =
            (0..vertices).map(|vertex| (vertex < nodes).then_some(0)).collect();
        let mut queue: VecDeque<u64> = (0..nodes).collect();
        while let Some(at) = queue.pop_front() {
            for next in neighbours.get(&at).into_iter().flatten() {
                if levels[*next as usize].is_none() {
                    levels[*next as usize] = levels[at as usize].map(|level| level + 1);
                    queue.push_back(*next);
                }
            }
        }
        let level = |vertex: usize| levels[vertex].unwrap_or(0);
        let circles = (0..levels.len()).map(level).max().unwrap_or(0) + 1;
        let mut sizes = vec![0.0; circles];
        (0..levels.len()).for_each(|vertex| sizes[level(vertex)] += 1.0);
        // Every circle has room for its vertices, and for the next smaller circle inside it.
        let mut radii = vec![0.0; circles];
        for circle in (0..circles).rev() {
            let inside = radii.get(circle + 1).map_or(0.0, |radius| radius + 1.2);
            let least: f64 = if sizes[circle] > 1.0 { sizes[circle] / TAU } else { 0.0 };
            radii[circle] = least.max(inside);
        }
        let mut placed = vec![0.0; circles];
        let place = |vertex: usize| {
            let circle = level(vertex);
            let turn = TAU * (placed[circle] + 0.5) / sizes[circle];
            placed[circle] += 1.0;
            (radii[circle] * turn.sin(), -radii[circle] * turn.cos())
        };
        Self { places: (0..levels.len()).map(place).collect(), nodes, links, grid: None }
    }

    /// Returns the smallest x and y, and the largest x and y of all vertices.
    pub(super) fn bounds(&self) -> [f64; 4] {
        let first = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        self.places.iter().fold(first, |[left, top, right, bottom], (x, y)| {
            [left.min(*x), top.min(*y), right.max(*x), bottom.max(*y)]
        })
    }

    /// Returns the lines of a link. A link of a grid around the edge or to another plane consists
    /// of two stubs, one at each of its vertices.
    pub(super) fn lines(&self, (a, b): Ends) -> Vec<[Point; 2]> {
        let at = |vertex: u64| self.places.get(vertex as usize).copied();
        let (Some(from), Some(to)) = (at(a), at(b)) else { return Vec::new() };
        match self.grid.as_ref().and_then(|grid| grid.stub(a, b)) {
            Some((x, y)) => {
                let stub =
                    |(px, py): Point, sign: f64| (px + sign * STUB * x, py + sign * STUB * y);
                vec![[from, stub(from, 1.0)], [to, stub(to, -1.0)]]
            }
            None => vec![[from, to]],
        }
    }
}

impl Grid {
    fn coordinates(&self, node: u64) -> [u64; 3] {
        let strides = strides(&self.sides);
        [0, 1, 2].map(|axis| node / strides[axis] % self.sides[axis])
    }

    /// Returns the position of a node. Planes are placed next to each other, in as many rows as
    /// columns if possible.
    fn place(&self, node: u64) -> Point {
        let [planes, rows, columns] = self.sides;
        let [plane, row, column] = self.coordinates(node);
        let across = (planes as f64).sqrt().ceil() as u64;
        let x = plane % across * (columns + 1) + column;
        let y = plane / across * (rows + 1) + row;
        (x as f64, y as f64)
    }

    /// Returns the direction of the stub at the first vertex of a link that cannot be drawn as one
    /// line. The stub of the second vertex has the opposite direction.
    fn stub(&self, a: u64, b: u64) -> Option<Point> {
        let (a, b) = (self.coordinates(a), self.coordinates(b));
        let axis = (0..3).find(|axis| a[*axis] != b[*axis])?;
        let is_around = b[axis] > a[axis] + 1;
        let sign = if is_around { -1.0 } else { 1.0 };
        match axis {
            0 => Some((sign * 0.8, sign * 0.8)),
            1 => is_around.then_some((0.0, -1.0)),
            _ => is_around.then_some((-1.0, 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed form: a torus of 4x4 nodes has 32 links, 8 of which lead around an edge.
    #[test]
    fn links_around_the_edge_are_two_stubs() {
        let torus = Layout::of("torus:4x4", &[]);
        let stubs = |layout: &Layout| {
            layout.links.iter().filter(|ends| layout.lines(**ends).len() == 2).count()
        };
        assert_eq!((torus.links.len(), stubs(&torus)), (32, 8));
        assert_eq!(torus.lines((0, 1)), [[(0.0, 0.0), (1.0, 0.0)]]);
        let around = [[(0.0, 0.0), (-STUB, 0.0)], [(3.0, 0.0), (3.0 + STUB, 0.0)]];
        assert_eq!(torus.lines((0, 3)), around);
        // In three dimensions, links to other planes have stubs, too.
        assert_eq!(stubs(&Layout::of("mesh:3x2x2", &[])), 2 * 4);
    }

    #[test]
    fn vertices_of_all_networks_have_distinct_positions() {
        let specs = ["torus:3x4x5", "ring:9", "hypercube:4", "fat-tree:2x3", "dragonfly:3x2x2"];
        for spec in specs.into_iter().chain(["slim-fly:5", "groups:3x4", "mesh:2x2x2x2", "mesh:7"])
        {
            let layout = Layout::of(spec, &[]);
            for (number, (x, y)) in layout.places.iter().enumerate() {
                let near = |(a, b): &Point| (a - x).hypot(b - y) < 0.5;
                assert!(!layout.places[number + 1..].iter().any(near), "{spec}: vertex {number}");
            }
        }
        let file = Layout::of("graph:net.txt", &[(0, 3), (1, 2)]);
        assert_eq!((file.places.len(), file.links.len()), (4, 2));
    }
}
