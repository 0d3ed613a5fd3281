//! The structure of a dual-net: levels and node numbers (section 2).

use swapmeet_sdk::{Grid, Problem, Stop};

#[derive(Clone)]
pub(crate) struct Net {
    /// The sizes n_0, n_1, etc. to n_k.
    n: Vec<u64>,
    pub base: Grid,
    pub line: Line,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// There are links between neighbours, and from the last node to the first. In a hypercube,
    /// each dimension is a ring of two nodes.
    Ring,
    /// Each node can send to every other node directly, possibly over switches.
    Full,
}

impl Net {
    pub(crate) fn read(problem: &Problem<'_>) -> Result<Self, Stop> {
        let topology = problem.topology();
        if topology.kind() != "rdn" {
            return Err(Stop::unsupported(format!(
                "runs only on a recursive dual-net; this topology is a {}",
                topology.kind()
            )));
        }
        let Some((base, k)) = topology.base() else {
            return Err(Stop::unsupported("the host does not give the base of the dual-net"));
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
            return Err(Stop::failed(format!(
                "{spec} has {nodes} nodes, which is impossible for a dual-net"
            )));
        }
        Ok(Self { n, base: base.grid()?, line })
    }

    pub(crate) fn levels(&self) -> usize {
        self.n.len() - 1
    }

    pub(crate) fn nodes(&self, level: usize) -> u64 {
        self.n[level]
    }

    pub(crate) fn split(&self, level: usize, node: u64) -> (u64, u64, u64) {
        let n = self.n[level - 1];
        (node / (n * n), node / n % n, node % n)
    }

    pub(crate) fn join(&self, level: usize, t: u64, c: u64, x: u64) -> u64 {
        let n = self.n[level - 1];
        (t * n + c) * n + x
    }

    /// Returns the node at the opposite end of the node's cross-edge of this level.
    pub(crate) fn partner(&self, level: usize, node: u64) -> u64 {
        let (t, c, x) = self.split(level, node);
        self.join(level, 1 - t, x, c)
    }
}
