//! Arguments of the commands that run cases and print a ranking of their rows.

use super::{Overwrite, PluginArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RankingArgs {
    /// Run N cases at a time, each in its own process [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Write rows to FILE in addition to the ranking. With `-`, print rows instead of the ranking.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}
