//! Bine trees and butterflies, for any topology whose number of nodes is a power of two. The
//! algorithms are from D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J.
//! Domke, T. Hoefler, *Bine Trees: Enhancing Collective Operations by Optimizing Communication
//! Locality* (SC '25, arXiv 2508.17311). A test compares the messages with those of the authors'
//! library (`libbine` in github.com/HLC-Lab/pico). `reproduce bine` compares distances and the
//! traffic between groups of ranks with the values of the paper.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p, s | `n`, `steps` | number of nodes, number of steps: p = 2^s |
//! | | `reach(k)` | the sum 1 - 2 + 4 - etc. of k terms, in absolute value about 2^k / 3 |
//! | m | | bytes of a block or of the vector |
//! | alpha, beta, gamma | | start-up of a message, time per byte, time to add a byte |
//!
//! The algorithms treat the nodes as a line of ranks. A binomial tree or butterfly has a step with
//! the distance 2^i for each i from 0 to s - 1. A Bine algorithm has a step with the distance
//! `reach(i + 1)` instead. Its absolute value is about 2/3 of 2^i, and its sign alternates with i.
//! Even and odd ranks use opposite directions. If neighbouring ranks are in the same group of
//! nodes, such as the nodes at one switch, the shorter distances reduce the traffic between groups.

use swapmeet_sdk::{About, Problem, Stop, export_plugin};

pub mod butterfly;
mod port;
pub mod tree;

const ANYWHERE: About = About {
    accepts: "any topology with a power of two of nodes",
    paper: "D. De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality (SC '25)",
    ports: 1,
    ..About::DEFAULT
};

fn steps(problem: &Problem<'_>) -> Result<u32, Stop> {
    match problem.topology().nodes() {
        n if n.is_power_of_two() => Ok(n.trailing_zeros()),
        n => Err(Stop::unsupported(format!("{n} nodes are not a power of two"))),
    }
}

fn reach(terms: u32) -> i64 {
    (1 - (-2_i64).pow(terms)) / 3
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        tree::BROADCAST,
        tree::REDUCE,
        tree::SCATTER,
        tree::GATHER,
        butterfly::REDUCE_SCATTER,
        butterfly::ALL_GATHER,
        butterfly::ALL_REDUCE,
        butterfly::ALL_TO_ALL,
    ],
);
