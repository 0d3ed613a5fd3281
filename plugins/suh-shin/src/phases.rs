//! The phases on a torus or mesh of n dimensions. Submeshes have 4 nodes in each dimension (mesh:
//! 2). The nodes at the same position of their submeshes are a group. In Phases 1 .. n, groups
//! exchange along rings, so that each block reaches the submesh of its destination. Then the nodes
//! of each submesh exchange.

use crate::directions::direction;
use crate::network::{NetworkKind, PaddedNetwork};
use std::cmp::Ordering;
use swapmeet_sdk::{Axis, Blocks, Route, Schedule, Set, Stop, Straight, serialized_rounds};

pub(crate) fn run(network: &PaddedNetwork, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let n = network.axes.len();
    for phase in 1..=n {
        begin(schedule, phase)?;
        ring_phase(network, phase, schedule)?;
    }
    begin(schedule, n + 1)?;
    if network.kind == NetworkKind::Torus {
        for j in 1..=n {
            exchange(
                network,
                2,
                |x| (1..=j).map(|turn| direction(network.kind, x, turn).0).collect(),
                schedule,
            )?;
        }
        begin(schedule, n + 2)?;
    }
    // The last phase: in step j, all nodes send along dimension j.
    //
    // Erratum: Step 2 of the 2D mesh is printed with the groups of Step 1. Here, even rows (EE, EO)
    // send to r + 1 and odd rows (OE, OO) to r - 1.
    (0..n).try_for_each(|j| exchange(network, 1, |_| (0..=j).collect(), schedule))
}

/// Begins a phase. Between two phases, nodes rearrange their data once, as the paper's costs assume
/// (sections 3.2.3 and 4.2). In three and more dimensions, one rearrangement does not make every
/// message contiguous, because each of the three sends of a phase has four octants of a node's
/// data.
fn begin(schedule: &mut Schedule<'_>, phase: usize) -> Result<(), Stop> {
    if phase > 1 {
        schedule.rearrange()?;
    }
    schedule.phase(&format!("Phase {phase}"))
}

/// Adds the ring steps of a phase. N is the size of the dimension along which a node sends. In Step
/// s = 1 .. N/4 - 1 (mesh: N/2 - 1):
///
/// ```text
/// P(.., x, ..) -> P(.., (x +- 4) mod N, ..)      torus
/// P(.., x, ..) -> P(.., (x + 2) mod N, ..)       mesh
/// ```
///
/// The message has all blocks for the next N/4 - s submeshes in that direction: columns 4s .. N-1
/// of the data array. The longest dimension determines the number of steps. Nodes that send along a
/// shorter dimension skip the last steps.
///
/// Erratum: Fig. 5 prints C, the number of columns, also for the classes that send along r.
fn ring_phase(
    network: &PaddedNetwork,
    phase: usize,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let (grid, q) = (network.nodes.grid(), network.submesh);
    let longest = grid.radices().iter().max().map_or(0, |side| side / q);
    (1..longest).try_for_each(|s| {
        let moves = |x: &[u64], node| {
            let (k, sign) = direction(network.kind, x, phase);
            let axis = network.axes[k];
            let to = grid.shift(node, axis, i64::from(sign) * q as i64);
            let (receiver_at, submeshes) = (grid.coordinate(to, axis), grid.radix(axis) / q);
            // If the direction is positive, the receiver is in the first of the destination
            // submeshes, otherwise in the last one.
            let first =
                if sign > 0 { receiver_at / q } else { (receiver_at / q + s + 1) % submeshes };
            // In a mesh, the last message of a logical ring leads back along the line, by the
            // topology's route. Several virtual nodes can have the same home (the real node that
            // represents them). Between such nodes, no route is needed.
            let changes_home =
                network.nodes.home(axis, x[k]) != network.nodes.home(axis, receiver_at);
            let sign = if network.kind == NetworkKind::Torus && changes_home { sign } else { 0 };
            (s < submeshes).then(|| {
                let destinations = (2 * axis, Axis::range(first, submeshes - s));
                GridSend { from: node, to, axis, sign, destinations }
            })
        };
        step(network, false, moves, schedule)
    })
}

/// In Phase n+1 of a torus, the halves of the 4x..x4 submeshes exchange (`distance` d = 2). In the
/// last phase, nodes exchange within the 2x..x2 submeshes (d = 1):
///
/// ```text
/// IF x mod 2d < d, P(.., x, ..) -> P(.., x + d, ..)
/// ELSE             P(.., x, ..) -> P(.., x - d, ..)
/// ```
///
/// The receiver gets all blocks for its half of the submesh. In 2D, these are B1 and B3 (or N1 and
/// N3) of the paper in the first step, and both B2 (or both N2) in the second. `turns` returns the
/// dimensions in which a node exchanges over this distance, in the order of steps up to this one.
///
/// Erratum: the tested coordinate must be the one that changes, or blocks leave their submesh.
/// Steps 1 to 3 of the 3D Phase 4 instead test y for sends along x and x for sends along y, and
/// Fig. 5 tests the column for sends along rows r.
fn exchange(
    network: &PaddedNetwork,
    distance: u64,
    turns: impl Fn(&[u64]) -> Vec<usize>,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let machine = network.nodes.machine();
    let near = |x: u64| x - x % distance;
    let moves = |x: &[u64], node| {
        let turns = turns(x);
        let (&k, done) = turns.split_last()?;
        let (here, axis) = (x[k], network.axes[k]);
        let (there, inside) = if here % (2 * distance) < distance {
            (here + distance, 1)
        } else {
            (here - distance, -1)
        };
        // The origins of a node's blocks have the coordinates of the node modulo `reach`. Their
        // destinations are in the aligned range of `reach` coordinates that contains the node. The
        // node has data only if some of the origins and some of the destinations are real nodes.
        let holds_any = (0..x.len()).all(|k| {
            let (reach, size) = (
                if done.contains(&k) { distance } else { 2 * distance },
                machine.radix(network.axes[k]),
            );
            x[k] % reach < size && x[k] - x[k] % reach < size
        });
        let destinations = (2 * axis + 1, Axis::range(near(there) % network.submesh, distance));
        let (to, sign) = (
            network.nodes.grid().moved(node, axis, there),
            exchange_direction(network, axis, (here, there), inside),
        );
        (holds_any && near(there) < machine.radix(axis)).then_some(GridSend {
            from: node,
            to,
            axis,
            sign,
            destinations,
        })
    };
    step(network, true, moves, schedule)
}

/// Returns the shorter direction between the homes of two nodes. If both directions are equally
/// short, returns `inside`, the direction in the padded grid. Returns 0 in a mesh, and if both
/// nodes have the same home.
pub fn exchange_direction(
    network: &PaddedNetwork,
    axis: usize,
    (here, there): (u64, u64),
    inside: i8,
) -> i8 {
    let size = network.nodes.machine().radix(axis);
    let up = (network.nodes.home(axis, there) + size - network.nodes.home(axis, here)) % size;
    match (network.kind, up.cmp(&(size - up))) {
        (NetworkKind::Mesh, _) => 0,
        _ if up == 0 => 0,
        (_, Ordering::Less) => 1,
        (_, Ordering::Equal) => inside,
        (_, Ordering::Greater) => -1,
    }
}

struct GridSend {
    from: u64,
    to: u64,
    axis: usize,
    /// 1 or -1, or 0 if the topology chooses the route.
    sign: i8,
    /// An axis of the layout, and coordinates on this axis. Axis 2a is the submesh along dimension
    /// a, and axis 2a + 1 the position within a submesh.
    destinations: (usize, Axis<'static>),
}

/// Adds one step with the sends that `moves` returns. A node that is the home of several virtual
/// nodes can have two partners. If so, the step is divided into rounds, in the order of sender and
/// receiver.
fn step(
    network: &PaddedNetwork,
    is_exchange: bool,
    moves: impl Fn(&[u64], u64) -> Option<GridSend>,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let mut all = Vec::new();
    network.each_node(|x, node| {
        all.extend(moves(x, node));
        Ok(())
    })?;
    let mut rounds = vec![0; all.len()];
    if is_exchange && network.nodes.has_virtual_nodes() {
        let on_machine = |m: &GridSend| {
            let [from, to] = [m.from, m.to].map(|node| network.nodes.physical(node));
            let way = if m.sign != 0 {
                m.sign
            } else if to > from {
                1
            } else {
                -1
            };
            Straight { from, to, dimension: m.axis, way }
        };
        // Sends with the same sender and receiver must follow each other, because they form one
        // message. The sort is stable.
        all.sort_by_cached_key(|m| {
            let m = on_machine(m);
            (m.from, m.to)
        });
        rounds = serialized_rounds(
            network.nodes.machine(),
            &all.iter().map(on_machine).collect::<Vec<_>>(),
        );
    }
    let (mut sets, mut signs) =
        (vec![Axis::ALL; 2 * network.axes.len()], vec![0; network.axes.len()]);
    for round in 0..=rounds.iter().copied().max().unwrap_or(0) {
        schedule.step()?;
        for (m, _) in all.iter().zip(&rounds).filter(|(_, at)| **at == round) {
            let (part, destinations) = m.destinations;
            (sets[part], signs[m.axis]) = (destinations, m.sign);
            let (route, blocks) =
                (Route::signs(&signs), Blocks::new(m.from, m.to).destinations(Set::product(&sets)));
            schedule.send(&if m.sign == 0 { blocks } else { blocks.route(&route) })?;
            (sets[part], signs[m.axis]) = (Axis::ALL, 0);
        }
    }
    Ok(())
}
