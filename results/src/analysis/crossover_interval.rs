use super::envelope::Crossover;
use super::family::Family;
use crate::compare::Comparison;
use crate::stats::{Interval, Summary};
use std::collections::BTreeMap;

const HALVINGS: u32 = 40;

/// Returns the 95 % confidence interval of a crossover, or `None` without repetitions. Between two
/// neighbouring points, the time of each repetition is interpolated linearly. At each x, the mean
/// difference between the two algorithms has a confidence interval, with repetitions as pairs. The
/// interval of the crossover contains every x at which this interval contains 0 (Fieller's
/// interval). If an end of the result is one of the two points, the crossover may be beyond this
/// point.
pub fn crossover_interval(
    comparison: &Comparison,
    family: &Family,
    crossover: &Crossover,
) -> Option<Interval> {
    let (left, right) = crossover.within;
    if !family.axis.is_dense() || left >= right {
        return None;
    }
    let times = |algorithm: &str, x: f64| -> Option<BTreeMap<u32, f64>> {
        let curve = family.curves.iter().find(|curve| curve.algorithm == algorithm)?;
        let point = curve.points.iter().find(|point| point.x == x)?;
        let runs = &comparison.groups[point.group].lines[point.line].runs;
        Some(runs.iter().map(|run| (run.repetition, run.time_us)).collect())
    };
    let differences = |x: f64| -> Option<BTreeMap<u32, f64>> {
        let (before, after) = (times(&crossover.before, x)?, times(&crossover.after, x)?);
        (before.len() == after.len()).then_some(())?;
        before.iter().map(|(run, time)| Some((*run, time - after.get(run)?))).collect()
    };
    let (from, to) = (differences(left)?, differences(right)?);
    if from.len() < 2 || !from.keys().eq(to.keys()) {
        return None;
    }
    let pairs: Vec<(f64, f64)> = from.into_values().zip(to.into_values()).collect();
    let is_possible = |x: f64| {
        let share = (x - left) / (right - left);
        let at: Vec<f64> = pairs.iter().map(|(a, b)| a + (b - a) * share).collect();
        let interval = Summary::of(&at).and_then(|summary| summary.interval);
        interval.is_some_and(|interval| interval.contains(0.0))
    };
    // At the crossover, the interval contains 0. This finds how far towards `outside` it does.
    let end = |outside: f64| {
        if is_possible(outside) {
            return outside;
        }
        let (mut inside, mut outside) = (crossover.x, outside);
        for _ in 0..HALVINGS {
            let middle = (inside + outside) / 2.0;
            if is_possible(middle) { inside = middle } else { outside = middle }
        }
        inside
    };
    let interval = Interval { low: end(left), high: end(right) };
    (!interval.is_point() && is_possible(crossover.x)).then_some(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Axis, families};
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;

    /// At 0 B and 100 B, the times of `rate` are 5 and 45. The time of `start` is 25 plus a
    /// deviation that is the same at both sizes. So the difference at x is x * 0.4 - 20 -
    /// deviation. The interval of the crossover is therefore the t interval of the deviations,
    /// divided by the slope 0.4.
    #[test]
    fn the_interval_of_a_crossover_follows_from_repetitions() {
        let deviations = [-1.0, 0.5, 0.0, 1.5, -1.0];
        let at = |bytes: u64, name: &str, run: usize, time: f64| Record {
            workload: format!("uniform:{bytes}"),
            ..row(name, run as u32, time)
        };
        let of = |deviations: &[f64]| {
            let rows = deviations.iter().enumerate().flat_map(|(run, deviation)| {
                [
                    at(0, "rate", run, 5.0),
                    at(100, "rate", run, 45.0),
                    at(0, "start", run, 25.0 + deviation),
                    at(100, "start", run, 25.0 + deviation),
                ]
            });
            let comparison = compare(&files(rows.collect()), None).unwrap();
            let family = &families(&comparison, Axis::Block).families[0];
            let crossover = &family.envelope().crossovers[0];
            (crossover.x, crossover_interval(&comparison, family, crossover))
        };
        let (x, interval) = of(&deviations);
        let interval = interval.unwrap();
        assert!((x - 50.0).abs() < 1e-9);
        // Student's t for 4 degrees of freedom is 2.7764. The sample variance is 4.5 / 4.
        let half = 2.7764 * (4.5_f64 / 4.0 / 5.0).sqrt() / 0.4;
        assert!((interval.low - (50.0 - half)).abs() < 1e-3, "{interval:?} {half}");
        assert!((interval.high - (50.0 + half)).abs() < 1e-3, "{interval:?} {half}");
        assert_eq!(of(&[0.0]).1, None, "a single run has no interval");
        let wide = of(&[-60.0, 60.0, 30.0, -30.0]).1.unwrap();
        assert_eq!((wide.low, wide.high), (0.0, 100.0), "the interval ends at the two points");
    }
}
