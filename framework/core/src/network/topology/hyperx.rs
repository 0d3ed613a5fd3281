//! HyperX: a grid of switches in which each switch is linked to every other switch on each of its
//! lines (J. H. Ahn and others, *HyperX: Topology, Routing, and Packaging of Efficient Large-Scale
//! Networks*, SC 2009). If all sides are 2, it is a hypercube of switches. If it has one dimension,
//! it is a complete graph.
//!
//! Switches are numbered in row-major order. Ports are sorted by dimension, and then by the
//! coordinate of the switch to which they lead. The port to the switch's own coordinate is unused.
//! Routes follow the last dimension first.

use super::switched::{Fabric, FamilyArgs, Switched, nodes_argument};
use super::{AxisSymmetry, Parsed, strides};
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug)]
struct HyperX {
    dims: Vec<u64>,
    lines: Vec<(u64, u64)>,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    let words = FamilyArgs::of(spec, "switches along each dimension, as in `8x8`", &["nodes"])?;
    let word = words.word;
    let dims = spec.dims(word)?;
    let nodes_each = words.nodes_each(dims.iter().product())?;
    let first_ports = (0..dims.len()).map(|d| dims[..d].iter().sum());
    let lines = strides(&dims).into_iter().zip(first_ports).collect();
    let radices = [&dims[..], &[nodes_each]].concat();
    let sides: Vec<String> = dims.iter().map(u64::to_string).collect();
    let arguments = sides.join("x") + &nodes_argument(nodes_each);
    let fabric = HyperX { dims, lines };
    Ok(Arc::new(Switched::new(fabric, "hyperx", &arguments, radices, nodes_each)))
}

impl Fabric for HyperX {
    fn switches(&self) -> u64 {
        self.dims.iter().product()
    }

    fn radix(&self) -> u64 {
        self.dims.iter().sum()
    }

    fn neighbour(&self, switch: u64, port: u64) -> Option<u64> {
        let dim = self.lines.iter().rposition(|(_, first)| *first <= port)?;
        let (stride, first) = self.lines[dim];
        let (here, there) = (switch / stride % self.dims[dim], port - first);
        (here != there).then(|| switch - here * stride + there * stride)
    }

    fn next_port(&self, at: u64, to: u64) -> u64 {
        let differ = |((stride, first), radix): (&(u64, u64), &u64)| {
            let there = to / stride % radix;
            (at / stride % radix != there).then_some(first + there)
        };
        self.lines.iter().zip(&self.dims).rev().find_map(differ).unwrap_or(0)
    }

    fn symmetry_period(&self) -> u64 {
        1
    }

    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Permutations; self.dims.len()]
    }

    fn moved_port(&self, port: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let dim = self.lines.iter().rposition(|(_, first)| *first <= port).unwrap_or(0);
        let first = self.lines[dim].1;
        first + image(dim, port - first)
    }

    fn distances(&self, _: u64) -> (u64, u64) {
        let others = |radix: &u64| self.switches() / radix * (radix - 1);
        (
            self.dims.iter().filter(|radix| **radix > 1).count() as u64,
            self.dims.iter().map(others).sum(),
        )
    }

    /// The cut divides the dimension with the fewest cut links per separated pair of switches.
    fn cut(&self) -> Option<(u64, u64)> {
        let all = self.switches();
        let cuts = self
            .dims
            .iter()
            .filter(|n| **n > 1)
            .map(|n| (n / 2 * (all / n), n / 2 * (n - n / 2) * (all / n)));
        let pressure =
            |(side, links): &(u64, u64)| *side as f64 * (all - side) as f64 / *links as f64;
        cuts.max_by(|a, b| pressure(a).total_cmp(&pressure(b)))
    }
}
