//! Cyclic exchange: 2^d ts + 2^(3d-1) m tc + (2^(2d) + 2)/3 tl + (2^d - 1) 2^(2d) m rho, and no two
//! messages share a link (alpha is ts, beta tc); N. S. Sundar, D. N. Jayasimha, D. K. Panda and P.
//! Sadayappan, *Complete Exchange in 2D Meshes* (1994), rebuilt from Suh and Shin's section 1 and
//! the closed forms of their Table 2.
//!
//! Nodes exchange at distance D = 2^(d-1), .., 2, 1 along their row and their column. Of a row one
//! pair in 2 D columns can do so at a time, of a column likewise: "some pairs of nodes perform the
//! horizontal exchange first, while others perform the vertical exchange first". With r and c the
//! row and column modulo D, a node has its turn along the row in step (r + c) mod D of that
//! distance, and along the column D/2 steps later: D steps, and two for D = 1.

use crate::{SQUARE, give, square};
use swapmeet_sdk::{About, Algorithm, Problem, Schedule, Stop, Symmetry};

pub(crate) struct Cyclic;

impl Algorithm for Cyclic {
    fn about(&self) -> About {
        About {
            name: "cyclic-exchange",
            title: "Exchanges at halving distances along rows and columns, in turns that share no link",
            paper: "N. S. Sundar, D. N. Jayasimha, D. K. Panda, P. Sadayappan: Complete Exchange in 2D Meshes (1994); rebuilt from Suh & Shin, Table 2",
            ..SQUARE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        square(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = square(problem)?;
        // Whose turn it is depends on coordinates modulo `far`, up to half a side, and partners
        // differ in that bit: the highest bit may be turned over.
        let planned = schedule.symmetric(&[Symmetry::xor((grid.radix(0) / 2).max(1)); 2])?;
        let (mut far, mut begun) = (grid.radix(0) / 2, false);
        while far > 0 {
            schedule.phase(&format!("distance {far}"))?;
            for step in 0..far.max(2) {
                // Between any two steps the blocks that go next are brought together.
                if begun {
                    schedule.rearrange()?;
                }
                begun = true;
                schedule.step()?;
                for node in &planned {
                    let turn = (grid.coordinate(node, 0) + grid.coordinate(node, 1)) % far;
                    let dimension = match (step + far - turn) % far {
                        _ if far == 1 => 1 - step as usize,
                        0 => 1,
                        later if later == far / 2 => 0,
                        _ => continue,
                    };
                    let to = grid.moved(node, dimension, grid.coordinate(node, dimension) ^ far);
                    give(&grid, dimension, (node, to), far, schedule)?;
                }
            }
            far /= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::figures;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn every_square_costs_what_table_2_says() {
        for d in 1..5_u64 {
            let side = 1 << d;
            let figures = figures(&Cyclic, side);
            assert_eq!(figures, (side, side.pow(3) / 2, (side * side).div_ceil(3), 1), "{side}");
            let steps = Rehearsal::on("mesh", &[side, side]).plan(&Cyclic).unwrap();
            assert_eq!(steps.len() as u64, side);
        }
    }

    #[test]
    fn a_single_node_has_nothing_to_do() {
        assert_eq!(figures(&Cyclic, 1), (0, 0, 0, 0));
    }
}
