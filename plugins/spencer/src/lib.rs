//! Disseminations and permutations on circuit-switched tori, after C. C. Spencer, *Circuit-Switched Structured Communications on Toroidal Meshes*, M.Sc. thesis, Simon
//! Fraser University (1994). Its one-port algorithms are those of P. Fraigniaud and J. Peters, *Structured Communication in Torus Networks* (1993).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n, N, d | `dims` | nodes of a cycle, of the torus, dimensions: N = n^d |
//! | q | `q` | circuits that a directed link carries at a time: the machine's virtual channels |
//! | alpha, delta, tau | | start-up of a round, switching a link, propagation of a unit |
//! | L | | length of a message |
//!
//! A round of circuits costs alpha + (links of the longest) delta + (circuits that share a link) L tau.
//!
//! The thesis asks for the same even n in every dimension. Here dimensions may differ and be odd: where a logarithm in a formula isn't whole it is rounded up.

use swapmeet_sdk::{About, Algorithm, Collective, ParamInfo, Problem, Schedule, Stop, export_plugin, words};
use torus::{Torus, Variant};

mod all_to_all;
mod cost;
mod one_to_all;
mod permutation;
mod ring;
mod torus;
mod tree;

const PAPER: &str = "C. C. Spencer: Circuit-Switched Structured Communications on Toroidal Meshes, M.Sc. thesis, Simon Fraser University (1994)";
const ONE_AND_ALL: [(&str, Variant); 2] = [("one-port", Variant::OnePort), ("all-ports", Variant::AllPorts)];
const ALL_THREE: [(&str, Variant); 3] =
    [("one-port", Variant::OnePort), ("hybrid", Variant::Hybrid), ("all-ports", Variant::AllPorts)];

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&ONE_AND_ALL),
    "",
    "ports a node uses: one-port or all-ports; as the machine's ports when not given",
);
const VARIANT_OF_THREE: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&ALL_THREE),
    "",
    "ports a node uses: one-port, hybrid or all-ports; as the machine's ports when not given",
);
const CYCLES: ParamInfo = ParamInfo::number(
    "cycles",
    "",
    "virtual cycles of the first phase (k), a divisor of every dimension; when not given, the one of fewest rounds within the machine's virtual channels",
);
const FORM: ParamInfo = ParamInfo::choice(
    "form",
    &words(&permutation::FORMS),
    "",
    "standard; balanced: of a rotation by 90 degrees, on cycles about the centre and the corner; combined: Appendix A's, direct: Fraigniaud and Peters's, without collection, both of a single 1- or 2-dimensional transposition; when not given, standard, balanced or with one port direct, the cheapest",
);
const DIRECTIONS: ParamInfo = ParamInfo::choice(
    "directions",
    &words(&permutation::DIRECTIONS),
    "",
    "of a translation or shear: forward, the shorter way only; both; when not given, the one of fewer rounds",
);

const TORUS: About = About {
    paper: PAPER,
    accepts: "torus or ring, of any size",
    params: &[VARIANT],
    // A variant may use all, on a machine of one, too.
    ports: u64::MAX,
    ..About::DEFAULT
};

/// A collective: what is said of it, which ports it knows what to do with, what a user may choose, its schedule.
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

/// A broadcast, scatter or gather.
const ONE_TO_ALL: Collected =
    Collected { about: TORUS, variants: &ONE_AND_ALL, check: |_| Ok(()), plan: one_to_all::plan };

/// A gossip or a multi-scatter.
const ALL_TO_ALL: Collected =
    Collected { about: TORUS, variants: &ALL_THREE, check: |_| Ok(()), plan: all_to_all::plan };

const PERMUTATION: Collected =
    Collected { about: TORUS, variants: &ONE_AND_ALL, check: permutation::check, plan: permutation::plan };

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        Collected {
            about: About {
                name: "torus-broadcast",
                title: "One-to-all on circuits: every cycle in 2q+1 sections, again and again",
                collectives: &[Collective::Broadcast],
                ..TORUS
            },
            ..ONE_TO_ALL
        },
        Collected {
            about: About {
                name: "torus-scatter",
                title: "One-to-all personalized on circuits: the broadcast's, with shrinking bundles",
                collectives: &[Collective::Scatter],
                ..TORUS
            },
            ..ONE_TO_ALL
        },
        Collected {
            about: About {
                name: "torus-gather",
                title: "All-to-one personalized on circuits: a scatter read backwards",
                collectives: &[Collective::Gather],
                ..TORUS
            },
            ..ONE_TO_ALL
        },
        Collected {
            about: About {
                name: "torus-gossip",
                title: "All-to-all on circuits: k virtual cycles, then cycles of k neighbours",
                collectives: &[Collective::AllGather],
                params: &[VARIANT_OF_THREE, CYCLES],
                ..TORUS
            },
            ..ALL_TO_ALL
        },
        Collected {
            about: About {
                name: "torus-multiscatter",
                title: "All-to-all personalized on circuits: k virtual cycles, then cycles of k neighbours",
                collectives: &[Collective::AllToAll],
                params: &[VARIANT_OF_THREE, CYCLES],
                ..TORUS
            },
            ..ALL_TO_ALL
        },
        Collected {
            about: About {
                name: "torus-permutation",
                title: "Permutations on circuits: collect diagonals, permute, distribute",
                collectives: &[Collective::Permutation],
                accepts: "torus or ring; for permutations of the axes, dimensions of an even number of nodes",
                params: &[VARIANT, FORM, DIRECTIONS],
                ..TORUS
            },
            ..PERMUTATION
        },
    ],
);
