//! Twisted tori of sides a and 2 a, as in TPU v4 (N. Jouppi and others, *TPU v4*, ISCA 2023; the
//! construction is by J. M. Camarero, C. Martinez, R. Beivide, *Lattice Graphs for High-Scale
//! Interconnection Topologies*, TPDS 2015). A closing link joins the two ends of a line, so that
//! the line becomes a ring. The closing links of short sides have a twist: they also move by half
//! of every long side.
//!
//! The twist makes all directions equivalent, and the diameter smaller than that of a torus. The
//! network a x a x 2a is the face-centred cubic lattice, a x 2a x 2a is the body-centred cubic
//! lattice, and a x 2a is the rectangular twisted torus. Nodes and links are numbered as in a
//! torus. Routes are shortest routes. They follow the last dimension first, and each dimension in
//! only one direction. If there are several, routes without a closing link of the last short side
//! are preferred, then routes without a closing link of the short side before it, and so on. If a
//! route moves by half of a long side, it uses the plus direction.

use super::grid::planes;
use super::{Bisection, Family, Parsed, Properties, Run, strides};
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug)]
struct TwistedTorus {
    properties: Properties,
    dims: Vec<u64>,
    strides: Vec<u64>,
    a: u64,
    nodes: u64,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    const MAX_NODES: u64 = 1 << 22;
    /// The maximum number of short sides. For each message, all combinations of closing links are
    /// tried.
    const MAX_SHORT: usize = 8;
    let arg = spec.only_word("sides of a and 2a, as in `twisted-torus:4x4x8`")?;
    let dims = spec.dims(arg)?;
    let a = dims.iter().copied().min().unwrap_or(0);
    let short = dims.iter().filter(|n| **n == a).count();
    if a < 2 || short == dims.len() || dims.iter().any(|n| *n != a && *n != 2 * a) {
        return Err(spec.bad_value(
            arg,
            "sides of a and of 2a, at least one of each, with a of at least 2, as in `4x4x8`",
        ));
    }
    if short > MAX_SHORT || dims.iter().product::<u64>() > MAX_NODES {
        return Err(
            spec.bad_value(arg, &format!("at most {MAX_SHORT} short sides and {MAX_NODES} nodes"))
        );
    }
    Ok(Arc::new(TwistedTorus::new(dims)))
}

type Offsets = smallvec::SmallVec<[i64; 4]>;

impl TwistedTorus {
    fn new(dims: Vec<u64>) -> Self {
        let nodes = dims.iter().product();
        let strides = strides(&dims);
        let a = dims.iter().copied().min().unwrap_or(1);
        let sides: Vec<String> = dims.iter().map(u64::to_string).collect();
        let layer = nodes / a;
        let properties = Properties {
            spec: format!("twisted-torus:{}", sides.join("x")),
            kind: "twisted-torus",
            nodes,
            radices: dims.clone(),
            link_slots: 2 * dims.len() as u64 * nodes,
            planes: planes(&dims, &strides),
            degree: Some(2 * dims.len() as u64),
            bisection: Some(Bisection { side: a / 2 * layer, links: 2 * layer, exact: false }),
            ..Properties::default()
        };
        let mut net = Self { properties, a, strides, nodes, dims };
        let (diameter, sum) = (0..nodes)
            .map(|to| length(&net.shortest(0, to)))
            .fold((0, 0), |(most, sum), hops| (most.max(hops), sum + hops));
        (net.properties.diameter, net.properties.distance_sum) = (diameter, Some(sum));
        net
    }

    fn coordinate(&self, node: u64, dim: usize) -> u64 {
        node / self.strides[dim] % self.dims[dim]
    }

    fn is_short(&self, dim: usize) -> bool {
        self.dims[dim] == self.a
    }

    fn shortest(&self, from: u64, to: u64) -> Offsets {
        let apart = |d: usize| self.coordinate(to, d) as i64 - self.coordinate(from, d) as i64;
        let short = (0..self.dims.len()).filter(|d| self.is_short(*d)).count();
        let a = self.a as i64;
        let candidates = (0..1_u32 << short).map(|closed| {
            let mut left = closed;
            let far = closed.count_ones() % 2 == 1;
            let mut steps = |d: usize| {
                if self.is_short(d) {
                    let round = left & 1 == 1;
                    left >>= 1;
                    let direct = apart(d);
                    return match round {
                        false => direct,
                        true if direct < 0 => direct + a,
                        true => direct - a,
                    };
                }
                let rest = (apart(d) + if far { a } else { 0 }).rem_euclid(2 * a);
                if rest <= a { rest } else { rest - 2 * a }
            };
            (0..self.dims.len()).map(&mut steps).collect::<Offsets>()
        });
        candidates.min_by_key(length).expect("a destination has an image in each cell")
    }

    fn travel(&self, mut at: u64, dim: usize, steps: i64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (n, stride, plus) = (self.dims[dim], self.strides[dim], steps > 0);
        let plane = 2 * dim as u32 + u32::from(!plus);
        let mut left = steps.unsigned_abs();
        while left > 0 {
            let here = self.coordinate(at, dim);
            let len = left.min(if plus { n - here } else { here + 1 });
            let lowest = if plus { at } else { at - (len - 1) * stride };
            visit(Run { first: u64::from(plane) * self.nodes + lowest, stride, len, plane });
            let last = if plus { at + (len - 1) * stride } else { lowest };
            at = self.step(last, dim, plus);
            left -= len;
        }
        at
    }

    fn step(&self, node: u64, dim: usize, plus: bool) -> u64 {
        let (n, stride, here) = (self.dims[dim], self.strides[dim], self.coordinate(node, dim));
        let there = if plus { here + 1 } else { here + n - 1 } % n;
        let next = node - here * stride + there * stride;
        let closes = if plus { there == 0 } else { here == 0 };
        if !closes || !self.is_short(dim) {
            return next;
        }
        (0..self.dims.len()).filter(|d| !self.is_short(*d)).fold(next, |at, d| {
            let here = self.coordinate(at, d);
            at - here * self.strides[d] + (here + self.a) % self.dims[d] * self.strides[d]
        })
    }
}

fn length(steps: &Offsets) -> u64 {
    steps.iter().map(|s| s.unsigned_abs()).sum()
}

impl Family for TwistedTorus {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let mut directions = (0..self.dims.len()).flat_map(|d| [(d, true), (d, false)]);
        let (dim, plus) = directions.find(|(d, plus)| self.step(from, *d, *plus) == to)?;
        let plane = 2 * dim as u32 + u32::from(!plus);
        Some(Run {
            first: u64::from(plane) * self.nodes + from,
            stride: self.strides[dim],
            len: 1,
            plane,
        })
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let steps = self.shortest(from, to);
        let mut at = from;
        for dim in (0..self.dims.len()).rev() {
            at = self.travel(at, dim, steps[dim], visit);
        }
        length(&steps)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let (plane, node) = (link / self.nodes, link % self.nodes);
        let dim = (plane / 2) as usize;
        (dim < self.dims.len()).then(|| (node, self.step(node, dim, plane % 2 == 0)))
    }
}
