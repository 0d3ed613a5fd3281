//! The contents of papers as data. A file in `papers/` contains the values, formulas and errors of
//! each paper. It is parsed when the paper is reproduced.

use crate::bench::ReproduceError;
use crate::report::{Kind, Table, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(crate) fn read<T: for<'a> Deserialize<'a>>(
    paper: &'static str,
    text: &str,
) -> Result<T, ReproduceError> {
    // Convert TOML to plain values first. If each type were deserialized directly from TOML, that
    // code would take a third of the compile time of this crate.
    let values: serde_json::Value =
        toml::from_str(text).map_err(|e| ReproduceError::Data { paper, message: e.to_string() })?;
    T::deserialize(values).map_err(|e| ReproduceError::Data { paper, message: e.to_string() })
}

/// The texts in the data file of a paper.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PaperTexts {
    /// For each table, a text that states what the table shows and how our values were computed.
    titles: BTreeMap<String, String>,
    /// The kind of the cells in each table: how the paper's values were obtained (see [`Kind`]).
    /// Tables of the kind `independent` are not listed.
    #[serde(default)]
    kinds: BTreeMap<String, Kind>,
    /// The errors that were found in the paper.
    #[serde(default)]
    erratum: Vec<Erratum>,
    /// The parts of the paper that are not reproduced.
    #[serde(default)]
    left_out: Vec<Omission>,
}

/// An error in the text of the paper.
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

/// A value or formula of the paper that is not compared with a value of ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Omission {
    what: String,
    why: String,
    /// Whether the item cannot be known from the paper ([`Verdict::Unknown`]). In that case, `why`
    /// states what we assume or do instead.
    #[serde(default)]
    unknown: bool,
}

impl PaperTexts {
    /// Returns the table `id` with its title and kind, but without cells.
    pub(crate) fn table(&self, id: &str) -> Table {
        let kind = self.kinds.get(id).copied().unwrap_or(Kind::Independent);
        Table::new(id, self.titles.get(id).map_or("", String::as_str), kind)
    }

    /// Returns the table of the errors in the paper. It begins with the rows of `shown`, which are
    /// errors that runs have shown.
    pub(crate) fn errata(&self, shown: Option<Table>) -> Table {
        let mut table = shown.unwrap_or_else(|| self.table("Errata"));
        for erratum in &self.erratum {
            table
                .add((&erratum.at, ""), &erratum.paper, &erratum.ours, Verdict::Differs)
                .because(&erratum.why);
        }
        table
    }

    /// Returns the table of the parts that are not reproduced, with the reasons.
    pub(crate) fn left_out(&self) -> Table {
        let mut table = self.table("Left out");
        for Omission { what, why, unknown } in &self.left_out {
            let verdict = if *unknown { Verdict::Unknown } else { Verdict::NotRebuilt };
            table.add((what, ""), "", "", verdict).because(why);
        }
        table
    }
}
