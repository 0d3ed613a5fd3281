//! Statistics of a network. In a small network, they are counted or found by a search. In a large
//! one, they are calculated by formulas. Each statistic has the method by which it was found.

use crate::network::topology::Network;
use crate::network::topology::adjacency::Adjacency;
use std::collections::BTreeMap;
use std::fmt;

/// The method by which a statistic was found.
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
    /// A formula of the family for some cut, which may not be the smallest one.
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
    /// The smallest known cut: the number of links that cross it in one direction, and the number
    /// of nodes on its smaller side. The smaller side has half of the nodes, or slightly fewer if a
    /// formula gives a cut between whole rows.
    pub bisection: Option<(u64, u64, SurveyMethod)>,
}

const MAX_VISITS: u64 = 1 << 31;
/// The largest number of nodes for which every division into halves is tried. For 24 nodes, there
/// are 1.35 million divisions.
const MAX_EXHAUSTIVE: u64 = 24;

impl Survey {
    /// Computes those statistics that are feasible for a network of this size.
    pub fn of(topology: &Network) -> Self {
        let topology = &*topology.physical();
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
        let Some(network) = Adjacency::of(topology) else { return survey };
        survey.links = Some((network.link_count() as u64, SurveyMethod::Counted));
        let degrees = || (0..survey.nodes as usize).map(|v| network.out(v).len() as u64);
        survey.degree = degrees()
            .min()
            .zip(degrees().max())
            .map(|(least, most)| (least, most, SurveyMethod::Counted));
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
        if survey.bisection.is_none() {
            let found = smallest_cut(&network, survey.nodes);
            survey.bisection = found.map(|(links, side)| (links, side, SurveyMethod::Heuristic));
        }
        if (2..=MAX_EXHAUSTIVE).contains(&survey.nodes) && network.vertices() as u64 == survey.nodes
        {
            survey.bisection =
                Some((exhaustive_cut(&network), survey.nodes / 2, SurveyMethod::Exhaustive));
        }
        survey
    }

    /// Returns `(degree + diameter) / log2(nodes)`, a cost of hardware and communication (Li, Peng
    /// & Chu, section II). Returns `None` for networks with switches, because the degree does not
    /// include links of switches.
    pub fn cost_ratio(&self) -> Option<f64> {
        let (_, degree, _) = self.degree?;
        (self.nodes > 1 && self.switches == 0)
            .then(|| (degree + self.diameter.0) as f64 / (self.nodes as f64).log2())
    }
}

fn mean(sum: u64, pairs: u64) -> Option<f64> {
    (pairs > 0).then(|| sum as f64 / pairs as f64)
}

fn hops_from(network: &Adjacency, from: u64, nodes: u64) -> (u64, u64) {
    let hops = network.hops_from(from);
    let to_nodes = || hops[..nodes as usize].iter().map(|hops| u64::from(*hops));
    (to_nodes().max().unwrap_or(0), to_nodes().sum())
}

fn exhaustive_cut(network: &Adjacency) -> u64 {
    let n = network.vertices();
    let out: Vec<u32> =
        (0..n).map(|v| network.out(v).iter().fold(0, |set, end| set | 1 << end)).collect();
    let mut parallel = Vec::new();
    for v in 0..n {
        // The set of neighbours contains the end of parallel links only once. The other parallel
        // links are listed in `parallel`.
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
    // If n is even and all links are two-way, it is enough to try the sets of `n / 2` vertices
    // without the last vertex, because a set and its complement have the same cut. If n is odd or
    // there are one-way links, the sets with the last vertex are tried, too.
    let is_two_way = (0..n).all(|v| (0..n).all(|w| (out[v] >> w & 1) == (out[w] >> v & 1)));
    let halves = (0..1_u32 << (n - 1)).filter(|side| side.count_ones() as usize == n / 2);
    let smaller_with_last = (n % 2 == 1 || !is_two_way).then(|| {
        (0..1_u32 << (n - 1))
            .map(|rest| rest | 1 << (n - 1))
            .filter(|side| side.count_ones() as usize == n / 2)
    });
    halves.chain(smaller_with_last.into_iter().flatten()).map(cut).min().unwrap_or(0)
}

const MAX_CLUSTERS: usize = 1 << 11;
const ROTATIONS: usize = 6;

struct Clusters {
    weight: Vec<u64>,
    links: Vec<BTreeMap<u32, i64>>,
    vertex: Vec<usize>,
}

/// Finds a small cut into halves: sorts the clusters by an eigenvector of the network's Laplacian,
/// cuts this order in the middle, and swaps clusters (B. W. Kernighan, S. Lin, *An Efficient
/// Heuristic Procedure for Partitioning Graphs*, 1970). Returns the number of links in one
/// direction and the number of nodes on the smaller side. Returns `None` if there are too many
/// clusters, or fewer than two.
fn smallest_cut(network: &Adjacency, nodes: u64) -> Option<(u64, u64)> {
    let clusters = Clusters::of(network, nodes as usize);
    if clusters.vertex.len() > MAX_CLUSTERS || clusters.vertex.len() < 2 {
        return None;
    }
    let fiedler = network.fiedler_vector();
    let mut order: Vec<usize> = (0..clusters.vertex.len()).collect();
    order.sort_by(|a, b| fiedler[clusters.vertex[*a]].total_cmp(&fiedler[clusters.vertex[*b]]));
    let mut least = clusters.improved(&order, nodes);
    order.sort_unstable();
    for turn in 0..ROTATIONS {
        let by = turn * order.len() / (2 * ROTATIONS);
        order.rotate_left(by);
        least = least.min(clusters.improved(&order, nodes));
        order.rotate_right(by);
    }
    Some(least)
}

impl Clusters {
    fn of(network: &Adjacency, nodes: usize) -> Self {
        let cluster_vertex = |v: usize| match network.out(v) {
            [end] if v < nodes && *end as usize >= nodes => *end as usize,
            _ => v,
        };
        let mut number = BTreeMap::new();
        for v in 0..network.vertices() {
            let next = number.len();
            number.entry(cluster_vertex(v)).or_insert(next);
        }
        let (mut weight, mut vertex) = (vec![0; number.len()], vec![0; number.len()]);
        let mut links = vec![BTreeMap::new(); number.len()];
        for v in 0..network.vertices() {
            let cluster = number[&cluster_vertex(v)];
            weight[cluster] += u64::from(v < nodes);
            vertex[cluster] = cluster_vertex(v);
            for end in network.out(v) {
                let other = number[&cluster_vertex(*end as usize)];
                if other != cluster {
                    *links[cluster].entry(other as u32).or_insert(0) += 1;
                }
            }
        }
        Self { weight, links, vertex }
    }

    /// Cuts an order of the clusters in the middle, and improves the cut by swaps and moves.
    /// Returns the number of links across the cut, and the number of nodes on its smaller side.
    fn improved(&self, order: &[usize], nodes: u64) -> (u64, u64) {
        let (mut inside, mut held) = (vec![false; order.len()], 0);
        for cluster in order {
            if held + self.weight[*cluster] <= nodes / 2 {
                inside[*cluster] = true;
                held += self.weight[*cluster];
            }
        }
        while self.swap_pass(&mut inside) || self.move_switches(&mut inside) {}
        (self.cut_links(&inside), held)
    }

    fn cut_links(&self, inside: &[bool]) -> u64 {
        let out = |cluster: usize| {
            self.links[cluster].iter().filter(|(end, _)| !inside[**end as usize]).map(|(_, n)| *n)
        };
        (0..inside.len()).filter(|cluster| inside[*cluster]).flat_map(out).sum::<i64>() as u64
    }

    fn gain(&self, cluster: usize, inside: &[bool]) -> i64 {
        self.links[cluster]
            .iter()
            .map(|(end, n)| if inside[*end as usize] == inside[cluster] { -n } else { *n })
            .sum()
    }

    fn move_switches(&self, inside: &mut [bool]) -> bool {
        let mut moved = false;
        for cluster in (0..inside.len()).filter(|cluster| self.weight[*cluster] == 0) {
            if self.gain(cluster, inside) > 0 {
                inside[cluster] ^= true;
                moved = true;
            }
        }
        moved
    }

    /// Swaps pairs of clusters of equal size, each cluster at most once, and then undoes the swaps
    /// that were made after the smallest cut was reached. Returns whether the cut is smaller.
    fn swap_pass(&self, inside: &mut [bool]) -> bool {
        let mut at = inside.to_vec();
        let mut gains: Vec<i64> = (0..at.len()).map(|cluster| self.gain(cluster, &at)).collect();
        let mut free = vec![true; at.len()];
        let (mut swaps, mut sum, mut best) = (Vec::new(), 0, (0, 0));
        loop {
            let most = |wanted: bool, worth: &dyn Fn(usize) -> Option<i64>| {
                let open = (0..at.len()).filter(|cluster| {
                    free[*cluster] && at[*cluster] == wanted && self.weight[*cluster] > 0
                });
                open.filter_map(|cluster| Some((worth(cluster)?, cluster)))
                    .max_by_key(|(worth, _)| *worth)
            };
            let Some((_, one)) = most(true, &|cluster| Some(gains[cluster])) else { break };
            let other = most(false, &|cluster| {
                let between = self.links[one].get(&(cluster as u32)).copied().unwrap_or(0);
                (self.weight[cluster] == self.weight[one]).then_some(gains[cluster] - 2 * between)
            });
            free[one] = false;
            let Some((worth, other)) = other else { continue };
            free[other] = false;
            sum += gains[one] + worth;
            swaps.push((one, other));
            if sum > best.0 {
                best = (sum, swaps.len());
            }
            for cluster in [one, other] {
                at[cluster] ^= true;
                for (end, n) in &self.links[cluster] {
                    let end = *end as usize;
                    gains[end] += if at[end] == at[cluster] { -2 * n } else { 2 * n };
                }
            }
        }
        for (one, other) in &swaps[..best.1] {
            inside[*one] ^= true;
            inside[*other] ^= true;
        }
        best.0 > 0
    }
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
        let path = Graph::parse("g", "0 1\n1 2\n").unwrap();
        assert_eq!(Survey::of(&path).mean_hops.unwrap().0, 8.0 / 6.0);
        assert_eq!(Survey::of(&path).bisection, Some((1, 1, SurveyMethod::Exhaustive)));
    }

    #[test]
    fn the_cost_ratio_of_a_hypercube_is_2() {
        assert_eq!(survey("hypercube:10").cost_ratio(), Some(2.0));
        assert_eq!(survey("ring:1").cost_ratio(), None);
        assert_eq!(survey("dragonfly:16x8x4").cost_ratio(), None);
    }

    fn smallest(spec: &str) -> (u64, u64) {
        let topology = parse(spec).unwrap();
        smallest_cut(&Adjacency::of(topology.as_ref()).unwrap(), topology.nodes()).unwrap()
    }

    #[test]
    fn the_heuristic_finds_the_cuts_of_formulas() {
        for spec in [
            "torus:4x6",
            "torus:8x8",
            "mesh:6x5",
            "hypercube:6",
            "ring:10",
            "fully-connected:8",
            "hyperx:4x4,nodes=2",
            "dragonfly:4x3x2",
        ] {
            let cut = parse(spec).unwrap().bisection().unwrap();
            let (links, side) = smallest(spec);
            assert_eq!(side, parse(spec).unwrap().nodes() / 2, "{spec}");
            assert!(
                links == cut.links || (links < cut.links && !cut.exact),
                "{spec}: {links}, and not {cut:?}"
            );
        }
    }

    /// Fiedler (1973): if a graph of n vertices has degree k and second eigenvalue l, every
    /// division into halves cuts at least `(k - l) n / 4` edges. The Hoffman-Singleton graph, which
    /// is `slim-fly:5`, has l = 2 and a bound of 62.5. The graph of `slim-fly:13` has 338 vertices
    /// with 19 links each, and l = 6 (found by power iteration on McKay, Miller and Siran's graph).
    #[test]
    fn cuts_of_slim_flies_are_near_the_spectral_bound() {
        for (spec, bound) in [("slim-fly:5", 62.5), ("slim-fly:13", 13.0 * 338.0 / 4.0)] {
            let (links, _) = smallest(spec);
            assert!(
                links as f64 >= bound && links as f64 <= 1.35 * bound,
                "{spec}: {links} of at least {bound}"
            );
        }
    }

    /// Bollobas (1988): the smallest cut of a random regular graph of n vertices and degree d has
    /// at least about `n/4 (d - 2 sqrt(d - 1))` edges. A random cut has `n d/4` edges on average.
    #[test]
    fn cuts_of_jellyfish_are_within_the_bounds_of_random_graphs() {
        let (n, d) = (100.0, 8.0_f64);
        let (links, side) = smallest("jellyfish:100x8x3");
        assert_eq!(side, 150);
        let links = links as f64;
        assert!(
            links > n / 4.0 * (d - 2.0 * (d - 1.0).sqrt()) * 0.9 && links < n * d / 4.0,
            "{links}"
        );
    }
}
