//! `swapmeet plot`: draws result files.

use crate::args::{
    FigureFormat, FigureKind, Legend, LogAxes, PlotArgs, RowsArgs, Scales, XAxis, YAxis,
};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::say::say;
use crate::{output, result_files};
use std::collections::BTreeSet;
use swapmeet_plot::{
    Appearance, Drawable, Figure, FigureError, FigureOptions, HeatColumns, HeatFigure, LegendPlace,
    LogScales, NetworkFigure, Paper, Quantity, Reference, StackKind, StackedBars, WinnerFigure,
};
use swapmeet_results::Record;
use swapmeet_results::analysis::Axis;

pub(crate) fn plot(args: &PlotArgs) -> Result<ExitStatus, Failure> {
    // Report invalid names and sizes before any rows are read.
    let format = format(args)?;
    output::may_write(&args.out, args.over, &args.rows.files)?;
    let data = args.data.then(|| args.out.with_extension("csv")).filter(|data| *data != args.out);
    if let Some(data) = &data {
        output::may_write(data, args.over, &args.rows.files)?;
    }
    let paper = Paper { width: args.width, font: args.font };
    paper.check().map_err(Failure::Usage)?;
    // Each kind of figure checks that the rows contain the values that the figure draws.
    check_flags(args)?;
    let mut files = result_files::read(&args.rows.files)?;
    let algorithms = algorithms(&files);
    let mut selection = RowSelection::new(&args.rows);
    files.iter_mut().for_each(|(_, rows)| rows.retain(|row| selection.contains(row)));
    selection.check()?;
    let appearance = appearance(args, &algorithms);
    let stacked = |stack| {
        let shared = args.scales != Some(Scales::Free);
        StackedBars::of(stack, shared, &files, &appearance)
    };
    let drawn: Result<Box<dyn Drawable>, FigureError> = match args.kind {
        FigureKind::Curves | FigureKind::Scaling | FigureKind::Faults => {
            Figure::of(&files, &curves(args, appearance)).map(boxed)
        }
        FigureKind::Links => NetworkFigure::of(&files, &appearance).map(boxed),
        FigureKind::Winners => WinnerFigure::of(&files, &appearance).map(boxed),
        FigureKind::Parts => stacked(StackKind::Parts).map(boxed),
        FigureKind::Steps => stacked(StackKind::Steps).map(boxed),
        FigureKind::Traffic => stacked(StackKind::Traffic).map(boxed),
        FigureKind::Heat => {
            let (x, y) = args
                .axes
                .as_ref()
                .map_or(("block_bytes", "algorithm"), |(x, y)| (x.as_str(), y.as_str()));
            let columns = HeatColumns { value: args.value.as_deref().unwrap_or("time_us"), x, y };
            HeatFigure::of(&files, columns, &appearance).map(boxed)
        }
    };
    let drawn = drawn.map_err(|e| refused(&e))?;
    // Convert the figure to the requested file format.
    let table = || drawn.csv().map(String::into_bytes).map_err(Failure::output);
    let picture = || drawn.picture(&paper);
    let bytes = match format {
        FigureFormat::Svg => picture().svg().into_bytes(),
        FigureFormat::Png => picture().png(f64::from(args.scale)).map_err(Failure::output)?,
        FigureFormat::Pdf => picture().pdf(),
        FigureFormat::Pgfplots => {
            let expected = "pgfplots draws curves: for another --kind use svg, png, pdf or csv";
            drawn.pgfplots(&paper).ok_or_else(|| Failure::Usage(expected.to_owned()))?.into_bytes()
        }
        FigureFormat::Csv => table()?,
    };
    // Write the file only if the whole figure could be drawn.
    output::file(&args.out, |out| out.write_all(&bytes))?;
    if let Some(data) = data {
        let table = table()?;
        output::file(&data, |out| out.write_all(&table))?;
    }
    for words in drawn.remarks() {
        say!("{words}");
    }
    Ok(SUCCESS)
}

fn boxed(figure: impl Drawable + 'static) -> Box<dyn Drawable> {
    Box::new(figure)
}

/// Returns the names of all algorithms, without duplicates.
fn algorithms(files: &[(String, Vec<Record>)]) -> Vec<String> {
    let names = files.iter().flat_map(|(_, rows)| rows).map(|row| row.algorithm.clone());
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

fn appearance<'a>(args: &'a PlotArgs, algorithms: &'a [String]) -> Appearance<'a> {
    Appearance {
        title: args.title.as_deref(),
        labels: &args.labels,
        colours: &args.colours,
        algorithms,
        legend: match args.legend {
            Legend::Bottom => LegendPlace::Bottom,
            Legend::Top => LegendPlace::Top,
            Legend::Right => LegendPlace::Right,
            Legend::Inside => LegendPlace::Inside,
            Legend::None => LegendPlace::None,
        },
    }
}

/// Returns the options of a figure that consists of curves.
fn curves<'a>(args: &'a PlotArgs, appearance: Appearance<'a>) -> FigureOptions<'a> {
    let has_faults = args.kind == FigureKind::Faults;
    let y = quantity(args.y.unwrap_or(YAxis::Time));
    // In a figure of failures, also draw the optimum. It shows how much of the slowdown no schedule
    // can avoid.
    let optimum = (has_faults && y == Quantity::Time).then_some(Reference::Optimum);
    FigureOptions {
        x: match args.x.unwrap_or(XAxis::Block) {
            _ if has_faults => Axis::Faults,
            _ if args.kind == FigureKind::Scaling => Axis::Nodes,
            XAxis::Block => Axis::Block,
            XAxis::Nodes => Axis::Nodes,
            XAxis::Cv => Axis::Variation,
        },
        y,
        log: args.log.map(|axes| LogScales {
            x: matches!(axes, LogAxes::X | LogAxes::Both),
            y: matches!(axes, LogAxes::Y | LogAxes::Both),
        }),
        baseline: args.rows.baseline.as_deref(),
        appearance,
        reference: if args.lower_bound { Some(Reference::LowerBound) } else { optimum },
        crossovers: !args.no_crossovers,
        share_y: args.share_y,
    }
}

fn quantity(axis: YAxis) -> Quantity {
    match axis {
        YAxis::Time => Quantity::Time,
        YAxis::Ratio => Quantity::Ratio,
        YAxis::Bound => Quantity::Bound,
        YAxis::Optimum => Quantity::Optimum,
        YAxis::Contention => Quantity::Contention,
        YAxis::Steps => Quantity::Steps,
        YAxis::Messages => Quantity::Messages,
        YAxis::LinkMessages => Quantity::LinkMessages,
        YAxis::NodeBytes => Quantity::NodeBytes,
        YAxis::Algbw => Quantity::AlgorithmBandwidth,
        YAxis::Busbw => Quantity::BusBandwidth,
    }
}

/// Errors if the user gives a flag that does not apply to the kind of the figure.
fn check_flags(args: &PlotArgs) -> Result<(), Failure> {
    let has_bars = matches!(args.kind, FigureKind::Parts | FigureKind::Steps | FigureKind::Traffic);
    if args.scales.is_some() && !has_bars {
        return Err(Failure::Usage(
            "--scales is for parts, steps and traffic: omit it or choose one with --kind"
                .to_owned(),
        ));
    }
    if args.kind != FigureKind::Heat {
        let given = [("--value", args.value.is_some()), ("--axes", args.axes.is_some())];
        if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(Failure::Usage(format!("{flag} is for --kind heat: omit it")));
        }
    }
    // In heat maps and pictures of links, colours stand for values and not for algorithms. The axes
    // of a heat map can be any columns, so labels of algorithms do not apply to them.
    let unused: &[(&str, bool)] = match args.kind {
        FigureKind::Heat => {
            &[("--colour", !args.colours.is_empty()), ("--label", !args.labels.is_empty())]
        }
        FigureKind::Links => &[("--colour", !args.colours.is_empty())],
        _ => &[],
    };
    if let Some((flag, _)) = unused.iter().find(|(_, given)| *given) {
        let what = "is for figures whose curves, bars or cells are algorithms: omit it or --kind";
        return Err(Failure::Usage(format!("{flag} {what}")));
    }
    let given: &[(&str, bool)] = match args.kind {
        FigureKind::Curves => &[],
        FigureKind::Scaling | FigureKind::Faults => &[("--x", args.x.is_some())],
        _ => &[
            ("--x", args.x.is_some()),
            ("--y", args.y.is_some()),
            ("--log", args.log.is_some()),
            ("--baseline", args.rows.baseline.is_some()),
            ("--lower-bound", args.lower_bound),
            ("--no-crossovers", args.no_crossovers),
            ("--share-y", args.share_y),
            ("--legend inside", args.legend == Legend::Inside),
        ],
    };
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::Usage(format!("{flag} is for curves: omit it or --kind"))),
        None => Ok(()),
    }
}

fn refused(error: &FigureError) -> Failure {
    let is_about_optimum =
        matches!(error, FigureError::Nothing(_, y) if *y == Quantity::Optimum.label());
    let hint = if is_about_optimum { ": `run --optimum` makes rows that have it" } else { "" };
    Failure::Usage(format!("{error}{hint}"))
}

/// Returns the file format that the user requests, or the format that belongs to the file name
/// extension.
fn format(args: &PlotArgs) -> Result<FigureFormat, Failure> {
    let named = match args.out.extension().and_then(|e| e.to_str()) {
        Some("svg") => Some(FigureFormat::Svg),
        Some("png") => Some(FigureFormat::Png),
        Some("pdf") => Some(FigureFormat::Pdf),
        Some("tex") => Some(FigureFormat::Pgfplots),
        Some("csv") => Some(FigureFormat::Csv),
        Some(_) | None => None,
    };
    args.format.or(named).ok_or_else(|| {
        let expected = "expected a name that ends in .svg, .png, .pdf, .tex or .csv, or --format";
        Failure::Usage(format!("--out {}: {expected}", args.out.display()))
    })
}

/// The rows that the flags `--topology`, `--algorithm`, `--workload` and `--machine` select.
pub(crate) struct RowSelection<'a> {
    choices: [Choice<'a>; 4],
}

/// The values of a column that the user selects. If there are none, all rows are selected.
struct Choice<'a> {
    flag: &'static str,
    wanted: &'a [String],
    text: fn(&Record) -> &str,
    /// The values of the rows that the flags before this one select.
    known: BTreeSet<String>,
}

impl<'a> RowSelection<'a> {
    pub(crate) fn new(args: &'a RowsArgs) -> Self {
        let choice = |flag, wanted, text| Choice { flag, wanted, text, known: BTreeSet::new() };
        Self {
            choices: [
                choice("--topology", &*args.topologies, |r: &Record| &r.topology),
                choice("--algorithm", &*args.algorithms, |r| &r.algorithm),
                choice("--workload", &*args.workloads, |r| &r.workload),
                choice("--machine", &*args.machines, |r| &r.machine),
            ],
        }
    }

    /// Returns whether a row is selected.
    pub(crate) fn contains(&mut self, row: &Record) -> bool {
        self.choices.iter_mut().all(|Choice { wanted, text, known, .. }| {
            let value = text(row);
            if !wanted.is_empty() && !known.contains(value) {
                known.insert(value.to_owned());
            }
            wanted.is_empty() || wanted.iter().any(|one| one == value)
        })
    }

    /// Errors if no row has a value that the user selects. Call this function after all rows.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        for Choice { flag, wanted, known, .. } in &self.choices {
            if let Some(value) = wanted.iter().find(|value| !known.contains(*value)) {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(Failure::Usage(format!(
                    "{flag} {value}: no row has this value, expected one of {}",
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }
}
