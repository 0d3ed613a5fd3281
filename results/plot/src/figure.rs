//! From rows to panels and curves.

use crate::labels::{Labels, UnknownLabel};
use crate::quantity::{Log, Y};
use crate::style::Styles;
use swapmeet_results::analysis::{Axis, Crossover, Curve as TimeCurve, Families, Family, families};
use swapmeet_results::stats::{Interval, Summary};
use swapmeet_results::units::count;
use swapmeet_results::{CompareError, Comparison, ComparisonLine, Group, Record, Status, compare};

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// How high: the mean over repetitions.
    pub y: f64,
    /// Its 95 % interval, if there is a spread.
    pub interval: Option<Interval>,
}

/// One algorithm in a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub name: String,
    /// Its points, by x.
    pub points: Vec<Point>,
    /// The lines between them, as far as any go: through these places, from piece to piece.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// A crossover as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// Where the fastest changes.
    pub crossover: Crossover,
    /// How high the two curves are there, where what is shown is made of times; they need not meet
    /// otherwise.
    pub y: Option<f64>,
}

/// Cases that differ in nothing but the algorithm and x.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What they have in common that other panels haven't; empty for the only panel.
    pub title: String,
    /// A curve an algorithm.
    pub curves: Vec<Curve>,
    /// The lower bound, if it is to be shown.
    pub bound: Option<Curve>,
    /// Where the fastest changes.
    pub crossings: Vec<Crossing>,
}

/// What is to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted<'a> {
    /// On the x axis.
    pub x: Axis,
    /// On the y axis.
    pub y: Y,
    /// Which axes are logarithmic; what suits them if not given.
    pub log: Option<Log>,
    /// What ratios are to.
    pub baseline: Option<&'a str>,
    /// A title; what all cases have in common if not given.
    pub title: Option<&'a str>,
    /// What algorithms are called, in the order in which they stand in the legend; others follow
    /// under their own names.
    pub labels: &'a [(String, String)],
    /// Whether the lower bound is a curve among those of times.
    pub bound: bool,
}

/// Panels, and how they are to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// On the x axis.
    pub x: Axis,
    /// On the y axis.
    pub y: Y,
    /// Which axes are logarithmic.
    pub log: Log,
    /// What all panels have in common.
    pub title: String,
    /// What is written along the y axis.
    pub y_label: String,
    /// Every name of a curve, in the order of the legend.
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    pub panels: Vec<Panel>,
    /// What is not shown, and why.
    pub notes: Vec<String>,
    /// Where times are beside each other that were charged remarks: said in the figure.
    pub remarks: Vec<String>,
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// The rows contradict each other.
    #[error(transparent)]
    Rows(#[from] CompareError),
    /// Nothing is left to show.
    #[error("no row has something to show with {0} on the x axis and {1} on the y axis")]
    Nothing(&'static str, &'static str),
    /// More panels than a figure has room for.
    #[error("the rows make {count} panels, a figure has room for {most}: choose among their {differ}", most = Figure::MOST_PANELS)]
    ManyPanels {
        count: usize,
        /// In what they differ.
        differ: String,
    },
    /// No two sizes, networks or machines to lay out.
    #[error("a map needs rows of two block sizes, or of two networks or machines")]
    NoMap,
    #[error("no row has what the bars are to show")]
    NoBars,
    /// A label for nothing.
    #[error(transparent)]
    Label(#[from] UnknownLabel),
    /// A lower bound is a time.
    #[error("a lower bound can be shown where completion times are, not {0}")]
    BoundOfTimes(&'static str),
    /// More curves than can be told apart.
    #[error("the rows have {0} algorithms, a figure tells {most} apart: choose some with --algorithm", most = Figure::MOST_CURVES)]
    ManyCurves(usize),
}

/// Into so many straight pieces a line between two points is cut, where it is bent as drawn.
const PIECES: u32 = 24;

impl Figure {
    /// The most panels a figure has.
    pub const MOST_PANELS: usize = 12;
    /// The most curves that can be told apart in grey: by marker and by dashes.
    pub const MOST_CURVES: usize = 12;

    /// The figure of the rows of files, given with their names.
    pub fn of(files: &[(String, Vec<Record>)], wanted: &Wanted<'_>) -> Result<Self, FigureError> {
        if wanted.bound && wanted.y != Y::Time {
            return Err(FigureError::BoundOfTimes(wanted.y.label()));
        }
        let comparison = compare(files, wanted.baseline)?;
        let named = wanted.baseline.is_some();
        let rows = Rows { files, comparison: &comparison, y: wanted.y, named, bound: wanted.bound };
        let Families { families, off_axis } = families(&comparison, wanted.x);
        let values = || {
            families.iter().flat_map(|family| &family.curves).flat_map(|curve| rows.points(curve))
        };
        let log = wanted
            .log
            .unwrap_or_else(|| Log::suits(wanted.x, wanted.y, values().map(|point| point.y)));
        let shown = |point: &Point| (!log.x || point.x > 0.0) && (!log.y || point.y > 0.0);
        let mut panels: Vec<(&Family, Panel)> = families
            .iter()
            .filter_map(|family| Some((family, rows.panel(family, log, shown)?)))
            .collect();
        if panels.is_empty() {
            return Err(FigureError::Nothing(wanted.x.label(), wanted.y.label()));
        }
        let mut names: Vec<String> = panels
            .iter()
            .flat_map(|(_, panel)| &panel.curves)
            .map(|curve| curve.name.clone())
            .collect();
        let place = |name: &String| {
            wanted.labels.iter().position(|(known, _)| known == name).unwrap_or(usize::MAX)
        };
        names.sort_by(|a, b| place(a).cmp(&place(b)).then(a.cmp(b)));
        names.dedup();
        let labels = Labels::of(wanted.labels, &names.iter().map(String::as_str).collect())?;
        if names.len() > Self::MOST_CURVES {
            return Err(FigureError::ManyCurves(names.len()));
        }
        let (common, differ) = titles(&mut panels);
        if panels.len() > Self::MOST_PANELS {
            return Err(FigureError::ManyPanels { count: panels.len(), differ });
        }
        let mut notes = comparison.notes.clone();
        let without = |n: usize, what: &'static str, why: String| {
            (n > 0).then(|| format!("not shown: {} {why}", count(n, what)))
        };
        notes.extend(without(off_axis, "case", format!("without {}", wanted.x.label())));
        notes.extend(without(
            rows.without(&families),
            "point",
            format!("without {}", wanted.y.label()),
        ));
        let at_0 = values().filter(|point| !shown(point)).count();
        notes.extend(without(at_0, "point", "at 0, which a logarithmic axis hasn't".to_owned()));
        notes.extend(crowded(&families, wanted.x));
        let mut figure = Self {
            x: wanted.x,
            y: wanted.y,
            log,
            y_label: wanted.y.label().to_owned(),
            labels,
            title: wanted.title.map_or(common, str::to_owned),
            styles: Styles::of(names.iter().map(String::as_str)),
            names,
            panels: panels.into_iter().map(|(_, panel)| panel).collect(),
            notes,
            remarks: if wanted.y.is_of_times() {
                comparison.rearrangement_remarks.clone()
            } else {
                Vec::new()
            },
        };
        if let Some(baseline) = wanted.baseline.filter(|_| wanted.y == Y::Ratio) {
            figure.y_label = format!("completion time over that of {}", figure.label(baseline));
        }
        Ok(figure)
    }

    /// What a curve is called.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        self.labels.name(name)
    }

    /// Whether some point has a bar.
    pub(crate) fn has_bars(&self) -> bool {
        let mut points =
            self.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
        points.any(|point| point.interval.is_some())
    }

    /// Every crossover in words, panel by panel.
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

/// The rows, as what is on the y axis sees them.
struct Rows<'a> {
    files: &'a [(String, Vec<Record>)],
    comparison: &'a Comparison,
    y: Y,
    /// Whether ratios are to an algorithm that was named.
    named: bool,
    /// Whether the lower bound is shown, too.
    bound: bool,
}

/// What the curve of the lower bound is called.
pub(crate) const BOUND: &str = "lower bound";

impl Rows<'_> {
    fn line(&self, group: usize, line: usize) -> (&Group, &ComparisonLine) {
        let group = &self.comparison.groups[group];
        (group, &group.lines[line])
    }

    /// The mean of what is shown, and its interval.
    fn value(&self, line: &ComparisonLine) -> Option<(f64, Option<Interval>)> {
        if self.y == Y::Ratio {
            return line.ratio.as_ref().map(|r| (r.value, r.interval));
        }
        let rows = line.records(self.files).filter(|row| row.status == Status::Ok);
        let values: Option<Vec<f64>> = rows.map(|row| self.y.of(row)).collect();
        Summary::of(&values?).map(|s| (s.mean, s.interval))
    }

    /// The points of a curve that have what is shown.
    fn points(&self, curve: &TimeCurve) -> Vec<Point> {
        let point = |point: &swapmeet_results::analysis::Point| {
            let (y, interval) = self.value(self.line(point.group, point.line).1)?;
            Some(Point { x: point.x, y, interval: interval.filter(|i| !i.is_point()) })
        };
        curve.points.iter().filter_map(point).collect()
    }

    /// How many cases that could have been drawn have nothing of what is shown.
    fn without(&self, families: &[Family]) -> usize {
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

    fn panel(&self, family: &Family, log: Log, shown: impl Fn(&Point) -> bool) -> Option<Panel> {
        let bound = self.bound.then(|| self.bound(family, log)).flatten();
        let mut panel =
            Panel { title: String::new(), curves: Vec::new(), bound, crossings: Vec::new() };
        let crossovers = family.envelope().crossovers;
        let turns: Vec<f64> = crossovers.iter().map(|crossover| crossover.x).collect();
        for curve in &family.curves {
            let points: Vec<Point> = self.points(curve).into_iter().filter(&shown).collect();
            if points.is_empty() {
                continue;
            }
            let joined = points.chunk_by(|a, b| {
                !family.shared_xs.contains(&a.x) && !family.shared_xs.contains(&b.x)
            });
            let lines = joined.filter(|piece| piece.len() > 1);
            let lines = lines.map(|piece| self.drawn(family, &curve.algorithm, piece, log, &turns));
            panel.curves.push(Curve {
                name: curve.algorithm.clone(),
                lines: lines.collect(),
                points: points.clone(),
            });
        }
        for crossover in crossovers {
            // What isn't made of times need not meet where times do.
            let is_of_times = matches!(self.y, Y::Time | Y::Ratio | Y::Bound);
            let curve =
                self.between(family, &crossover.after, crossover.within).filter(|_| is_of_times);
            let y = curve.map(|y| y(crossover.x));
            panel.crossings.push(Crossing { crossover, y });
        }
        (!panel.curves.is_empty()).then_some(panel)
    }

    /// The lower bound of each case, which is the same for all algorithms, as a curve.
    fn bound(&self, family: &Family, log: Log) -> Option<Curve> {
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

    /// The places that the line through these points of an algorithm goes through. Where the
    /// fastest changes, ratios to it have a corner.
    fn drawn(
        &self,
        family: &Family,
        algorithm: &str,
        points: &[Point],
        log: Log,
        turns: &[f64],
    ) -> Vec<(f64, f64)> {
        let mut places = Vec::new();
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            places.push((a.x, a.y));
            if let Some(y) = self.between(family, algorithm, (a.x, b.x)) {
                let share = |piece: u32| f64::from(piece) / f64::from(PIECES);
                let x = |share: f64| {
                    if log.x { a.x * (b.x / a.x).powf(share) } else { a.x + (b.x - a.x) * share }
                };
                let mut xs: Vec<f64> = (1..PIECES).map(|piece| x(share(piece))).collect();
                xs.extend(turns.iter().filter(|turn| a.x < **turn && **turn < b.x));
                xs.sort_by(f64::total_cmp);
                places.extend(xs.into_iter().map(|x| (x, y(x))));
            }
        }
        places.extend(points.last().map(|point| (point.x, point.y)));
        places
    }

    /// What is shown of an algorithm between two neighbouring x, where it follows from times and
    /// these grow evenly: then lines cross where times do.
    fn between(
        &self,
        family: &Family,
        algorithm: &str,
        (left, right): (f64, f64),
    ) -> Option<Box<dyn Fn(f64) -> f64>> {
        if family.axis == Axis::Nodes {
            return None;
        }
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
        let even = move |(a, b): (f64, f64)| move |x: f64| a + (b - a) * share(x);
        let time = even(ends(&|_, line| line.mean())?);
        match self.y {
            Y::Time => Some(Box::new(time)),
            Y::Contention | Y::NodeBytes => {
                let own = even(ends(&|_, line| self.value(line).map(|(value, _)| value))?);
                Some(Box::new(own))
            }
            Y::Bound => {
                let bound = even(ends(&|_, line| Some(line.mean()? / self.value(line)?.0))?);
                Some(Box::new(move |x| time(x) / bound(x)))
            }
            Y::Ratio if self.named => {
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
            Y::Ratio => {
                let others = family
                    .curves
                    .iter()
                    .filter_map(|c| Some((c.time_at(left)?, c.time_at(right)?)));
                let others: Vec<_> = others.map(even).collect();
                let fastest =
                    move |x: f64| others.iter().map(|time| time(x)).fold(f64::INFINITY, f64::min);
                Some(Box::new(move |x| time(x) / fastest(x)))
            }
            Y::Steps | Y::Messages | Y::LinkMessages | Y::AlgorithmBandwidth | Y::BusBandwidth => {
                None
            }
        }
    }
}

fn crowded(families: &[Family], x: Axis) -> Option<String> {
    let mut crowded: Vec<f64> =
        families.iter().flat_map(|family| family.shared_xs.iter().copied()).collect();
    crowded.sort_by(f64::total_cmp);
    crowded.dedup();
    let values = crowded.iter().map(|value| x.text(*value)).collect::<Vec<_>>().join(", ");
    let what = format!(
        "several cases have the same {} ({values}): no line goes through their points",
        x.label()
    );
    (!crowded.is_empty()).then_some(what)
}

/// Titles the panels by what tells them apart; returns what they have in common, and in what they
/// differ.
fn titles(panels: &mut [(&Family, Panel)]) -> (String, String) {
    type Part = fn(&Family) -> &str;
    const PARTS: [(Part, &str); 5] = [
        (|f| &f.topology, "topologies (--topology)"),
        (|f| &f.workload, "workloads (--workload)"),
        (|f| &f.machine, "machines (--machine)"),
        (|f| &f.model, "models"),
        (|f| &f.inputs, "inputs"),
    ];
    let first = panels[0].0;
    let same = |part: Part| panels.iter().all(|(family, _)| part(family) == part(first));
    // The model says nothing new where the machine says it.
    let is_shown = |index: usize| index != 3 || same(PARTS[2].0) && !same(PARTS[3].0);
    let parts =
        PARTS.iter().enumerate().filter(|(index, _)| is_shown(*index)).map(|(_, part)| part);
    let (common, apart): (Vec<_>, Vec<_>) = parts.partition(|(part, _)| same(*part));
    let join = |family: &Family, parts: &[&(Part, &str)]| {
        parts
            .iter()
            .map(|(part, _)| part(family))
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (family, panel) in panels.iter_mut() {
        panel.title = join(family, &apart);
    }
    (join(first, &common), apart.iter().map(|(_, words)| *words).collect::<Vec<_>>().join(" and "))
}
