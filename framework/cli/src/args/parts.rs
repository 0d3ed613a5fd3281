//! Experiments run in parts: shards, the joining of their rows, the processes that run cases.

use super::{Over, PluginArgs};
use clap::Args;
use std::path::PathBuf;

pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  swapmeet merge part-*.csv --out rows.csv
  swapmeet merge part-*.csv --experiment sweep.toml --out rows.csv

With the experiment, what is missing is known exactly; without it, the cross product of all that the rows name is expected.";

/// Which part of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shard {
    /// The part of this number, from 1, of so many.
    Part(usize, usize),
    /// What Slurm says.
    Auto,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((i, n)) if (1..=n).contains(&i) => Ok(Self::Part(i, n)),
            _ => Err("expected I/N with I from 1 to N, such as 2/8, or auto".to_owned()),
        }
    }
}

impl Shard {
    /// Which part, from 0, of how many.
    pub(crate) fn resolve(self) -> Result<(usize, usize), String> {
        let Self::Auto = self else {
            let Self::Part(i, n) = self else { return Err(String::new()) };
            return Ok((i - 1, n));
        };
        let number = |name: &str| {
            let text = std::env::var(name)
                .map_err(|_| format!("--shard auto: {name} is not set: this is no array job of Slurm's"))?;
            text.parse::<usize>().map_err(|_| format!("--shard auto: {name} is `{text}`, expected a whole number"))
        };
        let (id, count) = (number("SLURM_ARRAY_TASK_ID")?, number("SLURM_ARRAY_TASK_COUNT")?);
        // A Slurm that doesn't say has no holes.
        let said = |name: &str| std::env::var_os(name).map(|_| number(name)).transpose();
        let first = said("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
        let step = said("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1);
        let whole = match said("SLURM_ARRAY_TASK_MAX")? {
            Some(last) => last.checked_sub(first).and_then(|span| span.checked_add(1)) == Some(count),
            None => true,
        };
        match id.checked_sub(first) {
            Some(index) if index < count && whole && step == 1 => Ok((index, count)),
            _ => Err(format!(
                "--shard auto: task {id} of {count} that begin with {first}: an array must number its tasks one by one, as in --array=0-7"
            )),
        }
    }
}

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

/// What `rerun` takes.
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
    /// Seconds that a case may take [default: 600].
    #[arg(long, value_name = "SECS", value_parser = super::seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// What `merge` takes.
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
