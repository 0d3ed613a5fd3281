//! What MPI libraries reduce with, on any topology and any number of nodes.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | processes, one a node |
//! | r | `rank` | a process's rank, counted from the root where there is one |
//! | m | | bytes of the vector; of all results together in a reduce-scatter |
//! | alpha, beta, gamma | | start-up of a message, transmission of a byte, adding a byte |
//!
//! Ranks are a line, whatever the topology: all name sets in a grid of one axis. What an algorithm
//! costs its file says first.

use swapmeet_sdk::{About, ParamInfo, Problem, Stop, export_plugin};

mod binomial;
mod chain;
mod doubling;
mod folded;
mod rabenseifner;
mod ring;
mod two_tree;

const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH (2005)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: MPICH,
    ports: 1,
    ..About::DEFAULT
};

const SEGMENTS: ParamInfo =
    ParamInfo::number("segments", "8", "pieces that the vector is passed on in, from 1 to 4096");

fn segments(problem: &Problem<'_>) -> Result<u32, Stop> {
    Ok(problem.whole("segments", 1..=4096)? as u32)
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        binomial::Binomial,
        chain::Chain,
        ring::REDUCE_SCATTER,
        ring::ALL_REDUCE,
        doubling::Doubling,
        rabenseifner::Rabenseifner,
        two_tree::TwoTree,
    ],
);
