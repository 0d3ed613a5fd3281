//! The arguments of internal commands, which run plugins in child processes.

use super::PluginArgs;
use clap::{Args, Parser};
use std::path::PathBuf;

/// The commands of child processes. They are separate from the other commands, because defining the
/// arguments of all commands takes longer than most children run.
#[derive(Debug, Parser)]
#[command(name = "swapmeet")]
pub(crate) enum Internal {
    /// Run cases for the swapmeet process that started this one.
    Worker(WorkerArgs),
    /// Reproduce a paper's tables for the swapmeet process that started this one.
    ReproducePaper(ReproducePaperArgs),
    /// Describe a plugin file to the swapmeet process that started this one.
    DescribePlugins(DescribePluginsArgs),
    /// Answer one question about a plugin for `swapmeet check`, which starts this process.
    CheckQuestion(CheckQuestionArgs),
}

/// Arguments of `worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Limit of the address space, in bytes.
    #[arg(long)]
    pub memory_limit: u64,
    /// Run without the sandbox.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// Arguments of `describe-plugins`.
#[derive(Debug, Args)]
pub(crate) struct DescribePluginsArgs {
    /// The plugin file to describe.
    pub file: PathBuf,
    /// Limit of the address space, in bytes.
    #[arg(long)]
    pub memory_limit: u64,
    /// Also open the libraries in the directory of the file.
    #[arg(long)]
    pub libraries: bool,
    /// Run without the sandbox.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// Arguments of `reproduce-paper`.
#[derive(Debug, Args)]
pub(crate) struct ReproducePaperArgs {
    /// The name of the paper to reproduce.
    pub paper: String,
    /// Time limit of a schedule, in seconds.
    #[arg(long)]
    pub timeout: f64,
    /// Limit of the address space, in bytes.
    #[arg(long)]
    pub memory_limit: u64,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// Arguments of `check-question`, which `check` starts.
#[derive(Debug, Args)]
pub(crate) struct CheckQuestionArgs {
    /// The plugin file that answers the question.
    pub plugin: PathBuf,
    /// The question to the plugin, as JSON.
    pub question: String,
    /// Time limit of a schedule, in seconds.
    pub timeout: f64,
    /// Memory limit of this process, in bytes.
    pub memory: u64,
    /// Run without the sandbox.
    #[arg(long)]
    pub no_sandbox: bool,
}
