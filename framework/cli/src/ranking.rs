//! Output shared by the commands that run cases and print a ranking.

use crate::args::RankingArgs;
use crate::failure::{ExitStatus, Failure, SOME_FAILED, SUCCESS, print_reason};
use crate::{output, run};
use swapmeet_results::{CsvSink, Record, Sink, Status};
use swapmeet_runner::case::Case;

impl RankingArgs {
    /// Errors if the file of `--out` must not be overwritten, for instance because a case reads it.
    pub(crate) fn check_out<'c>(
        &self,
        cases: impl IntoIterator<Item = &'c Case>,
    ) -> Result<(), Failure> {
        let Some(out) = &self.out else { return Ok(()) };
        output::may_write(out, self.over, cases.into_iter().flat_map(run::input_files_of_case))
    }

    pub(crate) fn write<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r Record>,
    ) -> Result<(), Failure> {
        let Some(out) = &self.out else { return Ok(()) };
        output::file(out, |out| {
            let mut sink = CsvSink::new(out);
            rows.into_iter().try_for_each(|row| sink.record(row)).and_then(|()| sink.finish())
        })
    }

    pub(crate) fn print(&self, ranking: &str) -> Result<(), Failure> {
        match self.out.as_deref().is_some_and(output::is_stdout) {
            true => Ok(()),
            false => output::print(ranking),
        }
    }
}

pub(crate) fn status<'r>(rows: impl IntoIterator<Item = &'r Record>) -> ExitStatus {
    let failed = |row: &&Record| !matches!(row.status, Status::Ok | Status::Unsupported);
    match rows.into_iter().find(failed) {
        Some(first) => {
            print_reason(first);
            SOME_FAILED
        }
        None => SUCCESS,
    }
}
