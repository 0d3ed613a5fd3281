//! Complete exchange in 2D tori: (2^(d-1) + 2) ts + (2^(3d-2) + 2^(2d)) m tc + (2^(2d-1) + 10)/3 tl
//! + (2^(d-1) + 1) 2^(2d) m rho, and no two messages share a link (alpha is ts, beta tc); Y.-C.
//! Tseng, S. Gupta and D. Panda, *An Efficient Scheme for Complete Exchange in 2D Tori* (1995), a
//! reconstruction from Suh and Shin's section 1, the closed forms of their Table 2 and the
//! abstracts: top down, by diagonals, every link of the torus busy.
//!
//! A node belongs to one of four groups, (r + c) mod 4: those of two groups move blocks up their
//! row and column, those of the other two down.
//!
//! 1. At distance D = 2^(d-1), .., 8, 4 a node gives the node D further on, of its own group, all
//!    that is for the D rows (or columns) from there on. Of a row the nodes of one diagonal, D
//!    apart, cover all links up, those of another all links down: with k = (r + c) mod D, nodes of
//!    diagonals 2t and 2t + 1 have their turn along the row in step t, and along the column in the
//!    step after it, counted round: D/2 steps. All blocks are then in the 4 rows and 4 columns that
//!    they are for.
//! 2. At distances 2 and 1 nodes of different groups exchange, half of all along their row first,
//!    the others along their column: two steps each.

use crate::{SQUARE, give, square};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Grid, Problem, Route, Schedule, Set, Stop, Symmetry,
};

pub(crate) struct Tori;

impl Algorithm for Tori {
    fn about(&self) -> About {
        About {
            name: "tseng-gupta-panda",
            title: "By halving distances along the diagonals' rows and columns, every link of the torus busy",
            paper: "Y.-C. Tseng, S. Gupta, D. Panda: An Efficient Scheme for Complete Exchange in 2D Tori (1995); a reconstruction from Suh & Shin, Table 2",
            accepts: "torus of two equal dimensions, a power of two",
            ..SQUARE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        square_torus(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let grid = square_torus(problem)?;
        let side = grid.radix(0);
        // Turns depend on coordinates modulo half a side at most.
        let planned = schedule.symmetric(&[Symmetry::shift((side / 2).max(1)); 2])?;
        let (mut far, mut begun) = (side / 2, false);
        while far > 0 {
            schedule.phase(&format!("distance {far}"))?;
            for step in 0..(far / 2).max(2) {
                // Between any two steps the blocks that go next are brought together.
                if begun {
                    schedule.rearrange()?;
                }
                begun = true;
                schedule.step()?;
                for node in &planned {
                    match far {
                        4.. => around(&grid, (far, step), node, schedule)?,
                        _ => across(&grid, (far, step), node, schedule)?,
                    }
                }
            }
            far /= 2;
        }
        Ok(())
    }
}

fn square_torus(problem: &Problem<'_>) -> Result<Grid, Stop> {
    match problem.topology().kind() {
        "torus" => square(problem),
        _ => Err(Stop::unsupported(format!(
            "runs on a torus of 2^d by 2^d, this is `{}`",
            problem.topology().spec()
        ))),
    }
}

/// What a node sends to one of its own group, if it has its turn.
fn around(
    grid: &Grid,
    (far, step): (u64, u64),
    node: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let diagonal = (grid.coordinate(node, 0) + grid.coordinate(node, 1)) % far;
    let turn = diagonal / 2;
    let dimension = match step {
        _ if step == turn => 1,
        _ if step == (turn + 1) % (far / 2) => 0,
        _ => return Ok(()),
    };
    let way: i8 = if diagonal.is_multiple_of(2) { 1 } else { -1 };
    let to = grid.shift(node, dimension, i64::from(way) * far as i64);
    let fours = grid.radix(dimension) / 4;
    let theirs = grid.coordinate(to, dimension) / 4;
    // From the receiver's four coordinates on, up or down, as many as the way is long.
    let first = if way > 0 { theirs } else { (theirs + 1 + fours - far / 4) % fours };
    let mut destinations = [Axis::ALL; 2];
    destinations[dimension] = Axis::range(first * 4, far);
    let mut signs = [0; 2];
    signs[dimension] = way;
    let route = Route::signs(&signs);
    schedule.send(&Blocks::new(node, to).destinations(Set::product(&destinations)).route(&route))
}

/// What a node exchanges with its partner at distance 2 or 1, along its row and its column, one
/// after the other.
fn across(
    grid: &Grid,
    (far, step): (u64, u64),
    node: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let odd = (grid.coordinate(node, 0) + grid.coordinate(node, 1)) % far;
    let dimension = (step + odd + 1) % 2;
    let here = grid.coordinate(node, dimension as usize);
    give(
        grid,
        dimension as usize,
        (node, grid.moved(node, dimension as usize, here ^ far)),
        far,
        schedule,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use swapmeet_sdk::Rehearsal;

    /// Steps, blocks, hops and rearranged blocks of Table 2's row of [19], in integers, and one
    /// message on a link at most.
    #[test]
    fn every_square_torus_costs_what_table_2_says() {
        for d in 2..6_u32 {
            let side = 1_u64 << d;
            let problem = Rehearsal::on("torus", &[side, side]);
            let proved = problem.verify(&Tori).unwrap();
            assert_eq!((proved.max_sends, proved.max_receives), (1, 1));
            assert_eq!(proved.steps, side / 2 + 2);
            assert_eq!(proved.critical_bytes, side.pow(3) / 4 + side.pow(2));
            let mut hops = 0;
            for step in problem.plan(&Tori).unwrap() {
                let mut used: HashMap<(u64, usize, i64), u64> = HashMap::new();
                let grid = Grid::new(&[side, side]).unwrap();
                let mut longest = 0;
                for send in &step.sends {
                    let dimension =
                        usize::from(grid.coordinate(send.from, 0) == grid.coordinate(send.to, 0));
                    let apart = (grid.coordinate(send.to, dimension) + side
                        - grid.coordinate(send.from, dimension))
                        % side;
                    // At a tie a torus goes up.
                    let up =
                        send.route.signs.get(dimension).map_or(2 * apart <= side, |sign| *sign > 0);
                    let (way, links) = if up { (1, apart) } else { (-1, side - apart) };
                    longest = longest.max(links);
                    for link in 0..links as i64 {
                        *used
                            .entry((grid.shift(send.from, dimension, way * link), dimension, way))
                            .or_default() += 1;
                    }
                }
                assert!(used.values().all(|messages| *messages == 1), "{side}: a link is shared");
                hops += longest;
            }
            assert_eq!(3 * hops, side.pow(2) / 2 + 10, "{side}");
        }
    }

    #[test]
    fn the_smallest_squares_are_done_and_meshes_refused() {
        for side in [1, 2] {
            Rehearsal::on("torus", &[side, side]).verify(&Tori).unwrap();
        }
        let refused = Rehearsal::on("mesh", &[4, 4]).plan(&Tori).unwrap_err().to_string();
        assert_eq!(refused, "runs on a torus of 2^d by 2^d, this is `mesh:4x4`");
    }
}
