//! `swapmeet plot`: draws result files.

use crate::args::{FigureFormat, FigureKind, LogAxes, PlotArgs, RowsArgs, XAxis, YAxis};
use crate::failure::Failure;
use crate::output;
use crate::say::say;
use std::process::ExitCode;
use swapmeet_plot::{
    Drawable, Figure, FigureError, FigureOptions, LogScales, Paper, Quantity, StackKind,
    StackedBars, WinnerFigure,
};
use swapmeet_results::analysis::Axis;
use swapmeet_results::{Record, read_files};

pub(crate) fn plot(args: &PlotArgs) -> Result<ExitCode, Failure> {
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
    let files = rows(&args.rows)?;
    let drawn: Box<dyn Drawable> = match args.kind {
        FigureKind::Curves => Box::new(Figure::of(&files, &curves(args)).map_err(|e| refused(&e))?),
        FigureKind::Winners => {
            only_for_curves(args)?;
            Box::new(
                WinnerFigure::of(&files, args.title.as_deref(), &args.labels)
                    .map_err(|e| refused(&e))?,
            )
        }
        FigureKind::Parts => stacked(args, &files, StackKind::Parts)?,
        FigureKind::Steps => stacked(args, &files, StackKind::Steps)?,
        FigureKind::Traffic => stacked(args, &files, StackKind::Traffic)?,
    };
    // Convert the figure to the requested file format.
    let table = || drawn.csv().map(String::into_bytes).map_err(|e| Failure::Output(e.to_string()));
    let picture = || drawn.picture(&paper);
    let bytes = match format {
        FigureFormat::Svg => picture().svg().into_bytes(),
        FigureFormat::Png => {
            picture().png(f64::from(args.scale)).map_err(|e| Failure::Output(e.to_string()))?
        }
        FigureFormat::Pdf => picture().pdf(),
        FigureFormat::Pgfplots => {
            let expected = "pgfplots draws curves: for another --kind use svg, png, pdf or csv";
            drawn.pgfplots().ok_or_else(|| Failure::Usage(expected.to_owned()))?.into_bytes()
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
    Ok(ExitCode::SUCCESS)
}

fn stacked(
    args: &PlotArgs,
    files: &[(String, Vec<Record>)],
    stack: StackKind,
) -> Result<Box<dyn Drawable>, Failure> {
    only_for_curves(args)?;
    Ok(Box::new(
        StackedBars::of(stack, files, args.title.as_deref(), &args.labels)
            .map_err(|e| refused(&e))?,
    ))
}

/// Returns the options of a figure that consists of curves.
fn curves(args: &PlotArgs) -> FigureOptions<'_> {
    FigureOptions {
        x: match args.x.unwrap_or(XAxis::Block) {
            XAxis::Block => Axis::Block,
            XAxis::Nodes => Axis::Nodes,
            XAxis::Cv => Axis::Variation,
        },
        y: match args.y.unwrap_or(YAxis::Time) {
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
        },
        log: args.log.map(|axes| LogScales {
            x: matches!(axes, LogAxes::X | LogAxes::Both),
            y: matches!(axes, LogAxes::Y | LogAxes::Both),
        }),
        baseline: args.rows.baseline.as_deref(),
        title: args.title.as_deref(),
        labels: &args.labels,
        bound: args.lower_bound,
    }
}

/// Errors if the user gives a flag that only applies to curves.
fn only_for_curves(args: &PlotArgs) -> Result<(), Failure> {
    let given = [
        ("--x", args.x.is_some()),
        ("--y", args.y.is_some()),
        ("--log", args.log.is_some()),
        ("--baseline", args.rows.baseline.is_some()),
        ("--lower-bound", args.lower_bound),
    ];
    match given.into_iter().find(|(_, given)| *given) {
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

/// Reads files and returns the rows that the user selects.
pub(crate) fn rows(args: &RowsArgs) -> Result<Vec<(String, Vec<Record>)>, Failure> {
    let mut files = read_files(&args.files).map_err(|e| Failure::Usage(e.to_string()))?;
    type Text = fn(&Record) -> &str;
    let choices: [(&str, &[String], Text); 4] = [
        ("--topology", &args.topologies, |r| &r.topology),
        ("--algorithm", &args.algorithms, |r| &r.algorithm),
        ("--workload", &args.workloads, |r| &r.workload),
        ("--machine", &args.machines, |r| &r.machine),
    ];
    for (flag, wanted, text) in choices {
        for value in wanted {
            if !files.iter().flat_map(|(_, rows)| rows).any(|r| text(r) == value) {
                let mut known: Vec<&str> =
                    files.iter().flat_map(|(_, rows)| rows).map(text).collect();
                known.sort_unstable();
                known.dedup();
                return Err(Failure::Usage(format!(
                    "{flag} {value}: no row has this value, expected one of {}",
                    known.join(", ")
                )));
            }
        }
        for (_, rows) in &mut files {
            rows.retain(|row| wanted.is_empty() || wanted.iter().any(|value| value == text(row)));
        }
    }
    Ok(files)
}
