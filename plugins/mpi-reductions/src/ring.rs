//! `ring-reduce-scatter` and `ring-allreduce`: P. Patarasuk and X. Yuan, *Bandwidth Optimal
//! All-reduce Algorithms for Clusters of Workstations* (2009). The reduce-scatter takes `(p - 1)
//! alpha + (p - 1)/p m beta + (p - 1)/p m gamma`. The allreduce is a reduce-scatter followed by an
//! allgather, and takes `2 (p - 1) alpha + 2 (p - 1)/p m beta + (p - 1)/p m gamma`.
//!
//! The vector has p segments. Segment c starts at rank c + 1 and is sent once round the ring to
//! rank c. Each rank on this route adds its values to the segment. In the allgather the segment is
//! sent round the ring a second time, and each rank keeps a copy.

use crate::ANYWHERE;
use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry};

pub(crate) struct Ring {
    about: About,
}

const PAPER: About = About {
    paper: "P. Patarasuk, X. Yuan: Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations (2009)",
    ..ANYWHERE
};

pub(crate) const REDUCE_SCATTER: Ring = Ring {
    about: About {
        name: "ring-reduce-scatter",
        title: "Reduce-scatter along a ring of ranks",
        collectives: &[Collective::ReduceScatter],
        ..PAPER
    },
};

pub(crate) const ALL_REDUCE: Ring = Ring {
    about: About {
        name: "ring-allreduce",
        title: "Allreduce along a ring of ranks",
        collectives: &[Collective::AllReduce],
        ..PAPER
    },
};

impl Algorithm for Ring {
    fn about(&self) -> About {
        self.about
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let all = problem.collective() == Collective::AllReduce;
        let lay_out = if all { Schedule::layout_in_parts } else { Schedule::layout };
        lay_out(schedule, &[n], 1)?;
        // All ranks apply the same rule: rank r sends segment r - `step` to the next rank.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        schedule.phase("reduce-scatter")?;
        for step in 1..n {
            schedule.step()?;
            for rank in &planned {
                let part = Set::one((rank + n - step) % n);
                schedule.send(
                    &Blocks::new(rank, (rank + 1) % n).destinations(part).strict().combine(),
                )?;
            }
        }
        if !all {
            return Ok(());
        }
        schedule.phase("allgather")?;
        for step in 0..n - 1 {
            schedule.step()?;
            for rank in &planned {
                let part = Set::one((rank + n - step) % n);
                schedule
                    .send(&Blocks::new(rank, (rank + 1) % n).destinations(part).strict().copy())?;
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
    fn every_size_has_the_cost_of_the_closed_forms() {
        for n in 1..12_u64 {
            let scattered = Rehearsal::on("ring", &[n])
                .collective(Collective::ReduceScatter, 0)
                .block_bytes(10);
            let scattered = scattered.verify(&REDUCE_SCATTER).unwrap();
            assert_eq!((scattered.steps, scattered.messages), (n - 1, n * (n - 1)), "{n}");
            assert_eq!(
                (scattered.critical_bytes, scattered.summed_bytes),
                (10 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            let everywhere = Rehearsal::on("ring", &[n])
                .collective(Collective::AllReduce, 0)
                .block_bytes(10 * n);
            let everywhere = everywhere.verify(&ALL_REDUCE).unwrap();
            assert_eq!(
                (everywhere.steps, everywhere.messages),
                (2 * (n - 1), 2 * n * (n - 1)),
                "{n}"
            );
            assert_eq!(
                (everywhere.critical_bytes, everywhere.summed_bytes),
                (20 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            assert!(everywhere.max_sends <= 1 && everywhere.max_receives <= 1);
        }
    }
}
