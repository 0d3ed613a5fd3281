use crate::args::{BarsArgs, FigureArgs, PlotArgs, PlotKind, RowsArgs};
use crate::compare::unknown;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::say::say;
use crate::{output, result_files};
use std::collections::BTreeSet;
use swapmeet_plot::{
    Appearance, DrawError, Drawable, Figure, FigureError, FigureFormat, FigureOptions, HeatColumns,
    HeatFigure, Paper, Quantity, Reference, StackKind, StackedBars, WinnerFigure,
};
use swapmeet_results::analysis::Axis;
use swapmeet_results::{Comparison, Record, compare};

pub(crate) fn plot(PlotArgs(kind): &PlotArgs) -> Result<ExitStatus, Failure> {
    let args = kind.figure();
    // Errors in names and sizes are reported before rows are read.
    let format = format(args)?;
    output::may_write(&args.out, args.over, &args.rows.files)?;
    let data = args.data.then(|| args.out.with_extension("csv")).filter(|data| *data != args.out);
    if let Some(data) = &data {
        output::may_write(data, args.over, &args.rows.files)?;
    }
    let paper = Paper { width: args.width, font: args.font };
    paper.check().map_err(Failure::Usage)?;
    // The function for each kind of figure checks that the rows have the values that it draws.
    let mut files = result_files::read(&args.rows.files)?;
    let algorithms = algorithms(&files);
    let mut selection = RowSelection::new(&args.rows);
    files.iter_mut().for_each(|(_, rows)| rows.retain(|row| selection.contains(row)));
    selection.check()?;
    let drawn = figure(kind, &files, &algorithms)?;
    let file = |format| drawn.file(format, &paper, f64::from(args.scale)).map_err(unwritten);
    let bytes = file(format)?;
    output::file(&args.out, |out| out.write_all(&bytes))?;
    if let Some(data) = data {
        let table = file(FigureFormat::Csv)?;
        output::file(&data, |out| out.write_all(&table))?;
    }
    for words in drawn.remarks().into_iter().chain(drawn.moved_legend(&paper)) {
        say!("{words}");
    }
    Ok(SUCCESS)
}

/// `algorithms` are all algorithms in the files, including those whose rows are not selected.
fn figure(
    kind: &PlotKind,
    files: &[(String, Vec<Record>)],
    algorithms: &[String],
) -> Result<Box<dyn Drawable>, Failure> {
    let FigureArgs { title, legend, .. } = kind.figure();
    let plain = Appearance {
        title: title.as_deref(),
        legend: *legend,
        algorithms,
        ..Appearance::default()
    };
    let bars = |stack, args: &BarsArgs| -> Result<Box<dyn Drawable>, Failure> {
        let appearance = Appearance { labels: &args.labels.labels, ..plain };
        let bars = StackedBars::from_rows(stack, args.scales, files, &appearance);
        Ok(Box::new(bars.map_err(Failure::usage)?))
    };
    let axis = |flag, name: &str, comparison: &Comparison| {
        let names = Axis::ALL.map(Axis::name);
        Axis::find(name, comparison).map_err(|error| unknown(flag, name, &error, &names))
    };
    Ok(match kind {
        PlotKind::Curves(args) => {
            // Over failed links, the optimum shows which part of the slowdown no schedule can
            // avoid.
            let baseline = args.baseline.as_deref();
            let comparison = compare(files, baseline).map_err(Failure::usage)?;
            let x = match &args.x {
                Some(name) => axis("--x", name, &comparison)?,
                None => Axis::main(&comparison),
            };
            let optimum = x == Axis::Faults && args.y == Quantity::Time;
            let optimum = optimum.then_some(Reference::Optimum);
            let options = FigureOptions {
                x,
                y: args.y,
                log: args.log,
                baseline,
                appearance: Appearance {
                    labels: &args.labels.labels,
                    colours: &args.colours.colours,
                    ..plain
                },
                reference: if args.lower_bound { Some(Reference::LowerBound) } else { optimum },
                crossovers: !args.no_crossovers,
                share_y: args.share_y,
            };
            let figure = Figure::of_comparison(&comparison, files, &options);
            Box::new(figure.map_err(Failure::usage)?)
        }
        PlotKind::Winners(args) => {
            let (labels, colours) = (&args.labels.labels, &args.colours.colours);
            let appearance = Appearance { labels, colours, ..plain };
            let comparison = compare(files, None).map_err(Failure::usage)?;
            let of = |name: &String| axis("--axes", name, &comparison);
            let axes = args.axes.as_ref().map(|(x, y)| Ok::<_, Failure>((of(x)?, of(y)?)));
            let figure = WinnerFigure::of_comparison(&comparison, axes.transpose()?, &appearance);
            Box::new(figure.map_err(Failure::usage)?)
        }
        PlotKind::Parts(args) => bars(StackKind::Parts, args)?,
        PlotKind::Traffic(args) => bars(StackKind::Traffic, args)?,
        PlotKind::Heat(args) => {
            let wanted = HeatColumns { value: &args.value, x: &args.axes.0, y: &args.axes.1 };
            let figure = HeatFigure::from_rows(files, wanted, &plain);
            Box::new(figure.map_err(|error| match &error {
                FigureError::NoColumn { error: unknown_name } => {
                    let (name, _) = unknown_name.names();
                    let flag = if name == args.value { "--value" } else { "--axes" };
                    unknown(
                        flag,
                        name,
                        unknown_name,
                        &swapmeet_results::columns().collect::<Vec<_>>(),
                    )
                }
                _ => Failure::usage(error),
            })?)
        }
    })
}

fn algorithms(files: &[(String, Vec<Record>)]) -> Vec<String> {
    let names = files.iter().flat_map(|(_, rows)| rows).map(|row| row.algorithm.clone());
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

fn unwritten(error: DrawError) -> Failure {
    match error {
        DrawError::NoCurves => Failure::usage(error),
        DrawError::Size { .. } | DrawError::Png(_) | DrawError::Csv(_) => Failure::output(error),
    }
}

fn format(args: &FigureArgs) -> Result<FigureFormat, Failure> {
    args.format.or_else(|| FigureFormat::of_path(&args.out)).ok_or_else(|| {
        let expected = "expected a name that ends in .svg, .png, .pdf, .tex or .csv, or --format";
        Failure::Usage(format!("--out {}: {expected}", args.out.display()))
    })
}

/// The rows that `--topology`, `--algorithm`, `--workload` and `--machine` select.
pub(crate) struct RowSelection<'a> {
    choices: [Choice<'a>; 4],
}

/// The selected values of a column. An empty list selects all rows.
struct Choice<'a> {
    flag: &'static str,
    wanted: &'a [String],
    text: fn(&Record) -> &str,
    /// The values of this column in the rows that the previous flags select.
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

    pub(crate) fn contains(&mut self, row: &Record) -> bool {
        self.choices.iter_mut().all(|Choice { wanted, text, known, .. }| {
            let value = text(row);
            if !wanted.is_empty() && !known.contains(value) {
                known.insert(value.to_owned());
            }
            wanted.is_empty() || wanted.iter().any(|one| one == value)
        })
    }

    /// Errors if the user selected a value that no row has. Must be called after the last row.
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
