//! `chain-reduce`: a pipeline along a chain of ranks. With the vector in s segments it takes `(p +
//! s - 2) (alpha + m/s beta + m/s gamma)`. In Open MPI, the algorithm is `reduce_intra_chain` with
//! one chain, and `reduce_intra_pipeline`. Ranks are counted from the root. The last rank of the
//! chain, p - 1, starts in step 0. In step t, rank r sends to rank r - 1 its sum of segment t -
//! (p - 1 - r).

use crate::{ANYWHERE, SEGMENTS, segments};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Stop};

pub struct Chain;

impl Algorithm for Chain {
    fn about(&self) -> About {
        About {
            name: "chain-reduce",
            title: "Pipelined reduce along a chain of ranks",
            paper: "Open MPI, coll/base",
            collectives: &[Collective::Reduce],
            params: &[SEGMENTS],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let segments = segments(problem)?;
        let (n, root, s) = (problem.topology().nodes(), problem.root(), u64::from(segments));
        schedule.layout(&[n], segments)?;
        let links = n.saturating_sub(1);
        for step in 0..(links + s - 1) * u64::from(links > 0) {
            schedule.step()?;
            for k in (step + 1).saturating_sub(s)..=step.min(links - 1) {
                let (from, to) = ((n - 1 - k + root) % n, (n - 2 - k + root) % n);
                schedule.send(
                    &Blocks::new(from, to).segments(Axis::one(step - k)).strict().combine(),
                )?;
            }
        }
        Ok(())
    }
}
