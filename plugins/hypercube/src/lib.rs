//! Collectives on hypercubes, as in V. Kumar, A. Grama, A. Gupta and G. Karypis, *Introduction to
//! Parallel Computing* (1994), whose algorithms Li, Peng and Chu take as the bases of theirs.
//!
//! Broadcast: d (alpha + m beta); scatter and all-gather: d alpha + (n - 1) m beta; all-to-all: d
//! (alpha + n/2 m beta) (Table I of Li, Peng and Chu).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `dims` | dimensions; n = 2^d nodes |
//! | i | `axis` | a dimension: nodes that differ in it only are neighbours |
//! | m | | size of a block |
//! | root | `root` | who begins, or who is to have all |
//!
//! All four go through the dimensions one after another, a neighbour at a time, so that every
//! message crosses one link and no link carries two. Each takes d steps, which is the diameter;
//! steps together send, of the longest message in each:
//!
//! | algorithm | blocks | why no schedule sends fewer |
//! | --- | --- | --- |
//! | broadcast | d | each step sends the one block |
//! | scatter | n - 1 | the root sends one at a time, and has a block for every other |
//! | allgather | n - 1 | a node receives one at a time, and needs the block of every other |
//! | all-to-all | d n / 2 | blocks cross d / 2 links each on average, and a step moves them over one |

use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
    export_plugin,
};

const PAPER: &str =
    "V. Kumar, A. Grama, A. Gupta, G. Karypis: Introduction to Parallel Computing (1994)";

/// What a node sends over a dimension.
enum Rule {
    /// Whoever has the block copies it over.
    Broadcast,
    /// Whoever has blocks sends those for the other side.
    Scatter,
    /// Everyone copies over all they have.
    AllGather,
    /// Everyone sends what is for the other side.
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
            other => Err(Stop::unsupported(format!("runs on a hypercube only, this is a {other}"))),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let dims = problem.topology().dims().len();
        let nodes = problem.topology().nodes();
        let root = problem.root();
        let mut axes = vec![Axis::ALL; dims];
        // Everyone does the same: each sends over the same dimension what is for the other side of
        // it. With a root, only that one begins.
        let planned = schedule.symmetric(&vec![Symmetry::xor(1); dims])?;
        // The nodes that have something after some steps agree with the root in the dimensions
        // still to come.
        let mut to_come = nodes - 1;
        for axis in 0..dims {
            schedule.step()?;
            // The first axis is the highest bit of a node's number.
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
    About { paper: PAPER, accepts: "hypercube, of any dimension", ports: 1, ..About::DEFAULT };

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        Hypercube {
            about: About {
                name: "hypercube-broadcast",
                title: "One-to-all broadcast: those who have it send it over the next dimension",
                collectives: &[Collective::Broadcast],
                ..HYPERCUBE
            },
            rule: Rule::Broadcast,
        },
        Hypercube {
            about: About {
                name: "hypercube-scatter",
                title: "One-to-all personalized: half of what one has goes over the next dimension",
                collectives: &[Collective::Scatter],
                ..HYPERCUBE
            },
            rule: Rule::Scatter,
        },
        Hypercube {
            about: About {
                name: "hypercube-allgather",
                title: "All-to-all broadcast by recursive doubling",
                collectives: &[Collective::AllGather],
                ..HYPERCUBE
            },
            rule: Rule::AllGather,
        },
        Hypercube {
            about: About {
                name: "hypercube-alltoall",
                title: "All-to-all personalized: everything for the other side of the next dimension",
                collectives: &[Collective::AllToAll],
                ..HYPERCUBE
            },
            rule: Rule::AllToAll,
        },
    ],
);
