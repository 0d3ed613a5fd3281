//! A test oracle for lower bounds on the largest link load. For small networks, a linear program
//! (maximum concurrent flow) computes the smallest possible value of the largest link load exactly.
//! No lower bound may exceed this value, and most bounds are close to it.

use super::{BoundKind, Traffic};
use crate::cost::machine::Machine;
use crate::cost::model::PricingContext;
use crate::cost::model::test_steps::Random;
use crate::delivery::boxes::NodeSet;
use crate::delivery::collective::{
    ALL_GATHER, ALL_TO_ALL, BlockSizes, Collective, GATHER, SCATTER,
};
use crate::delivery::exchange::Rule;
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{Graph, Network, parse, parse_with};
use crate::simulation::demand::Blocks;
use crate::simulation::{Simulation, Task};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
use std::sync::Arc;

/// Returns the smallest possible value of the largest link load (divided by the link's bandwidth),
/// if data may be split among any routes.
fn optimal_load(task: &Task) -> f64 {
    let (topology, blocks) = (task.topology.as_ref(), Blocks::of(task));
    // Ranks that share a node need no link between them, so the data of these ranks is added to the
    // data of their node.
    let network = Adjacency::of(&topology.of_hosts()).unwrap();
    let nodes = topology.hosts() as usize;
    let mut bytes = vec![vec![0.0; nodes]; nodes];
    for (from, to) in (0..topology.nodes()).flat_map(|a| (0..topology.nodes()).map(move |b| (a, b)))
    {
        if from != to {
            bytes[topology.host(from) as usize][topology.host(to) as usize] +=
                blocks.bytes(from, to) as f64;
        }
    }
    let links: Vec<(u32, u32, f64)> = network.links().collect();
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let busiest = problem.add_var(1.0, (0.0, f64::INFINITY));
    // All data from the same origin is one commodity of the linear program.
    let sends = |origin: &usize| (0..nodes).any(|to| to != *origin && bytes[*origin][to] > 0.0);
    let origins: Vec<usize> = (0..nodes).filter(sends).collect();
    let flow: Vec<Vec<Variable>> = origins
        .iter()
        .map(|_| links.iter().map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect())
        .collect();
    for (link, (.., bandwidth)) in links.iter().enumerate() {
        let mut terms: Vec<(Variable, f64)> = flow.iter().map(|from| (from[link], 1.0)).collect();
        terms.push((busiest, -bandwidth));
        problem.add_constraint(terms, ComparisonOp::Le, 0.0);
    }
    for (origin, flow) in origins.iter().zip(&flow) {
        for vertex in (0..network.vertices()).filter(|vertex| vertex != origin) {
            let sign = |(from, to): (u32, u32)| {
                f64::from(i8::from(to as usize == vertex) - i8::from(from as usize == vertex))
            };
            let terms =
                links.iter().zip(flow).map(|((from, to, _), flow)| (*flow, sign((*from, *to))));
            let terms: Vec<_> = terms.filter(|(_, sign)| *sign != 0.0).collect();
            let arrives = bytes[*origin].get(vertex).copied().unwrap_or(0.0);
            problem.add_constraint(terms, ComparisonOp::Eq, arrives);
        }
    }
    match problem.solve().unwrap() {
        SolveOutcome::Solution(solution) => solution.objective(),
        SolveOutcome::Interrupted(why) => panic!("{why:?}"),
    }
}

/// Returns a random tree, to which up to `more` edges are added. Bandwidths are from 1 to 4.
fn network(nodes: u64, more: u64, random: &mut Random) -> Arc<Network> {
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

/// Returns the time of a direct exchange, divided by the lower bound. If `stepwise`, the exchange
/// has one step for each distance between sender and receiver. Otherwise the exchange is a single
/// step.
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
    let bound = machine.lower_bound(task.topology.as_ref(), &Traffic::of(task));
    evaluator.cost().unwrap().parts.total() / bound.total_us()
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

/// Returns the lower bound on the largest link load, divided by the smallest possible value.
fn closeness(task: &Task) -> f64 {
    Traffic::of(task).on_links.bytes / optimal_load(task)
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
    // A bound from cuts can be below the optimum, because the optimal flow need not fill all links
    // of a cut. The smallest ratio of a bound to the optimum is 0.92. All but two bounds are exact.
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
    // Here the bound is below the optimum. All short routes between two clusters use the same
    // cross-edge, and no cut contains only this edge.
    assert!((0.75..1.0).contains(&closeness("rdn:1(ring:3)")));
}

/// The best cut separates nodes 3 and 6 from all other nodes: 80 bytes for node 3 cross two links.
/// No order of the nodes has these two nodes first.
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

/// For each family of topologies, its name, specs of small networks, and the smallest ratio of a
/// lower bound to the optimum (listed in docs/figures.md).
const FAMILIES: &[(&str, &[&str], f64)] = &[
    ("torus", &["torus:3x4", "torus:4ox3", "mesh:3x3", "ring:7"], 0.888),
    ("hypercube", &["hypercube:3"], 0.833),
    ("fully-connected", &["fully-connected:6"], 1.0),
    ("twisted-torus", &["twisted-torus:2x4", "twisted-torus:2x2x4", "twisted-torus:3x6"], 0.833),
    ("rdn", &["rdn:1(ring:3)", "rdn:1(hypercube:1)"], 0.8435),
    ("fat-tree", &["fat-tree:2x2", "fat-tree:2x3", "fat-tree:3x2", "fat-tree:4x1"], 1.0),
    ("dragonfly", &["dragonfly:3x2x1", "dragonfly:3x2x3", "dragonfly:5x2x2"], 0.857),
    ("hyperx", &["hyperx:2x3", "hyperx:2x3,nodes=2", "hyperx:4,nodes=3", "hyperx:3x3"], 1.0),
    ("slim-fly", &["slim-fly:3"], 1.0),
    ("jellyfish", &["jellyfish:6x3x1,seed=1", "jellyfish:6x3x2,seed=2"], 0.9166),
    ("groups", &["groups:2x3", "groups:3x3,inside=9", "groups:2x4,inside=0.5"], 0.888),
    ("graph", &["graph:racks", "graph:tree"], 1.0),
    ("ranks", &["torus:2x3,ranks=2", "fat-tree:2x2,ranks=2", "mesh:2x2,ranks=3,place=cyclic"], 1.0),
    ("tofu", &["tofu:1x1x1", "tofu:2ox1x1", "tofu:1x1x1,place=fold:4x2"], 0.9744),
];

/// Parses a topology. The names `racks` and `tree` are topologies with switches, which are read
/// from files.
fn with_files(spec: &str) -> Arc<Network> {
    const RACKS: &str = "ranks 0 2\nranks 1 3\nranks 2 2 0.5\n0 1 2\n1 2\n0 2 0.5\n";
    const TREE: &str = "switch 0 1 2\n0 1 2\n0 2 2\n3 1\n4 1\n5 2\n6 2\n7 2\n";
    parse_with(spec, &|file| Ok(if file == "racks" { RACKS } else { TREE }.to_owned())).unwrap()
}

/// The bytes from one node to another.
type BytesOfPair<'a> = &'a dyn Fn(u64, u64) -> u64;

/// Returns exchanges of different kinds: uniform, with a root, and with a different amount for each
/// pair of nodes.
fn exchanges(topology: &Arc<Network>, random: &mut Random) -> Vec<(&'static str, Task)> {
    let n = topology.nodes();
    let of = |kind| Collective::of(kind);
    let task = |collective| Task::new(Arc::clone(topology), collective);
    let mut tasks = vec![
        ("uniform", task(of(&ALL_TO_ALL))),
        ("scatter", task(of(&SCATTER).at(n / 2))),
        ("gather", task(of(&GATHER).at(n - 1))),
    ];
    let (hot, seed) = (random.below(n), random.below(1 << 30));
    let draw = |from: u64, to: u64| Random(seed + from * n + to).below(1 << 30);
    let tables: [(&str, BytesOfPair); 5] = [
        ("hot sender", &|from, _| if from == hot { 1024 } else { 8 }),
        ("irregular", &|from, to| draw(from, to) % 100),
        ("sparse", &|from, to| u64::from(draw(from, to) % 8 == 0) * (1 + draw(to, from) % 99)),
        ("few pairs", &|from, to| {
            u64::from((from, to) == (0, 1) || draw(from, to) % (n * n / 3) == 0)
        }),
        ("half to half", &|from, to| u64::from(from < n / 2 && to >= n / 2)),
    ];
    tasks.extend(tables.map(|(name, bytes)| {
        let sizes = Table(n, (0..n * n).map(|pair| bytes(pair / n, pair % n)).collect());
        (name, Task { sizes: Some(Arc::new(sizes)), ..task(of(&ALL_TO_ALL)) })
    }));
    tasks
}

#[test]
fn no_bound_of_any_family_is_above_the_optimum() {
    let mut random = Random(3);
    for (family, specs, smallest) in FAMILIES {
        let mut ratios = Vec::new();
        for spec in *specs {
            for (exchange, task) in exchanges(&with_files(spec), &mut random) {
                let ratio = closeness(&task);
                assert!(ratio < 1.0 + 1e-6, "{spec}, {exchange}: {ratio}");
                ratios.push((ratio, format!("{spec}, {exchange}")));
            }
        }
        let (worst, case) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert!((smallest - 1e-6..smallest + 1e-3).contains(worst), "{family}: {worst}, {case}");
    }
}

/// Failed and slow links reduce the capacity of cuts, possibly in one direction only.
#[test]
fn no_bound_with_failed_links_is_above_the_optimum() {
    let mut random = Random(4);
    let (mut exact, mut all) = (0, 0);
    for spec in [
        "ring:6,down=0-1",
        "ring:6,down=0~1",
        "torus:3x3,down=0-1+0~3",
        "torus:3x3,slow=0-1:0.5+4~5:0.25",
        "mesh:3x3,faults=3:1",
        "torus:2x4,faults=2:1,slow-links=2:0.5:1",
        "hyperx:2x3,nodes=2,down=12-13",
        "fat-tree:2x2,slow=0~4:0.5",
        "torus:2x3,down=0~1,ranks=2",
        "hypercube:3,down=0-1+1~3+7~5",
    ] {
        for (exchange, task) in exchanges(&with_files(spec), &mut random) {
            let ratio = closeness(&task);
            assert!(ratio < 1.0 + 1e-6, "{spec}, {exchange}: {ratio}");
            assert!(ratio > 0.75, "{spec}, {exchange}: {ratio}");
            (exact, all) = (exact + u64::from(ratio > 1.0 - 1e-6), all + 1);
        }
    }
    assert!(4 * exact > 3 * all, "{exact} of {all} bounds are exact");
}

/// One node has far more data than all other nodes, and all of its bytes must pass through its
/// links. The test tries several nodes for this role. In an even exchange, the slow links between
/// one group and all other groups determine the bound.
#[test]
fn links_of_every_node_and_tier_are_bounded() {
    for (spec, links) in [
        ("slim-fly:5", 1.0),
        ("fat-tree:4x3", 1.0),
        ("hyperx:4x4,nodes=3", 1.0),
        ("dragonfly:9x4x2", 1.0),
        ("jellyfish:20x4x3,seed=1", 1.0),
        ("groups:4x8", 2.0),
        ("graph:tree", 1.0),
    ] {
        let topology = with_files(spec);
        let n = topology.nodes();
        for hot in [0, 1, n / 2, n - 1] {
            let sizes = (0..n * n).map(|pair| if pair / n == hot { 2600 } else { 1 }).collect();
            let task = Task::new(Arc::clone(&topology), Collective::of(&ALL_TO_ALL));
            let traffic = Traffic::of(&Task { sizes: Some(Arc::new(Table(n, sizes))), ..task });
            let bytes = (n - 1) as f64 * 2600.0 / links;
            assert_eq!(traffic.on_links.bytes, bytes, "{spec}, node {hot}");
        }
    }
    let even =
        |spec| Traffic::of(&Task::new(with_files(spec), Collective::of(&ALL_TO_ALL))).on_links;
    assert_eq!(even("groups:4x8,inside=9,inside_hop=0").bytes, 24.0, "8 x 24 blocks over 8 links");
    assert_eq!(even("groups:2048x8,inside=9").bytes, 8192.0, "8192^2 blocks over 8192 links");
}
