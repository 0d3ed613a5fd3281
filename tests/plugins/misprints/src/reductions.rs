//! A ring allreduce, and what goes wrong in one: a contribution counted twice, one left out, a sum
//! replaced.

use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry};

/// What is sent of a ring's allreduce.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sums {
    Mended,
    /// Terms stay where they were added, and results are added to them.
    CountedTwice,
    /// The allgather ends a step early.
    LeftOut,
    /// The reduce-scatter does not add.
    Replaced,
}

pub(crate) struct Ring {
    pub name: &'static str,
    pub sums: Sums,
}

impl Algorithm for Ring {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: "An allreduce round a ring",
            collectives: &[Collective::AllReduce],
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        schedule.layout_in_parts(&[n], 1)?;
        // Right or wrong, every rank does the same, seen from itself.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let twice = self.sums == Sums::CountedTwice;
        for step in 1..n {
            schedule.step()?;
            for rank in &planned {
                let send =
                    Blocks::new(rank, (rank + 1) % n).destinations(Set::one((rank + n - step) % n));
                let send = if self.sums == Sums::Replaced { send } else { send.combine() };
                schedule.send(&if twice { send.copy() } else { send })?;
            }
        }
        let early = u64::from(self.sums == Sums::LeftOut);
        for step in 0..(n - 1).saturating_sub(early) {
            schedule.step()?;
            for rank in &planned {
                let send = Blocks::new(rank, (rank + 1) % n)
                    .destinations(Set::one((rank + n - step) % n))
                    .copy();
                schedule.send(&if twice { send.combine() } else { send })?;
            }
        }
        Ok(())
    }
}
