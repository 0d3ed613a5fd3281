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

pub struct Tree {
    about: About,
}

const ORDER: ParamInfo = ParamInfo::choice(
    "order",
    &["far", "near"],
    "far",
    "far: the root's first message has the longest distance; near: the shortest; a reduce or gather uses the same tree in reverse",
);

const TREE: About = About { params: &[ORDER, PORTS], ..PORTED };

pub const BROADCAST: Tree = Tree {
    about: About {
        name: "bine-broadcast",
        title: "Broadcast on a Bine tree",
        collectives: &[Collective::Broadcast],
        ..TREE
    },
};

pub const REDUCE: Tree = Tree {
    about: About {
        name: "bine-reduce",
        title: "Reduce on a Bine tree",
        collectives: &[Collective::Reduce],
        ..TREE
    },
};

pub const SCATTER: Tree = Tree {
    about: About {
        name: "bine-scatter",
        title: "Scatter on a Bine tree",
        collectives: &[Collective::Scatter],
        ..TREE
    },
};

pub const GATHER: Tree = Tree {
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
