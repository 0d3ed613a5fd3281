//! `swapmeet compare`: prints statistics about the rows of result files.

use crate::args::{CompareArgs, CompareFormat};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::{output, result_files};
use swapmeet_core::spec::near_matches;
use swapmeet_results::{
    CompareError, CompareOptions, compare_rows, write_csv, write_json, write_latex, write_markdown,
    write_table,
};
use swapmeet_runner::input::Text;

/// Compares the times in result files, and prints the result.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitStatus, Failure> {
    let rows = result_files::compared(&args.files, |_| true)?;
    let options = CompareOptions {
        by: args.by,
        baseline: args.baseline.as_deref(),
        correction: args.correct,
    };
    let comparison = compare_rows(&rows, &options).map_err(refused)?;
    drop(rows);
    let write = match args.format {
        CompareFormat::Table => write_table,
        CompareFormat::Markdown => write_markdown,
        CompareFormat::Latex => write_latex,
        CompareFormat::Csv => write_csv,
        CompareFormat::Json => write_json,
    };
    output::print_trimmed(|out| write(&comparison, out))?;
    Ok(SUCCESS)
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
