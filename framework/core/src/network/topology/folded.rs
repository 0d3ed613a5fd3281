//! A logical torus that is folded into a network of several dimensions (`place=fold:SHAPE`).
//!
//! Each axis of the shape covers one or more dimensions of the network. The ranks along the axis
//! follow a path through these dimensions, which reverses its direction at the end of each line. So
//! neighbouring ranks are on neighbouring nodes. If the network allows it, the two ends of the path
//! are neighbours, too. An axis may be shorter than its path. Nodes without a rank become switches.
//!
//! The Tofu network gives a job a torus of three dimensions in this way (Y. Ajima, S. Sumimoto, T.
//! Shimizu, *Tofu: A 6D Mesh/Torus Interconnect for Exascale Computers*, Computer 42 (11), 2009).

use super::{Family, Network, Parsed, Properties, Run, strides};
use crate::spec::{Arg, Spec, parse_dims};
use std::sync::Arc;

#[derive(Debug)]
struct Folded {
    properties: Properties,
    base: Arc<dyn Family>,
    node: Vec<u32>,
    vertex: Vec<u32>,
    farthest: Vec<Vec<u64>>,
}

#[derive(Debug, Clone, Copy)]
struct Dimension {
    size: u64,
    stride: u64,
    is_closed: bool,
}

pub(super) fn parse(network: &Network, spec: &Spec, arg: &Arg, shape: &str) -> Parsed {
    /// The tables take eight bytes for each node, so the number of nodes is limited.
    const MAX_NODES: u64 = 1 << 24;
    /// The distances of all pairs of coordinates of an axis are calculated, so its size is limited.
    const MAX_SIDE: u64 = 4096;
    let bad = |expected: &str| spec.bad_value(arg, expected);
    if !["torus", "mesh", "ring", "mixed-torus", "tofu"].contains(&network.kind()) {
        return Err(bad("a torus, mesh, ring or tofu to fold a shape into"));
    }
    if network.damage().is_some() {
        return Err(bad("a network without failed and slow links to fold a shape into"));
    }
    let sides = parse_dims(shape).map_err(|_| bad("fold:SHAPE, as in `fold:8x8x8`"))?;
    if network.nodes() > MAX_NODES || sides.iter().any(|side| *side > MAX_SIDE) {
        return Err(bad(&format!("at most {MAX_NODES} nodes and sides of at most {MAX_SIDE}")));
    }
    let strides = strides(network.radices());
    let family = network.family.as_ref();
    let dimension = |(size, stride): (u64, u64)| {
        let last = (size - 1) * stride;
        Dimension { size, stride, is_closed: size > 2 && hops(family, 0, last) == 1 }
    };
    let dimensions = network.radices().iter().copied().zip(strides).map(dimension);
    let dimensions: Vec<Dimension> = dimensions.filter(|dimension| dimension.size > 1).collect();
    let Some(covered) = assignment(&dimensions, &sides) else {
        let nodes: Vec<String> = dimensions.iter().map(|d| d.size.to_string()).collect();
        return Err(bad(&format!(
            "a shape whose sides are at most products of different dimensions of {}",
            nodes.join("x")
        )));
    };
    let paths = covered.into_iter().zip(&sides).map(|(dims, side)| path(dims, *side));
    Ok(Arc::new(Folded::new(Arc::clone(&network.family), &sides, &paths.collect::<Vec<_>>())))
}

fn hops(network: &dyn Family, from: u64, to: u64) -> u64 {
    network.own_route(from, to, &mut |_| {})
}

/// Returns the dimensions that each axis covers. The product of their sizes is at least the side of
/// the axis. The sum of these products over all axes is the smallest possible; of several such
/// solutions, the first one in lexicographic order is returned.
fn assignment(dimensions: &[Dimension], sides: &[u64]) -> Option<Vec<Vec<Dimension>>> {
    const MAX_TRIED: u64 = 1 << 20;
    let axes = sides.len() as u64;
    let count = axes.checked_pow(dimensions.len() as u32).filter(|count| *count <= MAX_TRIED)?;
    let axis_of = |number: u64, d: usize| {
        (number / axes.pow((dimensions.len() - 1 - d) as u32) % axes) as usize
    };
    let sum_of_products = |number: &u64| {
        let mut products = vec![1; sides.len()];
        for (d, dimension) in dimensions.iter().enumerate() {
            products[axis_of(*number, d)] *= dimension.size;
        }
        let is_large_enough = products.iter().zip(sides).all(|(product, side)| product >= side);
        is_large_enough.then(|| products.iter().sum::<u64>())
    };
    let best = (0..count).filter(|number| sum_of_products(number).is_some());
    let best = best.min_by_key(|number| sum_of_products(number))?;
    let of_axis = |axis: usize| {
        let is_own = |(d, _): &(usize, &Dimension)| axis_of(best, *d) == axis;
        dimensions.iter().enumerate().filter(is_own).map(|(_, dimension)| *dimension).collect()
    };
    Some((0..sides.len()).map(of_axis).collect())
}

/// Returns the first `side` nodes of a path through some dimensions. At each coordinate of the
/// slowest dimension, the path sweeps through the other dimensions. Successive sweeps alternate in
/// direction.
fn path(mut dimensions: Vec<Dimension>, side: u64) -> Vec<u64> {
    // The ends of the path are neighbours under two conditions: it consists of an even number of
    // whole sweeps, and the first and the last sweep are at neighbouring coordinates.
    let product: u64 = dimensions.iter().map(|d| d.size).product();
    let closes = |d: &Dimension| {
        let sweeps = side * d.size / product;
        (side * d.size).is_multiple_of(product)
            && sweeps.is_multiple_of(2)
            && (sweeps == 2 || sweeps == d.size && d.is_closed)
    };
    if let Some(slowest) = dimensions.iter().position(closes) {
        dimensions[..=slowest].rotate_right(1);
    }
    let node = |position: u64| {
        let (mut rest, mut inner, mut node) = (position, product, 0);
        for dimension in &dimensions {
            inner /= dimension.size;
            let coordinate = rest / inner;
            node += coordinate * dimension.stride;
            rest %= inner;
            if coordinate % 2 == 1 {
                rest = inner - 1 - rest;
            }
        }
        node
    };
    (0..side).map(node).collect()
}

impl Folded {
    fn new(base: Arc<dyn Family>, sides: &[u64], paths: &[Vec<u64>]) -> Self {
        let mut node = vec![0_u32];
        for path in paths {
            node =
                node.iter().flat_map(|at| path.iter().map(move |step| at + *step as u32)).collect();
        }
        let (ranks, of_base) = (node.len() as u64, base.properties());
        let mut vertex = vec![u32::MAX; of_base.nodes as usize];
        (0..).zip(&node).for_each(|(rank, node)| vertex[*node as usize] = rank);
        for (at, vertex) in vertex.iter_mut().enumerate().filter(|(_, vertex)| **vertex == u32::MAX)
        {
            *vertex = node.len() as u32;
            node.push(at as u32);
        }
        let (mut farthest, mut hops_of_all_pairs) = (Vec::new(), 0);
        for path in paths {
            let (mut most, mut sum) = (Vec::new(), 0_u128);
            for from in path {
                let all = path.iter().map(|to| hops(base.as_ref(), *from, *to));
                let (far, total) = all.fold((0, 0), |(far, sum), hops| (hops.max(far), sum + hops));
                most.push(far);
                sum += u128::from(total);
            }
            hops_of_all_pairs += sum * u128::from(ranks / path.len() as u64).pow(2);
            farthest.push(most);
        }
        let shape: Vec<String> = sides.iter().map(u64::to_string).collect();
        let is_full = ranks == of_base.nodes;
        let properties = Properties {
            spec: format!("{},place=fold:{}", of_base.spec, shape.join("x")),
            // Algorithms that choose the routes of a torus must not accept this network, so its
            // kind is not `torus`.
            kind: "folded",
            nodes: ranks,
            switches: of_base.switches + of_base.nodes - ranks,
            radices: sides.to_vec(),
            diameter: farthest.iter().filter_map(|most| most.iter().max()).sum(),
            bisection: of_base.bisection.filter(|_| is_full),
            distance_sum: of_base.distance_sum.filter(|_| is_full),
            hops_of_all_pairs: Some(hops_of_all_pairs),
            max_links: Some(of_base.max_links()),
            ..of_base.clone()
        };
        Self { properties, base, node, vertex, farthest }
    }

    fn node(&self, vertex: u64) -> u64 {
        self.node[vertex as usize].into()
    }

    fn vertex(&self, node: u64) -> u64 {
        self.vertex[node as usize].into()
    }
}

impl Family for Folded {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn eccentricity(&self, rank: u64) -> u64 {
        let (mut rest, mut sum) = (rank, 0);
        for most in self.farthest.iter().rev() {
            sum += most[(rest % most.len() as u64) as usize];
            rest /= most.len() as u64;
        }
        sum
    }

    fn links_from(&self, rank: u64) -> Option<u64> {
        self.base.links_from(self.node(rank))
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        self.base.own_route(self.node(from), self.node(to), visit)
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        self.base.link_between(self.node(from), self.node(to))
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.base.link_ends(link).map(|(from, to)| (self.vertex(from), self.vertex(to)))
    }
}
