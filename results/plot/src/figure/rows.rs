//! The panels of a figure, computed from compared rows.

use super::{Crossing, Curve, ErrorBars, Panel, Point, Reference};
use crate::quantity::{LogAxes, Quantity};
use swapmeet_results::analysis::{Crossover, Curve as TimeCurve, Family, crossover_interval};
use swapmeet_results::stats::{Interval, Summary};
use swapmeet_results::{Comparison, ComparisonLine, Record, Status};

/// The compared rows, and the quantity of the y axis.
pub(super) struct FigureData<'a> {
    pub files: &'a [(String, Vec<Record>)],
    pub comparison: &'a Comparison,
    pub y: Quantity,
    /// The meaning of error bars.
    pub bars: ErrorBars,
    /// The reference that is drawn as a curve.
    pub reference: Option<Reference>,
    /// Whether crossovers are drawn.
    pub crossovers: bool,
}

impl FigureData<'_> {
    fn line(&self, group: usize, line: usize) -> &ComparisonLine {
        &self.comparison.groups[group].lines[line]
    }

    /// Returns the mean of the quantity, and its error bar.
    fn value(&self, line: &ComparisonLine) -> Option<(f64, Option<Interval>)> {
        if self.y == Quantity::Ratio {
            return line.ratio.as_ref().map(|r| (r.value, r.interval));
        }
        let values: Vec<f64> = if self.y == Quantity::Time {
            line.runs.iter().map(|run| run.time_us).collect()
        } else {
            let rows = line.records(self.files).filter(|row| row.status == Status::Ok);
            rows.map(|row| self.y.of(row)).collect::<Option<_>>()?
        };
        Summary::of(&values).map(|s| (s.mean, self.bars.interval(&values, &s)))
    }

    /// Returns the points of a curve. Cases without a value of the quantity are skipped.
    pub(super) fn points(&self, curve: &TimeCurve) -> Vec<Point> {
        let point = |point: &swapmeet_results::analysis::Point| {
            let (y, interval) = self.value(self.line(point.group, point.line))?;
            Some(Point { x: point.x, y, interval: interval.filter(|i| !i.is_point()) })
        };
        curve.points.iter().filter_map(point).collect()
    }

    /// Returns the number of cases that have a position on the x axis but no value of the quantity.
    /// Unsupported cases do not count.
    pub(super) fn count_without(&self, families: &[Family]) -> usize {
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

    pub(super) fn panel(
        &self,
        family: &Family,
        title: String,
        log: LogAxes,
        shown: impl Fn(&Point) -> bool,
    ) -> Panel {
        let reference = self.reference.and_then(|reference| self.curve_of(reference, family, log));
        let mut panel = Panel { title, curves: Vec::new(), reference, crossings: Vec::new() };
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
            panel.crossings.push(Crossing { crossover, at, interval });
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
            let values: Vec<f64> = rows.filter_map(|row| reference.of(row)).collect();
            let y = Summary::of(&values)?.mean;
            (!log.y() || y > 0.0).then_some(Point { x: *x, y, interval: None })
        };
        let points: Vec<Point> =
            family.xs().iter().filter(|x| !family.shared_xs.contains(x)).filter_map(at).collect();
        let lines = vec![points.iter().map(|point| (point.x, point.y)).collect()];
        (!points.is_empty()).then(|| Curve { name: reference.name().to_owned(), points, lines })
    }
}
