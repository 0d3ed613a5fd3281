//! The dual-net's structure: levels, numbers, and what a cluster of a level calls a set of blocks.

use swapmeet_sdk::{Axis, Problem, Stop};

/// `RDN^k(B)`, as far as the schedules look at it.
#[derive(Clone)]
pub struct Net {
    /// n_0, n_1, .., n_k: nodes of a cluster of each level; the last is the whole.
    n: Vec<u64>,
    /// Axes that a node of each level has in the grid of node numbers.
    axes: Vec<usize>,
    /// Dimensions of the base.
    dims: Vec<u64>,
    /// A base of up to 64 nodes is one axis in sets, whatever its dimensions: sets of all nodes but one, which crossings are about, then fall into few
    /// products. Here, for each dimension and coordinate, which of the nodes have it, a bit each; empty for a larger base, which keeps its axes.
    having: Vec<Vec<u64>>,
    /// How the nodes of a line of the base are linked.
    pub line: Line,
    /// Whether sets speak of nodes of type 1 as (1, x, c): then partners differ in their type alone. Blocks of partners that go the same way, as in Algorithm 4 as printed,
    /// are one product then; otherwise only where c = x, and there they don't join with those of their neighbours.
    turned: bool,
}

/// How the nodes that differ in one dimension of the base only are linked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Each to the next and the last to the first: tori; hypercubes too, whose lines have two nodes.
    Ring,
    /// Each to every other, over switches if need be.
    Full,
}

/// One dimension of the base: the nodes of a line are `stride` apart in number.
#[derive(Clone, Copy)]
pub struct Dimension {
    /// Which one, the first being the slowest.
    pub index: usize,
    /// Nodes of a line (N).
    pub len: u64,
    /// Difference of neighbours' numbers.
    pub stride: u64,
}

impl Dimension {
    /// Coordinate of a node.
    pub fn of(self, node: u64) -> u64 {
        node / self.stride % self.len
    }

    /// The node `ahead` along the line.
    pub fn ahead(self, node: u64, ahead: u64) -> u64 {
        let at = self.of(node);
        node - at * self.stride + (at + ahead) % self.len * self.stride
    }
}

impl Net {
    /// The net of a problem, which must be a dual-net.
    pub fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        let topology = problem.topology();
        if topology.kind() != "rdn" {
            return Err(Stop::unsupported(format!("runs on a recursive dual-net only, this is a {}", topology.kind())));
        }
        let Some((base, k)) = topology.base() else {
            return Err(Stop::unsupported("the host does not say what the dual-net's base is"));
        };
        let line = match base.kind() {
            "torus" | "ring" | "hypercube" | "mesh" => Line::Ring,
            _ => Line::Full,
        };
        let dims = base.dims().to_vec();
        let mut n = vec![base.nodes()];
        for level in 0..k as usize {
            n.push(2 * n[level] * n[level]);
        }
        let mut net = Self { n, axes: Vec::new(), dims, having: Vec::new(), line, turned: false };
        if net.n.last() != Some(&topology.nodes()) {
            return Err(Stop::failed(format!(
                "{} has {} nodes, which are no dual-net's",
                topology.spec(),
                topology.nodes()
            )));
        }
        if net.n[0] <= 64 {
            let having = |d: Dimension, c: u64| (0..net.n[0]).filter(|v| d.of(*v) == c).map(|v| 1 << v).sum();
            net.having = net.dimensions().map(|d| (0..d.len).map(|c| having(d, c)).collect()).collect();
        }
        net.axes = (0..net.n.len()).map(|level| net.radices(level).len()).collect();
        Ok(net)
    }

    /// The same net, with sets that speak of nodes of type 1 as (1, x, c).
    pub fn turned(&self) -> Self {
        Self { turned: true, ..self.clone() }
    }

    /// The number of a node of a level in the grid of the sets.
    pub fn place(&self, level: usize, node: u64) -> u64 {
        if level == 0 || !self.turned {
            return node;
        }
        let (t, c, x) = self.split(level, node);
        let (c, x) = (self.place(level - 1, c), self.place(level - 1, x));
        if t == 0 { self.join(level, t, c, x) } else { self.join(level, t, x, c) }
    }

    /// The grid of the sets.
    pub fn grid(&self) -> Vec<u64> {
        self.radices(self.levels())
    }

    /// k.
    pub fn levels(&self) -> usize {
        self.n.len() - 1
    }

    /// Nodes of a cluster of a level.
    pub fn nodes(&self, level: usize) -> u64 {
        self.n[level]
    }

    /// A node of a level as its type, cluster and node.
    pub fn split(&self, level: usize, node: u64) -> (u64, u64, u64) {
        let n = self.n[level - 1];
        (node / (n * n), node / n % n, node % n)
    }

    /// The number of node (t, c, x) of a level.
    pub fn join(&self, level: usize, t: u64, c: u64, x: u64) -> u64 {
        let n = self.n[level - 1];
        (t * n + c) * n + x
    }

    /// The other end of a node's cross-edge of a level.
    pub fn partner(&self, level: usize, node: u64) -> u64 {
        let (t, c, x) = self.split(level, node);
        self.join(level, 1 - t, x, c)
    }

    /// The dimensions of the base.
    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> {
        let mut stride = self.n[0];
        self.dims.iter().enumerate().map(move |(index, &len)| {
            stride /= len;
            Dimension { index, len, stride }
        })
    }

    /// All blocks, as the whole net calls them.
    pub fn blocks(&self) -> Blocks<'static> {
        Blocks { axes: vec![Axis::ALL; self.axes[self.levels()]], hole: 0 }
    }

    /// Coordinates of a node of a level in the grid of the sets.
    fn coordinates(&self, level: usize, node: u64) -> Vec<u64> {
        let radices = self.radices(level);
        let (mut coordinates, mut rest) = (vec![0; radices.len()], self.place(level, node));
        for (coordinate, radix) in coordinates.iter_mut().zip(radices).rev() {
            (*coordinate, rest) = (rest % radix, rest / radix);
        }
        coordinates
    }

    /// Radices of the axes of a node of a level.
    fn radices(&self, level: usize) -> Vec<u64> {
        if level == 0 {
            return if self.having.is_empty() { self.dims.clone() } else { vec![self.n[0]] };
        }
        let below = self.radices(level - 1);
        [&[2][..], &below, &below].concat()
    }

    /// Every node of a level but one, in as few products as there are axes: those that agree with it in the axes before, and differ in this.
    pub fn all_but(&self, level: usize, node: u64) -> Vec<Vec<Axis<'static>>> {
        let (radices, at) = (self.radices(level), self.coordinates(level, node));
        let mut products = Vec::new();
        for (axis, &radix) in radices.iter().enumerate().filter(|(_, radix)| **radix > 1) {
            let mut product: Vec<Axis<'static>> = at[..axis].iter().map(|coordinate| one(*coordinate)).collect();
            product.push(range((at[axis] + 1) % radix, radix - 1));
            product.resize(radices.len(), Axis::ALL);
            products.push(product);
        }
        products
    }
}

/// Which nodes of a cluster.
pub enum Which<'a> {
    /// Every one.
    All,
    /// This one.
    One(u64),
    /// These.
    Product(&'a [Axis<'static>]),
    /// To be said by what goes on within the cluster.
    Hole,
}

/// What a cluster of a level means by *the blocks for (or of) my node v*: a product over the whole grid, but for a hole of as many axes as the
/// cluster's nodes have, which v fills.
#[derive(Clone)]
pub struct Blocks<'a> {
    axes: Vec<Axis<'a>>,
    hole: usize,
}

impl<'a> Blocks<'a> {
    /// Of these, the ones of nodes (t, clusters, nodes), where the hole is one of a cluster of `level`.
    pub fn of(&self, net: &Net, level: usize, t: u64, clusters: &Which<'_>, nodes: &Which<'_>) -> Self {
        let mut blocks = self.clone();
        let width = net.axes[level - 1];
        blocks.axes[self.hole] = one(t);
        let (first, second) = if net.turned && t == 1 { (nodes, clusters) } else { (clusters, nodes) };
        for (which, start) in [(first, self.hole + 1), (second, self.hole + 1 + width)] {
            match which {
                Which::All => {}
                Which::One(node) => {
                    let at = net.coordinates(level - 1, *node);
                    blocks.axes[start..start + width].iter_mut().zip(at).for_each(|(axis, c)| *axis = one(c));
                }
                Which::Product(axes) => blocks.axes[start..start + width].copy_from_slice(axes),
                Which::Hole => blocks.hole = start,
            }
        }
        blocks
    }

    /// Of these, in a cluster that is a base, the ones of nodes with these coordinates in one dimension. `nodes` is room for a set of them.
    pub fn along<'b>(&self, net: &Net, which: (Dimension, u64, u64), nodes: &'b mut [u64; 1]) -> Blocks<'b>
    where
        'a: 'b,
    {
        let (dimension, first, count) = which;
        let mut blocks: Blocks<'b> = self.clone();
        let Some(having) = net.having.get(dimension.index) else {
            blocks.axes[self.hole + dimension.index] = range(first % dimension.len, count);
            return blocks;
        };
        nodes[0] = (first..first + count).fold(0, |set, c| set | having[(c % dimension.len) as usize]);
        blocks.axes[self.hole] = Axis::bits(nodes);
        blocks
    }

    /// The axes of the product.
    pub fn axes(&self) -> &[Axis<'a>] {
        &self.axes
    }
}

/// A net has at most 2^31 nodes: a coordinate fits.
fn one(coordinate: u64) -> Axis<'static> {
    Axis::one(coordinate)
}

fn range(first: u64, count: u64) -> Axis<'static> {
    Axis::range(first, count)
}
