//! `recursive-doubling-allreduce`: takes `log2 p (alpha + m beta + m gamma)`, as in MPICH
//! (`MPIR_Allreduce_intra_recursive_doubling`) and Open MPI (`allreduce_intra_recursivedoubling`).
//! If p is not a power of two, it takes two additional steps, which add `2 m beta + m gamma` to the
//! time of the transfers.
//!
//! In step i, rank r and rank r xor 2^i send each other their whole sums. Each of the two ranks
//! adds the received sum to its sum. [`Folded`] defines the ranks that participate.

use crate::ANYWHERE;
use crate::folded::Folded;
use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Stop};

pub(crate) struct Doubling;

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
        let folded = Folded::new(problem.topology().nodes());
        schedule.layout(&folded.radices(), 1)?;
        let planned = folded.planned(schedule)?;
        folded.fold(schedule)?;
        for i in 0..folded.steps() {
            schedule.step()?;
            for rank in planned.iter().filter_map(|node| folded.rank(node)) {
                let (from, to) = (folded.node(rank), folded.node(rank ^ 1 << i));
                schedule.send(&Blocks::new(from, to).copy().combine())?;
            }
        }
        folded.unfold(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            let problem =
                Rehearsal::on("ring", &[n]).collective(Collective::AllReduce, 0).block_bytes(10);
            let proved = problem.verify(&Doubling).unwrap();
            let (log, folded) = (u64::from(n.ilog2()), u64::from(!n.is_power_of_two()));
            assert_eq!(proved.steps, log + 2 * folded, "{n}");
            assert_eq!(
                (proved.critical_bytes, proved.summed_bytes),
                (10 * (log + 2 * folded), 10 * (log + folded)),
                "{n}"
            );
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }
}
