//! The links of the network, as the plugin reads them from the host.

use swapmeet_sdk::{Problem, Stop};

/// The number that means "no vertex" or "no link".
pub(crate) const NONE: u32 = u32::MAX;

/// The directed links of a network, sorted by the vertex that they leave (compressed sparse rows).
/// The nodes have the lowest vertex numbers, and switches follow.
pub(crate) struct Network {
    pub nodes: usize,
    /// The links out of vertex `v` have the numbers `first[v]..first[v + 1]`.
    pub first: Vec<u32>,
    /// The vertex that each link leaves.
    pub tail: Vec<u32>,
    /// The vertex to which each link leads.
    pub head: Vec<u32>,
    /// The bandwidth of each link, as a multiple of the smallest bandwidth.
    pub bandwidth: Vec<f64>,
}

impl Network {
    /// Reads the network. Parallel links between two neighbours count as one link with the smallest
    /// of their bandwidths, because all messages between the neighbours use only one of these
    /// links.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] if a link has no bandwidth, if ranks share a node, or if there is no
    /// path between two nodes.
    pub(crate) fn read(problem: &Problem<'_>) -> Result<Self, Stop> {
        let topology = problem.topology();
        let (nodes, vertices) = (topology.nodes(), problem.vertices()?);
        let mut network = Self {
            nodes: nodes as usize,
            first: vec![0],
            tail: Vec::new(),
            head: Vec::new(),
            bandwidth: Vec::new(),
        };
        for vertex in 0..vertices {
            for link in problem.links(vertex)?.into_iter().filter(|link| link.to != vertex) {
                if !(link.bandwidth > 0.0 && link.bandwidth.is_finite()) {
                    return Err(Stop::unsupported(format!(
                        "the link from {vertex} to {} has no bandwidth: remove the link from the network",
                        link.to
                    )));
                }
                let start = network.first[vertex as usize] as usize;
                if network.head.len() > start && network.head.last() == Some(&(link.to as u32)) {
                    if let Some(slowest) = network.bandwidth.last_mut() {
                        *slowest = slowest.min(link.bandwidth);
                    }
                    continue;
                }
                network.tail.push(vertex as u32);
                network.head.push(link.to as u32);
                network.bandwidth.push(link.bandwidth);
            }
            network.first.push(network.head.len() as u32);
        }
        let slowest = network.bandwidth.iter().copied().fold(f64::INFINITY, f64::min);
        network.bandwidth.iter_mut().for_each(|bandwidth| *bandwidth /= slowest);
        network.check(topology.kind())?;
        Ok(network)
    }

    /// Checks that there is a path from every node to every other node.
    fn check(&self, kind: &str) -> Result<(), Stop> {
        if kind == "ranks" {
            return Err(Stop::unsupported(
                "several ranks share a node, and have no links of their own: use one rank per node",
            ));
        }
        for (links, is_reversed) in [(self, false), (&self.reversed().0, true)] {
            let mut seen = vec![false; links.vertices()];
            let mut waiting = vec![0];
            if let Some(first) = seen.first_mut() {
                *first = true;
            }
            while let Some(vertex) = waiting.pop() {
                for link in links.out(vertex) {
                    let next = links.head[link] as usize;
                    if !std::mem::replace(&mut seen[next], true) {
                        waiting.push(next);
                    }
                }
            }
            if let Some(lost) = seen.iter().take(self.nodes).position(|seen| !seen) {
                let (from, to) = if is_reversed { (lost, 0) } else { (0, lost) };
                return Err(Stop::unsupported(format!(
                    "the network is not connected: there is no path from node {from} to node {to}; add links, or leave the node out"
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn links(&self) -> usize {
        self.head.len()
    }

    /// Returns whether the network has switches.
    pub(crate) fn has_switches(&self) -> bool {
        self.vertices() > self.nodes
    }

    /// Returns the numbers of the links that leave a vertex.
    pub(crate) fn out(&self, vertex: usize) -> std::ops::Range<usize> {
        self.first[vertex] as usize..self.first[vertex + 1] as usize
    }

    /// Returns the network with all links reversed, and for each reversed link the number of the
    /// original link.
    pub(crate) fn reversed(&self) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.links() as u32).collect();
        order.sort_by_key(|link| self.head[*link as usize]);
        let mut first = vec![0; self.first.len()];
        self.head.iter().for_each(|head| first[*head as usize + 1] += 1);
        (1..first.len()).for_each(|vertex| first[vertex] += first[vertex - 1]);
        let pick = |ends: &[u32]| order.iter().map(|link| ends[*link as usize]).collect();
        let reversed = Self {
            nodes: self.nodes,
            first,
            tail: pick(&self.head),
            head: pick(&self.tail),
            bandwidth: order.iter().map(|link| self.bandwidth[*link as usize]).collect(),
        };
        (reversed, order)
    }
}
