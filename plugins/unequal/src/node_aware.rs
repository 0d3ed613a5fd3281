//! `node-aware`: each rank sends the data for a group to one rank of that group, which distributes
//! it (code: `mpi-advance/locality_aware`, the node-aware all-to-all). With G groups of g ranks, it
//! takes `(G - 1 + g - 1) alpha + ((G - 1) g + (g - 1) G) m beta`.
//! 1. Ranks with the same position in their groups exchange the data for each other's groups. In
//!    step s, a rank sends to the rank s groups after it.
//! 2. Each rank distributes this data, and its own data for its group, within the group. In step s,
//!    it sends to the rank s positions after it.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, ParamInfo, Problem, Schedule, Set, Stop, Symmetry,
};

pub struct NodeAware;

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
