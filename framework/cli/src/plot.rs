//! `swapmeet plot`: a figure of result files.

use crate::args::{LogAxes, PlotArgs, RowsArgs, XAxis, YAxis};
use crate::failure::Failure;
use crate::output;
use crate::say::say;
use std::path::Path;
use std::process::ExitCode;
use swapmeet_plot::{Figure, Log, Wanted, Y};
use swapmeet_results::analysis::Axis;
use swapmeet_results::{Record, read_files};

/// What a figure is written as.
enum Kind {
    Svg,
    Png,
    Pdf,
}

/// Draws a figure.
pub fn plot(args: &PlotArgs) -> Result<ExitCode, Failure> {
    let kind = kind(&args.out)?;
    output::none_of(&args.out, &args.rows.files)?;
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
    };
    let figure = Figure::of(&rows(&args.rows)?, &wanted).map_err(|e| Failure::Usage(e.to_string()))?;
    let bytes = match kind {
        Kind::Svg => figure.svg().into_bytes(),
        Kind::Png => figure.png(f64::from(args.scale)).map_err(|e| Failure::Output(e.to_string()))?,
        Kind::Pdf => figure.pdf(),
    };
    output::file(&args.out, |out| out.write_all(&bytes))?;
    for note in &figure.notes {
        say!("{note}");
    }
    for words in figure.crossings() {
        say!("{words}");
    }
    Ok(ExitCode::SUCCESS)
}

fn kind(out: &Path) -> Result<Kind, Failure> {
    match out.extension().and_then(|e| e.to_str()) {
        Some("svg") => Ok(Kind::Svg),
        Some("png") => Ok(Kind::Png),
        Some("pdf") => Ok(Kind::Pdf),
        _ => Err(Failure::Usage(format!("--out {}: expected a name that ends in .svg, .png or .pdf", out.display()))),
    }
}

/// The rows of the files that were chosen.
pub fn rows(args: &RowsArgs) -> Result<Vec<(String, Vec<Record>)>, Failure> {
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
