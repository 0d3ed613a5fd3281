//! Random networks and the processor time, for the benchmarks of searches.

use std::fmt::Write;
use std::sync::Arc;
use swapmeet_core::network::topology::{Graph, Network, parse};

/// Returns the processor time of this program, whatever other programs do, in steps of 10 ms.
pub(crate) fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

fn graph(edges: &[(u64, u64)]) -> Arc<Network> {
    let mut text = String::new();
    edges.iter().for_each(|(a, b)| writeln!(text, "{a} {b}").unwrap());
    Arc::new(Graph::parse("bench", &text).unwrap())
}

pub(crate) fn without(spec: &str, count: usize) -> Arc<Network> {
    let (topology, mut random) = (parse(spec).unwrap(), Random(7919 + 12345));
    let ends = (0..topology.link_slots()).filter_map(|link| topology.link_ends(link));
    let mut edges: Vec<(u64, u64)> = ends.filter(|(a, b)| a < b).collect();
    for _ in 0..count {
        edges.swap_remove(random.below(edges.len()));
    }
    graph(&edges)
}

/// Returns a random graph in which all nodes have the same degree. The ends of links are paired at
/// random. The pairs are then changed until no link occurs twice or leads from a node to itself.
pub(crate) fn random(nodes: usize, degree: usize) -> Arc<Network> {
    let mut random = Random(7919 + 12345);
    let mut ends: Vec<u64> = (0..nodes * degree).map(|i| (i / degree) as u64).collect();
    for i in (1..ends.len()).rev() {
        ends.swap(i, random.below(i + 1));
    }
    let mut edges: Vec<(u64, u64)> = ends.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    loop {
        let mut seen = std::collections::HashSet::new();
        let is_bad = |(a, b): &(u64, u64)| a == b || !seen.insert((*a.min(b), *a.max(b)));
        let bad: Vec<bool> = edges.iter().map(is_bad).collect();
        if !bad.contains(&true) {
            return graph(&edges);
        }
        for i in (0..edges.len()).filter(|i| bad[*i]) {
            let j = random.below(edges.len());
            (edges[i].1, edges[j].1) = (edges[j].1, edges[i].1);
        }
    }
}
