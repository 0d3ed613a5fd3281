use swapmeet_flows::Links;
use swapmeet_sdk::{Problem, Stop};

/// A graph of nodes and switches. The nodes have the lowest vertex numbers.
pub(crate) struct LinkGraph {
    pub nodes: usize,
    pub links: Links,
    /// The bandwidth of each link, as a multiple of the smallest bandwidth.
    pub bandwidth: Vec<f64>,
}

impl LinkGraph {
    /// Parallel links count as one with the smallest of their bandwidths, because all messages
    /// between two neighbours use only one of them.
    pub(crate) fn read(problem: &Problem<'_>) -> Result<Self, Stop> {
        let topology = problem.topology();
        let (nodes, vertices) = (topology.nodes(), problem.vertices()?);
        let (mut links, mut bandwidth) = (Links::default(), Vec::<f64>::new());
        for vertex in 0..vertices {
            for link in problem.links(vertex)?.into_iter().filter(|link| link.to != vertex) {
                if !(link.bandwidth > 0.0 && link.bandwidth.is_finite()) {
                    return Err(Stop::unsupported(format!(
                        "the link from {vertex} to {} has no bandwidth: remove the link from the network",
                        link.to
                    )));
                }
                let last = links.tail.last().zip(links.head.last());
                match bandwidth.last_mut() {
                    Some(slowest) if last == Some((&(vertex as u32), &(link.to as u32))) => {
                        *slowest = slowest.min(link.bandwidth);
                    }
                    _ => {
                        links.push(link.to as u32);
                        bandwidth.push(link.bandwidth);
                    }
                }
            }
            links.end_vertex();
        }
        let slowest = bandwidth.iter().copied().fold(f64::INFINITY, f64::min);
        bandwidth.iter_mut().for_each(|bandwidth| *bandwidth /= slowest);
        let network = Self { nodes: nodes as usize, links, bandwidth };
        network.check(topology.kind())?;
        Ok(network)
    }

    fn check(&self, kind: &str) -> Result<(), Stop> {
        if kind == "ranks" {
            return Err(Stop::unsupported(
                "several ranks share a node, and have no links of their own: use one rank per node",
            ));
        }
        for (links, is_reversed) in [(&self.links, false), (&self.links.reversed().0, true)] {
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

    pub(crate) fn has_switches(&self) -> bool {
        self.links.vertices() > self.nodes
    }

    pub(crate) fn most_links_of_a_node(&self) -> u64 {
        (0..self.nodes).map(|node| self.links.out(node).len() as u64).max().unwrap_or(0)
    }

    pub(crate) fn reversed(&self) -> (Self, Vec<u32>) {
        let (links, order) = self.links.reversed();
        let bandwidth = order.iter().map(|link| self.bandwidth[*link as usize]).collect();
        (Self { nodes: self.nodes, links, bandwidth }, order)
    }
}
