//! `node-aware`: each rank sends the data for a group to one rank of that group, which distributes
//! it (code: `mpi-advance/locality_aware`, the node-aware all-to-all). With G groups of g ranks, it
//! takes `(G - 1 + g - 1) alpha + ((G - 1) g + (g - 1) G) m beta`.
//!
//! 1. Ranks with the same position in their groups exchange the data for each other's groups, in
//!    step s with the rank s groups after them.
//! 2. Each rank distributes this data and its own in its group, in step s to the rank s after it.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct NodeAware;

impl Algorithm for NodeAware {
    fn about(&self) -> About {
        About {
            name: "node-aware",
            title: "Exchange between groups, then distribution within groups",
            paper: "MPI Advance: locality_aware, node-aware all-to-all; https://github.com/mpi-advance/locality_aware",
            accepts: "any topology whose nodes can be divided into equal groups",
            params: &[ParamInfo::GROUP],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, g) = (problem.topology().nodes(), problem.group("group")?);
        let groups = n / g;
        schedule.layout(&[groups, g], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1); 2])?;
        schedule.phase("between groups")?;
        for distance in 1..groups {
            schedule.step()?;
            for from in &planned {
                let to = (from + distance * g) % n;
                let destinations = [Axis::one(to / g), Axis::ALL];
                schedule.send(&Blocks::new(from, to).destinations(Set::product(&destinations)))?;
            }
        }
        schedule.phase("within the group")?;
        for distance in 1..g {
            schedule.step()?;
            for from in &planned {
                let to = from - from % g + (from + distance) % g;
                schedule.send(&Blocks::new(from, to).destinations(Set::one(to)))?;
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
    fn it_has_the_cost_of_the_closed_form() {
        for (groups, g) in [(1, 1), (1, 5), (4, 1), (2, 2), (3, 4), (5, 3)] {
            let problem = Rehearsal::on("torus", &[groups, g]);
            let proved = problem.verify(&NodeAware).unwrap();
            assert_eq!(proved.steps, groups - 1 + g - 1, "{groups} of {g}");
            let blocks = (groups - 1) * g + (g - 1) * groups;
            assert_eq!(proved.critical_bytes, blocks, "{groups} of {g}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            problem.verify_symmetry(&NodeAware).unwrap();
        }
    }
}
