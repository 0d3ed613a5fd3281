//! `chain-broadcast`: a pipeline along a chain of ranks. With s segments it takes `(p + s - 2)
//! (alpha + m/s beta)`. In Open MPI, the algorithm is `bcast_intra_chain` with one chain, and
//! `bcast_intra_pipeline`. In step t, rank r sends segment t - r to the next rank.

use crate::{ANYWHERE, line, node};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Stop,
};

pub(crate) struct Chain;

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

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn it_takes_p_plus_s_minus_2_steps() {
        for n in 1..9_u64 {
            for segments in [1, 2, 5] {
                let problem = Rehearsal::on("ring", &[n]).collective(Collective::Broadcast, n / 2);
                let problem =
                    problem.param("segments", &segments.to_string()).block_bytes(segments);
                let proved = problem.verify(&Chain).unwrap();
                let steps = if n == 1 { 0 } else { n + segments - 2 };
                assert_eq!(
                    (proved.steps, proved.critical_bytes),
                    (steps, steps),
                    "{n}, {segments}"
                );
                assert_eq!(proved.messages, (n - 1) * segments);
            }
        }
    }
}
