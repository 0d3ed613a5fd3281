//! `sparbit-allgather`: W. J. Loch and G. P. Koslovski, *Sparbit: A New Logarithmic-Cost and Data
//! Locality-Aware MPI Allgather Algorithm*, arXiv 2109.08751 (2021). It takes `ceil(log2 p) alpha +
//! (p - 1) m beta` for any number of ranks.
//!
//! Each block spreads along a separate binomial tree, and all trees grow at the same time. The
//! distance d is 2^(ceil(log2 p) - 1) in the first step and is halved in each further step. In each
//! step, rank r sends to rank r + d, with wrap-around, its block and all blocks that it has from
//! the p - d - 1 ranks before it. In contrast to Bruck's algorithm, each block arrives at its final
//! position in the receive buffer.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct Sparbit;

impl Algorithm for Sparbit {
    fn about(&self) -> About {
        About {
            name: "sparbit-allgather",
            title: "Allgather on binomial trees, distant ranks first",
            paper: "W. J. Loch, G. P. Koslovski: Sparbit: A New Logarithmic-Cost and Data Locality-Aware MPI Allgather Algorithm (2021)",
            collectives: &[Collective::AllGather],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule, 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut distance = n.next_power_of_two() / 2;
        while distance > 0 {
            schedule.step()?;
            for rank in &planned {
                // A block from more than n - distance - 1 ranks back would return to its origin or
                // pass it.
                let origins = [Axis::range((rank + distance + 1) % n, n - distance)];
                schedule.send(
                    &Blocks::new(rank, (rank + distance) % n)
                        .origins(Set::product(&origins))
                        .copy(),
                )?;
            }
            distance /= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn it_takes_log_p_steps_and_p_minus_1_blocks() {
        for n in 1..40_u64 {
            let problem = Rehearsal::on("ring", &[n]).collective(Collective::AllGather, 0);
            let proved = problem.verify(&Sparbit).unwrap();
            let steps = u64::from(n.next_power_of_two().trailing_zeros());
            assert_eq!(
                (proved.steps, proved.critical_bytes, proved.messages),
                (steps, n - 1, n * steps),
                "{n}"
            );
        }
    }

    #[test]
    fn distances_halve() {
        let plan = Rehearsal::on("ring", &[12])
            .collective(Collective::AllGather, 0)
            .plan(&Sparbit)
            .unwrap();
        let distance: Vec<u64> =
            plan.iter().map(|step| (step.sends[0].to + 12 - step.sends[0].from) % 12).collect();
        assert_eq!(distance, [8, 4, 2, 1]);
    }
}
