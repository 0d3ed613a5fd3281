//! Collectives on recursive dual-nets, after Y. Li, S. Peng and W. Chu, *Collective Communication
//! in Recursive Dual-Net: An Interconnection Network for High-Performance Parallel Computer Systems
//! of the Next Generation*.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | B, n_0 | | the base network and the number of its nodes |
//! | RDN^k(B) | `net::Net` | net of k levels: the dual-construction is applied k times to B |
//! | n_k | `nodes(k)` | number of nodes of a net of k levels: n_k = 2 n_(k-1)^2 |
//! | (u_0, u_1, u_2) | `(t, c, x)` | a node: its type, its cluster, its number within the cluster |
//! | partner | `partner` | the node at the opposite end of the cross-edge of (t, c, x): (1 - t, x, c) |
//! | m | | size of a block in bytes |
//! | alpha, beta | | start-up of a message, time per byte |
//!
//! Each algorithm alternates twice between sends to partners and the same algorithm one level down,
//! which all clusters run at the same time. Within a cluster, *the blocks for node v* can be many
//! blocks of the level above. `sets::Blocks` represents them as a product of sets.
//!
//! The paper does not prescribe algorithms on the base network. This plugin uses its dimensions in
//! turn:
//!
//! | along a dimension of N nodes | ring (tori, rings; hypercubes with N = 2) | fully connected (any other base) |
//! | --- | --- | --- |
//! | broadcast | both directions, ceil(N / 2) steps; from neighbour to neighbour across several dimensions if that is faster | doubling, ceil(log2 N) steps |
//! | scatter | farthest first, N - 1 steps, N - 1 blocks | halving, ceil(log2 N) steps, N - 1 blocks |
//! | allgather | newest block passed on, N - 1 steps, N - 1 blocks | doubling, ceil(log2 N) steps, N - 1 blocks |
//! | all-to-all | forwards, then backwards, N - 1 steps, floor(N^2 / 4) blocks | pairs, N - 1 steps, N - 1 blocks |
//!
//! Variants:
//! * `printed` is the paper's algorithm, except that a node does not send blocks to itself.
//! * `lean` was found for this project. It sends no block to a node that already has it, and none
//!   away from its destination. Its number of blocks is therefore the lower bound: n_k - 1 in a
//!   scatter or gather, and the sum of the distances of all blocks in an all-to-all.

use net::Net;
use sets::Sets;
use swapmeet_sdk::{About, Algorithm, ParamInfo, Problem, Schedule, Stop, export_plugin, words};

mod all_to_all;
mod net;
pub mod one_to_all;
mod sets;

const PAPER: &str = "Y. Li, S. Peng, W. Chu: Collective Communication in Recursive Dual-Net";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Printed,
    Lean,
}

impl Variant {
    fn read(problem: &Problem<'_>) -> Result<Self, Stop> {
        problem.choice("variant", &VARIANTS)
    }
}

const VARIANTS: [(&str, Variant); 2] = [("printed", Variant::Printed), ("lean", Variant::Lean)];
const ONE_TO_ALL_VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&VARIANTS),
    "lean",
    "printed: as in the paper, which misses nodes for some roots; lean: corrected for every root",
);
const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&VARIANTS),
    "lean",
    "printed: as in the paper; lean: without unnecessary sends",
);

const DUAL_NET: About = About {
    paper: PAPER,
    accepts: "recursive dual-nets over any base",
    ports: 1,
    ..About::DEFAULT
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Payload {
    /// One block of each sender. Each receiver gets a copy.
    Shared,
    Personal,
}

struct NetCollective {
    about: About,
    payload: Payload,
    plan: fn(&Problem<'_>, &Net, Variant, Payload, &mut Schedule<'_>) -> Result<(), Stop>,
}

impl Algorithm for NetCollective {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (net, variant) = (Net::read(problem)?, Variant::read(problem)?);
        schedule.layout(Sets::new(&net, false).grid(), 1)?;
        (self.plan)(problem, &net, variant, self.payload, schedule)
    }
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [one_to_all::BROADCAST, one_to_all::SCATTER, all_to_all::ALL_GATHER, all_to_all::ALL_TO_ALL],
);
