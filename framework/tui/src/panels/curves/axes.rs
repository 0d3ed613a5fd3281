//! The axes of a plot: they map block sizes and times to positions on the screen.

use ratatui::layout::Rect;
use swapmeet_results::analysis::{Curve, Family, Point};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Scale {
    #[default]
    LogLog,
    LogX,
    Linear,
}

impl Scale {
    pub(super) const ALL: [Self; 3] = [Self::LogLog, Self::LogX, Self::Linear];
}

/// `x` and `y` are the ranges of the axes, in logarithms if an axis is logarithmic. `origin` and
/// `floor` are the values at the left end of the x axis and at the lower end of the y axis.
pub(super) struct Axes {
    log_x: bool,
    log_y: bool,
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
    pub(super) origin: f64,
    pub(super) floor: f64,
}

impl Axes {
    /// Chooses axes that show all curves of a family and the curves in `more`.
    pub(super) fn new(family: &Family, more: &[Curve], scale: Scale) -> Self {
        let points = || family.curves.iter().chain(more).flat_map(|c| &c.points);
        let all = |of: fn(&Point) -> f64| {
            points().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| {
                (least.min(v), most.max(v))
            })
        };
        let (x, y) = (all(|p| p.x), all(|p| p.time));
        // A logarithmic axis cannot show 0. If the values start at 0, the axis is linear.
        let log_x = scale != Scale::Linear && x.0 > 0.0;
        let log_y = scale == Scale::LogLog && y.0 > 0.0;
        let floor = if log_y { y.0 } else { 0.0 };
        let axes = Self { log_x, log_y, x, y, origin: x.0, floor };
        let wide = |(least, most): (f64, f64)| {
            if most > least { (least, most) } else { (least - 0.5, most + 0.5) }
        };
        let x = wide((axes.along(x.0), axes.along(x.1)));
        let y = wide((axes.up(floor), axes.up(y.1)));
        Self { x, y, ..axes }
    }

    fn along(&self, x: f64) -> f64 {
        if self.log_x { x.ln() } else { x }
    }

    fn up(&self, y: f64) -> f64 {
        if self.log_y { y.ln() } else { y }
    }

    pub(super) fn cell(&self, (x, y): (f64, f64), plot: Rect) -> (u16, u16) {
        let share = |value: f64, (least, most): (f64, f64)| {
            ((value - least) / (most - least)).clamp(0.0, 1.0)
        };
        // A cell contains 2 x 4 Braille dots, which draw the curves. The mark of a point is placed
        // in the cell that contains the nearest dot.
        let dot =
            |share: f64, dots: u16| (share * f64::from(dots.saturating_sub(1))).round() as u16;
        let across = dot(share(self.along(x), self.x), plot.width * 2);
        let down = dot(1.0 - share(self.up(y), self.y), plot.height * 4);
        (across / 2, down / 4)
    }

    /// Returns the points of a curve in axis coordinates. Between two block sizes, time is
    /// interpolated linearly. On logarithmic axes, this interpolation appears as a curved line, so
    /// it needs additional points.
    pub(super) fn line(&self, points: &[Point], columns: u16) -> Vec<(f64, f64)> {
        let place = |x: f64, y: f64| (self.along(x), self.up(y));
        let mut line: Vec<(f64, f64)> =
            points.first().map(|p| place(p.x, p.time)).into_iter().collect();
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            // One point for each column of the screen is enough.
            let share = (self.along(to.x) - self.along(from.x)) / (self.x.1 - self.x.0);
            let pieces = (share * f64::from(columns)).ceil().max(1.0) as u32;
            for i in 1..=pieces {
                let share = f64::from(i) / f64::from(pieces);
                let x = if self.log_x {
                    from.x * (to.x / from.x).powf(share)
                } else {
                    from.x + (to.x - from.x) * share
                };
                let y = from.time
                    + (to.time - from.time) * (x - from.x) / (to.x - from.x).max(f64::MIN_POSITIVE);
                line.push(place(x, y));
            }
        }
        line
    }

    /// Returns the values of the time axis that get labels. The roundest numbers are first.
    pub(super) fn y_ticks(&self) -> Vec<f64> {
        if !self.log_y {
            let step = round_below(self.y.1 / 4.0);
            return (0..=20)
                .map(|i| f64::from(i) * step)
                .take_while(|v| *v <= self.y.1 * 1.001 && step > 0.0)
                .collect();
        }
        let (least, most) = (self.y.0.exp(), self.y.1.exp());
        let factors: &[f64] = if most / least > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = || least.log10().floor() as i32..=most.log10().ceil() as i32;
        let ticks =
            factors.iter().flat_map(|f| decades().map(move |decade| f * 10f64.powi(decade)));
        let ticks: Vec<f64> = ticks.filter(|t| (least..=most).contains(t)).collect();
        if ticks.len() > 1 { ticks } else { vec![least, most] }
    }
}

/// Returns the largest number of the series 1, 2, 5, 10, 20, 50 etc. that does not exceed `value`.
fn round_below(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 || value.is_infinite() {
        return 0.0;
    }
    let decade = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].iter().map(|f| f * decade).find(|step| *step <= value).unwrap_or(decade)
}
