//! Runs cases that share a schedule. The schedule is planned once for all cases, and each case has
//! an evaluator, which calculates its time.

use crate::case::Case;
use crate::defect;
use crate::group_clock::{GroupClock, PlanLimit};
use crate::host::{Outcome, PlanInputs, Planned, Requested, plan};
use crate::process::state::FloatingPoint;
use case_evaluator::{CaseEvaluator, Group, State};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use swapmeet_core::cost::bound::Traffic;
use swapmeet_core::cost::kind::Times;
use swapmeet_core::cost::model::{Cost, Evaluator, PricingContext};
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::simulation::listener::{Detail, Listener};
use swapmeet_core::simulation::step::Totals;
use swapmeet_core::simulation::{self, ProofScope, Task};
use swapmeet_results::{MOST_US, Record, Status, Verified};

mod case_evaluator;

/// The time at which cases that share a schedule are priced. Pricing a case means to calculate its
/// time on its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pricing {
    /// Cases are not priced, and their rows have neither bounds nor times. An exception is the
    /// total time, which is 0, because every verified row must have a total time.
    Off,
    /// All cases are priced while the schedule is planned.
    Together,
    /// Cases are priced while the schedule is planned, except cases whose pricing takes far longer
    /// than that of all other cases together. These cases are planned and priced again afterwards.
    SlowApart,
}

/// An event of a group of cases while they run.
#[derive(Debug)]
pub enum GroupEvent {
    /// The plugin is about to plan the schedule.
    Planning,
    /// The plugin has finished the plan, during which it has requested these values.
    Planned(Requested),
    /// Pricing a case has taken this time, in addition to the times that earlier events of this
    /// type have reported.
    Priced(Duration),
    /// The row of a case, with its index in the group.
    Row(usize, Box<Record>),
    /// A line logged by the plugin.
    Log(String),
}

/// Runs cases that share a schedule and returns their rows in the order of the cases. `observers`
/// receive all steps of the schedule.
pub fn run_group(group: &[Case], observers: &mut [&mut dyn Listener]) -> Vec<Record> {
    let mut records: Vec<Option<Record>> = vec![None; group.len()];
    report_group(group, Pricing::Together, observers, &mut |event| {
        if let GroupEvent::Row(index, record) = event {
            records[index] = Some(*record);
        }
    });
    records.into_iter().flatten().collect()
}

/// Runs cases that share a schedule and reports each row as soon as it is available.
pub fn report_group(
    group: &[Case],
    pricing: Pricing,
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(GroupEvent),
) {
    let evaluator = |case: &Case| case.machine.evaluator(pricing_context(case));
    report_with(group, pricing, &evaluator, observers, report);
}

/// A function that creates the evaluator of a case.
type CreateEvaluator<'a> = &'a dyn Fn(&Case) -> Box<dyn Evaluator>;

/// Runs cases as [`report_group`] does.
fn report_with(
    group: &[Case],
    pricing: Pricing,
    evaluator: CreateEvaluator<'_>,
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(GroupEvent),
) {
    let mut open: Vec<usize> = (0..group.len()).collect();
    // A plan for which the plugin requested values, such as the block size, is valid only for cases
    // with the same values. The remaining cases are planned again. Cases that were set aside
    // because their pricing is slow come last.
    let mut later = Vec::new();
    while !open.is_empty() {
        report(GroupEvent::Planning);
        let mut reported = Vec::new();
        let ended = defect::catch(|| {
            plan_and_price(group, &open, (pricing, evaluator), observers, &mut |event| {
                if let GroupEvent::Row(case, _) = &event {
                    reported.push(*case);
                }
                report(event);
            })
        });
        let ended = ended.unwrap_or_else(|defect| {
            open.retain(|case| !reported.contains(case));
            // A single case is responsible for the failed assertion. If there are several cases,
            // run them one by one, so that the others get their rows.
            if let [case] = open[..] {
                let mut record = group[case].blank_row();
                refuse(&mut record, Status::Error, &defect);
                report(GroupEvent::Row(case, Box::new(record)));
            } else {
                for case in open.iter().copied() {
                    let alone = &group[case..=case];
                    report_with(alone, pricing, evaluator, observers, &mut |event| {
                        report(match event {
                            GroupEvent::Row(_, record) => GroupEvent::Row(case, record),
                            other => other,
                        });
                    });
                }
            }
            Ended { rows: open.clone(), ..Ended::default() }
        });
        open.retain(|case| !ended.rows.contains(case) && !ended.set_aside.contains(case));
        later.extend(ended.set_aside);
        if open.is_empty() {
            open = std::mem::take(&mut later);
        }
    }
}

/// The result of one plan for the pending cases of a group.
#[derive(Default)]
struct Ended {
    /// The indices of the cases that now have a row.
    rows: Vec<usize>,
    /// The indices of the cases that must be planned again later, because their pricing is slow.
    set_aside: Vec<usize>,
}

/// Plans the first pending case and prices all pending cases for which the plan is valid.
fn plan_and_price(
    group: &[Case],
    open: &[usize],
    (pricing, evaluator): (Pricing, CreateEvaluator<'_>),
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(GroupEvent),
) -> Ended {
    let first = &group[open[0]];
    let nodes = first.topology.nodes();
    let task = match first
        .algorithm
        .algorithm
        .check_implements(first.workload.collective())
        .and_then(|()| affordable(first, nodes))
        .and_then(|()| first.workload.task(&first.topology, first.seed))
    {
        Ok(task) => Task { proof_scope: first.options.proof_scope, ..task },
        Err(reason) => {
            let mut record = first.blank_row();
            refuse(&mut record, Status::Unsupported, &reason);
            report(GroupEvent::Row(open[0], Box::new(record)));
            return Ended { rows: vec![open[0]], ..Ended::default() };
        }
    };
    // A model that needs the sends of all nodes requires full planning. The row of a case must not
    // depend on the other cases of its group. Cases with such models are therefore planned
    // separately from the other cases.
    let evaluators = open
        .iter()
        .map(|i| {
            let evaluator = (pricing != Pricing::Off).then(|| evaluator(&group[*i]));
            (*i, evaluator)
        })
        .collect::<Vec<_>>();
    let reads_all = |e: &Option<Box<dyn Evaluator>>| {
        e.as_ref().is_some_and(|e| e.interests().detail == Detail::AllNodes)
    };
    let all_nodes = reads_all(&evaluators[0].1);
    let shared = Group {
        clock: GroupClock::start(),
        limit: first.options.timeout,
        sets_aside: pricing == Pricing::SlowApart,
        listening: Cell::new(0),
        report: RefCell::new(report),
    };
    let report = |event| (shared.report.borrow_mut())(event);
    let (open, mut evaluators): (Vec<usize>, Vec<Option<CaseEvaluator<'_>>>) = evaluators
        .into_iter()
        .filter(|(_, e)| reads_all(e) == all_nodes)
        .map(|(i, e)| (i, e.map(|e| CaseEvaluator::new(e, &shared))))
        .unzip();
    // Plan the schedule. Evaluators and observers receive its events.
    let inputs = |case: &Case| PlanInputs::of(case, task.sizes.as_deref());
    let rounding = FloatingPoint::now();
    let limit = first.options.timeout.map(|limit| PlanLimit { clock: shared.clock.clone(), limit });
    let mut planned = {
        let mut listeners: Vec<&mut dyn Listener> = Vec::new();
        for observer in observers.iter_mut() {
            listeners.push(&mut **observer);
        }
        for evaluator in evaluators.iter_mut().flatten() {
            listeners.push(evaluator);
        }
        plan(
            &first.algorithm.algorithm,
            &first.algorithm.params,
            &task,
            inputs(first),
            limit.as_ref(),
            listeners,
        )
    };
    report(GroupEvent::Planned(planned.requested));
    let planning = shared.clock.planning();
    if FloatingPoint::now() != rounding {
        rounding.restore();
        let why = "the plugin changed the floating-point environment, on which every value depends";
        planned.outcome = Outcome::Failed(why.to_owned());
    }
    planned.log.iter().for_each(|line| report(GroupEvent::Log(bounded(line))));
    // The plan is valid for all cases whose requested values equal those of the first case. Set
    // cases with slow evaluators aside.
    let (given, verified) = (inputs(first), matches!(planned.outcome, Outcome::Verified(_)));
    let mut ended = Ended::default();
    let mut pending = Vec::new();
    for (index, evaluator) in open.into_iter().zip(evaluators) {
        if verified && evaluator.as_ref().is_some_and(|e| e.state == State::SetAside) {
            ended.set_aside.push(index);
        } else if planned.requested.same_plan(given, inputs(&group[index])) {
            ended.rows.push(index);
            pending.push((index, evaluator));
        }
    }
    let bounds_by_links =
        || pending.iter().any(|(index, _)| group[*index].machine.bounds_by_links());
    let traffic = match pricing {
        Pricing::Together | Pricing::SlowApart if verified && bounds_by_links() => {
            Traffic::of(&task)
        }
        Pricing::Together | Pricing::SlowApart if verified => Traffic::of_nodes(&task),
        Pricing::Off | Pricing::Together | Pricing::SlowApart => Traffic::default(),
    };
    // Price the pending cases in turns. In a turn, each case gets a limited time, which doubles
    // after each turn. Cases that need little time therefore do not wait for cases that need much
    // time.
    let plan_ms = planning.as_secs_f64() * 1e3;
    let shared_ms = plan_ms / pending.len().max(1) as f64;
    let mut turn = Duration::from_millis(100);
    while !pending.is_empty() {
        pending.retain_mut(|(index, evaluator)| {
            let case = &group[*index];
            let mut record = case.blank_row();
            fill(&mut record, case, &planned);
            record.plan_ms = Some(plan_ms);
            record.wall_ms = Some(shared_ms);
            if pricing == Pricing::Off && verified {
                record.time_us = Some(0.0);
            }
            if let Some(evaluator) = evaluator.as_mut().filter(|_| verified) {
                if !evaluator.advance(turn) {
                    return true;
                }
                if let Err((status, reason)) = price(&mut record, case, traffic, evaluator) {
                    record = Record { plan_ms: record.plan_ms, ..case.blank_row() };
                    refuse(&mut record, status, &reason);
                }
                record.wall_ms = Some(shared_ms + evaluator.spent.as_secs_f64() * 1e3);
            }
            add_notes_of_plugin(&mut record, &planned.notes);
            report(GroupEvent::Row(*index, Box::new(record)));
            false
        });
        turn = turn.saturating_mul(2);
    }
    ended
}

/// Returns the properties of a case that its evaluator needs to calculate times.
pub fn pricing_context(case: &Case) -> PricingContext<'_> {
    let context = PricingContext::new(&case.topology, case.unit_bytes() as f64);
    PricingContext {
        seed: case.seed,
        counted: case.workload.counts_blocks(),
        exchanges: case.workload.collective().exchanges(),
        ..context
    }
}

/// Returns the simulated time of each kind since the last call in µs; `None` if the model has no
/// times for single steps. `charged` stores the times at the last call.
pub fn newly_charged(evaluator: &dyn Evaluator, charged: &mut Times) -> Option<Times> {
    let now = evaluator.parts_so_far()?.map(|part| part.unwrap_or(0.0));
    Some(now.zip(std::mem::replace(charged, now), |now, before| now - before))
}

impl PlanInputs {
    /// Returns the values that a plugin may request for a case. `sizes` are the sizes of its
    /// blocks, or `None` if the simulation counts blocks instead of bytes.
    fn of(case: &Case, sizes: Option<&dyn BlockSizes>) -> Self {
        Self {
            block_bytes: sizes.map_or(case.workload.block_bytes(), |sizes| sizes.largest()),
            ports: case.machine.planning().ports().count(),
            virtual_channels: case.machine.planning().virtual_channels(),
            element_bytes: case.workload.element_bytes(),
            startup_us: case.machine.number("startup_us").unwrap_or_default(),
            hop_us: case.machine.number("hop_us").unwrap_or_default(),
            byte_us: case.machine.number("byte_us").unwrap_or_default(),
        }
    }
}

/// Returns whether a plan of case `a`, for which the plugin made these requests, is also valid for
/// case `b`. The two cases must be equal in all values that the plugin cannot request, such as the
/// topology, the algorithm and the collective.
pub fn share_plan(requested: Requested, a: &Case, b: &Case) -> bool {
    // With `None`, the block sizes of the two workloads are compared. Both are 0 if sizes differ
    // between pairs of nodes. The two cases then have the same workload and therefore the same
    // sizes, because only the size of uniform blocks can be changed.
    requested.same_plan(PlanInputs::of(a, None), PlanInputs::of(b, None))
}

/// Checks that the number of nodes is not too large for full planning, if the case certainly needs
/// full planning.
fn affordable(case: &Case, nodes: u64) -> Result<(), String> {
    let may_be_symmetric =
        case.options.proof_scope == ProofScope::Auto && case.workload.is_uniform();
    if may_be_symmetric && case.machine.detail() < Detail::AllNodes {
        return Ok(());
    }
    simulation::affordable(nodes)
}

/// Fills in those columns of the row that the plan determines.
fn fill(record: &mut Record, case: &Case, planned: &Planned) {
    let totals = match &planned.outcome {
        Outcome::Verified(totals) => totals,
        Outcome::Unsupported(reason) => return refuse(record, Status::Unsupported, reason),
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
    set_totals(record, totals, case.unit_bytes());
    record.compared_on = Some(planned.compared_on);
    record.note = if planned.departs { OWN_ROUTES.to_owned() } else { String::new() };
    if case.topology.random_routing().is_some() {
        // With random routing, values about links would depend on one random choice of routes, so
        // these columns stay empty.
        (record.critical_hops, record.total_hop_bytes) = (None, None);
        (record.max_link_messages, record.sum_link_messages) = (None, None);
    }
}

/// Sets the times and the lower bound of a verified schedule in its row. If the case cannot be
/// priced, returns the status and the reason.
fn price(
    record: &mut Record,
    case: &Case,
    traffic: Traffic,
    evaluator: &mut CaseEvaluator<'_>,
) -> Result<(), (Status, String)> {
    match &evaluator.state {
        State::TimedOut => {
            return Err((Status::Timeout, evaluator.timeout_message(case.machine.model)));
        }
        State::Failed(defect) => return Err((Status::Error, defect.clone())),
        State::Listening | State::SetAside => {}
    }
    let priced = defect::catch(|| {
        let cost = evaluator.evaluator().cost().map_err(|reason| (Status::Unsupported, reason))?;
        let bytes = traffic.in_bytes(case.unit_bytes() as f64);
        Ok((cost, case.machine.lower_bound(case.topology.as_ref(), &bytes)))
    });
    let (Cost { parts, note, ranks }, bound) =
        priced.unwrap_or_else(|defect| Err((Status::Error, defect)))?;
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
    record.first_rank_us = ranks.map(|ranks| ranks.first);
    record.mean_rank_us = ranks.map(|ranks| ranks.mean);
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

/// The note in the row of a schedule whose claimed symmetry was not compared with plans of other
/// nodes.
const NOT_COMPARED: &str = "the claim of symmetry was not compared with what other nodes plan (`--proof full` plans all nodes)";

/// The note in the row of a schedule that chooses paths, such as other dimension orders on a network
/// that routes by dimension order.
const OWN_ROUTES: &str =
    "messages take routes that the schedule requests, not those of the network";

/// Adds the notes of the plugin to those of the host. Everything after the word `plugin` is a text of
/// the plugin, so a plugin cannot write a note that looks like one of the host.
fn add_notes_of_plugin(record: &mut Record, notes: &[String]) {
    if record.status == Status::Ok && !notes.is_empty() {
        let of_host = std::mem::take(&mut record.note);
        let separator = if of_host.is_empty() { "" } else { "; " };
        record.note = format!("{of_host}{separator}plugin: {}", bounded(&notes.join("; ")));
    }
}

/// Sets the status and the reason in the row of a case that was not run to its end.
pub(crate) fn refuse(record: &mut Record, status: Status, reason: &str) {
    record.status = status;
    record.reason = bounded(reason);
}

/// Limits the length of a text that a plugin may have supplied.
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
    // Convert a load to bytes. The column stays empty if this product overflows 128 bits, which
    // does not happen in practice. If loads are counted in bytes, `unit` is 1. If they are counted
    // in blocks, both factors have at most 64 bits, unless a load is the sum over more than 2^24
    // steps.
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
mod defects;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_shortened() {
        let as_is = "é".repeat(4000);
        assert_eq!(bounded(&as_is), as_is);
        let cut = bounded(&(as_is + "e"));
        assert_eq!(cut.chars().count(), 4000);
        assert!(cut.ends_with("éé .. (cut off here)"));
    }
}
