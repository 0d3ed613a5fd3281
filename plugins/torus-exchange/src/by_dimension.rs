//! `by-dimension`: direct exchange along one dimension after another. This is the multiphase
//! exchange of S. H. Bokhari, *Multiphase Complete Exchange on Paragon, SP2, and CS-2* (1996). If
//! no two messages share a link, a dimension of n nodes takes `(n - 1) (alpha + N/n m beta)`. In
//! step s of a dimension, each node sends to the node s positions further along the dimension. The
//! message has all blocks for nodes with the receiver's coordinate in this dimension.

use crate::TORUS;
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Problem, Schedule, Set, Stop, Symmetry};

pub struct ByDimension;

impl Algorithm for ByDimension {
    fn about(&self) -> About {
        About {
            name: "by-dimension",
            title: "Direct exchange along one dimension after another",
            paper: "S. H. Bokhari: Multiphase Complete Exchange on Paragon, SP2, and CS-2 (1996)",
            accepts: "any topology; one without dimensions counts as a single dimension",
            ports: 1,
            ..TORUS
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = problem.topology().grid()?;
        let planned = schedule.symmetric(&vec![Symmetry::shift(1); grid.dimensions()])?;
        let mut destinations = vec![Axis::ALL; grid.dimensions()];
        for dimension in 0..grid.dimensions() {
            schedule.phase(&format!("dimension {dimension}"))?;
            for distance in 1..grid.radix(dimension) {
                schedule.step()?;
                for from in &planned {
                    let to = grid.shift(from, dimension, distance as i64);
                    destinations[dimension] = Axis::one(grid.coordinate(to, dimension));
                    schedule
                        .send(&Blocks::new(from, to).destinations(Set::product(&destinations)))?;
                }
            }
            destinations[dimension] = Axis::ALL;
        }
        Ok(())
    }
}
