//! All dimensions at once: d n/2 alpha + n N/8 m beta for an even n, the bound of a torus's links;
//! a reconstruction of DimRotation (2025).
//!
//! Every block is in d shares. Share i goes along dimension i first, then i + 1, .., the last of
//! them i - 1, as on rings of their own: at any time each dimension has one share to carry.

use crate::half_ring::Rings;
use crate::{TORUS, only_tori};
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop, Symmetry};

pub(crate) struct DimRotation;

impl Algorithm for DimRotation {
    fn about(&self) -> About {
        About {
            name: "dim-rotation",
            title: "A share of every block along each rotation of the dimensions, both ways round every ring",
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
        // A dimension of one node has no links to use.
        let rings: Vec<usize> = (0..grid.dimensions()).filter(|d| grid.radix(*d) > 1).collect();
        let d = rings.len();
        schedule.layout(grid.radices(), 2 * d.max(1) as u32)?;
        let planned = schedule.symmetric(&vec![Symmetry::shift(1); grid.dimensions()])?;
        for stage in 0..d {
            schedule.phase(&format!("dimension {} of each share's order", stage + 1))?;
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
                    let under_way = shares.iter().filter(|share| s <= share.steps());
                    under_way.into_iter().try_for_each(|share| share.sends(s, from, schedule))?;
                }
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
    fn equal_dimensions_take_the_steps_and_blocks_of_the_closed_form() {
        for dims in [&[4, 4][..], &[6, 6], &[4, 4, 4], &[8]] {
            let (d, n, nodes) = (dims.len() as u64, dims[0], dims.iter().product::<u64>());
            let problem = Rehearsal::on("torus", dims).ports(u64::MAX).block_bytes(2 * d);
            let proved = problem.verify(&DimRotation).unwrap();
            assert_eq!(
                (proved.steps, proved.critical_bytes),
                (d * n / 2, n * nodes / 8 * 2 * d),
                "{dims:?}"
            );
        }
    }

    #[test]
    fn any_torus_is_done() {
        for dims in [&[5, 3][..], &[2, 3, 4], &[1, 6], &[1, 1], &[3, 1, 5]] {
            let proved = Rehearsal::on("torus", dims)
                .ports(u64::MAX)
                .block_bytes(12)
                .verify(&DimRotation)
                .unwrap();
            let longest = dims.iter().max().unwrap() / 2;
            assert_eq!(
                proved.steps,
                longest * dims.iter().filter(|n| **n > 1).count() as u64,
                "{dims:?}"
            );
        }
    }
}
