//! Runs cases: one plan for all cases that share a schedule, a pricer for each of them.

use crate::case::Case;
use crate::host::{Answers, Outcome, Planned, plan};
use std::collections::BTreeSet;
use std::time::Instant;
use swapmeet_core::cost::bound::{Across, Traffic, lower_bound};
use swapmeet_core::cost::model::{Evaluator, Price, Scale, evaluator};
use swapmeet_core::delivery::collective::{Busiest, Collective};
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::limits;
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::Task;
use swapmeet_core::simulation::step::{Listener, Totals};
use swapmeet_results::{Record, Status, Verified};

/// What is said while cases run.
#[derive(Debug)]
pub enum Said {
    /// The row of the case of this number within its group.
    Row(usize, Box<Record>),
    /// A line from the plugin.
    Log(String),
}

/// Runs cases that share a schedule and returns their rows, in order. `watchers` see every step too.
pub fn run_group(group: &[Case], watchers: &mut [&mut dyn Listener]) -> Vec<Record> {
    let mut records: Vec<Option<Record>> = vec![None; group.len()];
    tell_group(group, watchers, &mut |said| {
        if let Said::Row(index, record) = said {
            records[index] = Some(*record);
        }
    });
    records.into_iter().flatten().collect()
}

/// Runs cases that share a schedule and tells their rows as they come.
pub fn tell_group(group: &[Case], watchers: &mut [&mut dyn Listener], tell: &mut dyn FnMut(Said)) {
    let mut open: Vec<usize> = (0..group.len()).collect();
    // A plan that asks for the block size or the ports holds only for cases with the same: the others are planned again.
    while !open.is_empty() {
        let started = Instant::now();
        let rows = plan_and_price(group, &open, watchers, tell);
        let wall_ms = started.elapsed().as_secs_f64() * 1e3 / rows.len().max(1) as f64;
        let done: BTreeSet<usize> = rows.iter().map(|(index, _)| *index).collect();
        open.retain(|case| !done.contains(case));
        for (index, mut record) in rows {
            record.wall_ms = Some(wall_ms);
            tell(Said::Row(index, Box::new(record)));
        }
    }
}

/// Plans the first of the `open` cases and prices all of them whose plan is the same.
fn plan_and_price(
    group: &[Case],
    open: &[usize],
    watchers: &mut [&mut dyn Listener],
    tell: &mut dyn FnMut(Said),
) -> Vec<(usize, Record)> {
    let first = &group[open[0]];
    let nodes = first.topology.nodes();
    let traffic = match affordable(nodes).and_then(|()| first.workload.traffic(first.topology.as_ref(), first.seed)) {
        Ok(traffic) => traffic,
        Err(reason) => {
            let mut record = blank(first);
            refuse(&mut record, Status::Unsupported, &reason);
            return vec![(open[0], record)];
        }
    };
    let uniform = traffic.sizes.is_none();
    let task = Task { topology: first.topology.clone(), collective: traffic.collective, sizes: traffic.sizes };
    let unit = |case: &Case| if uniform { case.workload.block_bytes() } else { 1 };
    let scale = |case: &Case| Scale { topology: &task.topology, unit_bytes: unit(case) as f64 };
    let mut evaluators: Vec<Box<dyn Evaluator>> =
        open.iter().map(|i| evaluator(&group[*i].machine, scale(&group[*i]))).collect();
    let answers = |case: &Case| Answers {
        block_bytes: if uniform { case.workload.block_bytes() } else { traffic.block_bytes },
        ports: case.machine.ports.count(),
        virtual_channels: case.machine.virtual_channels,
        element_bytes: case.workload.element_bytes(),
    };
    let planning = Instant::now();
    let planned = {
        let mut listeners: Vec<&mut dyn Listener> = Vec::new();
        for watcher in watchers.iter_mut() {
            listeners.push(&mut **watcher);
        }
        for evaluator in &mut evaluators {
            listeners.push(&mut **evaluator);
        }
        plan(&first.algorithm.algorithm, &first.algorithm.params, &task, answers(first), first.timeout, listeners)
    };
    let plan_ms = planning.elapsed().as_secs_f64() * 1e3;
    planned.log.iter().for_each(|line| tell(Said::Log(bounded(line))));
    let told = answers(first);
    let mut records = Vec::new();
    for (index, evaluator) in open.iter().zip(&evaluators) {
        let case = &group[*index];
        if !planned.asked.same_plan(told, answers(case)) {
            continue;
        }
        let mut record = blank(case);
        record.plan_ms = Some(plan_ms);
        fill(&mut record, case, &task, &planned, evaluator.as_ref(), unit(case));
        records.push((*index, record));
    }
    records
}

fn affordable(nodes: u64) -> Result<(), String> {
    const MOST: u64 = limits::CASE_NODES;
    if nodes <= MOST { Ok(()) } else { Err(format!("{nodes} nodes are more than a case may have, {MOST}")) }
}

/// A row that says which case it is and nothing else.
pub fn blank(case: &Case) -> Record {
    let algorithm = &case.algorithm.algorithm;
    // Whatever comes of the case: a name of an experiment's own means nothing without it, and a file may say something else tomorrow.
    let meaning = case.machine.stands_for().map(|spec| format!("{} is {spec}", case.machine.name()));
    let meanings: Vec<&str> = meaning.as_deref().into_iter().chain(case.made_of.iter().map(|text| &**text)).collect();
    Record {
        experiment: case.experiment.to_string(),
        algorithm: case.algorithm.to_string(),
        plugin: algorithm.plugin.0.clone(),
        plugin_version: algorithm.plugin.1.clone(),
        collective: case.workload.collective().to_owned(),
        topology: case.topology.spec(),
        nodes: case.topology.nodes(),
        workload: case.workload.to_string(),
        machine: case.machine.to_string(),
        model: case.machine.model.to_string(),
        repetition: case.repetition,
        seed: case.seed,
        note: meanings.join("; "),
        ..Record::default()
    }
}

fn fill(record: &mut Record, case: &Case, task: &Task, planned: &Planned, evaluator: &dyn Evaluator, unit: u64) {
    let totals = match &planned.outcome {
        Outcome::Verified(totals) => totals,
        Outcome::Unsupported(reason) => return refuse(record, Status::Unsupported, reason),
        Outcome::Invalid(fault) => return refuse(record, Status::Invalid, &fault.to_string()),
        Outcome::TimedOut(reason) => return refuse(record, Status::Timeout, reason),
        Outcome::HostPanicked(said) => {
            let reason = format!("swapmeet itself failed, please report it: {said}");
            return refuse(record, Status::Error, &reason);
        }
        Outcome::Failed(reason) => return refuse(record, Status::Error, reason),
    };
    let Price { parts, note } = match evaluator.price() {
        Ok(price) => price,
        Err(reason) => return refuse(record, Status::Unsupported, &reason),
    };
    let written = record.set_parts(&swapmeet_results::Parts {
        startup: parts.startup,
        transmission: parts.transmission,
        propagation: parts.propagation,
        rearrangement: parts.rearrangement,
        barrier: parts.barrier,
        contention: parts.contention,
    });
    if let Err(error) = written {
        return refuse(record, Status::Error, &error.to_string());
    }
    record.status = Status::Ok;
    record.verified = match totals.proof {
        Proof::Blocks => Verified::Blocks,
        Proof::ByteCounts => Verified::Amounts,
    };
    set_totals(record, totals, unit);
    let meaning = Some(std::mem::take(&mut record.note)).filter(|meaning| !meaning.is_empty());
    record.note = [note, meaning].into_iter().flatten().collect::<Vec<_>>().join("; ");
    record.lower_bound_us = must_move(task, case.workload.block_bytes())
        .map(|traffic| lower_bound(case.topology.as_ref(), &case.machine, traffic).total_us());
}

/// What a task must move at least, for its lower bound; `block_bytes` is the size of uniform blocks.
fn must_move(task: &Task, block_bytes: u64) -> Option<Traffic> {
    let topology = task.topology.as_ref();
    let nodes = topology.nodes();
    let farthest = if task.collective.root().is_some() { topology.farthest_from_root() } else { topology.diameter() };
    if let Some(sizes) = &task.sizes {
        let (busiest, all) = match &task.collective {
            Collective::Scatter { root } => (of_root(nodes, |node| sizes.bytes(*root, node), *root), nodes - 1),
            Collective::Gather { root } => {
                let backwards = of_root(nodes, |node| sizes.bytes(node, *root), *root);
                (Busiest { sent: backwards.received, received: backwards.sent, ..backwards }, nodes - 1)
            }
            Collective::AllToAll => (sizes.busiest(nodes), nodes * (nodes - 1)),
            _ => return None,
        };
        let Busiest { sent, received, peers, pairs } = busiest;
        // Of which pairs have nothing for each other no more is known than that some have.
        let farthest = if pairs == all { farthest } else { peers.min(1) };
        return Some(Traffic { sent: sent as f64, received: received as f64, peers, farthest, ..Traffic::default() });
    }
    let m = block_bytes as f64;
    let everything = (nodes - 1) as f64 * m;
    let each = Traffic { sent: m, received: m, peers: nodes - 1, farthest, ..Traffic::default() };
    Some(match &task.collective {
        // Who deals out amounts need not send what is empty.
        Collective::AllToAll if block_bytes == 0 => Traffic::default(),
        Collective::AllToAll => Traffic {
            sent: everything,
            received: everything,
            by_one: true,
            across: Across::EachPair(m),
            pair_bytes: m,
            ..each
        },
        Collective::Scatter { .. } => Traffic { sent: everything, ..each },
        Collective::Gather { .. } => Traffic { received: everything, ..each },
        Collective::AllGather => Traffic { received: everything, by_one: true, across: Across::EachNode(m), ..each },
        Collective::Broadcast { .. } => each,
        Collective::Permutation { to, .. } => {
            let (farthest, hops) = routes(topology, to)?;
            Traffic { by_one: true, peers: farthest.min(1), farthest, hop_bytes: hops as f64 * m, ..each }
        }
    })
}

/// What the root of a scatter sends, as the busiest of senders, and the most that one node gets.
fn of_root(nodes: u64, bytes: impl Fn(u64) -> u64, root: u64) -> Busiest {
    let mut busiest = Busiest::default();
    for bytes in (0..nodes).filter(|node| *node != root).map(bytes) {
        busiest.sent += bytes;
        busiest.received = busiest.received.max(bytes);
        busiest.peers += u64::from(bytes > 0);
    }
    Busiest { pairs: busiest.peers, ..busiest }
}

/// Hops of the block of a permutation that goes farthest, and of all together; each by the topology's own way, which is a shortest one.
fn routes(topology: &dyn Topology, to: &[u32]) -> Option<(u64, u64)> {
    let (mut farthest, mut hops) = (0, 0);
    for (from, to) in (0..).zip(to) {
        let here = topology.route(from, u64::from(*to), None, &mut |_| {}).ok()?;
        farthest = farthest.max(here);
        hops += here;
    }
    Some((farthest, hops))
}

/// Makes a row that of a case without figures.
pub(crate) fn refuse(record: &mut Record, status: Status, reason: &str) {
    record.status = status;
    record.reason = bounded(reason);
}

/// A text that a plugin may have had a hand in, not longer than anybody would read.
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
    // Far from overflow: a load over 64 bits is one of bytes, of which a unit is one, or took more than 2^24 steps.
    let bytes = |load: u128| load.checked_mul(u128::from(unit)).map(|all| all / u128::from(totals.segments.max(1)));
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
