//! Runs cases whose schedules are planned one after another and then merged. These are jobs that
//! run at the same time, and communicators of different sizes. One simulation gives the rows of all
//! cases of a group. Columns of a schedule, such as `messages`, are those of the row's own job.

use super::case_evaluator::{CaseEvaluator, SharedPlan};
use super::{
    CostOrRefusal, PlanResult, Pricing, checked_plan, cost_of, pricing_context, refused, row,
};
use crate::case::Case;
use crate::case::companion::{Companion, Job};
use crate::event::CaseEvent;
use crate::group_clock::{GroupClock, PlanLimit};
use crate::host::{Outcome, PlanInputs, Planned, Requested};
use std::cell::Cell;
use std::time::Duration;
use swapmeet_core::cost::alone::Alone;
use swapmeet_core::cost::bound::Traffic;
use swapmeet_core::cost::kind::Kind;
use swapmeet_core::cost::model::{Cost, Evaluator, PricingContext};
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_core::simulation::merged::{Jobs, Reported};
use swapmeet_core::simulation::step::Totals;
use swapmeet_core::simulation::{Task, affordable};
use swapmeet_results::Status;

struct PlannedJob {
    planned: Planned,
    /// The bytes of a unit of the loads in `planned`.
    unit: u64,
    traffic: Vec<Traffic>,
}

type Refusal = (Status, String);

pub(super) fn plan_and_price(
    group: &[Case],
    cases: &[usize],
    pricing: Pricing,
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(CaseEvent),
) -> PlanResult {
    let first = &group[cases[0]];
    let (jobs, _) = first.jobs();
    let limit = first.options.timeout;
    let shared = SharedPlan {
        clock: GroupClock::start(),
        limit,
        sets_aside: false,
        listening: Cell::new(1),
    };
    let plan_limit = limit.map(|limit| PlanLimit { clock: shared.clock.clone(), limit });
    let mut result = PlanResult::default();
    let refuse_all = |status: Status, reason: &str, report: &mut dyn FnMut(CaseEvent)| {
        cases.iter().for_each(|case| report(refused(group, *case, status, reason)));
    };
    let mut merged = Jobs::new(&first.topology, jobs.len() as u64);
    let (evaluator, mut alone) = match evaluators(first, &jobs, &merged) {
        Ok(evaluators) => evaluators,
        Err(reason) => {
            refuse_all(Status::Unsupported, &reason, report);
            return result;
        }
    };
    let mut evaluator = (pricing != Pricing::Off).then(|| CaseEvaluator::new(evaluator, &shared));
    // An observer is notified either of the merged schedule or of each schedule before merging.
    let (mut of_merged, mut of_each): (Vec<&mut dyn Listener>, Vec<&mut dyn Listener>) =
        Default::default();
    for observer in observers.iter_mut() {
        let those = if observer.interests().merged { &mut of_merged } else { &mut of_each };
        those.push(&mut **observer);
    }
    let interests = evaluator.as_ref().map_or(Interests::FACTS, |e| e.interests());
    let interests = of_merged.iter().fold(interests, |all, one| all.union(one.interests()));
    let mut planned = Vec::new();
    for (number, Companion { job, .. }) in (0..).zip(&jobs) {
        let arguments = (plan_limit.as_ref(), interests, pricing);
        let requested = &mut result.requested;
        let schedule = (number, &mut merged, requested);
        planned.push(plan_job(first, job, schedule, arguments, &mut of_each, report));
    }
    let planning = shared.clock.planning();
    let failed = planned.iter().position(|job| {
        !matches!(
            job,
            Ok(PlannedJob { planned: Planned { outcome: Outcome::Verified(_), .. }, .. })
        )
    });
    for observer in of_merged.into_iter().filter(|_| failed.is_none()) {
        // An error is ignored here, because the same report to the evaluator returns the reason.
        drop(merged.report(Reported::All, observer));
    }
    let mut together: Result<(), Refusal> = Ok(());
    match (failed, &mut evaluator) {
        (Some(failed), _) => {
            let (status, why) = match &planned[failed] {
                Err((status, why)) => (*status, why.clone()),
                Ok(PlannedJob { planned, .. }) => match &planned.outcome {
                    Outcome::Unsupported(why) => (Status::Unsupported, why.clone()),
                    Outcome::Invalid(fault) => (Status::Error, fault.to_string()),
                    Outcome::TimedOut(why) | Outcome::Failed(why) | Outcome::HostPanicked(why) => {
                        (Status::Error, why.clone())
                    }
                    Outcome::Verified(_) => unreachable!("the job has failed"),
                },
            };
            let reason = format!("`{}`, which runs at the same time: {why}", jobs[failed]);
            together = Err((status, reason));
        }
        (None, evaluator) => {
            let totals = match evaluator {
                Some(evaluator) => merged.report(Reported::All, evaluator),
                None => merged.report(Reported::All, &mut Unheard),
            };
            match totals.map_err(of_fault) {
                // If a single job has several schedules, its totals are those of the merged one.
                Ok(totals) if jobs.len() == 1 => {
                    if has_several(&planned[0]) {
                        set_totals(&mut planned[0], totals);
                    }
                    if let (Some(alone), Some(_)) = (&mut alone, &evaluator) {
                        let reported = merged.report(Reported::First, alone);
                        together = reported.map(|_| ()).map_err(of_fault);
                    }
                }
                Ok(_) => {
                    let jobs = (0..).zip(&mut planned).filter(|(_, job)| has_several(job));
                    for (number, job) in jobs {
                        match merged.report(Reported::Job(number), &mut Unheard).map_err(of_fault) {
                            Ok(totals) => set_totals(job, totals),
                            Err(refusal) => together = Err(refusal),
                        }
                    }
                }
                Err(refusal) => together = Err(refusal),
            }
            drop(merged);
            let mut turn = Duration::from_millis(100);
            let mut advance = |turn| evaluator.as_mut().is_none_or(|e| e.advance(turn));
            while together.is_ok() && !advance(turn) {
                report(CaseEvent::Progress { case: cases[0], steps: 0, messages: 0 });
                turn = turn.saturating_mul(2);
            }
        }
    }
    let spent = evaluator.as_ref().map_or(Duration::ZERO, |evaluator| evaluator.spent);
    let share = planning / cases.len() as u32;
    let cost = match (&together, &mut evaluator) {
        (Ok(()), Some(evaluator)) => Some(cost_of(evaluator, first).and_then(|cost| {
            let alone_us = alone.as_mut().map(Alone::time_us).transpose();
            let alone_us = alone_us.map_err(|reason| (Status::Unsupported, reason))?;
            Ok(Cost { alone_us, ..cost })
        })),
        (Err(_), _) | (Ok(()), None) => None,
    };
    for case in cases {
        let own = group[*case].jobs().1;
        let job = match &planned[own] {
            Ok(job) => job,
            Err((status, reason)) => {
                report(refused(group, *case, *status, reason));
                continue;
            }
        };
        let is_verified = matches!(job.planned.outcome, Outcome::Verified(_));
        if let (Err((status, reason)), true) = (&together, is_verified) {
            report(refused(group, *case, *status, reason));
            continue;
        }
        let cost = cost.as_ref().map(|cost| (spent, cost_of_job(cost, own, &job.planned)));
        let plan = (&job.planned, job.unit);
        let record = row(&group[*case], plan, (planning, share), &job.traffic, cost);
        report(CaseEvent::Finished { case: *case, record: Box::new(record) });
    }
    result
}

fn of_fault(fault: Fault) -> Refusal {
    match fault {
        Fault::Refused(reason) => (Status::Unsupported, reason),
        broken => (Status::Invalid, broken.to_string()),
    }
}

fn cost_of_job(cost: &CostOrRefusal, own: usize, planned: &Planned) -> CostOrRefusal {
    let all = cost.clone()?;
    let mut cost = match all.jobs.get(own) {
        Some(job) => Cost { note: all.note.clone(), ..job.clone() },
        None => all,
    };
    let reduces =
        matches!(&planned.outcome, Outcome::Verified(totals) if totals.critical_summed > 0);
    if !reduces {
        cost.parts[Kind::Reduction] = None;
    }
    Ok(cost)
}

/// Returns an evaluator of all jobs together, whose loads are in bytes. If there is only one job,
/// also returns an evaluator of its first communicator alone. An error states why the jobs cannot
/// run at the same time.
fn evaluators(
    case: &Case,
    jobs: &[Companion],
    merged: &Jobs,
) -> Result<(Box<dyn Evaluator>, Option<Alone>), String> {
    let starts: Vec<f64> = jobs.iter().map(|job| job.start_us).collect();
    let has_several = jobs.len() > 1;
    let context = PricingContext {
        topology: merged.network(),
        starts: if has_several { &starts } else { &[] },
        ..pricing_context(case)
    };
    let evaluator = || case.machine.evaluator(context);
    if has_several {
        case.machine.check_jobs()?;
        return Ok((evaluator(), None));
    }
    case.machine.check_unequal_communicators()?;
    let communicators = case.workload.all_communicators(&case.topology)?;
    let first = communicators.first().and_then(|all| all.all().next()).unwrap_or_default();
    Ok((evaluator(), Some(Alone::new(evaluator(), &case.topology, first))))
}

/// Plans the schedules of a job, one for each kind of communicator, and adds them to `merged`.
fn plan_job(
    case: &Case,
    job: &Job,
    (number, merged, requested): (u64, &mut Jobs, &mut Requested),
    (limit, interests, pricing): (Option<&PlanLimit>, Interests, Pricing),
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(CaseEvent),
) -> Result<PlannedJob, Refusal> {
    let unsupported = |reason| (Status::Unsupported, reason);
    let kind = job.workload.collective();
    job.algorithm.algorithm.check_implements(kind).map_err(unsupported)?;
    affordable(case.topology.nodes()).map_err(unsupported)?;
    let tasks = job.workload.tasks(&case.topology, case.seed).map_err(unsupported)?;
    let has_several = job.workload.has_unequal_communicators(&case.topology);
    let mut whole: Option<PlannedJob> = None;
    for task in tasks {
        let task = Task { proof_scope: case.options.proof_scope, ..task };
        let inputs = PlanInputs::of(&job.workload, &case.machine, task.sizes.as_deref());
        if let Some(all) = task.communicators.as_ref().filter(|_| has_several) {
            let event = ScheduleEvent::Communicators(all);
            observers.iter_mut().for_each(|observer| observer.notify(event));
        }
        let mut list = merged.list(number, job.unit_bytes(), interests);
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut list];
        for observer in observers.iter_mut() {
            listeners.push(&mut **observer);
        }
        let mut planned = checked_plan(&job.algorithm, (&task, inputs), limit, listeners, report);
        if has_several {
            // Only the schedule of one communicator is planned and verified. Those of the others are
            // images of it, so their nodes count as compared with their plans, too.
            planned.compared_on *= task.communicators.as_ref().map_or(1, |all| all.count());
        }
        *requested = planned.requested;
        if !matches!(planned.outcome, Outcome::Verified(_)) {
            return Ok(PlannedJob { planned, unit: job.unit_bytes(), traffic: Vec::new() });
        }
        merged.add(list).map_err(of_fault)?;
        let traffic = match pricing {
            Pricing::Off => Traffic::default(),
            _ if case.machine.bounds_by_links() => Traffic::of(&task),
            _ => Traffic::of_nodes(&task),
        };
        match &mut whole {
            None => {
                let unit = job.unit_bytes();
                whole = Some(PlannedJob { planned, unit, traffic: vec![traffic] });
            }
            Some(whole) => {
                whole.add(planned, job.unit_bytes());
                whole.traffic.push(traffic);
            }
        }
    }
    whole.ok_or_else(|| unsupported(format!("`{}` has no communicators", job.workload)))
}

impl PlannedJob {
    /// Adds the outcome of another schedule of the job. Afterwards, all totals are in bytes.
    fn add(&mut self, other: Planned, unit: u64) {
        let (Outcome::Verified(own), Outcome::Verified(added)) =
            (&mut self.planned.outcome, &other.outcome)
        else {
            unreachable!("both schedules are verified");
        };
        let own_unit = std::mem::replace(&mut self.unit, 1);
        let (before, added) = (in_bytes(own, own_unit), in_bytes(added, unit));
        *own = Totals {
            peak_load: before.peak_load.max(added.peak_load),
            send_buffer: before.send_buffer.max(added.send_buffer),
            receive_buffer: before.receive_buffer.max(added.receive_buffer),
            verified_on: before.verified_on + added.verified_on,
            ..before
        };
        self.planned.compared_on += other.compared_on;
        self.planned.departs |= other.departs;
        for note in other.notes {
            if !self.planned.notes.contains(&note) {
                self.planned.notes.push(note);
            }
        }
    }
}

/// Converts those totals to bytes that depend on the data that nodes hold.
fn in_bytes(totals: &Totals, unit: u64) -> Totals {
    let bytes = unit.div_ceil(totals.segments.max(1));
    Totals {
        peak_load: totals.peak_load.saturating_mul(bytes),
        send_buffer: totals.send_buffer.saturating_mul(bytes.into()),
        receive_buffer: totals.receive_buffer.saturating_mul(bytes.into()),
        segments: 1,
        ..*totals
    }
}

fn has_several(job: &Result<PlannedJob, Refusal>) -> bool {
    job.as_ref().is_ok_and(|job| job.traffic.len() > 1)
}

/// If a job has several schedules, sets its totals to those of the merged schedule, except the
/// totals of the data that nodes hold.
fn set_totals(job: &mut Result<PlannedJob, Refusal>, merged: Totals) {
    let Ok(PlannedJob { planned, .. }) = job else { return };
    if let Outcome::Verified(totals) = &mut planned.outcome {
        *totals = Totals {
            proof: totals.proof,
            peak_load: totals.peak_load,
            send_buffer: totals.send_buffer,
            receive_buffer: totals.receive_buffer,
            verified_on: totals.verified_on,
            ..merged
        };
    }
}

/// A listener that ignores all events. It is used if only the totals of a schedule are needed.
struct Unheard;

impl Listener for Unheard {
    fn interests(&self) -> Interests {
        Interests::FACTS
    }

    fn notify(&mut self, _: ScheduleEvent<'_>) {}
}
