//! `swapmeet merge`: the rows of shards, joined.

use crate::args::MergeArgs;
use crate::failure::{Failure, SOME_FAILED};
use crate::say::say;
use crate::{output, run};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use swapmeet_results::{CaseId, CsvSink, Sink, merge as merge_rows, read_files};
use swapmeet_runner::case::Case;

pub(crate) fn merge(args: &MergeArgs) -> Result<ExitCode, Failure> {
    /// Missing cases that are named; the others are counted.
    const NAMED: usize = 10;
    output::may_write(&args.out, args.over, args.files.iter().chain(&args.experiment))?;
    let files = read_files(&args.files).map_err(|e| Failure::Usage(e.to_string()))?;
    let cases = args.experiment.as_deref().map(|path| run::cases_in(path, &args.plugins)).transpose()?;
    output::none_of(&args.out, cases.iter().flatten().flat_map(run::read_for))?;
    let expected: Option<Vec<CaseId>> = cases.map(|cases| cases.iter().map(Case::id).collect());
    let merged = merge_rows(&files, expected.as_deref()).map_err(|e| Failure::Usage(e.to_string()))?;
    for case in merged.missing.iter().take(NAMED) {
        say!("missing: {case}");
    }
    if merged.missing.len() > NAMED {
        say!("and {} more", merged.missing.len() - NAMED);
    }
    if !merged.missing.is_empty() && !args.partial {
        return Err(Failure::Output(format!(
            "{} of {} cases are missing: nothing was written (--partial writes what there is)",
            merged.missing.len(),
            merged.missing.len() + merged.rows.len()
        )));
    }
    let rows = |out: &mut dyn Write| {
        let mut csv = CsvSink::new(out);
        merged.rows.iter().try_for_each(|row| csv.record(row)).and_then(|()| csv.finish())
    };
    let place = if args.out == Path::new("-") {
        rows(&mut io::stdout()).map_err(|e| Failure::printing(&e))?;
        String::new()
    } else {
        output::file(&args.out, rows)?;
        format!(" in {}", args.out.display())
    };
    say!("{} rows{place}", merged.rows.len());
    if expected.is_none() && args.files.len() > 1 {
        say!("rows stand in the order of the files: --experiment FILE gives the experiment's");
    }
    Ok(if merged.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(SOME_FAILED) })
}
