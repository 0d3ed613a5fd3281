//! `swapmeet run`: from flags and files to rows.

use crate::args::{PluginArgs, RunArgs};
use crate::failure::{Failure, SOME_FAILED};
use crate::table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use swapmeet_results::{CsvSink, Record, Sink, SinkError, Status};
use swapmeet_runner::case::{self, Case};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::session;

/// Lists of specs from flags.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    /// Topologies.
    pub topologies: &'a [String],
    /// Algorithms.
    pub algorithms: &'a [String],
    /// Workloads.
    pub workloads: &'a [String],
    /// Machines.
    pub machines: &'a [String],
}

/// Runs an experiment.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let cases = complete(experiment(args)?, &args.plugins)?;

    let progress = Progress::new(cases.len() as u64, args.quiet);
    let mut seen = Seen { progress, tally: Tally::default(), rows: None, csv: None };
    match args.out.as_deref() {
        None => seen.rows = Some(Vec::new()),
        Some(path) if path == Path::new("-") => seen.csv = Some(CsvSink::new(Box::new(io::stdout()) as Box<dyn Write>)),
        Some(path) => {
            seen.csv = Some(CsvSink::new(Box::new(create(path)?) as Box<dyn Write>));
        }
    }
    let all_well = session::run(&cases, &mut seen).map_err(|SinkError::Io(e)| Failure::writing("writing rows", &e))?;
    seen.progress.bar.finish_and_clear();
    if let Some(rows) = &seen.rows {
        let text = table::results(rows);
        writeln!(io::stdout(), "{text}").map_err(|e| Failure::writing("standard output", &e))?;
    }
    if !args.quiet {
        let place = match &args.out {
            Some(path) if path != Path::new("-") => format!("; rows in {}", path.display()),
            _ => String::new(),
        };
        eprintln!("{}{place}", seen.tally);
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::from(SOME_FAILED) })
}

/// A file for rows.
pub fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

/// The experiment of a file and flags, as written.
pub fn experiment(args: &RunArgs) -> Result<Experiment, Failure> {
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
    Ok(experiment)
}

fn read(path: &Path) -> Result<Experiment, Failure> {
    let content = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
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

/// The cases of flags alone.
pub fn cases_of(lists: Lists<'_>, plugins: &PluginArgs) -> Result<Vec<Case>, Failure> {
    let mut experiment = Experiment::default();
    override_lists(&mut experiment, &lists);
    complete(experiment, plugins)
}

/// Fills in what was left out and looks everything up.
fn complete(mut experiment: Experiment, plugins: &PluginArgs) -> Result<Vec<Case>, Failure> {
    for (list, flag, example) in
        [(&experiment.topologies, "--topology", "torus:16x16"), (&experiment.algorithms, "--algorithm", "suh-shin")]
    {
        if list.is_empty() {
            return Err(Failure::Usage(format!(
                "nothing to run: give {flag} (such as `{flag} {example}`), or an experiment file that lists some"
            )));
        }
    }
    fill_in(&mut experiment);
    let registry = registry(plugins)?;
    Ok(case::cases(&experiment, &registry)?)
}

/// What is run where nothing else is asked for.
pub fn fill_in(experiment: &mut Experiment) {
    for (list, flag, default) in
        [(&mut experiment.workloads, "--workload", "uniform:1KiB"), (&mut experiment.machines, "--machine", "paragon")]
    {
        if list.is_empty() {
            list.push(Text::flag(flag, default));
        }
    }
}

/// The plugins there are.
pub fn registry(plugins: &PluginArgs) -> Result<Registry, Failure> {
    Registry::find(&plugins.plugin_dirs).map_err(|e| Failure::Usage(e.to_string()))
}

/// A bar on a terminal, nothing elsewhere: whoever reads a log wants the last line.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(cases: u64, quiet: bool) -> Self {
        let bar = ProgressBar::new(cases);
        if quiet || !io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} cases, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }
}

#[derive(Default)]
struct Tally {
    ok: u64,
    unsupported: u64,
    failed: u64,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cases = self.ok + self.unsupported + self.failed;
        write!(f, "{cases} case{}: {} verified", if cases == 1 { "" } else { "s" }, self.ok)?;
        if self.unsupported > 0 {
            write!(f, ", {} unsupported", self.unsupported)?;
        }
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        Ok(())
    }
}

/// Everyone who wants to see a row: the counter, the bar, and either the table or the CSV.
struct Seen {
    progress: Progress,
    tally: Tally,
    rows: Option<Vec<Record>>,
    csv: Option<CsvSink<Box<dyn Write>>>,
}

impl Sink for Seen {
    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        match record.status {
            Status::Ok => self.tally.ok += 1,
            Status::Unsupported => self.tally.unsupported += 1,
            _ => self.tally.failed += 1,
        }
        self.progress.bar.set_message(format!("{} on {}", record.algorithm, record.topology));
        self.progress.bar.inc(1);
        if let Some(rows) = &mut self.rows {
            rows.push(record.clone());
        }
        self.csv.as_mut().map_or(Ok(()), |csv| csv.record(record))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.csv.as_mut().map_or(Ok(()), Sink::finish)
    }
}
