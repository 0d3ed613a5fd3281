//! A panic of the program itself ends the case. The message must not blame the plugin.

use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};
use swapmeet_results::Status;
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::plugin::Plugin;
use swapmeet_runner::{session, topology};
use swapmeet_tests::plugin_file;
use swapmeet_workloads::Workload;

/// A listener that panics in the second step.
struct Broken;

impl Listener for Broken {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        assert!(step.number < 2, "step {} was too much", step.number);
    }
}

#[test]
fn a_panic_of_the_host_is_an_error() {
    let plugin = Plugin::load(&plugin_file("swapmeet_plugin_classic")).unwrap();
    let several_steps = plugin.algorithms.iter().find(|a| a.name == "pairwise").unwrap();
    let case = Case {
        experiment: "test".into(),
        inputs: [].into(),
        topology: topology::parse("ring:8").unwrap(),
        algorithm: Arc::new(SelectedAlgorithm {
            algorithm: Arc::clone(several_steps),
            params: Vec::new(),
            inputs: Vec::new(),
        }),
        workload: Arc::new(Workload::parse("alltoall/uniform:8").unwrap()),
        machine: Arc::new(Machine::parse("free").unwrap()),
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: None, proof_scope: ProofScope::Auto },
        optima: None,
    };
    let rows = session::run_group(&[case], &mut [&mut Broken]);
    let reason = "swapmeet itself failed, please report it: step 2 was too much";
    assert_eq!((rows[0].status, rows[0].reason.as_str()), (Status::Error, reason));
}
