//! All-to-all on square meshes of a power of two of rows, by halves: what Suh and Shin compare with
//! (their sections 1 and 5, Table 2).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | 2^d | `side` | rows, and columns |
//! | D | `far` | distance of an exchange: 2^(d-1), .., 2, 1 |
//! | m | | bytes of a block |
//! | ts, tc, tl | | start-up, transmission of a byte, crossing a link (alpha, beta, delta) |
//!
//! In every exchange a node gives the other all that it has for the half of its row, or column,
//! that the other is in: half of what it holds.
//!
//! Not here, as nothing says enough of them to be sure: *quadrant exchange* (Bokhari and Berryman),
//! of which it is said that successive 2 x 2 groups are interleaved, but not which go together nor
//! what the four of a group give each other, and no closed form; Suh and Yalamanchili's, bottom up,
//! whose messages grow beyond half of a node's blocks: Table 2 has sums of that, nothing says who
//! holds what; and Tseng and Gupta's direct one, of which only the order of its start-ups is given.

use swapmeet_sdk::{About, Axis, Blocks, Grid, Problem, Schedule, Set, Stop, export_plugin};

mod binary;
mod cyclic;
mod tori;

const SQUARE: About = About {
    accepts: "mesh or torus of two equal dimensions, a power of two",
    ports: 1,
    ..About::DEFAULT
};

/// A square of 2^d by 2^d.
fn square(problem: &Problem<'_>) -> Result<Grid, Stop> {
    let topology = problem.topology();
    match (topology.kind(), topology.dims()) {
        ("mesh" | "torus", [rows, columns]) if rows == columns && rows.is_power_of_two() => {
            topology.grid()
        }
        _ => {
            let spec = topology.spec();
            Err(Stop::unsupported(format!(
                "runs on a mesh or torus of 2^d by 2^d, this is `{spec}`"
            )))
        }
    }
}

/// A node gives another, in the same row or column, all that is for the `count` neighbours around
/// that one.
fn give(
    grid: &Grid,
    dimension: usize,
    (from, to): (u64, u64),
    count: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let mut destinations = [Axis::ALL; 2];
    let theirs = grid.coordinate(to, dimension);
    destinations[dimension] = Axis::range(theirs - theirs % count, count);
    schedule.send(&Blocks::new(from, to).destinations(Set::product(&destinations)))
}

export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [binary::Binary, cyclic::Cyclic, tori::Tori]);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use swapmeet_sdk::{Algorithm, Rehearsal};

    /// Steps, the most blocks of each step summed, links of the longest message of each summed, the
    /// most messages on a link.
    pub(crate) fn figures(algorithm: &dyn Algorithm, side: u64) -> (u64, u64, u64, u64) {
        let problem = Rehearsal::on("mesh", &[side, side]);
        let proved = problem.verify(algorithm).unwrap();
        assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        let (mut hops, mut fullest) = (0, 0);
        for step in problem.plan(algorithm).unwrap() {
            let mut loads: HashMap<(u64, u64, u64), u64> = HashMap::new();
            let mut longest = 0;
            for send in &step.sends {
                let (low, high) = (send.from.min(send.to), send.from.max(send.to));
                let stride = if low / side == high / side { 1 } else { side };
                longest = longest.max((high - low) / stride);
                for link in (low..high).step_by(stride as usize) {
                    *loads.entry((link, stride, u64::from(send.to > send.from))).or_default() += 1;
                }
            }
            hops += longest;
            fullest = fullest.max(loads.values().copied().max().unwrap_or(0));
        }
        (proved.steps, proved.critical_bytes, hops, fullest)
    }

    #[test]
    fn other_networks_are_refused() {
        for dims in [&[4, 8][..], &[6, 6], &[4, 4, 4]] {
            let refused =
                Rehearsal::on("mesh", dims).plan(&cyclic::Cyclic).unwrap_err().to_string();
            assert!(
                refused.starts_with("runs on a mesh or torus of 2^d by 2^d, this is `mesh:"),
                "{refused}"
            );
        }
    }
}
