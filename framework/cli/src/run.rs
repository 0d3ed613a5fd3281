//! `swapmeet run`: runs the cases of flags and files and writes rows.

use crate::args::{AppearanceArgs, CaseArgs, PluginArgs, RowFormat, RunArgs};
use crate::failure::{Failure, INTERRUPTED, SOME_FAILED};
use crate::say::say;
use crate::{output, table};
use progress::Progress;
use row_file::Remarks;
use rows::{Before, Found, Rows};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use swapmeet_core::delivery::fault::Count;
use swapmeet_results::{Record, Status};
use swapmeet_runner::batch::{Batch, BatchEvent, ReorderBuffer};
use swapmeet_runner::case::{Case, Product};
use swapmeet_runner::sandbox::NO_SANDBOX;
use swapmeet_runner::unit::units;
use swapmeet_runner::worker::Workers;
use swapmeet_workloads::file;

mod progress;
pub(crate) mod row_file;
pub(crate) mod rows;
mod selection;

pub(crate) use selection::{
    SpecLists, bundled_owner, cases_in, cases_of, complete, experiment, fill_in, plugin_dirs,
    registry, shard_cases,
};

pub(crate) fn run(RunArgs { cases: args, format, .. }: &RunArgs) -> Result<ExitCode, Failure> {
    // Report all errors in the flags before a file is opened or a case runs.
    refuse_appearance(&args.appearance)?;
    note_threads(args.threads);
    let all = complete(experiment(args)?, &args.plugins)?;
    let cases = shard_cases(&all, args.shard)?;
    if args.resume && args.out.as_deref().is_none_or(|out| out == Path::new("-")) {
        return Err(Failure::Usage("--resume continues a file: give it with --out".to_owned()));
    }
    protect_inputs(args, &all)?;
    // With --resume, the file already contains rows. The cases of these rows do not run again.
    let remarks = Remarks::default();
    let (mut rows, found) = place_for(args, *format, &cases, &all, &remarks)?;
    let kept = found.kept();
    let interrupted = interrupts();

    // The tally counts all cases of the file, including those of interrupted earlier runs.
    let mut tally = Tally::default();
    found.rows.iter().flatten().for_each(|record| tally.add(record));
    let open: Vec<usize> = (0..cases.len()).filter(|i| found.rows[*i].is_none()).collect();
    let to_run: Vec<Case> = open.iter().map(|i| cases[*i].clone()).collect();
    let progress = Progress::new(cases.len(), &to_run, args.quiet);
    let mut course = Progression {
        progress,
        tally,
        rows: &mut rows,
        ordered: ReorderBuffer::default(),
        ended: 0,
        lines: 0,
        in_order: found.in_order,
    };
    // The rows of a file are written in the order in which cases end, and sorted at the end. After
    // an interrupt they stay unsorted; a run with --resume sorts them.
    let finished = course.follow(
        &to_run,
        &workers(args.jobs, args.memory_limit, units(&to_run).len(), &args.plugins)?,
        &interrupted,
    )?;
    let Progression { tally, progress, in_order, .. } = course;
    rows.finish()?;
    progress.finish();
    let unsorted = if finished { rows.sort(&cases, in_order)? } else { None };
    // Without --out, the rows become a table on standard output; the summary goes to standard
    // error.
    if let Rows::Kept(rows) = &rows {
        let text = table::results(rows, table::terminal_width());
        writeln!(io::stdout(), "{text}").map_err(|e| Failure::printing(&e))?;
    }
    if !args.quiet {
        let place = match &args.out {
            Some(path) if path != Path::new("-") => format!("; rows in {}", path.display()),
            _ => String::new(),
        };
        let state = if finished { "" } else { "interrupted: " };
        let kept = match kept {
            0 => String::new(),
            1 => "; 1 row kept from before".to_owned(),
            kept => format!("; {kept} rows kept from before"),
        };
        say!("{state}{tally}{kept}{place}");
    }
    print_remarks(&remarks);
    if let Some(why) = unsorted {
        say!("remark: all rows are written, but in the order in which cases ended: {why}");
    }
    Ok(match (finished, tally.failed) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, 0) => ExitCode::SUCCESS,
        (true, _) => ExitCode::from(SOME_FAILED),
    })
}

/// Opens the destination for the rows of these cases, which are all cases of an experiment or some
/// of them.
pub(crate) fn place_for(
    args: &CaseArgs,
    format: Option<RowFormat>,
    cases: &[Case],
    all: &Product,
    remarks: &Remarks,
) -> Result<(Rows, Found), Failure> {
    let is_printed = args.out.as_deref().is_none_or(|out| out == Path::new("-"));
    match format {
        Some(format) if is_printed => Ok(Rows::printed(format, cases.len())),
        Some(RowFormat::Json) => {
            let why = "--format json is for standard output: omit --out; row files are CSV, which all other commands read";
            Err(Failure::Usage(why.to_owned()))
        }
        Some(RowFormat::Csv) | None => {
            Rows::open(args.out.as_deref(), before(args), cases, all, remarks)
        }
    }
}

/// Errors if a flag is given that only affects the dashboard.
pub(crate) fn refuse_appearance(appearance: &AppearanceArgs) -> Result<(), Failure> {
    match appearance.theme.is_some() || appearance.ascii {
        true => {
            Err(Failure::Usage("--theme and --ascii are for the dashboard: add --tui".to_owned()))
        }
        false => Ok(()),
    }
}

/// Prints the remarks on the row file.
pub(crate) fn print_remarks(remarks: &Remarks) {
    remarks
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
        .for_each(|remark| say!("{remark}"));
}

/// Returns a flag that is set by Ctrl-C or a request to terminate. A second signal ends the program
/// at once.
pub(crate) fn interrupts() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // If no handler can be installed, the signal ends the program by default.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&flag))
            .and_then(|_| flag::register(signal, Arc::clone(&flag)));
    }
    flag
}

/// Errors if rows would overwrite the experiment file, a file that its specs name, or a plugin.
pub(crate) fn protect_inputs(args: &CaseArgs, all: &Product) -> Result<(), Failure> {
    let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) else { return Ok(()) };
    output::refuse_inputs(out, args.experiment.clone().into_iter().chain(input_files(all)))
}

/// Returns the files that an experiment's specs name, and its plugins.
pub(crate) fn input_files(all: &Product) -> BTreeSet<PathBuf> {
    let named = all.inputs().map(|input| Path::new(input.file.as_str())).chain(all.plugins());
    named.flat_map(of_pattern).collect()
}

/// Returns the files that a case's specs name, and its plugin.
pub(crate) fn input_files_of_case(case: &Case) -> impl Iterator<Item = &Path> {
    let named = case.inputs.iter().map(|input| Path::new(input.file.as_str()));
    named.chain([case.algorithm.algorithm.file.as_path()])
}

/// Returns the files that match a name or pattern. Files that no longer exist are left out.
fn of_pattern(name: &Path) -> Vec<PathBuf> {
    name.to_str()
        .and_then(|name| file::files(name).ok())
        .unwrap_or_else(|| vec![name.to_path_buf()])
}

/// Returns how the flags treat existing rows.
pub(crate) fn before(args: &CaseArgs) -> Before {
    match (args.resume, args.retry_failed) {
        (false, _) if args.force => Before::Drop,
        (false, _) => Before::Leave,
        (true, false) => Before::Keep,
        (true, true) => Before::KeepGood,
    }
}

/// Prints a note if `--threads` is given. The flag is accepted for one more release.
pub(crate) fn note_threads(threads: Option<u32>) {
    if threads.is_some() {
        say!(
            "note: --threads has no effect: each case runs on one thread, and --jobs sets how many cases run at a time"
        );
    }
}

/// Returns the configuration of workers. `parts` is the maximum number of workers that are busy at
/// the same time.
pub(crate) fn workers(
    jobs: Option<u32>,
    memory_limit: Option<u64>,
    parts: usize,
    plugins: &PluginArgs,
) -> Result<Workers, Failure> {
    let command = child("worker", plugins)
        .map_err(|e| Failure::Output(format!("this program's own file: {e}")))?;
    let jobs = jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        |jobs| jobs as usize,
    );
    let memory_limit = memory_limit.unwrap_or_else(|| default_memory(jobs.min(parts) as u64));
    Ok(Workers { command, jobs, memory_limit })
}

/// Returns the command that starts a child process for plugins.
pub(crate) fn child(command: &str, plugins: &PluginArgs) -> io::Result<Vec<PathBuf>> {
    let words = [std::env::current_exe()?, PathBuf::from(command)];
    Ok(words.into_iter().chain(plugins.no_sandbox.then(|| NO_SANDBOX.into())).collect())
}

/// Returns the default memory limit of a worker: four fifths of the memory divided by the number of
/// concurrent workers, but at least 1 GiB.
pub(crate) fn default_memory(jobs: u64) -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib: Option<u64> = total.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    let bytes = kib.map_or(u64::MAX, |kib| kib.saturating_mul(1024));
    (bytes / 5 * 4 / jobs.max(1)).max(1 << 30)
}

/// The maximum number of log lines from plugins that a run prints.
const MOST_LINES: u64 = 1000;

/// A running experiment, which turns events into rows and progress.
struct Progression<'a> {
    progress: Progress,
    tally: Tally,
    rows: &'a mut Rows,
    ordered: ReorderBuffer,
    /// The number of ended cases.
    ended: usize,
    /// The number of lines from plugins.
    lines: u64,
    /// Whether the rows in the file are in the order of cases so far. Only used for files that can
    /// be sorted later.
    in_order: bool,
}

impl Progression<'_> {
    /// Runs the cases. Returns whether all of them ended without an interrupt.
    fn follow(
        &mut self,
        cases: &[Case],
        workers: &Workers,
        interrupted: &AtomicBool,
    ) -> Result<bool, Failure> {
        /// The maximum delay until an interrupt is noticed.
        const SLICE: Duration = Duration::from_millis(100);
        let batch = Batch::start(cases, workers)
            .map_err(|e| Failure::Output(format!("no thread could be started: {e}")))?;
        let mut stopping = false;
        while let Some(event) = batch.next_within(SLICE) {
            if interrupted.load(Ordering::Relaxed) && !stopping {
                stopping = true;
                batch.cancel();
            }
            match event {
                None => self.progress.tick(),
                Some(BatchEvent::Started { cases: numbers }) => {
                    self.progress.started(&numbers, &cases[numbers[0]]);
                }
                Some(BatchEvent::Progress { case, steps, messages }) => {
                    self.progress.steps(case, steps, messages);
                }
                Some(BatchEvent::Log { line }) => self.log(&line),
                // This run requests no observer.
                Some(BatchEvent::Observed { .. }) => {}
                Some(BatchEvent::Finished { case, record }) => {
                    self.tally.add(&record);
                    self.progress.finished(case, &cases[case], &record);
                    if self.rows.can_be_sorted() {
                        // Do not wait for earlier cases: if one of them fails, this row would be
                        // lost.
                        self.in_order &= case == self.ended;
                        self.rows.push(*record)?;
                    } else {
                        for row in self.ordered.push(case, record) {
                            self.rows.push(row)?;
                        }
                    }
                    self.ended += 1;
                }
            }
        }
        // After an interrupt, some rows still wait for an earlier case that will not run. Write
        // them, too.
        for row in std::mem::take(&mut self.ordered).left() {
            self.rows.push(row)?;
        }
        self.log_rest();
        if self.ended < cases.len() && !stopping {
            // A case without a row means that a thread of this program has panicked. Its message
            // has been printed.
            return Err(Failure::Output(format!(
                "{} cases have no row: please report it",
                cases.len() - self.ended
            )));
        }
        Ok(self.ended == cases.len())
    }

    /// Prints a line from a plugin, up to [`MOST_LINES`] of them.
    fn log(&mut self, line: &str) {
        self.lines += 1;
        if self.lines <= MOST_LINES {
            self.progress.say(line);
        }
    }

    /// Prints the number of omitted lines.
    fn log_rest(&self) {
        if self.lines > MOST_LINES {
            self.progress
                .say(&format!("{} more lines from plugins are omitted", self.lines - MOST_LINES));
        }
    }
}

/// The number of cases with each outcome.
#[derive(Default)]
pub(crate) struct Tally {
    ok: u64,
    unsupported: u64,
    pub failed: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, record: &Record) {
        match record.status {
            Status::Ok => self.ok += 1,
            Status::Unsupported => self.unsupported += 1,
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => self.failed += 1,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cases = self.ok + self.unsupported + self.failed;
        write!(f, "{}: {} verified", Count(cases, "case"), self.ok)?;
        if self.unsupported > 0 {
            write!(f, ", {} unsupported", self.unsupported)?;
        }
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        Ok(())
    }
}
