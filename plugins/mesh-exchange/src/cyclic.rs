//! `cyclic-exchange`: N. S. Sundar, D. N. Jayasimha, D. K. Panda and P. Sadayappan, *Complete
//! Exchange in 2D Meshes* (1994), reconstructed from section 1 of Suh and Shin and the closed forms
//! of their Table 2. On a mesh with 2^d rows and columns, it takes `2^d ts + 2^(3d-1) m tc +
//! (2^(2d) + 2)/3 tl + (2^d - 1) 2^(2d) m rho`, and no two messages share a link.
//!
//! Nodes exchange at the distances D = 2^(d-1), 2^(d-2), etc. to 1, once along their row and once
//! along their column. Of every 2 D columns in a row, only one pair of nodes can exchange at a
//! time, and likewise in a column. Therefore "some pairs of nodes perform the horizontal exchange
//! first, while others perform the vertical exchange first". Let r and c be the row and column of a
//! node, modulo D. The node exchanges along its row in step (r + c) mod D of this distance, and
//! along its column D/2 steps later. Each distance takes D steps, except that D = 1 takes two.

use crate::{SQUARE, send_for_half, square};
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop, Symmetry};

pub struct Cyclic;

impl Algorithm for Cyclic {
    fn about(&self) -> About {
        About {
            name: "cyclic-exchange",
            title: "Halving distances along rows and columns",
            paper: "N. S. Sundar, D. N. Jayasimha, D. K. Panda, P. Sadayappan: Complete Exchange in 2D Meshes (1994); rebuilt from Suh & Shin, Table 2",
            ..SQUARE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = square(problem)?;
        // Flipping the highest bit of all rows, or of all columns, is a symmetry. Steps depend on
        // coordinates modulo `distance`, which is at most half a side, and partners differ in one
        // bit.
        let planned = schedule.symmetric(&[Symmetry::xor((grid.radix(0) / 2).max(1)); 2])?;
        let farthest = grid.radix(0) / 2;
        let mut distance = farthest;
        while distance > 0 {
            schedule.phase(&format!("distance {distance}"))?;
            for step in 0..distance.max(2) {
                // Rearrange the data, because the blocks of the next message must be contiguous.
                if (distance, step) != (farthest, 0) {
                    schedule.rearrange()?;
                }
                schedule.step()?;
                for node in &planned {
                    let turn = (grid.coordinate(node, 0) + grid.coordinate(node, 1)) % distance;
                    let dimension = match (step + distance - turn) % distance {
                        _ if distance == 1 => 1 - step as usize,
                        0 => 1,
                        later if later == distance / 2 => 0,
                        _ => continue,
                    };
                    let to =
                        grid.moved(node, dimension, grid.coordinate(node, dimension) ^ distance);
                    send_for_half(&grid, dimension, (node, to), distance, schedule)?;
                }
            }
            distance /= 2;
        }
        Ok(())
    }
}
