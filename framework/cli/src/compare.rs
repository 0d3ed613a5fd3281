//! `swapmeet compare`: prints statistics about the rows of result files.

use crate::args::{CompareArgs, CompareBy, CompareFormat, CorrectArg};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::{output, result_files};
use swapmeet_core::spec::near_matches;
use swapmeet_results::{
    By, CompareError, CompareOptions, Correction, compare_rows, write_csv, write_json, write_latex,
    write_markdown, write_table,
};
use swapmeet_runner::input::Text;

/// Compares the times in result files, and prints the result.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitStatus, Failure> {
    let rows = result_files::compared(&args.files, |_| true)?;
    let options = CompareOptions {
        by: match args.by {
            CompareBy::Algorithm => By::Algorithm,
            CompareBy::Topology => By::Topology,
            CompareBy::Model => By::Model,
            CompareBy::Machine => By::Machine,
            CompareBy::Placement => By::Placement,
        },
        baseline: args.baseline.as_deref(),
        correction: match args.correct {
            CorrectArg::All => Correction::All,
            CorrectArg::Group => Correction::Group,
        },
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
