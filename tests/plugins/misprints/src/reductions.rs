//! A ring allreduce with an injected fault in its contributions.

use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReductionFault {
    Nothing,
    /// A node keeps a copy of each partial sum that it sends, and later adds the result to it.
    CountedTwice,
    MissingStep,
    /// In the reduce-scatter, a received sum replaces the sum of the receiver.
    ReplacedSum,
}

pub(crate) struct Ring {
    pub name: &'static str,
    pub fault: ReductionFault,
}

impl Algorithm for Ring {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: "An allreduce around a ring",
            collectives: &[Collective::AllReduce],
            ports: 1,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        schedule.layout_in_parts(&[n], 1)?;
        // Every injected fault has the same effect on each rank, so the claim is right.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let twice = self.fault == ReductionFault::CountedTwice;
        for step in 1..n {
            schedule.step()?;
            for rank in &planned {
                let send =
                    Blocks::new(rank, (rank + 1) % n).destinations(Set::one((rank + n - step) % n));
                let send =
                    if self.fault == ReductionFault::ReplacedSum { send } else { send.combine() };
                schedule.send(&if twice { send.copy() } else { send })?;
            }
        }
        let early = u64::from(self.fault == ReductionFault::MissingStep);
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
