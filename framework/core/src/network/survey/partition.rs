//! A heuristic that finds small cuts into halves, for families without a formula. It sorts the
//! vertices by a spectral order (by an eigenvector of the network's Laplacian), cuts this order in
//! the middle, and swaps vertices to make the cut smaller (B. W. Kernighan, S. Lin, *An Efficient
//! Heuristic Procedure for Partitioning Graphs*, 1970).
//!
//! A node with a single link stays with its switch. So the heuristic divides *clusters*: a switch
//! with its nodes, or a single vertex.

use crate::network::topology::adjacency::Adjacency;
use std::collections::BTreeMap;

/// The maximum number of clusters of a network. If there are more, no cut is searched.
const MAX: usize = 1 << 11;
/// The number of further starting cuts. Each of them cuts a rotation of the order of cluster
/// numbers instead of the spectral order.
const ROTATIONS: usize = 6;

struct Clusters {
    /// The number of nodes of each cluster.
    weight: Vec<u64>,
    /// For each cluster, the clusters to which it has links, each with the number of these links.
    links: Vec<BTreeMap<u32, i64>>,
    /// For each cluster, its switch or its only vertex.
    vertex: Vec<usize>,
}

/// Returns the smallest cut that was found: its number of links in one direction, and the number of
/// nodes on its smaller side. Returns `None` if there are too many clusters, or fewer than two.
pub(super) fn smallest_cut(network: &Adjacency, nodes: u64) -> Option<(u64, u64)> {
    let clusters = Clusters::of(network, nodes as usize);
    if clusters.vertex.len() > MAX || clusters.vertex.len() < 2 {
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
        // A node with a single link belongs to the cluster of its switch.
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

    /// Places the first clusters of an order on one side, up to half of the nodes. Improves this
    /// cut until neither a swap nor a move makes it smaller. Returns the links across the cut and
    /// the nodes on the smaller side.
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

    /// Returns the number of links by which the cut shrinks if a cluster is moved to the opposite
    /// side.
    fn gain(&self, cluster: usize, inside: &[bool]) -> i64 {
        self.links[cluster]
            .iter()
            .map(|(end, n)| if inside[*end as usize] == inside[cluster] { -n } else { *n })
            .sum()
    }

    /// Moves each cluster without nodes to the side to which it has more links. Returns whether the
    /// cut became smaller.
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

    /// Swaps pairs of clusters with the same number of nodes, each cluster at most once. Keeps the
    /// swaps up to the smallest cut, and undoes the later swaps. Returns whether the cut became
    /// smaller.
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
    use crate::network::topology::parse;

    fn smallest(spec: &str) -> (u64, u64) {
        let topology = parse(spec).unwrap();
        smallest_cut(&Adjacency::of(topology.as_ref()).unwrap(), topology.nodes()).unwrap()
    }

    /// If a formula gives the smallest cut, the heuristic finds it.
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
    /// division into halves cuts at least `(k - l) n / 4` edges. The Hoffman-Singleton graph,
    /// `slim-fly:5`, has l = 2 and a bound of 62.5. The 338 vertices of `slim-fly:13`, with 19
    /// links each, have l = 6 (by power iteration on the graph as McKay, Miller and Siran define
    /// it).
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

    /// Bollobas (1988): the smallest cut of a random regular graph of degree d has at least about
    /// `n/4 (d - 2 sqrt(d - 1))` edges. A random division cuts about `n d/4` edges on average, so
    /// the smallest cut has at most this many edges.
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
