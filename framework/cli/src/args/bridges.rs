//! To and from other programs: `export`, `import`, `tune`.

use super::{Over, PluginArgs, ScheduleArgs, seconds};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use swapmeet_bridges::{export, import, tune};

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  swapmeet export --format goal --topology ring:8 --algorithm pairwise --workload uniform:1KiB --out pairwise.goal
  swapmeet export --format mpi --topology fully-connected:4 --algorithm bruck --workload uniform:1KiB --out bruck

Nothing is written of a schedule that is not verified. docs/bridges.md shows what to
do with each format.";

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  swapmeet import osu_alltoall.txt --topology torus:4x4 --name cluster --out measured.csv
  swapmeet import alltoall.json --name dgx --algorithm nccl --out measured.csv
  swapmeet compare predicted.csv measured.csv

Sizes become those of workloads: bytes of a pair, of a rank's block, of the whole
vector of a reduction. Several times of one size are repetitions of one case.";

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files by OSU, IMB, nccl-tests (text or JSON) or PICO.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What they are; by default what each looks like.
    #[arg(long, value_name = "FORMAT", value_parser = measurements())]
    pub format: Option<String>,
    /// What was measured on: the rows' machine is `measured:NAME`.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// The topology that rows are to be compared on [default: fully-connected, of the ranks].
    #[arg(long, value_name = "SPEC")]
    pub topology: Option<String>,
    /// How many ranks there were, where a file does not say and there is no --topology.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub ranks: Option<u64>,
    /// The algorithm that the rows are of [default: what the file names, else `library`].
    #[arg(long, value_name = "NAME")]
    pub algorithm: Option<String>,
    /// The collective, where a file does not say.
    #[arg(long, value_name = "WORD")]
    pub collective: Option<String>,
    /// The file of rows; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
}

pub(super) const TUNE_EXAMPLES: &str = "\
Examples:
  swapmeet tune sweep.csv --format openmpi --default pairwise --out rules.txt
  mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename rules.txt ..

Only algorithms that the library has are compared. Where the fastest changes between
two sizes of the sweep, the later one begins at its own size.";

pub(super) const FIT_EXAMPLES: &str = "\
Examples:
  swapmeet fit osu_latency.txt --name cluster --out cluster.toml
  swapmeet fit measured.csv --name cluster --residuals residuals.csv
  swapmeet fit measured.csv predicted.csv --name cluster

What is printed goes into an experiment file, whose machines then may name it. Rows of
`run --on` say how many steps and bytes they took; others need rows of the same cases
as predicted beside them.";

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Ping-pongs (OSU's latency test, Intel's PingPong, or `bytes,time_us`), or rows of what was
    /// measured.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What the machine is called.
    #[arg(long, value_name = "NAME", default_value = "fitted")]
    pub name: String,
    /// The measured machine whose rows count, where they are of several.
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// A file of what each time was, what the fit makes of it, and its weight.
    #[arg(long, value_name = "FILE")]
    pub residuals: Option<PathBuf>,
    /// The file of the machine; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
}

/// Where schedules are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// Here, or where mpirun takes them.
    Mpirun,
    /// In a job of Slurm, which is written.
    Slurm,
}

/// How `run` measures.
#[derive(Debug, Clone, Args)]
pub(crate) struct RealRanks {
    /// Carry schedules out on real ranks instead of pricing them, every byte verified. Needs MPI
    /// and its C compiler, mpicc.
    #[arg(long, value_name = "LAUNCHER", conflicts_with = "tui")]
    pub on: Option<On>,
    /// With --on, the command that starts ranks [default: mpirun -n {ranks}; for Slurm srun -n
    /// {ranks}].
    #[arg(long, value_name = "COMMAND", requires = "on")]
    pub launch: Option<String>,
    /// With --on, what is measured on: the rows' machine is `measured:NAME` [default: the host's
    /// name].
    #[arg(long, value_name = "NAME", requires = "on")]
    pub name: Option<String>,
    /// With --on, how often a schedule is carried out before it is timed [default: 2].
    #[arg(long, value_name = "N", requires = "on")]
    pub warmup: Option<u32>,
    /// With --on slurm, the job that is written; its schedules are put into a folder beside it.
    #[arg(long, value_name = "FILE", requires = "on")]
    pub script: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Rows: predicted or measured.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// For which library.
    #[arg(long, value_name = "LIBRARY", value_parser = libraries())]
    pub format: String,
    /// The machine whose rows count, where they are of several.
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// The topology whose rows count, where some number of nodes has several; can be given again.
    #[arg(long, value_name = "SPEC")]
    pub topology: Vec<String>,
    /// Say how much longer this algorithm would take everywhere than the table's.
    #[arg(long, value_name = "ALGORITHM")]
    pub default: Option<String>,
    /// The library's own table that is written into: MPICH's generic.json.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// The file; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// For whom.
    #[arg(long, value_name = "FORMAT", value_parser = schedules())]
    pub format: String,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Seconds that it may take [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// The file, or the folder where a format is several files; `-` is standard output.
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

fn measurements() -> PossibleValuesParser {
    words(import::FORMATS.iter().map(|format| (format.name, format.help)))
}

fn libraries() -> PossibleValuesParser {
    words(tune::LIBRARIES.iter().map(|library| (library.name, library.help)))
}

fn schedules() -> PossibleValuesParser {
    words(export::FORMATS.iter().map(|format| (format.name, format.help)).chain([export::JSON]))
}

/// Names with what each is, as values of a flag.
fn words(rows: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    rows.map(|(name, help)| PossibleValue::new(name).help(help)).into()
}
