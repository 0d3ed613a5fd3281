//! A figure of panels and curves, computed from rows.

mod titles;

use crate::labels::{Labels, UnknownLabel};
use crate::quantity::{LogScales, Quantity};
use crate::style::Styles;
use swapmeet_results::analysis::{Axis, Crossover, Curve as TimeCurve, Families, Family, families};
use swapmeet_results::stats::{Interval, Summary};
use swapmeet_results::units::count;
use swapmeet_results::{CompareError, Comparison, ComparisonLine, Group, Record, Status, compare};
use titles::{shared_x_note, titles};

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// The mean of the quantity over repetitions.
    pub y: f64,
    /// The 95 % confidence interval of the mean, if the repetitions differ.
    pub interval: Option<Interval>,
}

/// The curve of one algorithm in a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub name: String,
    /// The points, in increasing order of x.
    pub points: Vec<Point>,
    /// The lines that connect the points. Each line is a list of positions. There are several lines
    /// if the curve has gaps.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// A crossover of two curves, with its y value in the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// The crossover, which is computed from completion times.
    pub crossover: Crossover,
    /// The y value of both curves at the crossover. It is `None` if the figure shows a quantity
    /// that does not depend on time alone, because then the two curves need not meet at the
    /// crossover.
    pub y: Option<f64>,
}

/// A panel of a figure: cases that differ only in the algorithm and in x.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The settings in which the panel differs from the other panels. Empty if there is only one
    /// panel.
    pub title: String,
    /// A curve for each algorithm.
    pub curves: Vec<Curve>,
    /// The curve of the lower bound, if it was requested.
    pub bound: Option<Curve>,
    /// The crossovers between the curves.
    pub crossings: Vec<Crossing>,
}

/// The options of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureOptions<'a> {
    /// The quantity of the x axis.
    pub x: Axis,
    /// The quantity of the y axis.
    pub y: Quantity,
    /// Which axes are logarithmic. With `None`, this is chosen from the values.
    pub log: Option<LogScales>,
    /// The baseline: the algorithm by whose time the times of all algorithms are divided to get
    /// ratios.
    pub baseline: Option<&'a str>,
    /// The title. With `None`, the title consists of the settings that all cases have in common.
    pub title: Option<&'a str>,
    /// Pairs of an algorithm and its label, in the order of the legend. Algorithms without a label
    /// follow under their own names.
    pub labels: &'a [(String, String)],
    /// Whether the lower bound is drawn as a curve.
    pub bound: bool,
}

/// A figure with all its panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The quantity of the x axis.
    pub x: Axis,
    /// The quantity of the y axis.
    pub y: Quantity,
    /// Which axes are logarithmic.
    pub log: LogScales,
    /// The title: the title that the user gave, or the settings that all panels have in common.
    pub title: String,
    /// The label of the y axis.
    pub y_label: String,
    /// The names of all curves, in the order of the legend.
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    pub panels: Vec<Panel>,
    /// Notes that name rows or curves that are not shown, with the reason.
    pub notes: Vec<String>,
    /// Remarks that are part of the figure. For example, a remark says that the machine charges
    /// only some of the algorithms for rearrangement.
    pub remarks: Vec<String>,
}

/// The reason why a figure cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// The rows cannot be compared.
    #[error(transparent)]
    Rows(#[from] CompareError),
    /// No row has values for both axes.
    #[error("no row has values of {0} (x axis) and {1} (y axis)")]
    Nothing(&'static str, &'static str),
    /// The figure has too many panels.
    #[error("the rows make {count} panels, a figure has room for {most}: choose among their {differ}", most = Figure::MOST_PANELS)]
    ManyPanels {
        count: usize,
        /// The columns in which the panels differ.
        differ: String,
    },
    /// All cases have the same block size, network and machine, so there is no map.
    #[error("a map needs rows of two block sizes, or of two networks or machines")]
    NoMap,
    #[error("no row has values for the bars")]
    NoBars,
    /// A label was given for an unknown algorithm.
    #[error(transparent)]
    Label(#[from] UnknownLabel),
    /// A lower bound was requested, but the figure shows a quantity other than time.
    #[error("a lower bound can only be shown with completion times, not with {0}")]
    BoundOfTimes(&'static str),
    /// There are more curves than distinguishable styles.
    #[error("the rows have {0} algorithms, a figure has room for {most}: choose some with --algorithm", most = Figure::MOST_CURVES)]
    ManyCurves(usize),
}

/// The number of straight pieces that approximate a curved line between two neighbouring points.
const PIECES: u32 = 24;

impl Figure {
    /// The maximum number of panels.
    pub const MOST_PANELS: usize = 12;
    /// The maximum number of curves. This number of curves can be distinguished by marker and
    /// dashes if the figure is printed in grey.
    pub const MOST_CURVES: usize = 12;

    /// Makes a figure from the rows of `files`, which are pairs of a file name and its rows.
    pub fn of(
        files: &[(String, Vec<Record>)],
        options: &FigureOptions<'_>,
    ) -> Result<Self, FigureError> {
        if options.bound && options.y != Quantity::Time {
            return Err(FigureError::BoundOfTimes(options.y.label()));
        }
        // Group the rows into families along the x axis. Each family becomes a panel.
        let comparison = compare(files, options.baseline)?;
        let has_named_baseline = options.baseline.is_some();
        let rows = FigureData {
            files,
            comparison: &comparison,
            y: options.y,
            has_named_baseline,
            bound: options.bound,
        };
        let Families { families, off_axis } = families(&comparison, options.x);
        let values = || {
            families.iter().flat_map(|family| &family.curves).flat_map(|curve| rows.points(curve))
        };
        let log = options.log.unwrap_or_else(|| {
            LogScales::suits(options.x, options.y, values().map(|point| point.y))
        });
        let shown = |point: &Point| (!log.x || point.x > 0.0) && (!log.y || point.y > 0.0);
        let mut panels: Vec<(&Family, Panel)> = families
            .iter()
            .filter_map(|family| Some((family, rows.panel(family, log, shown)?)))
            .collect();
        if panels.is_empty() {
            return Err(FigureError::Nothing(options.x.label(), options.y.label()));
        }
        // Order the names for the legend: those with a given label come first.
        let mut names: Vec<String> = panels
            .iter()
            .flat_map(|(_, panel)| &panel.curves)
            .map(|curve| curve.name.clone())
            .collect();
        let place = |name: &String| {
            options.labels.iter().position(|(known, _)| known == name).unwrap_or(usize::MAX)
        };
        names.sort_by(|a, b| place(a).cmp(&place(b)).then(a.cmp(b)));
        names.dedup();
        let labels = Labels::of(options.labels, &names.iter().map(String::as_str).collect())?;
        if names.len() > Self::MOST_CURVES {
            return Err(FigureError::ManyCurves(names.len()));
        }
        let (common, differ) = titles(&mut panels);
        if panels.len() > Self::MOST_PANELS {
            return Err(FigureError::ManyPanels { count: panels.len(), differ });
        }
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
        let mut figure = Self {
            x: options.x,
            y: options.y,
            log,
            y_label: options.y.label().to_owned(),
            labels,
            title: options.title.map_or(common, str::to_owned),
            styles: Styles::of(names.iter().map(String::as_str)),
            names,
            panels: panels.into_iter().map(|(_, panel)| panel).collect(),
            notes,
            remarks: if options.y.is_of_times() {
                comparison.rearrangement_remarks.clone()
            } else {
                Vec::new()
            },
        };
        if let Some(baseline) = options.baseline.filter(|_| options.y == Quantity::Ratio) {
            figure.y_label = format!("completion time over that of {}", figure.label(baseline));
        }
        Ok(figure)
    }

    /// Returns the label of a curve.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        self.labels.name(name)
    }

    /// Returns whether any point has an error bar.
    pub(crate) fn has_bars(&self) -> bool {
        let mut points =
            self.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
        points.any(|point| point.interval.is_some())
    }

    /// Describes each crossover, panel by panel.
    pub fn crossings(&self) -> impl Iterator<Item = String> {
        self.panels.iter().flat_map(move |panel| {
            let place =
                if panel.title.is_empty() { String::new() } else { format!("{}: ", panel.title) };
            panel.crossings.iter().map(move |Crossing { crossover, .. }| {
                let (before, after) = (self.label(&crossover.before), self.label(&crossover.after));
                let called = Crossover {
                    before: before.to_owned(),
                    after: after.to_owned(),
                    ..crossover.clone()
                };
                format!("{place}{}", called.in_words(self.x))
            })
        })
    }
}

/// The compared rows, and the quantity of the y axis.
struct FigureData<'a> {
    files: &'a [(String, Vec<Record>)],
    comparison: &'a Comparison,
    y: Quantity,
    /// Whether the user has named the baseline of ratios. Otherwise the fastest algorithm is the
    /// baseline.
    has_named_baseline: bool,
    /// Whether the lower bound is drawn.
    bound: bool,
}

/// The name of the curve that shows the lower bound.
pub(crate) const BOUND: &str = "lower bound";

impl FigureData<'_> {
    fn line(&self, group: usize, line: usize) -> (&Group, &ComparisonLine) {
        let group = &self.comparison.groups[group];
        (group, &group.lines[line])
    }

    /// Returns the mean of the quantity, and its confidence interval.
    fn value(&self, line: &ComparisonLine) -> Option<(f64, Option<Interval>)> {
        if self.y == Quantity::Ratio {
            return line.ratio.as_ref().map(|r| (r.value, r.interval));
        }
        let rows = line.records(self.files).filter(|row| row.status == Status::Ok);
        let values: Option<Vec<f64>> = rows.map(|row| self.y.of(row)).collect();
        Summary::of(&values?).map(|s| (s.mean, s.interval))
    }

    /// Returns the points of a curve. Cases without a value of the quantity are skipped.
    fn points(&self, curve: &TimeCurve) -> Vec<Point> {
        let point = |point: &swapmeet_results::analysis::Point| {
            let (y, interval) = self.value(self.line(point.group, point.line).1)?;
            Some(Point { x: point.x, y, interval: interval.filter(|i| !i.is_point()) })
        };
        curve.points.iter().filter_map(point).collect()
    }

    /// Returns the number of cases that have a position on the x axis but no value of the quantity.
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
        log: LogScales,
        shown: impl Fn(&Point) -> bool,
    ) -> Option<Panel> {
        let bound = self.bound.then(|| self.bound(family, log)).flatten();
        let mut panel =
            Panel { title: String::new(), curves: Vec::new(), bound, crossings: Vec::new() };
        let crossovers = family.envelope().crossovers;
        let corners: Vec<f64> = crossovers.iter().map(|crossover| crossover.x).collect();
        for curve in &family.curves {
            let points: Vec<Point> = self.points(curve).into_iter().filter(&shown).collect();
            if points.is_empty() {
                continue;
            }
            let joined = points.chunk_by(|a, b| {
                !family.shared_xs.contains(&a.x) && !family.shared_xs.contains(&b.x)
            });
            let lines = joined.filter(|piece| piece.len() > 1);
            let lines = lines
                .map(|piece| self.line_through(family, &curve.algorithm, piece, log, &corners));
            panel.curves.push(Curve {
                name: curve.algorithm.clone(),
                lines: lines.collect(),
                points: points.clone(),
            });
        }
        // Add the crossovers.
        for crossover in crossovers {
            // Curves of other quantities need not meet at a crossover of times.
            let is_of_times = matches!(
                self.y,
                Quantity::Time | Quantity::Ratio | Quantity::Bound | Quantity::Optimum
            );
            let curve = self
                .interpolated(family, &crossover.after, crossover.within)
                .filter(|_| is_of_times);
            let y = curve.map(|y| y(crossover.x));
            panel.crossings.push(Crossing { crossover, y });
        }
        (!panel.curves.is_empty()).then_some(panel)
    }

    /// Returns the curve of the lower bound. In each case, the lower bound is the same for all
    /// algorithms.
    fn bound(&self, family: &Family, log: LogScales) -> Option<Curve> {
        let at = |x: &f64| {
            let on =
                family.curves.iter().flat_map(|curve| &curve.points).find(|point| point.x == *x)?;
            let rows = self.line(on.group, on.line).1.records(self.files);
            let bounds: Vec<f64> = rows.filter_map(|row| row.lower_bound_us).collect();
            let y = Summary::of(&bounds)?.mean;
            (!log.y || y > 0.0).then_some(Point { x: *x, y, interval: None })
        };
        let points: Vec<Point> =
            family.xs().iter().filter(|x| !family.shared_xs.contains(x)).filter_map(at).collect();
        let line = points.windows(2).flat_map(|pair| {
            let (a, b) = (pair[0], pair[1]);
            let pieces = if family.axis.is_dense() { PIECES } else { 1 };
            (0..=pieces).map(move |piece| {
                let share = f64::from(piece) / f64::from(pieces);
                let x =
                    if log.x { a.x * (b.x / a.x).powf(share) } else { a.x + (b.x - a.x) * share };
                let y = if pieces == 1 {
                    a.y + (b.y - a.y) * share
                } else {
                    a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)
                };
                (x, y)
            })
        });
        let lines = vec![line.collect()];
        (!points.is_empty()).then(|| Curve { name: BOUND.to_owned(), points, lines })
    }

    /// Returns the positions of the line that joins the points of an algorithm. The line also has
    /// positions at the x values in `corners`: a ratio to the fastest algorithm has a corner at
    /// each crossover, because the fastest algorithm changes there.
    fn line_through(
        &self,
        family: &Family,
        algorithm: &str,
        points: &[Point],
        log: LogScales,
        corners: &[f64],
    ) -> Vec<(f64, f64)> {
        let mut places = Vec::new();
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            places.push((a.x, a.y));
            if let Some(y) = self.interpolated(family, algorithm, (a.x, b.x)) {
                let share = |piece: u32| f64::from(piece) / f64::from(PIECES);
                let x = |share: f64| {
                    if log.x { a.x * (b.x / a.x).powf(share) } else { a.x + (b.x - a.x) * share }
                };
                let mut xs: Vec<f64> = (1..PIECES).map(|piece| x(share(piece))).collect();
                xs.extend(corners.iter().filter(|corner| a.x < **corner && **corner < b.x));
                xs.sort_by(f64::total_cmp);
                places.extend(xs.into_iter().map(|x| (x, y(x))));
            }
        }
        places.extend(points.last().map(|point| (point.x, point.y)));
        places
    }

    /// Returns the quantity as a function of x between two neighbouring points. The function
    /// follows from times that are interpolated linearly, so that two curves cross exactly where
    /// the times cross. Returns `None` if the quantity cannot be computed from such times.
    fn interpolated(
        &self,
        family: &Family,
        algorithm: &str,
        (left, right): (f64, f64),
    ) -> Option<Box<dyn Fn(f64) -> f64>> {
        if family.axis == Axis::Nodes {
            return None;
        }
        // The position of x between the two points: 0 at the left point and 1 at the right point.
        let share = move |x: f64| if left == right { 0.0 } else { (x - left) / (right - left) };
        let ends = |of: &dyn Fn(&Group, &ComparisonLine) -> Option<f64>| {
            let curve = family.curves.iter().find(|curve| curve.algorithm == algorithm)?;
            let at = |x: f64| {
                let point = curve.points.iter().find(|point| point.x == x)?;
                let (group, line) = self.line(point.group, point.line);
                of(group, line)
            };
            Some((at(left)?, at(right)?))
        };
        // Interpolates linearly between the values at the two points.
        let even = move |(a, b): (f64, f64)| move |x: f64| a + (b - a) * share(x);
        // Compute ratios from interpolated times, so that curves cross exactly where the times
        // cross.
        let time = even(ends(&|_, line| line.mean())?);
        match self.y {
            Quantity::Time => Some(Box::new(time)),
            Quantity::Contention | Quantity::NodeBytes => {
                let own = even(ends(&|_, line| self.value(line).map(|(value, _)| value))?);
                Some(Box::new(own))
            }
            Quantity::Bound | Quantity::Optimum => {
                let bound = even(ends(&|_, line| Some(line.mean()? / self.value(line)?.0))?);
                Some(Box::new(move |x| time(x) / bound(x)))
            }
            Quantity::Ratio if self.has_named_baseline => {
                let base = |group: &Group| {
                    group
                        .lines
                        .iter()
                        .find(|l| Some(&l.algorithm) == group.baseline.as_ref())?
                        .mean()
                };
                let base = even(ends(&|group, _| base(group))?);
                Some(Box::new(move |x| time(x) / base(x)))
            }
            Quantity::Ratio => {
                let others = family
                    .curves
                    .iter()
                    .filter_map(|c| Some((c.time_at(left)?, c.time_at(right)?)));
                let others: Vec<_> = others.map(even).collect();
                let fastest =
                    move |x: f64| others.iter().map(|time| time(x)).fold(f64::INFINITY, f64::min);
                Some(Box::new(move |x| time(x) / fastest(x)))
            }
            // Counts have no values between the points.
            Quantity::Steps
            | Quantity::Messages
            | Quantity::LinkMessages
            | Quantity::AlgorithmBandwidth
            | Quantity::BusBandwidth => None,
        }
    }
}
