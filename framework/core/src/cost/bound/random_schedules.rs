//! No schedule takes less time than its lower bound. Random schedules of random collectives run on
//! random machines, with all models and all of their parameters. The schedules are verified: every
//! block reaches its destination.

use crate::cost::bound::Traffic;
use crate::cost::machine::Machine;
use crate::cost::model::test_steps::Random;
use crate::cost::model::{ModelKind, PricingContext, models};
use crate::delivery::boxes::NodeSet;
use crate::delivery::collective::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, Collective, GATHER, REDUCE, REDUCE_SCATTER,
    SCATTER, SizeTable,
};
use crate::delivery::exchange::Rule;
use crate::network::topology::parse_with;
use crate::simulation::{Simulation, Task};
use std::sync::Arc;

/// The graph `lopsided` has a hub with many links, a slow link, and a node with one link.
const TOPOLOGIES: [&str; 18] = [
    "ring:5",
    "ring:2",
    "mesh:3x3",
    "torus:4x3",
    "hypercube:3",
    "fully-connected:6",
    "fat-tree:2x2",
    "dragonfly:3x2x1",
    "groups:2x3,inside=3,inside_hop=0.25",
    "groups:2x3,inside=3,slow=8~2:0.37+1~8:0.37",
    "mesh:3x3,down=0-1",
    "torus:4x3,slow=0~1:0.5",
    "graph:lopsided",
    "ring:4,ranks=2",
    "mesh:2x2,ranks=2",
    "torus:4x3,routing=valiant",
    "mesh:3x3,routing=ecmp",
    "jellyfish:6x3x1",
];

const LOPSIDED: &str = "0 1\n0 2\n0 3 0.5\n0 4 2\n4 5\n3 4\n";

impl Random {
    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Returns the spec of a machine of this model. The parameter with this place in the model's
    /// list, and up to three other parameters, have values that may differ from their defaults. With
    /// more of them, few bounds would be tight.
    fn machine(&mut self, kind: &ModelKind, place: usize) -> String {
        let mut places = vec![place];
        for _ in 0..self.below(4) {
            places.push(self.below(kind.parameters.len() as u64) as usize);
        }
        // A parameter that changes a cost has no effect without this cost.
        let first = kind.parameters[place].key();
        let others: &[&str] = match first {
            "hops" => &["hop_us", "ports"],
            "latency_factor" => &["hop_us"],
            "free_contention" | "unpaired_byte_us" | "fairness" | "bandwidth_factor" => {
                &["byte_us"]
            }
            "rendezvous_bytes" => &["rendezvous_us"],
            "fabric_factor" => &["outside_startup_us"],
            "chunk_startups" => &["startup_us", "byte_us"],
            "protocols" => &["byte_us"],
            "virtual_channels" => &["startup_us"],
            "rearrangement" | "buffers" => &["rearrange_byte_us"],
            _ => &[],
        };
        let is_other = |place: &usize| others.contains(&kind.parameters[*place].key());
        places.extend((0..kind.parameters.len()).filter(is_other));
        places.sort_unstable();
        places.dedup();
        let mut spec = format!("free:model={}", kind.name);
        for key in places.into_iter().map(|place| kind.parameters[place].key()) {
            let values: &[&str] = match key {
                "free_contention" => &["1", "2", "4"],
                "hops" => &["mean"],
                // The hops of a step count once only if it is not run in rounds.
                "ports" if first == "hops" => &["all"],
                "ports" => &["1", "2", "all"],
                "virtual_channels" | "buffers" => &["1", "2"],
                "rearrangement" => &["packed", "exchanges", "declared"],
                "mode" => &["blocking", "nonblocking"],
                "self_messages" => &["free", "count"],
                // With `order=data`, ranks have no steps, and therefore no barriers.
                "order" if spec.contains("barrier_us") => &["step", "barrier"],
                "order" => &["step", "barrier", "data"],
                "fairness" => &["equal", "rtt"],
                "rendezvous_bytes" => &["0", "150"],
                "weight_bytes" => &["0", "100"],
                "late" => &["1:50", "random:2:9"],
                "latency_factor" | "bandwidth_factor" => &["0.7", "1.9"],
                "fabric_factor" | "chunk_startups" => &["0", "0.5", "3"],
                "protocols" => &["A:1/5/0.5/0.25+B:3/9/1/1", "A:2/0/1.5/1"],
                "noise" => &["0.1"],
                // These parameters do not change the modelled machine.
                "most_events" | "second_eps_us" | "flow_window" | "background" => continue,
                _ if key.ends_with("_us") => &["0.1", "1", "3", "20"],
                _ => panic!("this test has no values of the parameter {key}"),
            };
            spec += &format!(",{key}={}", self.one_of(values));
        }
        spec
    }

    /// Returns a random collective.
    fn collective(&mut self, nodes: u64) -> Collective {
        let kinds = [
            &ALL_TO_ALL,
            &ALL_GATHER,
            &SCATTER,
            &GATHER,
            &BROADCAST,
            &REDUCE,
            &REDUCE_SCATTER,
            &ALL_REDUCE,
        ];
        if self.below(9) == 0 {
            let shift = self.below(nodes);
            let images: Vec<u32> = (0..nodes).map(|n| ((n + shift) % nodes) as u32).collect();
            return Collective::permutation("shift", images.into());
        }
        let collective = Collective::of(self.one_of(&kinds));
        if collective.kind().is_rooted() { collective.at(self.below(nodes)) } else { collective }
    }

    /// Returns a random tree that reaches every node from `root`: its edges from parent to child,
    /// each with its step. A parent sends after it has received.
    fn tree(&mut self, root: u64, nodes: u64) -> Vec<(u64, u64, u64)> {
        let (mut reached, mut edges) = (vec![(root, 0)], Vec::new());
        let mut others: Vec<u64> = (0..nodes).filter(|node| *node != root).collect();
        // Either every node sends in a step of its own, or steps are as early as possible.
        let pause = self.below(3);
        while !others.is_empty() {
            let node = others.swap_remove(self.below(others.len() as u64) as usize);
            let (parent, received) = self.one_of(&reached);
            let step = received + 1 + if pause == 0 { 0 } else { self.below(2 * pause) };
            edges.push((parent, node, step));
            reached.push((node, step));
        }
        edges
    }
}

/// A send with its step.
type Send = (u64, Rule<'static>);

/// Returns the sends of a random schedule.
fn schedule(random: &mut Random, collective: &Collective, nodes: u64) -> Vec<Send> {
    let kind = collective.kind();
    let root = collective.root().unwrap_or(0);
    let mut sends = Vec::new();
    // The edges of a tree, from its leaves to its root, with steps in the reverse order.
    let turned = |edges: Vec<(u64, u64, u64)>| {
        let last = edges.iter().map(|(.., step)| *step).max().unwrap_or(0);
        let edges =
            edges.into_iter().map(move |(parent, child, step)| (child, parent, last + 1 - step));
        (edges.collect::<Vec<_>>(), last)
    };
    let sum = |from, to| Rule { combine: true, ..Rule::new(from, to) };
    let copy = |from, to| Rule { copy: true, ..Rule::new(from, to) };
    if kind.word == ALL_GATHER.word {
        for origin in 0..nodes {
            for (from, to, step) in random.tree(origin, nodes) {
                sends.push((step, Rule { origins: NodeSet::One(origin), ..copy(from, to) }));
            }
        }
    } else if kind.word == BROADCAST.word {
        let edges = random.tree(root, nodes);
        sends.extend(edges.into_iter().map(|(from, to, step)| (step, copy(from, to))));
    } else if kind.word == REDUCE_SCATTER.word {
        for destination in 0..nodes {
            let destinations = NodeSet::One(destination);
            for (from, to, step) in turned(random.tree(destination, nodes)).0 {
                sends.push((step, Rule { destinations, ..sum(from, to) }));
            }
        }
    } else if kind.sums {
        let root = collective.root().unwrap_or_else(|| random.below(nodes));
        let (edges, last) = turned(random.tree(root, nodes));
        sends.extend(edges.into_iter().map(|(from, to, step)| (step, sum(from, to))));
        if kind.word == ALL_REDUCE.word {
            let edges = random.tree(root, nodes);
            sends.extend(edges.into_iter().map(|(from, to, step)| (last + step, copy(from, to))));
        }
    } else {
        // Each block has one destination. It is sent directly or through a third node.
        let steps = random.one_of(&[1, 1, 1, 2, 5]);
        let detours = random.one_of(&[0, 0, 1, 2]);
        let images = collective.images().map(<[u32]>::to_vec);
        for origin in 0..nodes {
            for destination in 0..nodes {
                let holder = if kind.word == SCATTER.word { root } else { origin };
                let is_needed = match (kind.word, &images) {
                    (_, Some(images)) => u64::from(images[origin as usize]) == destination,
                    (word, _) if word == SCATTER.word => origin == root,
                    (word, _) if word == GATHER.word => destination == root,
                    _ => true,
                };
                if !is_needed || holder == destination {
                    continue;
                }
                let mut on = vec![holder, destination];
                let third = random.below(nodes);
                if detours > 0 && random.below(2) == 0 && !on.contains(&third) {
                    on.insert(1, third);
                }
                let first = 1 + random.below(steps);
                let (mut step, origins, destinations) =
                    (first, NodeSet::One(origin), NodeSet::One(destination));
                for hop in on.windows(2) {
                    let rule = Rule::new(hop[0], hop[1]);
                    let (by_origin, by_destination) = match kind.word {
                        word if word == SCATTER.word => (NodeSet::All, destinations),
                        word if word == GATHER.word => (origins, NodeSet::All),
                        _ if images.is_some() => (origins, NodeSet::All),
                        _ => (origins, destinations),
                    };
                    sends.push((
                        step,
                        Rule { origins: by_origin, destinations: by_destination, ..rule },
                    ));
                    step += 1 + random.below(2);
                }
            }
        }
    }
    sends.sort_by_key(|(step, _)| *step);
    sends
}

/// A case: its description, its lower bound and its time. The last value is the bound with the hops
/// of the longest route, if the machine charges the mean.
type BoundAndTime = (String, f64, f64, Option<f64>);

/// Returns a random case. `None` if the model does not support the case.
fn bound_and_time(seed: u64) -> Option<BoundAndTime> {
    let mut random = Random(seed);
    for _ in 0..3 {
        random.below(2);
    }
    // Every parameter of every model gets its turn.
    let all = models().iter().flat_map(|kind| (0..kind.parameters.len()).map(move |p| (kind, p)));
    let all: Vec<_> = all.collect();
    let (kind, place) = all[seed as usize % all.len()];
    let (spec, network) = (random.machine(kind, place), random.one_of(&TOPOLOGIES));
    let topology = parse_with(network, &|_| Ok(LOPSIDED.to_owned())).unwrap();
    let topology = topology.sample(seed).unwrap_or(topology);
    let nodes = topology.nodes();
    let collective = random.collective(nodes);
    let block = random.one_of(&[1, 8, 100, 1000]);
    // Every element of the table has a size of its own, also if the collective uses only a row, a
    // column or one element.
    let is_uneven = random.below(3) == 0;
    let sizes = is_uneven.then(|| {
        let mut sizes = Random(seed + 1);
        let table: Vec<u64> = (0..nodes * nodes).map(|_| sizes.below(3) * block).collect();
        SizeTable::of(nodes, |from, to| table[(from * nodes + to) as usize])
    });
    let sizes = sizes.flatten();
    let unit = if is_uneven { 1.0 } else { block as f64 };
    let skip_empty = is_uneven;
    let task = Task { sizes, skip_empty, ..Task::new(Arc::clone(&topology), collective.clone()) };
    let machine = Machine::parse(&spec).unwrap();
    let context = PricingContext {
        seed,
        counted: !is_uneven,
        exchanges: collective.kind().word == ALL_TO_ALL.word,
        ..PricingContext::new(&topology, unit)
    };
    let mut evaluator = machine.evaluator(context);
    let sends = schedule(&mut random, &collective, nodes);
    let mut simulation = Simulation::new(task.clone(), vec![evaluator.as_mut()]).unwrap();
    let mut last = 0;
    for (step, rule) in sends {
        while last < step {
            simulation.step().unwrap();
            last += 1;
        }
        simulation.send(&rule, None).unwrap();
    }
    let case =
        format!("seed {seed}: {collective} of {block} (uneven: {is_uneven}) on {network}, {spec}");
    simulation.finish().unwrap_or_else(|fault| panic!("{case}: {fault}"));
    let time = evaluator.cost().ok()?.parts.total();
    let traffic = Traffic::of(&task).in_bytes(unit);
    let bound = machine.lower_bound(topology.as_ref(), &traffic);
    let longest = spec.contains("hops=mean").then(|| {
        let machine = Machine::parse(&spec.replace("hops=mean", "hops=longest")).unwrap();
        machine.lower_bound(topology.as_ref(), &traffic).total_us()
    });
    Some((format!("{case}: {bound:?}"), bound.total_us(), time, longest))
}

#[test]
fn no_random_schedule_beats_its_lower_bound() {
    let (mut cases, mut tight, mut wrong, mut by_hops) = (0, 0, Vec::new(), 0);
    for (case, bound, time, longest) in (0..4000).filter_map(bound_and_time) {
        by_hops += u32::from(longest.is_some_and(|longest| longest > time + 1e-6));
        if bound > time * (1.0 + 1e-9) + 1e-6 {
            wrong.push(format!("{case}: bound {bound}, time {time}"));
        }
        cases += 1;
        tight += u32::from(bound > 0.9 * time && time > 0.0);
    }
    assert!(wrong.is_empty(), "{} wrong bounds: {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
    assert!(cases > 3000 && tight > 100, "{cases} cases, {tight} of them near their bound");
    assert!(by_hops > 0, "no case would notice a bound with the hops of the longest route");
}
