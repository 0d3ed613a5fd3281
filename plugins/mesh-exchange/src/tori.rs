//! `tseng-gupta-panda`: Y.-C. Tseng, S. Gupta and D. Panda, *An Efficient Scheme for Complete
//! Exchange in 2D Tori* (1995). It is reconstructed without the text of the paper, from section 1
//! of Suh and Shin, the closed forms of their Table 2, and the abstracts of publications on this
//! scheme ("top down", by diagonals, with every link of the torus in use). On a torus with 2^d rows
//! and columns, it takes `(2^(d-1) + 2) ts + (2^(3d-2) + 2^(2d)) m tc + (2^(2d-1) + 10)/3 tl +
//! (2^(d-1) + 1) 2^(2d) m rho`, and no two messages share a link.
//!
//! A node in row r and column c belongs to group (r + c) mod 4. The nodes of two groups send
//! upwards along their row and column, those of the others downwards. There are two phases:
//!
//! 1. Nodes send within their group, at the distances D = 2^(d-1), 2^(d-2), etc. to 4. At distance
//!    D a node sends all blocks for the D rows (or columns) that begin at the receiver. Nodes with
//!    the same k = (r + c) mod D are a diagonal. They are D apart in a row: one diagonal uses all
//!    upward links of the row, and a second one all downward links. The nodes of the diagonals k =
//!    2t and k = 2t + 1 send along the row in step t, and along the column in the step after it,
//!    with wrap-around. Each distance therefore takes D/2 steps. After this phase all blocks are in
//!    the 4 rows and 4 columns of their destinations.
//! 2. Nodes of different groups exchange at the distances 2 and 1, half of them first along their
//!    row, the others first along their column. Each distance therefore takes two steps.

use crate::{SQUARE, send_for_half, square};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Grid, Problem, Route, Schedule, Set, Stop, Symmetry,
};

pub struct Tori;

impl Algorithm for Tori {
    fn about(&self) -> About {
        About {
            name: "tseng-gupta-panda",
            title: "Halving distances along diagonals, on all links",
            paper: "Y.-C. Tseng, S. Gupta, D. Panda: An Efficient Scheme for Complete Exchange in 2D Tori (1995); a reconstruction from Suh & Shin, Table 2",
            accepts: "tori of two equal dimensions, a power of two",
            ..SQUARE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = square_torus(problem)?;
        let side = grid.radix(0);
        // Steps depend on coordinates modulo numbers that divide half a side, so shifts by half a
        // side are symmetries.
        let planned = schedule.symmetric(&[Symmetry::shift((side / 2).max(1)); 2])?;
        let mut distance = side / 2;
        while distance > 0 {
            schedule.phase(&format!("distance {distance}"))?;
            for step in 0..(distance / 2).max(2) {
                if (distance, step) != (side / 2, 0) {
                    schedule.rearrange()?;
                }
                schedule.step()?;
                for node in &planned {
                    match distance {
                        4.. => send_in_group(&grid, (distance, step), node, schedule)?,
                        _ => exchange_between_groups(&grid, (distance, step), node, schedule)?,
                    }
                }
            }
            distance /= 2;
        }
        Ok(())
    }
}

fn square_torus(problem: &Problem<'_>) -> Result<Grid, Stop> {
    match problem.topology().kind() {
        "torus" => square(problem),
        _ => Err(Stop::unsupported(format!(
            "runs only on a torus of 2^d by 2^d; this topology is `{}`",
            problem.topology().spec()
        ))),
    }
}

fn send_in_group(
    grid: &Grid,
    (distance, step): (u64, u64),
    node: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let diagonal = (grid.coordinate(node, 0) + grid.coordinate(node, 1)) % distance;
    let turn = diagonal / 2;
    let dimension = match step {
        _ if step == turn => 1,
        _ if step == (turn + 1) % (distance / 2) => 0,
        _ => return Ok(()),
    };
    let way: i8 = if diagonal.is_multiple_of(2) { 1 } else { -1 };
    let to = grid.shift(node, dimension, i64::from(way) * distance as i64);
    let fours = grid.radix(dimension) / 4;
    let receiver_four = grid.coordinate(to, dimension) / 4;
    // The destinations are whole units of four coordinates. `first` is the number of the first
    // unit. The receiver is in the first unit (upwards) or in the last unit (downwards).
    let first =
        if way > 0 { receiver_four } else { (receiver_four + 1 + fours - distance / 4) % fours };
    let mut destinations = [Axis::ALL; 2];
    destinations[dimension] = Axis::range(first * 4, distance);
    let mut signs = [0; 2];
    signs[dimension] = way;
    let route = Route::signs(&signs);
    schedule.send(&Blocks::new(node, to).destinations(Set::product(&destinations)).route(&route))
}

fn exchange_between_groups(
    grid: &Grid,
    (distance, step): (u64, u64),
    node: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let odd = (grid.coordinate(node, 0) + grid.coordinate(node, 1)) % distance;
    let dimension = (step + odd + 1) % 2;
    let here = grid.coordinate(node, dimension as usize);
    send_for_half(
        grid,
        dimension as usize,
        (node, grid.moved(node, dimension as usize, here ^ distance)),
        distance,
        schedule,
    )
}
