//! What is drawn: points, joined.

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// How high: the mean over repetitions.
    pub y: f64,
    /// The lower end of its 95 % interval, if there is a spread.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The points of one algorithm, by x.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The algorithm.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

impl Curve {
    /// Its points, as many together as a line may join: one at a crowded x stands alone.
    pub(crate) fn pieces(&self, crowded: &[f64]) -> impl Iterator<Item = &[Point]> {
        self.points.chunk_by(|a, b| !crowded.contains(&a.x) && !crowded.contains(&b.x))
    }
}
