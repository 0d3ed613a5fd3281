//! What a cluster of a level calls a set of blocks: the paper says *the blocks for node v*, and
//! means whole sets of those of the level above. So that a rule stays a few products of axes,
//! however many blocks there are, sets are named in a grid made for it.

use crate::net::Net;
use swapmeet_sdk::Axis;

/// The grid of the sets: for a node of level j its type, then the axes of its cluster's number,
/// then those of its own within the cluster.
pub(crate) struct Sets<'a> {
    net: &'a Net,
    /// Radices of the axes of a node of each level.
    radices: Vec<Vec<u64>>,
    /// A base of up to 64 nodes is one axis, whatever its dimensions: sets of all nodes but one,
    /// which crossings are about, then fall into few products. Here, for each dimension and
    /// coordinate, which of the nodes have it, a bit each; empty for a larger base, which keeps its
    /// axes.
    having: Vec<Vec<u64>>,
    /// Whether nodes of type 1 are numbered as (1, x, c): then partners differ in their type alone.
    /// Blocks of partners that go the same way, as in Algorithm 4 as printed, are one product then;
    /// otherwise only where c = x, and there they don't join with those of their neighbours.
    turned: bool,
}

impl<'a> Sets<'a> {
    pub(crate) fn new(net: &'a Net, turned: bool) -> Self {
        let base = &net.base;
        let having = |d: usize, c: u64| {
            (0..base.nodes()).filter(|v| base.coordinate(*v, d) == c).map(|v| 1 << v).sum()
        };
        let having = if base.nodes() <= 64 {
            (0..base.dimensions())
                .map(|d| (0..base.radix(d)).map(|c| having(d, c)).collect())
                .collect()
        } else {
            Vec::new()
        };
        let mut radices =
            vec![if base.nodes() <= 64 { vec![base.nodes()] } else { base.radices().to_vec() }];
        for level in 0..net.levels() {
            radices.push([&[2][..], &radices[level], &radices[level]].concat());
        }
        Self { net, radices, having, turned }
    }

    /// The radices of the whole grid.
    pub(crate) fn grid(&self) -> &[u64] {
        &self.radices[self.net.levels()]
    }

    /// The number of a node of a level in it.
    pub(crate) fn place(&self, level: usize, node: u64) -> u64 {
        if level == 0 || !self.turned {
            return node;
        }
        let (t, c, x) = self.net.split(level, node);
        let (c, x) = (self.place(level - 1, c), self.place(level - 1, x));
        if t == 0 { self.net.join(level, t, c, x) } else { self.net.join(level, t, x, c) }
    }

    /// All blocks, as the whole net calls them.
    pub(crate) fn all(&self) -> Blocks<'static> {
        Blocks { axes: vec![Axis::ALL; self.grid().len()], hole: 0 }
    }

    /// Every node of a level but one, in as few products as there are axes: those that agree with
    /// it in the axes before, and differ in this.
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

    /// Coordinates of a node of a level.
    fn coordinates(&self, level: usize, node: u64) -> Vec<u64> {
        let radices = &self.radices[level];
        let (mut coordinates, mut rest) = (vec![0; radices.len()], self.place(level, node));
        for (coordinate, radix) in coordinates.iter_mut().zip(radices).rev() {
            (*coordinate, rest) = (rest % radix, rest / radix);
        }
        coordinates
    }
}

/// Which nodes of a cluster.
pub(crate) enum Which<'a> {
    All,
    One(u64),
    Product(&'a [Axis<'static>]),
    /// To be said by what goes on within the cluster.
    Hole,
}

/// What a cluster of a level means by *the blocks for (or of) my node v*: a product over the whole
/// grid, but for a hole of as many axes as the cluster's nodes have, which v fills.
#[derive(Clone)]
pub(crate) struct Blocks<'a> {
    axes: Vec<Axis<'a>>,
    hole: usize,
}

impl<'a> Blocks<'a> {
    /// Of these, the ones of nodes (t, clusters, nodes), where the hole is one of a cluster of
    /// `level`.
    pub(crate) fn of(
        &self,
        sets: &Sets<'_>,
        level: usize,
        t: u64,
        clusters: &Which<'_>,
        nodes: &Which<'_>,
    ) -> Self {
        let mut blocks = self.clone();
        let width = sets.radices[level - 1].len();
        blocks.axes[self.hole] = Axis::one(t);
        let (first, second) =
            if sets.turned && t == 1 { (nodes, clusters) } else { (clusters, nodes) };
        for (which, start) in [(first, self.hole + 1), (second, self.hole + 1 + width)] {
            match which {
                Which::All => {}
                Which::One(node) => {
                    let at = sets.coordinates(level - 1, *node);
                    blocks.axes[start..start + width]
                        .iter_mut()
                        .zip(at)
                        .for_each(|(axis, c)| *axis = Axis::one(c));
                }
                Which::Product(axes) => blocks.axes[start..start + width].copy_from_slice(axes),
                Which::Hole => blocks.hole = start,
            }
        }
        blocks
    }

    /// Of these, in a cluster that is a base, the ones of nodes with `count` coordinates from one
    /// on in one dimension. `nodes` is room for a set of them.
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
        let Some(having) = sets.having.get(dimension) else {
            blocks.axes[self.hole + dimension] = Axis::range(first % len, count);
            return blocks;
        };
        nodes[0] = (first..first + count).fold(0, |set, c| set | having[(c % len) as usize]);
        blocks.axes[self.hole] = Axis::bits(nodes);
        blocks
    }

    /// The axes of the product.
    pub(crate) fn axes(&self) -> &[Axis<'a>] {
        &self.axes
    }
}
