//! Tab completion in shells. The definition of the command line gives the commands and flags. The
//! available topologies, algorithms, workloads and machines give the specs; these include the
//! algorithms of the user's own plugins.
//!
//! The completion script makes the shell call this program at each Tab.

use crate::args::{Cli, CompletionsArgs, PluginArgs};
use crate::failure::Failure;
use crate::{output, run};
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use std::process::ExitCode;
use swapmeet_core::cost::machine::presets;
use swapmeet_core::delivery::collective::ALL_TO_ALL;
use swapmeet_core::network::topology::families;
use swapmeet_runner::registry::OTHER_NAMES;
use swapmeet_workloads::generators;

/// The environment variable in which the completion script gives the name of the shell when it
/// requests completions.
const VARIABLE: &str = "COMPLETE";

/// If the shell requests completions, prints them and exits. Otherwise, does nothing.
pub(crate) fn answer() {
    CompleteEnv::with_factory(with_values).var(VARIABLE).complete();
}

/// Prints the completion script for a shell.
pub(crate) fn script(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let (name, mut script) = (args.shell.to_string(), Vec::new());
    let shells = Shells::builtins();
    let of_shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::Usage(format!("no completions for {name}")))?;
    let written =
        of_shell.write_registration(VARIABLE, "swapmeet", "swapmeet", "swapmeet", &mut script);
    written.map_err(|e| Failure::writing("the completion script", &e))?;
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the definition of the command line with completion candidates for the values of flags.
fn with_values() -> Command {
    Cli::command().mut_subcommands(|command| command.mut_args(with_candidates))
}

fn with_candidates(arg: Arg) -> Arg {
    let candidates: fn() -> Vec<CompletionCandidate> = match arg.get_id().as_str() {
        "topology" | "topologies" => topologies,
        "algorithm" | "algorithms" | "baseline" => algorithms,
        "workload" | "workloads" => workloads,
        "machine" | "machines" => machines,
        "paper" => papers,
        _ => return arg,
    };
    arg.add(ArgValueCandidates::new(candidates))
}

fn candidate(name: impl Into<String>, help: impl Into<String>) -> CompletionCandidate {
    CompletionCandidate::new(name.into()).help(Some(help.into().into()))
}

fn algorithms() -> Vec<CompletionCandidate> {
    let registry = run::registry(&PluginArgs::default());
    registry
        .iter()
        .flat_map(|registry| registry.algorithms())
        .map(|a| candidate(a.name.as_str(), a.title.as_str()))
        .chain(OTHER_NAMES.iter().map(|(other, name)| candidate(*other, format!("see {name}"))))
        .collect()
}

fn topologies() -> Vec<CompletionCandidate> {
    families()
        .iter()
        .map(|family| {
            candidate(format!("{}:", family.name), format!("{}: {}", family.syntax, family.help))
        })
        .collect()
}

fn workloads() -> Vec<CompletionCandidate> {
    generators(&ALL_TO_ALL)
        .map(|g| candidate(format!("{}:", g.name), format!("{}: {}", g.syntax, g.help)))
        .collect()
}

fn machines() -> Vec<CompletionCandidate> {
    presets().iter().map(|preset| candidate(preset.name, preset.title)).collect()
}

fn papers() -> Vec<CompletionCandidate> {
    swapmeet_reproduce::papers().iter().map(|paper| candidate(paper.name, paper.title)).collect()
}
