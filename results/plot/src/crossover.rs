//! Where the best algorithm changes.

use crate::curve::Curve;

/// A place where the lowest curve changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossover {
    /// Where, on the x axis.
    pub x: f64,
    /// How high both are there.
    pub y: f64,
    /// The points to its left and right.
    pub within: (f64, f64),
    /// Which is lowest before.
    pub before: String,
    /// Which is lowest after.
    pub after: String,
}

/// How curves go between two points: straight on axes that are logarithmic or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// Straight in the logarithm of x.
    pub log_x: bool,
    /// Straight in the logarithm of y.
    pub log_y: bool,
    /// Whether there is anything between two points: there are no networks between two networks.
    pub dense: bool,
}

impl Between {
    fn forth(log: bool, value: f64) -> f64 {
        if log { value.ln() } else { value }
    }

    fn back(log: bool, value: f64) -> f64 {
        if log { value.exp() } else { value }
    }

    /// The height at `x` of the piece from `a` to `b`.
    pub fn at(self, a: (f64, f64), b: (f64, f64), x: f64) -> f64 {
        let (xa, xb, x) = (Self::forth(self.log_x, a.0), Self::forth(self.log_x, b.0), Self::forth(self.log_x, x));
        let (ya, yb) = (Self::forth(self.log_y, a.1), Self::forth(self.log_y, b.1));
        if xa == xb { a.1 } else { Self::back(self.log_y, ya + (yb - ya) * (x - xa) / (xb - xa)) }
    }

    /// Where two pieces over the same x cross; `None` if they don't.
    fn crossing(self, xs: (f64, f64), first: (f64, f64), second: (f64, f64)) -> Option<(f64, f64)> {
        let y = |value| Self::forth(self.log_y, value);
        let (before, after) = (y(first.0) - y(second.0), y(first.1) - y(second.1));
        if before == after || before.signum() == after.signum() {
            return None;
        }
        let share = before / (before - after);
        let (xa, xb) = (Self::forth(self.log_x, xs.0), Self::forth(self.log_x, xs.1));
        let x = Self::back(self.log_x, xa + (xb - xa) * share);
        Some((x, self.at((xs.0, first.0), (xs.1, first.1), x)))
    }
}

/// Every change of the lowest of `curves`, in the order of x. Curves are compared where both have neighbouring points at the same two x,
/// but not at one that is `crowded`: points there are of different cases.
pub fn crossovers(curves: &[Curve], crowded: &[f64], between: Between) -> Vec<Crossover> {
    let mut xs: Vec<f64> = curves.iter().flat_map(|c| c.points.iter().map(|p| p.x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let height = |curve: &Curve, x: f64| curve.points.iter().find(|p| p.x == x).map(|p| p.y);
    let mut found: Vec<Crossover> = Vec::new();
    for pair in xs.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        if crowded.contains(&left) || crowded.contains(&right) {
            continue;
        }
        let pieces: Vec<(&Curve, f64, f64)> = curves
            .iter()
            .filter_map(|c| Some((c, height(c, left)?, height(c, right)?)))
            .filter(|(_, a, b)| !between.log_y || (*a > 0.0 && *b > 0.0))
            .collect();
        // From the lowest at the left, from crossing to crossing, always onto the one that comes out below.
        let Some(mut lowest) = pieces.iter().min_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2))) else {
            continue;
        };
        let mut from = left;
        // Where nothing lies between, who is lowest there for a while is of no interest: the lowest at the right is.
        let last = pieces.iter().map(|p| p.2).fold(f64::INFINITY, f64::min);
        while let Some((at, next)) = pieces
            .iter()
            .filter(|other| other.2 < lowest.2 && (between.dense || other.2 == last))
            .filter_map(|other| {
                let crossing = between.crossing((left, right), (lowest.1, lowest.2), (other.1, other.2))?;
                (crossing.0 >= from).then_some((crossing, other))
            })
            .min_by(|a, b| a.0.0.total_cmp(&b.0.0).then(a.1.2.total_cmp(&b.1.2)))
        {
            found.push(Crossover {
                x: at.0,
                y: at.1,
                within: (left, right),
                before: lowest.0.name.clone(),
                after: next.0.name.clone(),
            });
            (lowest, from) = (next, at.0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Point;

    fn curve(name: &str, points: &[(f64, f64)]) -> Curve {
        let point = |(x, y): &(f64, f64)| Point { x: *x, y: *y, low: None, high: None };
        Curve { name: name.to_owned(), points: points.iter().map(point).collect() }
    }

    const LINEAR: Between = Between { log_x: false, log_y: false, dense: true };

    #[test]
    fn two_lines_cross_where_they_do() {
        // 10 + x and 2 + 3x meet at x = 4
        let curves = [curve("start", &[(1.0, 11.0), (9.0, 19.0)]), curve("rate", &[(1.0, 5.0), (9.0, 29.0)])];
        let found = crossovers(&curves, &[], LINEAR);
        assert_eq!(
            found,
            [Crossover { x: 4.0, y: 14.0, within: (1.0, 9.0), before: "rate".to_owned(), after: "start".to_owned() }]
        );
        assert_eq!(crossovers(&curves[..1], &[], LINEAR), []);
    }

    #[test]
    fn only_the_lowest_counts_and_it_may_change_twice_between_two_points() {
        let curves = [
            curve("a", &[(0.0, 0.0), (10.0, 20.0)]),
            curve("b", &[(0.0, 4.0), (10.0, 14.0)]),
            curve("c", &[(0.0, 9.0), (10.0, 9.0)]),
            curve("above", &[(0.0, 50.0), (10.0, 21.0)]),
        ];
        let found: Vec<_> = crossovers(&curves, &[], LINEAR).into_iter().map(|c| (c.x, c.before, c.after)).collect();
        assert_eq!(found, [(4.0, "a".to_owned(), "b".to_owned()), (5.0, "b".to_owned(), "c".to_owned())]);
    }

    #[test]
    fn on_logarithmic_axes_pieces_are_straight_there() {
        let log = Between { log_x: true, log_y: true, dense: true };
        let curves = [curve("flat", &[(1.0, 10.0), (100.0, 10.0)]), curve("steep", &[(1.0, 1.0), (100.0, 100.0)])];
        let found = crossovers(&curves, &[], log);
        assert!((found[0].x - 10.0).abs() < 1e-9 && (found[0].y - 10.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_curve_with_a_gap_is_not_compared_across_it() {
        let curves = [curve("a", &[(0.0, 0.0), (2.0, 9.0)]), curve("b", &[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)])];
        assert_eq!(crossovers(&curves, &[], LINEAR), []);
    }

    #[test]
    fn points_of_different_cases_at_one_x_are_compared_with_nothing() {
        // Two networks of 16 nodes: `b` is slower on both, but not slower on the one than `a` on the other.
        let curves = [
            curve("a", &[(16.0, 4.0), (16.0, 1.0), (64.0, 5.0)]),
            curve("b", &[(16.0, 5.0), (16.0, 3.0), (64.0, 6.0)]),
        ];
        assert_eq!(crossovers(&curves, &[16.0], LINEAR), []);
        let apart = [curve("a", &[(16.0, 4.0), (64.0, 5.0)]), curve("b", &[(16.0, 3.0), (64.0, 6.0)])];
        assert_eq!(crossovers(&apart, &[16.0], LINEAR), []);
        assert_eq!(crossovers(&apart, &[], LINEAR).len(), 1);
    }

    #[test]
    fn where_nothing_lies_between_two_points_the_lowest_changes_once() {
        let curves = [
            curve("a", &[(0.0, 0.0), (10.0, 20.0)]),
            curve("b", &[(0.0, 4.0), (10.0, 14.0)]),
            curve("c", &[(0.0, 9.0), (10.0, 9.0)]),
        ];
        let found = crossovers(&curves, &[], Between { dense: false, ..LINEAR });
        assert_eq!(found.iter().map(|c| (&*c.before, &*c.after)).collect::<Vec<_>>(), [("a", "c")]);
        assert_eq!(found[0].within, (0.0, 10.0));
    }
}
