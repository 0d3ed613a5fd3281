//! What a topology is like: found by searching its links where that is feasible, by formula where not.

use crate::topology::Topology;
use std::collections::VecDeque;

/// More nodes than this are not searched.
pub const MOST_SEARCHED: u64 = 1 << 16;

/// More links than this are not searched.
const MOST_LINKS: u64 = 1 << 22;

/// What a topology is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Nodes.
    pub nodes: u64,
    /// Directed links; `None` if not searched.
    pub links: Option<u64>,
    /// Links out of each node, where all have as many.
    pub degree: Option<u64>,
    /// Links of the longest shortest way.
    pub diameter: u64,
    /// Hops between two different nodes on average, where that is the same for each node.
    pub mean_distance: Option<f64>,
    /// Links, one way, over the best balanced cut known.
    pub balanced_cut: Option<u64>,
    /// Whether no balanced cut has fewer.
    pub cut_is_exact: bool,
    /// (degree + diameter) / lg nodes: Li, Peng & Chu's cost ratio.
    pub cost_ratio: Option<f64>,
    /// Whether degree and diameter were found by searching.
    pub searched: bool,
}

/// Looks a topology over.
///
/// ```
/// use swapmeet_core::{survey::survey, topology::parse};
/// let net = survey(parse("rdn:1(torus:5x5)").unwrap().as_ref());
/// assert_eq!((net.nodes, net.degree, net.diameter, net.balanced_cut), (1250, Some(5), 10, Some(313)));
/// ```
pub fn survey(topology: &dyn Topology) -> Survey {
    let nodes = topology.nodes();
    let searched = (nodes <= MOST_SEARCHED && topology.link_slots() <= MOST_LINKS).then(|| search(topology));
    let (degree, diameter) = match &searched {
        Some(found) => (found.degree, found.diameter),
        None => (topology.degree(), topology.diameter()),
    };
    let (balanced_cut, cut_is_exact) = balanced_cut(topology);
    Survey {
        nodes,
        links: searched.as_ref().map(|found| found.links),
        degree,
        diameter,
        mean_distance: topology.distance_sum().filter(|_| nodes > 1).map(|sum| sum as f64 / (nodes - 1) as f64),
        balanced_cut,
        cut_is_exact,
        cost_ratio: degree.filter(|_| nodes > 1).map(|d| (d + diameter) as f64 / (nodes as f64).log2()),
        searched: searched.is_some(),
    }
}

struct Found {
    links: u64,
    degree: Option<u64>,
    diameter: u64,
}

/// Goes over all links. Distances are from node 0 where the topology looks the same from each node, and from every node otherwise.
fn search(topology: &dyn Topology) -> Found {
    let nodes = topology.nodes() as usize;
    let ends: Vec<(u64, u64)> = (0..topology.link_slots()).filter_map(|link| topology.link_ends(link)).collect();
    let vertices = ends.iter().map(|(from, to)| from.max(to) + 1).max().unwrap_or(0).max(nodes as u64) as usize;
    let mut starts = vec![0_usize; vertices + 1];
    for (from, _) in &ends {
        starts[*from as usize + 1] += 1;
    }
    let degrees = &starts[1..=nodes];
    let degree = degrees.first().filter(|d| degrees.iter().all(|other| other == *d)).map(|d| *d as u64);
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let (mut next, mut to) = (starts.clone(), vec![0_usize; ends.len()]);
    for (from, end) in &ends {
        to[next[*from as usize]] = *end as usize;
        next[*from as usize] += 1;
    }
    let from: Vec<usize> = if topology.distance_sum().is_some() { vec![0] } else { (0..nodes).collect() };
    let (mut hops, mut queue, mut diameter) = (vec![u64::MAX; vertices], VecDeque::new(), 0);
    for start in from {
        hops.fill(u64::MAX);
        hops[start] = 0;
        queue.push_back(start);
        while let Some(at) = queue.pop_front() {
            if at < nodes {
                diameter = diameter.max(hops[at]);
            }
            for &end in &to[starts[at]..starts[at + 1]] {
                if hops[end] == u64::MAX {
                    hops[end] = hops[at] + 1;
                    queue.push_back(end);
                }
            }
        }
    }
    Found { links: ends.len() as u64, degree, diameter }
}

/// Links over the best cut into halves that we know (halves that differ by a node, where there are an odd number), and whether none has fewer.
fn balanced_cut(topology: &dyn Topology) -> (Option<u64>, bool) {
    let nodes = topology.nodes();
    let known = topology.bisection().filter(|cut| cut.side == nodes / 2);
    if known.is_some_and(|cut| cut.exact) {
        return (known.map(|cut| cut.links), true);
    }
    let best = [known.map(|cut| cut.links), first_half(topology)].into_iter().flatten().min();
    (best, false)
}

/// Links from the first half of the nodes, by number, to the others.
fn first_half(topology: &dyn Topology) -> Option<u64> {
    let side = topology.nodes() / 2;
    if topology.nodes() < 2 || topology.link_slots() > MOST_LINKS {
        return None;
    }
    let ends = (0..topology.link_slots()).filter_map(|link| topology.link_ends(link));
    let (mut across, mut switches) = (0, false);
    for (from, to) in ends {
        switches |= from >= topology.nodes() || to >= topology.nodes();
        across += u64::from(from < side && to >= side);
    }
    // A cut of nodes says nothing of where switches go.
    (!switches).then_some(across)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    fn of(spec: &str) -> Survey {
        survey(parse(spec).unwrap().as_ref())
    }

    #[test]
    fn what_searching_finds_is_what_the_formulas_say() {
        for spec in ["torus:5x4", "mesh:3x4", "hypercube:5", "rdn:1(torus:3x4)", "rdn:2(ring:3)", "fully-connected:7"] {
            let (found, topology) = (of(spec), parse(spec).unwrap());
            assert!(found.searched, "{spec}");
            assert_eq!((found.degree, found.diameter), (topology.degree(), topology.diameter()), "{spec}");
        }
        assert!(!of("hypercube:20").searched);
        assert_eq!(of("hypercube:20").cost_ratio, Some(2.0));
    }

    /// The figures of an independent implementation, which tried cuts node by node.
    #[test]
    fn dual_nets_have_balanced_cuts_of_fewer_links_than_theorem_1_says() {
        let cut = |spec: &str| of(spec).balanced_cut;
        assert_eq!(cut("rdn:2(torus:5x5)"), Some(391_250));
        assert_eq!(cut("rdn:2(torus:3x3x3)"), Some(532_170));
        assert_eq!(cut("rdn:2(hypercube:3)"), Some(4_096));
        assert_eq!(cut("rdn:1(hypercube:3)"), Some(32));
    }
}
