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
    // With n nodes and a longest side N1, the bound is `n N1 / 8` blocks on a torus and `n N1 / 4`
    // blocks on a mesh.
    assert_eq!(
        bound("torus:16x16", "free:byte_us=1").times[Kind::Transmission],
        256.0 * 16.0 / 8.0
    );
    assert_eq!(bound("mesh:8x16", "free:byte_us=1").times[Kind::Transmission], 128.0 * 16.0 / 4.0);
    // A link that carries two messages at full speed halves the bound.
    assert_eq!(
        bound("mesh:8x16", "free:byte_us=1,free_contention=2").times[Kind::Transmission],
        128.0 * 16.0 / 8.0
    );
    // On small or dense networks the ports are the bottleneck.
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
    // The bisection separates 2 nodes from 3 nodes, and has two links in each direction.
    assert_eq!(bound("ring:5", "free:byte_us=1,ports=all").times[Kind::Transmission], 3.0);
}

#[test]
fn permutations_take_a_step_and_load_the_links() {
    // Every node sends to the node that is half a side away in each dimension. With d dimensions of
    // side n, the bounds on start-ups, propagation and transmission are 1 start-up, `d n/2` hops
    // and `n/4` blocks (Spencer, section 4.6).
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

/// Returns the transmission bound for blocks of 100 bytes, and its kind.
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
    // second network, 3 blocks cross a link with half of the machine's bandwidth.
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

/// The port of the root transmits one block for each other node.
#[test]
fn the_port_of_the_root_bounds_a_scatter_and_a_gather() {
    for kind in [&SCATTER, &GATHER] {
        let found = of_blocks("fully-connected:8", Collective::of(kind), "ports=1");
        assert_eq!(found, (700.0, BoundKind::Ports), "{}", kind.word);
    }
}

/// A ring of two nodes has two links in each direction, so a block can be divided between them.
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

/// Block sizes that a function computes from origin and destination, and the largest of them.
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

/// Nodes 0 to 7 have one byte for each node from 8 on, and all other blocks are empty.
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

/// The block size of each of four nodes in an allgatherv.
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

/// In an allgatherv, the node with the smallest block receives most data. In a broadcast, only the
/// root's block counts.
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

/// Each block of an allgatherv of 42 bytes must enter the three other nodes, however it is routed.
#[test]
fn blocks_for_all_nodes_cross_a_link_into_each_other_node() {
    let gather = Task::new(parse("ring:4").unwrap(), Collective::of(&ALL_GATHER));
    let sizes: Option<Arc<dyn BlockSizes>> = Some(Arc::new(OfOrigins([2, 10, 10, 20])));
    assert_eq!(Traffic::of(&Task { sizes, ..gather }).hop_bytes, 3.0 * 42.0);
}

/// A sum of five terms needs four additions for each byte. In a reduce and an allreduce, the five
/// nodes can share these additions. In a reduce-scatter, there is a sum for each of the nodes.
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

/// A root with two blocks that are not empty has two peers.
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

/// For the two networks `rdn`, the transmission times in Table II of Li, Peng & Chu are 512 and
/// 294,912 times the time of a word. The lower bound is larger than both values.
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

/// A long message can overlap with a message over many hops. The root, node 0, has a large block
/// for node 11, a small block for node 1, and empty blocks for all other nodes. It sends the two
/// blocks while empty blocks travel up to 6 hops.
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
    // Each message is (sender, receiver, first destination, last destination). The last two numbers
    // are the range of the destinations of its blocks.
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
    // The bound is the larger of two times: one latency and ten bytes on the link into the network,
    // or the latency of the longest route.
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

/// Each of n nodes sends and receives at least 2 (n - 1) / n of its vector in an allreduce
/// (Patarasuk and Yuan, 2009).
#[test]
fn an_allreduce_moves_almost_twice_the_vector() {
    let (transmission, _) = of_blocks("fully-connected:4", Collective::of(&ALL_REDUCE), "ports=1");
    assert_eq!(transmission, 2.0 * 3.0 / 4.0 * 100.0);
}

/// With more than 512 nodes, the distances of all pairs are not examined. If some blocks are empty,
/// the farthest pair may be one of those that exchange nothing.
#[test]
fn the_diameter_counts_only_if_all_pairs_exchange_data() {
    let farthest = |sizes: Sizes| {
        let task = Task::new(parse("ring:600").unwrap(), Collective::of(&ALL_TO_ALL));
        Traffic::of(&Task { sizes: Some(Arc::new(sizes)), ..task }).farthest
    };
    // Only nodes of the first half send, each to the next node.
    let to_next = Sizes(1, |from, to| u64::from(from < 300 && to == from + 1));
    assert_eq!([to_next, HALF_TO_HALF, Sizes(1, |_, _| 1)].map(farthest), [1, 1, 300]);
}

/// A random factor can make a message arbitrarily fast, so the only lower bound is 0.
#[test]
fn machines_with_noise_have_no_bound() {
    for machine in ["free:model=fluid,byte_us=1", "free:model=loggp,overhead_us=1"] {
        let with_noise = format!("{machine},noise=0.1");
        assert!(bound("ring:4", machine).total_us() > 0.0, "{machine}");
        assert_eq!(bound("ring:4", &with_noise), Bound::default(), "{machine}");
    }
}

/// A node can receive many bytes in one message, at the cost of one gap per byte. Or it can receive
/// each byte in a message of its own, at the cost of an overhead. The bound uses the cheaper way
/// for all bytes but one. In addition, one message takes two overheads and a latency.
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

/// The node that reduces most receives at least one message. Each of five nodes does a fifth of the
/// four additions for each of 100 bytes.
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
