//! If an assertion of the program itself fails, the case ends. The message must not blame the
//! plugin.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::dispatch::observe;
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::plugin::Plugin;
use swapmeet_runner::worker::{Observer, ObserverKind, WorkerKind, Workers, serve};
use swapmeet_runner::{session, topology};
use swapmeet_tests::plugin_file;
use swapmeet_workloads::Workload;

struct Broken;

impl Listener for Broken {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        assert!(step.number < 2, "step {} was too much", step.number);
    }
}

const LINE: u32 = line!() - 4;

impl Observer for Broken {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        vec![self]
    }
}

fn case() -> Case {
    let plugin = Plugin::load(&plugin_file("swapmeet_plugin_classic")).unwrap();
    let several_steps = plugin.algorithms.iter().find(|a| a.name == "pairwise").unwrap();
    Case {
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
        companions: [].into(),
        optima: None,
    }
}

fn assert_reported(row: &Record) {
    let reason = "swapmeet itself failed, please report it: step 2 was too much (";
    assert_eq!((row.status, row.time_us), (Status::Error, None));
    assert!(row.reason.starts_with(reason), "{}", row.reason);
    assert!(row.reason.ends_with(&format!("host_fails.rs:{LINE})")), "{}", row.reason);
}

#[test]
fn a_failed_assertion_of_the_host_is_an_error() {
    assert_reported(&session::run_group(&[case()], &mut [&mut Broken])[0]);
}

const OBSERVER: ObserverKind = ObserverKind {
    name: "broken",
    max_value_bytes: 1 << 10,
    start: |_, _, _| Ok(Box::new(Broken)),
};

/// The variable that makes a process of this test program a worker.
const WORKER: &str = "SWAPMEET_TEST_WORKER";

/// Not a test: the worker of [`a_worker_with_a_failed_assertion_is_replaced`].
#[test]
#[ignore = "it is the worker of another test"]
fn worker() {
    if std::env::var_os(WORKER).is_some() {
        serve(1 << 36, false, &[OBSERVER]).unwrap();
    }
}

#[test]
fn a_worker_with_a_failed_assertion_is_replaced() {
    let this = std::env::current_exe().unwrap();
    let name = format!("{}::worker", module_path!().split_once("::").unwrap().1);
    // The program adds arguments for a worker. They follow `--`, so the test harness only uses them
    // to select tests.
    let arguments = ["--exact", "--include-ignored", "--nocapture", &name, "--"];
    let command = ["env".into(), format!("{WORKER}=1").into(), this].into_iter();
    let workers = Workers {
        kind: WorkerKind::Processes(command.chain(arguments.map(Into::into)).collect()),
        jobs: 1,
        memory_limit: 1 << 36,
    };
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    let stop = AtomicBool::new(false);
    let question = (&OBSERVER, serde_json::Value::Null);
    observe(&[case()], &workers, question, &stop, &mut |event| match event {
        CaseEvent::Finished { record, .. } => rows.push(*record),
        CaseEvent::Log { line } => lines.push(line),
        _ => {}
    });
    assert_eq!(rows.len(), 1, "{lines:?}");
    assert_reported(&rows[0]);
    let replaced =
        "it leaves a failed assertion of swapmeet behind: the next case gets a new process";
    assert!(lines.iter().any(|line| line.ends_with(replaced)), "{lines:?}");
}
