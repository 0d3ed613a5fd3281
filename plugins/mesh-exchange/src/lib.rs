//! All-to-all by halving, on square meshes and tori with 2^d rows. Suh and Shin compare their own
//! algorithms with these (sections 1 and 5, Table 2).
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

pub mod binary;
pub mod cyclic;
pub mod tori;

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

/// Sends all blocks for the aligned range of `count` coordinates that contains the receiver.
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
