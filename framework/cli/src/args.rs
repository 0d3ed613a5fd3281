//! The command line: one definition feeds the parser and the help.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A workbench for collective-communication algorithms: drop in an algorithm as a plugin, pick a topology, a workload and a machine,
/// and see it proved correct, priced and compared.
#[derive(Debug, Parser)]
#[command(name = "swapmeet", version, help_expected = true, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  swapmeet run --topology torus:16x16 --algorithm suh-shin --algorithm pex
  swapmeet run workloads/experiments/quick-start.toml --out rows.csv
  swapmeet compare rows.csv --baseline pex
  swapmeet trace --topology torus:8x8 --algorithm suh-shin
  swapmeet list algorithms

Exit status: 0 if every case ran or was plainly unsupported, 1 if some case was invalid, crashed, timed out or failed,
2 for bad usage or bad input.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run cases: verify each schedule, price it, write a row.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Join the rows of shards, none lost or doubled.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Run cases for another swapmeet, which started this one.
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// List what there is: algorithms, topologies, workloads, machines, plugins.
    List(ListArgs),
    /// Print a schedule step by step.
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(TraceArgs),
    /// Compare algorithms over the rows of one or more result files, with their uncertainty.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Re-run the tables of the papers and say cell by cell what agrees.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  swapmeet run --topology torus:16x16 --algorithm suh-shin --algorithm gen --workload uniform:64
  swapmeet run --topology mesh:16x32 --algorithm pex --machine delta --machine delta:startup_us=50 --out -
  swapmeet run workloads/experiments/quick-start.toml --machine paragon --out rows.csv

Cases are the cross product of all lists. Flags given with a file override the file's list of that kind.
Without --out a table is printed; with it, rows are written as CSV as each case ends (`-` is standard output).";

const MERGE_EXAMPLES: &str = "\
Examples:
  swapmeet merge part-*.csv --out rows.csv
  swapmeet merge part-*.csv --experiment sweep.toml --out rows.csv

With the experiment, what is missing is known exactly; without it, the cross product of all that the rows name is expected.";

const TRACE_EXAMPLES: &str = "\
Examples:
  swapmeet trace --topology torus:8x8 --algorithm suh-shin
  swapmeet trace --topology mesh:2x4 --algorithm pex --summary";

const COMPARE_EXAMPLES: &str = "\
Examples:
  swapmeet compare rows.csv
  swapmeet compare monday.csv tuesday.csv --baseline pex --format markdown

Rows that differ only in the algorithm are compared; repetitions of a case are a sample. With one row an algorithm, ratios are all there is.";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  swapmeet reproduce                        every paper, to the terminal
  swapmeet reproduce thakur                 one paper
  swapmeet reproduce --out results/reproduced";

/// Where plugins are looked for.
#[derive(Debug, Args)]
pub struct PluginArgs {
    /// A folder of plugins, or a plugin's file; searched first, may be given several times.
    ///
    /// Then come the folders of SWAPMEET_PLUGIN_PATH, the user's data folder (~/.local/share/swapmeet/plugins) and the program's own.
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub plugin_dirs: Vec<PathBuf>,
}

/// What `run` takes.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// An experiment file (TOML).
    #[arg(value_name = "EXPERIMENT.toml")]
    pub experiment: Option<PathBuf>,
    /// A topology, such as torus:16x16, mesh:6x8, hypercube:7.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// An algorithm, such as suh-shin; see `swapmeet list algorithms`.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// A workload, such as uniform:64 (bytes a pair of nodes) [default: uniform:1KiB].
    #[arg(long = "workload", value_name = "SPEC")]
    pub workloads: Vec<String>,
    /// A machine, such as paragon or paragon:startup_us=220 [default: paragon].
    #[arg(long = "machine", value_name = "SPEC")]
    pub machines: Vec<String>,
    /// The seed of the first repetition; repetition r has seed + r [default: 42].
    #[arg(long)]
    pub seed: Option<u64>,
    /// How often each case is run [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: Option<u32>,
    /// Where rows go as CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Seconds that a case may take.
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Take up a run that was stopped: keep the rows that --out holds, run the other cases.
    #[arg(long)]
    pub resume: bool,
    /// How many cases run at a time, each in a process of its own [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Run only the cases of part I of N, such as 2/8; `auto` takes both from Slurm's array job.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// The most memory that a case may map, such as 2GiB [default: four fifths of the machine's, over the jobs].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory_limit: Option<u64>,
    /// Run in this process, one case after another: for profiling. A plugin that crashes then ends everything.
    #[arg(long)]
    pub in_process: bool,
    /// No progress and no summary.
    #[arg(long)]
    pub quiet: bool,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// Which part of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shard {
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
    pub fn resolve(self) -> Result<(usize, usize), String> {
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
        let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(0);
        match id.checked_sub(first) {
            Some(index) if index < count => Ok((index, count)),
            _ => Err(format!(
                "--shard auto: task {id} of {count} that begin with {first}: an array must number its tasks one by one, as in --array=0-7"
            )),
        }
    }
}

fn memory(text: &str) -> Result<u64, String> {
    /// With less, not even the plugins can be loaded.
    const LEAST: u64 = 64 << 20;
    let bytes = swapmeet_core::spec::parse_size(text)?;
    if bytes >= LEAST { Ok(bytes) } else { Err("expected at least 64MiB".to_owned()) }
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|s| s.is_finite() && *s > 0.0 && *s < 1e9)
        .ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

/// What `merge` takes.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Result files of one experiment.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Where all rows go.
    #[arg(long, value_name = "FILE.csv")]
    pub out: PathBuf,
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
pub struct WorkerArgs {
    /// The most memory it may map, in bytes.
    #[arg(long)]
    pub memory_limit: u64,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Algorithms, with what they accept.
    Algorithms,
    /// Families of topologies.
    Topologies,
    /// Workload generators.
    Workloads,
    /// Machine presets, with each figure's source.
    Machines,
    /// Plugin files found, and what was passed over.
    Plugins,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Table,
    /// Comma-separated.
    Csv,
    /// JSON.
    Json,
}

/// What `list` takes.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list; everything if not given.
    pub kind: Option<Kind>,
    /// How to print it.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// What `trace` takes.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// The topology.
    #[arg(long, value_name = "SPEC")]
    pub topology: String,
    /// The algorithm.
    #[arg(long, value_name = "SPEC")]
    pub algorithm: String,
    /// The workload.
    #[arg(long, value_name = "SPEC", default_value = "uniform:1")]
    pub workload: String,
    /// Only a line a step, without its messages.
    #[arg(long)]
    pub summary: bool,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For reading.
    Table,
    /// Comma-separated.
    Csv,
    /// JSON.
    Json,
    /// Markdown tables.
    Markdown,
}

/// What `compare` takes.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Result files.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// The algorithm that others are compared with; the fastest of each group if not given, which flatters it a little where times vary.
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
    /// How to print it.
    #[arg(long, default_value = "table")]
    pub format: CompareFormat,
}

/// What `reproduce` takes.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Which paper; every one if not given.
    pub paper: Option<String>,
    /// A folder for a table a paper, as CSV and as Markdown; the terminal if not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}
