//! Li, Peng & Chu: Theorems 1 to 6, Tables I and II, and errors in the paper.
//!
//! The paper counts start-ups (ts) and words (m tw) separately. The runs of this module use a
//! machine with store-and-forward switching and blocks of one byte. A start-up and a byte take 1 us
//! each. Thus, a step in which each message crosses one link counts as one start-up, and
//! `critical_bytes` is the number of words.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::formula::{Formula, Round};
use crate::report::Table;
use serde::Deserialize;
use std::collections::BTreeMap;

mod networks;
mod patterns;

pub use networks::Published;

/// A machine with one port and store-and-forward switching. A start-up and a word take 1 us each.
const MACHINE: &str = "free:model=store-and-forward,startup_us=1,byte_us=1";

#[derive(Debug, Deserialize)]
struct Li {
    #[serde(flatten)]
    words: PaperTexts,
    r#let: BTreeMap<String, Formula>,
    theorem_1: networks::Theorem1,
    table_1: Vec<networks::Listed>,
    pattern: Vec<patterns::Pattern>,
    network: Vec<patterns::Network>,
}

impl Li {
    fn read() -> Result<Self, ReproduceError> {
        read("li", include_str!("../papers/li.toml"))
    }

    /// Returns the value of a formula. `variables` returns the values of variables that the data
    /// file does not define.
    fn value(&self, formula: &Formula, variables: &dyn Fn(&str) -> Option<f64>) -> f64 {
        formula.at(&|name, _: Round| {
            variables(name)
                .or_else(|| self.r#let.get(name).map(|defined| self.value(defined, variables)))
        })
    }
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let li = Li::read()?;
    let measured = patterns::run(&li, bench)?;
    Ok(vec![
        networks::theorem_1(&li)?,
        networks::theorem_2(&li)?,
        networks::table_1(&li)?,
        patterns::theorems(&li, &measured),
        patterns::table_2(&li, &measured),
        li.words.errata(Some(algorithm_4(&li, bench)?)),
        li.words.left_out(),
    ])
}

/// Returns the table of the one error that only runs can show: Algorithm 4 sends some data twice.
fn algorithm_4(li: &Li, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = li.words.table("Errata");
    let mut met = true;
    for base in ["ring:3", "ring:4", "hypercube:2", "hypercube:3", "torus:3x4", "fully-connected:4"]
    {
        let spec = format!("rdn:1({base})");
        let row = bench.row(&spec, "rdn-alltoall", "uniform:1", MACHINE)?;
        let least =
            swapmeet_core::network::topology::parse(&spec).ok().and_then(|net| net.distance_sum());
        met &= row.critical_bytes == least.map(u128::from);
    }
    let ours = if met { "the distances from a node to all others" } else { "more than the bound" };
    let why = "crossing first, as printed, sends blocks for the own type over two crossings that they do not need";
    table.add_ours(("Algorithm 4", "words of the lean variant over six bases"), ours).because(why);
    Ok(table)
}
