use super::PluginArgs;
use clap::Args;
use std::path::PathBuf;

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
