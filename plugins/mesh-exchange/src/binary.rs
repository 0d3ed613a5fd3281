//! `binary-exchange`: S. H. Bokhari and H. Berryman, *Complete Exchange on a Circuit Switched Mesh*
//! (1992), as described by Suh and Shin, section 1. On a mesh with 2^d rows and columns, it takes
//! `2 d ts + d 2^(2d) m tc + (2^(d+2) - 2 d - 4) tl`, and waiting times, because in each step
//! 2^(d-1) messages share the links of a cut.
//!
//! In the words of Suh and Shin: "The mesh is recursively halved and nodes symmetrically located
//! with respect to each cut exchange block\[s\]". First nodes exchange across the cut between the
//! two halves of the columns, then across the cut between the two halves of the rows. After that,
//! each quarter is halved in the same way, and so on.

use crate::{SQUARE, send_for_half, square};
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop, Symmetry};

pub struct Binary;

impl Algorithm for Binary {
    fn about(&self) -> About {
        About {
            name: "binary-exchange",
            title: "Recursive halving with mirror images",
            paper: "S. H. Bokhari, H. Berryman: Complete Exchange on a Circuit Switched Mesh (1992)",
            ..SQUARE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = square(problem)?;
        // Exclusive-or commutes with the mirroring. It also maps the set of destinations of a send
        // to that of its image, because these destinations are the nodes that agree with the
        // receiver in the higher bits.
        let planned = schedule.symmetric(&[Symmetry::xor(1); 2])?;
        let mut side = grid.radix(0);
        while side > 1 {
            for dimension in [1, 0] {
                schedule.step()?;
                for node in &planned {
                    let image =
                        grid.moved(node, dimension, grid.coordinate(node, dimension) ^ (side - 1));
                    send_for_half(&grid, dimension, (node, image), side / 2, schedule)?;
                }
            }
            side /= 2;
        }
        Ok(())
    }
}
