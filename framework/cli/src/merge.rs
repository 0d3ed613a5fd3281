//! `swapmeet merge` combines the row files of shards.

use crate::args::MergeArgs;
use crate::failure::{ExitStatus, Failure, SOME_FAILED, SUCCESS};
use crate::say::say;
use crate::{output, result_files, run};
use std::io::{self, Write};
use swapmeet_results::{CsvSink, Shards, Sink};

pub(crate) fn merge(args: &MergeArgs) -> Result<ExitStatus, Failure> {
    output::may_write(&args.out, args.over, args.files.iter().chain(&args.experiment))?;
    let shards = Shards::read(&args.files).map_err(Failure::usage)?;
    result_files::warn(shards.torn());
    let cases =
        args.experiment.as_deref().map(|path| run::cases_in(path, &args.plugins)).transpose()?;
    output::refuse_inputs(&args.out, cases.iter().flat_map(run::input_files))?;
    // Only with an experiment file are the order of the cases and the missing cases known.
    let merged = match &cases {
        Some(cases) => shards.in_case_order(|| cases.iter().map(|case| case.id())),
        None => shards.in_file_order(),
    };
    let merged = merged.map_err(Failure::usage)?;
    let missing = &merged.missing;
    if merged.sweeps > 1 {
        say!("the files are of {} sweeps without common cases", merged.sweeps);
    }
    for case in &missing.named {
        say!("missing: {case}");
    }
    if missing.count > missing.named.len() {
        say!("and {} more", missing.count - missing.named.len());
    }
    if missing.count > 0 && !args.partial {
        return Err(Failure::Output(format!(
            "{} of {} cases are missing: nothing was written (--partial writes the existing rows)",
            missing.count,
            missing.count + merged.len()
        )));
    }
    // Rows are copied one at a time, because the files may be larger than the memory.
    let rows = |out: &mut dyn Write| {
        let mut csv = CsvSink::new(out);
        shards
            .rows(&merged)
            .try_for_each(|row| csv.record(&row.map_err(io::Error::other)?))
            .and_then(|()| csv.finish())
    };
    output::file(&args.out, rows)?;
    let place = match output::is_stdout(&args.out) {
        true => String::new(),
        false => format!(" in {}", args.out.display()),
    };
    say!("{} rows{place}", merged.len());
    if cases.is_none() && args.files.len() > 1 {
        say!(
            "the rows are in the order of the files: use --experiment FILE for the order of the experiment"
        );
    }
    Ok(if missing.count == 0 { SUCCESS } else { SOME_FAILED })
}
