//! Bine trees. `bine-broadcast` takes `log2 p (alpha + m beta)`, and `bine-scatter` takes `log2 p
//! alpha + (p - 1) m beta`. `bine-reduce` and `bine-gather` use the same tree in reverse. They take
//! `log2 p (alpha + m beta + m gamma)` and `log2 p alpha + (p - 1) m beta`.
//!
//! Each step of a tree is one step of the butterfly, in which every rank that has the block sends
//! it to its partner. With `order=far`, the first message has the longest distance (a
//! distance-halving tree), and with `order=near` the shortest. With `order=far`, the ranks below a
//! rank have consecutive coordinates in each dimension.
//!
//! Without `ports`, the messages are those of the authors' library for any network (`libbine`),
//! which numbers the ranks from the root. For an odd root, the tree therefore uses the mirrored
//! butterfly, in which all directions are reversed. With `ports=P`, the messages are those of the
//! library for tori (`bine_trees_fugaku`): a tree for each butterfly, with one segment of every
//! block. That library has a broadcast and a reduce on trees only for `order=far`.

use crate::port::{Coordinates, PORTED, PORTS, PortButterfly, grid_and_ports};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Set, Stop,
};

pub(crate) struct Tree {
    about: About,
}

const ORDER: ParamInfo = ParamInfo::choice(
    "order",
    &["far", "near"],
    "far",
    "far: the root's first message has the longest distance; near: the shortest; a reduce or gather uses the same tree in reverse",
);

const TREE: About = About { params: &[ORDER, PORTS], ..PORTED };

pub(crate) const BROADCAST: Tree = Tree {
    about: About {
        name: "bine-broadcast",
        title: "Broadcast on a Bine tree",
        collectives: &[Collective::Broadcast],
        ..TREE
    },
};

pub(crate) const REDUCE: Tree = Tree {
    about: About {
        name: "bine-reduce",
        title: "Reduce on a Bine tree",
        collectives: &[Collective::Reduce],
        ..TREE
    },
};

pub(crate) const SCATTER: Tree = Tree {
    about: About {
        name: "bine-scatter",
        title: "Scatter on a Bine tree",
        collectives: &[Collective::Scatter],
        ..TREE
    },
};

pub(crate) const GATHER: Tree = Tree {
    about: About {
        name: "bine-gather",
        title: "Gather on a Bine tree",
        collectives: &[Collective::Gather],
        ..TREE
    },
};

struct Edge {
    from: u64,
    to: u64,
    /// The receiver and all ranks below it in the tree.
    below: Vec<Coordinates>,
}

fn edges(port: &PortButterfly<'_>, order: &[usize], root: u64) -> Vec<Vec<Edge>> {
    let mut have = vec![root];
    let step = |(i, &s): (usize, &usize)| {
        let edge = |&from: &u64| {
            let to = port.partner(from, s);
            Edge { from, to, below: port.reached(to, &order[i + 1..].iter().copied()) }
        };
        let edges: Vec<Edge> = have.iter().map(edge).collect();
        have.extend(edges.iter().map(|edge| edge.to));
        edges
    };
    order.iter().enumerate().map(step).collect()
}

impl Algorithm for Tree {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (grid, ports) = grid_and_ports(problem)?;
        let (collective, root) = (problem.collective(), problem.root());
        let is_near = problem.choice("order", &[("far", false), ("near", true)])?;
        let is_line = problem.given::<u64>("ports")?.is_none();
        let tree = |port: usize| {
            let port = PortButterfly::new(&grid, if is_line { (root % 2) as usize } else { port });
            let mut order: Vec<usize> = (0..port.steps()).collect();
            if !is_near {
                order.reverse();
            }
            let mut steps = edges(&port, &order, root);
            if matches!(collective, Collective::Reduce | Collective::Gather) {
                steps.reverse();
            }
            steps
        };
        let trees: Vec<Vec<Vec<Edge>>> = (0..ports).map(tree).collect();
        schedule.layout(grid.radices(), ports as u32)?;
        for i in 0..trees[0].len() {
            schedule.step()?;
            for (segment, tree) in (0..).zip(&trees) {
                for Edge { from, to, below } in &tree[i] {
                    let (near, far) = (*from, *to);
                    let parts: Vec<Axis<'_>> = below.iter().map(Coordinates::axis).collect();
                    let blocks = Set::product(&parts);
                    let send = match collective {
                        Collective::Broadcast => Blocks::new(near, far).copy(),
                        Collective::Reduce => Blocks::new(far, near).combine(),
                        Collective::Scatter => Blocks::new(near, far).destinations(blocks).strict(),
                        _ => Blocks::new(far, near).origins(blocks).strict(),
                    };
                    schedule.send(&send.segments(Axis::one(segment)))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach;
    use swapmeet_sdk::{Grid, Rehearsal, RehearsedSend, RehearsedStep};

    /// Each rank but the root receives the block once, over a distance of `reach`.
    #[test]
    fn distances_are_those_of_the_paper() {
        for s in 0..10 {
            let n = 1_u64 << s;
            let grid = Grid::new(&[n]).unwrap();
            let order: Vec<usize> = (0..s as usize).rev().collect();
            for (i, edges) in (0..).zip(edges(&PortButterfly::new(&grid, 0), &order, 0)) {
                for Edge { from, to, .. } in edges {
                    let apart = (to + n - from) % n;
                    assert_eq!(
                        apart.min(n - apart),
                        reach(s - i).unsigned_abs().min(n - reach(s - i).unsigned_abs()),
                        "{from} to {to}"
                    );
                }
            }
        }
        for n in [1_u64, 2, 8, 16] {
            for root in [0, n / 2, n - 1] {
                let on = |collective| {
                    Rehearsal::on("ring", &[n]).collective(collective, root).block_bytes(10)
                };
                let log = u64::from(n.trailing_zeros());
                let broadcast = on(Collective::Broadcast).verify(&BROADCAST).unwrap();
                assert_eq!(
                    (broadcast.steps, broadcast.messages, broadcast.critical_bytes),
                    (log, n - 1, 10 * log)
                );
                let summed = on(Collective::Reduce).verify(&REDUCE).unwrap();
                assert_eq!(
                    (summed.steps, summed.messages, summed.summed_bytes),
                    (log, n - 1, 10 * log)
                );
                for (collective, algorithm) in
                    [(Collective::Scatter, &SCATTER), (Collective::Gather, &GATHER)]
                {
                    let moved = on(collective).verify(algorithm).unwrap();
                    assert_eq!(
                        (moved.steps, moved.messages, moved.critical_bytes),
                        (log, n - 1, 10 * (n - 1))
                    );
                }
            }
        }
    }

    #[test]
    fn the_root_of_a_line_shifts_the_tree() {
        for order in ["far", "near"] {
            let of_root = |root: u64| {
                let problem = Rehearsal::on("ring", &[16]).collective(Collective::Scatter, root);
                let steps = problem.param("order", order).plan(&SCATTER).unwrap();
                let shifted = |rank: &u64| (rank + 16 - root) % 16;
                let message = |send: &RehearsedSend| {
                    let mut blocks: Vec<u64> = send.destinations.iter().map(shifted).collect();
                    blocks.sort_unstable();
                    (shifted(&send.from), shifted(&send.to), blocks)
                };
                let messages = |step: &RehearsedStep| {
                    let mut messages: Vec<_> = step.sends.iter().map(message).collect();
                    messages.sort();
                    messages
                };
                steps.iter().map(messages).collect::<Vec<_>>()
            };
            let expected = of_root(0);
            assert!([1, 4, 7, 15].iter().all(|root| of_root(*root) == expected), "{order}");
        }
    }

    #[test]
    fn several_ports_on_tori_have_the_cost_of_the_closed_forms() {
        for sides in [&[8][..], &[4, 4], &[2, 8], &[4, 2, 2], &[1, 4]] {
            let n: u64 = sides.iter().product();
            let log = u64::from(n.trailing_zeros());
            for (ports, root, order) in [(1, 0, "near"), (6, n - 1, "far"), (4, 1, "near")] {
                let on = |algorithm: &Tree| {
                    let collective = algorithm.about().collectives[0];
                    let problem = Rehearsal::on("torus", sides).collective(collective, root);
                    let problem = problem.block_bytes(10 * ports).param("order", order);
                    problem.param("ports", &ports.to_string()).verify(algorithm).unwrap()
                };
                for (algorithm, blocks) in [
                    (&BROADCAST, n - 1),
                    (&REDUCE, n - 1),
                    (&SCATTER, n / 2 * log),
                    (&GATHER, n / 2 * log),
                ] {
                    let run = on(algorithm);
                    let counts = (run.steps, run.total_bytes);
                    assert_eq!(counts, (log, 10 * ports * blocks), "{sides:?} {ports} {order}");
                }
            }
        }
    }
}
