//! A torus with its cycles, circuits and ports.

use swapmeet_sdk::{Problem, Stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// One port. It carries up to q circuits.
    OnePort,
    /// One port per cycle in the first phase of a gossip or multi-scatter, all ports in the second.
    Hybrid,
    /// All 2d ports, each for up to q circuits.
    AllPorts,
}

pub struct Torus {
    pub dims: Vec<u64>,
    strides: Vec<u64>,
    /// The dimensions with more than one node.
    pub cycles: Vec<usize>,
    pub q: u64,
    pub variant: Variant,
}

pub(crate) fn check(problem: &Problem<'_>) -> Result<(), Stop> {
    let topology = problem.topology();
    match topology.kind() {
        "torus" | "ring" => Ok(()),
        _ => Err(Stop::unsupported(format!(
            "runs only on a torus or a ring; this topology is `{}`",
            topology.spec()
        ))),
    }
}

impl Torus {
    /// Reads the variant. The default is that for one port on one-port machines, otherwise that for
    /// all ports.
    pub(crate) fn read(problem: &Problem<'_>, variants: &[(&str, Variant)]) -> Result<Self, Stop> {
        let variant = match problem.given_choice("variant", variants)? {
            Some(variant) => variant,
            None if problem.ports() == 1 => Variant::OnePort,
            None => Variant::AllPorts,
        };
        let q = problem.virtual_channels();
        if q == 0 {
            return Err(Stop::unsupported("needs a machine with at least one virtual channel"));
        }
        Ok(Self::new(problem.topology().dims().to_vec(), q, variant))
    }

    pub fn new(dims: Vec<u64>, q: u64, variant: Variant) -> Self {
        let mut strides = vec![1; dims.len()];
        for d in (1..dims.len()).rev() {
            strides[d - 1] = strides[d] * dims[d];
        }
        // No link carries more circuits than the longest cycle has nodes.
        let longest = dims.iter().copied().max().unwrap_or(1);
        let cycles = (0..dims.len()).filter(|d| dims[*d] > 1).collect();
        Self { dims, strides, cycles, q: q.min(longest), variant }
    }

    pub fn coordinate(&self, node: u64, dim: usize) -> u64 {
        node / self.strides[dim] % self.dims[dim]
    }

    pub(crate) fn moved(&self, node: u64, dim: usize, to: u64) -> u64 {
        node - self.coordinate(node, dim) * self.strides[dim] + to * self.strides[dim]
    }

    pub fn nodes(&self) -> u64 {
        self.dims.iter().product()
    }

    pub fn neighbour(&self, node: u64, dim: usize, plus: bool) -> u64 {
        let (n, x) = (self.dims[dim], self.coordinate(node, dim));
        self.moved(node, dim, if plus { (x + 1) % n } else { (x + n - 1) % n })
    }

    /// Returns the index, among the links of `node`, of the link to `next`. It follows from the
    /// difference of the node numbers, which is one stride, or several if the link wraps around.
    pub fn link(&self, node: u64, next: u64) -> usize {
        let difference = next.wrapping_sub(node);
        let along = |dim: &usize| {
            let (one, wrap) = (self.strides[*dim], self.strides[*dim] * (self.dims[*dim] - 1));
            let plus = difference == one || difference == wrap.wrapping_neg();
            (plus || difference == one.wrapping_neg() || difference == wrap)
                .then_some(2 * dim + usize::from(plus))
        };
        self.cycles.iter().find_map(along).unwrap_or(0)
    }

    pub(crate) fn span(&self, base: u64, dims: &[usize]) -> Vec<u64> {
        let mut nodes = vec![base];
        for &dim in dims {
            nodes = nodes
                .iter()
                .flat_map(|v| (0..self.dims[dim]).map(|x| self.moved(*v, dim, x)))
                .collect();
        }
        nodes
    }

    /// Returns the order of the dimensions for each lane. A lane is one of d equal segments of each
    /// message. The orders are (1, 2, .., d), (2, .., d, 1), etc. With one port, there is one lane.
    pub(crate) fn lanes(&self) -> Vec<Vec<usize>> {
        let d = self.cycles.len();
        let lanes = if self.variant == Variant::OnePort { d.min(1) } else { d };
        (0..lanes)
            .map(|lane| (0..d).map(|stage| self.cycles[(lane + stage) % d]).collect())
            .collect()
    }

    pub(crate) fn along(&self, dim: usize, plus: bool) -> Vec<i8> {
        (0..self.dims.len()).map(|d| if d != dim { 0 } else { 2 * i8::from(plus) - 1 }).collect()
    }
}
