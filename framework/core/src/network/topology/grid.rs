//! Tori, meshes and rings of any number of dimensions, tori with open dimensions, and Tofu.
//!
//! A node has one link for each dimension and direction. In a grid of n nodes, the link that leaves
//! node v along dimension d has the number `2 d n + v` in the plus direction, and `(2 d + 1) n + v`
//! in the minus direction. In a mesh, the links that would leave the grid do not exist. In a torus,
//! a dimension of size 2 has two links in each direction between its two nodes, and a dimension of
//! size 1 has none.
//!
//! Tofu (Y. Ajima, S. Sumimoto, T. Shimizu, *Tofu: A 6D Mesh/Torus Interconnect for Exascale
//! Computers*, Computer 42 (11), 2009) consists of units of 2 x 3 x 2 nodes. Dimensions A, B and C
//! lead through a unit. Dimensions X, Y and Z connect units, and can have any size. A and C are
//! lines, all other dimensions are rings. Packets follow the dimensions B, C, A, X, Y, Z, A, C, B.
//! The sender chooses the position within the units at which a packet travels along X, Y and Z (Y.
//! Ajima et al., *The Tofu Interconnect*, IEEE Micro 32 (1), 2012). Here, this is always the
//! position of the receiver in its unit, so the second A, C, B is not needed. As routes of a grid
//! follow the last dimension first, the dimensions are stored in the order Z, Y, X, A, C, B.

use super::automorphisms::image_of_node;
use super::{
    Automorphisms, AxisSymmetry, Bisection, Family, Parsed, Plane, Properties, Route, RouteError,
    Run, strides, walk_path,
};
use crate::limits::NODES;
use crate::spec::{Spec, parse_dims};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GridShape {
    Torus,
    Mesh,
    Ring,
    Mixed,
    Tofu,
}

#[derive(Debug, Clone)]
pub(super) struct GridNet {
    properties: Properties,
    shape: GridShape,
    dims: Vec<u64>,
    closed: Vec<bool>,
    strides: Vec<u64>,
    nodes: u64,
}

pub(super) fn parse(spec: &Spec, shape: GridShape) -> Parsed {
    let expected = match shape {
        GridShape::Ring => "a number of nodes, as in `ring:200`",
        GridShape::Tofu => "numbers of units along X, Y and Z, as in `tofu:4x3x4`",
        GridShape::Torus | GridShape::Mesh | GridShape::Mixed => "dimensions, as in `16x16`",
    };
    let arg = spec.only_word(expected)?;
    let can_be_open = matches!(shape, GridShape::Torus | GridShape::Tofu);
    let marked = |side: &str| can_be_open && side.ends_with('o');
    let closed: Vec<bool> = arg.value().split('x').map(|side| !marked(side)).collect();
    // Open dimensions are marked with the letter `o`. Positions in errors of `parse_dims` do not
    // count these letters.
    let unmarked: Vec<&str> = arg
        .value()
        .split('x')
        .map(|side| if marked(side) { &side[..side.len() - 1] } else { side })
        .collect();
    let dims = parse_dims(&unmarked.join("x")).map_err(|(at, len, what)| {
        let marks = closed.iter().zip(unmarked.iter().scan(0, |end, side| {
            *end += side.len() + 1;
            Some(*end)
        }));
        let before = marks.filter(|(closed, end)| !**closed && *end <= at).count();
        spec.error(arg.value_at() + at + before, len, &what)
    })?;
    if shape == GridShape::Ring && dims.len() > 1 {
        return Err(spec.error(
            arg.at(),
            arg.len(),
            "a ring has one dimension; for more write `torus:`",
        ));
    }
    if shape == GridShape::Tofu {
        let [x, y, z] = dims[..] else { return Err(spec.bad_value(arg, expected)) };
        if x * y * z * 12 > NODES {
            return Err(spec.bad_value(arg, "at most 178956970 units of 12 nodes"));
        }
        let closed = [closed[2], closed[1], closed[0], false, false, true];
        return Ok(Arc::new(GridNet::with_closed(shape, &[z, y, x, 2, 2, 3], closed.to_vec())));
    }
    let open = closed.iter().filter(|closed| !**closed).count();
    Ok(Arc::new(match open {
        0 => GridNet::new(shape, &dims),
        _ if open == dims.len() => GridNet::new(GridShape::Mesh, &dims),
        _ => GridNet::with_closed(GridShape::Mixed, &dims, closed),
    }))
}

impl GridNet {
    pub(super) fn new(shape: GridShape, dims: &[u64]) -> Self {
        Self::with_closed(shape, dims, vec![shape != GridShape::Mesh; dims.len()])
    }

    fn with_closed(shape: GridShape, dims: &[u64], closed: Vec<bool>) -> Self {
        let (nodes, strides) = (dims.iter().product(), strides(dims));
        let properties = Properties::default();
        let mut net = Self { properties, shape, dims: dims.to_vec(), closed, strides, nodes };
        net.properties = net.find_properties();
        net
    }

    fn find_properties(&self) -> Properties {
        let mixed = matches!(self.shape, GridShape::Mixed | GridShape::Tofu);
        let side = |(n, closed): (u64, bool)| {
            if mixed && !closed { format!("{n}o") } else { n.to_string() }
        };
        let mut sides: Vec<String> = self.sides().map(side).collect();
        if self.shape == GridShape::Tofu {
            sides.truncate(3);
            sides.reverse();
        }
        let (family, kind) = match self.shape {
            GridShape::Torus => ("torus", "torus"),
            GridShape::Mesh => ("mesh", "mesh"),
            GridShape::Ring => ("ring", "ring"),
            GridShape::Mixed => ("torus", "mixed-torus"),
            GridShape::Tofu => ("tofu", "tofu"),
        };
        let regular = self.sides().all(|(n, closed)| closed || n <= 2);
        let links = self.sides().filter(|(n, _)| *n > 1).map(|(_, closed)| 1 + u64::from(closed));
        // The cut divides the dimension with the largest ratio of separated pairs of nodes to cut
        // links. If all dimensions are closed, or all are open, this is the longest dimension. If
        // its size is even, no balanced cut has fewer links. If its size is odd, the sides of the
        // cut differ by one layer of nodes. In a grid of one dimension, a layer is a single node,
        // so this cut is also the best one.
        let cuts = self.sides().filter(|(n, _)| *n > 1).map(|(n, closed)| {
            let layer = self.nodes / n;
            let links = if closed { 2 * layer } else { layer };
            let exact = n == self.nodes || (!mixed && n % 2 == 0);
            Bisection { side: n / 2 * layer, links, exact }
        });
        let pressure =
            |b: &Bisection| b.side as f64 * (self.nodes - b.side) as f64 / b.links as f64;
        // In a ring of n nodes, and in a line of at most two, the sum of the distances from a node
        // to all others is `n^2 / 4`, rounded down. In the grid, each of these distances occurs
        // once for every line of the dimension.
        let from_node = self.dims.iter().map(|n| self.nodes / n * (n * n / 4));
        // In an open line of n nodes, the sum of the distances of all ordered pairs is `(n^3 - n) /
        // 3`. In the grid, each of these distances occurs once for every ordered pair of lines.
        let on_line = |n: u128, closed| if closed { n * (n * n / 4) } else { n * (n * n - 1) / 3 };
        let all_pairs = self
            .sides()
            .map(|(n, closed)| u128::from(self.nodes / n).pow(2) * on_line(u128::from(n), closed));
        Properties {
            spec: format!("{family}:{}", sides.join("x")),
            kind,
            nodes: self.nodes,
            radices: self.dims.clone(),
            link_slots: 2 * self.dims.len() as u64 * self.nodes,
            planes: planes(&self.dims, &self.strides),
            degree: regular.then(|| links.sum()),
            diameter: self.sides().map(|(n, closed)| if closed { n / 2 } else { n - 1 }).sum(),
            bisection: cuts.max_by(|a, b| pressure(a).total_cmp(&pressure(b))),
            distance_sum: regular.then(|| from_node.sum()),
            hops_of_all_pairs: Some(all_pairs.sum()),
            ..Properties::default()
        }
    }

    fn sides(&self) -> impl Iterator<Item = (u64, bool)> {
        self.dims.iter().copied().zip(self.closed.iter().copied())
    }

    fn coordinate(&self, node: u64, dim: usize) -> u64 {
        node / self.strides[dim] % self.dims[dim]
    }

    fn travel(
        &self,
        start: u64,
        a: u64,
        dim: usize,
        plus: bool,
        hops: u64,
        visit: &mut dyn FnMut(Run),
    ) {
        let (n, stride) = (self.dims[dim], self.strides[dim]);
        let plane = 2 * dim as u32 + u32::from(!plus);
        let line = u64::from(plane) * self.nodes + start;
        let mut run = |from: u64, len: u64| {
            if len > 0 {
                visit(Run { first: line + from * stride, stride, len, plane });
            }
        };
        if plus {
            let straight = hops.min(n - a);
            run(a, straight);
            run(0, hops - straight);
        } else {
            let straight = hops.min(a + 1);
            run(a + 1 - straight, straight);
            run(n - (hops - straight), hops - straight);
        }
    }

    fn malformed(&self, expected: &str, got: String) -> RouteError {
        RouteError::Malformed {
            topology: self.properties.spec.clone(),
            expected: expected.to_owned(),
            got,
        }
    }

    fn check(&self, route: &Route) -> Result<(), RouteError> {
        let dims = self.dims.len();
        if !route.signs.is_empty()
            && (route.signs.len() != dims || route.signs.iter().any(|s| !(-1..=1).contains(s)))
        {
            return Err(self.malformed(
                &format!("a sign -1, 0 or 1 for each of {dims} dimensions"),
                format!("{:?}", route.signs),
            ));
        }
        let order = &route.order;
        let twice = |i: usize| order[..i].contains(&order[i]);
        let permutes =
            || order.len() == dims && (0..dims).all(|i| (order[i] as usize) < dims && !twice(i));
        if !order.is_empty() && !permutes() {
            return Err(self.malformed(
                &format!("each of dimensions 0 to {} once", dims - 1),
                format!("{order:?}"),
            ));
        }
        Ok(())
    }

    fn directed(
        &self,
        from: u64,
        to: u64,
        route: &Route,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        let (mut at, mut hops) = (from, 0);
        for i in 0..self.dims.len() {
            let dim = route.order.get(i).map_or(self.dims.len() - 1 - i, |d| *d as usize);
            let (n, stride) = (self.dims[dim], self.strides[dim]);
            let (a, b) = (self.coordinate(from, dim), self.coordinate(to, dim));
            if a == b {
                continue;
            }
            let sign = route.signs.get(dim).copied().unwrap_or(0);
            let (mut plus, mut len) = shorter(n, self.closed[dim], a, b);
            if sign != 0 && plus != (sign > 0) {
                if !self.closed[dim] {
                    return Err(self.malformed(
                        "a direction that leads to the receiver",
                        format!("sign {sign} in dimension {dim}, from coordinate {a} to {b}"),
                    ));
                }
                (plus, len) = (!plus, n - len);
            }
            let start = at - a * stride;
            self.travel(start, a, dim, plus, len, visit);
            at = start + b * stride;
            hops += len;
        }
        Ok(hops)
    }

    /// If the link is along a torus dimension of size 2, there are two links. The sign selects one
    /// of them; the default is that for plus.
    fn link(&self, from: u64, to: u64, signs: &[i8]) -> Option<Run> {
        let mut differ =
            (0..self.dims.len()).filter(|d| self.coordinate(from, *d) != self.coordinate(to, *d));
        let (dim, None) = (differ.next()?, differ.next()) else { return None };
        let (a, b, n) = (self.coordinate(from, dim), self.coordinate(to, dim), self.dims[dim]);
        let up = b == a + 1 || (self.closed[dim] && a == n - 1 && b == 0);
        let down = a == b + 1 || (self.closed[dim] && a == 0 && b == n - 1);
        if !up && !down {
            return None;
        }
        let plus = if up && down { signs.get(dim).is_none_or(|s| *s >= 0) } else { up };
        let mut found = None;
        self.travel(from - a * self.strides[dim], a, dim, plus, 1, &mut |run| found = Some(run));
        found
    }
}

pub(super) fn planes(dims: &[u64], strides: &[u64]) -> Vec<Plane> {
    let nodes: u64 = dims.iter().product();
    let plane = |p: usize| {
        let (radix, stride) = (dims[p / 2], strides[p / 2]);
        Plane { offset: p as u64 * nodes, outer: nodes / (radix * stride), radix, stride }
    };
    (0..2 * dims.len()).map(plane).collect()
}

/// Returns whether the shorter path from `a` to `b` leads in the plus direction, and its hops.
pub(crate) fn shorter(n: u64, closed: bool, a: u64, b: u64) -> (bool, u64) {
    if !closed {
        return (b > a, a.abs_diff(b));
    }
    let ahead = if b > a { b - a } else { b + n - a };
    if 2 * ahead <= n { (true, ahead) } else { (false, n - ahead) }
}

impl Family for GridNet {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn grid(&self) -> Option<(&[u64], bool)> {
        match self.shape {
            GridShape::Torus | GridShape::Ring => Some((&self.dims, true)),
            GridShape::Mesh => Some((&self.dims, false)),
            GridShape::Mixed | GridShape::Tofu => None,
        }
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn eccentricity(&self, node: u64) -> u64 {
        let farthest = |(dim, (n, closed)): (usize, (u64, bool))| {
            let at = self.coordinate(node, dim);
            if closed { n / 2 } else { at.max(n - 1 - at) }
        };
        self.sides().enumerate().map(farthest).sum()
    }

    fn links_from(&self, node: u64) -> Option<u64> {
        let along = |(dim, (n, closed)): (usize, (u64, bool))| {
            let at = self.coordinate(node, dim);
            if closed { 2 * u64::from(n > 1) } else { u64::from(at > 0) + u64::from(at + 1 < n) }
        };
        Some(self.sides().enumerate().map(along).sum())
    }

    /// Most of the computing time for a message is spent in this function. So for each dimension,
    /// `from_left` and `to_left` are each divided only once, for the quotient and the remainder.
    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (mut at, mut hops) = (from, 0);
        let (mut from_left, mut to_left) = (from, to);
        for dim in (0..self.dims.len()).rev() {
            if from_left == to_left {
                break;
            }
            let (n, stride) = (self.dims[dim], self.strides[dim]);
            let (a, b) = (from_left % n, to_left % n);
            (from_left, to_left) = (from_left / n, to_left / n);
            if a != b {
                let (plus, len) = shorter(n, self.closed[dim], a, b);
                let start = at - a * stride;
                self.travel(start, a, dim, plus, len, visit);
                at = start + b * stride;
                hops += len;
            }
        }
        hops
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        self.link(from, to, &[])
    }

    fn requested_route(
        &self,
        from: u64,
        to: u64,
        route: &Route,
        visit: &mut dyn FnMut(Run),
    ) -> Result<u64, RouteError> {
        self.check(route)?;
        if !route.path.is_empty() {
            return walk_path(
                &self.properties,
                (from, to),
                &route.path,
                |a, b| self.link(a, b, &route.signs),
                visit,
            );
        }
        self.directed(from, to, route, visit)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let (plane, node) = (link / self.nodes, link % self.nodes);
        let dim = (plane / 2) as usize;
        let n = *self.dims.get(dim)?;
        let (a, stride) = (self.coordinate(node, dim), self.strides[dim]);
        let b = if plane % 2 == 0 { a + 1 } else { a + n - 1 } % n;
        let there =
            n > 1 && (self.closed[dim] || a.abs_diff(b) == 1 && (b > a) == (plane % 2 == 0));
        there.then(|| (node, node - a * stride + b * stride))
    }
}

impl Automorphisms for GridNet {
    fn axes(&self) -> Vec<AxisSymmetry> {
        let axis = |(_, closed)| if closed { AxisSymmetry::Rotations } else { AxisSymmetry::Fixed };
        self.sides().map(axis).collect()
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let (plane, node) = (link / self.nodes, link % self.nodes);
        plane * self.nodes + image_of_node(&self.dims, node, image)
    }

    fn port(&self, link: u64) -> Option<(u64, u64)> {
        Some((link % self.nodes, link / self.nodes))
    }
}
