//! `birkhoff`: direct messages in balanced rounds. With R rounds, it takes `R alpha + L beta`. No
//! schedule through one port transmits the data in less than L beta. R is p - 1 if all blocks have
//! the same size. Otherwise, R is at most 2p plus the number of pairs with data.
//!
//! The matrix of demands is padded to equal sums of rows and columns, and is divided into rounds by
//! bottleneck matchings (see [`Rounds`]), as in C.-S. Chang, W.-J. Chen and H.-Y. Huang,
//! *Birkhoff-von Neumann Input Buffered Crossbar Switches*, INFOCOM (2000). In each round, a rank
//! sends to at most one rank and receives from at most one. A block can be divided.

use crate::rounds::Rounds;
use crate::{ANYWHERE, demand};
use swapmeet_sdk::{About, Algorithm, ByteCount, Bytes, Problem, Schedule, Stop};

pub struct Birkhoff;

impl Algorithm for Birkhoff {
    fn about(&self) -> About {
        About {
            name: "birkhoff",
            title: "Direct messages in balanced rounds, by bottleneck matchings",
            paper: "C.-S. Chang, W.-J. Chen, H.-Y. Huang: Birkhoff-von Neumann Input Buffered Crossbar Switches, INFOCOM (2000)",
            accepts: "any topology, up to 65,536 pairs with data",
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let demand = demand(problem)?;
        check_pairs(demand.iter().map(|row| row.len() as u64).sum())?;
        schedule.move_byte_counts(&[])?;
        for round in Rounds::new(&demand) {
            schedule.step()?;
            for (from, to, bytes) in round {
                let counts = [ByteCount { destination: to, bytes }];
                schedule.send_bytes(&Bytes::new(from, to, &counts))?;
            }
        }
        Ok(())
    }
}

/// Errors if there are too many pairs. There can be as many rounds as pairs, and the time to find a
/// round grows with the number of pairs.
pub(crate) fn check_pairs(pairs: u64) -> Result<(), Stop> {
    const MAX_PAIRS: u64 = 1 << 16;
    if pairs <= MAX_PAIRS {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "{pairs} pairs with data are too many to divide into rounds, expected at most {MAX_PAIRS} (pairwise has a rule for any number of nodes)"
    )))
}
