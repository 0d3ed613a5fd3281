//! `neighbour-allgather`: neighbour exchange (J. Chen et al., *Performance Evaluation of Allgather
//! Algorithms on Terascale Linux Cluster with Fast Ethernet*, 2005). For an even number of ranks it
//! takes `p/2 alpha + (p - 1) m beta`. In Open MPI, the algorithm is
//! `allgather_intra_neighborexchange`.
//!
//! In step 1, an even rank r exchanges its block with rank r + 1. After that, each rank exchanges
//! in turn with its other neighbour and with this first one. It sends two blocks: in step 2 those
//! of both ranks of its pair in step 1, and in later steps those that it received in the step
//! before.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub struct Neighbour;

impl Algorithm for Neighbour {
    fn about(&self) -> About {
        About {
            name: "neighbour-allgather",
            title: "Allgather between neighbours, on alternating sides",
            paper: "J. Chen, L. Zhang, Y. Zhang, W. Yuan: Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet (2005)",
            accepts: "any topology with an even number of nodes",
            collectives: &[Collective::AllGather],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        match problem.topology().nodes() {
            n if n % 2 == 1 && n > 1 => {
                Err(Stop::unsupported(format!("needs an even number of nodes, not {n}")))
            }
            _ => Ok(()),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule, 1)?;
        // All even ranks send at the same distance and in the same direction, and so do all odd
        // ranks.
        let planned =
            schedule.symmetric(&[if n > 1 { Symmetry::shift(2) } else { Symmetry::NONE }])?;
        for step in 1..=n / 2 {
            schedule.step()?;
            for rank in &planned {
                let upwards = (rank + step) % 2 == 1;
                let to = if upwards { rank + 1 } else { rank + n - 1 } % n;
                let newest = match (step, upwards) {
                    (1, _) => Axis::range(rank, 1),
                    (_, true) => Axis::range((rank + n + 1 - step) % n, 2),
                    (_, false) => Axis::range((rank + step - 2) % n, 2),
                };
                let origins = [newest];
                schedule
                    .send(&Blocks::new(rank, to).origins(Set::product(&origins)).copy().strict())?;
            }
        }
        Ok(())
    }
}
