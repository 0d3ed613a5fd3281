//! Li, Peng & Chu: Theorems 1 and 3 to 6, Tables I and II, the slips.
//!
//! Times are start-ups (ts) and words (m tw) apart: on a machine that stores and forwards, whose start-up and byte cost 1 us each, with blocks of a byte, a step
//! in which each message crosses one link is one start-up, and `critical_bytes` are the words.

use crate::bench::{Bench, ReproduceError};
use crate::report::Table;

mod errata;
pub(crate) mod networks;
mod times;

/// One port, messages stored at each node, a start-up and a word a unit of time each.
const MACHINE: &str = "free:model=store-and-forward,startup_us=1,byte_us=1";

/// Start-ups and words of an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    startups: u64,
    words: u128,
}

/// What an algorithm takes with blocks of so many words.
fn time(
    bench: &Bench<'_>,
    topology: &str,
    algorithm: &str,
    collective: &str,
    words: u64,
) -> Result<Time, ReproduceError> {
    let row = bench.row(topology, algorithm, &format!("{collective}/uniform:{words}"), MACHINE)?;
    Ok(Time { startups: row.critical_hops.unwrap_or(0), words: row.critical_bytes.unwrap_or(0) })
}

/// Everything of the paper that can be re-run.
pub fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let measured = times::Measured::run(bench)?;
    Ok(vec![
        networks::theorem_1(bench)?,
        networks::table_1(bench)?,
        times::theorems(&measured),
        times::table_2(&measured),
        errata::table(bench)?,
    ])
}
