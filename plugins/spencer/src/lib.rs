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

use swapmeet_sdk::{About, Algorithm, Collective, ParamInfo, Problem, Schedule, Stop, export_plugin};
use torus::{Torus, Variant};

mod all_to_all;
mod one_to_all;
mod permutation;
mod ring;
mod torus;
mod tree;

const PAPER: &str = "C. C. Spencer: Circuit-Switched Structured Communications on Toroidal Meshes, M.Sc. thesis, Simon Fraser University (1994)";
const ONE_AND_ALL: [(&str, Variant); 2] = [("one-port", Variant::OnePort), ("all-ports", Variant::AllPorts)];
const ALL_THREE: [(&str, Variant); 3] =
    [("one-port", Variant::OnePort), ("hybrid", Variant::Hybrid), ("all-ports", Variant::AllPorts)];

const VARIANT: ParamInfo = ParamInfo {
    key: "variant",
    default: "",
    help: "ports a node uses: one-port or all-ports; as the machine's ports when not given",
};
const VARIANT_OF_THREE: ParamInfo = ParamInfo {
    help: "ports a node uses: one-port, hybrid or all-ports; as the machine's ports when not given",
    ..VARIANT
};
const CYCLES: ParamInfo = ParamInfo {
    key: "cycles",
    default: "",
    help: "virtual cycles of the first phase (k), a divisor of every dimension; when not given, the one of fewest rounds within the machine's virtual channels",
};
const FORM: ParamInfo = ParamInfo {
    key: "form",
    default: "standard",
    help: "standard, or combined: Appendix A's, of a single 1- or 2-dimensional transposition",
};
const DIRECTIONS: ParamInfo = ParamInfo {
    key: "directions",
    default: "",
    help: "of a translation or shear: forward, the shorter way only; both; when not given, the one of fewer rounds",
};

const TORUS: About =
    About { paper: PAPER, accepts: "torus or ring, of any size", params: &[VARIANT], ..About::DEFAULT };

/// A broadcast, scatter or gather.
struct OneToAll(About);

impl Algorithm for OneToAll {
    fn about(&self) -> About {
        self.0
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        torus::check(problem)?;
        Torus::of(problem, &ONE_AND_ALL).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        one_to_all::plan(problem, &Torus::of(problem, &ONE_AND_ALL)?, schedule)
    }
}

/// A gossip or a multi-scatter.
struct AllToAll(About);

impl Algorithm for AllToAll {
    fn about(&self) -> About {
        self.0
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        torus::check(problem)?;
        Torus::of(problem, &ALL_THREE).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        all_to_all::plan(problem, &Torus::of(problem, &ALL_THREE)?, schedule)
    }
}

/// A permutation.
struct Permutation(About);

impl Algorithm for Permutation {
    fn about(&self) -> About {
        self.0
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        torus::check(problem)?;
        Torus::of(problem, &ONE_AND_ALL)?;
        permutation::check(problem)
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        permutation::plan(problem, &Torus::of(problem, &ONE_AND_ALL)?, schedule)
    }
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        OneToAll(About {
            name: "torus-broadcast",
            title: "One-to-all on circuits: every cycle in 2q+1 sections, again and again",
            collectives: &[Collective::Broadcast],
            ..TORUS
        }),
        OneToAll(About {
            name: "torus-scatter",
            title: "One-to-all personalized on circuits: the broadcast's, with shrinking bundles",
            collectives: &[Collective::Scatter],
            ..TORUS
        }),
        OneToAll(About {
            name: "torus-gather",
            title: "All-to-one personalized on circuits: a scatter read backwards",
            collectives: &[Collective::Gather],
            ..TORUS
        }),
        AllToAll(About {
            name: "torus-gossip",
            title: "All-to-all on circuits: k virtual cycles, then cycles of k neighbours",
            collectives: &[Collective::AllGather],
            params: &[VARIANT_OF_THREE, CYCLES],
            ..TORUS
        }),
        AllToAll(About {
            name: "torus-multiscatter",
            title: "All-to-all personalized on circuits: k virtual cycles, then cycles of k neighbours",
            collectives: &[Collective::AllToAll],
            params: &[VARIANT_OF_THREE, CYCLES],
            ..TORUS
        }),
        Permutation(About {
            name: "torus-permutation",
            title: "Permutations on circuits: collect diagonals, permute, distribute",
            collectives: &[Collective::Permutation],
            accepts: "torus or ring; for permutations of the axes, dimensions of an even number of nodes",
            params: &[VARIANT, FORM, DIRECTIONS],
            ..TORUS
        }),
    ],
);
