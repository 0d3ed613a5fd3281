//! Arguments of the commands that show results: `plot` and `report`.

use super::Overwrite;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use swapmeet_plot::{Colour, Length};

pub(super) const PLOT_EXAMPLES: &str = "\
Examples:
  swapmeet plot rows.csv --out figure.svg
  swapmeet plot rows.csv --x nodes --machine paragon --out figure.png
  swapmeet plot rows.csv --y ratio --baseline pex --log x --out figure.svg
  swapmeet plot rows.csv --kind winners --out winners.pdf
  swapmeet plot rows.csv --kind parts --topology torus:8x8 --out parts.svg
  swapmeet plot rows.csv --kind traffic --workload uniform:1KiB \\
    --out traffic.svg
  swapmeet plot rows.csv --kind faults --out faults.svg
  swapmeet plot rows.csv --kind heat --value contention_us \\
    --axes nodes,algorithm --out heat.svg
  swapmeet plot links.csv --kind links --out links.svg
  swapmeet plot rows.csv --width 84mm --font 8pt --label pex=Pairwise \\
    --lower-bound --out figure.pdf

Each topology and machine has its own panel. Error bars are 95 % confidence
intervals of repetitions. Letters mark where another algorithm becomes the
fastest; they always compare times, also if --y shows another quantity.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  swapmeet report rows.csv --out report.html
  swapmeet report monday.csv tuesday.csv --baseline pex \\
    --title 'PEX and its rivals' --out report.html
  swapmeet report rows.csv --schedule schedule.html --out report.html

The page is a single file without external resources. It only links to the pages
of --schedule, which must stay at their places.";

/// The kind of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FigureKind {
    /// Draw one curve per algorithm over block sizes, nodes or the variation of sizes (see --x).
    #[default]
    Curves,
    /// Draw one curve per algorithm over nodes, with a panel for each block size.
    Scaling,
    /// Show the fastest algorithm for each block size and network or machine.
    Winners,
    /// Show the components of each algorithm's time as stacked bars.
    Parts,
    /// Show the number of steps, and how many additional rounds are needed if messages that share a
    /// link in a step are sent one after another.
    Steps,
    /// Show the number of bytes sent, and the sum of the bytes over all links that they cross.
    Traffic,
    /// Draw one curve per algorithm over the number of failed links (`faults=K`).
    Faults,
    /// Show any column of the rows over two other columns, as the colours of cells.
    Heat,
    /// Show networks whose links are coloured by what their loss costs, from rows of `links`.
    Links,
}

/// The quantity on the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum XAxis {
    /// Bytes per block (the mean of irregular sizes, the maximum of `one-spike`).
    Block,
    /// Number of nodes.
    Nodes,
    /// Coefficient of variation of irregular sizes.
    Cv,
}

/// The quantity on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YAxis {
    /// Completion time.
    Time,
    /// Completion time divided by the baseline's.
    Ratio,
    /// Completion time divided by the lower bound.
    Bound,
    /// Completion time divided by the optimum, in rows of `run --optimum`.
    Optimum,
    /// Time added by contention.
    Contention,
    /// Number of steps.
    Steps,
    /// Number of messages.
    Messages,
    /// Maximum number of messages on one link in one step.
    LinkMessages,
    /// Maximum number of bytes held by one node.
    NodeBytes,
    /// Algorithm bandwidth (size divided by time), as defined by nccl-tests.
    Algbw,
    /// Bus bandwidth, as defined by nccl-tests; comparable to the bandwidth of a node.
    Busbw,
}

/// The logarithmic axes of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogAxes {
    /// No axis.
    None,
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both axes.
    Both,
}

/// The format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureFormat {
    /// Vector graphics for web pages.
    Svg,
    /// Pixel graphics.
    Png,
    /// A PDF page of the figure's size.
    Pdf,
    /// LaTeX source for pgfplots.
    Pgfplots,
    /// The plotted points.
    Csv,
}

/// The position of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Legend {
    /// Below the panels.
    #[default]
    Bottom,
    /// Between the title and the panels.
    Top,
    /// To the right of the panels.
    Right,
    /// Inside the first panel (only with --kind curves).
    Inside,
    /// No legend.
    None,
}

/// The scales of the panels of stacked bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scales {
    /// All panels have the same scale.
    Shared,
    /// Each panel has its own scale.
    Free,
}

/// Parses the names of two different columns.
fn axes(text: &str) -> Result<(String, String), String> {
    let axes = text.split_once(',').filter(|(x, y)| !y.contains(',') && x != y);
    let (x, y) = axes.ok_or("expected two columns such as block_bytes,topology")?;
    Ok((x.to_owned(), y.to_owned()))
}

/// Parses `ALGORITHM=#RRGGBB`.
fn colour(text: &str) -> Result<(String, Colour), String> {
    let (name, colour) = text.rsplit_once('=').ok_or("expected ALGORITHM=#RRGGBB")?;
    Ok((name.to_owned(), colour.parse()?))
}

/// Parses `ALGORITHM=TEXT`. Parameters of an algorithm contain equals signs, too, so the last one
/// separates the label.
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
    /// Compare with this algorithm [default: the fastest].
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
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
    /// Select the kind of figure.
    #[arg(long, default_value = "curves")]
    pub kind: FigureKind,
    /// Select the x axis of curves [default: block].
    #[arg(long)]
    pub x: Option<XAxis>,
    /// Select the y axis of curves [default: time].
    #[arg(long)]
    pub y: Option<YAxis>,
    /// Select logarithmic axes; without a value, select both [default: chosen by the data].
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "both")]
    pub log: Option<LogAxes>,
    /// Set the title [default: what all rows have in common].
    #[arg(long)]
    pub title: Option<String>,
    /// Label an algorithm. Can be repeated; the legend has the same order.
    #[arg(long = "label", value_name = "ALGO=TEXT", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Choose the colour of an algorithm. Can be repeated.
    #[arg(long = "colour", value_name = "ALGO=#RRGGBB", value_parser = colour)]
    pub colours: Vec<(String, Colour)>,
    /// Place the legend.
    #[arg(long, default_value = "bottom")]
    pub legend: Legend,
    /// Also draw the lower bound.
    #[arg(long)]
    pub lower_bound: bool,
    /// Do not mark where another algorithm becomes the fastest (only with --kind curves).
    #[arg(long)]
    pub no_crossovers: bool,
    /// Give the y axes of all panels of curves the same range.
    #[arg(long)]
    pub share_y: bool,
    /// Select the column that a heat map shows [default: time_us].
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,
    /// Select the columns of both axes of a heat map [default: block_bytes,algorithm].
    #[arg(long, value_name = "X,Y", value_parser = axes)]
    pub axes: Option<(String, String)>,
    /// Choose the scales of the panels of --kind parts, steps or traffic [default: shared].
    #[arg(long)]
    pub scales: Option<Scales>,
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

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The rows of the report.
    #[command(flatten)]
    pub rows: RowsArgs,
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
