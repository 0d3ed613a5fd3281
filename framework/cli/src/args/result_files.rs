use super::{Overwrite, PluginArgs};
use clap::Args;
use std::path::PathBuf;

pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  swapmeet merge part-*.csv --out rows.csv
  swapmeet merge part-*.csv --experiment sweep.toml --out rows.csv

With --experiment, the expected cases are those of the experiment. Otherwise,
they are all combinations of the topologies, algorithms, workloads, machines and
repetitions in the rows.";

pub(super) const RERUN_EXAMPLES: &str = "\
Examples:
  swapmeet rerun rows.csv --row 3
  swapmeet rerun rows.csv --all

Rows are counted from 1, below the header. All columns except plan_ms and
wall_ms must be identical, and input files must be unchanged. If the folder of
the file has a folder `inputs` (see `run --bundle`), its files are used.

Exit status: 0 if all rows are identical, otherwise 1.";

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["rows", "all"])))]
pub(crate) struct RerunArgs {
    /// Read rows from this result file.
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// Rerun row N, counted from 1. Can be repeated.
    #[arg(long = "row", value_name = "N")]
    pub rows: Vec<usize>,
    /// Rerun all rows.
    #[arg(long)]
    pub all: bool,
    /// Run N cases at a time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Has no effect and will be removed.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub threads: Option<u32>,
    /// Stop a case after SECS seconds [default: 600].
    #[arg(long, value_name = "SECS", value_parser = super::seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Join these result files of one experiment.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Write all rows to this file (`-` for standard output).
    #[arg(long, value_name = "FILE.csv")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Read the expected cases from an experiment file.
    #[arg(long, value_name = "EXPERIMENT.toml")]
    pub experiment: Option<PathBuf>,
    /// Write the rows even if cases are missing.
    #[arg(long)]
    pub partial: bool,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}
