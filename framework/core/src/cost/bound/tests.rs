use super::*;
use crate::cost::kind::Kind;
use crate::cost::machine::Machine;
use crate::cost::model::{Cost, PricingContext};
use crate::delivery::boxes::{Axis, NodeSet};
use crate::delivery::collective::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, BROADCAST, BlockSizes, Collective, CollectiveKind, GATHER,
    REDUCE, REDUCE_SCATTER, SCATTER,
};
use crate::delivery::exchange::Rule;
use crate::network::topology::{parse, parse_with};
use crate::simulation::{Simulation, Task};
use std::sync::Arc;

fn bound(topology: &str, machine: &str) -> Bound {
    let topology = parse(topology).unwrap();
    let machine = Machine::parse(machine).unwrap();
    let traffic = Traffic::of(&Task::new(Arc::clone(&topology), Collective::of(&ALL_TO_ALL)));
    machine.lower_bound(topology.as_ref(), &traffic)
}

#[test]
fn the_bisection_bounds_transmission_as_in_suh_and_shin() {
    // With n nodes and a longest side N1, the bound is `n N1 / 8` blocks on a torus, `n N1 / 4` on
    // a mesh.
    assert_eq!(
        bound("torus:16x16", "free:byte_us=1").times[Kind::Transmission],
        256.0 * 16.0 / 8.0
    );
    assert_eq!(bound("mesh:8x16", "free:byte_us=1").times[Kind::Transmission], 128.0 * 16.0 / 4.0);
    assert_eq!(
        bound("mesh:8x16", "free:byte_us=1,free_contention=2").times[Kind::Transmission],
        128.0 * 16.0 / 8.0
    );
    assert_eq!(bound("fully-connected:64", "free:byte_us=1").times[Kind::Transmission], 63.0);
    assert_eq!(
        bound("fully-connected:64", "free:byte_us=1,ports=3").times[Kind::Transmission],
        21.0
    );
}

#[test]
fn reached_nodes_double_in_each_step_with_one_port() {
    assert_eq!(bound("torus:4x4", "free:startup_us=1").times[Kind::Startup], 4.0);
    assert_eq!(bound("ring:5", "free:startup_us=1").times[Kind::Startup], 3.0);
    assert_eq!(bound("ring:9", "free:startup_us=1,ports=2").times[Kind::Startup], 2.0);
    assert_eq!(bound("torus:4x4", "free:barrier_us=1").times[Kind::Barrier], 3.0);
    assert_eq!(bound("torus:8x6", "free:hop_us=1").times[Kind::Propagation], 7.0);
    assert_eq!(bound("ring:1", "paragon"), Bound::default());
}

#[test]
fn odd_sides_are_cut_as_evenly_as_possible() {
    assert_eq!(bound("ring:5", "free:byte_us=1,ports=all").times[Kind::Transmission], 3.0);
}

#[test]
fn permutations_take_a_step_and_load_the_links() {
    // Every node sends to the node that is half a side away in each dimension. With d dimensions of
    // side n, the bounds are 1 start-up, `d n/2` hops and `n/4` blocks (Spencer, section 4.6).
    let topology = parse("torus:8x8").unwrap();
    let half = |node: u32| (node / 8 + 4) % 8 * 8 + (node + 4) % 8;
    let permuted = |to: Vec<u32>| {
        Traffic::of(&Task::new(Arc::clone(&topology), Collective::permutation("p", to.into())))
    };
    let traffic = permuted((0..64).map(half).collect());
    let machine =
        Machine::parse("free:model=circuit,startup_us=1,hop_us=0.5,byte_us=1,ports=all").unwrap();
    let bound = machine.lower_bound(topology.as_ref(), &traffic);
    assert_eq!(
        (
            bound.times[Kind::Startup],
            bound.times[Kind::Propagation],
            bound.times[Kind::Transmission],
            bound.times[Kind::Barrier]
        ),
        (1.0, 4.0, 2.0, 0.0)
    );
    let still = permuted((0..64).collect());
    assert_eq!(machine.lower_bound(topology.as_ref(), &still), Bound::default());
}

fn of_blocks(topology: &str, collective: Collective, machine: &str) -> (f64, BoundKind) {
    const TWO_K5: &str = "0 1\n0 2\n0 3\n0 4\n1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n5 6\n5 7\n5 8\n5 9\n6 7\n6 8\n6 9\n7 8\n7 9\n8 9\n4 5\n";
    let read =
        |file: &str| Ok(if file == "fast" { "0 1 4\n1 2 4\n2 3 0.5\n" } else { TWO_K5 }.to_owned());
    let topology = parse_with(topology, &read).unwrap();
    let traffic = Traffic::of(&Task::new(Arc::clone(&topology), collective)).in_bytes(100.0);
    let machine = Machine::parse(&format!("free:byte_us=1,{machine}")).unwrap();
    let bound = machine.lower_bound(topology.as_ref(), &traffic);
    (bound.times[Kind::Transmission], bound.kind)
}

#[test]
fn cuts_bound_user_defined_networks() {
    // In the first network, 25 blocks cross the only link between two groups of five nodes. In the
    // second, 3 blocks cross a link with half of the machine's bandwidth.
    let all_to_all = || Collective::of(&ALL_TO_ALL);
    assert_eq!(of_blocks("graph:two-k5", all_to_all(), "ports=1"), (2500.0, BoundKind::Cut));
    assert_eq!(of_blocks("graph:fast", all_to_all(), "ports=all"), (600.0, BoundKind::NodeLinks));
    assert_eq!(of_blocks("torus:8x8", all_to_all(), "ports=1"), (6400.0, BoundKind::Bisection));
}

#[test]
fn blocks_that_may_be_copied_cross_a_cut_once() {
    assert_eq!(
        of_blocks("graph:two-k5", Collective::of(&ALL_GATHER), "ports=all"),
        (500.0, BoundKind::Cut)
    );
    assert_eq!(
        of_blocks("ring:8", Collective::of(&ALL_GATHER), "ports=all").0,
        350.0,
        "7 blocks into each node"
    );
}

#[test]
fn a_node_has_no_more_ports_than_links() {
    let scatter = || Collective::of(&SCATTER);
    assert_eq!(of_blocks("mesh:3x4", scatter(), "ports=all"), (550.0, BoundKind::NodeLinks));
    assert_eq!(of_blocks("mesh:3x4", scatter().at(5), "ports=all").0, 275.0);
    assert_eq!(of_blocks("mesh:300x400", scatter(), "ports=all").0, 119_999.0 * 50.0);
}

#[test]
fn the_port_of_the_root_bounds_a_scatter_and_a_gather() {
    for kind in [&SCATTER, &GATHER] {
        let found = of_blocks("fully-connected:8", Collective::of(kind), "ports=1");
        assert_eq!(found, (700.0, BoundKind::Ports), "{}", kind.word);
    }
}

#[test]
fn parallel_links_carry_several_messages_to_the_same_node() {
    let of = |spec| of_blocks(spec, Collective::of(&ALL_TO_ALL), "ports=all").0;
    assert_eq!([of("ring:2"), of("torus:2x1")], [50.0; 2]);
    assert_eq!(of_blocks("ring:2", Collective::of(&ALL_TO_ALL), "ports=1").0, 100.0);
}

#[test]
fn distances_bound_irregular_networks() {
    let stored = of_blocks("mesh:8x8", Collective::of(&ALL_TO_ALL), "model=store-and-forward");
    assert_eq!(stored, (33_600.0, BoundKind::Distances));
}

#[derive(Debug)]
struct Sizes(u64, fn(u64, u64) -> u64);

impl BlockSizes for Sizes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        (self.1)(origin, destination)
    }

    fn largest(&self) -> u64 {
        self.0
    }
}

const HALF_TO_HALF: Sizes = Sizes(1, |from, to| u64::from(from < 8 && to >= 8));

#[test]
fn uneven_traffic_is_bounded_by_its_own_cuts_and_distances() {
    let task = Task::new(parse("ring:16").unwrap(), Collective::of(&ALL_TO_ALL));
    let traffic = Traffic::of(&Task { sizes: Some(Arc::new(HALF_TO_HALF)), ..task.clone() });
    let machine = Machine::parse("free:byte_us=1,ports=all").unwrap();
    let bound = machine.lower_bound(task.topology.as_ref(), &traffic);
    assert_eq!(
        (bound.times[Kind::Transmission], bound.kind),
        (32.0, BoundKind::Cut),
        "64 bytes over two links"
    );
    assert_eq!((traffic.hop_bytes, traffic.farthest), (344.0, 8));
}

#[derive(Debug)]
struct OfOrigins([u64; 4]);

impl BlockSizes for OfOrigins {
    fn bytes(&self, origin: u64, _: u64) -> u64 {
        self.0[origin as usize]
    }

    fn largest(&self) -> u64 {
        self.0.into_iter().max().unwrap_or(0)
    }
}

/// In an allgatherv, the node with the least data receives the most. In a broadcast, only the
/// root's data counts.
#[test]
fn blocks_for_all_nodes_count_as_often_as_they_must_move() {
    let of = |topology: &str, collective: Collective, own: [u64; 4], machine: &str| {
        let topology = parse(topology).unwrap();
        let sizes: Option<Arc<dyn BlockSizes>> = Some(Arc::new(OfOrigins(own)));
        let task = Task { sizes, skip_empty: true, ..Task::new(Arc::clone(&topology), collective) };
        let traffic = Traffic::of(&task);
        let bound = Machine::parse(machine).unwrap().lower_bound(topology.as_ref(), &traffic);
        (bound.times[Kind::Transmission], bound.times[Kind::Startup], traffic.farthest)
    };
    let machine = "free:startup_us=1,byte_us=1";
    let gather = || Collective::of(&ALL_GATHER);
    assert_eq!(of("fully-connected:4", gather(), [2, 3, 5, 100], machine), (108.0, 2.0, 1));
    assert_eq!(
        of("mesh:4", gather(), [0, 0, 7, 0], machine),
        (7.0, 2.0, 2),
        "nothing but the third node's goes"
    );
    assert_eq!(
        of("mesh:4", gather(), [50, 50, 0, 0], "free:byte_us=1,ports=all").0,
        100.0,
        "over the middle link"
    );
    assert_eq!(of("mesh:4", gather(), [0; 4], machine), (0.0, 0.0, 0));
    assert_eq!(
        of("ring:2,ranks=2", gather(), [11, 10, 10, 10], "free:byte_us=1,ports=all").0,
        10.5,
        "21 bytes enter the first node over two links"
    );
    let on_ring = of("ring:4", gather(), [2, 10, 10, 20], "free:byte_us=1,ports=all");
    assert_eq!(on_ring, (20.0, 0.0, 2), "40 bytes enter the first node over two links");
    let broadcast =
        |root| of("mesh:4", Collective::of(&BROADCAST).at(root), [0, 3, 5, 100], machine);
    assert_eq!((broadcast(2), broadcast(0)), ((5.0, 2.0, 2), (0.0, 0.0, 0)));
}

#[test]
fn blocks_for_all_nodes_cross_a_link_into_each_other_node() {
    let gather = Task::new(parse("ring:4").unwrap(), Collective::of(&ALL_GATHER));
    let sizes: Option<Arc<dyn BlockSizes>> = Some(Arc::new(OfOrigins([2, 10, 10, 20])));
    assert_eq!(Traffic::of(&Task { sizes, ..gather }).hop_bytes, 3.0 * 42.0);
}

/// In an allgather on a ring of four nodes with eight ranks each, a copy of each of 24 blocks
/// enters each node over two links, so every link carries at least 12 blocks.
#[test]
fn ranks_of_a_node_share_copies_and_terms() {
    let topology = parse("ring:4,ranks=8").unwrap();
    let of = |kind: &'static CollectiveKind| {
        let traffic = Traffic::of(&Task::new(Arc::clone(&topology), Collective::of(kind)));
        (traffic.hop_bytes, traffic.on_links.bytes)
    };
    assert_eq!(of(&ALL_GATHER), (3.0 * 32.0, 12.0));
    assert_eq!([&BROADCAST, &REDUCE].map(|kind| of(kind).0), [3.0, 3.0]);
    assert_eq!([&REDUCE_SCATTER, &ALL_REDUCE].map(|kind| of(kind).0), [3.0 * 32.0, 2.0 * 3.0]);
}

/// A sum of five terms needs four additions for each byte, which the five nodes can share in a
/// reduce and an allreduce. In a reduce-scatter, each node has a sum.
#[test]
fn additions_bound_reductions() {
    let topology = parse("fully-connected:5").unwrap();
    let machine = Machine::parse("free:reduce_byte_us=1").unwrap();
    let of = |kind: &'static CollectiveKind| {
        let task = Task::new(Arc::clone(&topology), Collective::of(kind));
        let traffic = Traffic::of(&task).in_bytes(100.0);
        machine.lower_bound(topology.as_ref(), &traffic).times[Kind::Reduction]
    };
    assert_eq!([&REDUCE, &ALL_REDUCE, &REDUCE_SCATTER].map(of), [80.0, 80.0, 400.0]);
}

#[test]
fn empty_blocks_of_a_root_have_no_receiver() {
    let topology = parse("fully-connected:6").unwrap();
    let scatter = Task::new(Arc::clone(&topology), Collective::of(&SCATTER));
    let bytes = |_, to| if to == 2 || to == 5 { to } else { 0 };
    let sizes: Option<Arc<dyn BlockSizes>> = Some(Arc::new(Sizes(5, bytes)));
    let traffic = Traffic::of(&Task { sizes, skip_empty: true, ..scatter });
    assert_eq!((traffic.sent, traffic.received, traffic.peers), (7.0, 5.0, 2));
}

#[test]
fn hops_are_startups_when_messages_are_stored() {
    let b = bound("ring:9", "free:model=store-and-forward,startup_us=1,byte_us=1");
    assert_eq!(
        (b.times[Kind::Startup], b.times[Kind::Transmission], b.times[Kind::Propagation]),
        (4.0, 20.0, 0.0)
    );
    let b = bound("ring:40", "free:model=store-and-forward,startup_us=1");
    assert_eq!(b.times[Kind::Startup], 20.0, "the diameter");
}

/// For the two networks `rdn`, Table II of Li, Peng & Chu has transmission times of 512 and 294,912
/// word times, which are below the lower bound.
#[test]
fn blocks_cross_as_many_links_as_their_ends_are_apart_when_messages_are_stored() {
    let words = |topology| {
        bound(topology, "free:model=store-and-forward,byte_us=1").times[Kind::Transmission]
    };
    assert_eq!(words("hypercube:7"), 448.0);
    assert_eq!(words("rdn:1(hypercube:3)"), 560.0);
    assert_eq!(words("rdn:2(hypercube:3)"), 335_616.0);
    assert_eq!(
        bound("hypercube:7", "free:model=store-and-forward,byte_us=1,ports=7").times
            [Kind::Transmission],
        64.0
    );
    assert_eq!(words("mesh:8"), 21.0, "168 hops over 8 nodes");
}

/// The root, node 0, has a large block for node 11, a small one for node 1, and empty ones for
/// other nodes. It sends the two blocks while empty blocks travel up to 6 hops.
#[test]
fn hops_of_one_message_overlap_with_bytes_of_another_when_messages_are_stored() {
    let machine = Machine::parse("free:model=store-and-forward,startup_us=1,byte_us=1").unwrap();
    let topology = parse("ring:12").unwrap();
    let scatter = Task::new(Arc::clone(&topology), Collective::of(&SCATTER));
    let bytes = |_, to| match to {
        11 => 5,
        1 => 1,
        _ => 0,
    };
    let task = Task { sizes: Some(Arc::new(Sizes(5, bytes))), ..scatter };
    let mut evaluator = machine.evaluator(PricingContext::new(&topology, 1.0));
    let mut simulation = Simulation::new(task, vec![evaluator.as_mut()]).unwrap();
    let steps: [&[(u64, u64, u32, u32)]; 5] = [
        &[(0, 1, 2, 10)],
        &[(0, 11, 11, 11), (1, 7, 5, 10)],
        &[(0, 1, 1, 1), (1, 3, 3, 4), (7, 9, 9, 10)],
        &[(1, 2, 2, 2), (3, 4, 4, 4), (9, 10, 10, 10), (7, 6, 5, 6)],
        &[(7, 8, 8, 8), (6, 5, 5, 5)],
    ];
    for sends in steps {
        simulation.step().unwrap();
        for &(from, to, first, last) in sends {
            let destinations = [Axis::Range { first, stride: 1, count: last + 1 - first }];
            let destinations = NodeSet::Axes(&destinations);
            let rule = Rule { destinations, strict: true, ..Rule::new(from, to) };
            simulation.send(&rule, None).unwrap();
        }
    }
    simulation.finish().unwrap();
    let Cost { parts, note, .. } = evaluator.cost().unwrap();
    assert_eq!((parts.total(), note), (11.0, None), "1 + 6 + 2 + 1 + 1");
    let traffic =
        Traffic { sent: 6.0, received: 6.0, peers: 11, farthest: 6, ..Traffic::default() };
    let bound = machine.lower_bound(topology.as_ref(), &traffic);
    assert_eq!(
        (bound.times[Kind::Startup], bound.times[Kind::Transmission], bound.total_us()),
        (4.0, 6.0, 10.0)
    );
}

#[test]
fn startups_depend_on_the_number_of_peers() {
    let machine = Machine::parse("free:startup_us=1,hop_us=1").unwrap();
    let few = |peers| {
        let traffic =
            Traffic { sent: 1.0, received: 1.0, peers, farthest: 1, ..Traffic::default() };
        machine.lower_bound(parse("ring:16").unwrap().as_ref(), &traffic).total_us()
    };
    assert_eq!([0, 1, 2, 15].map(few), [0.0, 2.0, 3.0, 5.0], "start-ups, and a hop");
}

#[test]
fn messages_without_links_have_no_link_bound() {
    let fluid = Machine::parse("free:model=fluid,byte_us=1,injection_byte_us=2,hop_us=5").unwrap();
    let between = |farthest| {
        let traffic =
            Traffic { sent: 10.0, received: 10.0, peers: 1, farthest, ..Traffic::default() };
        fluid.lower_bound(parse("ring:8").unwrap().as_ref(), &traffic).total_us()
    };
    assert_eq!([0, 1, 4, 6].map(between), [0.0, 25.0, 25.0, 30.0]);
}

#[test]
fn flat_bounds_have_composing_copying_and_transmission() {
    let traffic =
        Traffic { sent: 10.0, received: 6.0, by_same_node: true, peers: 3, ..Traffic::default() };
    let parts = |spec: &str, by_same_node| {
        let machine =
            Machine::parse(&format!("free:model=flat,byte_us=4,copy_byte_us=2,{spec}")).unwrap();
        let bound = machine
            .lower_bound(parse("ring:8").unwrap().as_ref(), &Traffic { by_same_node, ..traffic });
        (
            bound.times[Kind::Startup],
            bound.times[Kind::Rearrangement],
            bound.times[Kind::Transmission],
        )
    };
    assert_eq!(
        parts("startup_us=8,rearrange_byte_us=3", true),
        (8.0, 30.0, 10.0 * (1.0 + 4.0) + 6.0)
    );
    assert_eq!(parts("startup_us=8,rearrange_byte_us=3", false), (8.0, 30.0, 10.0 * (1.0 + 4.0)));
    assert_eq!(
        parts("startup_us=8,mode=nonblocking,rearrange_byte_us=3", true),
        (8.0, 30.0, 10.0 * 4.0),
        "the sender's port"
    );
    assert_eq!(
        parts("startup_us=8,mode=nonblocking,rearrange_byte_us=3,ports=4", true),
        (8.0, 30.0, 10.0 + 6.0),
        "its engine"
    );
    assert_eq!(
        parts("startup_us=8,mode=nonblocking,rearrange_byte_us=3,buffers=2,ports=4", true),
        (8.0, 0.0, 16.0)
    );
    assert_eq!(
        parts("startup_us=100,rearrange_byte_us=0", false),
        (200.0, 0.0, 0.0),
        "four nodes after four halves"
    );
}

/// Each of n nodes sends and receives 2 (n - 1) / n of its vector (Patarasuk and Yuan, 2009).
#[test]
fn an_allreduce_moves_almost_twice_the_vector() {
    let (transmission, _) = of_blocks("fully-connected:4", Collective::of(&ALL_REDUCE), "ports=1");
    assert_eq!(transmission, 2.0 * 3.0 / 4.0 * 100.0);
}

/// In networks of more than 512 nodes, not all distances are examined. If blocks are empty, the
/// farthest pair may exchange nothing.
#[test]
fn the_diameter_counts_only_if_all_pairs_exchange_data() {
    let farthest = |sizes: Sizes| {
        let task = Task::new(parse("ring:600").unwrap(), Collective::of(&ALL_TO_ALL));
        Traffic::of(&Task { sizes: Some(Arc::new(sizes)), ..task }).farthest
    };
    let to_next = Sizes(1, |from, to| u64::from(from < 300 && to == from + 1));
    assert_eq!([to_next, HALF_TO_HALF, Sizes(1, |_, _| 1)].map(farthest), [1, 1, 300]);
}

#[test]
fn machines_with_noise_have_no_bound() {
    for machine in ["free:model=fluid,byte_us=1", "free:model=loggp,overhead_us=1"] {
        let with_noise = format!("{machine},noise=0.1");
        assert!(bound("ring:4", machine).total_us() > 0.0, "{machine}");
        assert_eq!(bound("ring:4", &with_noise), Bound::default(), "{machine}");
    }
}

/// Each byte takes a gap as a part of a longer message, or an overhead as a message of its own. The
/// bound is the cheaper of the two for all bytes but one, plus two overheads and a latency for one
/// message.
#[test]
fn loggp_processes_the_bytes_of_a_node_one_after_another() {
    let topology = parse("ring:5").unwrap();
    let task = Task::new(Arc::clone(&topology), Collective::of(&ALL_TO_ALL));
    let traffic = Traffic::of(&task).in_bytes(100.0);
    let total = |machine: &str| {
        let machine = Machine::parse(&format!("free:model=loggp,{machine}")).unwrap();
        machine.lower_bound(topology.as_ref(), &traffic).total_us()
    };
    assert_eq!(total("latency_us=3,overhead_us=2,byte_us=0.5"), 4.0 * 100.0 * 0.5 - 0.5 + 7.0);
    assert_eq!(total("latency_us=3,overhead_us=0.25,byte_us=0.5"), 399.0 * 0.25 + 3.5);
    assert_eq!(total("latency_us=3,overhead_us=0.25,gap_us=1,byte_us=0.5"), 399.0 * 0.5 + 3.5);
}

/// Each of five nodes does a fifth of the four additions for 100 bytes, after one message.
#[test]
fn loggp_reduces_after_one_message() {
    let topology = parse("ring:5").unwrap();
    let task = Task::new(Arc::clone(&topology), Collective::of(&REDUCE));
    let traffic = Traffic::of(&task).in_bytes(100.0);
    let machine = "free:model=loggp,latency_us=3,overhead_us=0.25,reduce_byte_us=10";
    let bound = Machine::parse(machine).unwrap().lower_bound(topology.as_ref(), &traffic);
    assert_eq!(
        (bound.times[Kind::Startup], bound.times[Kind::Propagation], bound.times[Kind::Reduction]),
        (2.0 * 0.25, 3.0, 80.0 * 10.0)
    );
}

/// A test oracle: in small networks, a linear program (maximum concurrent flow) computes the least
/// possible largest link load, which no bound may exceed.
mod max_flow_oracle {
    use super::super::{BoundKind, Traffic};
    use crate::cost::machine::Machine;
    use crate::cost::model::PricingContext;
    use crate::cost::model::test_steps::Random;
    use crate::delivery::boxes::NodeSet;
    use crate::delivery::collective::{
        ALL_GATHER, ALL_TO_ALL, BlockSizes, Collective, GATHER, SCATTER,
    };
    use crate::delivery::exchange::Rule;
    use crate::network::communicators::Communicators;
    use crate::network::topology::adjacency::Adjacency;
    use crate::network::topology::{Graph, Network, families, parse, parse_with};
    use crate::simulation::demand::Blocks;
    use crate::simulation::{Simulation, Task};
    use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
    use std::sync::Arc;

    fn optimal_load(task: &Task) -> f64 {
        let (topology, blocks) = (task.network().as_ref(), Blocks::of(task));
        let network = Adjacency::of(&topology.physical()).unwrap();
        let nodes = topology.physical_nodes() as usize;
        let mut bytes = vec![vec![0.0; nodes]; nodes];
        for (from, to) in
            (0..topology.nodes()).flat_map(|a| (0..topology.nodes()).map(move |b| (a, b)))
        {
            if from != to {
                bytes[topology.physical_node(from) as usize]
                    [topology.physical_node(to) as usize] += blocks.bytes(from, to) as f64;
            }
        }
        let links: Vec<(u32, u32, f64)> = network.links().collect();
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let busiest = problem.add_var(1.0, (0.0, f64::INFINITY));
        let sends = |origin: &usize| (0..nodes).any(|to| to != *origin && bytes[*origin][to] > 0.0);
        let origins: Vec<usize> = (0..nodes).filter(sends).collect();
        let flow: Vec<Vec<Variable>> = origins
            .iter()
            .map(|_| links.iter().map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect())
            .collect();
        for (link, (.., bandwidth)) in links.iter().enumerate() {
            let mut terms: Vec<(Variable, f64)> =
                flow.iter().map(|from| (from[link], 1.0)).collect();
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

    fn network(nodes: u64, more: u64, random: &mut Random) -> Arc<Network> {
        let mut edges: Vec<(u64, u64)> =
            (1..nodes).map(|node| (random.below(node), node)).collect();
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

    /// Returns the time of a direct exchange, divided by the lower bound. The exchange has a single
    /// step or, if `stepwise`, a step for each distance between sender and receiver.
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
            let sizes = Table(
                nodes,
                (0..nodes * nodes).map(|_| random.below(2) * random.below(90)).collect(),
            );
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
                            assert!(
                                slack > 1.0 - 1e-9,
                                "{machine}, {stepwise}: {slack} of {}",
                                nodes
                            );
                        }
                    }
                }
            }
        }
    }

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
            let sizes = Table(
                nodes,
                (0..nodes * nodes).map(|_| random.below(3) * random.below(50)).collect(),
            );
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
        // A bound from cuts can be below the optimum, because the optimal flow need not fill all
        // links of a cut. The smallest ratio is 0.92. All but two bounds are exact.
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
        // All short routes between two clusters use one cross-edge, and no cut has only this edge.
        assert!((0.75..1.0).contains(&closeness("rdn:1(ring:3)")));
    }

    /// The best cut separates nodes 3 and 6: 80 bytes for node 3 cross two links. No order of the
    /// nodes starts with these two.
    #[test]
    fn the_local_search_finds_better_cuts_than_the_orders() {
        let lines = "0 1 2\n1 2 4\n2 3 1\n0 4 4\n4 5 1\n3 6 2\n1 7 1\n0 3 1";
        let mut sizes = vec![0; 64];
        (sizes[8 + 3], sizes[4 * 8 + 3]) = (40, 40);
        let task =
            Task::new(Arc::new(Graph::parse("g", lines).unwrap()), Collective::of(&ALL_TO_ALL));
        let task = Task { sizes: Some(Arc::new(Table(8, sizes))), ..task };
        let traffic = Traffic::of(&task);
        assert_eq!((traffic.on_links.bytes, traffic.on_links.kind), (40.0, BoundKind::Cut));
    }

    /// Families, specs of small networks, and the smallest ratio to the optimum (docs/figures.md).
    const FAMILIES: &[(&str, &[&str], f64)] = &[
        ("torus", &["torus:3x4", "torus:4ox3", "mesh:3x3", "ring:7"], 0.888),
        ("hypercube", &["hypercube:3"], 0.833),
        ("fully-connected", &["fully-connected:6"], 1.0),
        (
            "twisted-torus",
            &["twisted-torus:2x4", "twisted-torus:2x2x4", "twisted-torus:3x6"],
            0.833,
        ),
        ("rdn", &["rdn:1(ring:3)", "rdn:1(hypercube:1)"], 0.8435),
        ("fat-tree", &["fat-tree:2x2", "fat-tree:2x3", "fat-tree:3x2", "fat-tree:4x1"], 1.0),
        ("dragonfly", &["dragonfly:3x2x1", "dragonfly:3x2x3", "dragonfly:5x2x2"], 0.857),
        ("hyperx", &["hyperx:2x3", "hyperx:2x3,nodes=2", "hyperx:4,nodes=3", "hyperx:3x3"], 1.0),
        ("slim-fly", &["slim-fly:3"], 1.0),
        ("jellyfish", &["jellyfish:6x3x1,seed=1", "jellyfish:6x3x2,seed=2"], 0.9166),
        ("groups", &["groups:2x3", "groups:3x3,inside=9", "groups:2x4,inside=0.5"], 0.888),
        ("graph", &["graph:racks", "graph:tree"], 1.0),
        (
            "ranks",
            &["torus:2x3,ranks=2", "fat-tree:2x2,ranks=2", "mesh:2x2,ranks=3,place=cyclic"],
            1.0,
        ),
        ("tofu", &["tofu:1x1x1", "tofu:2ox1x1", "tofu:1x1x1,place=fold:4x2"], 0.9744),
    ];

    fn with_files(spec: &str) -> Arc<Network> {
        const RACKS: &str = "ranks 0 2\nranks 1 3\nranks 2 2 0.5\n0 1 2\n1 2\n0 2 0.5\n";
        const TREE: &str = "switch 0 1 2\n0 1 2\n0 2 2\n3 1\n4 1\n5 2\n6 2\n7 2\n";
        parse_with(spec, &|file| Ok(if file == "racks" { RACKS } else { TREE }.to_owned())).unwrap()
    }

    type BytesOfPair<'a> = &'a dyn Fn(u64, u64) -> u64;

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
        for family in families() {
            let is_of_family = |spec: &&str| spec.split(':').next() == Some(family.name);
            let mut specs = FAMILIES.iter().flat_map(|(_, specs, _)| *specs);
            assert!(specs.any(is_of_family), "no small network of the family {}", family.name);
        }
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
            assert!(
                (smallest - 1e-6..smallest + 1e-3).contains(worst),
                "{family}: {worst}, {case}"
            );
        }
    }

    #[test]
    fn no_bound_of_communicators_is_above_the_optimum() {
        let mut ratios = Vec::new();
        for (spec, over) in [
            ("ring:6,mesh=a:2/b:3", "a"),
            ("ring:6,mesh=a:2/b:3", "b"),
            ("ring:8,mesh=a:2/b:2/a:2", "a"),
            ("torus:3x4,mesh=a:3/b:4", "a"),
            ("torus:3x4,mesh=a:6/b:2", "a"),
            ("torus:3x4,mesh=a:6/b:2", "b"),
            ("mesh:3x3,mesh=a:3/b:3", "b"),
            ("hypercube:3,mesh=a:2/b:2/a:2", "a"),
            ("fat-tree:2x3,mesh=a:2/b:4", "a"),
            ("fat-tree:2x3,mesh=a:2/b:4", "b"),
            ("dragonfly:3x2x2,mesh=a:3/b:4", "a"),
            ("groups:2x4,inside=3,mesh=a:2/b:4", "a"),
            ("groups:2x4,inside=3,mesh=a:4/b:2", "a"),
            ("torus:2x3,ranks=2,mesh=a:3/b:4", "b"),
            ("torus:3x3,down=0-1+0~3,mesh=a:3/b:3", "a"),
        ] {
            let network = parse(spec).unwrap();
            let all = Arc::new(Communicators::over(over, &network).unwrap());
            for kind in [&ALL_TO_ALL, &SCATTER, &GATHER] {
                let task = Task::new(Arc::clone(all.view()), Collective::of(kind).at(1));
                let task = Task { communicators: Some(Arc::clone(&all)), ..task };
                let ratio = closeness(&task);
                assert!(ratio < 1.0 + 1e-6, "{spec}, over {over}, {}: {ratio}", kind.word);
                ratios.push(ratio);
            }
        }
        ratios.sort_by(f64::total_cmp);
        let exact = ratios.iter().filter(|ratio| **ratio > 1.0 - 1e-6).count();
        assert!(ratios[0] > 0.5 && exact > 20, "{} of {} exact: {ratios:?}", exact, ratios.len());
    }

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

    /// If one node has far more data than all others, its data must pass through its links,
    /// whichever node it is. In an even exchange, the slow links between one group and the others
    /// determine the bound.
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
        assert_eq!(
            even("groups:4x8,inside=9,inside_hop=0").bytes,
            24.0,
            "8 x 24 blocks over 8 links"
        );
        assert_eq!(even("groups:2048x8,inside=9").bytes, 8192.0, "8192^2 blocks over 8192 links");
    }
}

mod random_schedules {
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

        /// Returns the spec of a machine of this model. The parameter `place` of the model, and up
        /// to three others, may differ from their defaults. If more of them differed, few bounds
        /// would be tight.
        fn machine(&mut self, kind: &ModelKind, place: usize) -> String {
            let mut places = vec![place];
            for _ in 0..self.below(4) {
                places.push(self.below(kind.parameters.len() as u64) as usize);
            }
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
                "protocols" | "switch_fraction" => &["byte_us"],
                "grouped" => &["startup_us"],
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
                    // With rounds, bounds on hops are not tight, because each round charges hops.
                    "ports" if first == "hops" => &["all"],
                    "ports" => &["1", "2", "all"],
                    "virtual_channels" | "buffers" => &["1", "2"],
                    "rearrangement" => &["packed", "exchanges", "declared"],
                    "mode" => &["blocking", "nonblocking"],
                    "self_messages" => &["free", "count"],
                    "order" if spec.contains("barrier_us") => &["step", "barrier"],
                    "order" => &["step", "barrier", "data"],
                    "fairness" => &["equal", "rtt"],
                    "rendezvous_bytes" => &["0", "150"],
                    "weight_bytes" => &["0", "100"],
                    "late" => &["1:50", "random:2:9"],
                    "latency_factor" | "bandwidth_factor" => &["0.7", "1.9"],
                    "fabric_factor" | "chunk_startups" => &["0", "0.5", "3"],
                    "switch_fraction" => &["0.5", "2"],
                    "protocols" => &["A:1/5/0.5/0.25+B:3/9/1/1", "A:2/0/1.5/1"],
                    "grouped" => &["yes", "no"],
                    "noise" => &["0.1"],
                    "most_events" | "second_eps_us" | "flow_window" | "background" => continue,
                    _ if key.ends_with("_us") => &["0.1", "1", "3", "20"],
                    _ => panic!("this test has no values of the parameter {key}"),
                };
                spec += &format!(",{key}={}", self.one_of(values));
            }
            spec
        }

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
            if collective.kind().is_rooted() {
                collective.at(self.below(nodes))
            } else {
                collective
            }
        }

        /// Returns the edges of a random tree from `root` (parent, child, step).
        fn tree(&mut self, root: u64, nodes: u64) -> Vec<(u64, u64, u64)> {
            let (mut reached, mut edges) = (vec![(root, 0)], Vec::new());
            let mut others: Vec<u64> = (0..nodes).filter(|node| *node != root).collect();
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

    type Send = (u64, Rule<'static>);

    fn schedule(random: &mut Random, collective: &Collective, nodes: u64) -> Vec<Send> {
        let kind = collective.kind();
        let root = collective.root().unwrap_or(0);
        let mut sends = Vec::new();
        let turned = |edges: Vec<(u64, u64, u64)>| {
            let last = edges.iter().map(|(.., step)| *step).max().unwrap_or(0);
            let edges = edges
                .into_iter()
                .map(move |(parent, child, step)| (child, parent, last + 1 - step));
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
                sends.extend(
                    edges.into_iter().map(|(from, to, step)| (last + step, copy(from, to))),
                );
            }
        } else {
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

    /// A case, its lower bound, its time, and, with `hops=mean`, the bound that `hops=longest`
    /// would have.
    type BoundAndTime = (String, f64, f64, Option<f64>);

    fn bound_and_time(seed: u64) -> Option<BoundAndTime> {
        let mut random = Random(seed);
        for _ in 0..3 {
            random.below(2);
        }
        let all =
            models().iter().flat_map(|kind| (0..kind.parameters.len()).map(move |p| (kind, p)));
        let all: Vec<_> = all.collect();
        let (kind, place) = all[seed as usize % all.len()];
        let (spec, network) = (random.machine(kind, place), random.one_of(&TOPOLOGIES));
        let topology = parse_with(network, &|_| Ok(LOPSIDED.to_owned())).unwrap();
        let topology = topology.sample(seed).unwrap_or(topology);
        let nodes = topology.nodes();
        let collective = random.collective(nodes);
        let block = random.one_of(&[1, 8, 100, 1000]);
        let is_uneven = random.below(3) == 0;
        let sizes = is_uneven.then(|| {
            let mut sizes = Random(seed + 1);
            let table: Vec<u64> = (0..nodes * nodes).map(|_| sizes.below(3) * block).collect();
            SizeTable::of(nodes, |from, to| table[(from * nodes + to) as usize])
        });
        let sizes = sizes.flatten();
        let unit = if is_uneven { 1.0 } else { block as f64 };
        let skip_empty = is_uneven;
        let task =
            Task { sizes, skip_empty, ..Task::new(Arc::clone(&topology), collective.clone()) };
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
        let case = format!(
            "seed {seed}: {collective} of {block} (uneven: {is_uneven}) on {network}, {spec}"
        );
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
        assert!(
            wrong.is_empty(),
            "{} wrong bounds: {:#?}",
            wrong.len(),
            &wrong[..wrong.len().min(12)]
        );
        assert!(cases > 3000 && tight > 100, "{cases} cases, {tight} of them near their bound");
        assert!(by_hops > 0, "no case would notice a bound with the hops of the longest route");
    }
}
