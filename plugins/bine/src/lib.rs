//! Bine trees and butterflies, on any topology whose nodes are a power of two.
//!
//! D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler,
//! *Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality* (SC '25,
//! arXiv 2508.17311); a reconstruction from its abstract and excerpts: the distances, the numbers
//! to the base -2, and by how much less goes between groups, which runs here give again (`reproduce
//! bine`).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p, s | `n`, `steps` | nodes, 2^s |
//! | nb(r) | `negabinary` | r to the base -2, in s digits, modulo p |
//! | | `reach` | 1 - 2 + 4 - .., a third of what a binomial tree's largest distance of as many steps doubled is |
//!
//! Ranks are a line, whatever the topology. Where a binomial tree or butterfly has ranks 2^i apart
//! exchange, these are `reach` apart, 2/3 as far, now one way, now the other: so that of ranks that
//! are neighbours fewer messages go between groups of them.

use swapmeet_sdk::{About, Problem, Stop, export_plugin};

mod butterfly;
mod tree;

const ANYWHERE: About = About {
    accepts: "any topology whose nodes are a power of two",
    paper: "D. De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality (SC '25); a reconstruction",
    ports: 1,
    ..About::DEFAULT
};

/// s, where there is one.
fn steps(problem: &Problem<'_>) -> Result<u32, Stop> {
    match problem.topology().nodes() {
        n if n.is_power_of_two() => Ok(n.trailing_zeros()),
        n => Err(Stop::unsupported(format!("{n} nodes, no power of two"))),
    }
}

/// 1 - 2 + 4 - .., so many terms.
fn reach(terms: u32) -> i64 {
    (1 - (-2_i64).pow(terms)) / 3
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        tree::BROADCAST,
        tree::REDUCE,
        butterfly::REDUCE_SCATTER,
        butterfly::ALL_GATHER,
        butterfly::ALL_REDUCE,
    ],
);
