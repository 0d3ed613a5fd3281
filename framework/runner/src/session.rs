//! Runs cases that share a schedule: one plan for all, and one evaluator per case.

use crate::case::Case;
use crate::host::{Outcome, PlanInputs, Planned, Requested, plan};
use crate::process::state::FloatingPoint;
use std::collections::BTreeSet;
use std::time::Instant;
use swapmeet_core::cost::bound::Traffic;
use swapmeet_core::cost::model::{Cost, Evaluator, PricingContext};
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::simulation::listener::{Detail, Listener};
use swapmeet_core::simulation::step::Totals;
use swapmeet_core::simulation::{self, ProofScope, Task};
use swapmeet_results::{Record, Status, Verified};

/// An event while cases run.
#[derive(Debug)]
pub enum GroupEvent {
    /// The plugin is about to plan.
    Planning,
    /// The plugin has planned and has requested these values.
    Planned(Requested),
    /// The row of a case, with its index in the group.
    Row(usize, Box<Record>),
    /// A line logged by the plugin.
    Log(String),
}

/// Runs cases that share a schedule and returns their rows in order. `observers` are notified of
/// all steps, too.
pub fn run_group(group: &[Case], observers: &mut [&mut dyn Listener]) -> Vec<Record> {
    let mut records: Vec<Option<Record>> = vec![None; group.len()];
    report_group(group, observers, &mut |event| {
        if let GroupEvent::Row(index, record) = event {
            records[index] = Some(*record);
        }
    });
    records.into_iter().flatten().collect()
}

/// Runs cases that share a schedule and reports their rows as they become available.
pub fn report_group(
    group: &[Case],
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(GroupEvent),
) {
    let mut open: Vec<usize> = (0..group.len()).collect();
    // A plan that requested values, such as the block size, is valid only for cases with the same
    // values. The others are planned again.
    while !open.is_empty() {
        report(GroupEvent::Planning);
        let started = Instant::now();
        let rows = plan_and_price(group, &open, observers, report);
        let wall_ms = started.elapsed().as_secs_f64() * 1e3 / rows.len().max(1) as f64;
        let done: BTreeSet<usize> = rows.iter().map(|(index, _)| *index).collect();
        open.retain(|case| !done.contains(case));
        for (index, mut record) in rows {
            record.wall_ms = Some(wall_ms);
            report(GroupEvent::Row(index, Box::new(record)));
        }
    }
}

/// Plans the first pending case and prices all pending cases for which the plan is valid.
fn plan_and_price(
    group: &[Case],
    open: &[usize],
    observers: &mut [&mut dyn Listener],
    report: &mut dyn FnMut(GroupEvent),
) -> Vec<(usize, Record)> {
    let first = &group[open[0]];
    let nodes = first.topology.nodes();
    let task = match affordable(first, nodes)
        .and_then(|()| first.workload.task(&first.topology, first.seed))
    {
        Ok(task) => Task { proof_scope: first.options.proof_scope, ..task },
        Err(reason) => {
            let mut record = first.blank_row();
            refuse(&mut record, Status::Unsupported, &reason);
            return vec![(open[0], record)];
        }
    };
    let evaluators = open
        .iter()
        .map(|i| (*i, group[*i].machine.evaluator(pricing_context(&group[*i]))))
        .collect::<Vec<_>>();
    // A model that needs the whole schedule requires full planning. Rows must not depend on the
    // other cases, so such cases are planned separately.
    let all_nodes = evaluators[0].1.interests().detail == Detail::AllNodes;
    let (open, mut evaluators): (Vec<usize>, Vec<Box<dyn Evaluator>>) = evaluators
        .into_iter()
        .filter(|(_, e)| (e.interests().detail == Detail::AllNodes) == all_nodes)
        .unzip();
    let inputs = |case: &Case| PlanInputs::of(case, task.sizes.as_deref());
    let (planning, rounding) = (Instant::now(), FloatingPoint::now());
    let mut planned = {
        let mut listeners: Vec<&mut dyn Listener> = Vec::new();
        for observer in observers.iter_mut() {
            listeners.push(&mut **observer);
        }
        for evaluator in &mut evaluators {
            listeners.push(&mut **evaluator);
        }
        plan(
            &first.algorithm.algorithm,
            &first.algorithm.params,
            &task,
            inputs(first),
            first.options.timeout,
            listeners,
        )
    };
    report(GroupEvent::Planned(planned.requested));
    let plan_ms = planning.elapsed().as_secs_f64() * 1e3;
    if FloatingPoint::now() != rounding {
        rounding.restore();
        let why = "the plugin left another floating-point environment than it found, on which every figure depends";
        planned.outcome = Outcome::Failed(why.to_owned());
    }
    planned.log.iter().for_each(|line| report(GroupEvent::Log(bounded(line))));
    let given = inputs(first);
    let mut records = Vec::new();
    let traffic = match planned.outcome {
        Outcome::Verified(_)
            if open.iter().any(|index| group[*index].machine.bounds_by_links()) =>
        {
            Traffic::of(&task)
        }
        Outcome::Verified(_) => Traffic::of_nodes(&task),
        Outcome::Unsupported(_)
        | Outcome::Invalid(_)
        | Outcome::Failed(_)
        | Outcome::HostPanicked(_)
        | Outcome::TimedOut(_) => Traffic::default(),
    };
    for (index, evaluator) in open.iter().zip(&mut evaluators) {
        let case = &group[*index];
        if !planned.requested.same_plan(given, inputs(case)) {
            continue;
        }
        let mut record = case.blank_row();
        record.plan_ms = Some(plan_ms);
        fill(&mut record, case, traffic, &planned, evaluator.as_mut());
        records.push((*index, record));
    }
    records
}

/// Returns the values that evaluators need.
pub fn pricing_context(case: &Case) -> PricingContext<'_> {
    let context = PricingContext::new(&case.topology, case.unit_bytes() as f64);
    PricingContext { seed: case.seed, counted: case.workload.counts_blocks(), ..context }
}

impl PlanInputs {
    /// Returns the parameters of a case. `sizes` are the sizes of blocks that are not counted.
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

/// Returns whether a plan of case `a` with these requests is also valid for case `b`. The cases
/// must share everything else.
pub fn share_plan(requested: Requested, a: &Case, b: &Case) -> bool {
    // Sizes that differ between pairs are equal in both.
    requested.same_plan(PlanInputs::of(a, None), PlanInputs::of(b, None))
}

/// Checks the number of nodes if full planning is certain.
fn affordable(case: &Case, nodes: u64) -> Result<(), String> {
    let may_be_symmetric =
        case.options.proof_scope == ProofScope::Auto && case.workload.is_uniform();
    if may_be_symmetric && case.machine.detail() < Detail::AllNodes {
        return Ok(());
    }
    simulation::affordable(nodes)
}

fn fill(
    record: &mut Record,
    case: &Case,
    traffic: Traffic,
    planned: &Planned,
    evaluator: &mut dyn Evaluator,
) {
    let totals = match &planned.outcome {
        Outcome::Verified(totals) => totals,
        Outcome::Unsupported(reason) => return refuse(record, Status::Unsupported, reason),
        Outcome::Invalid(fault) => return refuse(record, Status::Invalid, &fault.to_string()),
        Outcome::TimedOut(reason) => return refuse(record, Status::Timeout, reason),
        Outcome::HostPanicked(message) => {
            let reason = format!("swapmeet itself failed, please report it: {message}");
            return refuse(record, Status::Error, &reason);
        }
        Outcome::Failed(reason) => return refuse(record, Status::Error, reason),
    };
    let Cost { parts, note, ranks } = match evaluator.cost() {
        Ok(cost) => cost,
        Err(reason) => return refuse(record, Status::Unsupported, &reason),
    };
    if let Err(error) = record.set_parts(&parts) {
        return refuse(record, Status::Error, &error.to_string());
    }
    record.status = Status::Ok;
    record.verified = match totals.proof {
        Proof::Blocks => Verified::Blocks,
        Proof::ByteCounts => Verified::Amounts,
        Proof::Contributions => Verified::Contributions,
    };
    let unit = case.unit_bytes();
    set_totals(record, totals, unit);
    if case.topology.random_routing().is_some() {
        // With random routing, columns about links would describe only one draw.
        (record.critical_hops, record.total_hop_bytes) = (None, None);
        (record.max_link_messages, record.sum_link_messages) = (None, None);
    }
    record.note = note.unwrap_or_default();
    let bound = case.machine.lower_bound(case.topology.as_ref(), &traffic.in_bytes(unit as f64));
    record.lower_bound_us = Some(bound.total_us());
    record.bound_kind = bound.kind.to_string();
    record.first_rank_us = ranks.map(|ranks| ranks.first);
    record.mean_rank_us = ranks.map(|ranks| ranks.mean);
}

/// Sets status and reason of a case without an outcome.
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
    // Overflow is not possible: loads over 64 bits are in bytes, with unit 1, or are sums over more
    // than 2^24 steps.
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
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_where_nobody_would_read_on() {
        let as_is = "é".repeat(4000);
        assert_eq!(bounded(&as_is), as_is);
        let cut = bounded(&(as_is + "e"));
        assert_eq!(cut.chars().count(), 4000);
        assert!(cut.ends_with("éé .. (cut off here)"));
    }
}
