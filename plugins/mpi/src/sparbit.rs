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

pub struct Sparbit;

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
                // A block from a rank more than n - distance - 1 positions back is not sent,
                // because it would return to its origin or pass it.
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
