//! A chain, or pipeline: (p + s - 2) (alpha + m / s beta) with the block in s segments; Open MPI's
//! `bcast_intra_chain` with one chain, and `_pipeline`.
//!
//! In step t rank r passes on segment t - r, which came in the step before.

use crate::{ANYWHERE, line, node};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Stop,
};

pub(crate) struct Chain;

const SEGMENTS: ParamInfo =
    ParamInfo::number("segments", "8", "pieces that a block is passed on in, from 1 to 4096");

impl Algorithm for Chain {
    fn about(&self) -> About {
        About {
            name: "chain-broadcast",
            title: "A pipeline: everyone passes on to the next rank, a segment a step",
            paper: "J. Pjesivac-Grbovic et al.: Performance Analysis of MPI Collective Operations (2007); Open MPI, coll/base",
            collectives: &[Collective::Broadcast],
            params: &[SEGMENTS],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        segments(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let segments = segments(problem)?;
        let (n, root) = (line(problem, schedule, segments as u32)?, problem.root());
        for step in 0..(n - 1) * u64::from(n > 1) + (segments - 1) * u64::from(n > 1) {
            schedule.step()?;
            for rank in (step + 1).saturating_sub(segments)..=step.min(n - 2) {
                let (from, to) = (node(rank, root, n), node(rank + 1, root, n));
                schedule.send(&Blocks::new(from, to).segments(Axis::one(step - rank)).copy())?;
            }
        }
        Ok(())
    }
}

fn segments(problem: &Problem<'_>) -> Result<u64, Stop> {
    problem.whole("segments", 1..=4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_rank_has_every_segment_after_p_plus_s_minus_2_steps() {
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

    #[test]
    fn a_block_has_at_least_one_segment() {
        let problem =
            Rehearsal::on("ring", &[4]).collective(Collective::Broadcast, 0).param("segments", "0");
        assert!(problem.plan(&Chain).unwrap_err().to_string().starts_with("`segments=0`: "));
    }
}
