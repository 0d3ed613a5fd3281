pub(crate) type Point = (f64, f64);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// Starts the next path at this point. A path may be open or closed.
    Move(Point),
    Line(Point),
    Curve(Point, Point, Point),
    /// Closes the path with a straight line to its first point.
    Close,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outline(pub Vec<Step>);

impl Outline {
    pub(crate) fn of_lines(points: &[Point], closed: bool) -> Self {
        let mut steps: Vec<Step> = points.iter().map(|point| Step::Line(*point)).collect();
        if let Some(first) = points.first() {
            steps[0] = Step::Move(*first);
        }
        steps.extend(closed.then_some(Step::Close));
        Self(steps)
    }

    pub(crate) fn of_circle((x, y): Point, r: f64) -> Self {
        /// The distance of a control point from the nearest end of the curve, relative to the
        /// radius, with which the curves approximate a circle best.
        const REACH: f64 = 0.552_284_75;
        let at = |dx: f64, dy: f64| (x + dx * r, y + dy * r);
        let quarter = |(ax, ay): Point, (bx, by): Point| {
            Step::Curve(
                at(ax + REACH * bx, ay + REACH * by),
                at(bx + REACH * ax, by + REACH * ay),
                at(bx, by),
            )
        };
        let corners = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)];
        let quarters = corners.windows(2).map(|pair| quarter(pair[0], pair[1]));
        Self([Step::Move(at(1.0, 0.0))].into_iter().chain(quarters).chain([Step::Close]).collect())
    }
}
