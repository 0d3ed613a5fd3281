//! The dual-net's structure: levels and numbers (section 2).

use swapmeet_sdk::{Grid, Problem, Stop};

/// `RDN^k(B)`.
#[derive(Clone)]
pub(crate) struct Net {
    /// n_0, n_1, .., n_k: nodes of a cluster of each level; the last is the whole.
    n: Vec<u64>,
    /// B.
    pub base: Grid,
    /// How the nodes of a line of the base are linked.
    pub line: Line,
}

/// How the nodes that differ in one dimension of the base only are linked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// Each to the next and the last to the first: tori; hypercubes too, whose lines have two
    /// nodes.
    Ring,
    /// Each to every other, over switches if need be.
    Full,
}

impl Net {
    /// The net of a problem, which must be a dual-net.
    pub(crate) fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        let topology = problem.topology();
        if topology.kind() != "rdn" {
            return Err(Stop::unsupported(format!(
                "runs on a recursive dual-net only, this is a {}",
                topology.kind()
            )));
        }
        let Some((base, k)) = topology.base() else {
            return Err(Stop::unsupported("the host does not say what the dual-net's base is"));
        };
        let line = match base.kind() {
            "torus" | "ring" | "hypercube" | "mesh" => Line::Ring,
            _ => Line::Full,
        };
        let mut n = vec![base.nodes()];
        for level in 0..k as usize {
            n.push(2 * n[level] * n[level]);
        }
        if n.last() != Some(&topology.nodes()) {
            let (spec, nodes) = (topology.spec(), topology.nodes());
            return Err(Stop::failed(format!("{spec} has {nodes} nodes, which are no dual-net's")));
        }
        Ok(Self { n, base: base.grid()?, line })
    }

    /// k.
    pub(crate) fn levels(&self) -> usize {
        self.n.len() - 1
    }

    /// Nodes of a cluster of a level.
    pub(crate) fn nodes(&self, level: usize) -> u64 {
        self.n[level]
    }

    /// A node of a level as its type, cluster and node.
    pub(crate) fn split(&self, level: usize, node: u64) -> (u64, u64, u64) {
        let n = self.n[level - 1];
        (node / (n * n), node / n % n, node % n)
    }

    /// The number of node (t, c, x) of a level.
    pub(crate) fn join(&self, level: usize, t: u64, c: u64, x: u64) -> u64 {
        let n = self.n[level - 1];
        (t * n + c) * n + x
    }

    /// The other end of a node's cross-edge of a level.
    pub(crate) fn partner(&self, level: usize, node: u64) -> u64 {
        let (t, c, x) = self.split(level, node);
        self.join(level, 1 - t, x, c)
    }
}
