//! Within a group, across, within: with groups of g ranks, p = g G, (2 (g - 1) + G - 1) alpha + (2
//! (g - 1) (p - 1) + (G - 1) g^2) m beta; J. L. Träff and A. Rougier, *MPI Collectives and
//! Datatypes for Hierarchical All-to-all Communication* (2014), the single-leader form.
//!
//! 1. Everyone gives its leader, the first of its group, all its blocks, one after another.
//! 2. The leaders exchange the groups' blocks, a group on each step.
//! 3. The leader gives each of its group what is for it.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop};

pub(crate) struct Hierarchical;

pub(crate) const GROUP: ParamInfo = ParamInfo::number(
    "group",
    "",
    "ranks of a group, neighbours in number; the last dimension's nodes when not given, and all where there is but one",
);

impl Algorithm for Hierarchical {
    fn about(&self) -> About {
        About {
            name: "hierarchical",
            title: "To the group's leader, from leader to leader, to the group",
            paper: "J. L. Träff, A. Rougier: MPI Collectives and Datatypes for Hierarchical All-to-all Communication (2014)",
            accepts: "any topology whose nodes fall into groups of one size",
            params: &[GROUP],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        problem.group("group").map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let g = problem.group("group")?;
        let n = line(problem, schedule, 1)?;
        let leaders = || (0..n).step_by(g as usize);
        schedule.phase("to the leader")?;
        for rank in 1..g {
            schedule.step()?;
            for leader in leaders() {
                // What it has for itself stays.
                let others = [Axis::range((leader + rank + 1) % n, n - 1)];
                schedule.send(
                    &Blocks::new(leader + rank, leader).destinations(Set::product(&others)),
                )?;
            }
        }
        schedule.phase("from leader to leader")?;
        for distance in 1..n / g {
            schedule.step()?;
            for leader in leaders() {
                let to = (leader + distance * g) % n;
                let theirs = [Axis::range(to, g)];
                schedule.send(&Blocks::new(leader, to).destinations(Set::product(&theirs)))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn it_takes_the_closed_forms_steps_and_blocks() {
        for (groups, g) in [(1, 1), (1, 5), (4, 1), (2, 2), (3, 4), (4, 3), (5, 2)] {
            let n = groups * g;
            let proved = Rehearsal::on("torus", &[groups, g]).verify(&Hierarchical).unwrap();
            assert_eq!(proved.steps, 2 * (g - 1) + groups - 1, "{groups} of {g}");
            // What a member has for itself needn't travel, and the leader keeps its own.
            let blocks = (g - 1) * (n - 1) + (groups - 1) * g * g + (g - 1) * (n - 1);
            assert_eq!(proved.critical_bytes, blocks, "{groups} of {g}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }

    #[test]
    fn groups_need_not_be_those_of_the_topology() {
        let problem = Rehearsal::on("ring", &[12]).param("group", "4");
        assert_eq!(problem.verify(&Hierarchical).unwrap().steps, 2 * 3 + 2);
    }
}
