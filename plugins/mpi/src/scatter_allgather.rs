//! `scatter-allgather`: van de Geijn's broadcast for long messages (Thakur, Rabenseifner and Gropp
//! (2005), section 4.3). It takes `(ceil(log2 p) + p - 1) alpha + 2 (p - 1)/p m beta`. A binomial
//! scatter sends segment r of p to rank r. Then, in each of p - 1 steps of an allgather on a ring,
//! each rank sends to the next rank the segment that it received last.

use crate::binomial::halves;
use crate::{ANYWHERE, line, node};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Stop};

pub struct ScatterAllgather;

const MAX_SEGMENTS: u64 = 4096;

impl Algorithm for ScatterAllgather {
    fn about(&self) -> About {
        About {
            name: "scatter-allgather",
            title: "Broadcast as a scatter and a ring allgather",
            accepts: "any topology, up to 4096 nodes",
            collectives: &[Collective::Broadcast],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        match problem.topology().nodes() {
            0..=MAX_SEGMENTS => Ok(()),
            n => Err(Stop::unsupported(format!(
                "{n} nodes need one segment each; a block has at most {MAX_SEGMENTS} segments"
            ))),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule, problem.topology().nodes() as u32)?;
        let at = |rank| node(rank, problem.root(), n);
        schedule.phase("scatter")?;
        for b in halves(n) {
            schedule.step()?;
            for rank in (0..n - b).step_by(2 * b as usize) {
                let upper = Axis::range(rank + b, b.min(n - rank - b));
                schedule.send(&Blocks::new(at(rank), at(rank + b)).segments(upper))?;
            }
        }
        schedule.phase("allgather")?;
        for step in 1..n {
            schedule.step()?;
            for rank in 0..n {
                let newest = (rank + n - (step - 1)) % n;
                let send = Blocks::new(at(rank), at((rank + 1) % n)).segments(Axis::one(newest));
                schedule.send(&send.copy().strict())?;
            }
        }
        Ok(())
    }
}
