//! `dim-rotation`: an all-to-all that uses all dimensions at the same time. For even n it takes `d
//! n/2 alpha + n N/8 m beta`. The term with beta is the lower bound that the links of a torus
//! impose. Every block is cut into d segments. Segment i is sent along dimension i first, then
//! along dimension i + 1, and so on, with wrap-around. At any time, each dimension carries a
//! different segment.

use crate::half_ring::Rings;
use crate::{TORUS, only_tori};
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop, Symmetry};

pub struct DimRotation;

impl Algorithm for DimRotation {
    fn about(&self) -> About {
        About {
            name: "dim-rotation",
            title: "All dimensions at once, in rotated orders (reconstruction)",
            ..TORUS
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        match problem.topology().kind() {
            "ring" | "torus" => Ok(()),
            _ => Err(only_tori(problem.topology().spec())),
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = problem.topology().grid()?;
        let rings: Vec<usize> = (0..grid.dimensions()).filter(|d| grid.radix(*d) > 1).collect();
        let d = rings.len();
        schedule.layout(grid.radices(), 2 * d.max(1) as u32)?;
        let planned = schedule.symmetric(&vec![Symmetry::shift(1); grid.dimensions()])?;
        for stage in 0..d {
            schedule.phase(&format!("dimension number {} of each share", stage + 1))?;
            let shares: Vec<Rings<'_>> = (0..d)
                .map(|share| Rings {
                    grid: &grid,
                    dimension: rings[(share + stage) % d],
                    pair: share as u64,
                })
                .collect();
            for s in 1..=shares.iter().map(Rings::steps).max().unwrap_or(0) {
                schedule.step()?;
                for from in &planned {
                    let unfinished = shares.iter().filter(|share| s <= share.steps());
                    unfinished.into_iter().try_for_each(|share| share.sends(s, from, schedule))?;
                }
            }
        }
        Ok(())
    }
}
