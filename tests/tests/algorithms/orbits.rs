//! Compares verification on one node of each symmetry orbit with full planning. For every bundled
//! algorithm that declares a symmetry and every model, all columns must be the same, and wrong
//! schedules must be reported in the same way.

use super::matrix::{MatrixProblem, for_each_problem, misprints};
use std::sync::{Arc, LazyLock};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology::Network;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::plugin::Algorithm;
use swapmeet_runner::session;
use swapmeet_workloads::Workload;

/// Machines of every model. Some models read only the planned messages of a symmetric schedule, and
/// some read every message. Each part of the time has a cost on at least one machine.
const MACHINES: [&str; 11] = [
    "paragon",
    "delta",
    "cm5",
    "free:byte_us=0.01,rearrange_byte_us=0.1,reduce_byte_us=0.2,barrier_us=1",
    "free:model=store-and-forward,startup_us=1,byte_us=0.01,rearrange_byte_us=0.1",
    "free:model=circuit,startup_us=1,byte_us=0.01,hop_us=0.1,ports=all",
    "free:model=circuit,startup_us=1,byte_us=0.01,ports=1,virtual_channels=2",
    "free:model=loggp,latency_us=1,overhead_us=2,gap_us=3,byte_us=0.01",
    "free:model=fluid,startup_us=1,byte_us=0.01",
    "free:model=fluid,byte_us=0.01,hop_us=0.1,reduce_byte_us=0.02,injection_byte_us=0.015",
    "free:model=fluid,byte_us=0.01,hop_us=0.1,fairness=equal,barrier_us=1",
];

static PARSED: LazyLock<Vec<Arc<Machine>>> =
    LazyLock::new(|| MACHINES.map(|machine| Arc::new(Machine::parse(machine).unwrap())).into());

fn rows(
    algorithm: &Arc<Algorithm>,
    params: &[(String, String)],
    (topology, workload): (&Arc<Network>, &Workload),
    proof_scope: ProofScope,
    machines: &[Arc<Machine>],
) -> Vec<Record> {
    let case = |machine: &Arc<Machine>| Case {
        experiment: "orbits".into(),
        topology: Arc::clone(topology),
        algorithm: Arc::new(SelectedAlgorithm {
            algorithm: Arc::clone(algorithm),
            params: params.to_vec(),
            inputs: Vec::new(),
        }),
        workload: Arc::new(workload.clone()),
        inputs: [].into(),
        machine: Arc::clone(machine),
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: None, proof_scope },
        companions: [].into(),
        optima: None,
    };
    session::run_group(&machines.iter().map(case).collect::<Vec<_>>(), &mut [])
}

/// Calls `compare` with the rows of both kinds of planning. Returns the number of rows that were
/// verified on fewer nodes than with full planning. Choices of parameters are tried only on the
/// topologies that most algorithms support. A schedule that is planned for all nodes anyway is
/// compared on the first machine only.
pub(super) fn compare(
    problem: &MatrixProblem<'_>,
    mut compare: impl FnMut(&str, &Record, &Record),
) -> u64 {
    let MatrixProblem { algorithm, topology, workload, params } = *problem;
    let few = ["ring:8", "ring:9", "torus:4x4", "torus:9x3"].contains(&&*topology.spec());
    if !few && !params.is_empty() {
        return 0;
    }
    let on = (topology, workload);
    let mut auto = rows(algorithm, params, on, ProofScope::Auto, &PARSED[..1]);
    let is_full = auto[0].status == Status::Ok && auto[0].proved_on == Some(topology.nodes());
    let machines = if is_full { &PARSED[..1] } else { &PARSED[..] };
    if !is_full {
        auto = rows(algorithm, params, on, ProofScope::Auto, machines);
    }
    let full = rows(algorithm, params, on, ProofScope::Full, machines);
    assert_eq!(full.len(), auto.len());
    let mut reduced = 0;
    for ((full, auto), machine) in full.iter().zip(&auto).zip(machines) {
        compare(&format!("{problem}, {machine}"), full, auto);
        reduced += u64::from(auto.proved_on < full.proved_on);
    }
    reduced
}

fn step(record: &Record) -> Option<&str> {
    let (_, rest) = record.reason.split_once("step ")?;
    rest.split([' ', ':', ';']).next()
}

/// These faults leave the schedule unchanged under all shifts of the ranks.
#[test]
fn faults_are_reported_in_the_same_step_as_with_full_planning() {
    let plugin = misprints();
    for (name, expected) in [
        ("shifts-mended", ""),
        ("shifts-leaving-out", "was never delivered"),
        ("shifts-sending-twice", "is delivered twice"),
        ("shifts-not-held", "which it does not hold"),
        ("shifts-two-a-port", "up to 2 simultaneous messages at a node with ports=1"),
        ("sums-mended", ""),
        ("sums-counted-twice", "counts node"),
        ("sums-left-out", "missing in total: "),
        ("sums-replaced", "the received value replaces its own value"),
    ] {
        let algorithm = plugin.algorithms.iter().find(|algorithm| algorithm.name == name).unwrap();
        let mut found = 0;
        for_each_problem(algorithm, |problem| {
            compare(problem, |case, full, auto| {
                assert_eq!(
                    (auto.status, step(auto)),
                    (full.status, step(full)),
                    "{case}: {} {}",
                    auto.reason,
                    full.reason
                );
                let says = |record: &Record| {
                    record.reason.contains(expected) || record.note.contains(expected)
                };
                assert_eq!(says(auto), says(full), "{case}");
                found += u32::from(says(auto) && !expected.is_empty());
            });
        });
        assert!(found > 20 || expected.is_empty(), "{name}: {found} rows say `{expected}`");
    }
}
