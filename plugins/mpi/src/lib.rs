//! Further algorithms of today's MPI libraries, for any topology and any number of nodes. Direct
//! exchanges and Bruck's algorithm are in the plugin `classic`.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | number of processes, one on each node |
//! | r | `rank` | rank of a process; in a collective with a root, counted from the root |
//! | m | | bytes of a block |
//! | alpha, beta | | start-up of a message, time per byte |
//!
//! Nodes form a line of ranks: the grid has one axis, whatever the topology.

use swapmeet_sdk::{About, Axis, Problem, Schedule, Stop, export_plugin};

pub mod binomial;
pub mod chain;
pub mod doubling;
pub mod hierarchical;
pub mod linear_sync;
pub mod neighbour;
pub mod scatter_allgather;
pub mod sparbit;
pub mod tuna;

const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH (2005)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: MPICH,
    ports: 1,
    ..About::DEFAULT
};

fn line(problem: &Problem<'_>, schedule: &mut Schedule<'_>, segments: u32) -> Result<u64, Stop> {
    let n = problem.topology().nodes();
    schedule.layout(&[n], segments)?;
    Ok(n)
}

fn node(rank: u64, root: u64, n: u64) -> u64 {
    (rank + root) % n
}

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
