//! Binary exchange: 2 d ts + d 2^(2d) m tc + (2^(d+2) - 2 d - 4) tl, beside the waiting of 2^(d-1)
//! messages that share the links of a cut (alpha is ts, beta tc); S. H. Bokhari and H. Berryman,
//! *Complete Exchange on a Circuit Switched Mesh* (1992), as described by Suh and Shin, section 1.
//!
//! "The mesh is recursively halved and nodes symmetrically located with respect to each cut
//! exchange block[s]": across the columns' cut, then the rows', then those of each quarter.

use crate::{SQUARE, give, square};
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop, Symmetry};

pub(crate) struct Binary;

impl Algorithm for Binary {
    fn about(&self) -> About {
        About {
            name: "binary-exchange",
            title: "The mesh is halved again and again; mirror images exchange across each cut",
            paper: "S. H. Bokhari, H. Berryman: Complete Exchange on a Circuit Switched Mesh (1992)",
            ..SQUARE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        square(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = square(problem)?;
        // (c xor x) xor (side - 1) = (c xor (side - 1)) xor x, and what goes is for all that agree
        // with the receiver in the higher bits.
        let planned = schedule.symmetric(&[Symmetry::xor(1); 2])?;
        let mut side = grid.radix(0);
        while side > 1 {
            for dimension in [1, 0] {
                schedule.step()?;
                for node in &planned {
                    // Within its part of the mesh the last coordinate's image is the first.
                    let image =
                        grid.moved(node, dimension, grid.coordinate(node, dimension) ^ (side - 1));
                    give(&grid, dimension, (node, image), side / 2, schedule)?;
                }
            }
            side /= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::figures;

    #[test]
    fn every_square_costs_the_closed_form() {
        for d in 0..5_u64 {
            let side = 1 << d;
            let (steps, blocks, hops, fullest) = figures(&Binary, side);
            assert_eq!(
                (steps, blocks, hops),
                (2 * d, d * side * side, 4 * side - 2 * d - 4),
                "{side}"
            );
            assert_eq!(fullest, side / 2, "all of a row's half cross one link");
        }
    }
}
