use super::{PluginArgs, RealRanks, Shard, memory};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use std::path::PathBuf;
use swapmeet_core::simulation::ProofScope;
use swapmeet_runner::experiment::{Experiment, SETTINGS, Setting};

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  swapmeet run --topology torus:16x16 --algorithm suh-shin --algorithm gen \\
    --workload uniform:64
  swapmeet run --topology mesh:16x32 --algorithm pex \\
    --machine delta:startup_us=50 --out -
  swapmeet run workloads/experiments/quick-start.toml --machine paragon \\
    --out rows.csv
  swapmeet run workloads/experiments/quick-start.toml --format json \\
    | jq .time_us
  swapmeet run --topology graph:mine.txt --algorithm bruck --bundle study

The cases are all combinations of the given topologies, algorithms, workloads,
machines and repetitions. A flag overrides the list of the same kind in the
experiment file. Without --out, a table is printed, or rows with --format. With
--out, each row is written as soon as its case ends.";

pub(super) const TUI_EXAMPLES: &str = "\
Examples:
  swapmeet tui                                         run a small example
  swapmeet tui workloads/experiments/quick-start.toml  run an experiment
  swapmeet tui --topology torus:8x8 --algorithm pex --out rows.csv
  swapmeet tui rows.csv measured.csv                   open existing rows
  swapmeet tui --follow shard-1.csv --follow shard-2.csv

Cases given by flags or an experiment file start at once, unless result files
are opened. If neither cases nor files are given, an example starts: all-to-all
algorithms on a 16x16 torus. Press `?` for the keys. With --out, each row is written as soon as its
case ends. If NO_COLOR is set, no colours are used. If the locale is not UTF-8,
only ASCII characters are used.";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub cases: CaseArgs,
    /// Write FOLDER/rows.csv, and keep the input files and the plugin files that are not bundled in
    /// FOLDER/inputs, so that `rerun` can repeat the rows on another computer.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "tui", "format", "on"])]
    pub bundle: Option<PathBuf>,
    /// Select the format of rows on standard output. Files are always CSV.
    #[arg(long)]
    pub format: Option<RowFormat>,
    /// Show the run in the dashboard, like `swapmeet tui` with these flags.
    #[arg(long)]
    pub tui: bool,
    /// Options for measuring on real ranks.
    #[command(flatten)]
    pub real_ranks: RealRanks,
}

#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    /// The initial selection, which is run at once.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// Open result files, including measured ones. Their cases run only on request. If the first
    /// file is a log of nccl-tests, rccl-tests, OSU or IMB, show it beside the times that the
    /// system of --system should reach (see `swapmeet explain`).
    #[arg(value_name = "ROWS.csv")]
    pub rows: Vec<PathBuf>,
    /// Follow result files that other runs still write, such as shards. Can be repeated.
    #[arg(long, value_name = "ROWS.csv")]
    pub follow: Vec<PathBuf>,
    /// Write the keys of the session and their times to a new file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Press the keys of a file that --record has written.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Start with the view and the selection with which the last session ended.
    #[arg(long)]
    pub restore: bool,
}

/// The cases, their limits and the file of their rows: the arguments that `run` and `tui` share.
#[derive(Debug, Clone, Args)]
pub(crate) struct CaseArgs {
    /// Read the cases from an experiment file.
    #[arg(value_name = "EXPERIMENT.toml")]
    pub experiment: Option<PathBuf>,
    /// Use this topology, such as torus:16x16, mesh:6x8 or hypercube:7. Can be repeated.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// Use this algorithm, such as suh-shin (see `swapmeet list algorithms`). Can be repeated.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Use this workload, such as uniform:64 (bytes per pair of nodes), or a range of sizes:
    /// uniform:8..1MiB doubles the size at each point, uniform:8..1MiB*4 quadruples it. Can be
    /// repeated [default: uniform:1KiB].
    #[arg(long = "workload", value_name = "SPEC")]
    pub workloads: Vec<String>,
    /// Use this machine, such as fugaku or paragon:startup_us=220. Can be repeated [default:
    /// fugaku].
    #[arg(long = "machine", value_name = "SPEC")]
    pub machines: Vec<String>,
    /// Use this system, which stands for a topology and a machine, such as h100-ib:4x8 for 4
    /// computers of 8 GPUs (see `swapmeet list systems`). Can be repeated.
    #[arg(long = "system", value_name = "SPEC")]
    pub systems: Vec<String>,
    /// Run this job at the same time as each case, such as 'ring-allreduce
    /// allreduce/uniform:1MiB,over=dp start_us=50': an algorithm, a workload and the start in µs
    /// (default 0). There is a row for each job. Only the model fluid runs jobs together. Can be
    /// repeated.
    #[arg(long = "beside", value_name = "JOB")]
    pub beside: Vec<String>,
    /// The settings of the experiment.
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Write rows to FILE as CSV. `-` is standard output, but not in the dashboard.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Continue an interrupted run: keep the rows in --out and run only the missing cases.
    #[arg(long)]
    pub resume: bool,
    /// Overwrite the file given by --out.
    #[arg(long, conflicts_with = "resume")]
    pub force: bool,
    /// With --resume, also rerun cases that crashed, timed out or failed.
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// Select the nodes on which delivery is verified. If the symmetry that the algorithm declares
    /// is correct, the times are the same with both values. If the sends of two nodes contradict
    /// this symmetry, the case is invalid (see docs/abi.md).
    #[arg(long, default_value = "auto")]
    pub proof: ProofScope,
    /// Run N cases at a time, each in its own process [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub jobs: Option<u32>,
    /// Has no effect and will be removed.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub threads: Option<u32>,
    /// Run only part I of N of the cases, such as 2/8, with I from 1 to N. `auto` reads I and N
    /// from the environment variables of an MPI task or a job array, and `auto/N` reads only I (see
    /// docs/clusters.md).
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Limit the address space of each case, such as 2GiB [default: 80 % of this computer's memory,
    /// divided by jobs].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory_limit: Option<u64>,
    /// Print no progress and no summary.
    #[arg(long)]
    pub quiet: bool,
    /// Options for the appearance of the dashboard.
    #[command(flatten)]
    pub appearance: AppearanceArgs,
    /// Options of plugin discovery.
    #[command(flatten)]
    pub plugins: PluginArgs,
}

/// The format of rows on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// Print a header, then one line per row.
    Csv,
    /// Print one JSON object per line, with the CSV columns as keys and `null` for values that do
    /// not apply.
    Json,
}

/// The appearance of the dashboard.
#[derive(Debug, Clone, Args)]
pub(crate) struct AppearanceArgs {
    /// Select the colours of the dashboard: `default` (the colours of the terminal), `light`
    /// (for a light background), `rich` (24-bit colours) or `mono` (no colours) [default: `mono`
    /// if NO_COLOR is set; otherwise the theme in swapmeet.toml; otherwise `light` on a light
    /// background, and `default` on others].
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(swapmeet_tui::Theme::names()))]
    pub theme: Option<String>,
    /// Draw the dashboard with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
}

/// The settings of the table [`SETTINGS`], each of which is also a flag.
#[derive(Debug, Clone)]
pub(crate) struct SettingArgs(Vec<(&'static Setting, String)>);

impl SettingArgs {
    pub(crate) fn apply(&self, experiment: &mut Experiment) {
        for (setting, text) in &self.0 {
            (setting.set)(experiment, text).unwrap_or_else(|expected| {
                unreachable!("the flag of {} has been checked: {expected}", setting.key)
            });
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(setting, _)| setting.key == key)
    }
}

impl FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |setting: &'static Setting| {
            let text = match setting.flag? {
                (_, Some(_)) => matches.get_one::<String>(setting.key)?.clone(),
                (_, None) => matches.get_flag(setting.key).then(|| "true".to_owned())?,
            };
            Some((setting, text))
        };
        Ok(Self(SETTINGS.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        let flag = |setting: &'static Setting| {
            let (flag, value) = setting.flag?;
            let arg = Arg::new(setting.key).long(flag).help(setting.about);
            let check = |text: &str| {
                if text.is_empty() {
                    return Err("expected a value".to_owned());
                }
                (setting.set)(&mut Experiment::default(), text)
                    .map(|()| text.to_owned())
                    .map_err(|expected| format!("expected {expected}"))
            };
            Some(match value {
                Some(value) => {
                    arg.value_name(value).allow_negative_numbers(true).value_parser(check)
                }
                None => arg.action(ArgAction::SetTrue),
            })
        };
        command.args(SETTINGS.iter().filter_map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
