//! Sparbit: ceil(log2 p) alpha + (p - 1) m beta for any number of ranks, near neighbours last; W.
//! J. Loch and G. P. Koslovski, *Sparbit: A New Logarithmic-Cost and Data Locality-Aware MPI
//! Allgather Algorithm*, arXiv 2109.08751 (2021).
//!
//! p binomial trees, one a block, grown side by side: with d = 2^(ceil(log2 p) - 1), .., 2, 1 rank
//! r sends rank r + d, counted round, all that it has of ranks less than p - d before it. So blocks
//! travel far while they are few, and blocks are where they belong at once, unlike Bruck's.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct Sparbit;

impl Algorithm for Sparbit {
    fn about(&self) -> About {
        About {
            name: "sparbit-allgather",
            title: "A binomial tree for each block, far ranks first",
            paper: "W. J. Loch, G. P. Koslovski: Sparbit: A New Logarithmic-Cost and Data Locality-Aware MPI Allgather Algorithm (2021)",
            collectives: &[Collective::AllGather],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule, 1)?;
        // Everyone does the same, seen from itself.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut far = n.next_power_of_two() / 2;
        while far > 0 {
            schedule.step()?;
            for rank in &planned {
                // From the rank n - far - 1 before it up to itself: what came further would go
                // round beyond its origin.
                let origins = [Axis::range((rank + far + 1) % n, n - far)];
                schedule.send(
                    &Blocks::new(rank, (rank + far) % n).origins(Set::product(&origins)).copy(),
                )?;
            }
            far /= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_number_of_ranks_takes_log_p_steps_and_p_minus_1_blocks() {
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
        let far: Vec<u64> =
            plan.iter().map(|step| (step.sends[0].to + 12 - step.sends[0].from) % 12).collect();
        assert_eq!(far, [8, 4, 2, 1]);
    }
}
