//! The envelope of a family: the fastest algorithm at each x, and the crossovers between
//! algorithms.
//! Between two neighbouring points of a curve, time is interpolated linearly in x, because start-up
//! time and transmission time are linear in the size. The interpolation does not depend on the
//! scale or the quantity of a figure, so all figures of a study have the same crossovers.

use super::axis::Axis;
use super::family::Family;
use crate::stats::Interval;

#[derive(Debug, Clone, PartialEq)]
pub struct Crossover {
    pub x: f64,
    /// The time of both algorithms at the crossover, in microseconds.
    pub time: f64,
    /// The x of the neighbouring points. At a point, both are the x of the crossover.
    pub within: (f64, f64),
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FastestRange {
    pub algorithm: String,
    /// The first x at which this algorithm is known to be the fastest in the range.
    pub from: f64,
    pub to: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Envelope {
    /// The ranges by ascending x. Between two of them, the fastest algorithm may be unknown.
    pub ranges: Vec<FastestRange>,
    pub crossovers: Vec<Crossover>,
}

struct Segment<'a> {
    algorithm: &'a str,
    left: f64,
    right: f64,
}

impl Crossover {
    /// Describes the crossover. If it is between two networks, names both.
    pub fn in_words(&self, axis: Axis) -> String {
        self.in_words_with(axis, None)
    }

    pub fn in_words_with(&self, axis: Axis, interval: Option<Interval>) -> String {
        let (before, after) = (&self.before, &self.after);
        if axis.is_dense() {
            let interval = interval.map_or(String::new(), |it| self.range_in_words(axis, it));
            let at = axis.position(self.x);
            return format!("{before} is fastest up to about {at}{interval}, then {after}");
        }
        let (left, right) = (axis.position(self.within.0), axis.position(self.within.1));
        let noun = match axis {
            Axis::Faults if self.within.0 == 1.0 => " failed link",
            Axis::Faults => " failed links",
            Axis::Nodes => " nodes",
            Axis::Block | Axis::Variation | Axis::Parameter(_) => "",
        };
        format!("{before} is fastest up to {left}{noun}, {after} from {right}")
    }

    /// An end at a neighbouring point is open, because the crossover may be beyond it.
    fn range_in_words(&self, axis: Axis, interval: Interval) -> String {
        let less = if interval.low <= self.within.0 { " or less" } else { "" };
        let more = if interval.high >= self.within.1 { " or more" } else { "" };
        let (low, high) = (axis.text(interval.low), axis.text(interval.high));
        format!(" (95 %: {low}{less} to {high}{more})")
    }
}

impl Family {
    pub fn envelope(&self) -> Envelope {
        Envelope::of(self)
    }
}

impl Envelope {
    /// Two curves are compared only between neighbouring values of x at which both have points.
    fn of(family: &Family) -> Self {
        let mut envelope = Self::default();
        let xs = family.xs();
        if let [only] = xs[..] {
            envelope.add_single_point(family, only);
        }
        for pair in xs.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            if family.shared_xs.contains(&left) || family.shared_xs.contains(&right) {
                continue;
            }
            let segments = family.curves.iter().filter_map(|curve| {
                let (left, right) = (curve.time_at(left)?, curve.time_at(right)?);
                Some(Segment { algorithm: &curve.algorithm, left, right })
            });
            envelope.extend(&segments.collect::<Vec<_>>(), (left, right), family.axis.is_dense());
        }
        envelope
    }

    fn add_single_point(&mut self, family: &Family, x: f64) {
        if family.shared_xs.contains(&x) {
            return;
        }
        let times = family.curves.iter().filter_map(|curve| Some((curve, curve.time_at(x)?)));
        if let Some((fastest, _)) = times.min_by(|a, b| a.1.total_cmp(&b.1)) {
            self.ranges.push(FastestRange { algorithm: fastest.algorithm.clone(), from: x, to: x });
        }
    }

    /// Follows the lowest segment from `left` to `right`. At a crossing, another becomes the
    /// lowest.
    fn extend(&mut self, segments: &[Segment<'_>], (left, right): (f64, f64), dense: bool) {
        let current = self.ranges.last().filter(|s| s.to == left).map(|s| s.algorithm.clone());
        let is_current = |segment: &Segment<'_>| current.as_deref() == Some(segment.algorithm);
        // The lowest segment is that with the least time at the left end. If several have this
        // time, the least time at the right end decides, and then the segment of the current
        // algorithm is preferred.
        let order = |a: &&Segment<'_>, b: &&Segment<'_>| {
            let times = a.left.total_cmp(&b.left).then(a.right.total_cmp(&b.right));
            times.then(is_current(b).cmp(&is_current(a)))
        };
        let Some(mut lowest) = segments.iter().min_by(order) else { return };
        if let Some(before) = segments.iter().find(|p| is_current(p) && p.left == lowest.left)
            && before.algorithm != lowest.algorithm
        {
            let within = if dense { (left, left) } else { (left, right) };
            self.cross(before, lowest, (left, lowest.left), within);
        }
        self.extend_range(lowest.algorithm, left);
        let mut from = left;
        // If no case can exist in between, only the lowest segment at the right end matters.
        let last = segments.iter().map(|p| p.right).fold(f64::INFINITY, f64::min);
        let crossing = |a: &Segment<'_>, b: &Segment<'_>| {
            let (before, after) = (a.left - b.left, a.right - b.right);
            (before <= 0.0 && after > 0.0)
                .then(|| left + (right - left) * (before / (before - after)))
        };
        while let Some((x, next)) = segments
            .iter()
            .filter(|other| other.right < lowest.right && (dense || other.right == last))
            .filter_map(|other| Some((crossing(lowest, other)?, other)))
            .filter(|(x, _)| *x >= from)
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.right.total_cmp(&b.1.right)))
        {
            let time = lowest.left + (lowest.right - lowest.left) * ((x - left) / (right - left));
            self.cross(lowest, next, (x, time), (left, right));
            (lowest, from) = (next, x);
        }
        self.extend_range(lowest.algorithm, right);
    }

    fn cross(
        &mut self,
        before: &Segment<'_>,
        after: &Segment<'_>,
        (x, time): (f64, f64),
        within: (f64, f64),
    ) {
        self.extend_range(before.algorithm, x);
        let (before, after) = (before.algorithm.to_owned(), after.algorithm.to_owned());
        self.ranges.push(FastestRange { algorithm: after.clone(), from: x, to: x });
        self.crossovers.push(Crossover { x, time, within, before, after });
    }

    fn extend_range(&mut self, algorithm: &str, to: f64) {
        match self.ranges.last_mut() {
            Some(range) if range.algorithm == algorithm => range.to = to,
            _ => self.ranges.push(FastestRange { algorithm: algorithm.to_owned(), from: to, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{CommonSettings, Curve, Point};
    use std::collections::BTreeSet;

    fn family(axis: Axis, curves: &[(&str, &[(f64, f64)])]) -> Family {
        let point = |(x, time): &(f64, f64)| Point { x: *x, time: *time, group: 0, line: 0 };
        let curve = |(name, points): &(&str, &[(f64, f64)])| Curve {
            algorithm: (*name).to_owned(),
            points: points.iter().map(point).collect(),
        };
        Family {
            axis,
            settings: CommonSettings::default(),
            curves: curves.iter().map(curve).collect(),
            shared_xs: Vec::new(),
            groups: BTreeSet::new(),
        }
    }

    fn ranges(family: &Family) -> String {
        let ranges = family.envelope().ranges;
        ranges
            .iter()
            .map(|s| format!("{} {}..{}", s.algorithm, s.from, s.to))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn crossings(family: &Family) -> Vec<(f64, f64)> {
        family.envelope().crossovers.iter().map(|c| (c.x, c.time)).collect()
    }

    #[test]
    fn the_crossover_of_two_lines_is_found() {
        // The lines 10 + x and 2 + 3x cross at x = 4.
        let both = family(
            Axis::Block,
            &[("start", &[(1.0, 11.0), (9.0, 19.0)]), ("rate", &[(1.0, 5.0), (9.0, 29.0)])],
        );
        let crossover = Crossover {
            x: 4.0,
            time: 14.0,
            within: (1.0, 9.0),
            before: "rate".to_owned(),
            after: "start".to_owned(),
        };
        assert_eq!(both.envelope().crossovers, [crossover]);
        assert_eq!(ranges(&both), "rate 1..4, start 4..9");
        assert_eq!(ranges(&both.only(|name| name == "start")), "start 1..9");
    }

    #[test]
    fn the_fastest_may_change_twice_between_two_points() {
        let lines: &[(&str, &[(f64, f64)])] = &[
            ("a", &[(0.0, 0.0), (10.0, 20.0)]),
            ("b", &[(0.0, 4.0), (10.0, 14.0)]),
            ("c", &[(0.0, 9.0), (10.0, 9.0)]),
            ("above", &[(0.0, 50.0), (10.0, 21.0)]),
        ];
        assert_eq!(ranges(&family(Axis::Block, lines)), "a 0..4, b 4..5, c 5..10");
        let nodes = family(Axis::Nodes, lines).envelope();
        let words: Vec<String> = nodes.crossovers.iter().map(|c| c.in_words(Axis::Nodes)).collect();
        assert_eq!(words, ["a is fastest up to 0 nodes, c from 10"]);
    }

    #[test]
    fn touching_curves_do_not_cross() {
        let flat: (&str, &[(f64, f64)]) = ("flat", &[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)]);
        let touching = family(Axis::Block, &[("a", &[(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)]), flat]);
        assert_eq!((ranges(&touching).as_str(), crossings(&touching)), ("a 1..3", vec![]));
        let through = family(Axis::Block, &[("a", &[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), flat]);
        assert_eq!(
            (ranges(&through).as_str(), crossings(&through)),
            ("a 1..2, flat 2..3", vec![(2.0, 2.0)])
        );
        let alike = family(Axis::Block, &[("other", flat.1), flat]);
        assert_eq!(
            ranges(&alike),
            "other 1..3",
            "of two that are equal throughout the first, all along"
        );
    }

    #[test]
    fn gaps_and_shared_values_are_skipped() {
        let gap: &[(&str, &[(f64, f64)])] =
            &[("a", &[(0.0, 0.0), (2.0, 9.0)]), ("b", &[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)])];
        assert_eq!(crossings(&family(Axis::Block, gap)), []);
        let apart: &[(&str, &[(f64, f64)])] =
            &[("a", &[(16.0, 4.0), (64.0, 5.0)]), ("b", &[(16.0, 3.0), (64.0, 6.0)])];
        assert_eq!(crossings(&family(Axis::Block, apart)), [(40.0, 4.5)]);
        let shared_xs = Family { shared_xs: vec![16.0], ..family(Axis::Block, apart) };
        assert_eq!(shared_xs.envelope(), Envelope::default());
    }
}
