//! Link loads of an all-to-all in which each message is divided among all shortest paths.

use super::topology::Network;
use super::topology::adjacency::Adjacency;

/// The expected load of links if every node sends a message to every other node. Each vertex
/// divides messages equally among the links that lead nearer to the destination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultipathLoad {
    /// The largest number of messages on a link, divided by the bandwidth of the link.
    pub max_load: f64,
    /// The mean number of messages on a link.
    pub mean_load: f64,
}

impl MultipathLoad {
    /// Computes the loads. Returns `None` if the network has no links, or too many to list them.
    pub fn of_all_to_all(topology: &Network) -> Option<Self> {
        let network = Adjacency::of(topology)?;
        let links: Vec<(u32, u32, f64)> = network.links().collect();
        let mut loads = vec![0.0; links.len()];
        let mut by_hops: Vec<usize> = (0..links.len()).collect();
        for destination in 0..topology.nodes() {
            let hops = network.hops_from(destination);
            let nearer = |link: usize| hops[links[link].1 as usize] < hops[links[link].0 as usize];
            let mut choices = vec![0_u32; network.vertices()];
            (0..links.len())
                .filter(|link| nearer(*link))
                .for_each(|link| choices[links[link].0 as usize] += 1);
            let mut passing: Vec<f64> = (0..network.vertices() as u64)
                .map(|v| if v < topology.nodes() { 1.0 } else { 0.0 })
                .collect();
            // The links that leave the farthest vertices come first, so that all messages have
            // arrived at a vertex before it forwards them.
            by_hops.sort_by_key(|link| std::cmp::Reverse(hops[links[*link].0 as usize]));
            for &link in by_hops.iter().filter(|link| nearer(**link)) {
                let (from, to, _) = links[link];
                let share = passing[from as usize] / f64::from(choices[from as usize]);
                loads[link] += share;
                passing[to as usize] += share;
            }
        }
        let mean_load = loads.iter().sum::<f64>() / loads.len() as f64;
        let max_load = loads
            .iter()
            .zip(&links)
            .map(|(load, (.., bandwidth))| load / bandwidth)
            .reduce(f64::max)?;
        Some(Self { max_load, mean_load })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::parse;

    fn all_to_all(spec: &str) -> MultipathLoad {
        MultipathLoad::of_all_to_all(parse(spec).unwrap().as_ref()).unwrap()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b
    }

    /// In a ring of n nodes with even n, the sum of the distances from a node to all others is `n^2
    /// / 4`. Each node has two links, so the load of each link is `n^2 / 8`. In a line of 5 nodes,
    /// 2 x 3 pairs of nodes use each of the middle links.
    #[test]
    fn rings_are_loaded_evenly_and_lines_most_in_the_middle() {
        assert!(
            close(all_to_all("ring:8").max_load, 8.0) && close(all_to_all("ring:8").mean_load, 8.0)
        );
        assert!(close(all_to_all("torus:4x8").max_load, 4.0 * 8.0));
        assert!(close(all_to_all("mesh:5").max_load, 6.0));
    }

    #[test]
    fn symmetric_networks_have_equal_link_loads() {
        for spec in [
            "hypercube:5",
            "torus:4x4x4",
            "twisted-torus:4x8",
            "twisted-torus:4x4x8",
            "twisted-torus:4x8x8",
        ] {
            let topology = parse(spec).unwrap();
            let mean = topology.distance_sum().unwrap() as f64 / topology.degree().unwrap() as f64;
            assert!(
                close(all_to_all(spec).max_load, mean) && close(all_to_all(spec).mean_load, mean),
                "{spec}"
            );
        }
    }

    /// Four messages cross the trunk in each direction. If there are two parallel links, two
    /// messages cross each of them.
    #[test]
    fn load_is_divided_by_parallel_links_and_bandwidth() {
        let of = |trunk: &str| {
            let text = format!("switch 4 5\n0 4\n1 4\n2 5\n3 5\n4 5 {trunk}\n");
            let graph = crate::network::topology::Graph::parse("g", &text).unwrap();
            MultipathLoad::of_all_to_all(&graph).unwrap().max_load
        };
        assert_eq!([of("1"), of("0.5"), of("x2"), of("4")], [4.0, 8.0, 3.0, 3.0]);
    }
}
