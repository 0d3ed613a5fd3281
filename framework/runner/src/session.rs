//! Runs cases that share a schedule, which is planned once. Each case has an evaluator, which
//! calculates its time.

use crate::case::{Case, SelectedAlgorithm};
use crate::defect;
use crate::event::CaseEvent;
use crate::group_clock::{GroupClock, PlanLimit};
use crate::host::{Outcome, PlanInputs, Planned, Requested, plan};
use crate::process::state::FloatingPoint;
use case_evaluator::{CaseEvaluator, SharedPlan, State};
use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use swapmeet_core::cost::alone::{Alone, WithAlone};
use swapmeet_core::cost::bound::{Bound, Traffic};
use swapmeet_core::cost::kind::Times;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::model::{Cost, Evaluator, PricingContext};
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::simulation::listener::{Detail, Listener};
use swapmeet_core::simulation::step::Totals;
use swapmeet_core::simulation::{self, ProofScope, Task};
use swapmeet_results::{MOST_US, Record, Status, Verified};
use swapmeet_workloads::Workload;

mod case_evaluator;
mod merged;

/// Whether and how the cases of a schedule are priced. To price a case means to calculate its time
/// on its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pricing {
    /// Cases are not priced. They have no bounds, and their only time is a total of 0, because
    /// verified rows must have a total.
    Off,
    Together,
    /// Like `Together`. However, a case whose pricing is very slow is planned again later and
    /// priced alone.
    SlowApart,
}

/// Returns the rows of cases that share a schedule. The `observers` are notified of all steps.
pub fn run_group(group: &[Case], observers: &mut [&mut dyn Listener]) -> Vec<Record> {
    let mut records: Vec<Option<Record>> = vec![None; group.len()];
    report_group(group, Pricing::Together, observers, &mut |event| {
        if let CaseEvent::Finished { case, record } = event {
            records[case] = Some(*record);
        }
    });
    records.into_iter().flatten().collect()
}

/// Runs cases that share a schedule. Reports each row as soon as it is available, lines that the
/// plugin logs, and progress. Returns the values that the plugin requested during the last plan.
pub fn report_group(
    group: &[Case],
    pricing: Pricing,
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(CaseEvent),
) -> Requested {
    report_with(group, (pricing, &evaluator_of), observers, report)
}

type Evaluators<'a> = (Pricing, &'a dyn Fn(&Case) -> Box<dyn Evaluator>);

fn report_with(
    group: &[Case],
    evaluators: Evaluators<'_>,
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(CaseEvent),
) -> Requested {
    let mut requested = Requested::default();
    // A plan is valid only for those cases for which the requested values, such as the block size,
    // are equal. The other cases stay in `open` and are planned again. Cases that must not share a
    // plan come last: slow cases, and all cases of a plan in which an assertion failed, because it
    // is not known which of them caused the failure.
    let mut open: Vec<usize> = (0..group.len()).collect();
    let mut alone = VecDeque::new();
    loop {
        let cases: Vec<usize> = match open[..] {
            [] => alone.pop_front().into_iter().collect(),
            _ => open.clone(),
        };
        let Some(&first) = cases.first() else { return requested };
        report(CaseEvent::Progress { case: first, steps: 0, messages: 0 });
        let mut ended = BTreeSet::new();
        let planned = defect::catch(|| {
            plan_and_price(group, &cases, evaluators, observers, &mut |event| {
                if let CaseEvent::Finished { case, .. } = &event {
                    ended.insert(*case);
                }
                report(event);
            })
        });
        open.retain(|case| !ended.contains(case));
        match planned {
            Ok(plan) => {
                requested = plan.requested;
                open.retain(|case| !plan.slow.contains(case));
                alone.extend(plan.slow);
            }
            Err(defect) if cases.len() == 1 => {
                open.clear();
                if !ended.contains(&first) {
                    report(refused(group, first, Status::Error, &defect));
                }
            }
            Err(_) => alone.extend(open.drain(..)),
        }
    }
}

#[derive(Default)]
struct PlanResult {
    requested: Requested,
    slow: BTreeSet<usize>,
}

fn refused(group: &[Case], case: usize, status: Status, reason: &str) -> CaseEvent {
    let mut record = group[case].blank_row();
    refuse(&mut record, status, reason);
    CaseEvent::Finished { case, record: Box::new(record) }
}

/// Plans the first case, and reports the rows of all cases for which the plan is valid.
fn plan_and_price(
    group: &[Case],
    cases: &[usize],
    (pricing, evaluator): Evaluators<'_>,
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(CaseEvent),
) -> PlanResult {
    let first = &group[cases[0]];
    if first.is_merged() {
        return merged::plan_and_price(group, cases, pricing, observers, report);
    }
    let task = match task(first) {
        Ok(task) => task,
        Err(reason) => {
            report(refused(group, cases[0], Status::Unsupported, &reason));
            return PlanResult::default();
        }
    };
    // Some models need the sends of all nodes. Their cases are planned apart from the other cases.
    let mut pending: Vec<(usize, Option<Box<dyn Evaluator>>)> = cases
        .iter()
        .map(|i| (*i, (pricing != Pricing::Off).then(|| evaluator(&group[*i]))))
        .collect();
    let reads_all = |e: &Option<Box<dyn Evaluator>>| {
        e.as_ref().is_some_and(|e| e.interests().detail == Detail::AllNodes)
    };
    let all_nodes = reads_all(&pending[0].1);
    pending.retain(|(_, e)| reads_all(e) == all_nodes);
    let shared = SharedPlan {
        clock: GroupClock::start(),
        limit: first.options.timeout,
        sets_aside: pricing == Pricing::SlowApart,
        listening: Cell::new(pending.len()),
    };
    let mut pending: Vec<(usize, Option<CaseEvaluator<'_>>)> =
        pending.into_iter().map(|(i, e)| (i, e.map(|e| CaseEvaluator::new(e, &shared)))).collect();
    let inputs = |case: &Case| PlanInputs::of(&case.workload, &case.machine, task.sizes.as_deref());
    let limit = first.options.timeout.map(|limit| PlanLimit { clock: shared.clock.clone(), limit });
    let mut listeners: Vec<&mut dyn Listener> = Vec::new();
    for observer in observers.iter_mut() {
        listeners.push(&mut **observer);
    }
    for evaluator in pending.iter_mut().filter_map(|(_, evaluator)| evaluator.as_mut()) {
        listeners.push(evaluator);
    }
    let planned =
        checked_plan(&first.algorithm, (&task, inputs(first)), limit.as_ref(), listeners, report);
    let planning = shared.clock.planning();
    // The plan is valid only for cases whose requested values equal those of the first case.
    let (given, verified) = (inputs(first), matches!(planned.outcome, Outcome::Verified(_)));
    let mut result = PlanResult { requested: planned.requested, slow: BTreeSet::new() };
    pending.retain(|(case, evaluator)| {
        let is_slow = verified && evaluator.as_ref().is_some_and(|e| e.state == State::SetAside);
        if is_slow {
            result.slow.insert(*case);
        }
        !is_slow && planned.requested.same_plan(given, inputs(&group[*case]))
    });
    let bounds_by_links = || pending.iter().any(|(case, _)| group[*case].machine.bounds_by_links());
    let traffic = match pricing {
        Pricing::Together | Pricing::SlowApart if verified && bounds_by_links() => {
            Traffic::of(&task)
        }
        Pricing::Together | Pricing::SlowApart if verified => Traffic::of_nodes(&task),
        Pricing::Off | Pricing::Together | Pricing::SlowApart => Traffic::default(),
    };
    // The pending cases are priced in turns, and the time of a turn doubles each time. So quick
    // cases end early.
    let share = planning / pending.len().max(1) as u32;
    let mut turn = Duration::from_millis(100);
    while !pending.is_empty() {
        pending.retain_mut(|(case, evaluator)| {
            let mut evaluator = evaluator.as_mut().filter(|_| verified);
            if evaluator.as_ref().is_some_and(|e| e.can_pause) {
                report(CaseEvent::Progress { case: cases[0], steps: 0, messages: 0 });
            }
            let is_done = evaluator.as_mut().is_none_or(|e| e.advance(turn));
            if is_done {
                let of = &group[*case];
                let priced = evaluator.map(|e| (e.spent, cost_of(e, of)));
                let times = (planning, share);
                let record = row(of, (&planned, of.unit_bytes()), times, &[traffic], priced);
                report(CaseEvent::Finished { case: *case, record: Box::new(record) });
            }
            !is_done
        });
        turn = turn.saturating_mul(2);
    }
    result
}

/// Lets an algorithm plan a task. If the plugin changes the floating-point settings, they are
/// restored and the plan counts as failed.
fn checked_plan<'a>(
    SelectedAlgorithm { algorithm, params, .. }: &SelectedAlgorithm,
    (task, inputs): (&'a Task, PlanInputs),
    limit: Option<&PlanLimit>,
    listeners: Vec<&'a mut dyn Listener>,
    report: &mut dyn FnMut(CaseEvent),
) -> Planned {
    let rounding = FloatingPoint::now();
    let mut planned = plan(algorithm, params, task, inputs, limit, listeners);
    if FloatingPoint::now() != rounding {
        rounding.restore();
        let why = "the plugin changed the floating-point environment, on which every value depends";
        planned.outcome = Outcome::Failed(why.to_owned());
    }
    planned.log.iter().for_each(|line| report(CaseEvent::Log { line: bounded(line) }));
    planned
}

fn task(case: &Case) -> Result<Task, String> {
    case.algorithm.algorithm.check_implements(case.workload.collective())?;
    affordable(case, case.topology.nodes())?;
    let task = case.workload.task(&case.topology, case.seed)?;
    Ok(Task { proof_scope: case.options.proof_scope, ..task })
}

/// The cost of a case. If the case cannot be priced, its status and the reason.
type CostOrRefusal = Result<Cost, (Status, String)>;

/// Returns the row of a case. If it is verified but not priced, its `time_us` is 0 and the parts of
/// the time are empty. The loads in `planned` are in units of `unit` bytes. The two durations are
/// the planning time of the whole plan, and the share of this time that is attributed to the case.
/// `traffic` has the traffic of each task, in units of load of the workload.
fn row(
    case: &Case,
    (planned, unit): (&Planned, u64),
    (planning, share): (Duration, Duration),
    traffic: &[Traffic],
    priced: Option<(Duration, CostOrRefusal)>,
) -> Record {
    let ms = |time: Duration| Some(time.as_secs_f64() * 1e3);
    let mut record = case.blank_row();
    fill(&mut record, case, planned, unit);
    let spent = priced.as_ref().map_or(Duration::ZERO, |(spent, _)| *spent);
    (record.plan_ms, record.wall_ms) = (ms(planning), ms(share + spent));
    match priced {
        _ if record.status != Status::Ok => {}
        None => record.time_us = Some(0.0),
        Some((_, cost)) => {
            let priced = cost.and_then(|cost| price(&mut record, case, traffic, cost));
            if let Err((status, reason)) = priced {
                let times = (record.plan_ms, record.wall_ms);
                record = case.blank_row();
                (record.plan_ms, record.wall_ms) = times;
                refuse(&mut record, status, &reason);
            }
        }
    }
    add_notes_of_plugin(&mut record, &planned.notes);
    record
}

/// Returns the evaluator of a case. If several communicators run the collective, also evaluates one
/// communicator alone.
fn evaluator_of(case: &Case) -> Box<dyn Evaluator> {
    let evaluator = || case.machine.evaluator(pricing_context(case));
    match case.workload.communicators(&case.topology) {
        Ok(Some(all)) if all.count() > 1 => {
            let first = all.all().next().unwrap_or_default();
            let alone = Alone::new(evaluator(), all.network(), first);
            Box::new(WithAlone::new(evaluator(), alone))
        }
        Ok(_) | Err(_) => evaluator(),
    }
}

pub fn pricing_context(case: &Case) -> PricingContext<'_> {
    // Loads of merged schedules are in bytes.
    let is_merged = case.is_merged();
    let unit_bytes = if is_merged { 1 } else { case.unit_bytes() };
    let context = PricingContext::new(&case.topology, unit_bytes as f64);
    PricingContext {
        seed: case.seed,
        counted: case.workload.counts_blocks() && !is_merged,
        exchanges: case.workload.collective().exchanges(),
        ..context
    }
}

/// Returns the time of each kind in µs that was added since the last call. `charged` stores the
/// totals of the last call.
pub fn newly_charged(evaluator: &dyn Evaluator, charged: &mut Times) -> Option<Times> {
    let now = evaluator.parts_so_far()?.map(|part| part.unwrap_or(0.0));
    Some(now.zip(std::mem::replace(charged, now), newly))
}

/// Returns the difference of two totals. If it may be a rounding error, returns 0.
fn newly(now: f64, before: f64) -> f64 {
    const ROUNDING: f64 = 64.0 * f64::EPSILON;
    let difference = now - before;
    if difference.abs() <= ROUNDING * now.abs() { 0.0 } else { difference }
}

impl PlanInputs {
    /// `sizes` are the sizes of blocks, or `None` if the simulation counts blocks.
    fn of(workload: &Workload, machine: &Machine, sizes: Option<&dyn BlockSizes>) -> Self {
        Self {
            block_bytes: sizes.map_or(workload.block_bytes(), |sizes| sizes.largest()),
            ports: machine.planning().ports().count(),
            virtual_channels: machine.planning().virtual_channels(),
            element_bytes: workload.element_bytes(),
            startup_us: machine.message_us(),
            hop_us: machine.number("hop_us").unwrap_or_default(),
            byte_us: machine.number("byte_us").unwrap_or_default(),
            shares_routes: machine.shares_routes(),
        }
    }
}

fn affordable(case: &Case, nodes: u64) -> Result<(), String> {
    let may_be_symmetric =
        case.options.proof_scope == ProofScope::Auto && case.workload.is_uniform();
    if may_be_symmetric && case.machine.detail() < Detail::AllNodes {
        return Ok(());
    }
    simulation::affordable(nodes)
}

/// Sets the columns that the plan determines. The loads in `planned` are in units of `unit` bytes.
fn fill(record: &mut Record, case: &Case, planned: &Planned, unit: u64) {
    let totals = match &planned.outcome {
        Outcome::Verified(totals) => totals,
        Outcome::Unsupported(reason) => {
            let reason = match case.workload.communicators(&case.topology) {
                Ok(Some(all)) => {
                    format!("{reason} (each communicator is planned on `{}`)", all.view().spec())
                }
                Ok(None) | Err(_) => reason.clone(),
            };
            return refuse(record, Status::Unsupported, &reason);
        }
        Outcome::Invalid(fault) => return refuse(record, Status::Invalid, &fault.to_string()),
        Outcome::TimedOut(reason) => return refuse(record, Status::Timeout, reason),
        Outcome::Failed(reason) | Outcome::HostPanicked(reason) => {
            return refuse(record, Status::Error, reason);
        }
    };
    record.status = Status::Ok;
    record.verified = match totals.proof {
        Proof::Blocks => Verified::Blocks,
        Proof::ByteCounts => Verified::Amounts,
        Proof::Contributions => Verified::Contributions,
    };
    set_totals(record, totals, unit);
    record.compared_on = Some(planned.compared_on);
    if let Ok(Some(all)) = case.workload.communicators(&case.topology) {
        // The schedules of the other communicators are images of the verified one, so their nodes
        // count as compared.
        record.compared_on = Some(planned.compared_on * all.count());
    }
    if let Ok(all) = case.workload.all_communicators(&case.topology)
        && let Some(members) = all.iter().map(|all| all.size()).max()
    {
        record.communicators = Some(all.iter().map(|all| all.count()).sum());
        record.members = Some(members);
    }
    record.note = if planned.departs { OWN_ROUTES.to_owned() } else { String::new() };
    if case.topology.random_routing().is_some() {
        // With random routing, these values would depend on one random choice of routes.
        (record.critical_hops, record.total_hop_bytes) = (None, None);
        (record.max_link_messages, record.sum_link_messages) = (None, None);
    }
}

fn cost_of(evaluator: &mut CaseEvaluator<'_>, case: &Case) -> CostOrRefusal {
    match &evaluator.state {
        State::TimedOut => {
            return Err((Status::Timeout, evaluator.timeout_message(case.machine.model)));
        }
        State::Failed(defect) => return Err((Status::Error, defect.clone())),
        State::Listening | State::SetAside => {}
    }
    let cost = defect::catch(|| evaluator.evaluator().cost());
    let cost = cost.map_err(|defect| (Status::Error, defect))?;
    cost.map_err(|reason| (Status::Unsupported, reason))
}

/// Sets the times and the lower bound of a verified schedule, or returns why it cannot be priced.
fn price(
    record: &mut Record,
    case: &Case,
    traffic: &[Traffic],
    cost: Cost,
) -> Result<(), (Status, String)> {
    // A lower bound for some of the communicators is also a lower bound for all of them together.
    let bound = defect::catch(|| {
        let bounds = traffic.iter().map(|traffic| {
            let bytes = traffic.in_bytes(case.unit_bytes() as f64);
            case.machine.lower_bound(case.topology.as_ref(), &bytes)
        });
        bounds.reduce(Bound::max).unwrap_or_default()
    });
    let bound = bound.map_err(|defect| (Status::Error, defect))?;
    let Cost { parts, note, rounds, ranks, alone_us, protocol, jobs: _ } = cost;
    record.set_parts(&parts).map_err(|error| (Status::Error, error.to_string()))?;
    if record.time_us.is_some_and(|time| time > MOST_US) {
        return Err((Status::Unsupported, format!("its time is longer than {MOST_US:e} µs")));
    }
    let not_compared = (record.compared_on == Some(0)).then(|| NOT_COMPARED.to_owned());
    let of_host = Some(std::mem::take(&mut record.note)).filter(|note| !note.is_empty());
    record.note =
        note.into_iter().chain(of_host).chain(not_compared).collect::<Vec<_>>().join("; ");
    record.lower_bound_us = Some(bound.total_us());
    record.bound_kind = bound.kind.to_string();
    record.rounds = rounds;
    record.first_rank_us = ranks.map(|ranks| ranks.first);
    record.mean_rank_us = ranks.map(|ranks| ranks.mean);
    if record.communicators.is_some() && case.companions.is_empty() {
        record.alone_us = alone_us.or(record.time_us);
    }
    record.protocol = protocol.unwrap_or_default();
    if let Some((column, expected)) = record.as_written().contradiction() {
        let value = record.field(column).unwrap_or_default();
        let reason = format!(
            "swapmeet itself failed, please report it: {column} is {value}, expected {expected} ({})",
            record.lower_bound_us.unwrap_or_default()
        );
        return Err((Status::Error, reason));
    }
    Ok(())
}

const NOT_COMPARED: &str = "the claim of symmetry was not compared with what other nodes plan (`--proof full` plans all nodes)";

const OWN_ROUTES: &str =
    "messages take routes that the schedule requests, not those of the network";

/// Adds the plugin's notes to the row, after the word `plugin`, which distinguishes them from the
/// host's notes.
fn add_notes_of_plugin(record: &mut Record, notes: &[String]) {
    if record.status == Status::Ok && !notes.is_empty() {
        let of_host = std::mem::take(&mut record.note);
        let separator = if of_host.is_empty() { "" } else { "; " };
        record.note = format!("{of_host}{separator}plugin: {}", bounded(&notes.join("; ")));
    }
}

pub(crate) fn refuse(record: &mut Record, status: Status, reason: &str) {
    record.status = status;
    record.reason = bounded(reason);
}

fn bounded(text: &str) -> String {
    const MOST: usize = 4000;
    const MARK: &str = " .. (cut off here)";
    let cut = |most: usize| text.char_indices().nth(most).map(|(at, _)| &text[..at]);
    match cut(MOST).and(cut(MOST - MARK.len())) {
        Some(kept) => format!("{kept}{MARK}"),
        None => text.to_owned(),
    }
}

fn set_totals(record: &mut Record, totals: &Totals, unit: u64) {
    // If a sum over more than 2^24 steps exceeds 128 bits, the column stays empty.
    let bytes = |load: u128| load.checked_mul(unit.div_ceil(totals.segments.max(1)).into());
    record.steps = Some(totals.steps);
    record.messages = Some(totals.messages);
    record.critical_bytes = bytes(totals.critical_load);
    record.critical_hops = Some(totals.critical_hops);
    record.total_bytes = bytes(totals.total_load);
    record.total_hop_bytes = bytes(totals.load_hops);
    record.max_link_messages = Some(totals.max_link_messages);
    record.sum_link_messages = Some(totals.sum_link_messages);
    record.max_sends = Some(totals.max_sends);
    record.max_receives = Some(totals.max_receives);
    record.peak_node_bytes = bytes(totals.peak_load.into());
    record.send_buffer_bytes = bytes(totals.send_buffer);
    record.receive_buffer_bytes = bytes(totals.receive_buffer);
    record.rearrangements = Some(totals.rearrangements);
    record.proved_on = Some(totals.verified_on);
}

#[cfg(test)]
mod assertion_tests;

#[cfg(test)]
mod tests {
    use super::*;

    /// An earlier version printed 1.421e-14 µs for a step without contention.
    #[test]
    fn an_unchanged_total_gives_no_time() {
        let before = 100.1 + 0.2;
        let now = before + f64::EPSILON * 64.0;
        assert!(now > before);
        assert_eq!([newly(now, before), newly(before, now)], [0.0, 0.0]);
        assert_eq!(newly(100.5, 100.0), 0.5);
        assert_eq!(newly(1e-9, 0.0), 1e-9);
    }

    #[test]
    fn a_long_reason_is_shortened() {
        let as_is = "é".repeat(4000);
        assert_eq!(bounded(&as_is), as_is);
        let cut = bounded(&(as_is + "e"));
        assert_eq!(cut.chars().count(), 4000);
        assert!(cut.ends_with("éé .. (cut off here)"));
    }
}
