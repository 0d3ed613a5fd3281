use super::{Overwrite, PluginArgs, ScheduleArgs, seconds};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use swapmeet_bridges::{export, import, tune};

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  swapmeet export --format goal --topology ring:8 --algorithm pairwise \\
    --workload uniform:1KiB --out pairwise.goal
  swapmeet export --format mpi --topology fully-connected:4 \\
    --algorithm bruck --workload uniform:1KiB --out bruck

Only verified schedules are written. docs/bridges.md explains the formats.";

pub(super) const EXPORT_USAGE: &str = "\
swapmeet export [OPTIONS] --format <FORMAT> --topology <SPEC>
                       --algorithm <SPEC>";

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  swapmeet import osu_alltoall.txt --topology torus:4x4 --name cluster \\
    --out measured.csv
  swapmeet import alltoall.json --name dgx --algorithm nccl --out measured.csv
  swapmeet import aggregated_results_summary.csv --name fugaku --counterparts
  swapmeet compare predicted.csv measured.csv

Benchmarks define message sizes in different ways. Sizes are converted to those
of Swapmeet's workloads: the bytes of the whole vector for broadcast, reduce and
allreduce, otherwise the bytes of a block (see docs/bridges.md). If a file has
more than one time for the same size, these times become repetitions.";

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Read measurements of OSU, IMB, nccl-tests (text or JSON) or PICO.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Set the format of the files [default: detected per file].
    #[arg(long, value_name = "FORMAT", value_parser = measurements())]
    pub format: Option<String>,
    /// Record the machine as `measured:NAME`.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Record this topology, for comparison with other rows [default: the one named in the file,
    /// otherwise fully-connected].
    #[arg(long, value_name = "SPEC")]
    pub topology: Option<String>,
    /// Set the number of ranks if neither the file nor --topology gives it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub ranks: Option<u64>,
    /// Record communicators over these axes of the mesh, or over size:K [default: the groups in the
    /// file, if each has consecutive ranks].
    #[arg(long = "over", value_name = "AXES")]
    pub axes: Option<String>,
    /// Name the digits of rank numbers for --over, as in node:-1/gpu:8.
    #[arg(long, value_name = "MESH", requires = "axes")]
    pub mesh: Option<String>,
    /// Record this algorithm [default: the one named in the file, otherwise `library`].
    #[arg(long, value_name = "NAME")]
    pub algorithm: Option<String>,
    /// Replace the library's name of an algorithm by the algorithm of this project that sends the
    /// same messages, and omit measurements without such a counterpart. Counterparts are known for
    /// PICO's results on Fugaku and LUMI.
    #[arg(long, conflicts_with = "algorithm")]
    pub counterparts: bool,
    /// For each case in a file, write one row with the median of its times.
    #[arg(long)]
    pub medians: bool,
    /// Set the collective if the file does not name it.
    #[arg(long, value_name = "WORD")]
    pub collective: Option<String>,
    /// Write rows to FILE (`-` for standard output).
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
}

pub(super) const TUNE_EXAMPLES: &str = "\
Examples:
  swapmeet tune sweep.csv --format openmpi --default pairwise --out rules.txt
  mpirun --mca coll_tuned_use_dynamic_rules 1 \\
    --mca coll_tuned_dynamic_rules_filename rules.txt ...

Only algorithms of the library are compared. If the fastest algorithm changes
between two sizes of the sweep, the rule changes at the larger size.";

pub(super) const FIT_EXAMPLES: &str = "\
Examples:
  swapmeet fit osu_latency.txt --name cluster --out cluster.toml
  swapmeet fit measured.csv --name cluster --residuals residuals.csv
  swapmeet fit measured.csv predicted.csv --name cluster
  swapmeet fit nccl-tests.log --system h100-ib:2x8 --collective allreduce

The output is a [machine.NAME] table for an experiment file. A fit needs the
steps and bytes of each measured case. Rows of `run --on` contain them. For
other measured rows, also give predicted rows of the same cases: the fit takes
the steps and bytes from these.

With --system, the files are logs of nccl-tests, and the output is the spec of
a system: floor_us is the mean time of up to 4 KiB, and fabric_factor is the
one with the smallest error of all times.";

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Read ping-pong times (OSU latency, IMB PingPong, or CSV with `bytes,time_us`) or measured
    /// rows.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Set the name of the machine.
    #[arg(long, value_name = "NAME", default_value = "fitted")]
    pub name: String,
    /// Use only rows of this measured machine.
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// Fit a system (see `swapmeet list systems`) to logs of nccl-tests.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["machine", "residuals", "name"])]
    pub system: Option<String>,
    /// Set the collective of logs that do not name it.
    #[arg(long, value_name = "WORD", requires = "system")]
    pub collective: Option<String>,
    /// Write the measured times, with their fitted values and weights, to FILE.
    #[arg(long, value_name = "FILE")]
    pub residuals: Option<PathBuf>,
    /// Write the machine to FILE (`-` for standard output).
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// The launcher that executes schedules on real ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// Run now, on the hosts on which mpirun starts the ranks.
    Mpirun,
    /// Write a Slurm job script (see --script).
    Slurm,
}

/// The options of `run` for measurements on real ranks.
#[derive(Debug, Clone, Args)]
pub(crate) struct RealRanks {
    /// Execute schedules on real MPI ranks and measure them instead of modelling their time; verify
    /// every byte received. Requires MPI and mpicc.
    #[arg(long, value_name = "LAUNCHER", conflicts_with = "tui")]
    pub on: Option<On>,
    /// With --on, start ranks with COMMAND [default: mpirun -n {ranks}; for slurm: srun -n
    /// {ranks}].
    #[arg(long, value_name = "COMMAND", requires = "on")]
    pub launch: Option<String>,
    /// With --on, record the machine as `measured:NAME` [default: host name].
    #[arg(long, value_name = "NAME", requires = "on")]
    pub name: Option<String>,
    /// With --on, execute each schedule N times before timing it [default: 2].
    #[arg(long, value_name = "N", requires = "on")]
    pub warmup: Option<u32>,
    /// With --on slurm, write the job script to FILE and the schedules to a directory next to it.
    #[arg(long, value_name = "FILE", requires = "on")]
    pub script: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Read predicted or measured rows.
    #[arg(value_name = "FILE", required_unless_present = "system")]
    pub files: Vec<PathBuf>,
    /// Use only rows of this system (see `swapmeet list systems`), so that NCCL's rules name trees,
    /// NVLS and protocols. Without FILE, the rows are calculated.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["machine", "topology"])]
    pub system: Option<String>,
    /// Calculate rows of these sizes, which are those of nccl-tests [default: 8..16GiB].
    #[arg(long, value_name = "RANGE", requires = "system", conflicts_with = "files")]
    pub sizes: Option<String>,
    /// Select the library.
    #[arg(long, value_name = "LIBRARY", value_parser = libraries())]
    pub format: String,
    /// Use only rows of this machine.
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// Use only rows of this topology. Required if several topologies have the same number of
    /// nodes. Can be repeated.
    #[arg(long, value_name = "SPEC")]
    pub topology: Vec<String>,
    /// Also print how much time is lost if ALGORITHM is used for all sizes.
    #[arg(long, value_name = "ALGORITHM")]
    pub default: Option<String>,
    /// Insert the rules into the library's own table in FILE, which is MPICH's generic.json.
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// Write the table to FILE (`-` for standard output).
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Select the format.
    #[arg(long, value_name = "FORMAT", value_parser = schedules())]
    pub format: String,
    /// Set the algorithm, such as suh-shin.
    #[arg(long, value_name = "SPEC")]
    pub algorithm: String,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Stop after SECS seconds [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Write to PATH: a file, or a directory for formats with several files (`-` for standard
    /// output).
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Options of plugin discovery.
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

fn words(rows: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    rows.map(|(name, help)| PossibleValue::new(name).help(help)).into()
}
