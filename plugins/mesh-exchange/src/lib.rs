//! All-to-all by halving, on square meshes and tori with 2^d rows, with which Suh and Shin compare
//! their algorithms (sections 1 and 5, Table 2).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | 2^d | `side` | number of rows and of columns |
//! | D | `distance` | distance of an exchange: 2^(d-1), 2^(d-2), etc. to 1 |
//! | ts, tc | | start-up of a message (alpha), time per byte (beta) |
//! | tl, rho | | time per link, time to rearrange one byte |
//!
//! In every exchange, a node sends its partner in the other half of a row (or of a column) all
//! blocks for that half, which are half of its blocks.
//!
//! Suh and Shin also compare three algorithms whose descriptions are incomplete:
//! * *Quadrant exchange* (Bokhari and Berryman) interleaves successive groups of 2 x 2 nodes. Which
//!   nodes form a group, which blocks they exchange, and a closed form are not stated.
//! * Suh and Yalamanchili's bottom-up algorithm has messages with more than half of a node's
//!   blocks. No text states which node has which blocks.
//! * Tseng and Gupta's direct algorithm has only the order of magnitude of its number of start-ups.

use swapmeet_sdk::{About, Axis, Blocks, Grid, Problem, Schedule, Set, Stop, export_plugin};

mod binary;
mod cyclic;
mod tori;

const SQUARE: About = About {
    accepts: "meshes and tori of two equal dimensions, a power of two",
    ports: 1,
    ..About::DEFAULT
};

fn square(problem: &Problem<'_>) -> Result<Grid, Stop> {
    let topology = problem.topology();
    match (topology.kind(), topology.dims()) {
        ("mesh" | "torus", [rows, columns]) if rows == columns && rows.is_power_of_two() => {
            topology.grid()
        }
        _ => {
            let spec = topology.spec();
            Err(Stop::unsupported(format!(
                "runs only on a mesh or torus of 2^d by 2^d; this topology is `{spec}`"
            )))
        }
    }
}

/// Sends all blocks for the receiver's aligned range of `count` coordinates.
fn send_for_half(
    grid: &Grid,
    dimension: usize,
    (from, to): (u64, u64),
    count: u64,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let mut destinations = [Axis::ALL; 2];
    let receiver = grid.coordinate(to, dimension);
    destinations[dimension] = Axis::range(receiver - receiver % count, count);
    schedule.send(&Blocks::new(from, to).destinations(Set::product(&destinations)))
}

export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [binary::Binary, cyclic::Cyclic, tori::Tori]);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use swapmeet_sdk::{Algorithm, Rehearsal};

    /// Returns steps, the sums over the steps of the longest message (blocks) and of the longest
    /// route (links), and the largest number of messages on a link in a step.
    pub(crate) fn measure(
        algorithm: &dyn Algorithm,
        kind: &str,
        side: u64,
    ) -> (u64, u64, u64, u64) {
        let problem = Rehearsal::on(kind, &[side, side]);
        let proved = problem.verify(algorithm).unwrap();
        assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        let grid = Grid::new(&[side, side]).unwrap();
        let (mut hops, mut max_link) = (0, 0);
        for step in problem.plan(algorithm).unwrap() {
            let mut loads: HashMap<(u64, usize, i64), u64> = HashMap::new();
            let mut longest = 0;
            for send in &step.sends {
                let row = |node| grid.coordinate(node, 0);
                let dimension = usize::from(row(send.from) == row(send.to));
                let [from, to] = [send.from, send.to].map(|node| grid.coordinate(node, dimension));
                let ahead = (to + side - from) % side;
                let up = match send.route.signs.get(dimension) {
                    Some(sign) => *sign > 0,
                    None if kind == "mesh" => to > from,
                    None => 2 * ahead <= side,
                };
                let (way, links) = if up { (1, ahead) } else { (-1, side - ahead) };
                longest = longest.max(links);
                for link in 0..links as i64 {
                    let node = grid.shift(send.from, dimension, way * link);
                    *loads.entry((node, dimension, way)).or_default() += 1;
                }
            }
            hops += longest;
            max_link = max_link.max(loads.values().copied().max().unwrap_or(0));
        }
        (proved.steps, proved.critical_bytes, hops, max_link)
    }

    #[test]
    fn other_networks_are_refused() {
        for dims in [&[4, 8][..], &[6, 6], &[4, 4, 4]] {
            let refused =
                Rehearsal::on("mesh", dims).plan(&cyclic::Cyclic).unwrap_err().to_string();
            assert!(
                refused.starts_with(
                    "runs only on a mesh or torus of 2^d by 2^d; this topology is `mesh:"
                ),
                "{refused}"
            );
        }
    }
}
