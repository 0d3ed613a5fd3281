//! Who is fastest where along a family, and where that changes.
//!
//! Between two points of a curve time is taken to grow evenly with x: that is what a start-up and a
//! cost a byte do, and it knows nothing of how an axis is drawn or what is drawn along the other.
//! So a study has one set of crossovers, whatever is shown of it.

use super::axis::Axis;
use super::family::{Curve, Family};

/// A place where another algorithm becomes the fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossover {
    /// Where along the axis.
    pub x: f64,
    /// The time that both take there, in us.
    pub time: f64,
    /// The points to its left and right; the same twice where it is at a point.
    pub within: (f64, f64),
    pub before: String,
    pub after: String,
}

/// From where to where an algorithm is the fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct FastestRange {
    pub algorithm: String,
    /// The first x of which it is known.
    pub from: f64,
    pub to: f64,
}

/// The lowest of a family's curves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Envelope {
    /// Who is fastest where, by rising x. Where two follow each other without a crossover, nothing
    /// is known of what lies between.
    pub ranges: Vec<FastestRange>,
    /// Where the fastest changes, by rising x.
    pub crossovers: Vec<Crossover>,
}

/// A segment of a curve between two neighbouring x: its times there.
struct Segment<'a> {
    algorithm: &'a str,
    left: f64,
    right: f64,
}

impl Crossover {
    /// It in words. There are no networks between two networks, but all sizes between two sizes.
    pub fn in_words(&self, axis: Axis) -> String {
        let (before, after) = (&self.before, &self.after);
        match axis {
            Axis::Nodes => {
                let (left, right) = (axis.text(self.within.0), axis.text(self.within.1));
                format!("{before} is fastest up to {left} nodes, {after} from {right}")
            }
            Axis::Block | Axis::Variation => {
                format!("{before} is fastest up to about {}, then {after}", axis.text(self.x))
            }
        }
    }
}

impl Family {
    /// The lowest of its curves.
    pub fn envelope(&self) -> Envelope {
        Envelope::of(self)
    }
}

impl Envelope {
    /// Of a family. Curves are compared where both have points at the same two neighbouring x.
    fn of(family: &Family) -> Self {
        let mut envelope = Self::default();
        let xs = family.xs();
        if let [only] = xs[..] {
            envelope.alone(family, only);
        }
        for pair in xs.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            if family.shared_xs.contains(&left) || family.shared_xs.contains(&right) {
                continue;
            }
            let segment = |curve: &'_ Curve| Some((curve.time_at(left)?, curve.time_at(right)?));
            let segments = family.curves.iter().filter_map(|curve| {
                segment(curve).map(|(left, right)| Segment {
                    algorithm: &curve.algorithm,
                    left,
                    right,
                })
            });
            envelope.extend(&segments.collect::<Vec<_>>(), (left, right), family.axis.is_dense());
        }
        envelope
    }

    fn alone(&mut self, family: &Family, x: f64) {
        if family.shared_xs.contains(&x) {
            return;
        }
        let times = family.curves.iter().filter_map(|curve| Some((curve, curve.time_at(x)?)));
        if let Some((fastest, _)) = times.min_by(|a, b| a.1.total_cmp(&b.1)) {
            self.ranges.push(FastestRange { algorithm: fastest.algorithm.clone(), from: x, to: x });
        }
    }

    /// Goes on from `left` to `right`: from the lowest at the left, from crossing to crossing,
    /// always onto the one that comes out below.
    fn extend(&mut self, segments: &[Segment<'_>], (left, right): (f64, f64), dense: bool) {
        let so_far = self.ranges.last().filter(|s| s.to == left).map(|s| s.algorithm.clone());
        let is_so_far = |segment: &Segment<'_>| so_far.as_deref() == Some(segment.algorithm);
        // Of those that are equal at the left, the one that is lower from there on; of those equal
        // throughout, the one that was lowest so far.
        let order = |a: &&Segment<'_>, b: &&Segment<'_>| {
            let times = a.left.total_cmp(&b.left).then(a.right.total_cmp(&b.right));
            times.then(is_so_far(b).cmp(&is_so_far(a)))
        };
        let Some(mut lowest) = segments.iter().min_by(order) else { return };
        if let Some(before) = segments.iter().find(|p| is_so_far(p) && p.left == lowest.left)
            && before.algorithm != lowest.algorithm
        {
            let within = if dense { (left, left) } else { (left, right) };
            self.cross(before, lowest, (left, lowest.left), within);
        }
        self.reign(lowest.algorithm, left);
        let mut from = left;
        // Where nothing lies between, who is lowest there for a while is of no interest: the lowest
        // at the right is.
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
        self.reign(lowest.algorithm, right);
    }

    fn cross(
        &mut self,
        before: &Segment<'_>,
        after: &Segment<'_>,
        (x, time): (f64, f64),
        within: (f64, f64),
    ) {
        self.reign(before.algorithm, x);
        let (before, after) = (before.algorithm.to_owned(), after.algorithm.to_owned());
        self.ranges.push(FastestRange { algorithm: after.clone(), from: x, to: x });
        self.crossovers.push(Crossover { x, time, within, before, after });
    }

    /// The algorithm is the fastest up to there.
    fn reign(&mut self, algorithm: &str, to: f64) {
        match self.ranges.last_mut() {
            Some(range) if range.algorithm == algorithm => range.to = to,
            _ => self.ranges.push(FastestRange { algorithm: algorithm.to_owned(), from: to, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Point;
    use std::collections::BTreeSet;

    fn family(axis: Axis, curves: &[(&str, &[(f64, f64)])]) -> Family {
        let point = |(x, time): &(f64, f64)| Point { x: *x, time: *time, group: 0, line: 0 };
        let curve = |(name, points): &(&str, &[(f64, f64)])| Curve {
            algorithm: (*name).to_owned(),
            points: points.iter().map(point).collect(),
        };
        Family {
            axis,
            topology: String::new(),
            workload: String::new(),
            machine: String::new(),
            model: String::new(),
            inputs: String::new(),
            curves: curves.iter().map(curve).collect(),
            shared_xs: Vec::new(),
            groups: BTreeSet::new(),
        }
    }

    /// Where each is the fastest: its name, from, to.
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
    fn two_lines_cross_where_they_do() {
        // 10 + x and 2 + 3x meet at x = 4
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
    fn only_the_lowest_counts_and_it_may_change_twice_between_two_points() {
        let lines: &[(&str, &[(f64, f64)])] = &[
            ("a", &[(0.0, 0.0), (10.0, 20.0)]),
            ("b", &[(0.0, 4.0), (10.0, 14.0)]),
            ("c", &[(0.0, 9.0), (10.0, 9.0)]),
            ("above", &[(0.0, 50.0), (10.0, 21.0)]),
        ];
        assert_eq!(ranges(&family(Axis::Block, lines)), "a 0..4, b 4..5, c 5..10");
        // There is no network between two networks: who is lowest for a while there is of no
        // interest.
        let nodes = family(Axis::Nodes, lines).envelope();
        let words: Vec<String> = nodes.crossovers.iter().map(|c| c.in_words(Axis::Nodes)).collect();
        assert_eq!(words, ["a is fastest up to 0 nodes, c from 10"]);
    }

    #[test]
    fn curves_that_touch_do_not_cross_and_those_that_go_through_a_point_do() {
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
    fn nothing_is_compared_across_a_gap_or_at_a_crowded_x() {
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
