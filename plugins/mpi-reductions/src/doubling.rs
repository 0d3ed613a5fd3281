//! `recursive-doubling-allreduce`: takes `log2 p (alpha + m beta + m gamma)`, as in MPICH
//! (`MPIR_Allreduce_intra_recursive_doubling`) and Open MPI (`allreduce_intra_recursivedoubling`).
//! If p is not a power of two, two additional steps add `2 m beta + m gamma`. In step i, rank r and
//! rank r xor 2^i exchange and add their whole sums. [`Participants`] defines the ranks.

use crate::ANYWHERE;
use crate::participants::Participants;
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
            let (log, uneven) = (u64::from(n.ilog2()), u64::from(!n.is_power_of_two()));
            assert_eq!(proved.steps, log + 2 * uneven, "{n}");
            assert_eq!(
                (proved.critical_bytes, proved.summed_bytes),
                (10 * (log + 2 * uneven), 10 * (log + uneven)),
                "{n}"
            );
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }
}
