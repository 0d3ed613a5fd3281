//! Reductions of today's MPI libraries, for any topology and any number of nodes, and the allgather
//! of NCCL's PAT, which uses the same trees as its reduce-scatter.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | number of processes, one on each node |
//! | r | `rank` | rank of a process; in a collective with a root, counted from the root |
//! | m | | bytes of the vector; in a reduce-scatter, bytes of all results together |
//! | alpha, beta, gamma | | start-up of a message, time per byte, time to add a byte |
//!
//! The algorithms treat the nodes as a line of ranks, whatever the topology.

use swapmeet_sdk::{About, ParamInfo, Problem, Stop, export_plugin};

pub mod binomial;
pub mod chain;
pub mod circulant;
pub mod doubling;
pub mod halving;
pub mod nvls;
mod participants;
pub mod pat;
mod pipeline;
pub mod rabenseifner;
pub mod ring;
pub mod two_tree;

const MPICH: &str = "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH (2005)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: MPICH,
    ports: 1,
    ..About::DEFAULT
};

const SEGMENTS: ParamInfo =
    ParamInfo::number("segments", "8", "number of segments of the vector, 1 to 4096");

const MAX_SEGMENTS: u64 = 4096;

fn segments(problem: &Problem<'_>) -> Result<u32, Stop> {
    Ok(problem.whole("segments", 1..=MAX_SEGMENTS)? as u32)
}

const PIPELINE_SEGMENTS: ParamInfo = ParamInfo::text(
    "segments",
    "8",
    "number of segments of a rail's share of the vector, 1 to 4096 for all rails, or auto",
);

/// Returns the number of segments of each of `rails` equal shares of the vector, in a pipeline of
/// `depth` edges. With s segments, the pipeline takes c times `(depth + s) (alpha + m/(rails s)
/// beta)`, for some constant c. So the best s is `sqrt(depth m beta / (rails alpha))`.
fn pipeline_segments(problem: &Problem<'_>, rails: u64, depth: u64) -> Result<u64, Stop> {
    let most = MAX_SEGMENTS / rails;
    if most == 0 {
        return Err(Stop::unsupported(format!(
            "{rails} rails cannot share the {MAX_SEGMENTS} segments that a vector may have"
        )));
    }
    if problem.given::<String>("segments")?.as_deref() != Some("auto") {
        return problem.whole("segments", 1..=most);
    }
    let bytes = problem.block_bytes() as f64 / rails as f64;
    let best = depth as f64 * bytes * problem.byte_us() / problem.startup_us();
    Ok(if best.is_nan() { 1 } else { (best.sqrt().round() as u64).clamp(1, most) })
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        binomial::Binomial,
        chain::Chain,
        circulant::REDUCE_SCATTER,
        circulant::ALL_REDUCE,
        pat::ALL_GATHER,
        pat::REDUCE_SCATTER,
        halving::Halving,
        ring::REDUCE_SCATTER,
        ring::ALL_REDUCE,
        doubling::Doubling,
        rabenseifner::Rabenseifner,
        two_tree::TwoTree,
        nvls::ONE_GROUP,
        nvls::TREE,
    ],
);
