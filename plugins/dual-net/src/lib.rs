//! Collectives on recursive dual-nets, after Y. Li, S. Peng and W. Chu, *Collective Communication
//! in Recursive Dual-Net: An Interconnection Network for High-Performance Parallel Computer Systems
//! of the Next Generation*.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | B, n_0 | | the base network, and its nodes |
//! | RDN^k(B) | `net::Net` | k levels of dual-construction over B |
//! | n_k | `nodes(k)` | 2 n_(k-1)^2, nodes of a net of k levels |
//! | (u_0, u_1, u_2) | `(t, c, x)` | a node: its type, its cluster, which node of the cluster it is |
//! | partner | `partner` | the other end of (t, c, x)'s cross-edge: (1 - t, x, c) |
//! | C_s | | the cluster that s is in, a net of k - 1 levels |
//! | m | | size of a block |
//! | T(k, m) | | time of an algorithm on RDN^k(B): T(0, m) is that of the base's own |
//!
//! Each algorithm crosses over to the partner, goes a level down within all clusters at once, and
//! does both again. Within the cluster, *blocks for node v* are whole sets of the blocks of the
//! level above (`sets::Blocks`), so that a rule stays a few products however many blocks there are.
//!
//! The paper leaves the base to others. Here every base goes through its dimensions one after
//! another:
//!
//! | along a dimension of N | ring (tori, rings; hypercubes with N = 2) | fully linked (any other base) |
//! | --- | --- | --- |
//! | broadcast | both ways, ceil(N / 2) steps; in several dimensions neighbour to neighbour where that is sooner | doubling, ceil(log2 N) steps |
//! | scatter | farthest first, N - 1 steps, N - 1 blocks | halving, ceil(log2 N) steps, N - 1 blocks |
//! | all-gather | what came last goes on, N - 1 steps, N - 1 blocks | doubling, ceil(log2 N) steps, N - 1 blocks |
//! | all-to-all | ahead, then back, N - 1 steps, floor(N^2 / 4) blocks | pairs, N - 1 steps, N - 1 blocks |
//!
//! Variants: `printed` is the paper's algorithm to the letter, but for blocks that a node would
//! send to itself; `lean` (ours) sends nothing that the receiver has or another has to carry back,
//! and so meets the bound: n_k - 1 words to scatter or gather, and in an all-to-all the sum of all
//! distances.

use net::Net;
use sets::Sets;
use swapmeet_sdk::{About, Algorithm, ParamInfo, Problem, Schedule, Stop, export_plugin, words};

mod all_to_all;
mod net;
mod one_to_all;
mod sets;

const PAPER: &str = "Y. Li, S. Peng, W. Chu: Collective Communication in Recursive Dual-Net";

/// How much is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// What the paper's algorithm says.
    Printed,
    /// Nothing in vain.
    Lean,
}

impl Variant {
    fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        problem.choice("variant", &VARIANTS)
    }
}

const VARIANTS: [(&str, Variant); 2] = [("printed", Variant::Printed), ("lean", Variant::Lean)];
const VARIANT_FROM_ONE: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&VARIANTS),
    "lean",
    "printed: the paper's to the letter, which from some roots leaves nodes out; lean: from every root",
);
const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&VARIANTS),
    "lean",
    "printed: the paper's; lean: nothing is sent that the receiver has or that has to come back",
);

const DUAL_NET: About = About {
    paper: PAPER,
    accepts: "recursive dual-net, over any base",
    ports: 1,
    ..About::DEFAULT
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Payload {
    /// A block of each sender's, copied. From all to all, blocks are told apart by where they come
    /// from.
    Same,
    /// A block from each sender for each, told apart by where they go.
    Personal,
}

/// One of Algorithms 1 to 4.
struct Numbered {
    about: About,
    payload: Payload,
    plan: fn(&Problem<'_>, &Net, Variant, Payload, &mut Schedule<'_>) -> Result<(), Stop>,
}

impl Algorithm for Numbered {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        Net::of(problem)?;
        Variant::of(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (net, variant) = (Net::of(problem)?, Variant::of(problem)?);
        schedule.layout(Sets::new(&net, false).grid(), 1)?;
        (self.plan)(problem, &net, variant, self.payload, schedule)
    }
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [one_to_all::BROADCAST, one_to_all::SCATTER, all_to_all::ALL_GATHER, all_to_all::ALL_TO_ALL],
);
