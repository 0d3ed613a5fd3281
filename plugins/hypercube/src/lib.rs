//! Collectives on hypercubes, from V. Kumar, A. Grama, A. Gupta and G. Karypis, *Introduction to
//! Parallel Computing* (1994).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `dims` | number of dimensions |
//! | n | `nodes` | number of nodes: n = 2^d |
//! | i | `axis` | a dimension: two nodes that differ only in dimension i are neighbours |
//! | alpha, beta, m | | start-up of a message, time per byte, bytes of a block |
//!
//! Times (Table I of Li, Peng and Chu):
//! * broadcast: `d (alpha + m beta)`;
//! * scatter and allgather: `d alpha + (n - 1) m beta`;
//! * all-to-all: `d (alpha + n/2 m beta)`.
//!
//! In each of d steps, nodes send to their neighbour in the next dimension. No link carries two
//! messages in the same direction in a step. The number of blocks in the longest message, summed
//! over all steps, is minimal:
//!
//! | algorithm | blocks | why no schedule sends fewer |
//! | --- | --- | --- |
//! | broadcast | d | each step sends the block of the root |
//! | scatter | n - 1 | the root sends one message at a time and has a block for each of the n - 1 remaining nodes |
//! | allgather | n - 1 | a node receives one message at a time and needs the blocks of the n - 1 remaining nodes |
//! | all-to-all | d n / 2 | a block crosses d / 2 links on average, and each step moves a block over one link |

use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
    export_plugin,
};

const PAPER: &str =
    "V. Kumar, A. Grama, A. Gupta, G. Karypis: Introduction to Parallel Computing (1994)";

enum Rule {
    Broadcast,
    Scatter,
    AllGather,
    AllToAll,
}

struct Hypercube {
    about: About,
    rule: Rule,
}

impl Algorithm for Hypercube {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        match problem.topology().kind() {
            "hypercube" => Ok(()),
            other => Err(Stop::unsupported(format!(
                "runs only on a hypercube; this topology is a {other}"
            ))),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let dims = problem.topology().dims().len();
        let nodes = problem.topology().nodes();
        let root = problem.root();
        let mut axes = vec![Axis::ALL; dims];
        // The rule commutes with exclusive-or. If there is a root, the host ignores this symmetry.
        let planned = schedule.symmetric(&vec![Symmetry::xor(1); dims])?;
        // The bits of `to_come` are the dimensions of later steps. If there is a root, only nodes
        // that agree with the root in these dimensions and in the current one can have data.
        let mut to_come = nodes - 1;
        for axis in 0..dims {
            schedule.step()?;
            let bit = 1 << (dims - 1 - axis);
            to_come &= !bit;
            for node in &planned {
                let has_nothing = (node ^ root) & (to_come | bit) != 0;
                if has_nothing && matches!(self.rule, Rule::Broadcast | Rule::Scatter) {
                    continue;
                }
                let other_side = u64::from(node & bit == 0);
                axes[axis] = Axis::one(other_side);
                let send = Blocks::new(node, node ^ bit);
                schedule.send(&match self.rule {
                    Rule::Broadcast | Rule::AllGather => send.copy(),
                    Rule::Scatter | Rule::AllToAll => send.destinations(Set::product(&axes)),
                })?;
            }
            axes[axis] = Axis::ALL;
        }
        Ok(())
    }
}

const HYPERCUBE: About =
    About { paper: PAPER, accepts: "hypercubes of any dimension", ports: 1, ..About::DEFAULT };

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        Hypercube {
            about: About {
                name: "hypercube-broadcast",
                title: "Broadcast along one dimension per step",
                collectives: &[Collective::Broadcast],
                ..HYPERCUBE
            },
            rule: Rule::Broadcast,
        },
        Hypercube {
            about: About {
                name: "hypercube-scatter",
                title: "Scatter along one dimension per step",
                collectives: &[Collective::Scatter],
                ..HYPERCUBE
            },
            rule: Rule::Scatter,
        },
        Hypercube {
            about: About {
                name: "hypercube-allgather",
                title: "Allgather by recursive doubling",
                collectives: &[Collective::AllGather],
                ..HYPERCUBE
            },
            rule: Rule::AllGather,
        },
        Hypercube {
            about: About {
                name: "hypercube-alltoall",
                title: "All-to-all along one dimension per step",
                collectives: &[Collective::AllToAll],
                ..HYPERCUBE
            },
            rule: Rule::AllToAll,
        },
    ],
);
