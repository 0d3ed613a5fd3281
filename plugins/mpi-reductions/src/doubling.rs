//! `recursive-doubling-allreduce` takes `log2 p (alpha + m beta + m gamma)`, as in MPICH
//! (`MPIR_Allreduce_intra_recursive_doubling`) and Open MPI (`allreduce_intra_recursivedoubling`).
//! If p is not a power of two, two additional steps add `2 m beta + m gamma` to the time of the
//! transfers.
//!
//! In step i, rank r and rank r xor 2^i exchange and add their whole sums. `Participants` defines
//! the ranks that participate.

use crate::ANYWHERE;
use crate::participants::Participants;
use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Stop};

pub struct Doubling;

impl Algorithm for Doubling {
    fn about(&self) -> About {
        About {
            name: "recursive-doubling-allreduce",
            title: "Allreduce by recursive doubling",
            collectives: &[Collective::AllReduce],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let participants = Participants::new(problem.topology().nodes());
        schedule.layout(&participants.radices(), 1)?;
        let planned = participants.planned(schedule)?;
        participants.send_excess(schedule)?;
        for i in 0..participants.steps() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| participants.rank(node)) {
                let (from, to) = (participants.node(rank), participants.node(rank ^ 1 << i));
                schedule.send(&Blocks::new(from, to).copy().combine())?;
            }
        }
        participants.return_to_excess(schedule)
    }
}
