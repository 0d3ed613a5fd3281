//! What MPI libraries use beside the direct exchanges and Bruck's (plugin `classic`), on any
//! topology and any number of nodes.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | processes, one a node |
//! | r | `rank` | a process's rank, counted from the root where there is one |
//! | m | | bytes of a block |
//! | alpha, beta | | start-up of a message, transmission of a byte |
//!
//! Ranks are a line, whatever the topology: all name sets in a grid of one axis. What an algorithm
//! costs its file says first.

use swapmeet_sdk::{About, Axis, Problem, Schedule, Stop, export_plugin};

mod binomial;
mod chain;
mod doubling;
mod hierarchical;
mod linear_sync;
mod neighbour;
mod scatter_allgather;
mod sparbit;
mod tuna;

const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH (2005)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: MPICH,
    ports: 1,
    ..About::DEFAULT
};

/// Names sets in a grid of one axis, with every block in so many segments; how many nodes it has.
fn line(problem: &Problem<'_>, schedule: &mut Schedule<'_>, segments: u32) -> Result<u64, Stop> {
    let n = problem.topology().nodes();
    schedule.layout(&[n], segments)?;
    Ok(n)
}

/// The node of a rank counted from the root.
fn node(rank: u64, root: u64, n: u64) -> u64 {
    (rank + root) % n
}

/// The nodes of `count` ranks from one on, counted from the root.
fn nodes(rank: u64, count: u64, root: u64, n: u64) -> [Axis<'static>; 1] {
    [Axis::range(node(rank, root, n), count)]
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        binomial::BROADCAST,
        binomial::SCATTER,
        binomial::GATHER,
        chain::Chain,
        scatter_allgather::ScatterAllgather,
        neighbour::Neighbour,
        doubling::Doubling,
        linear_sync::LinearSync,
        hierarchical::Hierarchical,
        sparbit::Sparbit,
        tuna::Tuna,
    ],
);
