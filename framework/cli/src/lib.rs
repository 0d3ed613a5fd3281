//! The program `swapmeet` as a library.

#![deny(clippy::print_stderr, clippy::print_stdout)]

use clap::{Parser, Subcommand};
use signal_hook::consts::SIGXFSZ;
use std::ffi::OsString;
#[cfg(feature = "in-process")]
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Once};
#[cfg(feature = "in-process")]
use swapmeet_runner::registry::{Registry, SharedNames};
use swapmeet_runner::step_record::RECORD;
use swapmeet_runner::worker::ObserverKind;
#[cfg(feature = "in-process")]
use swapmeet_runner::worker::{WorkerKind, Workers};

mod args;
mod bundle;
mod bundled;
mod check;
mod compare;
mod complete;
mod config;
mod describe;
mod explain;
mod export;
mod failure;
mod fit;
mod import;
mod links;
mod list;
mod manual;
mod merge;
mod new_plugin;
mod optimum;
mod output;
mod place;
mod plot;
mod ranking;
mod ranks;
mod report;
mod reproduce;
mod rerun;
mod result_files;
mod run;
mod say;
mod signals;
mod split;
mod streams;
mod table;
mod trace;
mod tui;
mod tune;

#[cfg(feature = "in-process")]
pub use streams::Captured;

use args::{Cli, Command, DescribePluginsArgs, Internal, WorkerArgs};
use failure::{BAD_INPUT, ExitStatus, Failure, SUCCESS};

const OBSERVERS: &[ObserverKind] = &[trace::TRACE, RECORD];

pub fn main() -> ExitCode {
    prepare();
    complete::answer();
    ExitCode::from(run_command(std::env::args_os()))
}

/// Runs a command in this process, as a test. `args` are the words after the name of the program.
/// The user's configuration files and plugin folders are ignored. Returns what the command prints
/// and its exit status. Only tests have the feature `in-process`, because the program never runs
/// plugins in the process that writes rows.
#[cfg(feature = "in-process")]
pub fn run<S: Into<OsString>>(args: impl IntoIterator<Item = S>) -> Captured {
    prepare();
    let words = std::iter::once("swapmeet".into()).chain(args.into_iter().map(Into::into));
    streams::capture(|| run_command(words))
}

/// Gives linked plugins the paths and digest of `program`, which must have the same code.
#[cfg(feature = "in-process")]
pub fn act_as(program: &Path) {
    swapmeet_runner::plugin::linked::act_as(program);
    prepare();
}

#[cfg(feature = "in-process")]
pub fn bundled_plugins() -> Registry {
    prepare();
    Registry::bundled(&[], SharedNames::Refused)
        .unwrap_or_else(|error| unreachable!("linked plugins: {error}"))
}

#[cfg(feature = "in-process")]
pub fn worker_in_thread() -> Workers {
    Workers { kind: WorkerKind::Threads(OBSERVERS), jobs: 1, memory_limit: u64::MAX }
}

fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        // SIGXFSZ has a handler, so that a write beyond the limit of the file size returns an error
        // instead of ending the process.
        drop(signal_hook::flag::register(SIGXFSZ, Arc::default()));
        swapmeet_runner::limits::raise_descriptors();
        swapmeet_runner::plugin::linked::offer(bundled::PLUGINS);
    });
}

fn run_command(words: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let words: Vec<OsString> = words.into_iter().collect();
    if words.get(1).and_then(|word| word.to_str()).is_some_and(Internal::has_subcommand) {
        return run_internal(words);
    }
    let words = match args::in_todays_form(words) {
        Ok(words) => words,
        Err(message) => return Failure::Usage(message).report(),
    };
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return without_command(&args::with_kinds_of_flag(error)),
    };
    let outcome = match &cli.command {
        Command::Run(args) if args.tui => tui::watch(args),
        Command::Run(args) => match args.real_ranks.on {
            Some(on) => ranks::run(args, on),
            None => run::run(args),
        },
        Command::Tui(args) => tui::tui(args),
        Command::List(args) => list::list(args),
        Command::Merge(args) => merge::merge(args),
        Command::Rerun(args) => rerun::rerun(args),
        Command::Trace(args) => trace::trace(args),
        Command::Optimum(args) => optimum::optimum(args),
        Command::Explain(args) => explain::explain(args),
        Command::Expect(args) => explain::expect(args),
        Command::Links(args) => links::links(args),
        Command::Place(args) => place::place(args),
        Command::Export(args) => export::export(args),
        Command::Import(args) => import::import(args),
        Command::Fit(args) => fit::fit(args),
        Command::Tune(args) => tune::tune(args),
        Command::Compare(args) => compare::compare(args),
        Command::Reproduce(args) => reproduce::reproduce(args),
        Command::Plot(args) => plot::plot(args),
        Command::Report(args) => report::report(args),
        Command::Completions(args) => complete::script(args),
        Command::Man(args) => manual::man(args),
        Command::Check(args) => check::check(args),
        Command::NewPlugin(args) => new_plugin::new_plugin(args),
        Command::Header => new_plugin::header(),
    };
    outcome.unwrap_or_else(Failure::report)
}

/// Runs an internal command, for which another command has started this process.
fn run_internal(words: Vec<OsString>) -> ExitStatus {
    let outcome = match Internal::try_parse_from(words) {
        Ok(Internal::Worker(args)) => worker(&args),
        Ok(Internal::DescribePlugins(args)) => describe_plugins(&args),
        Ok(Internal::ReproducePaper(args)) => reproduce::paper(&args),
        Ok(Internal::CheckQuestion(args)) => check::question(&args),
        Err(error) => return without_command(&error),
    };
    outcome.unwrap_or_else(Failure::report)
}

fn without_command(error: &clap::Error) -> ExitStatus {
    match streams::print_clap(error) {
        Ok(()) => u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT),
        Err(error) => Failure::printing(&error).report(),
    }
}

fn worker(args: &WorkerArgs) -> Result<ExitStatus, Failure> {
    swapmeet_runner::worker::serve(args.memory_limit, !args.no_sandbox, OBSERVERS)
        .map(|()| SUCCESS)
        .map_err(Failure::output)
}

fn describe_plugins(args: &DescribePluginsArgs) -> Result<ExitStatus, Failure> {
    swapmeet_runner::describe::serve(
        &args.file,
        args.memory_limit,
        !args.no_sandbox,
        args.libraries,
    )
    .map(|()| SUCCESS)
    .map_err(Failure::output)
}
