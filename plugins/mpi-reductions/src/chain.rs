//! `chain-reduce`: a pipeline along a chain of ranks. With the vector in s segments it takes `(p +
//! s - 2) (alpha + m/s beta + m/s gamma)`. In Open MPI, the algorithm is `reduce_intra_chain` with
//! one chain, and `reduce_intra_pipeline`. Ranks are counted from the root. The last rank of the
//! chain, p - 1, starts in step 0. In step t, rank r sends to rank r - 1 its sum of segment t -
//! (p - 1 - r).

use crate::{ANYWHERE, SEGMENTS, segments};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Stop};

pub(crate) struct Chain;

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

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn it_takes_p_plus_s_minus_2_steps() {
        for n in 1..9_u64 {
            for segments in [1, 2, 5] {
                let problem = Rehearsal::on("ring", &[n]).collective(Collective::Reduce, n / 2);
                let problem =
                    problem.param("segments", &segments.to_string()).block_bytes(segments);
                let proved = problem.verify(&Chain).unwrap();
                let steps = if n == 1 { 0 } else { n + segments - 2 };
                assert_eq!(
                    (proved.steps, proved.critical_bytes, proved.summed_bytes),
                    (steps, steps, steps),
                    "{n}, {segments}"
                );
                assert_eq!(proved.messages, (n - 1) * segments);
            }
        }
    }
}
