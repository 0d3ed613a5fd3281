//! Loads where messages are split over all shortest ways, as expectations: what no choice of routes
//! evens out better in a network that looks the same in all directions.

use super::adjacency::Adjacency;
use super::topology::Topology;

/// What each link carries on average if every node has one message for every other, and at each
/// vertex every link that leads nearer takes as much: equal-cost multipath.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultipathLoad {
    /// Messages over the fullest link, a link of twice the bandwidth counting half.
    pub max_load: f64,
    /// Messages over a link, on average.
    pub mean_load: f64,
}

impl MultipathLoad {
    /// `None` of a network with more links than are looked through, or without any.
    pub fn of_all_to_all(topology: &dyn Topology) -> Option<Self> {
        let network = Adjacency::of(topology)?;
        let links: Vec<(u32, u32, f64)> = network.links().collect();
        let mut loads = vec![0.0; links.len()];
        let mut by_hops: Vec<usize> = (0..links.len()).collect();
        for destination in 0..topology.nodes() {
            let hops = network.hops_from(destination);
            let nearer = |link: usize| hops[links[link].1 as usize] < hops[links[link].0 as usize];
            let mut ways = vec![0_u32; network.vertices()];
            (0..links.len())
                .filter(|link| nearer(*link))
                .for_each(|link| ways[links[link].0 as usize] += 1);
            let mut passing: Vec<f64> = (0..network.vertices() as u64)
                .map(|v| if v < topology.nodes() { 1.0 } else { 0.0 })
                .collect();
            // From the farthest vertex inwards, so that all that passes a vertex is there before it
            // goes on.
            by_hops.sort_by_key(|link| std::cmp::Reverse(hops[links[*link].0 as usize]));
            for &link in by_hops.iter().filter(|link| nearer(**link)) {
                let (from, to, _) = links[link];
                let share = passing[from as usize] / f64::from(ways[from as usize]);
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

    /// In a ring of n, n even, distances add up to n^2 / 4 from each node, over two links each; the
    /// longest ring of a torus is the fullest. On a line of 5 the middle links have 2 x 3 pairs.
    #[test]
    fn rings_share_alike_and_lines_fill_up_in_the_middle() {
        assert!(
            close(all_to_all("ring:8").max_load, 8.0) && close(all_to_all("ring:8").mean_load, 8.0)
        );
        assert!(close(all_to_all("torus:4x8").max_load, 4.0 * 8.0));
        assert!(close(all_to_all("mesh:5").max_load, 6.0));
    }

    /// Where all links are alike, each carries the mean: all distances over all links.
    #[test]
    fn networks_alike_in_all_directions_fill_no_link_more_than_another() {
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

    /// Two racks of two under two switches: 2 x 2 messages over the trunk one way, half over each
    /// of two links; every node's own has 3.
    #[test]
    fn parallel_links_and_bandwidths_share() {
        let of = |trunk: &str| {
            let text = format!("switch 4 5\n0 4\n1 4\n2 5\n3 5\n4 5 {trunk}\n");
            let graph = crate::network::topology::Graph::parse("g", &text).unwrap();
            MultipathLoad::of_all_to_all(&graph).unwrap().max_load
        };
        assert_eq!([of("1"), of("0.5"), of("x2"), of("4")], [4.0, 8.0, 3.0, 3.0]);
    }
}
