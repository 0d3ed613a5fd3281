//! Compares claims of symmetry with full planning, which does not use the claim.

use super::matrix::{MatrixProblem, misprints};
use crate::support::tools;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::host::{self, PlanInputs};
use swapmeet_runner::{session, topology};
use swapmeet_workloads::Workload;

pub(super) fn row(algorithm: &str, on: &str, proof_scope: ProofScope) -> Record {
    let plugin = misprints();
    let algorithm = plugin.algorithms.iter().find(|known| known.name == algorithm).unwrap();
    let case = Case {
        experiment: "claims".into(),
        topology: topology::parse(on).unwrap(),
        algorithm: Arc::new(SelectedAlgorithm {
            algorithm: Arc::clone(algorithm),
            params: Vec::new(),
            inputs: Vec::new(),
        }),
        workload: Arc::new(Workload::parse("uniform:8").unwrap()),
        inputs: [].into(),
        machine: Arc::new(Machine::parse("paragon").unwrap()),
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: None, proof_scope },
        companions: [].into(),
        optima: None,
    };
    session::run_group(&[case], &mut []).remove(0)
}

#[test]
fn a_node_that_contradicts_the_claim_makes_the_case_invalid() {
    let full = row("shifts-without-rank-3", "ring:16", ProofScope::Full);
    assert_eq!(full.status, Status::Invalid);
    assert!(full.reason.contains("missing in total: 15 blocks"), "{}", full.reason);
    let auto = row("shifts-without-rank-3", "ring:16", ProofScope::Auto);
    assert_eq!(
        (auto.status, &*auto.reason),
        (
            Status::Invalid,
            "the claim of symmetry is wrong: step 1: node 3 does not send to node 4, although node 0 sends to node 1"
        )
    );
    // In the full plan, all blocks arrive. If the host used the claim, it would price a different
    // schedule.
    let full = row("shifts-not-symmetric", "ring:16", ProofScope::Full);
    assert_eq!(full.status, Status::Ok);
    let auto = row("shifts-not-symmetric", "ring:16", ProofScope::Auto);
    assert_eq!(
        (auto.status, &*auto.reason),
        (
            Status::Invalid,
            "the claim of symmetry is wrong: step 1: node 1 does not send to node 2, although node 0 sends to node 1"
        )
    );
}

/// 1,031 nodes send just over a million messages, and 4,099 nodes send 17 million. In addition to
/// that of the planned node, the host compares the plans of only 16 and 15 nodes, respectively.
#[test]
fn some_nodes_are_compared_on_large_networks() {
    let (nodes, compared) = if tools::runs_all() { (4099, 16) } else { (1031, 17) };
    let ring = format!("ring:{nodes}");
    let right = row("shifts-mended", &ring, ProofScope::Auto);
    let scope = (right.proved_on, right.compared_on);
    assert_eq!((right.status, scope), (Status::Ok, (Some(1), Some(compared))));
    assert_eq!(right.verification(), format!("blocks ({compared} of {nodes})"));
    let start = "the claim of symmetry is wrong: step 1: node ";
    for algorithm in ["shifts-of-half-the-ranks", "shifts-not-symmetric"] {
        let wrong = row(algorithm, &ring, ProofScope::Auto);
        assert_eq!(wrong.status, Status::Invalid, "{algorithm}");
        let what = "does not send to node";
        assert!(wrong.reason.starts_with(start) && wrong.reason.contains(what), "{}", wrong.reason);
    }
    // A single wrong node among many is not found, as docs/figures.md says.
    let missed = row("shifts-without-rank-3", &ring, ProofScope::Auto);
    assert_eq!((missed.status, missed.compared_on), (Status::Ok, Some(compared)));
}

/// A plugin may answer differently each time: in the plan that is priced, in the plans that are
/// compared, and in the two plans that the host makes again to name a send.
#[test]
fn plans_that_differ_between_calls_make_the_case_invalid() {
    let networks = ["ring:16", "ring:4099"];
    let count = if tools::runs_all() { 2 } else { 1 };
    for on in networks.into_iter().take(count) {
        for algorithm in ["shifts-alternating", "shifts-changing"] {
            // A plan of another algorithm makes the plugin count its plans from the beginning.
            assert_eq!(row("shifts-mended", "ring:16", ProofScope::Full).status, Status::Ok);
            let row = row(algorithm, on, ProofScope::Auto);
            assert_eq!(row.status, Status::Invalid, "{algorithm} on {on}");
            let start = "the claim of symmetry is wrong: step 1: ";
            assert!(row.reason.starts_with(start), "{}", row.reason);
            if algorithm == "shifts-changing" {
                assert!(row.reason.contains("different plans"), "{}", row.reason);
            }
        }
    }
}

pub(super) struct Claim {
    /// Whether the algorithm claims a symmetry and the problem has no root.
    pub is_claimed: bool,
    pub is_compared: bool,
}

/// On small networks, compares the plans of those nodes that the host would compare on large
/// networks. `orbits.rs` compares all nodes.
pub(super) fn compare(problem: &MatrixProblem<'_>) -> Claim {
    let answers = PlanInputs {
        block_bytes: 60,
        ports: 1,
        virtual_channels: 2,
        element_bytes: 1,
        startup_us: 1.0,
        hop_us: 0.1,
        byte_us: 0.1,
        shares_routes: false,
    };
    let MatrixProblem { algorithm, topology, workload, params } = *problem;
    let none = Claim { is_claimed: false, is_compared: false };
    let Ok(task) = workload.task(topology, 42) else { return none };
    let planned = host::plan(algorithm, params, &task, answers, None, Vec::new());
    if planned.relied_on_symmetry {
        let nodes = host::compare_symmetry(algorithm, params, &task, answers, 0);
        assert!(nodes.as_ref().is_ok_and(|nodes| *nodes > 1), "{problem}: {nodes:?}");
    }
    Claim {
        is_claimed: planned.claims_symmetry && !task.collective.kind().is_rooted(),
        is_compared: planned.relied_on_symmetry,
    }
}
