//! The swapmeet program: turns a result into an exit status, and nothing else.

use clap::Parser;
use std::process::ExitCode;

mod args;
mod compare;
mod failure;
mod list;
mod reproduce;
mod run;
mod table;
mod trace;
mod tui;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Run(args) if args.tui => tui::watch(args),
        Command::Run(args) => run::run(args),
        Command::Tui(args) => tui::tui(args),
        Command::List(args) => list::list(args),
        Command::Trace(args) => trace::trace(args),
        Command::Compare(args) => compare::compare(args),
        Command::Reproduce(args) => reproduce::reproduce(args),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
