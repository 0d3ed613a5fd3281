//! The command line. The parser and the help come from one definition.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use swapmeet_reproduce::papers;
use swapmeet_results::Correction;

mod authors;
mod bridges;
mod explain;
mod groups;
mod internal;
mod links;
mod manual;
mod optimum;
mod place;
mod ranking;
mod result_files;
mod run;
mod shard;
mod show;

use authors::{CHECK_EXAMPLES, HEADER_EXAMPLES, NEW_PLUGIN_EXAMPLES};
pub(crate) use authors::{CheckArgs, NewPluginArgs, ReportFormat};
use bridges::{EXPORT_EXAMPLES, EXPORT_USAGE, FIT_EXAMPLES, IMPORT_EXAMPLES, TUNE_EXAMPLES};
pub(crate) use bridges::{ExportArgs, FitArgs, ImportArgs, On, RealRanks, TuneArgs};
use explain::{EXPECT_EXAMPLES, EXPLAIN_EXAMPLES};
pub(crate) use explain::{ExpectArgs, ExpectFormat, ExplainArgs, ExplainFormat};
pub(crate) use internal::{
    CheckQuestionArgs, DescribePluginsArgs, Internal, ReproducePaperArgs, WorkerArgs,
};
use links::LINKS_EXAMPLES;
pub(crate) use links::LinksArgs;
use manual::{COMPLETIONS_EXAMPLES, MAN_EXAMPLES};
pub(crate) use manual::{CompletionsArgs, ManArgs};
use optimum::OPTIMUM_EXAMPLES;
pub(crate) use optimum::{OptimumArgs, OptimumFormat};
use place::PLACE_EXAMPLES;
pub(crate) use place::PlaceArgs;
pub(crate) use ranking::RankingArgs;
use result_files::{MERGE_EXAMPLES, RERUN_EXAMPLES};
pub(crate) use result_files::{MergeArgs, RerunArgs};
pub(crate) use run::{AppearanceArgs, CaseArgs, RowFormat, RunArgs, TuiArgs};
use run::{RUN_EXAMPLES, TUI_EXAMPLES};
pub(crate) use shard::Shard;
pub(crate) use show::{
    BarsArgs, FigureArgs, PlotArgs, PlotKind, ReportArgs, RowsArgs, in_todays_form,
    with_kinds_of_flag,
};
use show::{PLOT_EXAMPLES, REPORT_EXAMPLES};

/// A workbench for collective-communication algorithms: add an algorithm as a plugin, select a
/// topology, a workload and a machine, verify that every block is delivered, and compare times.
#[derive(Debug, Parser)]
#[command(name = "swapmeet", version, help_expected = true, max_term_width = 80)]
#[command(help_template = groups::template(), after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// The command to run.
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

`swapmeet COMMAND --help` describes the flags of a command and shows examples.

Exit status:
  0    every case ran or is unsupported
  1    a case was invalid, crashed, timed out or failed, or output could not be
       written
  2    the command line or an input file is invalid
  130  interrupted; the rows of finished cases have been written";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run cases: verify each schedule and compute its time.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Join result files of shards; report missing and duplicate rows.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Run rows of a result file again and report the differences.
    #[command(after_help = RERUN_EXAMPLES)]
    Rerun(RerunArgs),
    /// Open the dashboard: run experiments and compare results.
    #[command(after_help = TUI_EXAMPLES)]
    Tui(TuiArgs),
    /// List algorithms, topologies, workloads, machines or systems.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Print a schedule step by step.
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(TraceArgs),
    /// Find the least time of a workload on a network, with a proof.
    #[command(after_help = OPTIMUM_EXAMPLES)]
    Optimum(OptimumArgs),
    /// Rank the placements of axes of ranks on a network.
    #[command(after_help = PLACE_EXAMPLES)]
    Place(PlaceArgs),
    /// Say whether measured times are right, and what limits them.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Print the times that a collective should take on a system.
    #[command(after_help = EXPECT_EXAMPLES)]
    Expect(ExpectArgs),
    /// Rank the links of a network by the cost of their failure.
    #[command(after_help = LINKS_EXAMPLES)]
    Links(LinksArgs),
    /// Write a verified schedule in the format of another program.
    #[command(after_help = EXPORT_EXAMPLES, override_usage = EXPORT_USAGE)]
    Export(ExportArgs),
    /// Convert measurements of other programs to rows.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Fit the parameters of a machine to measurements.
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Write the decision table of an MPI library or NCCL from a sweep.
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(TuneArgs),
    /// Compare algorithms in result files, with statistics.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Reproduce the tables of papers; report where they agree.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArgs),
    /// Create a plugin project that builds and passes `check`.
    #[command(name = "new-plugin", after_help = NEW_PLUGIN_EXAMPLES)]
    NewPlugin(NewPluginArgs),
    /// Print swapmeet.h, the C header of the plugin interface.
    #[command(after_help = HEADER_EXAMPLES)]
    Header,
    /// Plot result files, for example time against block size.
    #[command(after_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
    /// Write a report page with figures, tables, machines and commands.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Test a plugin file for conformance.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write one page per command.
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

const TRACE_EXAMPLES: &str = "\
Examples:
  swapmeet trace --topology torus:8x8 --algorithm suh-shin
  swapmeet trace --topology mesh:2x4 --algorithm pex --summary
  swapmeet trace --topology ring:16 --algorithm torus-broadcast \\
    --workload broadcast/uniform:1 \\
    --machine free:model=circuit,ports=all,virtual_channels=2
  swapmeet trace --topology mesh:2x2 --algorithm linear \\
    --workload one-spike:max=64,rest=1 --seed 7
  swapmeet trace --topology torus:4x4 --algorithm suh-shin \\
    --algorithm pairwise --format html --out schedule.html

To print the schedule of a row of `swapmeet run`, use the row's machine (some
algorithms plan for its ports and virtual channels) and the row's seed.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  swapmeet compare rows.csv
  swapmeet compare monday.csv tuesday.csv --baseline pex --format markdown
  swapmeet compare rows.csv --by topology --baseline torus:8x8
  swapmeet compare rows.csv --pivot --format latex
  swapmeet compare rows.csv --pivot tokens --width 84mm

Rows that differ only in the algorithm (or in --by) are compared. Repetitions of
a case form a sample. Several groups are printed as a line each: the fastest
algorithm, the next one, and whether they differ significantly. A single group
is printed as a table of all statistics, as are all groups with --details.";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  swapmeet reproduce                        print the tables of all papers
  swapmeet reproduce thakur                 print the tables of one paper
  swapmeet reproduce --out results/reproduced";

const LIST_EXAMPLES: &str = "\
Examples:
  swapmeet list algorithms                one line per algorithm
  swapmeet list algorithms suh-shin pex   their parameters, source and plugin file
  swapmeet list algorithms --collective allreduce
  swapmeet list algorithms --topology dragonfly:4x2x2 \\
    --workload moe:experts=16,top=2,tokens=8,bytes=1KiB
  swapmeet list machines --format csv     all parameters of all presets
  swapmeet list plugins --format json     files, versions, ABI and licences
  swapmeet list columns --format json     columns of result files

The program looks for plugins in --plugin-dir, SWAPMEET_PLUGIN_PATH, the user's
data directory, its own directory and itself.

Defaults for plugin_dirs, machine and theme can be set in
~/.config/swapmeet/swapmeet.toml; machine and theme also in swapmeet.toml in the
current directory.";

/// Options of plugin discovery.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PluginArgs {
    /// Search PATH (a plugin directory or file) first. Can be repeated.
    ///
    /// The other directories follow in this order: SWAPMEET_PLUGIN_PATH,
    /// ~/.local/share/swapmeet/plugins (user data), and the program's own directory. Bundled
    /// plugins that are not found there are loaded from the program itself.
    #[arg(long = "plugin-dir", value_name = "PATH")]
    pub plugin_dirs: Vec<PathBuf>,
    /// Run plugins with all of your permissions. By default, plugins cannot write files, start
    /// programs or open sockets, as far as the kernel can enforce this.
    #[arg(long)]
    pub no_sandbox: bool,
    /// Let a plugin replace a bundled algorithm of the same name. By default, such a name is an
    /// error, and PLUGIN/ALGORITHM selects one of the algorithms.
    #[arg(long)]
    pub replace_bundled: bool,
}

/// The option for existing output files, shared by all commands that write files.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(crate) struct Overwrite {
    /// Overwrite existing output files.
    #[arg(long)]
    pub force: bool,
}

fn memory(text: &str) -> Result<u64, String> {
    /// The minimum memory limit. In less memory, plugins cannot be loaded.
    const LEAST: u64 = 64 << 20;
    let bytes = swapmeet_core::spec::parse_size(text)?;
    if bytes >= LEAST { Ok(bytes) } else { Err("expected at least 64MiB".to_owned()) }
}

fn paper_help() -> String {
    let names: Vec<&str> = papers().iter().map(|paper| paper.name).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("Select a paper: {} or {last} [default: all]", others.join(", "))
}

fn seconds(text: &str) -> Result<f64, String> {
    swapmeet_runner::experiment::seconds(text).map_err(|expected| format!("expected {expected}"))
}

/// The kinds of lists that `swapmeet list` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Algorithms, one line each.
    Algorithms,
    /// Families of topologies.
    Topologies,
    /// Workload generators and collectives.
    Workloads,
    /// Machine presets.
    Machines,
    /// Systems: clusters of GPUs, each a topology and a machine.
    Systems,
    /// Plugin files, and files that were skipped.
    Plugins,
    /// Columns of result files, with types.
    Columns,
}

/// The output format of `list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Print a table for reading.
    Table,
    /// Print comma-separated values.
    Csv,
    /// Print JSON.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Select what to list [default: everything; CSV needs a kind].
    pub kind: Option<Kind>,
    /// Print the details of these entries, such as an algorithm's parameters and source.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// List only algorithms of this collective, such as allreduce.
    #[arg(long, value_name = "WORD")]
    pub collective: Option<String>,
    /// List only algorithms that run on this topology, such as torus:8x8. Each of them plans the
    /// workload.
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["names", "describe"])]
    pub topology: Option<String>,
    /// Set the workload for --topology [default: uniform:1KiB].
    #[arg(long, value_name = "SPEC", requires = "topology")]
    pub workload: Option<String>,
    /// Describe a topology (nodes, degree, diameter, bisection) or, with `machines`, a machine (all
    /// values and their sources).
    #[arg(long, value_name = "SPEC")]
    pub describe: Option<String>,
    /// Select the output format.
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// The output format of `trace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Print text for reading: for each step, who sends which blocks to whom.
    Text,
    /// Print JSON with the blocks, the route and the number of bytes of every send.
    Json,
    /// Write a page that plays the schedule in a browser, without access to the network.
    Html,
    /// Write the times of ranks and steps for Perfetto (ui.perfetto.dev) and other programs that
    /// read Chrome trace events.
    Perfetto,
}

/// The selection of a schedule, apart from its algorithm.
#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    /// Set the topology, such as torus:8x8.
    #[arg(long, value_name = "SPEC", required_unless_present = "system")]
    pub topology: Option<String>,
    /// Set the workload.
    #[arg(long, value_name = "SPEC", default_value = "uniform:1")]
    pub workload: String,
    /// Set the machine. Some algorithms plan for its ports and virtual channels [default: fugaku].
    #[arg(long, value_name = "SPEC")]
    pub machine: Option<String>,
    /// Use a system instead of a topology and a machine, such as h100-ib:4x8 for 4 computers of 8
    /// GPUs (see `swapmeet list systems`).
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["topology", "machine"])]
    pub system: Option<String>,
    /// Set the seed of random workloads.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// Set the algorithm, such as suh-shin. With `--format html`, can be given twice, to show two
    /// schedules side by side.
    #[arg(long = "algorithm", value_name = "SPEC", required = true)]
    pub algorithms: Vec<String>,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Print one line per step, without messages.
    #[arg(long, conflicts_with_all = ["format", "step", "node"])]
    pub summary: bool,
    /// Select the output format.
    #[arg(long, default_value = "text")]
    pub format: TraceFormat,
    /// Print only step K, counted from 1.
    #[arg(long, value_name = "K")]
    pub step: Option<u64>,
    /// Print only what node V sends or receives.
    #[arg(long, value_name = "V")]
    pub node: Option<u64>,
    /// Print when each rank enters each step, has posted its sends, has received its messages and
    /// leaves the step, and how its time is spent. Only for models in which ranks do not
    /// synchronize between steps (`flat`, `loggp`, `fluid`).
    #[arg(long)]
    pub times: bool,
    /// Write to FILE (`-` for standard output).
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Stop after SECS seconds [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// The output format of `compare`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Print tables for reading.
    Table,
    /// Print comma-separated values.
    Csv,
    /// Print JSON.
    Json,
    /// Print Markdown tables.
    Markdown,
    /// Print LaTeX tables for the package booktabs.
    Latex,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Read rows from these result files.
    #[arg(required_unless_present = "pivot", value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Compare along this axis: algorithm, topology, model, machine, placement, or any number of a
    /// spec, such as tokens. All other settings are equal within a group.
    #[arg(long, value_name = "AXIS", default_value = "algorithm")]
    pub by: String,
    /// Compare with this algorithm (with --by: this topology, model, etc.) [default: the fastest of
    /// each group, whose advantage is slightly overestimated if times vary].
    #[arg(long, value_name = "VALUE")]
    pub baseline: Option<String>,
    /// Correct p-values for the number of comparisons (Holm's method).
    #[arg(long, default_value = "all")]
    pub correct: Correction,
    /// Print the statistics of every algorithm of every group.
    #[arg(long, conflicts_with = "pivot")]
    pub details: bool,
    /// Print one table of the times of all algorithms over an axis: block, nodes, cv, faults, or any
    /// number of a spec, such as tokens [without a value: the axis with the most values].
    #[arg(long, value_name = "AXIS", num_args = 0..=1, default_missing_value = "", conflicts_with = "by")]
    pub pivot: Option<String>,
    /// For each pair of jobs that ran at the same time (`run --beside`), print their time together
    /// and one after the other. Needs the rows of both jobs together and alone.
    #[arg(long, conflicts_with_all = ["by", "baseline", "correct", "details", "pivot"])]
    pub overlap: bool,
    /// Set the maximum width of LaTeX tables, such as 84mm.
    #[arg(long, value_name = "LENGTH", default_value = "\\columnwidth", value_parser = latex_length)]
    pub width: String,
    /// Select the output format.
    #[arg(long, default_value = "table")]
    pub format: CompareFormat,
}

fn latex_length(text: &str) -> Result<String, String> {
    let is_number = |text: &str| text.trim().parse().is_ok_and(|count: f64| count > 0.0);
    let has_unit =
        ["mm", "cm", "in", "pt"].iter().any(|unit| text.strip_suffix(unit).is_some_and(is_number));
    let is_name = text.strip_prefix('\\').is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_alphabetic())
    });
    let expected = || "expected a length such as 84mm, 3.3in or \\columnwidth".to_owned();
    if has_unit || is_name { Ok(text.to_owned()) } else { Err(expected()) }
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    #[arg(help = paper_help())]
    pub paper: Option<String>,
    /// Write the tables of each paper to DIR, as CSV and Markdown [default: print them].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Stop a schedule after SECS seconds.
    #[arg(long, value_name = "SECS", value_parser = seconds, allow_negative_numbers = true, default_value = "600")]
    pub timeout: f64,
    /// Limit the address space of each paper's process, such as 2GiB [default: 80 % of this
    /// computer's memory].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory_limit: Option<u64>,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}
