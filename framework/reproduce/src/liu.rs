//! Liu, Wang & Prasanna: Tables 1 to 4, the theorems, equations (1) to (4), the experiments of
//! Figs. 15 to 23 and the claims about them, Fig. 10, and errors in the paper.
//!
//! The tables of this module count messages and steps as the paper does (see [`stages`]). In the
//! paper, a node's message to itself counts as a message. A step can consist of nothing but
//! messages of nodes to themselves.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::report::Table;
use serde::Deserialize;
use swapmeet_core::cost::machine::Machine;

mod bounds;
mod claims;
mod closed;
mod experiments;
mod integers;
mod messages;
mod schedule;
mod stages;

/// For each algorithm, its name in the paper and its name in this project.
const ALGORITHMS: [(&str, &str); 4] =
    [("A1", "direct"), ("A2", "two-stage"), ("A3", "row-column"), ("A4", "four-stage")];

#[derive(Debug, Deserialize)]
struct Liu {
    #[serde(flatten)]
    words: PaperTexts,
    table_1: Vec<(String, f64, f64)>,
    fig_10: Vec<[u32; 9]>,
    figure: Vec<experiments::Figure>,
    claim: Vec<claims::Claim>,
    gain: Vec<claims::Gain>,
}

impl Liu {
    fn read() -> Result<Self, ReproduceError> {
        read("liu", include_str!("../papers/liu.toml"))
    }
}

/// Returns a topology with `p` nodes whose links do not influence the time.
fn nodes(p: u64) -> String {
    format!("fully-connected:{p}")
}

/// The parameters of a machine preset that the closed forms use.
struct PresetParameters {
    startup_us: f64,
    byte_us: f64,
    copy_byte_us: f64,
    rearrange_byte_us: f64,
}

fn preset(name: &str) -> PresetParameters {
    let machine = Machine::parse(name).ok();
    let figure =
        |key: &str| machine.as_ref().and_then(|machine| machine.number(key)).unwrap_or(f64::NAN);
    PresetParameters {
        startup_us: figure("startup_us"),
        byte_us: figure("byte_us"),
        copy_byte_us: figure("copy_byte_us"),
        rearrange_byte_us: figure("rearrange_byte_us"),
    }
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let liu = Liu::read()?;
    let times = experiments::Times::run(bench)?;
    let mut tables = vec![
        closed::machines(&liu),
        messages::table_2(&liu, bench)?,
        messages::table_3(&liu, bench)?,
        messages::table_4(&liu, bench)?,
        integers::table(&liu, bench)?,
        closed::equations(&liu, bench)?,
        closed::table(&liu, bench)?,
        schedule::fig_10(&liu, bench)?,
    ];
    tables.extend(liu.figure.iter().map(|figure| times.table(figure)));
    tables.push(claims::table(&liu, &times));
    tables.push(liu.words.errata(Some(schedule::collisions(&liu, bench)?)));
    tables.push(liu.words.left_out());
    Ok(tables)
}
