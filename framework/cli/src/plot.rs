//! `swapmeet plot`: a figure of result files.

use crate::args::{FigureFormat, LogAxes, PlotArgs, RowsArgs, XAxis, YAxis};
use crate::failure::Failure;
use crate::output;
use crate::say::say;
use std::process::ExitCode;
use swapmeet_plot::{Figure, Log, Paper, Wanted, Y};
use swapmeet_results::analysis::Axis;
use swapmeet_results::{Record, read_files};

pub(crate) fn plot(args: &PlotArgs) -> Result<ExitCode, Failure> {
    let format = format(args)?;
    output::none_of(&args.out, &args.rows.files)?;
    let data = args.data.then(|| args.out.with_extension("csv")).filter(|data| *data != args.out);
    if let Some(data) = &data {
        output::none_of(data, &args.rows.files)?;
    }
    let paper = Paper { width: args.width, font: args.font };
    paper.check().map_err(Failure::Usage)?;
    let wanted = Wanted {
        x: match args.x {
            XAxis::Block => Axis::Block,
            XAxis::Nodes => Axis::Nodes,
            XAxis::Cv => Axis::Variation,
        },
        y: match args.y {
            YAxis::Time => Y::Time,
            YAxis::Ratio => Y::Ratio,
            YAxis::Bound => Y::Bound,
            YAxis::Contention => Y::Contention,
            YAxis::Steps => Y::Steps,
            YAxis::Messages => Y::Messages,
            YAxis::LinkMessages => Y::LinkMessages,
            YAxis::NodeBytes => Y::NodeBytes,
        },
        log: args.log.map(|axes| Log {
            x: matches!(axes, LogAxes::X | LogAxes::Both),
            y: matches!(axes, LogAxes::Y | LogAxes::Both),
        }),
        baseline: args.rows.baseline.as_deref(),
        title: args.title.as_deref(),
        labels: &args.labels,
        bound: args.lower_bound,
    };
    let figure = Figure::of(&rows(&args.rows)?, &wanted).map_err(|e| Failure::Usage(e.to_string()))?;
    let table = || figure.csv().map(String::into_bytes).map_err(|e| Failure::Output(e.to_string()));
    let bytes = match format {
        FigureFormat::Svg => figure.svg(&paper).into_bytes(),
        FigureFormat::Png => figure.png(&paper, f64::from(args.scale)).map_err(|e| Failure::Output(e.to_string()))?,
        FigureFormat::Pdf => figure.pdf(&paper),
        FigureFormat::Pgfplots => figure.pgfplots().into_bytes(),
        FigureFormat::Csv => table()?,
    };
    output::file(&args.out, |out| out.write_all(&bytes))?;
    if let Some(data) = data {
        let table = table()?;
        output::file(&data, |out| out.write_all(&table))?;
    }
    for note in &figure.notes {
        say!("{note}");
    }
    for words in figure.crossings() {
        say!("{words}");
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked for, or what the file's name says.
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

/// The rows of the files that were chosen.
pub(crate) fn rows(args: &RowsArgs) -> Result<Vec<(String, Vec<Record>)>, Failure> {
    let mut files = read_files(&args.files).map_err(|e| Failure::Usage(e.to_string()))?;
    type Text = fn(&Record) -> &str;
    let choices: [(&str, &[String], Text); 3] = [
        ("--topology", &args.topologies, |r| &r.topology),
        ("--algorithm", &args.algorithms, |r| &r.algorithm),
        ("--machine", &args.machines, |r| &r.machine),
    ];
    for (flag, wanted, text) in choices {
        for value in wanted {
            if !files.iter().flat_map(|(_, rows)| rows).any(|r| text(r) == value) {
                let mut known: Vec<&str> = files.iter().flat_map(|(_, rows)| rows).map(text).collect();
                known.sort_unstable();
                known.dedup();
                return Err(Failure::Usage(format!("{flag} {value}: no row has it; there are {}", known.join(", "))));
            }
        }
        for (_, rows) in &mut files {
            rows.retain(|row| wanted.is_empty() || wanted.iter().any(|value| value == text(row)));
        }
    }
    Ok(files)
}
