//! What papers say, as data: each paper's figures, formulas and slips are a file in `papers/`, read
//! when the paper is re-run.

use crate::bench::ReproduceError;
use crate::report::{Table, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(crate) fn read<T: for<'a> Deserialize<'a>>(
    paper: &'static str,
    text: &str,
) -> Result<T, ReproduceError> {
    // By way of plain values: compiling what reads each type from TOML itself takes a third of the
    // time in which this crate is built.
    let values: serde_json::Value =
        toml::from_str(text).map_err(|e| ReproduceError::Data { paper, message: e.to_string() })?;
    T::deserialize(values).map_err(|e| ReproduceError::Data { paper, message: e.to_string() })
}

/// What every paper's file has beside its figures.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Words {
    /// What each table is about and how ours was made.
    titles: BTreeMap<String, String>,
    /// What is wrong in the paper.
    #[serde(default)]
    slip: Vec<Slip>,
    /// What is not re-run.
    #[serde(default)]
    left_out: Vec<LeftOut>,
}

/// Where the paper's text does not hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Slip {
    at: String,
    paper: String,
    /// What verifies instead.
    ours: String,
    #[serde(default)]
    why: String,
}

/// A figure or formula of the paper that nothing here is beside.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    what: String,
    why: String,
}

impl Words {
    /// A table without cells.
    pub(crate) fn table(&self, id: &str) -> Table {
        Table::new(id, self.titles.get(id).map_or("", String::as_str))
    }

    /// The slips, after what runs have shown of others.
    pub(crate) fn errata(&self, shown: Option<Table>) -> Table {
        let mut table = shown.unwrap_or_else(|| self.table("Errata"));
        for slip in &self.slip {
            table.add((&slip.at, ""), &slip.paper, &slip.ours, Verdict::Differs, &slip.why);
        }
        table
    }

    /// What is left out, and why.
    pub(crate) fn left_out(&self) -> Table {
        let mut table = self.table("Left out");
        for LeftOut { what, why } in &self.left_out {
            table.add((what, ""), "", "", Verdict::NotRebuilt, why);
        }
        table
    }
}
