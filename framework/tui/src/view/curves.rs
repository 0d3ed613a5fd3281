//! Completion time against block size or nodes: a curve an algorithm, crossovers marked.

use super::paint::{Painter, width};
use crate::app::App;
use crate::model::curves::{Axis, Curve, Family};
use crate::theme::MARKS;
use crate::ui::{Panel, Scale};
use ratatui::layout::Rect;
use swapmeet_results::duration;

/// Columns for the figures at the left.
const LEFT: u16 = 9;

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let Some(family) = app.families.get(app.ui.family.min(app.families.len().saturating_sub(1))) else {
        let area = painter.panel(area, Panel::Curves, "Time against block size or nodes");
        return painter.nothing(area, "Curves need rows of two block sizes, or of two sizes of a topology. Pick more in Explore (1), then a adds them.");
    };
    let count = app.families.len();
    let which = if count > 1 { format!(" ({} of {count})", app.ui.family.min(count - 1) + 1) } else { String::new() };
    let filter = app.filter(Panel::Curves);
    let filtered = if filter.is_empty() { String::new() } else { format!(" /{filter}") };
    let title = format!("Time against {}{which}: {}{filtered}", family.axis.title(), family.title);
    let area = painter.panel(area, Panel::Curves, &title);
    let family = &family.only(filter);
    if family.curves.is_empty() {
        return painter.nothing(area, "No algorithm has these words. Esc shows all.");
    }
    // Crossovers in words: curves are worth more.
    let words = if area.height > 14 { usize::from(area.height / 6).max(3) } else { 0 };
    let said = family.crossovers.len().min(words);
    let farthest = family.crossovers.len() - said;
    let first = painter.scrolled(Panel::Curves, app.ui.cursors[Panel::Curves as usize], farthest);
    let said = said as u16;
    let mut legend = legend(painter, family, area);
    if !family.crowded.is_empty() && area.height > 10 {
        let values = family.crowded.iter().map(|x| family.axis.text(*x)).collect::<Vec<_>>().join(", ");
        let text = match family.axis {
            Axis::Nodes => format!("several topologies have {values} nodes: no line goes there"),
            Axis::BlockSize => format!("several workloads have blocks of {values}: no line goes there"),
        };
        painter.put(area, 1, legend, &text, painter.theme.dim);
        legend += 1;
    }
    let plot = Rect {
        x: area.x + LEFT + 1,
        y: area.y + legend,
        width: area.width.saturating_sub(LEFT + 3),
        height: area.height.saturating_sub(legend + 2 + said),
    };
    if plot.width < 10 || plot.height < 3 {
        return painter.nothing(area, "No room for curves here: e gives this panel the whole screen.");
    }
    let axes = Axes::new(family, app.ui.scale);
    frame(painter, family, &axes, area, plot);
    let pieces = |(i, curve): (usize, &Curve)| {
        let style = painter.theme.series(i);
        curve.pieces(&family.crowded).map(|points| (axes.line(points, plot.width), style)).collect::<Vec<_>>()
    };
    let lines: Vec<_> = family.curves.iter().enumerate().flat_map(pieces).collect();
    painter.lines(plot, ([axes.x.0, axes.x.1], [axes.y.0, axes.y.1]), &lines);
    for (i, curve) in family.curves.iter().enumerate() {
        for point in &curve.points {
            let (x, y) = axes.cell(*point, plot);
            painter.dot(plot, x, y, MARKS[i % MARKS.len()], painter.theme.series(i));
        }
    }
    for crossover in &family.crossovers {
        let (x, y) = axes.cell(crossover.at, plot);
        painter.dot(plot, x, y, '✕', painter.theme.accent);
    }
    for (y, crossover) in (area.height - said..area.height).zip(family.crossovers.iter().skip(first)) {
        painter.put(area, 1, y, &format!("✕ {}", crossover.in_words(family.axis)), painter.theme.text);
    }
    if farthest > 0 && said > 0 {
        let last = first + usize::from(said);
        let text = format!(" {}..{last} of {} (↑ ↓)", first + 1, family.crossovers.len());
        painter.put_right(area, area.width - 1, area.height - 1, &text, painter.theme.dim);
    }
}

/// Which mark is whose; returns the lines it took.
fn legend(painter: &mut Painter<'_, '_>, family: &Family, area: Rect) -> u16 {
    let (mut x, mut y) = (1, 0);
    for (i, curve) in family.curves.iter().enumerate() {
        let text = format!("{} {}", MARKS[i % MARKS.len()], curve.algorithm);
        if x > 1 && x + width(&text) > area.width {
            (x, y) = (1, y + 1);
        }
        x = painter.put(area, x, y, &text, painter.theme.series(i)) + 3;
    }
    y + 1
}

/// Lines at the left and below, with their figures.
fn frame(painter: &mut Painter<'_, '_>, family: &Family, axes: &Axes, area: Rect, plot: Rect) {
    let theme = painter.theme;
    let (left, top) = (plot.x - area.x, plot.y - area.y);
    for y in 0..plot.height {
        painter.dot(area, left - 1, top + y, '│', theme.dim);
    }
    for x in 0..plot.width {
        painter.dot(area, left + x, top + plot.height, '─', theme.dim);
    }
    painter.dot(area, left - 1, top + plot.height, '└', theme.dim);
    // Figures at the left, no two on neighbouring lines.
    let mut taken: Vec<u16> = Vec::new();
    for tick in axes.y_ticks() {
        let y = axes.cell((axes.origin, tick), plot).1;
        if taken.iter().any(|other| other.abs_diff(y) < 2) {
            continue;
        }
        taken.push(y);
        let text = if tick == 0.0 { "0".to_owned() } else { duration(tick) };
        painter.put_right(area, left - 1, top + y, &text, theme.dim);
        painter.dot(area, left - 1, top + y, '┤', theme.dim);
    }
    // Below, the sizes themselves, as many as there is room for.
    let mut xs: Vec<f64> = family.curves.iter().flat_map(|c| &c.points).map(|p| p.0).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let mut free = 0;
    for value in xs {
        let x = left + axes.cell((value, axes.floor), plot).0;
        let text = family.axis.text(value);
        let from = x.saturating_sub(width(&text) / 2).min(area.width.saturating_sub(width(&text)));
        painter.dot(area, x, top + plot.height, '┴', theme.dim);
        if from >= free {
            free = painter.put(area, from, top + plot.height + 1, &text, theme.dim) + 1;
        }
    }
}

/// From figures to places.
struct Axes {
    log_x: bool,
    log_y: bool,
    x: (f64, f64),
    y: (f64, f64),
    origin: f64,
    floor: f64,
}

impl Axes {
    fn new(family: &Family, scale: Scale) -> Self {
        let points = || family.curves.iter().flat_map(|c| &c.points);
        let all = |of: fn(&(f64, f64)) -> f64| {
            points().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| (least.min(v), most.max(v)))
        };
        let (x, y) = (all(|p| p.0), all(|p| p.1));
        // Nothing has no logarithm: a size of 0 bytes, a time of 0 us make an axis linear.
        let log_x = scale != Scale::Linear && x.0 > 0.0;
        let log_y = scale == Scale::LogLog && y.0 > 0.0;
        let floor = if log_y { y.0 } else { 0.0 };
        let axes = Self { log_x, log_y, x, y, origin: x.0, floor };
        let wide = |(least, most): (f64, f64)| if most > least { (least, most) } else { (least - 0.5, most + 0.5) };
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

    /// The cell of a point.
    fn cell(&self, (x, y): (f64, f64), plot: Rect) -> (u16, u16) {
        let share = |value: f64, (least, most): (f64, f64)| ((value - least) / (most - least)).clamp(0.0, 1.0);
        let across = share(self.along(x), self.x) * f64::from(plot.width.saturating_sub(1));
        let down = (1.0 - share(self.up(y), self.y)) * f64::from(plot.height.saturating_sub(1));
        (across.round() as u16, down.round() as u16)
    }

    /// A curve in places. Time grows linearly between sizes, which is no straight line on logarithmic axes.
    fn line(&self, points: &[(f64, f64)], columns: u16) -> Vec<(f64, f64)> {
        let place = |x: f64, y: f64| (self.along(x), self.up(y));
        let mut line: Vec<(f64, f64)> = points.first().map(|p| place(p.0, p.1)).into_iter().collect();
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            for i in 1..=columns {
                let share = f64::from(i) / f64::from(columns);
                let x =
                    if self.log_x { from.0 * (to.0 / from.0).powf(share) } else { from.0 + (to.0 - from.0) * share };
                let y = from.1 + (to.1 - from.1) * (x - from.0) / (to.0 - from.0).max(f64::MIN_POSITIVE);
                line.push(place(x, y));
            }
        }
        line
    }

    /// Round times along the axis, the roundest first.
    fn y_ticks(&self) -> Vec<f64> {
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
        let ticks = factors.iter().flat_map(|f| decades().map(move |decade| f * 10f64.powi(decade)));
        let ticks: Vec<f64> = ticks.filter(|t| (least..=most).contains(t)).collect();
        if ticks.len() > 1 { ticks } else { vec![least, most] }
    }
}

/// The largest of 1, 2, 5, 10, .. that is not above a value.
fn round_below(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 || value.is_infinite() {
        return 0.0;
    }
    let decade = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].iter().map(|f| f * decade).find(|step| *step <= value).unwrap_or(decade)
}
