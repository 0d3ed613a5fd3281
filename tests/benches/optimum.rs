//! Measures the processor time of certifying the optimum of a complete exchange within 1 %, and of
//! verifying the certificate. `cargo bench --bench optimum` prints a table. An argument selects the
//! networks whose names contain it.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]

#[path = "networks.rs"]
mod networks;

use networks::{cpu_seconds, random, without};
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::{ALL_GATHER, ALL_TO_ALL, Collective, CollectiveKind};
use swapmeet_core::network::topology::{Network, parse};
use swapmeet_core::simulation::Task;
use swapmeet_optimum::check::check;
use swapmeet_optimum::{MachineTask, Options, solve};

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

type Row = (String, &'static CollectiveKind, Box<dyn Fn() -> Arc<Network>>);

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

fn measure(name: &str, kind: &'static CollectiveKind, topology: Arc<Network>) {
    let task = Task::new(topology, Collective::of(kind));
    let rates = Machine::parse("free:byte_us=1,ports=all").unwrap().network_rates().unwrap();
    let machine_task = MachineTask { task: &task, unit_bytes: 1.0, rates };
    let start = cpu_seconds();
    let optimum =
        solve(&machine_task, &mut Options { gap: GAP, progress: &mut |_, _| true }).unwrap();
    let solved = cpu_seconds() - start;
    check(&optimum.certificate).unwrap();
    let checked = cpu_seconds() - start - solved;
    let interval = format!("[{:.2}, {:.2}]", optimum.lower_us, optimum.upper_us);
    let gap = (optimum.upper_us / optimum.lower_us - 1.0) * 100.0;
    println!("{name:<34} {interval:>24} {gap:>6.2} % {solved:>8.2} {checked:>8.2}");
}
