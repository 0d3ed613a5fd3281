//! `chain-broadcast`: a pipeline along a chain of ranks. With s segments it takes `(p + s - 2)
//! (alpha + m/s beta)`. In Open MPI, the algorithm is `bcast_intra_chain` with one chain, and
//! `bcast_intra_pipeline`. In step t, rank r sends segment t - r to the next rank.

use crate::{ANYWHERE, line, node};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Stop,
};

pub struct Chain;

const SEGMENTS: ParamInfo =
    ParamInfo::number("segments", "8", "number of segments of a block, 1 to 4096");

impl Algorithm for Chain {
    fn about(&self) -> About {
        About {
            name: "chain-broadcast",
            title: "Pipelined broadcast along a chain of ranks",
            paper: "J. Pjesivac-Grbovic et al.: Performance Analysis of MPI Collective Operations (2007); Open MPI, coll/base",
            collectives: &[Collective::Broadcast],
            params: &[SEGMENTS],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let segments = problem.whole("segments", 1..=4096)?;
        let (n, root) = (line(problem, schedule, segments as u32)?, problem.root());
        let steps = if n > 1 { n + segments - 2 } else { 0 };
        for step in 0..steps {
            schedule.step()?;
            for rank in (step + 1).saturating_sub(segments)..=step.min(n - 2) {
                let (from, to) = (node(rank, root, n), node(rank + 1, root, n));
                schedule.send(&Blocks::new(from, to).segments(Axis::one(step - rank)).copy())?;
            }
        }
        Ok(())
    }
}
