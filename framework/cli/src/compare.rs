//! `swapmeet compare`: prints statistics about the rows of result files.

use crate::args::{CompareArgs, CompareFormat};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::{output, result_files};
use std::path::PathBuf;
use swapmeet_core::spec::near_matches;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{
    By, CompareError, CompareOptions, UnknownParameter, View, compare_rows, write_csv, write_json,
    write_latex, write_markdown, write_table,
};
use swapmeet_runner::input::Text;

/// Compares the times in result files, and prints the result.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitStatus, Failure> {
    // In `--pivot FILE.csv`, the word after the flag is a file and not an axis.
    let is_file = |axis: &&str| args.files.is_empty() && !axis.is_empty() || axis.ends_with(".csv");
    let first_file = args.pivot.as_deref().filter(is_file);
    let files: Vec<PathBuf> =
        first_file.map(PathBuf::from).into_iter().chain(args.files.clone()).collect();
    let pivot = if first_file.is_some() { Some("") } else { args.pivot.as_deref() };
    let rows = result_files::compared(&files, |_| true)?;
    let options = CompareOptions {
        by: By::find(&args.by, &rows)
            .map_err(|error| unknown("--by", &args.by, &error, &By::ALL.map(By::label)))?,
        baseline: args.baseline.as_deref(),
        correction: args.correct,
    };
    let comparison = compare_rows(&rows, &options).map_err(refused)?;
    drop(rows);
    let view = match pivot {
        Some("") => View::Pivot(Axis::main(&comparison)),
        Some(name) => View::Pivot(
            Axis::find(name, &comparison)
                .map_err(|error| unknown("--pivot", name, &error, &Axis::ALL.map(Axis::name)))?,
        ),
        None if args.details => View::Details,
        None => View::of(&comparison),
    };
    output::print_trimmed(|out| match args.format {
        CompareFormat::Table => write_table(&comparison, view, out),
        CompareFormat::Markdown => write_markdown(&comparison, view, out),
        CompareFormat::Latex => write_latex(&comparison, view, &args.width, out),
        CompareFormat::Csv => write_csv(&comparison, view, out),
        CompareFormat::Json => write_json(&comparison, view, out),
    })?;
    Ok(SUCCESS)
}

/// Converts the error that a name is not that of an axis to a message with similar names. `always`
/// are the names that do not depend on the rows.
pub(crate) fn unknown(
    flag: &'static str,
    name: &str,
    error: &UnknownParameter,
    always: &[&str],
) -> Failure {
    let (_, found) = error.names();
    let known: Vec<&str> = always.iter().copied().chain(found.iter().map(String::as_str)).collect();
    let (near, all) = match error {
        UnknownParameter::Unknown { .. } => {
            (near_matches(name, known.iter().copied()), format!("there are {}", known.join(", ")))
        }
        UnknownParameter::Ambiguous { .. } => (Vec::new(), String::new()),
    };
    Text::flag(flag, name).error(error.to_string()).near(&near, &all).into()
}

/// Converts the error of a comparison to a message. If no row has the baseline algorithm, the
/// message suggests similar names.
fn refused(error: CompareError) -> Failure {
    let message = error.to_string();
    match error {
        CompareError::NoBaseline { baseline, known } => {
            let near = near_matches(&baseline, known.iter().map(String::as_str));
            let text = Text::flag("--baseline", &baseline);
            text.error(message)
                .near(&near, &format!("there are rows of {}", known.join(", ")))
                .into()
        }
        _ => Failure::Usage(message),
    }
}
