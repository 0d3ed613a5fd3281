use super::Overwrite;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use swapmeet_plot::{Colour, FigureFormat, LegendPlace, Length, LogAxes, Quantity, Scales};

pub(super) const PLOT_EXAMPLES: &str = "\
Examples:
  swapmeet plot rows.csv --out figure.svg
  swapmeet plot curves rows.csv --x nodes --machine paragon --out figure.png
  swapmeet plot winners rows.csv --out winners.pdf
  swapmeet plot parts rows.csv --topology torus:8x8 --out parts.svg

Without KIND, the kind is curves. `plot KIND --help` shows the flags of a kind.
Each topology and machine has its own panel.";

const CURVES_EXAMPLES: &str = "\
Examples:
  swapmeet plot curves rows.csv --out figure.svg
  swapmeet plot curves rows.csv --x nodes --machine paragon --out figure.png
  swapmeet plot curves rows.csv --x faults --out faults.svg
  swapmeet plot curves rows.csv --x tokens --out tokens.svg
  swapmeet plot curves rows.csv --y ratio --baseline pex --log x \\
    --out figure.svg
  swapmeet plot curves rows.csv --width 84mm --font 8pt --label pex=Pairwise \\
    --lower-bound --out figure.pdf

Error bars are 95 % confidence intervals of repetitions; with --x faults, they
are ranges over the patterns of failed links. Letters mark where another
algorithm becomes the fastest; they always compare times, also if --y shows
another quantity.";

const WINNERS_EXAMPLES: &str = "\
Examples:
  swapmeet plot winners rows.csv --out winners.pdf
  swapmeet plot winners rows.csv --machine paragon --out winners.svg
  swapmeet plot winners rows.csv --axes tokens,skew --out winners.svg";

const PARTS_EXAMPLES: &str = "\
Examples:
  swapmeet plot parts rows.csv --topology torus:8x8 --out parts.svg";

const TRAFFIC_EXAMPLES: &str = "\
Examples:
  swapmeet plot traffic rows.csv --workload uniform:1KiB --out traffic.svg";

const HEAT_EXAMPLES: &str = "\
Examples:
  swapmeet plot heat rows.csv --out heat.svg
  swapmeet plot heat rows.csv --value contention_us --axes nodes,algorithm \\
    --out heat.svg
  swapmeet plot heat rows.csv --axes tokens,skew --out heat.svg";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  swapmeet report rows.csv --out report.html
  swapmeet report monday.csv tuesday.csv --baseline pex \\
    --title 'PEX and its rivals' --out report.html
  swapmeet report rows.csv --schedule schedule.html --out report.html

The page is a single file without external resources. It only links to the pages
of --schedule, which must stay at their places.";

/// The kind of a figure, with the arguments of this kind.
#[derive(Debug, Subcommand)]
pub(crate) enum PlotKind {
    /// Draw one curve per algorithm over block sizes, nodes or any number of a spec.
    #[command(after_help = CURVES_EXAMPLES)]
    Curves(CurvesArgs),
    /// Show the fastest algorithm over two axes, such as block sizes and networks.
    #[command(after_help = WINNERS_EXAMPLES)]
    Winners(WinnersArgs),
    /// Show the components of each algorithm's time as stacked bars.
    #[command(after_help = PARTS_EXAMPLES)]
    Parts(BarsArgs),
    /// Show the number of bytes sent, and the sum of the bytes over all links that they cross.
    #[command(after_help = TRAFFIC_EXAMPLES)]
    Traffic(BarsArgs),
    /// Show any column of the rows over two columns or numbers of specs, as colours.
    #[command(after_help = HEAT_EXAMPLES)]
    Heat(HeatArgs),
}

/// The arguments of a plot kind. The default kind is `curves`.
#[derive(Debug)]
pub(crate) struct PlotArgs(pub PlotKind);

impl FromArgMatches for PlotArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match matches.subcommand_name() {
            Some(_) => PlotKind::from_arg_matches(matches).map(Self),
            None => CurvesArgs::from_arg_matches(matches).map(PlotKind::Curves).map(Self),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for PlotArgs {
    fn augment_args(command: Command) -> Command {
        PlotKind::augment_subcommands(CurvesArgs::augment_args(command))
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
            .disable_help_subcommand(true)
            .subcommand_value_name("KIND")
            .subcommand_help_heading("Kinds")
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Flags and values that earlier versions had. Each has a message that names its replacement.
const REMOVED: [(&str, &str, &str); 5] = [
    ("--kind", "scaling", "`plot scaling` is now `plot curves --x nodes`"),
    ("--kind", "faults", "`plot faults` is now `plot curves --x faults`"),
    (
        "--kind",
        "steps",
        "`plot steps` has been removed: `swapmeet trace` prints the steps of a schedule, and \
         `plot curves --y steps` draws their number",
    ),
    (
        "--kind",
        "links",
        "`plot links` has been removed: `swapmeet links` prints the links as a table, and \
         `swapmeet trace --format html` writes a page that plays a schedule on the network",
    ),
    ("--legend", "inside", "`--legend inside` has been removed: use bottom, top, right or none"),
];

/// Earlier versions had the form `plot FILE.csv --kind KIND`. Converts this form to `plot KIND
/// FILE.csv`. Errors if the kind does not exist or was removed ([`REMOVED`]).
pub(crate) fn in_todays_form(mut words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    const KIND: usize = 2;
    if words.get(KIND - 1).is_none_or(|word| word != "plot") {
        return Ok(words);
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let value = |flag: &str| {
        (KIND..end).find_map(|at| match words[at].to_str()?.strip_prefix(flag)? {
            "" => Some((at..at + 2, words.get(at + 1)?.to_str()?.to_owned())),
            rest => Some((at..at + 1, rest.strip_prefix('=')?.to_owned())),
        })
    };
    let kind = value("--kind");
    let first = words.get(KIND).and_then(|word| word.to_str());
    let name = kind.as_ref().map(|(_, name)| name.as_str()).or(first);
    let legend = value("--legend").map(|(_, place)| place);
    for (flag, removed, message) in REMOVED {
        let given = if flag == "--kind" { name } else { legend.as_deref() };
        if given == Some(removed) {
            return Err(message.to_owned());
        }
    }
    if let Some((flag, name)) = kind {
        if !PlotKind::has_subcommand(&name) {
            return Err(format!("--kind {name}: expected one of {}", kinds(|_| true).join(", ")));
        }
        words.drain(flag);
        words.insert(KIND, name.into());
    }
    Ok(words)
}

fn kinds(condition: impl Fn(&Command) -> bool) -> Vec<String> {
    let plot = PlotKind::augment_subcommands(Command::new("plot"));
    let kinds = plot.get_subcommands().filter(|kind| condition(kind));
    kinds.map(|kind| kind.get_name().to_owned()).collect()
}

/// If a flag is unknown, adds to the error the names of the plot kinds that have this flag.
pub(crate) fn with_kinds_of_flag(mut error: Error) -> Error {
    let is_of_plot = |usage: &ContextValue| usage.to_string().starts_with("Usage: swapmeet plot");
    if !error.get(ContextKind::Usage).is_some_and(is_of_plot) {
        return error;
    }
    let Some(flag) = error.get(ContextKind::InvalidArg).map(ToString::to_string) else {
        return error;
    };
    let name = flag.trim_start_matches('-');
    let kinds = kinds(|kind| kind.get_arguments().any(|arg| arg.get_long() == Some(name)));
    if error.kind() == ErrorKind::UnknownArgument && !kinds.is_empty() {
        let tip = format!("{flag} is a flag of `plot {}`", kinds.join("`, `plot "));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn axes(text: &str) -> Result<(String, String), String> {
    let axes = text.split_once(',').filter(|(x, y)| !y.contains(',') && x != y);
    let (x, y) = axes.ok_or("expected two names such as block_bytes,topology or tokens,skew")?;
    Ok((x.to_owned(), y.to_owned()))
}

fn colour(text: &str) -> Result<(String, Colour), String> {
    let (name, colour) = text.rsplit_once('=').ok_or("expected ALGORITHM=#RRGGBB")?;
    Ok((name.to_owned(), colour.parse()?))
}

/// Parses `ALGORITHM=TEXT`. The algorithm may contain equals signs, so the last one counts.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, label) = text.rsplit_once('=').ok_or("expected ALGORITHM=TEXT")?;
    Ok((name.to_owned(), label.to_owned()))
}

/// The selection of rows from result files.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Read rows from these result files.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Use only rows of this topology. Can be repeated.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// Use only rows of this algorithm. Can be repeated.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Use only rows of this workload, spelled as in the rows. Can be repeated.
    #[arg(long = "workload", value_name = "SPEC")]
    pub workloads: Vec<String>,
    /// Use only rows of this machine. Can be repeated.
    #[arg(long = "machine", value_name = "SPEC")]
    pub machines: Vec<String>,
}

/// The arguments of all kinds of figures.
#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// The rows to plot.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Write the figure to this file.
    #[arg(long, value_name = "FIGURE.svg|png|pdf|tex|csv")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Select the format [default: by file extension].
    #[arg(long)]
    pub format: Option<FigureFormat>,
    /// Set the title [default: what all rows have in common].
    #[arg(long)]
    pub title: Option<String>,
    /// Place the legend.
    #[arg(long, default_value = "bottom")]
    pub legend: LegendPlace,
    /// Set the width, such as 84mm, 3.3in or 240pt [default: as wide as needed].
    #[arg(long, value_name = "LENGTH")]
    pub width: Option<Length>,
    /// Set the font size, such as 8pt [default: 9pt].
    #[arg(long, value_name = "LENGTH")]
    pub font: Option<Length>,
    /// Also write the plotted points to a CSV file next to the figure.
    #[arg(long)]
    pub data: bool,
    /// Set the number of PNG pixels per SVG pixel.
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub scale: u8,
}

/// The labels of algorithms.
#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// Label an algorithm. Can be repeated; the legend has the same order.
    #[arg(long = "label", value_name = "ALGO=TEXT", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

/// The colours of algorithms.
#[derive(Debug, Args)]
pub(crate) struct ColourArgs {
    /// Choose the colour of an algorithm. Can be repeated.
    #[arg(long = "colour", value_name = "ALGO=#RRGGBB", value_parser = colour)]
    pub colours: Vec<(String, Colour)>,
}

#[derive(Debug, Args)]
pub(crate) struct CurvesArgs {
    /// Select the x axis: block, nodes, cv, faults, or any number of a spec, such as tokens
    /// [default: block or, if all cases have the same size, the number with the most values].
    #[arg(long, value_name = "AXIS")]
    pub x: Option<String>,
    /// Select the y axis.
    #[arg(long, default_value = "time")]
    pub y: Quantity,
    /// Select logarithmic axes; without a value, select both [default: chosen by the data].
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "both")]
    pub log: Option<LogAxes>,
    /// Compare with this algorithm [default: the fastest].
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
    /// Also draw the lower bound. With `--x faults`, it replaces the optimum.
    #[arg(long)]
    pub lower_bound: bool,
    /// Do not mark where another algorithm becomes the fastest.
    #[arg(long)]
    pub no_crossovers: bool,
    /// Give the y axes of all panels the same range.
    #[arg(long)]
    pub share_y: bool,
    /// The labels of the curves.
    #[command(flatten)]
    pub labels: LabelArgs,
    /// The colours of the curves.
    #[command(flatten)]
    pub colours: ColourArgs,
    /// The arguments of all kinds.
    #[command(flatten)]
    pub figure: FigureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WinnersArgs {
    /// Select the axes: block, nodes, cv, faults, or any number of a spec [default: block sizes and
    /// networks or machines or, if all cases have the same size, the numbers with the most values].
    #[arg(long, value_name = "X,Y", value_parser = axes)]
    pub axes: Option<(String, String)>,
    /// The labels of the algorithms.
    #[command(flatten)]
    pub labels: LabelArgs,
    /// The colours of the algorithms.
    #[command(flatten)]
    pub colours: ColourArgs,
    /// The arguments of all kinds.
    #[command(flatten)]
    pub figure: FigureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BarsArgs {
    /// Choose the scales of the panels.
    #[arg(long, default_value = "shared")]
    pub scales: Scales,
    /// The labels of the bars.
    #[command(flatten)]
    pub labels: LabelArgs,
    /// The arguments of all kinds.
    #[command(flatten)]
    pub figure: FigureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HeatArgs {
    /// Select the column that the colours show.
    #[arg(long, value_name = "COLUMN", default_value = "time_us")]
    pub value: String,
    /// Select both axes: columns, or any numbers of specs, such as tokens.
    #[arg(long, value_name = "X,Y", value_parser = axes, default_value = "block_bytes,algorithm")]
    pub axes: (String, String),
    /// The arguments of all kinds.
    #[command(flatten)]
    pub figure: FigureArgs,
}

impl PlotKind {
    pub(crate) fn figure(&self) -> &FigureArgs {
        match self {
            Self::Curves(args) => &args.figure,
            Self::Winners(args) => &args.figure,
            Self::Parts(args) | Self::Traffic(args) => &args.figure,
            Self::Heat(args) => &args.figure,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The rows of the report.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Compare with this algorithm [default: the fastest].
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
    /// Write the page to this file (`-` for standard output).
    #[arg(long, value_name = "REPORT.html")]
    pub out: PathBuf,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
    /// Set the title [default: names of the experiments].
    #[arg(long)]
    pub title: Option<String>,
    /// Link to a page that plays a schedule (`trace --format html`). Can be repeated.
    #[arg(long = "schedule", value_name = "SCHEDULE.html")]
    pub schedules: Vec<PathBuf>,
}
