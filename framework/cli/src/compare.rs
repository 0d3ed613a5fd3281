//! `swapmeet compare`: prints statistics about the rows of result files.

use crate::args::{CompareArgs, CompareFormat};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::{output, result_files};
use swapmeet_core::spec::near_matches;
use swapmeet_results::{
    CompareError, CompareOptions, as_csv, as_json, as_latex, as_markdown, as_table, compare_by,
};
use swapmeet_runner::input::Text;

/// Compares the times in result files, and prints the result.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitStatus, Failure> {
    let files = result_files::read(&args.files)?;
    let options = CompareOptions {
        by: args.by,
        baseline: args.baseline.as_deref(),
        correction: args.correct,
    };
    let comparison = compare_by(&files, &options).map_err(refused)?;
    let text = match args.format {
        CompareFormat::Table => as_table(&comparison),
        CompareFormat::Markdown => as_markdown(&comparison),
        CompareFormat::Latex => as_latex(&comparison),
        CompareFormat::Csv => as_csv(&comparison).map_err(Failure::output)?,
        CompareFormat::Json => as_json(&comparison).map_err(Failure::output)?,
    };
    output::print(&format!("{}\n", text.trim_end()))?;
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
