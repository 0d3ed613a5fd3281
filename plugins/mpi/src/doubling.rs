//! `recursive-doubling-allgather` (Thakur, Rabenseifner and Gropp (2005), section 4.1). It takes
//! `log2 p alpha + (p - 1) m beta`, where p must be a power of two. There is one step for each b =
//! 1, 2, 4, etc. below p. In step b, rank r exchanges all its blocks with rank r xor b. These are
//! the blocks of all ranks that agree with r in bit b and in all higher bits.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop, Symmetry,
};

pub struct Doubling;

impl Algorithm for Doubling {
    fn about(&self) -> About {
        About {
            name: "recursive-doubling-allgather",
            title: "Allgather by recursive doubling",
            accepts: "any topology with a power of two of nodes",
            collectives: &[Collective::AllGather],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        match problem.topology().nodes() {
            n if n.is_power_of_two() => Ok(()),
            n => Err(Stop::unsupported(format!("needs a power of two of nodes, not {n}"))),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule, 1)?;
        // If exclusive-or maps two ranks, they still differ in the same bits, and agree in the same
        // ones.
        let planned = schedule.symmetric(&[Symmetry::xor(1)])?;
        for b in (0..n.trailing_zeros()).map(|bit| 1 << bit) {
            schedule.step()?;
            for rank in &planned {
                let origins = [Axis::range(rank & !(b - 1), b)];
                schedule.send(
                    &Blocks::new(rank, rank ^ b).origins(Set::product(&origins)).copy().strict(),
                )?;
            }
        }
        Ok(())
    }
}
