//! Hypercubes: two nodes are linked if their numbers differ in one bit. Routes change the bits in
//! which sender and receiver differ one by one, the lowest bit first (e-cube routing).

use super::automorphisms::image_of_node;
use super::{Automorphisms, AxisSymmetry, Bisection, Family, Parsed, Properties, Run};
use crate::spec::Spec;
use std::sync::Arc;

/// A hypercube of `dims` dimensions (D). Link `node * D + d` leaves `node` and changes bit d.
#[derive(Debug, Clone)]
struct Hypercube {
    properties: Properties,
    dims: u64,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    const MAX: u64 = 31;
    let arg = spec.only_word("a number of dimensions, as in `hypercube:7`")?;
    let dims = arg.value().parse::<u64>().ok().filter(|d| *d <= MAX);
    let dims = dims
        .ok_or_else(|| spec.bad_value(arg, &format!("a number of dimensions from 0 to {MAX}")))?;
    Ok(Arc::new(Hypercube::new(dims as u32)))
}

impl Hypercube {
    fn new(dims: u32) -> Self {
        let (nodes, half, bits) = (1_u64 << dims, (1_u64 << dims) / 2, u64::from(dims));
        let bisection = Bisection { side: half, links: half, exact: true };
        let properties = Properties {
            spec: format!("hypercube:{dims}"),
            kind: "hypercube",
            nodes,
            radices: vec![2; dims as usize],
            link_slots: nodes * bits,
            degree: Some(bits),
            diameter: bits,
            bisection: (half > 0).then_some(bisection),
            distance_sum: Some(bits * nodes / 2),
            ..Properties::default()
        };
        Self { properties, dims: bits }
    }

    fn run(&self, from: u64, dim: u64) -> Run {
        Run::link(from * self.dims + dim)
    }
}

impl Family for Hypercube {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let bit = from ^ to;
        bit.is_power_of_two().then(|| self.run(from, u64::from(bit.trailing_zeros())))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (mut at, mut left) = (from, from ^ to);
        while left > 0 {
            let dim = u64::from(left.trailing_zeros());
            visit(self.run(at, dim));
            at ^= 1 << dim;
            left &= left - 1;
        }
        u64::from((from ^ to).count_ones())
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let d = self.dims;
        (link < self.properties.link_slots).then(|| (link / d, (link / d) ^ (1 << (link % d))))
    }
}

impl Automorphisms for Hypercube {
    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Permutations; self.dims as usize]
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        image_of_node(&self.properties.radices, link / self.dims, image) * self.dims
            + link % self.dims
    }

    fn port(&self, link: u64) -> Option<(u64, u64)> {
        Some((link / self.dims, link % self.dims))
    }
}
