//! `hierarchical`: all-to-all through one leader in each group of ranks (J. L. Träff and A.
//! Rougier, *MPI Collectives and Datatypes for Hierarchical All-to-all Communication*, 2014). With
//! G groups of g ranks, p = g G, it takes `(2 (g - 1) + G - 1) alpha + (2 (g - 1) (p - 1) + (G - 1)
//! g^2) m beta`.
//!
//! 1. The ranks of a group send all their blocks to its leader, the first rank, one after another.
//! 2. The leaders exchange the blocks of their groups. In step s, a leader sends to the leader s
//!    groups after it.
//! 3. The leader sends to each rank of its group the blocks for that rank.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop};

pub struct Hierarchical;

impl Algorithm for Hierarchical {
    fn about(&self) -> About {
        About {
            name: "hierarchical",
            title: "All-to-all via group leaders",
            paper: "J. L. Träff, A. Rougier: MPI Collectives and Datatypes for Hierarchical All-to-all Communication (2014)",
            accepts: "any topology whose nodes can be divided into equal groups",
            params: &[ParamInfo::GROUP],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let g = problem.group("group")?;
        let n = line(problem, schedule, 1)?;
        let leaders = || (0..n).step_by(g as usize);
        schedule.phase("to the leader")?;
        for rank in 1..g {
            schedule.step()?;
            for leader in leaders() {
                let others = [Axis::range((leader + rank + 1) % n, n - 1)];
                schedule.send(
                    &Blocks::new(leader + rank, leader).destinations(Set::product(&others)),
                )?;
            }
        }
        schedule.phase("between leaders")?;
        for distance in 1..n / g {
            schedule.step()?;
            for leader in leaders() {
                let to = (leader + distance * g) % n;
                let group = [Axis::range(to, g)];
                schedule.send(&Blocks::new(leader, to).destinations(Set::product(&group)))?;
            }
        }
        schedule.phase("to the group")?;
        for rank in 1..g {
            schedule.step()?;
            for leader in leaders() {
                let to = leader + rank;
                schedule.send(&Blocks::new(leader, to).destinations(Set::one(to)))?;
            }
        }
        Ok(())
    }
}
