//! The command line: one definition feeds the parser and the help.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

mod authors;
mod bridges;
mod manual;
mod parts;
mod shard;
mod show;

use authors::{CHECK_EXAMPLES, HEADER_EXAMPLES, NEW_PLUGIN_EXAMPLES};
pub(crate) use authors::{CheckArgs, CheckQuestionArgs, Lang, NewPluginArgs, ReportFormat};
use bridges::{EXPORT_EXAMPLES, FIT_EXAMPLES, IMPORT_EXAMPLES, TUNE_EXAMPLES};
pub(crate) use bridges::{ExportArgs, FitArgs, ImportArgs, On, RealRanks, TuneArgs};
use manual::{COMPLETIONS_EXAMPLES, MAN_EXAMPLES};
pub(crate) use manual::{CompletionsArgs, ManArgs};
pub(crate) use parts::{DescribePluginsArgs, MergeArgs, ReproducePaperArgs, RerunArgs, WorkerArgs};
use parts::{MERGE_EXAMPLES, RERUN_EXAMPLES, memory};
pub(crate) use shard::Shard;
pub(crate) use show::{
    FigureFormat, FigureKind, LogAxes, PlotArgs, ReportArgs, RowsArgs, XAxis, YAxis,
};
use show::{PLOT_EXAMPLES, REPORT_EXAMPLES};

/// A workbench for collective-communication algorithms: drop in an algorithm as a plugin, pick a
/// topology, a workload and a machine, and see it proved correct, priced and compared.
#[derive(Debug, Parser)]
#[command(name = "swapmeet", version, help_expected = true, max_term_width = 110, after_help = EXAMPLES)]
pub(crate) struct Cli {
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

A plugin of one's own: new-plugin, header, check. A result to show: plot, report.

Exit status: 0 if every case ran or was plainly unsupported, 1 if some case was
invalid, crashed, timed out or failed, or output could not be written, 2 for bad
usage or bad input, 130 when interrupted, with everything finished so far on disk.";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run cases: verify each schedule, price it, write a row.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Join the rows of shards, none lost or doubled.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Make rows of a result file again, and say which come out the same, which not and why.
    #[command(after_help = RERUN_EXAMPLES)]
    Rerun(RerunArgs),
    /// Run cases for another swapmeet, which started this one.
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Re-run a paper's tables for another swapmeet, which started this one.
    #[command(hide = true)]
    ReproducePaper(ReproducePaperArgs),
    /// Say what plugins offer to another swapmeet, which started this one.
    #[command(hide = true)]
    DescribePlugins(DescribePluginsArgs),
    /// The dashboard: watch an experiment run, pick another, compare.
    #[command(after_help = TUI_EXAMPLES)]
    Tui(TuiArgs),
    /// List what there is: algorithms, topologies, workloads, machines, plugins.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Print a schedule step by step.
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(TraceArgs),
    /// Write a verified schedule for other programs.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Read measurements by other programs as rows.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Make a machine of measurements: ping-pongs, or collectives whose schedules are known.
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Make a library's decision table of a sweep: which algorithm for how many ranks and bytes.
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(TuneArgs),
    /// Compare algorithms over the rows of one or more result files, with their uncertainty.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Re-run the tables of the papers and say cell by cell what agrees.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Make a folder for a plugin of one's own: it builds, is tested and passes `swapmeet check` as
    /// it is.
    #[command(name = "new-plugin", after_help = NEW_PLUGIN_EXAMPLES)]
    NewPlugin(NewPluginArgs),
    /// Print swapmeet.h, the plugin boundary for C and whatever reads C: of this program, with no
    /// checkout of the project.
    #[command(after_help = HEADER_EXAMPLES)]
    Header,
    /// Draw result files: a curve an algorithm, with its spread, and where the fastest changes.
    #[command(after_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
    /// Put result files on one page: figures, tables, machines, and the commands that make every
    /// row again.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Examine one plugin file: is it right, everywhere, every time, within what it claims?
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one page a command.
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
    /// Answers one question about a plugin; `check` starts the program again with this.
    #[command(name = "check-question", hide = true)]
    CheckQuestion(CheckQuestionArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  swapmeet run --topology torus:16x16 --algorithm suh-shin --algorithm gen --workload uniform:64
  swapmeet run --topology mesh:16x32 --algorithm pex --machine delta:startup_us=50 --out -
  swapmeet run workloads/experiments/quick-start.toml --machine paragon --out rows.csv
  swapmeet run workloads/experiments/quick-start.toml --format json | jq .time_us

Cases are the cross product of all lists. Flags given with a file override the
file's list of that kind. Without --out a table is printed; with it, rows are
written as CSV as each case ends (`-` is standard output).";

const TUI_EXAMPLES: &str = "\
Examples:
  swapmeet tui                                               pick everything on the screen
  swapmeet tui workloads/experiments/quick-start.toml        run it and watch
  swapmeet tui --topology torus:8x8 --algorithm pex --out rows.csv
  swapmeet tui rows.csv measured.csv                         look at rows that there are

What is given is run at once, but for rows: these are opened, and run again only when asked. `?` shows the keys. Rows go to --out as cases end, whatever happens to the screen.
NO_COLOR is obeyed; where the locale is not UTF-8, only ASCII is drawn.";

const TRACE_EXAMPLES: &str = "\
Examples:
  swapmeet trace --topology torus:8x8 --algorithm suh-shin
  swapmeet trace --topology mesh:2x4 --algorithm pex --summary
  swapmeet trace --topology ring:16 --algorithm torus-broadcast --workload broadcast/uniform:1 \
      --machine free:model=circuit,ports=all,virtual_channels=2
  swapmeet trace --topology mesh:2x2 --algorithm linear --workload one-spike:max=64,rest=1 --seed 7

The schedule is that of one row of `swapmeet run`: some algorithms plan for the
machine's ports and virtual channels, and repetition r of an irregular workload
has the seed + r.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  swapmeet compare rows.csv
  swapmeet compare monday.csv tuesday.csv --baseline pex --format markdown

Rows that differ only in the algorithm are compared; repetitions of a case are a
sample. With one row an algorithm, ratios are all there is.";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  swapmeet reproduce                        every paper, to the terminal
  swapmeet reproduce thakur                 one paper
  swapmeet reproduce --out results/reproduced";

const LIST_EXAMPLES: &str = "\
Examples:
  swapmeet list algorithms                one line per algorithm
  swapmeet list algorithms suh-shin       its parameters, source and plugin file
  swapmeet list algorithms --collective allreduce
  swapmeet list machines --format csv     every parameter of every preset, its source
  swapmeet list plugins --format json     files, versions, ABI, licences, algorithms
  swapmeet list columns --format json     what rows say: name, type and meaning, for who reads them

Plugins are looked for in --plugin-dir, SWAPMEET_PLUGIN_PATH, the user's data
folder, beside the program and in the program itself.

What you set once goes into ~/.config/swapmeet/swapmeet.toml (plugin_dirs, machine,
theme), or into swapmeet.toml in the current folder (machine, theme).";

/// Where plugins are looked for.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PluginArgs {
    /// A folder of plugins, or a plugin's file; searched first, may be given several times.
    ///
    /// Then come the folders of SWAPMEET_PLUGIN_PATH, the user's data folder
    /// (~/.local/share/swapmeet/plugins), the program's own, and the bundled plugins in the program
    /// itself where none of that name was found beside it.
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub plugin_dirs: Vec<PathBuf>,
    /// Let plugins do all that you may: by default they write no files, start no programs and open
    /// no sockets, as far as the kernel can hold them to it.
    #[arg(long)]
    pub no_sandbox: bool,
}

/// Goes with every place where a command writes.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(crate) struct Over {
    /// Write over what is there already.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// An experiment file (TOML).
    #[arg(value_name = "EXPERIMENT.toml")]
    pub experiment: Option<PathBuf>,
    /// A topology, such as torus:16x16, mesh:6x8, hypercube:7.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// An algorithm, such as suh-shin; see `swapmeet list algorithms`.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// A workload, such as uniform:64 (bytes a pair of nodes), or a range of sizes: uniform:8..1MiB
    /// doubles, 8..1MiB*4 quadruples [default: uniform:1KiB].
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
    /// How rows are printed on standard output: as CSV, or as JSON, an object a line. Files are
    /// CSV.
    #[arg(long)]
    pub format: Option<RowFormat>,
    /// Seconds that a case may take [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Take up a run that was stopped: keep the rows that --out holds, run the other cases.
    #[arg(long)]
    pub resume: bool,
    /// Write over what --out holds.
    #[arg(long, conflicts_with = "resume")]
    pub force: bool,
    /// With --resume, run those cases again that crashed, timed out or ended in an error.
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// On whom delivery is proved: one node of each orbit where an algorithm says that its schedule
    /// is symmetric, or all; rows say the same.
    #[arg(long, default_value = "auto")]
    pub proof: ProofArg,
    /// How many cases run at a time, each in a process of its own [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// No effect; kept for one release.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub threads: Option<u32>,
    /// Run only the cases of part I of N, such as 2/8; `auto` takes both from the parallel job or
    /// array that this is a task of, `auto/N` the number alone (docs/clusters.md).
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// The most memory that a case may map, such as 2GiB [default: four fifths of the machine's,
    /// over those that run at a time].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory_limit: Option<u64>,
    /// No progress and no summary.
    #[arg(long)]
    pub quiet: bool,
    /// Watch in the dashboard: the same as `swapmeet tui` with the other flags.
    #[arg(long)]
    pub tui: bool,
    /// Real ranks instead of models.
    #[command(flatten)]
    pub real_ranks: RealRanks,
    /// How that looks.
    #[command(flatten)]
    pub looks: Looks,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// How rows are printed as cases end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// A header, then a line a row.
    Csv,
    /// An object a row, a line each: the names and figures of CSV, `null` where a figure has no
    /// meaning.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    /// What is picked and run at first.
    #[command(flatten)]
    pub run: RunArgs,
    /// Result files, measured ones too, whose rows are opened; nothing is run then until it is
    /// asked for.
    #[arg(value_name = "ROWS.csv")]
    pub rows: Vec<PathBuf>,
}

/// How the dashboard looks.
#[derive(Debug, Clone, Args)]
pub(crate) struct Looks {
    /// Colours [default: the terminal's sixteen, none with NO_COLOR].
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(swapmeet_tui::Theme::names()))]
    pub theme: Option<String>,
    /// Draw only ASCII.
    #[arg(long)]
    pub ascii: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    swapmeet_runner::experiment::seconds(text).map_err(|expected| format!("expected {expected}"))
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
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
    /// Columns of rows, with the type of each.
    Columns,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading.
    Table,
    /// Comma-separated.
    Csv,
    /// JSON.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Select what to list [default: everything; CSV needs a kind].
    pub kind: Option<Kind>,
    /// Print the details of one entry, such as an algorithm's parameters and source.
    pub name: Option<String>,
    /// List only the algorithms of one collective, such as allreduce.
    #[arg(long, value_name = "WORD")]
    pub collective: Option<String>,
    /// Describe one topology (nodes, degree, diameter, bisection, cost ratio, and how each is
    /// known) with `topologies`, or one machine (every value, and where it is from) with
    /// `machines`.
    #[arg(long, value_name = "SPEC")]
    pub describe: Option<String>,
    /// How to print it.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// How a schedule is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// For reading, as the papers do.
    Text,
    /// Every set, route and byte spelled out, for other programs.
    Json,
}

/// Which schedule.
#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    /// The topology.
    #[arg(long, value_name = "SPEC")]
    pub topology: String,
    /// The algorithm.
    #[arg(long, value_name = "SPEC")]
    pub algorithm: String,
    /// The workload.
    #[arg(long, value_name = "SPEC", default_value = "uniform:1")]
    pub workload: String,
    /// The machine that the algorithm plans for: some ask for its ports and virtual channels
    /// [default: paragon].
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// The seed of a workload that is drawn.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Only a line a step, without its messages.
    #[arg(long, conflicts_with_all = ["format", "step", "node"])]
    pub summary: bool,
    /// How to print it.
    #[arg(long, default_value = "text")]
    pub format: TraceFormat,
    /// Only what is sent in the schedule's step of this number, from 1.
    #[arg(long, value_name = "K")]
    pub step: Option<u64>,
    /// Only what this node sends or receives.
    #[arg(long, value_name = "V")]
    pub node: Option<u64>,
    /// When each rank comes to each step, has made its sends, has waited for peers and is done, and
    /// what its time goes into, on machines whose ranks don't wait for each other's steps (`flat`,
    /// `loggp`, `fluid`).
    #[arg(long)]
    pub times: bool,
    /// Seconds that it may take [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// On whom delivery is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProofArg {
    /// One node of each orbit, where that will do.
    Auto,
    /// Every node.
    Full,
}

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For reading.
    Table,
    /// Comma-separated.
    Csv,
    /// JSON.
    Json,
    /// Markdown tables.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Result files.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// The algorithm that others are compared with; the fastest of each group if not given, which
    /// flatters it a little where times vary.
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
    /// How to print it.
    #[arg(long, default_value = "table")]
    pub format: CompareFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// Which paper: suh-shin, thakur, liu, spencer, li, tpu-v4, swing or bine; every one if not
    /// given.
    pub paper: Option<String>,
    /// A folder for a table a paper, as CSV and as Markdown; the terminal if not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
    /// Seconds that one schedule may take.
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true, default_value = "600")]
    pub timeout: f64,
    /// The most memory that a paper's tables may take, such as 2GiB [default: four fifths of the
    /// machine's].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory_limit: Option<u64>,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}
