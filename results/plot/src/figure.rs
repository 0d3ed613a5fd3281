//! A figure of panels and curves, computed from rows.

mod reference;
mod rows;
mod shared;

use crate::appearance::{Appearance, LegendPlace};
use crate::error::{FigureError, MOST_CURVES};
use crate::labels::Labels;
use crate::quantity::{LogAxes, Quantity};
use crate::style::Styles;
use crate::titles::Titles;
pub(crate) use reference::ErrorBars;
pub use reference::Reference;
use rows::FigureData;
use shared::shared_x_note;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{Axis, Crossover, Curve as TimeCurve, Families, Family, families};
use swapmeet_results::stats::Interval;
use swapmeet_results::units::count;
use swapmeet_results::{Comparison, Record, compare};

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// The mean of the quantity over repetitions.
    pub y: f64,
    /// The error bar, if the repetitions differ: the 95 % confidence interval of the mean, or in a
    /// figure over failed links the range of all values.
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

/// A crossover of two curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// The crossover, which is computed from completion times.
    pub crossover: Crossover,
    /// The position in the figure at which the lines of both curves meet. It is `None` if the two
    /// lines need not meet: if the figure shows a quantity that does not depend on time alone, or
    /// if no case can exist between two points of the x axis.
    pub at: Option<(f64, f64)>,
    /// The 95 % confidence interval of the crossover, if there are repetitions.
    pub interval: Option<Interval>,
}

/// A panel of a figure: cases that differ only in the algorithm and in x.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The settings in which the panel differs from the other panels. Empty if there is only one
    /// panel.
    pub title: String,
    /// A curve for each algorithm.
    pub curves: Vec<Curve>,
    /// The curve of the reference, such as the lower bound, if it was requested.
    pub reference: Option<Curve>,
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
    pub log: Option<LogAxes>,
    /// The baseline: the algorithm by whose time the times of all algorithms are divided to get
    /// ratios.
    pub baseline: Option<&'a str>,
    pub appearance: Appearance<'a>,
    /// The reference that is drawn as a curve. If rows do not have its value, no curve is drawn.
    pub reference: Option<Reference>,
    /// Whether crossovers are drawn and described.
    pub crossovers: bool,
    /// Whether all panels have the same y axis.
    pub share_y: bool,
}

impl FigureOptions<'_> {
    /// Returns the options of a figure with these axes and otherwise the defaults.
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

/// A figure with all its panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The quantity of the x axis.
    pub x: Axis,
    /// The quantity of the y axis.
    pub y: Quantity,
    /// Which axes are logarithmic.
    pub log: LogAxes,
    /// The title: the title that the user gave, or the settings that all panels have in common.
    pub title: String,
    /// The label of the x axis.
    pub x_label: &'static str,
    /// The label of the y axis.
    pub y_label: String,
    /// The names of all curves, in the order of the legend.
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    pub legend: LegendPlace,
    pub panels: Vec<Panel>,
    /// Whether all panels have the same y axis.
    pub share_y: bool,
    /// Notes that name rows or curves that are not shown, with the reason.
    pub notes: Vec<String>,
    /// Remarks that are part of the figure. For example, a remark says that the machine charges
    /// only some of the algorithms for rearrangement.
    pub remarks: Vec<String>,
}

impl Figure {
    /// Makes a figure from the rows of `files`, which are pairs of a file name and its rows.
    pub fn of(
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
            bars: ErrorBars::of(options.x, options.y),
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
        let labels = Labels::of(&options.appearance, &names)?;
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
        let titles = Titles::of(shown_families.iter().map(|family| &family.settings))?;
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
            let place = prefix(&panel.title);
            panel.crossings.iter().map(move |Crossing { crossover, interval, .. }| {
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
