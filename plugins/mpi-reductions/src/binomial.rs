//! `binomial-reduce` takes `ceil(log2 p) (alpha + m beta + m gamma)`, as in MPICH
//! (`MPIR_Reduce_intra_binomial`) and Open MPI (`reduce_intra_binomial`). There is one step for
//! each b = 1, 2, 4, etc. below p. In step b, every rank r that is a multiple of 2b receives the
//! sum of rank r + b and adds it to its own.

use crate::ANYWHERE;
use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Stop};

pub struct Binomial;

impl Algorithm for Binomial {
    fn about(&self) -> About {
        About {
            name: "binomial-reduce",
            title: "Reduce on a binomial tree",
            collectives: &[Collective::Reduce],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, root) = (problem.topology().nodes(), problem.root());
        schedule.layout(&[n], 1)?;
        let node = |rank: u64| (rank + root) % n;
        for b in (0..n.next_power_of_two().trailing_zeros()).map(|step| 1 << step) {
            schedule.step()?;
            for rank in (0..n - b).step_by(2 * b as usize) {
                schedule.send(&Blocks::new(node(rank + b), node(rank)).combine())?;
            }
        }
        Ok(())
    }
}
