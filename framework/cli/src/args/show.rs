//! For showing results: `plot` and `report`.

use super::Over;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use swapmeet_plot::Length;

pub(super) const PLOT_EXAMPLES: &str = "\
Examples:
  swapmeet plot rows.csv --out figure.svg
  swapmeet plot rows.csv --x nodes --machine paragon --out figure.png
  swapmeet plot rows.csv --y ratio --baseline pex --log x --out figure.svg
  swapmeet plot rows.csv --kind winners --out winners.pdf
  swapmeet plot rows.csv --kind parts --topology torus:8x8 --out parts.svg
  swapmeet plot rows.csv --kind traffic --workload uniform:1KiB --out traffic.svg
  swapmeet plot rows.csv --width 84mm --font 8pt --label pex=Pairwise --lower-bound --out figure.pdf

Rows that differ in topology or machine go into panels of their own. Bars are 95 %
intervals of repetitions; letters mark where another algorithm becomes the fastest,
which is a matter of times, whatever is shown.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  swapmeet report rows.csv --out report.html
  swapmeet report monday.csv tuesday.csv --baseline pex --title 'PEX and its rivals' --out report.html

The page is one file that fetches nothing: it can be mailed, archived and printed.";

/// What a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FigureKind {
    /// A curve an algorithm, over block sizes, nodes or variation.
    #[default]
    Curves,
    /// Who is fastest for each block size and network, or machine, and by how much.
    Winners,
    /// The parts of each algorithm's time, end to end.
    Parts,
    /// Steps, and the turns that they come to if messages over one link wait for each other.
    Steps,
    /// Bytes over links: what is sent, once, and again for each further link of its route.
    Traffic,
}

/// What is on the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum XAxis {
    /// Bytes of a block (of irregular sizes their mean, of spikes the spike).
    Block,
    /// Nodes.
    Nodes,
    /// Coefficient of variation of irregular sizes.
    Cv,
}

/// What is on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YAxis {
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
    /// Algorithm bandwidth, size over time, as nccl-tests defines it
    Algbw,
    /// Bus bandwidth, as nccl-tests defines it: comparable to a node's
    Busbw,
}

/// Which axes are logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogAxes {
    /// Neither.
    None,
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both.
    Both,
}

/// What a figure is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureFormat {
    /// A picture for pages, with text as text.
    Svg,
    /// A picture of pixels.
    Png,
    /// A page of the figure's size.
    Pdf,
    /// A picture for LaTeX, drawn by pgfplots.
    Pgfplots,
    /// The points that would be drawn.
    Csv,
}

/// An algorithm, and what it is called. An algorithm's parameters have equals signs of their own:
/// the last one counts.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, label) = text.rsplit_once('=').ok_or("expected ALGORITHM=TEXT")?;
    Ok((name.to_owned(), label.to_owned()))
}

/// Rows of result files, and which of them.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Result files.
    #[arg(required = true, value_name = "FILE.csv")]
    pub files: Vec<PathBuf>,
    /// Only rows of this topology; may be given several times.
    #[arg(long = "topology", value_name = "SPEC")]
    pub topologies: Vec<String>,
    /// Only rows of this algorithm; may be given several times.
    #[arg(long = "algorithm", value_name = "SPEC")]
    pub algorithms: Vec<String>,
    /// Only rows of this workload, as the rows have it; may be given several times.
    #[arg(long = "workload", value_name = "SPEC")]
    pub workloads: Vec<String>,
    /// Only rows of this machine; may be given several times.
    #[arg(long = "machine", value_name = "SPEC")]
    pub machines: Vec<String>,
    /// The algorithm that others are compared with; the fastest if not given.
    #[arg(long, value_name = "ALGO")]
    pub baseline: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Which rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Where the figure goes.
    #[arg(long, value_name = "FIGURE.svg|png|pdf|tex|csv")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
    /// What it is written as [default: what the ending of its name says].
    #[arg(long)]
    pub format: Option<FigureFormat>,
    /// What it shows.
    #[arg(long, default_value = "curves")]
    pub kind: FigureKind,
    /// What is on the x axis of curves [default: block].
    #[arg(long)]
    pub x: Option<XAxis>,
    /// What is on the y axis of curves [default: time].
    #[arg(long)]
    pub y: Option<YAxis>,
    /// Which axes are logarithmic [default: what suits them; `--log` alone: both].
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "both")]
    pub log: Option<LogAxes>,
    /// A title [default: what all rows have in common].
    #[arg(long)]
    pub title: Option<String>,
    /// What an algorithm is called; may be given several times, in the order of the legend.
    #[arg(long = "label", value_name = "ALGO=TEXT", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// Show the lower bound, too: what no schedule can beat.
    #[arg(long)]
    pub lower_bound: bool,
    /// How wide the figure is, such as 84mm, 3.3in or 240pt [default: what its panels need].
    #[arg(long, value_name = "LENGTH")]
    pub width: Option<Length>,
    /// The size of its letters, such as 8pt [default: 9pt].
    #[arg(long, value_name = "LENGTH")]
    pub font: Option<Length>,
    /// Also write the points that are drawn, as CSV beside the figure.
    #[arg(long)]
    pub data: bool,
    /// Pixels of a PNG to one of the SVG.
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub scale: u8,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Which rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Where the page goes; `-` is standard output.
    #[arg(long, value_name = "REPORT.html")]
    pub out: PathBuf,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
    /// A title [default: the experiments' names].
    #[arg(long)]
    pub title: Option<String>,
}
