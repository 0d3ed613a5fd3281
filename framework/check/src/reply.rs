//! The code of the child process. It loads the plugin, and replies to one request about it.

use crate::liveness::MessageOrder;
use crate::request::About;
use crate::request::{Plan, Reply, Request, RunResult, SequencePlan, Symmetry, TestCase};
use crate::watch::Watch;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::RedundantDelivery;
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::Record;
use swapmeet_results::Status;
use swapmeet_runner::case::{Case, RunOptions, SelectedAlgorithm};
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::plugin::Plugin;
use swapmeet_runner::plugin_output::REMARK;
use swapmeet_runner::session::{self, Pricing};
use swapmeet_runner::system::{peak_bytes, threads};
use swapmeet_runner::topology;
use swapmeet_workloads::Workload;

const FEW_NODES: u64 = 64;

/// Replies to a request. Before two schedules are made at the same time, `two` is called.
pub fn reply(plugin: &Path, request: &Request, timeout: Duration, two: &dyn Fn()) -> Reply {
    let plugin = match Plugin::load_without_digest(plugin) {
        Ok(plugin) => plugin,
        Err(error) => return Reply::Refused(error.to_string()),
    };
    match request {
        Request::About => Reply::About(About::from(&plugin)),
        Request::Run(case) => resolve(&plugin, case, timeout)
            .map_or_else(Reply::BadRequest, |case| Reply::Run(run(&case, two))),
        Request::RunOnce(case) => resolve(&plugin, case, timeout)
            .map_or_else(Reply::BadRequest, |case| Reply::Run(run_once(&case).0)),
        Request::Liveness(case, depth) => {
            resolve(&plugin, case, timeout).map_or_else(Reply::BadRequest, |case| {
                let mut order = MessageOrder::default();
                session::run_group(&[case], &mut [&mut order]);
                Reply::Liveness(order.liveness(*depth))
            })
        }
        Request::Sequence(cases) => {
            let cases: Result<Vec<Case>, String> =
                cases.iter().map(|case| resolve(&plugin, case, timeout)).collect();
            cases.map_or_else(Reply::BadRequest, |cases| Reply::Sequence(run_sequence(&cases, two)))
        }
    }
}

fn resolve(plugin: &Plugin, case: &TestCase, timeout: Duration) -> Result<Case, String> {
    let algorithm = plugin.algorithms.iter().find(|a| a.name == case.algorithm);
    let algorithm = algorithm
        .ok_or_else(|| format!("the plugin has no algorithm `{}` this time", case.algorithm))?;
    Ok(Case {
        companions: Arc::default(),
        experiment: "check".into(),
        topology: topology::parse(&case.topology).map_err(|e| e.to_string())?,
        algorithm: Arc::new(SelectedAlgorithm {
            algorithm: Arc::clone(algorithm),
            params: case.params.clone(),
            inputs: Vec::new(),
        }),
        workload: Workload::parse(&case.workload).map(Arc::new).map_err(|e| e.to_string())?,
        inputs: [].into(),
        machine: Machine::parse(&case.machine).map(Arc::new).map_err(|e| e.to_string())?,
        repetition: 0,
        seed: 42,
        options: RunOptions { timeout: Some(timeout), proof_scope: ProofScope::Full },
        optima: None,
    })
}

/// Runs the case twice. If there are few nodes, also runs it on two threads at the same time,
/// because a schedule must depend only on its problem. If the algorithm declares a symmetry, also
/// plans one node of each orbit.
fn run(case: &Case, two: &dyn Fn()) -> RunResult {
    let (ran, watch) = run_once(case);
    let mut plans: Vec<(Plan, Watch)> = ran.plans.into_iter().zip([watch]).collect();
    if matches!(plans[0].0.status.as_str(), "ok" | "unsupported") {
        plans.push(plan(case));
        if case.topology.nodes() <= FEW_NODES {
            two();
            plans.extend(thread::scope(|scope| {
                let both = [scope.spawn(|| plan(case)), scope.spawn(|| plan(case))];
                both.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
            }));
        }
    }
    let status = &plans[0].0.status;
    let is_planned = [Status::Ok, Status::Invalid].iter().any(|known| status == known.word());
    let symmetry =
        if is_planned && case.topology.nodes() <= FEW_NODES { symmetry(case) } else { None };
    // The last two plans were made at the same time. In both, the number of threads includes those
    // of the other plan, so it is not reported.
    let mut plans = compared(plans);
    plans.iter_mut().skip(2).for_each(|plan| plan.threads = 0);
    RunResult { plans, symmetry, ..ran }
}

fn run_once(case: &Case) -> (RunResult, Watch) {
    let before = peak_bytes();
    let started = Instant::now();
    let (plan, watch) = plan(case);
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let bytes = peak_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    let nodes = case.topology.nodes();
    (RunResult { nodes, plans: vec![plan], ms, symmetry: None, bytes }, watch)
}

/// If the algorithm declares a symmetry, compares the schedule that follows from it with the full
/// schedule. Returns `None` if the full schedule is not valid.
fn symmetry(case: &Case) -> Option<Symmetry> {
    let run = |proof_scope| {
        let mut watch = Watch::default().by_blocks();
        let case = Case { options: RunOptions { proof_scope, ..case.options }, ..case.clone() };
        let record =
            session::run_group(&[case], &mut [&mut watch]).into_iter().next().unwrap_or_default();
        (record, watch)
    };
    let (by_orbits, followed) = run(ProofScope::Auto);
    let nodes = by_orbits.proved_on.filter(|nodes| *nodes == case.topology.nodes());
    if nodes.is_some() && by_orbits.status == Status::Ok {
        return None;
    }
    let nodes = by_orbits.proved_on.unwrap_or(0);
    if by_orbits.reason.starts_with(Fault::WRONG_SYMMETRY) {
        return Some(Symmetry { nodes, differs: Some(by_orbits.reason) });
    }
    let (full, every) = run(ProofScope::Full);
    if full.status != Status::Ok {
        return None;
    }
    let broken = (by_orbits.status != Status::Ok)
        .then(|| format!("it is {}: {}", by_orbits.status, by_orbits.reason));
    let differs = every.breaks_symmetry(&followed).or(broken).map(|what| {
        format!("the plan for one node of each orbit differs from the plan for all nodes: {what}")
    });
    Some(Symmetry { nodes, differs })
}

/// Runs cases in both orders, and then on two threads, so that each case follows different ones.
fn run_sequence(cases: &[Case], two: &dyn Fn()) -> Vec<SequencePlan> {
    // The count of threads would include those of other plans. Recorded sends are not compared.
    let plan = |case: &Case| Plan { threads: 0, ..plan(case).0 };
    let forwards = || (0..cases.len()).map(|i| (i, plan(&cases[i]))).collect::<Vec<_>>();
    let backwards = || (0..cases.len()).rev().map(|i| (i, plan(&cases[i]))).collect::<Vec<_>>();
    let alone = [forwards(), backwards()].concat();
    two();
    let parallel = thread::scope(|scope| {
        let both = [scope.spawn(forwards), scope.spawn(backwards)];
        both.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect::<Vec<_>>()
    });
    let labelled = |is_parallel: bool| {
        move |(case, plan): (usize, Plan)| SequencePlan { case, is_parallel, plan }
    };
    alone.into_iter().map(labelled(false)).chain(parallel.into_iter().map(labelled(true))).collect()
}

fn plan(case: &Case) -> (Plan, Watch) {
    let mut watch = Watch::default();
    let before = threads();
    let (mut record, mut unheeded) = (Record::default(), None);
    session::report_group(
        std::slice::from_ref(case),
        Pricing::Together,
        &mut [&mut watch],
        &mut |event| match event {
            CaseEvent::Finished { record: row, .. } => record = *row,
            CaseEvent::Log { line } => {
                unheeded = unheeded.take().or_else(|| line.strip_prefix(REMARK).map(str::to_owned));
            }
            _ => {}
        },
    );
    let has_one_place = case.workload.collective().redundant_delivery == RedundantDelivery::Fault;
    let plan = Plan {
        status: record.status.to_string(),
        reason: record.reason,
        proof: record.verified.to_string(),
        fingerprint: watch.fingerprint(),
        steps: watch.steps().to_vec(),
        differs: None,
        busiest_node: watch.busiest_node().clone(),
        threads: threads().zip(before).map_or(0, |(after, before)| after.saturating_sub(before)),
        waste: watch.waste(has_one_place).collect(),
        unheeded,
    };
    (plan, watch)
}

/// Compares the plans with the first one. A plan that differs gets the first difference as text.
fn compared(mut plans: Vec<(Plan, Watch)>) -> Vec<Plan> {
    let later = if plans.is_empty() { Vec::new() } else { plans.split_off(1) };
    let Some((first, watched)) = plans.pop() else { return Vec::new() };
    let differs =
        |(plan, watch): (Plan, Watch)| Plan { differs: watched.first_difference(&watch), ..plan };
    let later: Vec<Plan> = later.into_iter().map(differs).collect();
    std::iter::once(first).chain(later).collect()
}
