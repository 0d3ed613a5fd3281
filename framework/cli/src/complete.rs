//! Tab completion. The script of the shell calls this program, which can complete specs.

mod bash;
mod specs;

use crate::args::{Cli, CompletionsArgs};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::output;
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use specs::{
    algorithms, axes, machines, pairs_of_axes, properties, systems, topologies, workloads,
};

/// If this environment variable contains the name of a shell, completions are printed.
const VARIABLE: &str = "COMPLETE";

/// If a shell requests completions, prints them and exits. Otherwise, does nothing.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| with_values(Cli::command())).var(VARIABLE).complete();
}

pub(crate) fn script(args: &CompletionsArgs) -> Result<ExitStatus, Failure> {
    let (name, mut script) = (args.shell.to_string(), Vec::new());
    let shells = Shells::builtins();
    let of_shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::Usage(format!("no completions for {name}")))?;
    let written =
        of_shell.write_registration(VARIABLE, "swapmeet", "swapmeet", "swapmeet", &mut script);
    written.map_err(|e| Failure::writing("the completion script", &e))?;
    let script = String::from_utf8_lossy(&script);
    let script = if name == "bash" { bash::with_whole_words(&script) } else { script.into_owned() };
    output::print(&script)?;
    Ok(SUCCESS)
}

fn with_values(command: Command) -> Command {
    command.mut_args(with_candidates).mut_subcommands(with_values)
}

fn with_candidates(arg: Arg) -> Arg {
    let candidates: fn(&str) -> Vec<CompletionCandidate> = match arg.get_id().as_str() {
        "topology" | "topologies" => topologies,
        "algorithm" | "algorithms" | "baseline" => algorithms,
        "workload" | "workloads" => workloads,
        "machine" | "machines" => machines,
        "system" | "systems" => systems,
        "x" | "pivot" => axes,
        "axes" => pairs_of_axes,
        "by" => properties,
        "paper" => return arg.add(ArgValueCandidates::new(papers)),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |typed: &std::ffi::OsStr| {
        let typed = typed.to_string_lossy();
        let mut candidates = candidates(&typed);
        candidates.retain(|candidate| {
            candidate.get_value().to_string_lossy().starts_with(typed.as_ref())
        });
        candidates
    }))
}

fn candidate(name: impl Into<String>, help: impl Into<String>) -> CompletionCandidate {
    CompletionCandidate::new(name.into()).help(Some(help.into().into()))
}

fn papers() -> Vec<CompletionCandidate> {
    swapmeet_reproduce::papers().iter().map(|paper| candidate(paper.name, paper.title)).collect()
}
