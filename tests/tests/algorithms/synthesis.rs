//! Lengths of verified schedules of the plugin `synthesis` are compared with the certified optimum
//! of the network, which another crate computes.

use super::matrix::bundled;
use crate::support::{rows, swapmeet, tools, words};
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology::{Graph, Network, parse};
use swapmeet_core::simulation::step::Totals;
use swapmeet_optimum::{MachineTask, Options, solve};
use swapmeet_runner::host::{self, Outcome, PlanInputs};
use swapmeet_runner::plugin::Algorithm;
use swapmeet_workloads::Workload;

fn algorithm(name: &str) -> Arc<Algorithm> {
    bundled().into_iter().find(|algorithm| algorithm.name == name).unwrap()
}

fn planned(topology: &Arc<Network>, workload: &str, spec: &str, ports: u64) -> Totals {
    let workload = Workload::parse(workload).unwrap();
    let task = workload.task(topology, 7).unwrap();
    let (name, params) = spec.split_once(':').unwrap_or((spec, ""));
    let params: Vec<(String, String)> = params
        .split(',')
        .filter_map(|param| param.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let largest = task.sizes.as_ref().map_or(workload.block_bytes(), |sizes| sizes.largest());
    let inputs = PlanInputs { block_bytes: largest, ports, ..PlanInputs::default() };
    let planned = host::plan(&algorithm(name), &params, &task, inputs, None, Vec::new());
    match planned.outcome {
        Outcome::Verified(totals) => totals,
        other => panic!("{spec} on {}: {other:?}", topology.spec()),
    }
}

/// The certified lower end of the optimum: in steps if blocks are counted, otherwise in bytes.
fn lower_end(topology: &Arc<Network>, workload: &str) -> f64 {
    let workload = Workload::parse(workload).unwrap();
    let task = workload.task(topology, 7).unwrap();
    let rates = Machine::parse("free:byte_us=1,ports=all").unwrap().network_rates().unwrap();
    let machine_task = MachineTask { task: &task, unit_bytes: 1.0, rates };
    let options = &mut Options { gap: 0.005, progress: &mut |_, _| true };
    solve(&machine_task, options).unwrap().lower_us
}

/// Returns the union of cycles of all nodes in random order, which rarely share an edge, so that
/// nearly all nodes have the same degree.
fn random_graph(nodes: u64, cycles: u64, bandwidths: &[u64]) -> Arc<Network> {
    let (mut state, mut text) = (12345_u64, String::new());
    let mut known = std::collections::HashSet::new();
    for cycle in 0..cycles {
        let mut order: Vec<u64> = (0..nodes).collect();
        for i in (1..order.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            order.swap(i, (state >> 33) as usize % (i + 1));
        }
        for (i, node) in order.iter().enumerate() {
            let next = order[(i + 1) % order.len()];
            if !known.insert((next.min(*node), next.max(*node))) {
                continue;
            }
            let bandwidth = bandwidths[(cycle as usize + i) % bandwidths.len()];
            text += &format!("{node} {next} {bandwidth}\n");
        }
    }
    Arc::new(Graph::parse("random", &text).unwrap())
}

/// The largest allowed number of steps, divided by the certified lower end.
const WITHIN: f64 = 1.025;

#[test]
fn steps_of_a_flow_are_near_the_certified_optimum() {
    if !tools::runs_all() {
        return;
    }
    for (spec, steps) in [("mesh:8x8", Some(128)), ("mesh:16x16", None), ("torus:3x4x5", None)] {
        let topology = parse(spec).unwrap();
        let lower = lower_end(&topology, "uniform:64");
        let taken = planned(&topology, "uniform:64", "flow", u64::MAX).steps;
        assert!(taken as f64 >= lower - 1e-6, "{spec}: {taken} {lower}");
        assert!(taken as f64 <= (lower * WITHIN).ceil(), "{spec}: {taken} {lower}");
        assert!(steps.is_none_or(|steps| taken == steps), "{spec}: {taken}");
    }
    let random = random_graph(64, 2, &[1]);
    let lower = lower_end(&random, "uniform:64");
    let taken = planned(&random, "uniform:64", "flow", u64::MAX).steps;
    assert!(taken as f64 <= (lower * WITHIN).ceil(), "{taken} {lower}");
}

/// The sum of the longest messages of all steps cannot be less than the optimum.
#[test]
fn unequal_sizes_and_bandwidths_are_near_the_certified_optimum() {
    let all = [("mesh:6x6", 65536, 1.02), ("torus:6x6", 65536, 1.02), ("torus:6x6", 1024, 1.04)];
    let count = if tools::runs_all() { all.len() } else { 1 };
    for (spec, mean, within) in all.into_iter().take(count) {
        let topology = parse(spec).unwrap();
        let sizes = format!("irregular:dist=lognormal,mean={mean},cv=1");
        let lower = lower_end(&topology, &sizes);
        let taken = planned(&topology, &sizes, "flow", u64::MAX).critical_load as f64;
        assert!(taken >= lower * 0.999 && taken <= lower * within, "{spec}: {taken} {lower}");
    }
    let wide = random_graph(40, 3, &[1, 2, 4]);
    let lower = lower_end(&wide, "uniform:64");
    let taken = planned(&wide, "uniform:64", "flow", u64::MAX).steps;
    assert!(taken as f64 >= lower - 1e-6 && taken as f64 <= lower * 1.1 + 2.0, "{taken} {lower}");
}

#[test]
fn a_greedy_allgather_meets_the_number_of_links_into_a_node() {
    for (spec, bound) in [("mesh:8x8", 32), ("torus:8x8", 16), ("torus:16x16", 64)] {
        let topology = parse(spec).unwrap();
        let taken = planned(&topology, "allgather/uniform:64", "greedy-allgather", u64::MAX);
        assert_eq!(taken.steps, bound, "{spec}");
        let back =
            planned(&topology, "reduce-scatter/uniform:64", "greedy-reduce-scatter", u64::MAX);
        assert_eq!((back.steps, back.messages), (bound, taken.messages), "{spec}");
    }
    let random = random_graph(64, 3, &[1]);
    let least = (0..64).map(|node| random.links_from(node).unwrap()).min().unwrap();
    let taken = planned(&random, "allgather/uniform:64", "greedy-allgather", u64::MAX).steps;
    assert!(taken <= 63_u64.div_ceil(least) + 1, "{taken} {least}");
}

#[test]
fn every_kind_of_network_gets_verified_schedules() {
    let star = "switch 4\n0 4\n1 4 2\n2 4\n3 4\n";
    let star: Arc<Network> = Arc::new(Graph::parse("star", star).unwrap());
    // On the larger networks of two families, searches take most of the time of this test.
    let families = match tools::runs_all() {
        true => ["rdn:1(torus:2x3)", "twisted-torus:4x8"],
        false => ["rdn:1(ring:3)", "twisted-torus:2x4"],
    };
    for spec in ["hypercube:4", "torus:4x4,place=random:3"].into_iter().chain(families) {
        let topology = parse(spec).unwrap();
        for (workload, algorithm) in [
            ("uniform:64", "flow"),
            ("uniform:64", "flow:group=3"),
            ("uniform:64", "flow:form=routes"),
            ("irregular:dist=exponential,mean=64", "flow"),
            ("scatter/uniform:64,root=3", "flow:segments=2"),
            ("gather/uniform:64,root=3", "flow"),
            ("permutation/shear-2d:64", "flow"),
            ("allgather/uniform:64", "greedy-allgather"),
            ("reduce-scatter/uniform:64", "greedy-reduce-scatter"),
            ("allreduce/uniform:6400", "greedy-allreduce"),
            ("broadcast/uniform:64,root=3", "greedy-broadcast"),
        ] {
            let parsed = Workload::parse(workload).unwrap();
            if parsed.task(&topology, 7).is_ok() {
                assert!(planned(&topology, workload, algorithm, u64::MAX).steps > 0, "{spec}");
            }
        }
        let one = planned(&topology, "uniform:64", "flow:form=steps", 1);
        assert!(one.max_sends == 1 && one.max_receives == 1, "{spec}");
    }
    for topology in [star, parse("fat-tree:2x3").unwrap(), parse("dragonfly:3x2x2").unwrap()] {
        assert_eq!(planned(&topology, "uniform:64", "flow", u64::MAX).steps, 1);
    }
}

/// The result of a search with a time limit depends on the computer.
#[test]
fn the_note_of_a_row_names_a_search_that_its_time_limit_ended() {
    let run = |algorithm| {
        let flags = "--topology mesh:4x4 --machine free:byte_us=1 --algorithm";
        rows(&[words(flags), words(algorithm)].concat()).remove(0).note
    };
    let why = "the search ended because of `seconds`, so another run may give another schedule";
    let others = run("flow");
    assert!(!others.contains("plugin"), "{others}");
    assert_eq!(run("flow:seconds=0"), format!("{others}; plugin: {why}"));
}

/// If a case is ended by `--timeout`, it has no schedule. With `seconds`, the search would keep the
/// best schedule so far.
#[test]
fn a_timeout_ends_a_search_without_a_schedule() {
    let run = "run --topology mesh:32x32 --algorithm flow:seconds=60 --timeout 1 --out -";
    let output = swapmeet(&words(run)).assert().code(1);
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(text.contains(",timeout,not done after 1 s,none,"), "{text}");
}
