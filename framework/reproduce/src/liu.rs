//! Liu, Wang & Prasanna: Tables 1 to 4, the theorems, the closed forms, the experiments of Figs. 15 to 23 and what is claimed of them, the slips.
//!
//! The paper counts a node's message to itself as a message, in a step of its own; runs leave it out of `messages` and `steps`, and so do the times
//! here. Where a table of the paper counts messages or steps, so does ours, as the paper does ([`stages`]).

use crate::bench::{Bench, ReproduceError};
use crate::report::Table;

mod bounds;
mod claims;
mod closed;
mod errata;
mod experiments;
mod integers;
mod messages;
mod stages;

/// The paper's name of an algorithm, and ours.
const ALGORITHMS: [(&str, &str); 4] =
    [("A1", "direct"), ("A2", "two-stage"), ("A3", "row-column"), ("A4", "four-stage")];

/// The machines of the experiments, with what an element is there (section 4).
const MACHINES: [(&str, u64); 2] = [("t3d", 48), ("sp2", 22)];

/// A topology without a network to speak of.
fn nodes(p: u64) -> String {
    format!("fully-connected:{p}")
}

/// Everything of the paper that can be re-run.
pub fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let times = experiments::Times::run(bench)?;
    let mut tables = vec![
        closed::machines(),
        messages::table_2(bench)?,
        messages::table_3(bench)?,
        messages::table_4(bench)?,
        integers::table(bench)?,
        closed::table(bench)?,
    ];
    tables.extend(times.tables());
    tables.push(claims::table(&times));
    tables.push(errata::table(bench)?);
    Ok(tables)
}
