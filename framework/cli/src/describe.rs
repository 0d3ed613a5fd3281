//! `swapmeet list topologies --describe SPEC`: what topologies are like, beside what papers say of them.

use crate::args::Format;
use crate::failure::Failure;
use crate::table;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;
use swapmeet_core::survey::{Survey, survey};
use swapmeet_core::topology;
use swapmeet_reproduce::{Stated, stated};
use swapmeet_runner::case::spec_error;
use swapmeet_runner::input::Text;

const HEADER: [&str; 6] = ["topology", "figure", "computed", "how", "Theorem 1", "Table I"];

/// Prints what each topology is like.
pub fn describe(specs: &[String], format: Format) -> Result<ExitCode, Failure> {
    let mut rows = Vec::new();
    for spec in specs {
        let text = Text::flag("--describe", spec);
        let topology = topology::parse(spec).map_err(|e| spec_error(&text, &e))?;
        rows.extend(figures(&topology.spec(), &survey(topology.as_ref())));
    }
    let text = match format {
        Format::Table => as_table(rows),
        Format::Csv => as_csv(&rows).map_err(|e| Failure::Output(e.to_string()))?,
        Format::Json => as_json(&rows).map_err(|e| Failure::Output(e.to_string()))?,
    };
    writeln!(std::io::stdout(), "{}", text.trim_end()).map_err(|e| Failure::writing("standard output", &e))?;
    Ok(ExitCode::SUCCESS)
}

/// A row a figure.
fn figures(spec: &str, found: &Survey) -> Vec<[String; 6]> {
    let Stated { theorem_1, table_1 } = stated(spec);
    let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
    let theorem = |index: usize| number(theorem_1.map(|figures| figures[index]));
    let how = if found.searched { "searched, link by link" } else { "by formula" };
    let row = |figure: &str, computed: String, how: &str, theorem: String, table: String| {
        [spec.to_owned(), figure.to_owned(), computed, how.to_owned(), theorem, table]
    };
    let degree = found.degree.map_or_else(|| "differs from node to node".to_owned(), |d| d.to_string());
    let cut = if found.cut_is_exact { "no balanced cut has fewer links" } else { "the best balanced cut known" };
    let mut rows = vec![
        row("nodes", found.nodes.to_string(), "counted", theorem(0), number(table_1.map(|row| row.0))),
        row("degree", degree, how, theorem(1), number(table_1.map(|row| row.1))),
        row("diameter", found.diameter.to_string(), how, theorem(2), number(table_1.map(|row| row.2))),
    ];
    if let Some(mean) = found.mean_distance {
        rows.push(row("mean distance", format!("{mean:.4}"), "by formula", String::new(), String::new()));
    }
    if found.balanced_cut.is_some() {
        rows.push(row("bisection", number(found.balanced_cut), cut, theorem(3), String::new()));
    }
    if let Some(ratio) = found.cost_ratio {
        let stated = table_1.map(|row| format!("{:.2}", row.3)).unwrap_or_default();
        rows.push(row("cost ratio", format!("{ratio:.4}"), "(degree + diameter) / lg nodes", String::new(), stated));
    }
    rows
}

/// The topology once; columns of papers only where they say anything.
fn as_table(rows: Vec<[String; 6]>) -> String {
    let said: Vec<usize> = (0..HEADER.len()).filter(|c| *c < 4 || rows.iter().any(|row| !row[*c].is_empty())).collect();
    let header: Vec<&str> = said.iter().map(|c| HEADER[*c]).collect();
    let numbers: Vec<usize> = (0..said.len()).filter(|i| matches!(said[*i], 2 | 4 | 5)).collect();
    let mut last = String::new();
    let mut shown = Vec::new();
    for mut row in rows {
        if row[0] == last {
            row[0].clear();
        } else {
            last.clone_from(&row[0]);
        }
        shown.push(said.iter().map(|c| std::mem::take(&mut row[*c])).collect());
    }
    let mut out = table::plain(&header, &numbers, shown);
    if said.len() > 4 {
        out += "\n\nTheorem 1 and Table I: Y. Li, S. Peng, W. Chu, Collective Communication in Recursive Dual-Net";
    }
    out
}

fn as_csv(rows: &[[String; 6]]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER)?;
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_json(rows: &[[String; 6]]) -> Result<String, serde_json::Error> {
    let row = |row: &[String; 6]| -> Value {
        HEADER.iter().zip(row).map(|(key, value)| ((*key).to_owned(), Value::from(value.as_str()))).collect()
    };
    serde_json::to_string_pretty(&rows.iter().map(row).collect::<Vec<_>>())
}
