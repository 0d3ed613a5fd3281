//! A test oracle: the exact minimum of the largest link load, from a linear program (maximum
//! concurrent flow) for small networks. No bound may exceed it, and most come near.

use super::cuts::on_links;
use super::demand::Demand;
use super::{BoundKind, Traffic};
use crate::cost::machine::Machine;
use crate::cost::model::PricingContext;
use crate::delivery::boxes::NodeSet;
use crate::delivery::collective::{
    ALL_GATHER, ALL_TO_ALL, BlockSizes, Collective, GATHER, SCATTER,
};
use crate::delivery::exchange::Rule;
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{Graph, Topology, parse};
use crate::simulation::{Simulation, Task};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
use std::sync::Arc;

/// Returns the smallest possible load of the busiest link, divided by its bandwidth, if data may be
/// split over any routes.
fn optimal_load(topology: &dyn Topology, demand: &Demand<'_>) -> f64 {
    let network = Adjacency::of(topology).unwrap();
    let links: Vec<(u32, u32, f64)> = network.links().collect();
    let nodes = topology.nodes();
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let busiest = problem.add_var(1.0, (0.0, f64::INFINITY));
    // All data of one origin is one commodity.
    let flow: Vec<Vec<Variable>> = (0..nodes)
        .map(|_| links.iter().map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect())
        .collect();
    for (link, (.., bandwidth)) in links.iter().enumerate() {
        let mut terms: Vec<(Variable, f64)> = flow.iter().map(|from| (from[link], 1.0)).collect();
        terms.push((busiest, -bandwidth));
        problem.add_constraint(terms, ComparisonOp::Le, 0.0);
    }
    for origin in 0..nodes {
        for node in (0..nodes).filter(|node| *node != origin) {
            let sign = |(from, to): (u32, u32)| {
                f64::from(i8::from(u64::from(to) == node) - i8::from(u64::from(from) == node))
            };
            let terms = links
                .iter()
                .zip(&flow[origin as usize])
                .map(|((from, to, _), flow)| (*flow, sign((*from, *to))));
            let terms: Vec<_> = terms.filter(|(_, sign)| *sign != 0.0).collect();
            problem.add_constraint(terms, ComparisonOp::Eq, demand.between(origin, node));
        }
    }
    match problem.solve().unwrap() {
        SolveOutcome::Solution(solution) => solution.objective(),
        SolveOutcome::Interrupted(why) => panic!("{why:?}"),
    }
}

/// A deterministic generator of small numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Returns a random tree with up to `more` additional edges, and bandwidths from 1 to 4.
fn network(nodes: u64, more: u64, random: &mut Random) -> Arc<dyn Topology> {
    let mut edges: Vec<(u64, u64)> = (1..nodes).map(|node| (random.below(node), node)).collect();
    for _ in 0..more {
        let (a, b) = (random.below(nodes), random.below(nodes));
        if a != b && !edges.contains(&(a.min(b), a.max(b))) {
            edges.push((a.min(b), a.max(b)));
        }
    }
    let lines: Vec<String> =
        edges.iter().map(|(a, b)| format!("{a} {b} {}", 1 + random.below(4))).collect();
    Arc::new(Graph::parse("g", &lines.join("\n")).unwrap())
}

#[derive(Debug)]
struct Table(u64, Vec<u64>);

impl BlockSizes for Table {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        self.1[(origin * self.0 + destination) as usize]
    }

    fn largest(&self) -> u64 {
        self.1.iter().copied().max().unwrap_or(0)
    }
}

/// Returns the time of a direct exchange, divided by the lower bound. `stepwise`: one step for each
/// distance, otherwise a single step.
fn slack(task: &Task, stepwise: bool, machine: &str) -> f64 {
    let machine = Machine::parse(machine).unwrap();
    let mut evaluator = machine.evaluator(PricingContext::new(&task.topology, 1.0));
    let (n, is_for_all) = (task.topology.nodes(), task.collective.kind().is_sized_by_origin());
    let mut simulation = Simulation::new(task.clone(), vec![evaluator.as_mut()]).unwrap();
    for distance in 1..n {
        if stepwise || distance == 1 {
            simulation.step().unwrap();
        }
        for from in 0..n {
            let to = (from + distance) % n;
            let destinations = if is_for_all { NodeSet::All } else { NodeSet::One(to) };
            let origins = NodeSet::One(from);
            let all = Rule::new(from, to);
            let rule = Rule { origins, destinations, strict: true, copy: is_for_all, ..all };
            simulation.send(&rule, None).unwrap();
        }
    }
    simulation.finish().unwrap();
    let parts = evaluator.cost().unwrap().parts;
    let all = [
        parts.startup,
        parts.transmission,
        parts.propagation,
        parts.rearrangement,
        parts.barrier,
        parts.contention,
    ];
    let bound = machine.lower_bound(task.topology.as_ref(), &Traffic::of(task));
    all.into_iter().flatten().sum::<f64>() / bound.total_us()
}

#[test]
fn no_schedule_is_faster_than_its_bound() {
    let mut random = Random(2);
    for _ in 0..40 {
        let nodes = 4 + random.below(5);
        let topology = network(nodes, random.below(10), &mut random);
        let sizes =
            Table(nodes, (0..nodes * nodes).map(|_| random.below(2) * random.below(90)).collect());
        let own = (0..nodes)
            .flat_map(|node| {
                vec![u64::from(node == 0) + random.below(2) * random.below(90); nodes as usize]
            })
            .collect();
        let task = Task::new(Arc::clone(&topology), Collective::of(&ALL_TO_ALL));
        let gathered = Task::new(topology, Collective::of(&ALL_GATHER));
        let gathered = Task { sizes: Some(Arc::new(Table(nodes, own))), ..gathered };
        for task in [task.clone(), Task { sizes: Some(Arc::new(sizes)), ..task }, gathered] {
            for model in ["wormhole", "circuit", "store-and-forward", "flat"] {
                for rest in [
                    "startup_us=3,byte_us=1,ports=1",
                    "startup_us=1,byte_us=2,ports=2",
                    "byte_us=1,ports=all",
                ] {
                    for stepwise in [false, true] {
                        let machine = format!("free:model={model},{rest}");
                        let slack = slack(&task, stepwise, &machine);
                        assert!(slack > 1.0 - 1e-9, "{machine}, {stepwise}: {slack} of {}", nodes);
                    }
                }
            }
        }
    }
}

/// Returns the bound divided by the optimum.
fn closeness(task: &Task) -> f64 {
    let demand = Demand::of(task);
    let (hop_bytes, _) = demand.hop_bytes(task.topology.as_ref()).unwrap();
    on_links(task.topology.as_ref(), &demand, hop_bytes).bytes
        / optimal_load(task.topology.as_ref(), &demand)
}

#[test]
fn bounds_on_links_are_at_most_the_optimum_and_mostly_near_it() {
    let mut random = Random(1);
    let mut all = Vec::new();
    for _ in 0..60 {
        let nodes = 4 + random.below(4);
        let topology = network(nodes, random.below(8), &mut random);
        let sizes =
            Table(nodes, (0..nodes * nodes).map(|_| random.below(3) * random.below(50)).collect());
        let root = random.below(nodes);
        for kind in [&ALL_TO_ALL, &SCATTER, &GATHER] {
            let task = Task::new(Arc::clone(&topology), Collective::of(kind).at(root));
            all.push(closeness(&task));
        }
        let task = Task::new(topology, Collective::of(&ALL_TO_ALL));
        all.push(closeness(&Task { sizes: Some(Arc::new(sizes)), ..task }));
    }
    all.sort_by(f64::total_cmp);
    assert!(*all.last().unwrap() < 1.0 + 1e-6, "{}", all.last().unwrap());
    // The optimal flow need not fill any cut. The smallest ratio is 0.92. All but two bounds are
    // exact.
    let exact = all.iter().filter(|ratio| **ratio > 1.0 - 1e-6).count();
    assert!(all[0] > 0.9 && exact >= 238, "{} {exact}", all[0]);
}

#[test]
fn bounds_of_regular_topologies_are_the_optimum() {
    let closeness =
        |spec: &str| closeness(&Task::new(parse(spec).unwrap(), Collective::of(&ALL_TO_ALL)));
    for spec in ["torus:4x4", "torus:3x5", "mesh:3x4", "ring:7", "hypercube:3"] {
        assert!((closeness(spec) - 1.0).abs() < 1e-6, "{spec}: {}", closeness(spec));
    }
    // All short routes use one cross-edge. No cut shows this.
    assert!((0.75..1.0).contains(&closeness("rdn:1(ring:3)")));
}

/// The cut around nodes 3 and 6 is not along any of the orders: 80 bytes for node 3 cross two
/// links.
#[test]
fn the_local_search_finds_better_cuts_than_the_orders() {
    let lines = "0 1 2\n1 2 4\n2 3 1\n0 4 4\n4 5 1\n3 6 2\n1 7 1\n0 3 1";
    let mut sizes = vec![0; 64];
    (sizes[8 + 3], sizes[4 * 8 + 3]) = (40, 40);
    let task = Task::new(Arc::new(Graph::parse("g", lines).unwrap()), Collective::of(&ALL_TO_ALL));
    let task = Task { sizes: Some(Arc::new(Table(8, sizes))), ..task };
    let traffic = Traffic::of(&task);
    assert_eq!((traffic.on_links.bytes, traffic.on_links.kind), (40.0, BoundKind::Cut));
}
