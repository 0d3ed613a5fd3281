//! Sets of blocks as seen by the clusters of each level. Where the paper writes *the blocks for
//! node v*, it means whole sets of blocks of the level above. In the grid defined here, each rule
//! is a few products of axes, however many blocks there are.

use crate::net::Net;
use swapmeet_sdk::Axis;

/// The grid of the sets. A node of level j has the axes: its type, then those of its cluster's
/// number, then those of its number within the cluster.
pub(crate) struct Sets<'a> {
    net: &'a Net,
    /// Radices of the axes of a node of each level.
    radices: Vec<Vec<u64>>,
    /// For each dimension and coordinate of the base, the nodes with that coordinate, as bits. A
    /// base of up to 64 nodes is a single axis, whatever its dimensions, because sets of all nodes
    /// but one are then few products. Empty for a larger base, which keeps its axes.
    nodes_at: Vec<Vec<u64>>,
    /// Whether nodes of type 1 are numbered as (1, x, c). Partners then differ in their type only.
    /// Blocks that partners send in the same way, as in Algorithm 4 as printed, are then one
    /// product.
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

    /// Returns the radices of the whole grid.
    pub(crate) fn grid(&self) -> &[u64] {
        &self.radices[self.net.levels()]
    }

    /// Returns the number of a node of a level in the grid.
    pub(crate) fn place(&self, level: usize, node: u64) -> u64 {
        if level == 0 || !self.swapped {
            return node;
        }
        let (t, c, x) = self.net.split(level, node);
        let (c, x) = (self.place(level - 1, c), self.place(level - 1, x));
        if t == 0 { self.net.join(level, t, c, x) } else { self.net.join(level, t, x, c) }
    }

    /// Returns all blocks, as the whole net sees them.
    pub(crate) fn all(&self) -> Blocks<'static> {
        Blocks { axes: vec![Axis::ALL; self.grid().len()], hole: 0 }
    }

    /// Returns all nodes of a level except `node`, as one product for each axis. The product of an
    /// axis has the nodes that agree with `node` on the axes before it and differ from `node` on
    /// this axis.
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

    /// Returns the coordinates of a node of a level.
    fn coordinates(&self, level: usize, node: u64) -> Vec<u64> {
        let radices = &self.radices[level];
        let (mut coordinates, mut rest) = (vec![0; radices.len()], self.place(level, node));
        for (coordinate, radix) in coordinates.iter_mut().zip(radices).rev() {
            (*coordinate, rest) = (rest % radix, rest / radix);
        }
        coordinates
    }
}

/// A selection of nodes of a cluster.
pub(crate) enum NodeSelection<'a> {
    All,
    One(u64),
    Product(&'a [Axis<'static>]),
    /// Not yet selected: the exchange within the cluster fills it in.
    Hole,
}

/// The meaning of *the blocks for (or of) node v* in a cluster of a level: a product over the whole
/// grid with a hole. The hole has as many axes as the number of a node of the cluster, and v fills
/// it in.
#[derive(Clone)]
pub(crate) struct Blocks<'a> {
    axes: Vec<Axis<'a>>,
    hole: usize,
}

impl<'a> Blocks<'a> {
    /// Returns only the blocks for (or of) the nodes (t, clusters, nodes), which replace the hole.
    /// The hole must be that of a cluster of `level`.
    pub(crate) fn restrict(
        &self,
        sets: &Sets<'_>,
        level: usize,
        t: u64,
        clusters: &NodeSelection<'_>,
        nodes: &NodeSelection<'_>,
    ) -> Self {
        let mut blocks = self.clone();
        let width = sets.radices[level - 1].len();
        blocks.axes[self.hole] = Axis::one(t);
        let (first, second) =
            if sets.swapped && t == 1 { (nodes, clusters) } else { (clusters, nodes) };
        for (selection, start) in [(first, self.hole + 1), (second, self.hole + 1 + width)] {
            match selection {
                NodeSelection::All => {}
                NodeSelection::One(node) => {
                    let at = sets.coordinates(level - 1, *node);
                    blocks.axes[start..start + width]
                        .iter_mut()
                        .zip(at)
                        .for_each(|(axis, c)| *axis = Axis::one(c));
                }
                NodeSelection::Product(axes) => {
                    blocks.axes[start..start + width].copy_from_slice(axes);
                }
                NodeSelection::Hole => blocks.hole = start,
            }
        }
        blocks
    }

    /// Returns only the blocks for (or of) the nodes with `count` coordinates from `first` in one
    /// dimension, in a cluster that is a base. `nodes` is storage for a set of them.
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

    /// Returns the axes of the product.
    pub(crate) fn axes(&self) -> &[Axis<'a>] {
        &self.axes
    }
}
