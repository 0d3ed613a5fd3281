//! The program `swapmeet`: runs a command and converts its result to an exit status.

#![deny(clippy::print_stderr, clippy::print_stdout)]

use clap::Parser;
use signal_hook::consts::SIGXFSZ;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

mod args;
mod bundled;
mod check;
mod compare;
mod complete;
mod config;
mod describe;
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
mod plot;
mod ranks;
mod report;
mod reproduce;
mod rerun;
mod result_files;
mod run;
mod say;
mod signals;
mod table;
mod trace;
mod tui;
mod tune;

use args::{Cli, Command, DescribePluginsArgs, WorkerArgs};
use failure::{BAD_INPUT, Failure};

fn main() -> ExitCode {
    // Ignore the signal that the system sends when a file exceeds its size limit. Then the write
    // returns an error instead of ending the program.
    drop(signal_hook::flag::register(SIGXFSZ, Arc::default()));
    swapmeet_runner::limits::raise_descriptors();
    swapmeet_runner::plugin::linked::offer(bundled::PLUGINS);
    complete::answer();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return without_command(&error),
    };
    // Each subcommand has its own module. Hidden subcommands run only in child processes, which
    // other subcommands start.
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
        Command::Worker(args) => worker(args),
        Command::DescribePlugins(args) => describe_plugins(args),
        Command::Trace(args) => trace::trace(args),
        Command::Optimum(args) => optimum::optimum(args),
        Command::Links(args) => links::links(args),
        Command::Export(args) => export::export(args),
        Command::Import(args) => import::import(args),
        Command::Fit(args) => fit::fit(args),
        Command::Tune(args) => tune::tune(args),
        Command::Compare(args) => compare::compare(args),
        Command::Reproduce(args) => reproduce::reproduce(args),
        Command::ReproducePaper(args) => reproduce::paper(args),
        Command::Plot(args) => plot::plot(args),
        Command::Report(args) => report::report(args),
        Command::Completions(args) => complete::script(args),
        Command::Man(args) => manual::man(args),
        Command::Check(args) => check::check(args),
        Command::CheckQuestion(args) => check::question(args),
        Command::NewPlugin(args) => new_plugin::new_plugin(args),
        Command::Header => new_plugin::header(),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// Prints the requested help or version, or the error in the flags.
fn without_command(error: &clap::Error) -> ExitCode {
    match error.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT)),
        Err(error) => Failure::printing(&error).report(),
    }
}

/// Runs as a worker process, which executes jobs of the parent process.
fn worker(args: &WorkerArgs) -> Result<ExitCode, Failure> {
    swapmeet_runner::worker::serve(
        args.memory_limit,
        !args.no_sandbox,
        &[trace::WATCH, swapmeet_tui::WATCH, swapmeet_tui::FACTS],
    )
    .map(|()| ExitCode::SUCCESS)
    .map_err(Failure::output)
}

/// Reports the contents of a plugin file to the parent process.
fn describe_plugins(args: &DescribePluginsArgs) -> Result<ExitCode, Failure> {
    swapmeet_runner::describe::serve(&args.file, !args.no_sandbox)
        .map(|()| ExitCode::SUCCESS)
        .map_err(Failure::output)
}
