//! `swapmeet run`: runs the cases of flags and files and writes rows.

use crate::args::{CaseArgs, Looks, PluginArgs, ProofArg, RowFormat, RunArgs, Shard};
use crate::failure::{Failure, INTERRUPTED, SOME_FAILED};
use crate::say::say;
use crate::{config, output, table};
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
use swapmeet_core::simulation::ProofScope;
use swapmeet_results::{Record, Status};
use swapmeet_runner::batch::{Batch, BatchEvent, ReorderBuffer};
use swapmeet_runner::case::{Case, Product};
use swapmeet_runner::describe::PluginReader;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::{Origin, Registry};
use swapmeet_runner::sandbox::NO_SANDBOX;
use swapmeet_runner::unit::{self, units};
use swapmeet_runner::worker::Workers;
use swapmeet_workloads::file::{self, read_bounded};

mod progress;
pub(crate) mod row_file;
pub(crate) mod rows;

/// Lists of specs from flags.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub topologies: &'a [String],
    pub algorithms: &'a [String],
    pub workloads: &'a [String],
    pub machines: &'a [String],
}

pub(crate) fn run(RunArgs { cases: args, format, .. }: &RunArgs) -> Result<ExitCode, Failure> {
    no_looks(&args.looks)?;
    note_threads(args.threads);
    let all = complete(experiment(args)?, &args.plugins)?;
    let cases = part(&all, args.shard)?;
    if args.resume && args.out.as_deref().is_none_or(|out| out == Path::new("-")) {
        return Err(Failure::Usage("--resume continues a file: give it with --out".to_owned()));
    }
    leave_what_is_read(args, &all)?;
    let remarks = Remarks::default();
    let (mut rows, found) = place_for(args, *format, &cases, &all, &remarks)?;
    let kept = found.kept();
    let interrupted = interrupts();

    let mut tally = Tally::default();
    found.rows.iter().flatten().for_each(|record| tally.add(record));
    let open: Vec<usize> = (0..cases.len()).filter(|i| found.rows[*i].is_none()).collect();
    let to_run: Vec<Case> = open.iter().map(|i| cases[*i].clone()).collect();
    let progress = Progress::new(cases.len(), &to_run, args.quiet);
    let mut course = Course {
        progress,
        tally,
        rows: &mut rows,
        ordered: ReorderBuffer::default(),
        ended: 0,
        lines: 0,
        in_order: found.in_order,
    };
    let finished = course.follow(
        &to_run,
        &workers(args.jobs, args.memory_limit, units(&to_run).len(), &args.plugins)?,
        &interrupted,
    )?;
    let Course { tally, progress, in_order, .. } = course;
    rows.finish()?;
    progress.finish();
    let unsorted = if finished { rows.settle(&cases, in_order)? } else { None };
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
    say_remarks(&remarks);
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
pub(crate) fn no_looks(looks: &Looks) -> Result<(), Failure> {
    match looks.theme.is_some() || looks.ascii {
        true => {
            Err(Failure::Usage("--theme and --ascii are for the dashboard: add --tui".to_owned()))
        }
        false => Ok(()),
    }
}

/// Prints the remarks on the row file.
pub(crate) fn say_remarks(remarks: &Remarks) {
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
pub(crate) fn leave_what_is_read(args: &CaseArgs, all: &Product) -> Result<(), Failure> {
    let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) else { return Ok(()) };
    output::none_of(out, args.experiment.clone().into_iter().chain(read_for_all(all)))
}

/// Returns the files that an experiment's specs name, and its plugins.
pub(crate) fn read_for_all(all: &Product) -> BTreeSet<PathBuf> {
    let named = all.inputs().map(|input| Path::new(input.file.as_str())).chain(all.plugins());
    named.flat_map(of_pattern).collect()
}

/// Returns the files that a case's specs name, and its plugin.
pub(crate) fn read_for(case: &Case) -> impl Iterator<Item = &Path> {
    let named = case.inputs.iter().map(|input| Path::new(input.file.as_str()));
    named.chain([case.algorithm.algorithm.file.as_path()])
}

/// Returns the files that match a name or pattern; none if they no longer exist.
fn of_pattern(name: &Path) -> Vec<PathBuf> {
    name.to_str()
        .and_then(|name| file::files(name).ok())
        .unwrap_or_else(|| vec![name.to_path_buf()])
}

/// Returns the treatment of existing rows that the flags request.
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

/// Returns the configuration of workers. At most `parts` of them have work at the same time.
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

/// The maximum number of lines from plugins that a run prints.
const MOST_LINES: u64 = 1000;

/// A running experiment, which turns events into rows and progress.
struct Course<'a> {
    progress: Progress,
    tally: Tally,
    rows: &'a mut Rows,
    ordered: ReorderBuffer,
    /// The number of ended cases.
    ended: usize,
    /// The number of lines from plugins.
    lines: u64,
    /// Whether the rows of a file that can be sorted later are already in the order of cases.
    in_order: bool,
}

impl Course<'_> {
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
                        // Write the row at once, so that it is not lost if an earlier case fails.
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
        // Also write the rows that were waiting for an earlier case at an interrupt.
        for row in std::mem::take(&mut self.ordered).left() {
            self.rows.push(row)?;
        }
        self.log_rest();
        if self.ended < cases.len() && !stopping {
            // A thread of this program has panicked and printed a message.
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

/// Returns the cases of a shard; all cases without one. Cases of other shards are not kept, so each
/// of a thousand shards holds a thousandth.
pub(crate) fn part(all: &Product, shard: Option<Shard>) -> Result<Vec<Case>, Failure> {
    let Some(shard) = shard else { return Ok(all.iter().collect()) };
    let (index, count) = shard.resolve().map_err(Failure::Usage)?;
    Ok(unit::shard(units(all.iter()), index, count)
        .into_iter()
        .map(|number| all.case(number))
        .collect())
}

/// Returns the experiment of a file and flags, before lookup.
pub(crate) fn experiment(args: &CaseArgs) -> Result<Experiment, Failure> {
    let mut experiment = match &args.experiment {
        Some(path) => read(path)?,
        None => Experiment::default(),
    };
    let lists = Lists {
        topologies: &args.topologies,
        algorithms: &args.algorithms,
        workloads: &args.workloads,
        machines: &args.machines,
    };
    override_lists(&mut experiment, &lists);
    experiment.seed = args.seed.unwrap_or(experiment.seed);
    experiment.repetitions = args.repetitions.unwrap_or(experiment.repetitions);
    experiment.timeout_secs = args.timeout.or(experiment.timeout_secs);
    experiment.proof_scope = match args.proof {
        ProofArg::Auto => ProofScope::Auto,
        ProofArg::Full => ProofScope::Full,
    };
    for text in experiment.workloads.iter().filter(|_| !args.quiet) {
        if let Some((last, end)) = swapmeet_workloads::unreached_end(&text.value) {
            say!("remark: workload `{}`: the last size is {last}, not {end}", text.value);
        }
    }
    Ok(experiment)
}

fn read(path: &Path) -> Result<Experiment, Failure> {
    /// Maximum bytes of an experiment file. It has room for the specs of more cases than are
    /// allowed.
    const LONGEST: u64 = 16 << 20;
    // Read the file only once, so that it may be a pipe.
    let content = read_bounded(path, LONGEST, "an experiment")
        .map_err(|what| Failure::Usage(format!("{}: {what}", path.display())))?;
    Ok(Experiment::parse(&path.display().to_string(), &content)?)
}

fn override_lists(experiment: &mut Experiment, lists: &Lists<'_>) {
    for (flag, given, list) in [
        ("--topology", lists.topologies, &mut experiment.topologies),
        ("--algorithm", lists.algorithms, &mut experiment.algorithms),
        ("--workload", lists.workloads, &mut experiment.workloads),
        ("--machine", lists.machines, &mut experiment.machines),
    ] {
        if !given.is_empty() {
            *list = given.iter().map(|value| Text::flag(flag, value)).collect();
        }
    }
}

/// Returns the cases given by flags alone.
pub(crate) fn cases_of(
    lists: Lists<'_>,
    seed: u64,
    timeout: Option<f64>,
    plugins: &PluginArgs,
) -> Result<Vec<Case>, Failure> {
    let mut experiment = Experiment { seed, timeout_secs: timeout, ..Experiment::default() };
    override_lists(&mut experiment, &lists);
    Ok(complete(experiment, plugins)?.iter().collect())
}

/// Returns the cases of an experiment file.
pub(crate) fn cases_in(path: &Path, plugins: &PluginArgs) -> Result<Product, Failure> {
    complete(read(path)?, plugins)
}

/// Adds defaults to an experiment and looks up all specs.
pub(crate) fn complete(
    mut experiment: Experiment,
    plugins: &PluginArgs,
) -> Result<Product, Failure> {
    for (list, flag, example) in [
        (&experiment.topologies, "--topology", "torus:16x16"),
        (&experiment.algorithms, "--algorithm", "suh-shin"),
    ] {
        if list.is_empty() {
            return Err(Failure::Usage(format!(
                "nothing to run: give {flag} (such as `{flag} {example}`), or an experiment file that lists some"
            )));
        }
    }
    fill_in(&mut experiment)?;
    let registry = registry(plugins)?;
    Ok(Product::of(&experiment, &registry)?)
}

/// Adds the default workload and machine.
pub(crate) fn fill_in(experiment: &mut Experiment) -> Result<(), Failure> {
    if experiment.workloads.is_empty() {
        experiment.workloads.push(Text::flag("--workload", "uniform:1KiB"));
    }
    if experiment.machines.is_empty() {
        let own = config::read()?.machine;
        experiment.machines.push(own.unwrap_or_else(|| Text::flag("--machine", "paragon")));
    }
    Ok(())
}

/// Returns the available plugins.
pub(crate) fn registry(plugins: &PluginArgs) -> Result<Registry, Failure> {
    let reader =
        child("describe-plugins", plugins).map_or(PluginReader::InProcess, PluginReader::Child);
    Registry::find(&plugin_dirs(plugins)?, &reader).map_err(|e| Failure::Usage(e.to_string()))
}

/// Returns the plugin folders from the command line and the configuration.
pub(crate) fn plugin_dirs(plugins: &PluginArgs) -> Result<Vec<PathBuf>, Failure> {
    Ok([&plugins.plugin_dirs[..], &config::read()?.plugin_dirs].concat())
}

/// Returns the bundled plugin that has an algorithm of this name.
pub(crate) fn bundled_owner(name: &str) -> Option<String> {
    let registry = registry(&PluginArgs::default()).ok()?;
    let mut own = registry
        .origins()
        .filter(|(_, origin)| *origin == Origin::Program)
        .map(|(plugin, _)| plugin);
    own.find(|plugin| plugin.algorithms.iter().any(|a| a.name == name))
        .map(|plugin| plugin.name.clone())
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
