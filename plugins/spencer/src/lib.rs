//! Disseminations and permutations on circuit-switched tori, after C. C. Spencer, *Circuit-Switched
//! Structured Communications on Toroidal Meshes*, M.Sc. thesis, Simon Fraser University (1994). Its
//! one-port algorithms are those of P. Fraigniaud and J. Peters, *Structured Communication in Torus
//! Networks* (1993).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n, N, d | `dims` | nodes of a cycle, nodes of the torus, number of dimensions: N = n^d |
//! | q | `q` | circuits that a directed link carries at the same time: the machine's virtual channels |
//! | alpha, delta, tau | | start-up of a round, switching of a link, propagation of a unit |
//! | L | | length of a message |
//!
//! A round of circuits takes alpha + (links of the longest circuit) delta + (circuits that share a
//! link) L tau.
//!
//! The thesis assumes the same even n in every dimension. Here dimensions may differ and be odd;
//! logarithms in formulas are rounded up.

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
const PORT_VARIANTS: [(&str, Variant); 2] =
    [("one-port", Variant::OnePort), ("all-ports", Variant::AllPorts)];

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&PORT_VARIANTS),
    "",
    "ports that a node uses; by default those of the machine",
);

const TORUS: About = About {
    paper: PAPER,
    accepts: "tori and rings of any size",
    params: &[VARIANT],
    // The algorithms may need all ports: the variant for all ports can be chosen on a one-port
    // machine too.
    ports: u64::MAX,
    ..About::DEFAULT
};

/// A collective: its description, its variants, a check of the problem, and its schedule.
struct CircuitCollective {
    about: About,
    variants: &'static [(&'static str, Variant)],
    check: fn(&Problem<'_>) -> Result<(), Stop>,
    plan: fn(&Problem<'_>, &Torus, &mut Schedule<'_>) -> Result<(), Stop>,
}

impl Algorithm for CircuitCollective {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        torus::check(problem)?;
        Torus::read(problem, self.variants)?;
        (self.check)(problem)
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        (self.plan)(problem, &Torus::read(problem, self.variants)?, schedule)
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
