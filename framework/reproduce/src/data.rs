//! The contents of papers as data. The values, formulas and errors of each paper are in a file in
//! `papers/`, which is parsed when the paper is rerun.

use crate::bench::ReproduceError;
use crate::report::{Kind, Table, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(crate) fn read<T: for<'a> Deserialize<'a>>(
    paper: &'static str,
    text: &str,
) -> Result<T, ReproduceError> {
    // TOML is converted to plain values first. Deserializing each type from TOML directly would
    // take a third of this crate's compile time.
    let values: serde_json::Value =
        toml::from_str(text).map_err(|e| ReproduceError::Data { paper, message: e.to_string() })?;
    T::deserialize(values).map_err(|e| ReproduceError::Data { paper, message: e.to_string() })
}

/// The texts in a paper's file.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PaperTexts {
    /// For each table: what it shows, and how our values were made.
    titles: BTreeMap<String, String>,
    /// For each table whose cells are not of the kind `independent`: the kind of its cells.
    #[serde(default)]
    kinds: BTreeMap<String, Kind>,
    /// The errors of the paper.
    #[serde(default)]
    erratum: Vec<Erratum>,
    /// The parts of the paper that are not rerun.
    #[serde(default)]
    left_out: Vec<Omission>,
}

/// An error in the paper's text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Erratum {
    at: String,
    paper: String,
    /// The corrected text, which our runs confirm.
    ours: String,
    #[serde(default)]
    why: String,
}

/// A value or formula of the paper with which no value of ours is compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Omission {
    what: String,
    why: String,
    /// Whether the paper's text leaves the value open. In that case, `why` is our assumption.
    #[serde(default)]
    unknown: bool,
}

impl PaperTexts {
    /// Returns a table without cells.
    pub(crate) fn table(&self, id: &str) -> Table {
        let kind = self.kinds.get(id).copied().unwrap_or(Kind::Independent);
        Table::new(id, self.titles.get(id).map_or("", String::as_str), kind)
    }

    /// Returns the table of errors. Its first rows are those of `shown`, which were computed by
    /// runs.
    pub(crate) fn errata(&self, shown: Option<Table>) -> Table {
        let mut table = shown.unwrap_or_else(|| self.table("Errata"));
        for erratum in &self.erratum {
            table.add(
                (&erratum.at, ""),
                &erratum.paper,
                &erratum.ours,
                Verdict::Differs,
                &erratum.why,
            );
        }
        table
    }

    /// Returns the table of parts that are not rerun, with the reasons.
    pub(crate) fn left_out(&self) -> Table {
        let mut table = self.table("Left out");
        for Omission { what, why, unknown } in &self.left_out {
            let verdict = if *unknown { Verdict::Unknown } else { Verdict::NotRebuilt };
            table.add((what, ""), "", "", verdict, why);
        }
        table
    }
}
