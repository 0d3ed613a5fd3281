//! A figure of panels and curves, computed from rows.

mod reference;

use crate::appearance::{Appearance, Labels, LegendPlace};
use crate::error::{FigureError, MOST_CURVES};
use crate::quantity::{LogAxes, Quantity};
use crate::style::Styles;
use crate::titles::Titles;
pub(crate) use reference::ErrorBars;
pub use reference::Reference;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{
    Axis, Crossover, Curve as TimeCurve, Families, Family, crossover_interval, families,
};
use swapmeet_results::stats::{Interval, Summary, distinct};
use swapmeet_results::units::count;
use swapmeet_results::{Comparison, ComparisonLine, Record, Status, compare, csv_table};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// The mean of the quantity over repetitions.
    pub y: f64,
    /// The error bar, if the repetitions differ: the 95 % confidence interval of the mean, or in a
    /// figure over failed links the range of all values.
    pub interval: Option<Interval>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub name: String,
    /// The points, in increasing order of x.
    pub points: Vec<Point>,
    /// The lines that connect the points. Each line is a list of positions. There are several lines
    /// if the curve has gaps.
    pub lines: Vec<Vec<(f64, f64)>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DrawnCrossover {
    /// The crossover, which is computed from completion times.
    pub crossover: Crossover,
    /// The position in the figure at which the lines of both curves meet. It is `None` if the two
    /// lines need not meet: if the figure shows a quantity that does not depend on time alone, or
    /// if no case can exist between two points of the x axis.
    pub at: Option<(f64, f64)>,
    pub interval: Option<Interval>,
}

/// A panel of a figure: cases that differ only in the algorithm and in x.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The settings in which the panel differs from the other panels. Empty if there is only one
    /// panel.
    pub title: String,
    pub curves: Vec<Curve>,
    /// The curve of the reference, such as the lower bound, if it was requested.
    pub reference: Option<Curve>,
    pub crossovers: Vec<DrawnCrossover>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FigureOptions<'a> {
    pub x: Axis,
    pub y: Quantity,
    /// Which axes are logarithmic. With `None`, this is chosen from the values.
    pub log: Option<LogAxes>,
    /// The baseline: the algorithm by whose time the times of all algorithms are divided to get
    /// ratios.
    pub baseline: Option<&'a str>,
    pub appearance: Appearance<'a>,
    /// The reference that is drawn as a curve. If rows do not have its value, no curve is drawn.
    pub reference: Option<Reference>,
    pub crossovers: bool,
    pub share_y: bool,
}

impl FigureOptions<'_> {
    pub fn new(x: Axis, y: Quantity) -> Self {
        Self {
            x,
            y,
            log: None,
            baseline: None,
            appearance: Appearance::default(),
            reference: None,
            crossovers: true,
            share_y: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub x: Axis,
    pub y: Quantity,
    pub log: LogAxes,
    /// The title: the title that the user gave, or the settings that all panels have in common.
    pub title: String,
    pub x_label: &'static str,
    pub y_label: String,
    /// The names of all curves, in the order of the legend.
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    pub legend: LegendPlace,
    pub panels: Vec<Panel>,
    pub share_y: bool,
    /// Notes that name rows or curves that are not shown, with the reason.
    pub notes: Vec<String>,
    /// Remarks that are part of the figure. For example, a remark says that the machine charges
    /// only some of the algorithms for rearrangement.
    pub remarks: Vec<String>,
}

impl Figure {
    /// Makes a figure from the rows of `files`, which are pairs of a file name and its rows.
    pub fn from_rows(
        files: &[(String, Vec<Record>)],
        options: &FigureOptions<'_>,
    ) -> Result<Self, FigureError> {
        if options.reference.is_some() && options.y != Quantity::Time {
            return Err(FigureError::BoundOfTimes(options.y.label()));
        }
        Self::of_comparison(&compare(files, options.baseline)?, files, options)
    }

    /// Makes a figure from compared rows. `files` are the files of the comparison; they may be empty
    /// if the figure has no reference and shows times or ratios, which the comparison contains.
    pub(crate) fn of_comparison(
        comparison: &Comparison,
        files: &[(String, Vec<Record>)],
        options: &FigureOptions<'_>,
    ) -> Result<Self, FigureError> {
        if let Some(baseline) = options.baseline {
            comparison.check_baseline(baseline)?;
        }
        // Group the rows into families along the x axis. Each family becomes a panel.
        let rows = FigureData {
            files,
            comparison,
            y: options.y,
            bars: ErrorBars::for_axes(options.x, options.y),
            reference: options.reference,
            crossovers: options.crossovers,
        };
        let Families { families, off_axis } = families(comparison, options.x);
        let values = || {
            families.iter().flat_map(|family| &family.curves).flat_map(|curve| rows.points(curve))
        };
        let log = options
            .log
            .unwrap_or_else(|| LogAxes::suits(options.x, options.y, values().map(|point| point.y)));
        let shown = |point: &Point| (!log.x() || point.x > 0.0) && (!log.y() || point.y > 0.0);
        // Families and curves without a point that the axes can show are omitted. A panel is made
        // only after it is known that the figure can have all panels.
        let is_shown = |curve: &&TimeCurve| rows.points(curve).iter().any(shown);
        let shown_families: Vec<&Family> = families
            .iter()
            .filter(|family| family.curves.iter().any(|curve| is_shown(&curve)))
            .collect();
        let names: BTreeSet<&str> = shown_families
            .iter()
            .flat_map(|family| &family.curves)
            .filter(is_shown)
            .map(|curve| curve.algorithm.as_str())
            .collect();
        if shown_families.is_empty() {
            let hint = match options.y {
                Quantity::Optimum => ": `run --optimum` makes rows that have it",
                _ => "",
            };
            return Err(FigureError::Nothing(format!(
                "no row has values of {} (x axis) and {} (y axis){hint}",
                options.x.label(),
                options.y.label()
            )));
        }
        let labels = Labels::new(&options.appearance, &names)?;
        if names.len() > MOST_CURVES {
            return Err(FigureError::ManyCurves(names.len()));
        }
        // Order the names for the legend: those with a given label come first.
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let place = |name: &String| {
            options
                .appearance
                .labels
                .iter()
                .position(|(known, _)| known == name)
                .unwrap_or(usize::MAX)
        };
        names.sort_by_key(place);
        let titles = Titles::new(shown_families.iter().map(|family| &family.settings))?;
        let panels: Vec<Panel> = shown_families
            .iter()
            .zip(titles.panels)
            .map(|(family, title)| rows.panel(family, title, log, shown))
            .collect();
        // Collect notes that name what the figure does not show.
        let mut notes = comparison.notes.clone();
        let without = |n: usize, what: &'static str, why: String| {
            (n > 0).then(|| format!("not shown: {} {why}", count(n, what)))
        };
        notes.extend(without(off_axis, "case", format!("without {}", options.x.label())));
        notes.extend(without(
            rows.count_without(&families),
            "point",
            format!("without {}", options.y.label()),
        ));
        let at_0 = values().filter(|point| !shown(point)).count();
        notes.extend(without(
            at_0,
            "point",
            "at 0, which a logarithmic axis cannot show".to_owned(),
        ));
        notes.extend(shared_x_note(&families, options.x));
        let mut remarks = if options.y.is_of_times() {
            comparison.rearrangement_remarks.clone()
        } else {
            Vec::new()
        };
        if options.x == Axis::Faults && options.crossovers {
            remarks.extend(shown_families.iter().zip(&panels).filter_map(|(family, panel)| {
                Some(format!("{}{}", prefix(&panel.title), single_winner(family, &labels)?))
            }));
        }
        let mut figure = Self {
            x: options.x,
            y: options.y,
            log,
            x_label: options
                .x
                .label_of(shown_families.iter().map(|family| &*family.settings.workload)),
            y_label: options.y.label().to_owned(),
            labels,
            title: options.appearance.title.map_or(titles.common, str::to_owned),
            styles: options.appearance.styles(names.iter().map(String::as_str)),
            legend: options.appearance.legend,
            names,
            panels,
            share_y: options.share_y,
            notes,
            remarks,
        };
        if let Some(baseline) = options.baseline.filter(|_| options.y == Quantity::Ratio) {
            figure.y_label = format!("completion time over that of {}", figure.label(baseline));
        }
        Ok(figure)
    }

    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        self.labels.name(name)
    }

    pub(crate) fn has_bars(&self) -> bool {
        let mut points =
            self.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
        points.any(|point| point.interval.is_some())
    }

    pub fn crossover_texts(&self) -> impl Iterator<Item = String> {
        self.panels.iter().flat_map(move |panel| {
            let place = prefix(&panel.title);
            panel.crossovers.iter().map(move |DrawnCrossover { crossover, interval, .. }| {
                let (before, after) = (self.label(&crossover.before), self.label(&crossover.after));
                let called = Crossover {
                    before: before.to_owned(),
                    after: after.to_owned(),
                    ..crossover.clone()
                };
                format!("{place}{}", called.in_words_with(self.x, *interval))
            })
        })
    }
}

/// Returns the title of a panel as the start of a sentence; empty if there is only one panel.
fn prefix(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("{title}: ") }
}

/// Returns a sentence that names the fastest algorithm, if several algorithms compete and the same
/// one is the fastest at every x.
fn single_winner(family: &Family, labels: &Labels) -> Option<String> {
    let [only] = &family.envelope().ranges[..] else { return None };
    let axis = family.axis;
    (family.curves.len() > 1 && only.from < only.to).then(|| {
        let (from, to) = (axis.text(only.from), axis.text(only.to));
        let winner = labels.name(&only.algorithm);
        format!("{winner} is fastest from {from} to {to} {}", axis.label())
    })
}

/// The compared rows, and the quantity of the y axis.
struct FigureData<'a> {
    pub files: &'a [(String, Vec<Record>)],
    pub comparison: &'a Comparison,
    pub y: Quantity,
    pub bars: ErrorBars,
    pub reference: Option<Reference>,
    pub crossovers: bool,
}

impl FigureData<'_> {
    fn line(&self, group: usize, line: usize) -> &ComparisonLine {
        &self.comparison.groups[group].lines[line]
    }

    fn value(&self, line: &ComparisonLine) -> Option<(f64, Option<Interval>)> {
        if self.y == Quantity::Ratio {
            return line.ratio.as_ref().map(|r| (r.value, r.interval));
        }
        let values: Vec<f64> = if self.y == Quantity::Time {
            line.runs.iter().map(|run| run.time_us).collect()
        } else {
            let rows = line.records(self.files).filter(|row| row.status == Status::Ok);
            rows.map(|row| self.y.value(row)).collect::<Option<_>>()?
        };
        Summary::of(&values).map(|s| (s.mean, self.bars.interval(&values, &s)))
    }

    /// Returns the points of a curve. Cases without a value of the quantity are skipped.
    fn points(&self, curve: &TimeCurve) -> Vec<Point> {
        let point = |point: &swapmeet_results::analysis::Point| {
            let (y, interval) = self.value(self.line(point.group, point.line))?;
            Some(Point { x: point.x, y, interval: interval.filter(|i| !i.is_point()) })
        };
        curve.points.iter().filter_map(point).collect()
    }

    /// Returns the number of cases that have a position on the x axis but no value of the quantity.
    /// Unsupported cases do not count.
    fn count_without(&self, families: &[Family]) -> usize {
        let lines = families
            .iter()
            .flat_map(|family| &family.groups)
            .flat_map(|g| &self.comparison.groups[*g].lines);
        lines
            .filter(|line| {
                line.status != Status::Unsupported
                    && (line.time.is_none() || self.value(line).is_none())
            })
            .count()
    }

    fn panel(
        &self,
        family: &Family,
        title: String,
        log: LogAxes,
        shown: impl Fn(&Point) -> bool,
    ) -> Panel {
        let reference = self.reference.and_then(|reference| self.curve_of(reference, family, log));
        let mut panel = Panel { title, curves: Vec::new(), reference, crossovers: Vec::new() };
        for curve in &family.curves {
            let points: Vec<Point> = self.points(curve).into_iter().filter(&shown).collect();
            if points.is_empty() {
                continue;
            }
            // Straight lines join the points, because there are measured or simulated values only
            // at the points.
            let joined = points.chunk_by(|a, b| {
                !family.shared_xs.contains(&a.x) && !family.shared_xs.contains(&b.x)
            });
            let lines = joined.filter(|piece| piece.len() > 1);
            let lines =
                lines.map(|piece| piece.iter().map(|point| (point.x, point.y)).collect()).collect();
            panel.curves.push(Curve { name: curve.algorithm.clone(), points, lines });
        }
        let crossovers = if self.crossovers { family.envelope().crossovers } else { Vec::new() };
        for crossover in crossovers {
            let at = self.meeting(&panel, family, &crossover, log);
            let interval = crossover_interval(self.comparison, family, &crossover);
            panel.crossovers.push(DrawnCrossover { crossover, at, interval });
        }
        panel
    }

    /// Returns the position at which the drawn lines of the two algorithms of a crossover meet.
    /// Returns `None` if they need not meet: if no case can exist between two points of the axis,
    /// as on the axis of nodes, or if the quantity does not depend on time alone.
    fn meeting(
        &self,
        panel: &Panel,
        family: &Family,
        crossover: &Crossover,
        log: LogAxes,
    ) -> Option<(f64, f64)> {
        let is_of_times = matches!(
            self.y,
            Quantity::Time | Quantity::Ratio | Quantity::Bound | Quantity::Optimum
        );
        if !is_of_times || !family.axis.is_dense() {
            return None;
        }
        let scaled = |value: f64, log: bool| if log { value.ln() } else { value };
        let (left, right) = crossover.within;
        let ends = |name: &str| {
            let curve = panel.curves.iter().find(|curve| curve.name == name)?;
            let at = |x: f64| curve.points.iter().find(|point| point.x == x);
            Some([at(left)?.y, at(right)?.y].map(|y| scaled(y, log.y())))
        };
        let ([a, b], [c, d]) = (ends(&crossover.before)?, ends(&crossover.after)?);
        let (before, after) = (c - a, d - b);
        let share = if before == after { 0.0 } else { (before / (before - after)).clamp(0.0, 1.0) };
        let between = |from: f64, to: f64, log: bool| {
            let value = scaled(from, log) + (scaled(to, log) - scaled(from, log)) * share;
            if log { value.exp() } else { value }
        };
        let y = a + (b - a) * share;
        Some((between(left, right, log.x()), if log.y() { y.exp() } else { y }))
    }

    /// Returns the curve of a reference. In each case, a reference is the same for all algorithms.
    fn curve_of(&self, reference: Reference, family: &Family, log: LogAxes) -> Option<Curve> {
        let at = |x: &f64| {
            let on =
                family.curves.iter().flat_map(|curve| &curve.points).find(|point| point.x == *x)?;
            let rows = self.line(on.group, on.line).records(self.files);
            let values: Vec<f64> = rows.filter_map(|row| reference.value(row)).collect();
            let y = Summary::of(&values)?.mean;
            (!log.y() || y > 0.0).then_some(Point { x: *x, y, interval: None })
        };
        let points: Vec<Point> =
            family.xs().iter().filter(|x| !family.shared_xs.contains(x)).filter_map(at).collect();
        let lines = vec![points.iter().map(|point| (point.x, point.y)).collect()];
        (!points.is_empty()).then(|| Curve { name: reference.name().to_owned(), points, lines })
    }
}

fn shared_x_note(families: &[Family], x: Axis) -> Option<String> {
    let shared = distinct(families.iter().flat_map(|family| family.shared_xs.iter().copied()));
    let values = shared.iter().map(|value| x.text(*value)).collect::<Vec<_>>().join(", ");
    let what = format!(
        "several cases have the same {} ({values}); their points are not joined",
        x.label()
    );
    (!shared.is_empty()).then_some(what)
}

impl Figure {
    /// Formats all points as CSV with these columns: panel, curve, x, y, and the lower and upper
    /// end of the error bar.
    pub(crate) fn table(&self) -> Result<String, csv::Error> {
        let columns =
            ["panel", "curve", self.x_label, &self.y_label, "low", "high"].map(str::to_owned);
        let curves = self.panels.iter().flat_map(|panel| {
            panel
                .curves
                .iter()
                .chain(&panel.reference)
                .map(|curve| (&panel.title, self.label(&curve.name), &curve.points))
        });
        let points = curves.flat_map(|(title, name, points)| {
            points.iter().map(move |point| {
                let end = |end: Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                let (low, high) = (point.interval.map(|i| i.low), point.interval.map(|i| i.high));
                [
                    title.clone(),
                    name.to_owned(),
                    point.x.to_string(),
                    point.y.to_string(),
                    end(low),
                    end(high),
                ]
            })
        });
        csv_table([columns].into_iter().chain(points))
    }
}
