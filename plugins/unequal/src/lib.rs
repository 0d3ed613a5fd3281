//! All-to-alls for blocks of different sizes (`MPI_Alltoallv`), on any topology.
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | p | `n` | number of ranks |
//! | g, G | `g`, `groups` | ranks of a group, number of groups; p = g G |
//! | m | | bytes of the largest block |
//! | L | | the largest number of bytes that one rank sends to others, or receives from others |
//! | alpha, beta | | start-up of a message, time per byte |

use swapmeet_sdk::{About, Problem, Stop, export_plugin};

pub mod birkhoff;
pub mod bruck;
pub mod fast;
pub mod node_aware;
pub mod rounds;

const ANYWHERE: About = About { ports: 1, ..About::DEFAULT };

/// Returns, for each rank, the other ranks for which it has data, with the number of bytes.
fn demand(problem: &Problem<'_>) -> Result<Vec<Vec<(u32, u64)>>, Stop> {
    let row = |from| {
        let others = problem.demand(from)?.into_iter().filter(move |data| data.destination != from);
        Ok(others.map(|data| (data.destination as u32, data.bytes)).collect())
    };
    (0..problem.topology().nodes()).map(row).collect()
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [
        birkhoff::Birkhoff,
        fast::Fast,
        bruck::PADDED,
        bruck::TWO_PHASE,
        node_aware::NodeAware,
    ],
);
