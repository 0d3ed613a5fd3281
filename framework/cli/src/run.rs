//! `swapmeet run` runs the cases that flags and files describe, and writes their rows.

use crate::args::{AppearanceArgs, CaseArgs, PluginArgs, RowFormat, RunArgs};
use crate::bundle;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS};
use crate::output;
use crate::say::say;
use progress::Progress;
use row_file::Remarks;
use rows::{Before, Found, Rows};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, PoisonError};
use swapmeet_core::delivery::fault::Count;
use swapmeet_results::{Record, Status};
use swapmeet_runner::batch::{Batch, DESCRIPTORS_OF_A_JOB};
use swapmeet_runner::case::{Case, CaseGrid};
use swapmeet_runner::event::CaseEvent;
use swapmeet_runner::limits;
use swapmeet_runner::optimum::NO_LINKS;
use swapmeet_runner::plan_group::{self, plan_groups};
use swapmeet_runner::sandbox::NO_SANDBOX;
use swapmeet_runner::system;
use swapmeet_runner::worker::{WorkerKind, Workers};
use swapmeet_workloads::file;

mod collect;
mod progress;
pub(crate) mod row_file;
pub(crate) mod rows;
mod selection;

pub(crate) use crate::signals::interrupts;
pub(crate) use collect::{collect, for_each_row};
pub(crate) use selection::{
    SpecLists, algorithms_of, bundled_owner, cases_in, cases_of, cases_of_all_algorithms,
    cases_with, complete, default_machine, experiment, fill_in, plugin_dirs, registry,
    registry_within, shard_cases, with_flags,
};

pub(crate) fn run(
    RunArgs { cases: args, format, bundle, .. }: &RunArgs,
) -> Result<ExitStatus, Failure> {
    let rows_of_bundle = bundle
        .as_deref()
        .map(|folder| CaseArgs { out: Some(folder.join(bundle::ROWS)), ..args.clone() });
    let args = rows_of_bundle.as_ref().unwrap_or(args);
    // All errors in the flags are reported before a file is opened or a case runs.
    refuse_appearance(&args.appearance)?;
    note_threads(args.threads);
    let all = complete(experiment(args)?, &args.plugins, args.memory_limit, args.quiet)?;
    let cases: Arc<[Case]> = shard_cases(&all, args.shard)?;
    for machine in all.machines_without_optimum().filter(|_| !args.quiet) {
        say!("remark: rows of machine `{machine}` get no optimum: {NO_LINKS}");
    }
    report_unused(args, &all);
    if args.resume && args.out.as_deref().is_none_or(output::is_stdout) {
        return Err(Failure::Usage("--resume continues a file: give it with --out".to_owned()));
    }
    protect_inputs(args, &all)?;
    let remarks = Remarks::default();
    if let Some(folder) = bundle {
        std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
    }
    let (mut rows, found) = place_for(args, *format, &cases, &all, &remarks)?;
    if let Some(folder) = bundle {
        bundle::keep_inputs(folder, &all, &registry_within(&args.plugins, args.memory_limit)?)?;
    }
    let kept = found.kept();
    let interrupted = interrupts();

    // The tally also counts the rows that earlier, interrupted runs have written.
    let mut tally = Tally::default();
    found.rows.iter().flatten().for_each(|record| tally.add(record));
    let open = cases.iter().zip(found.rows).filter(|(_, row)| row.is_none());
    let to_run: Arc<[Case]> = match kept {
        0 => Arc::clone(&cases),
        _ => open.map(|(case, _)| case.clone()).collect(),
    };
    let progress = Progress::new(cases.len(), &to_run, args.quiet);
    let mut course = Progression { progress, tally, rows: &mut rows, ended: 0, lines: 0 };
    // If the run is interrupted, its rows stay unsorted. A later run with `--resume` sorts them.
    let finished = course.follow(
        &to_run,
        &workers(
            args.jobs,
            args.memory_limit,
            plan_group::jobs(plan_groups(&*to_run)).len(),
            &args.plugins,
        )?,
        &interrupted,
    )?;
    let Progression { tally, progress, .. } = course;
    progress.finish();
    let unsorted = if finished { rows.sort(&cases)? } else { None };
    rows.print_table()?;
    if !args.quiet {
        let place = match &args.out {
            Some(path) if !output::is_stdout(path) => format!("; rows in {}", path.display()),
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
        (false, _) => INTERRUPTED,
        (true, 0) => SUCCESS,
        (true, _) => SOME_FAILED,
    })
}

/// Prints the entries of the experiment's lists that no case uses. `[[case]]` tables replace the
/// product of the lists, so the user may have left entries unused by mistake.
fn report_unused(args: &CaseArgs, all: &CaseGrid) {
    const MOST: usize = 4;
    let unused = all.unused();
    if args.quiet || unused.is_empty() {
        return;
    }
    let listed = unused.iter().take(MOST).map(|(kind, spec)| format!("{kind} `{spec}`"));
    let more = match unused.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more entries"),
    };
    say!(
        "remark: no case uses {}{more} of the lists, because only the combinations of `[[case]]` tables are run, without those of `exclude`",
        listed.collect::<Vec<_>>().join(", ")
    );
}

/// Opens the destination of rows, and returns the kept rows. `all` are the cases of all shards.
pub(crate) fn place_for(
    args: &CaseArgs,
    format: Option<RowFormat>,
    cases: &[Case],
    all: &CaseGrid,
    remarks: &Remarks,
) -> Result<(Rows, Found), Failure> {
    let is_printed = args.out.as_deref().is_none_or(output::is_stdout);
    match format {
        Some(format) if is_printed => Ok(Rows::printed(format, cases.len())),
        Some(RowFormat::Json) => {
            let why = "--format json is for standard output: omit --out; row files are CSV, which all other commands read";
            Err(Failure::Usage(why.to_owned()))
        }
        Some(RowFormat::Csv) | None => {
            Rows::open(args.out.as_deref(), before(args), cases, all, remarks, &mut reporter(args))
        }
    }
}

pub(crate) fn reporter(args: &CaseArgs) -> impl FnMut(String) {
    let quiet = args.quiet;
    move |line| {
        if !quiet {
            say!("{line}");
        }
    }
}

pub(crate) fn refuse_appearance(appearance: &AppearanceArgs) -> Result<(), Failure> {
    match appearance.theme.is_some() || appearance.ascii {
        true => {
            Err(Failure::Usage("--theme and --ascii are for the dashboard: add --tui".to_owned()))
        }
        false => Ok(()),
    }
}

pub(crate) fn print_remarks(remarks: &Remarks) {
    remarks
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
        .for_each(|remark| say!("{remark}"));
}

/// Errors if the file of rows is also the experiment file, a file that a spec names, or a plugin.
pub(crate) fn protect_inputs(args: &CaseArgs, all: &CaseGrid) -> Result<(), Failure> {
    let Some(out) = args.out.as_deref().filter(|out| !output::is_stdout(out)) else {
        return Ok(());
    };
    output::refuse_inputs(out, args.experiment.clone().into_iter().chain(input_files(all)))
}

pub(crate) fn input_files(all: &CaseGrid) -> BTreeSet<PathBuf> {
    let named = all.inputs().map(|input| Path::new(input.file.as_str())).chain(all.plugins());
    named.flat_map(of_pattern).collect()
}

pub(crate) fn input_files_of_case(case: &Case) -> impl Iterator<Item = &Path> {
    let named = case.inputs.iter().map(|input| Path::new(input.file.as_str()));
    named.chain([case.algorithm.algorithm.file.as_path()])
}

fn of_pattern(name: &Path) -> Vec<PathBuf> {
    name.to_str()
        .and_then(|name| file::files(name).ok())
        .unwrap_or_else(|| vec![name.to_path_buf()])
}

pub(crate) fn before(args: &CaseArgs) -> Before {
    match (args.resume, args.retry_failed) {
        (false, _) if args.force => Before::Drop,
        (false, _) => Before::Leave,
        (true, false) => Before::Keep,
        (true, true) => Before::KeepGood,
    }
}

/// Prints that `--threads` has no effect. The release after the next one will refuse it.
pub(crate) fn note_threads(threads: Option<u32>) {
    if threads.is_some() {
        say!(
            "note: --threads has no effect: each case runs on one thread, and --jobs sets how many cases run at a time"
        );
    }
}

/// Returns the settings of workers, of which at most `parts` can be busy at the same time.
pub(crate) fn workers(
    jobs: Option<u32>,
    memory_limit: Option<u64>,
    parts: usize,
    plugins: &PluginArgs,
) -> Result<Workers, Failure> {
    let kind = worker_kind(plugins)?;
    let jobs = jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        |jobs| jobs as usize,
    );
    let jobs = affordable_jobs(jobs, parts);
    let memory_limit = memory_limit.unwrap_or_else(|| default_memory(jobs.min(parts) as u64));
    Ok(Workers { kind, jobs, memory_limit })
}

fn worker_kind(plugins: &PluginArgs) -> Result<WorkerKind, Failure> {
    #[cfg(feature = "in-process")]
    if crate::streams::is_test() {
        return Ok(WorkerKind::Threads(crate::OBSERVERS));
    }
    is_sandboxed(plugins.no_sandbox);
    let command = child("worker", plugins)
        .map_err(|e| Failure::Output(format!("this program's own file: {e}")))?;
    Ok(WorkerKind::Processes(command))
}

/// Returns the number of jobs that is possible with the system's limit of open files. At most
/// `parts` jobs are busy.
fn affordable_jobs(jobs: usize, parts: usize) -> usize {
    /// The number of descriptors that this program itself needs.
    const OWN: u64 = 64;
    let Some(files) = limits::descriptors() else { return jobs };
    let most = (files.saturating_sub(OWN) / DESCRIPTORS_OF_A_JOB).max(1) as usize;
    if jobs.min(parts) <= most {
        return jobs;
    }
    say!(
        "note: {most} instead of {} jobs at a time, because this process may open only {files} files (`ulimit -n`)",
        jobs.min(parts)
    );
    most
}

pub(crate) fn child(command: &str, plugins: &PluginArgs) -> io::Result<Vec<PathBuf>> {
    let words = [std::env::current_exe()?, PathBuf::from(command)];
    let no_sandbox = plugins.no_sandbox || !system::has_sandbox();
    Ok(words.into_iter().chain(no_sandbox.then(|| NO_SANDBOX.into())).collect())
}

/// Returns whether plugins run in a sandbox. If the system has none, prints this once.
pub(crate) fn is_sandboxed(no_sandbox: bool) -> bool {
    static REPORTED: Once = Once::new();
    let has_sandbox = system::has_sandbox();
    if !no_sandbox && !has_sandbox {
        REPORTED.call_once(|| {
            say!(
                "note: this system has no sandbox: plugins run with all of your permissions ({NO_SANDBOX} hides this note)"
            );
        });
    }
    !no_sandbox && has_sandbox
}

/// Returns four fifths of the computer's memory divided by the number of jobs, but at least 1 GiB.
pub(crate) fn default_memory(jobs: u64) -> u64 {
    let bytes = system::total_memory().unwrap_or(u64::MAX);
    (bytes / 5 * 4 / jobs.max(1)).max(1 << 30)
}

pub(crate) fn no_worker_left(reason: &str, cases: usize) -> Failure {
    Failure::Output(format!(
        "no worker process could be started: {reason}; {} without a row (`run --resume` continues with them)",
        Count(cases as u64, "case")
    ))
}

const MOST_LINES: u64 = 1000;

/// Receives the events of workers, writes rows and updates the progress display.
struct Progression<'a> {
    progress: Progress,
    tally: Tally,
    rows: &'a mut Rows,
    ended: usize,
    lines: u64,
}

impl Progression<'_> {
    fn follow(
        &mut self,
        cases: &Arc<[Case]>,
        workers: &Workers,
        interrupted: &AtomicBool,
    ) -> Result<bool, Failure> {
        let batch = Batch::start(Arc::clone(cases), workers)
            .map_err(|e| Failure::Output(format!("no thread could be started: {e}")))?;
        let mut no_worker = None;
        while let Some(event) = batch.next_unless(interrupted) {
            match event {
                None => self.progress.tick(),
                Some(CaseEvent::Started { cases: numbers }) => {
                    let first = &cases[numbers.start];
                    self.progress.started(numbers, first);
                }
                Some(CaseEvent::Progress { case, steps, messages }) => {
                    self.progress.steps(case, steps, messages);
                }
                Some(CaseEvent::Log { line }) => self.log(&line),
                Some(CaseEvent::Observed { .. }) => {}
                Some(CaseEvent::NoWorker { reason }) => no_worker = Some(reason),
                Some(CaseEvent::Finished { case, record }) => {
                    self.tally.add(&record);
                    self.progress.finished(case, &cases[case], &record);
                    self.rows.push(case, record)?;
                    self.ended += 1;
                }
            }
        }
        self.rows.finish()?;
        self.log_rest();
        if let Some(reason) = no_worker {
            self.progress.finish();
            return Err(no_worker_left(&reason, cases.len() - self.ended));
        }
        if self.ended < cases.len() && !interrupted.load(Ordering::Relaxed) {
            // This happens if a thread of this program has panicked, after printing a message.
            return Err(Failure::Output(format!(
                "{} cases have no row: please report it",
                cases.len() - self.ended
            )));
        }
        Ok(self.ended == cases.len())
    }

    /// Prints a log line of a plugin. After [`MOST_LINES`] lines, others are only counted.
    fn log(&mut self, line: &str) {
        self.lines += 1;
        if self.lines <= MOST_LINES {
            self.progress.say(line);
        }
    }

    fn log_rest(&self) {
        if self.lines > MOST_LINES {
            self.progress
                .say(&format!("{} more lines from plugins are omitted", self.lines - MOST_LINES));
        }
    }
}

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
