//! Computes a figure from rows. It consists of panels, and these consist of curves.

mod reference;

use crate::appearance::{Appearance, Labels, LegendPlace};
use crate::error::{FigureError, MOST_CURVES};
use crate::quantity::{LogAxes, Point, Quantity};
use crate::style::Styles;
use crate::titles::Titles;
pub(crate) use reference::ErrorBars;
pub use reference::Reference;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{
    Axis, Crossover, Curve as TimeCurve, Families, Family, Winner, crossover_interval, families,
};
use swapmeet_results::stats::{Interval, Summary, distinct};
use swapmeet_results::units::count;
use swapmeet_results::{Comparison, ComparisonLine, Record, Status, compare, csv_table, grouped};
use swapmeet_workloads::is_random;

#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub name: String,
    pub points: Vec<Point>,
    /// The corners of the lines between the points. If the curve has gaps, there are several lines.
    pub lines: Vec<Vec<(f64, f64)>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DrawnCrossover {
    pub crossover: Crossover,
    /// The position at which both curves meet. It is `None` if they need not meet: if the quantity
    /// depends on more than the time, or if there are no cases between two points.
    pub at: Option<(f64, f64)>,
    pub interval: Option<Interval>,
}

/// A panel of cases that differ only in the algorithm and in x.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The settings of this panel in which panels differ; empty if there is only one panel.
    pub title: String,
    pub curves: Vec<Curve>,
    pub reference: Option<Curve>,
    pub crossovers: Vec<DrawnCrossover>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FigureOptions<'a> {
    pub x: Axis,
    pub y: Quantity,
    /// The axes that are logarithmic. If it is `None`, they are chosen by the values.
    pub log: Option<LogAxes>,
    /// In ratios, times are divided by the times of this algorithm.
    pub baseline: Option<&'a str>,
    pub appearance: Appearance<'a>,
    /// The reference curve. It is not drawn if the rows lack its value.
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
    /// The user's title, or the settings that all panels have in common.
    pub title: String,
    pub x_label: &'static str,
    pub y_label: String,
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    pub legend: LegendPlace,
    pub panels: Vec<Panel>,
    pub share_y: bool,
    pub bars_label: &'static str,
    /// Messages to the user about parts of the figure that were omitted, with the reasons.
    pub notes: Vec<String>,
    pub remarks: Vec<String>,
}

impl Figure {
    pub fn from_rows(
        files: &[(String, Vec<Record>)],
        options: &FigureOptions<'_>,
    ) -> Result<Self, FigureError> {
        Self::of_comparison(&compare(files, options.baseline)?, files, options)
    }

    pub fn of_comparison(
        comparison: &Comparison,
        files: &[(String, Vec<Record>)],
        options: &FigureOptions<'_>,
    ) -> Result<Self, FigureError> {
        if options.reference.is_some() && options.y != Quantity::Time {
            return Err(FigureError::BoundOfTimes(options.y.label()));
        }
        if let Some(baseline) = options.baseline {
            comparison.check_baseline(baseline)?;
        }
        let rows = FigureData {
            files,
            comparison,
            y: options.y,
            bars: ErrorBars::for_axes(options.x, options.y),
            reference: options.reference,
            crossovers: options.crossovers,
            has_baseline: options.baseline.is_some(),
        };
        let Families { families, off_axis } = families(comparison, options.x);
        let values = || {
            families.iter().flat_map(|family| &family.curves).flat_map(|curve| rows.points(curve))
        };
        let log = options.log.unwrap_or_else(|| LogAxes::suits(options.x, options.y, values));
        let shown = |point: &Point| (!log.x() || point.x > 0.0) && (!log.y() || point.y > 0.0);
        // Families and curves without a point that the axes can show are omitted.
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
        let is_marked = |curve: &&TimeCurve| {
            let points = curve.points.iter().map(|point| (point.group, point.line));
            let mut marks = points.map(|(group, line)| {
                let group = &comparison.groups[group];
                group.is_charged_less(&group.lines[line])
            });
            options.y.is_of_times() && marks.any(|is_marked| is_marked)
        };
        let marked: BTreeSet<&str> = shown_families
            .iter()
            .flat_map(|family| family.curves.iter().filter(is_marked))
            .map(|curve| curve.algorithm.as_str())
            .collect();
        let labels = Labels::new(&options.appearance, &names)?.marked(&marked);
        if names.len() > MOST_CURVES {
            return Err(FigureError::ManyCurves(names.len()));
        }
        // Algorithms with a label that the user gave come first.
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
        let mut notes = comparison.notes.clone();
        let without = |n: usize, what: &'static str, why: String| {
            (n > 0).then(|| format!("not shown: {} {why}", count(n, what)))
        };
        let with_value = options.x.label();
        notes.extend(without(off_axis, "case", format!("without {with_value}")));
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
        if options.crossovers && !options.x.is_dense() {
            for (family, panel) in shown_families.iter().zip(&panels) {
                let undecided = undecided(comparison, family, &labels);
                let only = (options.x == Axis::Faults && undecided.is_empty())
                    .then(|| single_winner(family, &labels))
                    .flatten();
                let sentences = only.into_iter().chain(undecided);
                remarks.extend(sentences.map(|words| format!("{}{words}", prefix(&panel.title))));
            }
        }
        let workloads = || shown_families.iter().map(|family| &*family.settings.workload);
        let bars_label = rows.bars.in_words(workloads().any(|text| is_random(text) == Some(true)));
        let mut figure = Self {
            x: options.x,
            y: options.y,
            log,
            x_label: options.x.label_of(workloads()),
            bars_label,
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

fn prefix(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("{title}: ") }
}

/// Returns whether the algorithms differ significantly on both sides of a crossover. This is only
/// checked if there are no cases between two points. Otherwise, the confidence interval of the
/// crossover shows it.
fn is_decided(comparison: &Comparison, family: &Family, crossover: &Crossover) -> bool {
    if family.axis.is_dense() || family.axis.is_of_algorithms() {
        return true;
    }
    let is_faster = |x: f64, fast: &str, slow: &str| {
        let winner = winner_at(comparison, family, x);
        winner.is_none_or(|winner| {
            winner.algorithm == fast && !winner.tied.iter().any(|name| name == slow)
        })
    };
    let Crossover { within: (left, right), before, after, .. } = crossover;
    is_faster(*left, before, after) && is_faster(*right, after, before)
}

fn winner_at<'a>(comparison: &'a Comparison, family: &Family, x: f64) -> Option<&'a Winner> {
    let mut points = family.curves.iter().flat_map(|curve| &curve.points);
    let group = points.find(|point| point.x == x)?.group;
    comparison.groups[group].winner.as_deref().filter(|_| !family.shared_xs.contains(&x))
}

/// If at some x, several algorithms do not differ significantly from the fastest, returns
/// sentences. Each sentence names such algorithms, or a single winner, with the values of x.
fn undecided(comparison: &Comparison, family: &Family, labels: &Labels) -> Vec<String> {
    let axis = family.axis;
    let winners = family.xs().into_iter().filter_map(|x| {
        let winner = winner_at(comparison, family, x).filter(|_| !axis.is_of_algorithms())?;
        let mut names = vec![&*winner.algorithm];
        names.extend(winner.tied.iter().map(String::as_str));
        names.sort_unstable();
        (winner.competitors > 1).then_some((names, x))
    });
    let winners = grouped(winners);
    if winners.iter().all(|(names, _)| names.len() == 1) {
        return Vec::new();
    }
    let sentence = |(names, xs): (Vec<&str>, Vec<f64>)| {
        let names: Vec<&str> = names.into_iter().map(|name| labels.name(name)).collect();
        let xs: Vec<String> = xs.into_iter().map(|x| axis.text(x)).collect();
        let result = if names.len() == 1 { "is fastest" } else { "are not told apart" };
        format!("{} {result} at {} {}", enumerated(&names), enumerated(&xs), axis.label())
    };
    winners.into_iter().map(sentence).collect()
}

fn enumerated<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => texts.join(""),
    }
}

const PIECES: f64 = 6.0;

/// Returns the x values at which a line between two points is divided into pieces. These are
/// crossovers and, if an axis is logarithmic, further values, because the line is then curved.
fn positions(from: f64, to: f64, log: LogAxes, crossovers: &[Crossover]) -> Vec<f64> {
    let inside = crossovers.iter().map(|crossover| crossover.x).filter(|x| from < *x && *x < to);
    let doublings = if from > 0.0 { (to / from).log2() } else { 4.0 };
    let pieces = match log {
        LogAxes::None => 1,
        LogAxes::X | LogAxes::Y | LogAxes::Both => {
            (PIECES * doublings).ceil().clamp(2.0, 48.0) as u32
        }
    };
    let further = (1..pieces).map(|piece| {
        let share = f64::from(piece) / f64::from(pieces);
        if log.x() && from > 0.0 {
            from * (to / from).powf(share)
        } else {
            from + (to - from) * share
        }
    });
    distinct(inside.chain(further))
}

/// Interpolates times linearly between two points ([`swapmeet_results::analysis`]). Other
/// quantities are computed from the interpolated times.
struct Interpolation<'a> {
    family: &'a Family,
    y: Quantity,
    has_baseline: bool,
}

impl Interpolation<'_> {
    fn at(&self, curve: &TimeCurve, from: &Point, to: &Point, x: f64) -> Option<f64> {
        let share = if from.x < to.x { (x - from.x) / (to.x - from.x) } else { 0.0 };
        let between = |a: f64, b: f64| a + (b - a) * share;
        let time_of = |curve: &TimeCurve| Some((curve.time_at(from.x)?, curve.time_at(to.x)?));
        let (first, last) = time_of(curve)?;
        let time = between(first, last);
        let value = match self.y {
            Quantity::Ratio if !self.has_baseline => {
                let times = self.family.curves.iter().filter_map(time_of);
                time / times.map(|(a, b)| between(a, b)).fold(f64::INFINITY, f64::min)
            }
            Quantity::Ratio | Quantity::Bound | Quantity::Optimum => {
                time / between(first / from.y, last / to.y)
            }
            Quantity::AlgorithmBandwidth | Quantity::BusBandwidth => {
                between(first * from.y, last * to.y) / time
            }
            Quantity::Time
            | Quantity::Contention
            | Quantity::Steps
            | Quantity::Messages
            | Quantity::LinkMessages
            | Quantity::NodeBytes => between(from.y, to.y),
        };
        value.is_finite().then_some(value)
    }
}

/// If the same algorithm is the fastest at every x, and has competitors, names it.
fn single_winner(family: &Family, labels: &Labels) -> Option<String> {
    let [only] = &family.envelope().ranges[..] else { return None };
    let axis = family.axis;
    (family.curves.len() > 1 && only.from < only.to).then(|| {
        let (from, to) = (axis.text(only.from), axis.text(only.to));
        let winner = labels.name(&only.algorithm);
        format!("{winner} is fastest from {from} to {to} {}", axis.label())
    })
}

struct FigureData<'a> {
    pub files: &'a [(String, Vec<Record>)],
    pub comparison: &'a Comparison,
    pub y: Quantity,
    pub bars: ErrorBars,
    pub reference: Option<Reference>,
    pub crossovers: bool,
    pub has_baseline: bool,
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

    fn points(&self, curve: &TimeCurve) -> Vec<Point> {
        let point = |point: &swapmeet_results::analysis::Point| {
            let (y, interval) = self.value(self.line(point.group, point.line))?;
            Some(Point { x: point.x, y, interval: interval.filter(|i| !i.is_point()) })
        };
        curve.points.iter().filter_map(point).collect()
    }

    /// Counts the supported cases on the x axis that have no value.
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
        let crossovers = if self.crossovers { family.envelope().crossovers } else { Vec::new() };
        let interpolation = Interpolation { family, y: self.y, has_baseline: self.has_baseline };
        let shared = |point: &Point| family.shared_xs.contains(&point.x);
        for curve in &family.curves {
            let points: Vec<Point> = self.points(curve).into_iter().filter(&shown).collect();
            if points.is_empty() {
                continue;
            }
            let joined = points.chunk_by(|a, b| !shared(a) && !shared(b));
            let lines = joined.filter(|piece| piece.len() > 1).map(|piece| {
                let segments = piece.windows(2).flat_map(|pair| {
                    let xs = positions(pair[0].x, pair[1].x, log, &crossovers);
                    let xs = if family.axis.is_dense() { xs } else { Vec::new() };
                    let between = |x| Some((x, interpolation.at(curve, &pair[0], &pair[1], x)?));
                    let end = (pair[1].x, pair[1].y);
                    xs.into_iter().filter_map(between).chain([end]).collect::<Vec<_>>()
                });
                [(piece[0].x, piece[0].y)].into_iter().chain(segments).collect()
            });
            let lines = lines.collect();
            panel.curves.push(Curve { name: curve.algorithm.clone(), points, lines });
        }
        let place = |crossover: &Crossover| {
            if !self.y.is_of_times() || !family.axis.is_dense() {
                return None;
            }
            let (left, right) = crossover.within;
            let drawn = panel.curves.iter().find(|curve| curve.name == crossover.before)?;
            let at = |x: f64| drawn.points.iter().find(|point| point.x == x);
            let curve = family.curves.iter().find(|curve| curve.algorithm == crossover.before)?;
            let y = interpolation.at(curve, at(left)?, at(right)?, crossover.x)?;
            Some((crossover.x, y))
        };
        let decided = crossovers.into_iter().filter(|it| is_decided(self.comparison, family, it));
        let drawn: Vec<DrawnCrossover> = decided
            .map(|crossover| DrawnCrossover {
                at: place(&crossover),
                interval: crossover_interval(self.comparison, family, &crossover),
                crossover,
            })
            .collect();
        panel.crossovers = drawn;
        panel
    }

    /// Returns the curve of a reference. Its value is the same for all algorithms of a case.
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
        // Between two points, a reference is linear, like a time.
        let segments = points.windows(2).flat_map(|pair| {
            let (from, to) = (&pair[0], &pair[1]);
            let xs = positions(from.x, to.x, log, &[]).into_iter();
            let xs = xs.filter(|_| family.axis.is_dense());
            let y = |x: f64| from.y + (to.y - from.y) * ((x - from.x) / (to.x - from.x));
            xs.map(move |x| (x, y(x))).chain([(to.x, to.y)]).collect::<Vec<_>>()
        });
        let first = points.first().map(|point| (point.x, point.y));
        let lines = vec![first.into_iter().chain(segments).collect()];
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
    /// Returns CSV with the columns panel, curve, x, y, and the ends of the error bar.
    pub(crate) fn table(&self) -> Result<String, csv::Error> {
        let columns =
            ["panel", "curve", self.x_label, &self.y_label, "low", "high"].map(str::to_owned);
        let curves = self.panels.iter().flat_map(|panel| {
            panel
                .curves
                .iter()
                .chain(&panel.reference)
                .map(|curve| (&panel.title, self.labels.unmarked(&curve.name), &curve.points))
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
