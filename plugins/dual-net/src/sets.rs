//! Sets of blocks as products of axes, so that all blocks that a rule sends are a few products.

use crate::net::Net;
use swapmeet_sdk::Axis;

/// Sets of nodes as products of axes. A node of level j has the axes of its type, then those of the
/// number of its cluster, then those of its number within the cluster.
pub(crate) struct Sets<'a> {
    net: &'a Net,
    radices: Vec<Vec<u64>>,
    /// For each dimension of the base and each coordinate, the nodes with this coordinate, as bits.
    /// A base of up to 64 nodes is one axis, so that the set of all nodes except one consists of
    /// few products. If the base is larger, its dimensions are axes, and this is empty.
    nodes_at: Vec<Vec<u64>>,
    /// Whether nodes of type 1 have the order (1, x, c) instead of (1, c, x). Node (0, c, x) and
    /// its partner (1, x, c) then differ only on the axis of the type, so that the blocks for a
    /// partner are one product in Algorithm 4 as printed.
    swapped: bool,
}

impl<'a> Sets<'a> {
    pub(crate) fn new(net: &'a Net, swapped: bool) -> Self {
        let base = &net.base;
        let nodes_at = |d: usize, c: u64| {
            (0..base.nodes()).filter(|v| base.coordinate(*v, d) == c).map(|v| 1 << v).sum()
        };
        let nodes_at = if base.nodes() <= 64 {
            (0..base.dimensions())
                .map(|d| (0..base.radix(d)).map(|c| nodes_at(d, c)).collect())
                .collect()
        } else {
            Vec::new()
        };
        let mut radices =
            vec![if base.nodes() <= 64 { vec![base.nodes()] } else { base.radices().to_vec() }];
        for level in 0..net.levels() {
            radices.push([&[2][..], &radices[level], &radices[level]].concat());
        }
        Self { net, radices, nodes_at, swapped }
    }

    pub(crate) fn grid(&self) -> &[u64] {
        &self.radices[self.net.levels()]
    }

    /// Converts a node number within a cluster of this level to its number on the axes, in
    /// row-major order. The two numbers differ if `swapped` is set.
    pub(crate) fn place(&self, level: usize, node: u64) -> u64 {
        if level == 0 || !self.swapped {
            return node;
        }
        let (t, c, x) = self.net.split(level, node);
        let (c, x) = (self.place(level - 1, c), self.place(level - 1, x));
        if t == 0 { self.net.join(level, t, c, x) } else { self.net.join(level, t, x, c) }
    }

    pub(crate) fn all(&self) -> Blocks<'static> {
        Blocks { axes: vec![Axis::ALL; self.grid().len()], hole: 0 }
    }

    /// Returns all nodes of a cluster except `node`, as a union of products. There is one product
    /// for each axis: the nodes that agree with `node` on all earlier axes and differ from it on
    /// this one.
    pub(crate) fn all_but(&self, level: usize, node: u64) -> Vec<Vec<Axis<'static>>> {
        let (radices, at) = (&self.radices[level], self.coordinates(level, node));
        let mut products = Vec::new();
        for (axis, &radix) in radices.iter().enumerate().filter(|(_, radix)| **radix > 1) {
            let mut product: Vec<Axis<'static>> =
                at[..axis].iter().map(|coordinate| Axis::one(*coordinate)).collect();
            product.push(Axis::range((at[axis] + 1) % radix, radix - 1));
            product.resize(radices.len(), Axis::ALL);
            products.push(product);
        }
        products
    }

    fn coordinates(&self, level: usize, node: u64) -> Vec<u64> {
        let radices = &self.radices[level];
        let (mut coordinates, mut rest) = (vec![0; radices.len()], self.place(level, node));
        for (coordinate, radix) in coordinates.iter_mut().zip(radices).rev() {
            (*coordinate, rest) = (rest % radix, rest / radix);
        }
        coordinates
    }
}

#[derive(Clone, Copy)]
pub(crate) enum NodeSelection<'a> {
    All,
    One(u64),
    Product(&'a [Axis<'static>]),
    /// The exchange within the cluster selects the nodes later.
    Hole,
}

/// *The blocks for node v*, or *of node v*, as a product over all axes. The axes that depend on v
/// are a hole. When v is known, its coordinates fill the hole.
#[derive(Clone)]
pub(crate) struct Blocks<'a> {
    axes: Vec<Axis<'a>>,
    hole: usize,
}

impl<'a> Blocks<'a> {
    /// Returns the blocks for, or of, the nodes of type `t` with the given clusters and numbers.
    /// These fill the hole, which must have the axes of a cluster of this level.
    pub(crate) fn restrict(
        &self,
        sets: &Sets<'_>,
        level: usize,
        t: u64,
        clusters: NodeSelection<'_>,
        nodes: NodeSelection<'_>,
    ) -> Self {
        let mut blocks = self.clone();
        let width = sets.radices[level - 1].len();
        blocks.axes[self.hole] = Axis::one(t);
        let mut selections = [clusters, nodes];
        if sets.swapped && t == 1 {
            selections.reverse();
        }
        for (i, selection) in selections.into_iter().enumerate() {
            let start = self.hole + 1 + i * width;
            let axes = &mut blocks.axes[start..start + width];
            match selection {
                NodeSelection::All => {}
                NodeSelection::One(node) => {
                    let at = sets.coordinates(level - 1, node);
                    axes.iter_mut().zip(at).for_each(|(axis, c)| *axis = Axis::one(c));
                }
                NodeSelection::Product(product) => axes.copy_from_slice(product),
                NodeSelection::Hole => blocks.hole = start,
            }
        }
        blocks
    }

    /// Restricts the nodes of a base network to `count` coordinates of a dimension, from `first`
    /// on.
    pub(crate) fn along<'b>(
        &self,
        sets: &Sets<'_>,
        dimension: usize,
        (first, count): (u64, u64),
        nodes: &'b mut [u64; 1],
    ) -> Blocks<'b>
    where
        'a: 'b,
    {
        let mut blocks: Blocks<'b> = self.clone();
        let len = sets.net.base.radix(dimension);
        let Some(nodes_at) = sets.nodes_at.get(dimension) else {
            blocks.axes[self.hole + dimension] = Axis::range(first % len, count);
            return blocks;
        };
        nodes[0] = (first..first + count).fold(0, |set, c| set | nodes_at[(c % len) as usize]);
        blocks.axes[self.hole] = Axis::bits(nodes);
        blocks
    }

    pub(crate) fn axes(&self) -> &[Axis<'a>] {
        &self.axes
    }
}
