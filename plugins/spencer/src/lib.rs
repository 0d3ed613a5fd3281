//! Disseminations and permutations on circuit-switched tori, from C. C. Spencer, *Circuit-Switched
//! Structured Communications on Toroidal Meshes*, M.Sc. thesis, Simon Fraser University (1994),
//! which takes its one-port algorithms from P. Fraigniaud and J. Peters, *Structured Communication
//! in Torus Networks* (1993).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `dims` | number of dimensions |
//! | n | `dims` | number of nodes of a cycle, which is a line of one dimension with its wrap-around |
//! | N | | number of nodes of the torus: N = n^d |
//! | q | `q` | circuits that a directed link carries at the same time: the machine's virtual channels |
//! | alpha | | start-up time of a round |
//! | delta | | switching time of a link |
//! | tau | | propagation time of one unit of a message on a link |
//! | L | | length of a message, in units |
//!
//! The time of a round of circuits is alpha, plus delta times the links of the longest circuit,
//! plus `L tau` times the number of circuits that share a link. The thesis assumes that n is even
//! and the same in every dimension. Here, dimensions may differ and may be odd; logarithms are then
//! rounded up.

use swapmeet_sdk::{About, Algorithm, ParamInfo, Problem, Schedule, Stop, export_plugin, words};
use torus::{Torus, Variant};

mod all_to_all;
pub mod cost;
mod one_to_all;
pub mod permutation;
mod ring;
pub mod torus;
pub mod tree;

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
    // Users can choose the variant for all ports even on a one-port machine.
    ports: u64::MAX,
    ..About::DEFAULT
};

pub struct CircuitCollective {
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
