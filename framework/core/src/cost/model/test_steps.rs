//! Steps for the tests of models, which list the messages of each step.

use super::time_space::TimeSpace;
use super::{Cost, Evaluator, PricingContext};
use crate::cost::background::Background;
use crate::cost::machine::Machine;
use crate::delivery::traced::Proof;
use crate::network::symmetry::Group;
use crate::network::topology::{Network, Route, parse};
use crate::simulation::listener::{Listener, ScheduleEvent, Summed};
use crate::simulation::merged::{Jobs, Reported};
use crate::simulation::step::{Step, Transfer};
use crate::simulation::step_statistics::StepStatistics;
use std::sync::Arc;

/// A send is (sender, receiver, bytes, latest arrival of the data at the sender).
pub(in crate::cost) type Sends = Vec<Vec<(u32, u32, u64, u32)>>;

pub(super) type Messages = Vec<(u32, u32, u64)>;

/// Converts steps to those of a schedule in which no message forwards received data.
pub(in crate::cost) fn sends(steps: &[impl AsRef<[(u32, u32, u64)]>]) -> Sends {
    let send = |&(from, to, bytes): &(u32, u32, u64)| (from, to, bytes, 0);
    steps.iter().map(|step| step.as_ref().iter().map(send).collect()).collect()
}

pub(super) fn schedule(name: &str, n: u32, block: u64) -> Vec<Messages> {
    let rotated = |k: u32, bytes: u64| (0..n).map(|r| (r, (r + k) % n, bytes)).collect();
    let doubling = || (0..32).map(|i| 1_u32 << i).take_while(|k| *k < n);
    match name {
        "pairwise" => (1..n).map(|k| (0..n).map(|r| (r, r ^ k, block)).collect()).collect(),
        "gen" => (1..n).map(|k| rotated(k, block)).collect(),
        "ring" => (1..n).map(|k| rotated(1, block * u64::from(n - k))).collect(),
        "bruck" => doubling()
            .map(|k| rotated(k, block * (1..n).filter(|d| d & k != 0).count() as u64))
            .collect(),
        "linear" => {
            vec![(0..n).flat_map(|r| (1..n).map(move |k| (r, (r + k) % n, block))).collect()]
        }
        "gather" => vec![(1..n).map(|r| (r, 0, block)).collect()],
        "scatter" => vec![(1..n).map(|r| (0, r, block)).collect()],
        "binomial" => doubling()
            .map(|k| (0..k).filter(|r| r + k < n).map(|r| (r, r + k, block)).collect())
            .collect(),
        other => panic!("no schedule {other}"),
    }
}

pub(in crate::cost) struct Random(pub u64);

impl Random {
    pub(in crate::cost) fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

pub(super) fn cost(topology: &str, machine: &str, steps: &[&[(u32, u32, u64)]]) -> Cost {
    cost_of_forwarding(topology, machine, &sends(steps))
}

pub(in crate::cost) fn cost_of_forwarding(topology: &str, machine: &str, steps: &Sends) -> Cost {
    try_cost(topology, machine, steps).unwrap()
}

pub(super) fn try_cost(topology: &str, machine: &str, steps: &Sends) -> Result<Cost, String> {
    try_cost_by_routes(topology, machine, steps, &[], |_, _| 0)
}

/// `route_of` returns the number of a route in `routes` from 1, or 0 for the topology's own.
pub(super) fn cost_by_routes(
    topology: &str,
    machine: &str,
    steps: &Sends,
    routes: &[Route],
    route_of: impl Fn(u32, u32) -> u32,
) -> Cost {
    try_cost_by_routes(topology, machine, steps, routes, route_of).unwrap()
}

fn try_cost_by_routes(
    topology: &str,
    machine: &str,
    steps: &Sends,
    routes: &[Route],
    route_of: impl Fn(u32, u32) -> u32,
) -> Result<Cost, String> {
    let topology = parse(topology).unwrap();
    let mut evaluator = evaluator(&topology, machine);
    run(&topology, evaluator.as_mut(), steps, routes, route_of);
    evaluator.cost()
}

pub(super) fn time_space_of(topology: &str, machine: &str, steps: &Sends) -> (Cost, TimeSpace) {
    let topology = parse(topology).unwrap();
    let mut evaluator = evaluator(&topology, machine);
    evaluator.record_time_space(TimeSpace::new(topology.nodes(), None, 1 << 18)).unwrap();
    run(&topology, evaluator.as_mut(), steps, &[], |_, _| 0);
    (evaluator.cost().unwrap(), evaluator.time_space().unwrap())
}

pub(super) fn cost_with_sums(topology: &str, machine: &str, of: &[u64], steps: &Sends) -> Cost {
    let topology = parse(topology).unwrap();
    let mut evaluator = evaluator(&topology, machine);
    run_with_sums(&topology, evaluator.as_mut(), steps, &[of.to_vec()]);
    evaluator.cost().unwrap()
}

/// If `is_recorded` is set, a time-space record is made, so that no step is skipped.
pub(super) fn cost_of_reducing(
    topology: &str,
    machine: &str,
    steps: &[(Messages, u64)],
    is_recorded: bool,
) -> Cost {
    let topology = parse(topology).unwrap();
    let mut evaluator = evaluator(&topology, machine);
    if is_recorded {
        evaluator.record_time_space(TimeSpace::new(topology.nodes(), None, 1 << 18)).unwrap();
    }
    let (messages, loads): (Vec<&Messages>, Vec<u64>) =
        steps.iter().map(|(step, load)| (step, *load)).unzip();
    let nodes = topology.nodes() as usize;
    let sums: Vec<Vec<u64>> =
        loads.into_iter().map(|load| vec![load; if load > 0 { nodes } else { 0 }]).collect();
    run_with_sums(&topology, evaluator.as_mut(), &sends(&messages), &sums);
    evaluator.cost().unwrap()
}

pub(super) fn cost_with_background(
    background: Background,
    topology: &str,
    machine: &str,
    steps: &[Messages],
) -> Result<Cost, String> {
    let topology = parse(topology).unwrap();
    let machine = Machine::parse(machine).unwrap().with_background(background);
    let context = PricingContext::new(&topology, 1.0);
    let mut evaluator = machine.evaluator(context);
    run(&topology, evaluator.as_mut(), &sends(steps), &[], |_, _| 0);
    evaluator.cost()
}

fn evaluator(topology: &Arc<Network>, machine: &str) -> Box<dyn Evaluator> {
    Machine::parse(machine).unwrap().evaluator(PricingContext::new(topology, 1.0))
}

pub(super) fn try_cost_of_jobs(
    topology: &str,
    machine: &str,
    jobs: &[(Sends, f64)],
) -> Result<Cost, String> {
    let topology = parse(topology).unwrap();
    let mut all = Jobs::new(&topology, jobs.len() as u64);
    let starts: Vec<f64> = jobs.iter().map(|(_, start)| *start).collect();
    let network = Arc::clone(all.network());
    let context = PricingContext { starts: &starts, ..PricingContext::new(&network, 1.0) };
    let mut evaluator = Machine::parse(machine).unwrap().evaluator(context);
    for (number, (steps, _)) in (0..).zip(jobs) {
        let mut list = all.list(number, 1, evaluator.interests());
        run(&topology, &mut list, steps, &[], |_, _| 0);
        all.add(list).unwrap();
    }
    all.report(Reported::All, evaluator.as_mut()).unwrap();
    evaluator.cost()
}

pub(super) fn run(
    topology: &Arc<Network>,
    listener: &mut dyn Listener,
    steps: &Sends,
    routes: &[Route],
    route_of: impl Fn(u32, u32) -> u32,
) {
    run_with_orbits(topology, listener, steps, &[], None, routes, route_of);
}

pub(super) fn run_with_sums(
    topology: &Arc<Network>,
    listener: &mut dyn Listener,
    steps: &Sends,
    sums: &[Vec<u64>],
) {
    run_with_orbits(topology, listener, steps, sums, None, &[], |_, _| 0);
}

pub(super) fn run_with_orbits(
    topology: &Arc<Network>,
    listener: &mut dyn Listener,
    steps: &Sends,
    sums: &[Vec<u64>],
    symmetry: Option<&Group>,
    routes: &[Route],
    route_of: impl Fn(u32, u32) -> u32,
) {
    let mut statistics = StepStatistics::new(topology.clone(), listener.interests());
    let held = vec![0; topology.nodes() as usize];
    for (number, sends) in (1..).zip(steps) {
        let mut transfers: Vec<Transfer> = sends
            .iter()
            .map(|&(from, to, load, _)| Transfer {
                from,
                to,
                route: route_of(from, to),
                hops: 0,
                load,
            })
            .collect();
        let after: Vec<u32> = sends.iter().map(|(.., after)| *after).collect();
        if let Some(of) = sums.get(number as usize - 1).filter(|of| !of.is_empty()) {
            let most = of.iter().copied().max().unwrap();
            listener.notify(ScheduleEvent::Summed(Summed {
                most,
                of,
                symmetry: None,
                segments: 1,
            }));
        }
        let facts = statistics.measure(number, &mut transfers, None, routes).unwrap();
        if let Some(group) = symmetry {
            let is_representative = |t: &Transfer| {
                group.representative(group.home(t.from.into()).0) == u64::from(t.from)
            };
            transfers.retain(is_representative);
        }
        listener.notify(ScheduleEvent::Step(&Step {
            proof: Proof::ByteCounts,
            number,
            schedule_step: number,
            phase: "",
            phase_number: 1,
            transfers: &transfers,
            symmetry,
            latest_arrivals: if listener.interests().arrivals { &after } else { &[] },
            routes,
            segments: 1,
            inverse_bandwidth: statistics.inverse_bandwidth(),
            mean_hops: statistics.mean_hops(),
            busiest_links: statistics.busiest_links(),
            facts,
            held: &held,
        }));
    }
}
