//! Compares verification on one node of each orbit with full planning. Every column of every row is
//! the same for every bundled algorithm that declares a symmetry, on every model, and wrong
//! schedules are reported in the same way.

use crate::support::timeless;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::{self, CollectiveKind};
use swapmeet_core::network::topology::{self, Topology};
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::describe::PluginReader;
use swapmeet_runner::host::{self, PlanInputs};
use swapmeet_runner::plugin::{Algorithm, ParamKind, Plugin};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session;
use swapmeet_tests::build;
use swapmeet_workloads::Workload;

/// Sides that are odd, even, powers of two and of three, and multiples of four and two. Links are
/// counted by folding, rotation, exchange and one by one.
const TOPOLOGIES: [&str; 19] = [
    "ring:1",
    "ring:2",
    "ring:7",
    "ring:8",
    "ring:9",
    "torus:4x4",
    "torus:8x4",
    "torus:3x5",
    "torus:9x3",
    "torus:4x4x4",
    "mesh:4x4",
    "mesh:3x4",
    "mesh:2x2x3",
    "hypercube:3",
    "hypercube:4",
    "rdn:1(hypercube:2)",
    "fully-connected:6",
    "fat-tree:3x2",
    "twisted-torus:2x4",
];

/// One machine for each way in which a listener reads a schedule (folded or expanded), and every
/// model with all its parts.
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

/// Workloads that follow the name of the collective. Invalid combinations are skipped. A reflection
/// does not commute with shifts, and a root breaks the symmetry.
const WORKLOADS: [&str; 4] = ["uniform:60", "translate:60,by=1", "reflect:60", "uniform:60,root=1"];

/// Returns the default parameters and every declared choice of each parameter.
fn variants(algorithm: &Algorithm) -> Vec<Vec<(String, String)>> {
    let words = algorithm.params.iter().flat_map(|param| {
        param
            .kind
            .words()
            .iter()
            .filter(|word| **word != param.default)
            .map(|word| vec![(param.key.clone(), word.clone())])
    });
    std::iter::once(Vec::new()).chain(words).collect()
}

/// Returns the rows of one algorithm on all machines.
fn rows(
    algorithm: &Arc<Algorithm>,
    params: &[(String, String)],
    (topology, workload): (&Arc<dyn Topology>, &Workload),
    proof_scope: ProofScope,
) -> Vec<Record> {
    let case = |machine: &&str| Case {
        experiment: "orbits".into(),
        topology: Arc::clone(topology),
        algorithm: SelectedAlgorithm {
            algorithm: Arc::clone(algorithm),
            params: params.to_vec(),
            inputs: Vec::new(),
        },
        workload: workload.clone(),
        inputs: [].into(),
        machine: Machine::parse(machine).unwrap(),
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: None, proof_scope },
    };
    session::run_group(&MACHINES.iter().map(case).collect::<Vec<_>>(), &mut [])
}

/// Runs an algorithm with both kinds of verification on all topologies and calls `compare` for each
/// pair of rows.
fn both_ways(algorithm: &Arc<Algorithm>, mut compare: impl FnMut(&str, &Record, &Record)) {
    for topology in TOPOLOGIES.map(|spec| topology::parse(spec).unwrap()) {
        for kind in collective::of_bits(algorithm.collectives) {
            for generator in WORKLOADS {
                let Ok(workload) = Workload::parse(&format!("{}/{generator}", kind.word)) else {
                    continue;
                };
                // Choices are tried on the topologies that most algorithms support.
                let few = ["ring:8", "ring:9", "torus:4x4", "torus:9x3"]
                    .contains(&topology.spec().as_str());
                for params in
                    variants(algorithm).into_iter().filter(|params| few || params.is_empty())
                {
                    let on = (&topology, &workload);
                    let full = rows(algorithm, &params, on, ProofScope::Full);
                    let auto = rows(algorithm, &params, on, ProofScope::Auto);
                    assert_eq!(full.len(), auto.len());
                    for ((full, auto), machine) in full.iter().zip(&auto).zip(MACHINES) {
                        let case = format!(
                            "{} {params:?} {} {workload} {machine}",
                            algorithm.name,
                            topology.spec()
                        );
                        compare(&case, full, auto);
                    }
                }
            }
        }
    }
}

/// Returns whether the algorithm claims a symmetry on some topology for a collective without a
/// root.
fn claims(algorithm: &Algorithm) -> bool {
    let said = |topology: &str, kind: &CollectiveKind| {
        let topology = topology::parse(topology).unwrap();
        let generators = WORKLOADS
            .iter()
            .filter_map(|generator| Workload::parse(&format!("{}/{generator}", kind.word)).ok());
        let tasks: Vec<_> =
            generators.filter_map(|workload| workload.task(&topology, 42).ok()).collect();
        let answers = PlanInputs {
            block_bytes: 60,
            ports: 1,
            virtual_channels: 2,
            element_bytes: 1,
            startup_us: 1.0,
            hop_us: 0.1,
            byte_us: 0.1,
        };
        tasks
            .iter()
            .any(|task| host::plan(algorithm, &[], task, answers, None, Vec::new()).claims_symmetry)
    };
    let kinds = || collective::of_bits(algorithm.collectives).filter(|kind| !kind.is_rooted());
    TOPOLOGIES.iter().any(|topology| kinds().any(|kind| said(topology, kind)))
}

/// A new algorithm that claims a symmetry is compared here automatically. The test fails if none of
/// these machines uses the claim.
#[test]
fn every_column_equals_that_of_full_planning() {
    let registry = Registry::find(&[build().to_owned()], &PluginReader::InProcess).unwrap();
    let mut symmetric = 0;
    for plugin in registry.plugins().iter().filter(|plugin| !plugin.name.contains("misprints")) {
        for algorithm in &plugin.algorithms {
            // Other tests cover schedules from files.
            if algorithm.params.iter().any(|param| param.kind == ParamKind::File) {
                continue;
            }
            let (mut right, mut reduced) = (0, 0);
            both_ways(algorithm, |case, full, auto| {
                let row = |record: &Record| Record { proved_on: None, ..timeless(record) };
                assert_eq!(row(auto), row(full), "{case}");
                right += u32::from(auto.status == Status::Ok);
                reduced += u32::from(auto.proved_on < full.proved_on);
            });
            let name = &algorithm.name;
            assert!(right > 0, "{name} runs on none of these machines: add one on which it does");
            assert!(
                reduced > 0 || !claims(algorithm),
                "{name} is symmetric, and never proved on less than all nodes: add a machine on which it is"
            );
            symmetric += u32::from(reduced > 0);
        }
    }
    assert!(symmetric >= 30, "{symmetric} algorithms are proved on less than all nodes");
}

/// Returns the step that a reason names.
fn step(record: &Record) -> Option<&str> {
    let (_, rest) = record.reason.split_once("step ")?;
    rest.split([' ', ':', ';']).next()
}

/// Injected faults that are invariant under all shifts of the ranks: a missing block, a block
/// delivered twice, a block that the sender does not hold, too many messages at a port, and a
/// contribution that is counted twice, missing or lost.
#[test]
fn faults_are_reported_in_the_same_step_as_with_full_planning() {
    let file = build().join(format!("libmisprints.{}", std::env::consts::DLL_EXTENSION));
    let plugin = Plugin::load(&file).unwrap();
    for (name, expected) in [
        ("shifts-mended", ""),
        ("shifts-leaving-out", "was never delivered"),
        ("shifts-sending-twice", "is delivered twice"),
        ("shifts-not-held", "which it does not hold"),
        ("shifts-two-a-port", "up to 2 simultaneous messages at a node with ports=1"),
        ("sums-mended", ""),
        ("sums-counted-twice", "counts node"),
        ("sums-left-out", "missing in total: "),
        ("sums-replaced", "what it is sent replaces its own value"),
    ] {
        let algorithm = plugin.algorithms.iter().find(|algorithm| algorithm.name == name).unwrap();
        let mut found = 0;
        both_ways(algorithm, |case, full, auto| {
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
        assert!(found > 20 || expected.is_empty(), "{name}: {found} rows say `{expected}`");
    }
}
