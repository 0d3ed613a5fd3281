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

A plugin of one's own: new-plugin, check. A result to show: plot, report.

Exit status: 0 if every case ran or was plainly unsupported, 1 if some case was
invalid, crashed, timed out or failed, 2 for bad usage or bad input.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run cases: verify each schedule, price it, write a row.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// List what there is: algorithms, topologies, workloads, machines, plugins.
    #[command(after_help = LIST_EXAMPLES)]
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
    /// Make a folder for a plugin of one's own: it builds, is tested and passes `swapmeet check` as it is.
    #[command(name = "new-plugin", after_help = NEW_PLUGIN_EXAMPLES)]
    NewPlugin(NewPluginArgs),
    /// Draw result files: a curve an algorithm, with its spread, and where the fastest changes.
    #[command(after_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
    /// Put result files on one page: figures, tables, machines, and the commands that make every row again.
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

Cases are the cross product of all lists. Flags given with a file override the
file's list of that kind. Without --out a table is printed; with it, rows are
written as CSV as each case ends (`-` is standard output).";

const TRACE_EXAMPLES: &str = "\
Examples:
  swapmeet trace --topology torus:8x8 --algorithm suh-shin
  swapmeet trace --topology mesh:2x4 --algorithm pex --summary";

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

const PLOT_EXAMPLES: &str = "\
Examples:
  swapmeet plot rows.csv --out figure.svg
  swapmeet plot rows.csv --x nodes --machine paragon --out figure.png
  swapmeet plot rows.csv --y ratio --baseline pex --log x --out figure.svg

Rows that differ in topology or machine go into panels of their own. Bars are 95 %
intervals of repetitions; a ring marks where the lowest curve changes.";

const REPORT_EXAMPLES: &str = "\
Examples:
  swapmeet report rows.csv --out report.html
  swapmeet report monday.csv tuesday.csv --baseline pex --title 'PEX and its rivals' --out report.html

The page is one file that fetches nothing: it can be mailed, archived and printed.";

const LIST_EXAMPLES: &str = "\
Examples:
  swapmeet list algorithms                what each does, where it runs, its paper
  swapmeet list machines --format csv     every parameter of every preset, its source
  swapmeet list plugins --format json     files, versions, ABI, licences, algorithms

Plugins are looked for in --plugin-dir, SWAPMEET_PLUGIN_PATH, the user's data
folder and beside the program.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  swapmeet completions bash > ~/.local/share/bash-completion/completions/swapmeet
  swapmeet completions zsh > ~/.zfunc/_swapmeet
  swapmeet completions fish > ~/.config/fish/completions/swapmeet.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  swapmeet man | man -l -                   read it
  swapmeet man --out ~/.local/share/man/man1";

const CHECK_EXAMPLES: &str = "\
Examples:
  swapmeet check target/release/libmy_ring.so
  swapmeet check libmy-ring.so --topology torus:16x16 --topology graph:mine.txt
  swapmeet check libmy-ring.so --timeout 2 --memory-limit 256MiB --format json

Each case runs in a process of its own, so that a crash is a finding and not the
end. What is tried: the tables; every collective of every algorithm on a ladder of
topologies, from one node to some hundred, each schedule verified block by block,
made again, on two threads at once and in another process; ports used against
ports claimed; time and memory. Without --topology the ladder is built in.

Exit status: 0 nothing is wrong, 1 a fault was found, 2 bad usage.";

const NEW_PLUGIN_EXAMPLES: &str = "\
Examples:
  swapmeet new-plugin my-ring               a folder my-ring, in Rust
  swapmeet new-plugin my-ring --lang c

Nothing is fetched: the folder carries the SDK's sources (C: the header), and
builds offline with `cargo build` or `make`.";

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
    /// No progress and no summary.
    #[arg(long)]
    pub quiet: bool,
    /// Where plugins are looked for.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

fn size(text: &str) -> Result<u64, String> {
    swapmeet_core::spec::parse_size(text)
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|s| s.is_finite() && *s > 0.0 && *s < 1e9)
        .ok_or_else(|| "expected a number of seconds above 0".to_owned())
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
    /// The algorithm that others are compared with; the fastest if not given.
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

/// The language of a new plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    /// Rust, with the SDK.
    Rust,
    /// C, with the header.
    C,
}

/// What `new-plugin` takes.
#[derive(Debug, Args)]
pub struct NewPluginArgs {
    /// The plugin's name, and that of its folder and its algorithm: lower-case letters, digits and hyphens.
    pub name: String,
    /// The language.
    #[arg(long, default_value = "rust")]
    pub lang: Lang,
}

/// What `check` takes.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plugin's file.
    pub plugin: PathBuf,
    /// A topology to try it on, instead of the built-in ladder; may be given several times.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// Seconds that one schedule may take.
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true, default_value = "10")]
    pub timeout: f64,
    /// Memory that the process of one case may take.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GiB")]
    pub memory_limit: u64,
    /// How to print the report.
    #[arg(long, default_value = "text")]
    pub format: ReportFormat,
}

/// How the report of `check` is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For reading.
    Text,
    /// JSON.
    Json,
}

/// What `check-question` takes: all of it from `check`.
#[derive(Debug, Args)]
pub struct CheckQuestionArgs {
    /// The plugin's file.
    pub plugin: PathBuf,
    /// The question, as JSON.
    pub question: String,
    /// The file for the answer.
    pub answer: PathBuf,
    /// Seconds that one schedule may take.
    pub timeout: f64,
    /// Bytes that this process may have.
    pub memory: u64,
}

/// What is on the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum XAxis {
    /// Bytes of a block (of irregular sizes their mean, of spikes the spike).
    Block,
    /// Nodes.
    Nodes,
    /// Coefficient of variation of irregular sizes.
    Cv,
}

/// What is on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum YAxis {
    /// Completion time.
    Time,
    /// Completion time over the baseline's.
    Ratio,
    /// Completion time over the lower bound.
    Bound,
    /// Time added by contention.
    Contention,
    /// Steps.
    Steps,
    /// Messages.
    Messages,
    /// The most messages on one link in one step.
    LinkMessages,
    /// The most bytes held by one node.
    NodeBytes,
}

/// Which axes are logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogAxes {
    /// Neither.
    None,
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both.
    Both,
}

/// Rows of result files, and which of them.
#[derive(Debug, Args)]
pub struct RowsArgs {
    /// Result files.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Only rows of this topology; may be given several times.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// Only rows of this algorithm; may be given several times.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Only rows of this machine; may be given several times.
    #[arg(long = "machine", value_name = "SPEC")]
    pub machines: Vec<String>,
    /// The algorithm that others are compared with; the fastest if not given.
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
}

/// What `plot` takes.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// Which rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Where the figure goes; the ending says what it is.
    #[arg(long, value_name = "FIGURE.svg|png")]
    pub out: PathBuf,
    /// What is on the x axis.
    #[arg(long, default_value = "block")]
    pub x: XAxis,
    /// What is on the y axis.
    #[arg(long, default_value = "time")]
    pub y: YAxis,
    /// Which axes are logarithmic [default: what suits them; `--log` alone: both].
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "both")]
    pub log: Option<LogAxes>,
    /// A title [default: what all rows have in common].
    #[arg(long)]
    pub title: Option<String>,
    /// Pixels of a PNG to one of the SVG.
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub scale: u8,
}

/// What `report` takes.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Which rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Where the page goes; `-` is standard output.
    #[arg(long, value_name = "REPORT.html")]
    pub out: PathBuf,
    /// A title [default: the experiments' names].
    #[arg(long)]
    pub title: Option<String>,
}

/// What `completions` takes.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// What `man` takes.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A folder for a page a command; the program's own page to standard output if not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
