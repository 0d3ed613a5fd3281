//! The structure of a dual-net: levels and node numbers (section 2).

use swapmeet_sdk::{Grid, Problem, Stop};

/// `RDN^k(B)`.
#[derive(Clone)]
pub(crate) struct Net {
    /// n_0, n_1, .., n_k: number of nodes of a cluster of each level; the last one is the whole
    /// net.
    n: Vec<u64>,
    /// B.
    pub base: Grid,
    /// The links between the nodes of a line of the base.
    pub line: Line,
}

/// The links between nodes that differ in only one dimension of the base.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// Each node to the next, and the last to the first: tori, and hypercubes, whose lines have two
    /// nodes.
    Ring,
    /// Each node to each other node, possibly over switches.
    Full,
}

impl Net {
    /// Reads the net of a problem, which must be a dual-net.
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

    /// Returns k.
    pub(crate) fn levels(&self) -> usize {
        self.n.len() - 1
    }

    /// Returns the number of nodes of a cluster of a level.
    pub(crate) fn nodes(&self, level: usize) -> u64 {
        self.n[level]
    }

    /// Returns type, cluster and number within the cluster of a node of a level.
    pub(crate) fn split(&self, level: usize, node: u64) -> (u64, u64, u64) {
        let n = self.n[level - 1];
        (node / (n * n), node / n % n, node % n)
    }

    /// Returns the number of node (t, c, x) of a level.
    pub(crate) fn join(&self, level: usize, t: u64, c: u64, x: u64) -> u64 {
        let n = self.n[level - 1];
        (t * n + c) * n + x
    }

    /// Returns the other end of a node's cross-edge of a level.
    pub(crate) fn partner(&self, level: usize, node: u64) -> u64 {
        let (t, c, x) = self.split(level, node);
        self.join(level, 1 - t, x, c)
    }
}
