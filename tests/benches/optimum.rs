//! Measures the processor time of two tasks: to certify the optimum of a complete exchange within 1
//! %, and to verify the certificate. `cargo bench --bench optimum` prints a table. An argument
//! selects the networks whose names contain it.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]

use std::fmt::Write;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::{ALL_GATHER, ALL_TO_ALL, Collective, CollectiveKind};
use swapmeet_core::network::topology::{Graph, Topology, parse};
use swapmeet_core::simulation::Task;
use swapmeet_optimum::check::check;
use swapmeet_optimum::{Options, Question, solve};

/// The relative width of the interval at which the search stops.
const GAP: f64 = 0.01;

fn main() {
    let selected: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_selected = |name: &str| selected.is_empty() || selected.iter().any(|s| name.contains(s));
    println!("{:<34} {:>24} {:>8} {:>8} {:>8}", "network", "interval", "gap", "solve s", "check s");
    for (name, kind, topology) in networks() {
        if is_selected(&name) {
            measure(&name, kind, topology());
        }
    }
}

/// A row of the table: its name, its collective, and a function that builds its network.
type Row = (String, &'static CollectiveKind, Box<dyn Fn() -> Arc<dyn Topology>>);

/// Returns the networks of the table.
fn networks() -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for spec in
        ["mesh:8x8", "mesh:16x16", "mesh:16x32", "torus:8x8x8", "torus:100x100x100", "mesh:32x32"]
    {
        all.push((spec.to_owned(), &ALL_TO_ALL, Box::new(move || parse(spec).unwrap())));
    }
    for (spec, links) in [("torus:8x8x8", 8), ("torus:8x8x16", 10)] {
        let name = format!("{spec} without {links} links");
        all.push((name, &ALL_TO_ALL, Box::new(move || without(spec, links))));
    }
    for nodes in [512, 1024] {
        let name = format!("random, {nodes} nodes, degree 6");
        all.push((name, &ALL_TO_ALL, Box::new(move || random(nodes, 6))));
    }
    for spec in ["mesh:16x16", "torus:32x32"] {
        let name = format!("{spec} allgather");
        all.push((name, &ALL_GATHER, Box::new(move || parse(spec).unwrap())));
    }
    let name = "random, 512 nodes, allgather".to_owned();
    all.push((name, &ALL_GATHER, Box::new(|| random(512, 6))));
    all
}

fn measure(name: &str, kind: &'static CollectiveKind, topology: Arc<dyn Topology>) {
    let task = Task::new(topology, Collective::of(kind));
    let rates = Machine::parse("free:byte_us=1,ports=all").unwrap().network_rates().unwrap();
    let question = Question { task: &task, unit_bytes: 1.0, rates };
    let start = cpu_seconds();
    let optimum = solve(&question, &mut Options { gap: GAP, progress: &mut |_, _| true }).unwrap();
    let solved = cpu_seconds() - start;
    check(&optimum.certificate).unwrap();
    let checked = cpu_seconds() - start - solved;
    let interval = format!("[{:.2}, {:.2}]", optimum.lower_us, optimum.upper_us);
    let gap = (optimum.upper_us / optimum.lower_us - 1.0) * 100.0;
    println!("{name:<34} {interval:>24} {gap:>6.2} % {solved:>8.2} {checked:>8.2}");
}

/// Returns the processor time that this program has used, as reported by the kernel in steps of 10
/// ms. Unlike elapsed time, it does not depend on other programs.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

/// A deterministic generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

fn graph(edges: &[(u64, u64)]) -> Arc<dyn Topology> {
    let mut text = String::new();
    edges.iter().for_each(|(a, b)| writeln!(text, "{a} {b}").unwrap());
    Arc::new(Graph::parse("bench", &text).unwrap())
}

/// Returns a topology without `count` of its edges. Both links of an edge are removed.
fn without(spec: &str, count: usize) -> Arc<dyn Topology> {
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
fn random(nodes: usize, degree: usize) -> Arc<dyn Topology> {
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
