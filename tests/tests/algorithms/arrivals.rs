//! Compares arrival times with a naive simulation, in which each node sends as soon as it has the
//! data. The simulation follows every block separately, and shares no code with the host, which
//! follows sets of blocks (boxes). Two results must be the same: the latest arrival of the data of
//! each message, and the time under every model in which nodes wait for data.

use super::matrix::{MatrixProblem, bundled};
use super::oracle::{ANSWERS, rehearsal};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::model::PricingContext;
use swapmeet_core::delivery::boxes::Side;
use swapmeet_core::delivery::collective::Blocks;
use swapmeet_core::network::topology;
use swapmeet_core::simulation::Task;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_core::simulation::step::Transfer;
use swapmeet_runner::host::{self, Outcome, PlanInputs};
use swapmeet_sdk::{Rehearsed, RehearsedRoute, RehearsedSend};
use swapmeet_workloads::Workload;

/// The origin, the destination or part, and the segment. If the collective does not distinguish an
/// origin or a destination, it is 0.
type Piece = (u64, u64, u64);

/// The pieces that a node of the grid has, each with the step in which it arrived at the machine's
/// node.
type Held = BTreeMap<Piece, u64>;

/// The sender, the receiver, the route, the switches that add or copy the data, and whether they
/// join the data with that of an earlier message.
type Message<'a> = (u64, u64, &'a RehearsedRoute, (u64, u64), bool);

/// Returns, for each step, the latest arrival of the data of each message, in the schedule's order.
fn follow(task: &Task, schedule: &Rehearsed) -> Vec<Vec<u32>> {
    let (kind, nodes) = (task.collective.kind(), task.topology.nodes());
    let mut homes: Vec<u64> = (0..nodes).collect();
    let mut physical = homes.clone();
    if !schedule.placements.is_empty() {
        physical = vec![0; schedule.placements.len()];
    }
    for &(node, machine_node, is_home) in &schedule.placements {
        physical[node as usize] = machine_node;
        if is_home {
            homes[machine_node as usize] = node;
        }
    }
    let by_origin = kind.distinguishes(Side::Origins);
    let by_destination = kind.distinguishes(Side::Destinations) || schedule.in_parts;
    let destinations = if by_destination { homes.clone() } else { vec![0] };
    let mut held = vec![Held::new(); physical.len()];
    for (node, home) in (0..).zip(&homes) {
        if task.collective.initial(node) == Blocks::None {
            continue;
        }
        let origin = if by_origin { *home } else { 0 };
        for destination in &destinations {
            let pieces = (0..schedule.segments).map(|segment| (origin, *destination, segment));
            held[*home as usize].extend(pieces.map(|piece| (piece, 0)));
        }
    }
    let mut latest = Vec::new();
    for (number, step) in (1..).zip(&schedule.steps) {
        let mut messages: Vec<(Message<'_>, u32)> = Vec::new();
        let mut in_switches = BTreeSet::new();
        let mut in_flight: Vec<(&RehearsedSend, Held)> = Vec::new();
        for send in &step.sends {
            let is_selected = |(origin, destination, segment): &Piece| {
                (!by_origin || send.origins.contains(origin))
                    && (!by_destination || send.destinations.contains(destination))
                    && send.segments.contains(segment)
            };
            let holds = &mut held[send.from as usize];
            let sent: Held =
                holds.iter().filter(|(p, _)| is_selected(p)).map(|(p, s)| (*p, *s)).collect();
            if sent.is_empty() {
                continue;
            }
            if !send.copies {
                holds.retain(|piece, _| !sent.contains_key(piece));
            }
            let [from, to] = [send.from, send.to].map(|node| physical[node as usize]);
            let switches = (send.reducer, send.multicaster);
            let end = if send.reducer > 0 { to } else { from };
            let data = (&send.origins, &send.destinations, &send.segments);
            let joined = switches != (0, 0) && !in_switches.insert((switches, end, data));
            let is_message = from != to || switches != (0, 0);
            if is_message {
                let key = (from, to, &send.route, switches, joined);
                let at =
                    messages.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                        messages.push((key, 0));
                        messages.len() - 1
                    });
                let arrivals = sent.values().map(|step| *step as u32);
                messages[at].1 = arrivals.fold(messages[at].1, u32::max);
            }
            // Data that stays within a node of the machine keeps its arrival step.
            let arrived = |(piece, step)| (piece, if is_message { number } else { step });
            in_flight.push((send, sent.into_iter().map(arrived).collect()));
        }
        for (send, sent) in in_flight {
            let holds = &mut held[send.to as usize];
            if kind.sums && !send.combines {
                let values: BTreeSet<(u64, u64)> = sent.keys().map(|(_, d, s)| (*d, *s)).collect();
                holds.retain(|(_, d, s), _| !values.contains(&(*d, *s)));
            }
            for (piece, step) in sent {
                holds.entry(piece).or_insert(step);
            }
        }
        latest.push(messages.into_iter().map(|(_, step)| step).collect());
    }
    latest
}

struct HostStep {
    number: u64,
    phase: u32,
    messages: Vec<Transfer>,
    latest_arrivals: Vec<u32>,
}

#[derive(Default)]
struct Recorder(Vec<HostStep>);

impl Listener for Recorder {
    fn interests(&self) -> Interests {
        Interests { arrivals: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        self.0.push(HostStep {
            number: step.schedule_step,
            phase: step.phase_number,
            messages: step.transfers.to_vec(),
            latest_arrivals: step.latest_arrivals.to_vec(),
        });
    }
}

/// Returns the time at which the last message ends. A node sends its messages in the order of the
/// schedule. It sends each as soon as it has received the messages of all steps up to the message's
/// entry in `latest`. A message takes `duration`. If `phases` is set, all nodes wait for each other
/// after a phase.
fn naive_us(
    steps: &[HostStep],
    latest: &[Vec<u32>],
    phases: bool,
    duration: impl Fn(&Transfer) -> f64,
) -> f64 {
    let (mut end, mut start_of_phase, mut phase) = (0.0_f64, 0.0, 0);
    let mut last_start: HashMap<u32, f64> = HashMap::new();
    let mut received: HashMap<u32, Vec<(u64, f64)>> = HashMap::new();
    for step in steps {
        if phases && step.phase != phase {
            (phase, start_of_phase) = (step.phase, end);
        }
        for (message, latest) in step.messages.iter().zip(&latest[step.number as usize - 1]) {
            let last = last_start.get(&message.from).copied().unwrap_or(0.0);
            let start = received
                .get(&message.from)
                .into_iter()
                .flatten()
                .filter(|(number, _)| *number <= u64::from(*latest))
                .fold(last.max(start_of_phase), |start, (_, at)| start.max(*at));
            last_start.insert(message.from, start);
            let at = start + duration(message);
            received.entry(message.to).or_default().push((step.number, at));
            end = end.max(at);
        }
    }
    end
}

type Duration = fn(&Transfer) -> f64;

/// The machine, whether there is a barrier between two phases, and the duration of a message.
const MODELS: [(&str, bool, Duration); 3] = [
    ("free:model=loggp,order=data,latency_us=3", false, |_| 3.0),
    ("free:model=fluid,order=data,hop_us=2,ports=all", false, |t| 2.0 * f64::from(t.hops)),
    ("free:model=flat,mode=nonblocking,ports=all,byte_us=0.5", true, |t| 0.5 * t.load as f64),
];

/// Compares the times if the problem is small, and its schedule is correct and moves blocks instead
/// of byte counts. Returns whether they were compared.
pub(super) fn compares(problem: &MatrixProblem<'_>) -> bool {
    let is_small = problem.topology.nodes() <= 9;
    is_small && problem.workload.to_string().contains("uniform:6") && compare(problem)
}

fn compare(problem: &MatrixProblem<'_>) -> bool {
    let MatrixProblem { algorithm, topology, workload, params } = *problem;
    let task = workload.task(topology, 7).unwrap();
    // A load is a number of blocks or segments, here of one byte.
    let inputs = PlanInputs { block_bytes: workload.block_bytes(), ..ANSWERS };
    let table = algorithm.raw_table().unwrap();
    // SAFETY: the table belongs to a plugin that this process has loaded.
    let Ok(schedule) = (unsafe { rehearsal(&task, params, inputs).rehearse_table(table) }) else {
        return false;
    };
    if schedule.moves_byte_counts {
        return false;
    }
    let case = problem.to_string();
    let mut recorder = Recorder::default();
    let planned = host::plan(algorithm, params, &task, inputs, None, vec![&mut recorder]);
    let Outcome::Verified(totals) = planned.outcome else { return false };
    let latest = follow(&task, &schedule);
    for step in &recorder.0 {
        let expected = &latest[step.number as usize - 1];
        assert_eq!(&step.latest_arrivals, expected, "{case}: step {}", step.number);
    }
    static MACHINES: LazyLock<Vec<Machine>> =
        LazyLock::new(|| MODELS.map(|(machine, ..)| Machine::parse(machine).unwrap()).into());
    for (machine, (_, phases, duration)) in MACHINES.iter().zip(MODELS) {
        // Each unit of load is one byte.
        let context = PricingContext::new(topology, totals.segments as f64);
        let mut evaluator = machine.evaluator(context);
        host::plan(algorithm, params, &task, inputs, None, vec![evaluator.as_mut()]);
        let cost = evaluator.cost();
        if topology.has_reducing_switches() && machine.model.name != "fluid" {
            assert!(cost.unwrap_err().contains("reduce=switch"), "{case} on {machine}");
            continue;
        }
        let us = cost.unwrap().parts.total();
        let expected = naive_us(&recorder.0, &latest, phases, duration);
        assert!(
            (us - expected).abs() < 1e-6 * expected.max(1.0),
            "{case} on {machine}: {us}, expected {expected}"
        );
    }
    true
}

#[test]
fn a_node_of_two_trees_waits_for_each_tree_alone() {
    let algorithm = bundled().into_iter().find(|a| a.name == "two-tree-allreduce").unwrap();
    let topology = topology::parse("fully-connected:24").unwrap();
    let workload = Workload::parse("allreduce/uniform:64000").unwrap();
    let (algorithm, params) = (&algorithm, &Vec::new());
    let (topology, workload) = (&topology, &workload);
    assert!(compare(&MatrixProblem { algorithm, topology, workload, params }));
}
