//! The torus as the algorithms see it: cycles in each dimension, and what the machine's circuits
//! can do.

use swapmeet_sdk::{Problem, Stop};

/// Which ports a node uses in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// One, which carries up to q circuits.
    OnePort,
    /// One a cycle in the first phase of a gossip or a multi-scatter, all in the second.
    Hybrid,
    /// All 2d, which carry up to q circuits each.
    AllPorts,
}

/// A torus or ring, with the circuits a directed link carries.
pub(crate) struct Torus {
    /// n of each dimension.
    pub dims: Vec<u64>,
    strides: Vec<u64>,
    /// The dimensions that are cycles: those of one node have no links.
    pub cycles: Vec<usize>,
    /// q.
    pub q: u64,
    /// Which ports are used.
    pub variant: Variant,
}

/// Whether the topology is one that these algorithms know.
pub(crate) fn check(problem: &Problem<'_>) -> Result<(), Stop> {
    let topology = problem.topology();
    match topology.kind() {
        "torus" | "ring" => {}
        _ => {
            return Err(Stop::unsupported(format!(
                "runs on a torus or a ring only, this is `{}`",
                topology.spec()
            )));
        }
    }
    if topology.dims().iter().any(|n| u32::try_from(*n).is_err()) {
        return Err(Stop::unsupported("a dimension has more nodes than an axis may have"));
    }
    Ok(())
}

impl Torus {
    /// The problem's torus. Asks the host for q and, unless the user named a variant, for the
    /// ports.
    pub(crate) fn of(problem: &Problem<'_>, variants: &[(&str, Variant)]) -> Result<Self, Stop> {
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

    /// A torus of these dimensions.
    pub(crate) fn new(dims: Vec<u64>, q: u64, variant: Variant) -> Self {
        let mut strides = vec![1; dims.len()];
        for d in (1..dims.len()).rev() {
            strides[d - 1] = strides[d] * dims[d];
        }
        // A cycle never has use for more circuits on a link than it has nodes.
        let longest = dims.iter().copied().max().unwrap_or(1);
        let cycles = (0..dims.len()).filter(|d| dims[*d] > 1).collect();
        Self { dims, strides, cycles, q: q.min(longest), variant }
    }

    /// The node's coordinate in dimension `dim`.
    pub(crate) fn coordinate(&self, node: u64, dim: usize) -> u64 {
        node / self.strides[dim] % self.dims[dim]
    }

    /// The node with another coordinate in `dim`.
    pub(crate) fn moved(&self, node: u64, dim: usize, to: u64) -> u64 {
        node - self.coordinate(node, dim) * self.strides[dim] + to * self.strides[dim]
    }

    /// Nodes of the torus.
    pub(crate) fn nodes(&self) -> u64 {
        self.dims.iter().product()
    }

    /// The neighbour in `dim`, one on or one back.
    pub(crate) fn neighbour(&self, node: u64, dim: usize, plus: bool) -> u64 {
        let (n, x) = (self.dims[dim], self.coordinate(node, dim));
        self.moved(node, dim, if plus { (x + 1) % n } else { (x + n - 1) % n })
    }

    /// The link from a node to its neighbour, among those of the node. Their numbers say it: one on
    /// is a stride more, or from a cycle's end back to its start.
    pub(crate) fn link(&self, node: u64, next: u64) -> usize {
        let apart = next.wrapping_sub(node);
        let along = |dim: &usize| {
            let (one, round) = (self.strides[*dim], self.strides[*dim] * (self.dims[*dim] - 1));
            let plus = apart == one || apart == round.wrapping_neg();
            (plus || apart == one.wrapping_neg() || apart == round)
                .then_some(2 * dim + usize::from(plus))
        };
        self.cycles.iter().find_map(along).unwrap_or(0)
    }

    /// All nodes that differ from `base` in these dimensions only.
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

    /// The equal lanes that messages are split into, and the dimensions in the order in which each
    /// travels them: (1, 2, .., d), (2, .., d, 1), .. With one port there is a single lane.
    pub(crate) fn lanes(&self) -> Vec<Vec<usize>> {
        let d = self.cycles.len();
        let lanes = if self.variant == Variant::OnePort { d.min(1) } else { d };
        (0..lanes)
            .map(|lane| (0..d).map(|stage| self.cycles[(lane + stage) % d]).collect())
            .collect()
    }

    /// Signs of a route that travels `dim` only.
    pub(crate) fn along(&self, dim: usize, plus: bool) -> Vec<i8> {
        (0..self.dims.len()).map(|d| if d != dim { 0 } else { 2 * i8::from(plus) - 1 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_neighbour_is_at_the_end_of_its_own_link() {
        let torus = Torus::new(vec![4, 2, 1, 3], 1, Variant::AllPorts);
        for node in 0..torus.nodes() {
            for dim in [0, 1, 3] {
                for plus in [true, false] {
                    // Both ways round a cycle of two lead to the same node, by the link that goes
                    // on.
                    let link = 2 * dim + usize::from(plus || torus.dims[dim] == 2);
                    assert_eq!(torus.link(node, torus.neighbour(node, dim, plus)), link);
                }
            }
        }
    }
}
