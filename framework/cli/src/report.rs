//! `swapmeet report`: writes a page that summarises result files.

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output;
use crate::plot::rows;
use std::path::Path;
use std::process::ExitCode;
use swapmeet_plot::{PageOptions, page};
use swapmeet_results::{CompareError, Record};
use swapmeet_runner::experiment::Experiment;

pub(crate) fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    output::may_write(&args.out, args.over, &args.rows.files)?;
    let files = rows(&args.rows)?;
    let page = page_of(&files, args.title.as_deref(), args.rows.baseline.as_deref());
    let text = page.map_err(|e| Failure::Usage(e.to_string()))?;
    if args.out == Path::new("-") {
        output::print(&text)?;
    } else {
        output::file(&args.out, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a page that summarises rows. The default title lists the names of the experiments.
pub(crate) fn page_of(
    files: &[(String, Vec<Record>)],
    title: Option<&str>,
    baseline: Option<&str>,
) -> Result<String, CompareError> {
    let title = title.map_or_else(|| experiments(files), str::to_owned);
    let wanted = PageOptions {
        title: &title,
        baseline,
        program: concat!("swapmeet ", env!("CARGO_PKG_VERSION")),
    };
    page(files, &wanted)
}

/// Returns the names of the experiments without duplicates.
fn experiments(files: &[(String, Vec<Record>)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in files.iter().flat_map(|(_, rows)| rows) {
        let named = row.experiment != Experiment::default().name;
        if named && !names.contains(&row.experiment.as_str()) {
            names.push(&row.experiment);
        }
    }
    if names.is_empty() { "Swapmeet report".to_owned() } else { names.join(", ") }
}
