//! Experiments run in parts: the joining of the rows of shards, the processes that run cases.

use super::{Over, PluginArgs};
use clap::Args;
use std::path::PathBuf;

pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  swapmeet merge part-*.csv --out rows.csv
  swapmeet merge part-*.csv --experiment sweep.toml --out rows.csv

With the experiment, what is missing is known exactly; without it, the cross product of all that the rows name is expected.";

pub(super) fn memory(text: &str) -> Result<u64, String> {
    /// With less, not even the plugins can be loaded.
    const LEAST: u64 = 64 << 20;
    let bytes = swapmeet_core::spec::parse_size(text)?;
    if bytes >= LEAST { Ok(bytes) } else { Err("expected at least 64MiB".to_owned()) }
}

pub(super) const RERUN_EXAMPLES: &str = "\
Examples:
  swapmeet rerun rows.csv --row 3
  swapmeet rerun rows.csv --all

Rows are counted from 1, below the header. Figures are compared to the last digit;
only plan_ms and wall_ms may differ. Exit status: 0 if all rows are the same, else 1.";

#[derive(Debug, Args)]
pub(crate) struct RerunArgs {
    /// A result file.
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// Which row, from 1; may be given several times.
    #[arg(long = "row", value_name = "N", required_unless_present = "all")]
    pub rows: Vec<usize>,
    /// All rows.
    #[arg(long, conflicts_with = "rows")]
    pub all: bool,
    /// How many cases run at a time [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// No effect; kept for one release.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub threads: Option<u32>,
    /// Seconds that a case may take [default: 600].
    #[arg(long, value_name = "SECS", value_parser = super::seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Result files of one experiment.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Where all rows go; `-` is standard output.
    #[arg(long, value_name = "FILE.csv")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
    /// The experiment that the rows are of.
    #[arg(long, value_name = "EXPERIMENT.toml")]
    pub experiment: Option<PathBuf>,
    /// Write what there is even if cases are missing.
    #[arg(long)]
    pub partial: bool,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// What a worker is told.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The most memory it may map, in bytes.
    #[arg(long)]
    pub memory_limit: u64,
    /// Not confined.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// What the child that reads plugins is told.
#[derive(Debug, Args)]
pub(crate) struct DescribePluginsArgs {
    /// The plugin's file.
    pub file: PathBuf,
    /// Not confined.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// What the child that re-runs a paper's tables is told.
#[derive(Debug, Args)]
pub(crate) struct ReproducePaperArgs {
    /// The paper.
    pub paper: String,
    /// Seconds that a schedule may take.
    #[arg(long)]
    pub timeout: f64,
    /// The most memory it may map, in bytes.
    #[arg(long)]
    pub memory_limit: u64,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}
