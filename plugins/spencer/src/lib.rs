//! Disseminations and permutations on circuit-switched tori, after C. C. Spencer, *Circuit-Switched
//! Structured Communications on Toroidal Meshes*, M.Sc. thesis, Simon Fraser University (1994). Its
//! one-port algorithms are those of P. Fraigniaud and J. Peters, *Structured Communication in Torus
//! Networks* (1993).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n, N, d | `dims` | nodes of a cycle, of the torus, dimensions: N = n^d |
//! | q | `q` | circuits that a directed link carries at a time: the machine's virtual channels |
//! | alpha, delta, tau | | start-up of a round, switching a link, propagation of a unit |
//! | L | | length of a message |
//!
//! A round of circuits costs alpha + (links of the longest) delta + (circuits that share a link) L
//! tau.
//!
//! The thesis asks for the same even n in every dimension. Here dimensions may differ and be odd:
//! where a logarithm in a formula isn't whole it is rounded up.

use swapmeet_sdk::{About, Algorithm, ParamInfo, Problem, Schedule, Stop, export_plugin, words};
use torus::{Torus, Variant};

mod all_to_all;
mod cost;
mod one_to_all;
mod permutation;
mod ring;
mod torus;
mod tree;

const PAPER: &str = "C. C. Spencer: Circuit-Switched Structured Communications on Toroidal Meshes, M.Sc. thesis, Simon Fraser University (1994)";
const ONE_AND_ALL: [(&str, Variant); 2] =
    [("one-port", Variant::OnePort), ("all-ports", Variant::AllPorts)];

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&ONE_AND_ALL),
    "",
    "ports a node uses: one-port or all-ports; as the machine's ports when not given",
);

const TORUS: About = About {
    paper: PAPER,
    accepts: "torus or ring, of any size",
    params: &[VARIANT],
    // A variant may use all, on a machine of one, too.
    ports: u64::MAX,
    ..About::DEFAULT
};

/// A collective: what is said of it, which ports it knows what to do with, what a user may choose,
/// its schedule.
struct Collected {
    about: About,
    variants: &'static [(&'static str, Variant)],
    check: fn(&Problem<'_>) -> Result<(), Stop>,
    plan: fn(&Problem<'_>, &Torus, &mut Schedule<'_>) -> Result<(), Stop>,
}

impl Algorithm for Collected {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        torus::check(problem)?;
        Torus::of(problem, self.variants)?;
        (self.check)(problem)
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        (self.plan)(problem, &Torus::of(problem, self.variants)?, schedule)
    }
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        one_to_all::BROADCAST,
        one_to_all::SCATTER,
        one_to_all::GATHER,
        all_to_all::GOSSIP,
        all_to_all::MULTISCATTER,
        permutation::PERMUTATION,
    ],
);
