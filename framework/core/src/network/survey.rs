//! Statistics of a network. Each statistic is stored with the method by which it was found. In a
//! small network, statistics are counted or searched. Otherwise they are calculated by a formula.

use super::topology::Network;
use crate::network::topology::adjacency::Adjacency;
use std::fmt;

mod partition;

/// The method by which a statistic of a network was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurveyMethod {
    /// Every link was visited.
    Counted,
    /// Breadth-first search from every node.
    Searched,
    /// Breadth-first search from node 0 only, because the network looks the same from every node.
    SearchedFromOne,
    /// Every division of the nodes into halves was tried.
    Exhaustive,
    /// The exact formula of the family.
    Formula,
    /// A formula of the family for a cut that may not be the smallest cut.
    CutFormula,
    /// The smallest cut that a heuristic found.
    Heuristic,
}

impl fmt::Display for SurveyMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counted => "counted",
            Self::Searched => "searched from every node",
            Self::SearchedFromOne => "searched from node 0: each node sees the same",
            Self::Exhaustive => "all halves tried",
            Self::Formula => "formula",
            Self::Heuristic => "the smallest cut that was found, perhaps not the minimum",
            Self::CutFormula => "formula for the best cut known, perhaps not the least",
        })
    }
}

/// Statistics of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The number of nodes, without switches.
    pub nodes: u64,
    /// The number of switches.
    pub switches: u64,
    /// The number of directed links between nodes or switches.
    pub links: Option<(u64, SurveyMethod)>,
    /// The smallest and the largest number of links out of a node.
    pub degree: Option<(u64, u64, SurveyMethod)>,
    /// The largest distance between two nodes, in hops.
    pub diameter: (u64, SurveyMethod),
    /// The mean distance between two different nodes, in hops.
    pub mean_hops: Option<(f64, SurveyMethod)>,
    /// The smallest known cut: its number of links in one direction, and the number of nodes on its
    /// smaller side. This side has half of the nodes, or slightly fewer if a formula gives a cut
    /// between whole rows.
    pub bisection: Option<(u64, u64, SurveyMethod)>,
}

/// The maximum number of links that all searches together visit.
const MAX_VISITS: u64 = 1 << 31;
/// The maximum number of nodes for which every division into halves is tried. With this number
/// there are 1.35 million divisions.
const MAX_EXHAUSTIVE: u64 = 24;

impl Survey {
    /// Computes all statistics that are feasible for a network of this size.
    pub fn of(topology: &Network) -> Self {
        // If ranks share nodes, use the network of nodes.
        let topology = &*topology.of_hosts();
        // Start with the values that the formulas of the family give.
        let formula = |degree| (degree, degree, SurveyMethod::Formula);
        let mut survey = Self {
            nodes: topology.nodes(),
            switches: topology.switches(),
            links: None,
            degree: topology.degree().map(formula),
            diameter: (topology.diameter(), SurveyMethod::Formula),
            mean_hops: None,
            bisection: topology.bisection().map(|cut| {
                (
                    cut.links,
                    cut.side,
                    if cut.exact { SurveyMethod::Formula } else { SurveyMethod::CutFormula },
                )
            }),
        };
        // Count links, if the network is small enough to be listed.
        let Some(network) = Adjacency::of(topology) else { return survey };
        survey.links = Some((network.link_count() as u64, SurveyMethod::Counted));
        let degrees = || (0..survey.nodes as usize).map(|v| network.out(v).len() as u64);
        survey.degree = degrees()
            .min()
            .zip(degrees().max())
            .map(|(least, most)| (least, most, SurveyMethod::Counted));
        // Search for distances, from every node if that is feasible.
        if survey.nodes.saturating_mul(network.link_count() as u64) <= MAX_VISITS {
            let (farthest, sum) = (0..survey.nodes).fold((0, 0), |(farthest, sum), from| {
                let (most, hops) = hops_from(&network, from, survey.nodes);
                (most.max(farthest), sum + hops)
            });
            survey.diameter = (farthest, SurveyMethod::Searched);
            survey.mean_hops = mean(sum, survey.nodes.saturating_mul(survey.nodes - 1))
                .map(|m| (m, SurveyMethod::Searched));
        } else if topology.distance_sum().is_some() {
            let (farthest, sum) = hops_from(&network, 0, survey.nodes);
            survey.diameter = (farthest, SurveyMethod::SearchedFromOne);
            survey.mean_hops =
                mean(sum, survey.nodes - 1).map(|m| (m, SurveyMethod::SearchedFromOne));
        }
        // Search for a cut: by a heuristic, or exhaustively in a small network.
        if survey.bisection.is_none() {
            let found = partition::smallest_cut(&network, survey.nodes);
            survey.bisection = found.map(|(links, side)| (links, side, SurveyMethod::Heuristic));
        }
        if (2..=MAX_EXHAUSTIVE).contains(&survey.nodes) && network.vertices() as u64 == survey.nodes
        {
            survey.bisection =
                Some((exhaustive_cut(&network), survey.nodes / 2, SurveyMethod::Exhaustive));
        }
        survey
    }

    /// Returns `(degree + diameter) / log2(nodes)`, which combines hardware cost (degree) and
    /// communication cost (diameter) (Li, Peng & Chu, section II). Returns `None` for networks with
    /// switches: the degree of their nodes says nothing about the cost of the switches.
    pub fn cost_ratio(&self) -> Option<f64> {
        let (_, degree, _) = self.degree?;
        (self.nodes > 1 && self.switches == 0)
            .then(|| (degree + self.diameter.0) as f64 / (self.nodes as f64).log2())
    }
}

fn mean(sum: u64, pairs: u64) -> Option<f64> {
    (pairs > 0).then(|| sum as f64 / pairs as f64)
}

/// Returns the hops from a node to the farthest node, and the sum of the hops to all nodes.
fn hops_from(network: &Adjacency, from: u64, nodes: u64) -> (u64, u64) {
    let hops = network.hops_from(from);
    let to_nodes = || hops[..nodes as usize].iter().map(|hops| u64::from(*hops));
    (to_nodes().max().unwrap_or(0), to_nodes().sum())
}

/// Returns the number of links, in one direction, across the smallest cut into halves. All
/// divisions of the vertices are tried; there may be at most [`MAX_EXHAUSTIVE`] vertices.
fn exhaustive_cut(network: &Adjacency) -> u64 {
    let n = network.vertices();
    let out: Vec<u32> =
        (0..n).map(|v| network.out(v).iter().fold(0, |set, end| set | 1 << end)).collect();
    let mut parallel = Vec::new();
    for v in 0..n {
        // In a set of neighbours, parallel links count only once (as in a torus dimension of two).
        // List the remaining parallel links.
        let mut seen = 0_u32;
        for &end in network.out(v) {
            if seen >> end & 1 == 1 {
                parallel.push((v, end));
            }
            seen |= 1 << end;
        }
    }
    let cut = |side: u32| -> u64 {
        let apart = |v: usize| u64::from((out[v] & !side).count_ones());
        let within = (0..n).filter(|v| side >> v & 1 == 1);
        let again =
            parallel.iter().filter(|(v, end)| side >> v & 1 == 1 && side >> end & 1 == 0).count();
        within.map(apart).sum::<u64>() + again as u64
    };
    // Try all sets of `n / 2` vertices that do not contain the last vertex. For an even n, this
    // covers all cuts, because the two sides can be exchanged. For an odd n, the sides have
    // different sizes, and with one-way links, the sides have different numbers of links to each
    // other. So also try the sets that contain the last vertex.
    let is_two_way = (0..n).all(|v| (0..n).all(|w| (out[v] >> w & 1) == (out[w] >> v & 1)));
    let halves = (0..1_u32 << (n - 1)).filter(|side| side.count_ones() as usize == n / 2);
    let smaller_with_last = (n % 2 == 1 || !is_two_way).then(|| {
        (0..1_u32 << (n - 1))
            .map(|rest| rest | 1 << (n - 1))
            .filter(|side| side.count_ones() as usize == n / 2)
    });
    halves.chain(smaller_with_last.into_iter().flatten()).map(cut).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::{Graph, parse};

    fn survey(spec: &str) -> Survey {
        Survey::of(parse(spec).unwrap().as_ref())
    }

    #[test]
    fn searches_agree_with_the_formulas_of_each_family() {
        for spec in crate::network::topology::tests::small() {
            let topology = parse(spec).unwrap();
            let survey = survey(spec);
            assert_eq!(survey.diameter.0, topology.diameter(), "{spec}");
            let network = Adjacency::of(topology.as_ref()).unwrap();
            let hops: u64 =
                (0..survey.nodes).map(|from| hops_from(&network, from, survey.nodes).1).sum();
            assert!(
                topology.hops_of_all_pairs().is_none_or(|formula| formula == hops.into()),
                "{spec}: {hops} hops"
            );
            for node in 0..survey.nodes {
                let links = network.out(node as usize).len() as u64;
                assert!(
                    topology.links_from(node).is_none_or(|formula| formula == links),
                    "{spec}: {links} at {node}"
                );
            }
            assert!(topology.max_links() >= network.link_count() as u64, "{spec}");
            let (least, most, _) = survey.degree.unwrap();
            assert_eq!(topology.degree(), (least == most).then_some(most), "{spec}");
            if let (Some(cut), Some((links, half, SurveyMethod::Exhaustive))) =
                (topology.bisection(), survey.bisection)
                && cut.side == half
            {
                assert!(
                    links == cut.links || (!cut.exact && links < cut.links),
                    "{spec}: {links} links of {cut:?}"
                );
            }
        }
    }

    #[test]
    fn a_large_symmetric_network_is_searched_from_one_node() {
        let net = survey("rdn:1(torus:5x5x5)");
        assert_eq!(net.diameter, (14, SurveyMethod::SearchedFromOne));
        assert_eq!((net.nodes, net.degree), (31250, Some((7, 7, SurveyMethod::Counted))));
        assert_eq!(survey("mesh:300x300").diameter, (598, SurveyMethod::Formula));
        assert_eq!(survey("fully-connected:100000").links, None);
    }

    #[test]
    fn means_are_over_pairs_of_different_nodes() {
        assert_eq!(survey("ring:4").mean_hops, Some((4.0 / 3.0, SurveyMethod::Searched)));
        assert_eq!(survey("ring:1").mean_hops, None);
        // In a path of three nodes, the distances of the six ordered pairs are 1, 2, 1, 1, 2 and 1.
        let path = Graph::parse("g", "0 1\n1 2\n").unwrap();
        assert_eq!(Survey::of(&path).mean_hops.unwrap().0, 8.0 / 6.0);
        assert_eq!(Survey::of(&path).bisection, Some((1, 1, SurveyMethod::Exhaustive)));
    }

    #[test]
    fn the_cost_ratio_of_a_hypercube_is_2() {
        assert_eq!(survey("hypercube:10").cost_ratio(), Some(2.0));
        assert_eq!(survey("ring:1").cost_ratio(), None);
        // The node of a dragonfly has one link, whatever its switches cost.
        assert_eq!(survey("dragonfly:16x8x4").cost_ratio(), None);
    }
}
