//! If an assertion of the program fails, its case ends with an error, and the other cases continue.
//! The plugin is linked into the test program, so its SDK shares the panic hook.

use super::{Pricing, pricing_context, report_with, run_group};
use crate::case::{Case, RunOptions, SelectedAlgorithm};
use crate::event::CaseEvent;
use crate::plugin::Plugin;
use crate::topology;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::model::{Cost, Evaluator};
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_results::{Record, Status};
use swapmeet_workloads::Workload;

fn cases(machines: &[&str]) -> Vec<Case> {
    let table = swapmeet_plugin_classic::plugin_table();
    // SAFETY: the table comes from a plugin.
    let plugin = unsafe { Plugin::of_table(Path::new("classic"), table) }.unwrap();
    let pairwise = plugin.algorithms.iter().find(|a| a.name == "pairwise").unwrap();
    let case = |machine: &&str| Case {
        experiment: "test".into(),
        inputs: [].into(),
        topology: topology::parse("ring:8").unwrap(),
        algorithm: Arc::new(SelectedAlgorithm {
            algorithm: Arc::clone(pairwise),
            params: Vec::new(),
            inputs: Vec::new(),
        }),
        workload: Arc::new(Workload::parse("alltoall/uniform:8").unwrap()),
        machine: Arc::new(Machine::parse(machine).unwrap()),
        companions: Arc::default(),
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: None, proof_scope: ProofScope::Auto },
        optima: None,
    };
    machines.iter().map(case).collect()
}

fn check(holds: bool, what: &str) {
    assert!(holds, "{what}");
}

const LINE: u32 = line!() - 3;

fn assert_reported(row: &Record, message: &str, line: u32) {
    let place = format!("session/assertion_tests.rs:{line})");
    assert_eq!((row.status, row.time_us), (Status::Error, None));
    let start = format!("swapmeet itself failed, please report it: {message}");
    assert!(row.reason.starts_with(&start) && row.reason.ends_with(&place), "{}", row.reason);
}

struct FailsInStep(u64);

impl Listener for FailsInStep {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        check(step.number != self.0, &format!("step {} was too much", step.number));
    }
}

#[test]
fn a_failed_assertion_in_a_callback_of_a_linked_plugin_is_an_error() {
    let rows = run_group(&cases(&["free", "paragon"]), &mut [&mut FailsInStep(2)]);
    assert_eq!(rows.len(), 2);
    rows.iter().for_each(|row| assert_reported(row, "step 2 was too much", LINE));
    // After a failed assertion, cases with the same plugin run again.
    assert_eq!(run_group(&cases(&["free"]), &mut [])[0].status, Status::Ok);
}

/// The last step ends only when the plugin has returned from planning.
#[test]
fn a_failed_assertion_after_the_plan_is_an_error() {
    let rows = run_group(&cases(&["free"]), &mut [&mut FailsInStep(7)]);
    assert_reported(&rows[0], "step 7 was too much", LINE);
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Notify,
    Advance,
    Cost,
}

struct FailingEvaluator(At);

impl FailingEvaluator {
    fn enter(&self, here: At) {
        check(self.0 != here, &format!("failed at {here:?}"));
    }
}

impl Listener for FailingEvaluator {
    fn interests(&self) -> Interests {
        Interests::FACTS
    }

    fn notify(&mut self, _: ScheduleEvent<'_>) {
        self.enter(At::Notify);
    }
}

impl Evaluator for FailingEvaluator {
    fn cost(&mut self) -> Result<Cost, String> {
        self.enter(At::Cost);
        Ok(Cost::default())
    }

    fn pause_at(&mut self, _: Option<Instant>) -> bool {
        true
    }

    fn advance(&mut self) -> bool {
        self.enter(At::Advance);
        true
    }
}

/// Runs three cases that share a schedule. `second` creates the evaluator of the second case.
fn rows_with(second: &dyn Fn() -> Box<dyn Evaluator>) -> Vec<Record> {
    let cases = cases(&["free:byte_us=1", "free:byte_us=2", "free:byte_us=3"]);
    let evaluator = |case: &Case| {
        if case.machine.number("byte_us") == Some(2.0) {
            second()
        } else {
            case.machine.evaluator(pricing_context(case))
        }
    };
    let mut rows = vec![None; cases.len()];
    report_with(&cases, (Pricing::SlowApart, &evaluator), &mut [], &mut |event| {
        if let CaseEvent::Finished { case, record } = event {
            assert!(rows[case].replace(*record).is_none(), "a second row of case {case}");
        }
    });
    rows.into_iter().map(Option::unwrap).collect()
}

#[test]
fn a_failed_assertion_of_an_evaluator_is_an_error_of_its_own_case_only() {
    let good = run_group(&cases(&["free:byte_us=1", "free:byte_us=3"]), &mut []);
    let times = |rows: &[Record]| rows.iter().map(|row| row.time_us.unwrap()).collect::<Vec<_>>();
    for at in [At::Notify, At::Advance, At::Cost] {
        let mut rows = rows_with(&|| Box::new(FailingEvaluator(at)));
        assert_reported(&rows.remove(1), &format!("failed at {at:?}"), LINE);
        assert_eq!(times(&rows), times(&good), "{at:?}");
    }
    let line = line!() + 1;
    let mut rows = rows_with(&|| unreachable!("no such evaluator"));
    let message = "internal error: entered unreachable code: no such evaluator";
    assert_reported(&rows.remove(1), message, line);
    assert_eq!(times(&rows), times(&good));
}
