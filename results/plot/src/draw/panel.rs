//! Draws one panel: its axes, its curves, and a ring at each crossover.

use super::legend::REFERENCE_DASHES;
use super::letter;
use super::marker::marker;
use super::scale::{Base, Scale, Tick};
use crate::figure::{Curve, ErrorBars, Figure, Panel};
use crate::marks::outline::Point as Position;
use crate::marks::scene::{
    Anchor, BLACK, Colour, GREY, Mark, PALE, Scene, ShapeStyle, Stroke, Text,
};
use crate::marks::text::{width, wrapped};
use crate::quantity::{Point, Quantity};
use swapmeet_results::analysis::Axis;
use swapmeet_results::stats::distinct;

pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub font: f64,
    pub title: Vec<String>,
    pub title_lines: usize,
}

pub(crate) struct Axes {
    pub x: Scale,
    pub y: Scale,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    x_label: Vec<String>,
    /// Whether all points have the same x. If they have, the curves are placed next to each other.
    pub is_single: bool,
}

impl Axes {
    fn at(&self, (x, y): Position) -> Position {
        (self.x.at(x), self.y.at(y))
    }

    fn place(&self, curve: usize, point: &Point) -> Position {
        let x = if self.is_single { curve as f64 + 0.5 } else { point.x };
        self.at((x, point.y))
    }
}

impl Frame {
    /// Draws a panel. `letters` is the index of the letter of its first crossover.
    pub(super) fn draw(&self, scene: &mut Scene, figure: &Figure, panel: &Panel, letters: usize) {
        let axes = self.axes(figure, panel);
        // A title is centred above the axes, unless it would then extend beyond the panel.
        let middle = (axes.x.ends.0 + axes.x.ends.1) / 2.0;
        for (number, line) in self.title.iter().enumerate() {
            let above = (self.title_lines - number - 1) as f64 * 1.3 + 0.7;
            let last = self.left + self.width - width(line, self.font) / 2.0;
            let at = (middle.min(last), self.top - above * self.font);
            scene.text(at, line, self.font, Anchor::Middle);
        }
        self.frame(scene, figure, &axes);
        for curve in &panel.curves {
            let style = figure.styles.get(&curve.name);
            for line in &curve.lines {
                let places = line.iter().map(|place| axes.at(*place)).collect();
                scene.line(places, style.colour, 0.125 * self.font, style.dashes);
            }
        }
        for line in panel.reference.iter().flat_map(|curve| &curve.lines) {
            scene.line(
                line.iter().map(|place| axes.at(*place)).collect(),
                GREY,
                0.125 * self.font,
                REFERENCE_DASHES,
            );
        }
        if let Some(reference) = panel.reference.iter().find(|_| axes.is_single) {
            let (y, (left, right)) = (axes.y.at(reference.points[0].y), axes.x.ends);
            scene.line(vec![(left, y), (right, y)], GREY, 0.125 * self.font, REFERENCE_DASHES);
        }
        let mut drawn: Vec<Position> = Vec::new();
        for (number, curve) in panel.curves.iter().enumerate() {
            for point in &curve.points {
                let (x, y) = axes.place(number, point);
                // If a marker is on top of others, it is smaller, so that all of them are visible.
                let near = |(a, b): &&Position| (a - x).hypot(b - y) < 0.25 * self.font;
                let size =
                    0.36 * self.font * 0.72_f64.powi(drawn.iter().filter(near).count() as i32);
                drawn.push((x, y));
                self.point(scene, figure, &axes, (curve, point), (x, y), size);
            }
        }
        self.draw_crossovers(scene, figure, panel, &axes, letters);
    }

    pub(super) fn axes(&self, figure: &Figure, panel: &Panel) -> Axes {
        let (font, size) = (self.font, 0.9 * self.font);
        let panels = if figure.share_y { &figure.panels[..] } else { std::slice::from_ref(panel) };
        let heights = panels.iter().flat_map(|panel| {
            let points = panel.curves.iter().flat_map(|curve| &curve.points);
            let reference = panel.reference.iter().flat_map(|curve| &curve.points);
            points.flat_map(|point| heights(figure, point)).chain(reference.map(|point| point.y))
        });
        let unit = figure.y.unit();
        let mut y = Scale::around(heights, figure.log.y(), 0.06).rounded(Base::for_unit(unit));
        // The label of the x axis may need several lines, below the labels of the ticks.
        let x_label = wrapped(figure.x_label, font, 0.7 * self.width);
        let below = 3.8 * font + (x_label.len() as f64 - 1.0) * 1.2 * font;
        y.ends = (self.top + self.height - below, self.top);
        let y_ticks = y.vertical_ticks(Base::for_unit(unit), size, |value, digits| {
            unit.text_to(value, digits)
        });
        let labels = y_ticks.iter().map(|tick| width(&tick.label, size)).fold(0.0, f64::max);
        let title = wrapped(&figure.y_label, font, y.ends.0 - y.ends.1).len() as f64;
        let points = || panel.curves.iter().flat_map(|curve| &curve.points);
        let first = points().next().map_or(0.0, |point| point.x);
        let is_single = panel.curves.len() > 1 && points().all(|point| point.x == first);
        let mut x = if is_single {
            let high = panel.curves.len() as f64;
            Scale { log: false, low: 0.0, high, ends: (0.0, 1.0) }
        } else {
            let xs = points().map(|point| point.x);
            Scale::around(xs, figure.log.x(), 0.04).rounded(x_base(figure, panel))
        };
        x.ends = (self.left + title * 1.3 * font + labels + 1.2 * font, self.left + self.width);
        let x_ticks = if is_single {
            vec![Tick { value: x.high / 2.0, label: figure.x.text(first) }]
        } else {
            self.x_ticks(figure, panel, &x)
        };
        x = x.shortened(&x_ticks, size);
        Axes { x, y, x_ticks, y_ticks, x_label, is_single }
    }

    fn x_ticks(&self, figure: &Figure, panel: &Panel, x: &Scale) -> Vec<Tick> {
        let size = 0.9 * self.font;
        let text = |value: f64, digits: usize| figure.x.unit().text_to(value, digits);
        let points = panel.curves.iter().flat_map(|curve| &curve.points);
        // The ticks are the values of the cases, because there may be no case between two values.
        let own: Vec<Tick> = distinct(points.map(|point| point.x))
            .into_iter()
            .map(|value| Tick { value, label: text(value, 3) })
            .collect();
        let is_parameter = matches!(figure.x, Axis::Parameter(_));
        let shows_own = !figure.x.is_dense() || is_parameter;
        if shows_own && own.len() >= 3 && x.has_room(&own, size, 0.4 * size) {
            return own;
        }
        x.horizontal_ticks(x_base(figure, panel), size, text)
    }

    fn frame(&self, scene: &mut Scene, figure: &Figure, axes: &Axes) {
        let (font, size) = (self.font, 0.9 * self.font);
        let ((left, right), (bottom, top)) = (axes.x.ends, axes.y.ends);
        let line = 0.07 * font;
        for tick in &axes.x_ticks {
            let (x, is_named) = (axes.x.at(tick.value), !tick.label.is_empty());
            if is_named {
                scene.line(vec![(x, bottom), (x, top)], PALE, line, &[]);
                scene.text((x, bottom + 1.4 * font), &tick.label, size, Anchor::Middle);
            }
            let length = if is_named { 0.4 } else { 0.2 };
            scene.line(vec![(x, bottom), (x, bottom + length * font)], GREY, line, &[]);
        }
        for tick in &axes.y_ticks {
            let (y, is_named) = (axes.y.at(tick.value), !tick.label.is_empty());
            if is_named {
                scene.line(vec![(left, y), (right, y)], PALE, line, &[]);
                scene.text((left - 0.6 * font, y + 0.33 * font), &tick.label, size, Anchor::End);
            }
            let length = if is_named { 0.4 } else { 0.2 };
            scene.line(vec![(left, y), (left - length * font, y)], GREY, line, &[]);
        }
        if figure.y == Quantity::Ratio && axes.y.holds(1.0) {
            let y = axes.y.at(1.0);
            scene.line(vec![(left, y), (right, y)], GREY, line, &[1.0, 3.0]);
        }
        let border = ShapeStyle {
            fill: None,
            stroke: Some(Stroke { colour: GREY, width: line, dashes: &[] }),
        };
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        scene.marks.push(Mark::Lines { points: corners, closed: true, look: border, hint: None });
        for (number, words) in axes.x_label.iter().enumerate() {
            let at = ((left + right) / 2.0, bottom + (3.0 + 1.2 * number as f64) * font);
            scene.text(at, words, font, Anchor::Middle);
        }
        for (number, words) in wrapped(&figure.y_label, font, bottom - top).into_iter().enumerate()
        {
            let at = (self.left + (number as f64 + 1.0) * 1.2 * font, (top + bottom) / 2.0);
            scene.turned_text(at, &words, font, Anchor::Middle);
        }
    }

    fn point(
        &self,
        scene: &mut Scene,
        figure: &Figure,
        axes: &Axes,
        (curve, point): (&Curve, &Point),
        (x, y): Position,
        size: f64,
    ) {
        let style = figure.styles.get(&curve.name);
        let text = |value: f64| figure.y.unit().text_to(value, 4);
        let mut hint =
            format!("{}, {}: {}", figure.label(&curve.name), figure.x.text(point.x), text(point.y));
        if let Some(interval) = point.interval {
            let bar = ErrorBars::for_axes(figure.x, figure.y).label();
            hint += &format!(" ({bar}: {} to {})", text(interval.low), text(interval.high));
            let ends = heights(figure, point);
            let (low, high) = (axes.y.at(ends[1]), axes.y.at(ends[2]));
            let cap = (0.35 * self.font, 0.0);
            error_bar(scene, [(x, low), (x, high)], cap, style.colour, 0.09 * self.font);
        }
        scene.marks.push(marker(style, (x, y), size, Some(hint)));
    }

    /// Draws rings with letters at crossovers or, if the figure shows no times, vertical lines.
    fn draw_crossovers(
        &self,
        scene: &mut Scene,
        figure: &Figure,
        panel: &Panel,
        axes: &Axes,
        letters: usize,
    ) {
        let font = self.font;
        let ((left, right), (bottom, top)) = (axes.x.ends, axes.y.ends);
        let ring = 0.6 * font;
        let places: Vec<(Position, bool)> = panel
            .crossovers
            .iter()
            .map(|crossing| {
                let (_, to) = crossing.crossover.within;
                match crossing.at {
                    Some(at) => (axes.at(at), true),
                    // The x axis has only single values, so a position between two of them has no
                    // meaning. The crossover is drawn at the first value at which the other
                    // algorithm is the fastest.
                    None if !figure.x.is_dense() => ((axes.x.at(to), top + font), false),
                    None => ((axes.x.at(crossing.crossover.x), top + font), false),
                }
            })
            .collect();
        let around = |(x, y): Position, r: f64| [x - r, y - r, x + r, y + r];
        let mut covered: Vec<[f64; 4]> = places.iter().map(|(at, _)| around(*at, ring)).collect();
        let curves = panel.curves.iter().enumerate();
        let markers = curves.flat_map(|(number, curve)| {
            curve.points.iter().map(move |point| axes.place(number, point))
        });
        covered.extend(markers.map(|at| around(at, 0.36 * font)));
        for (number, (at, is_ring)) in places.into_iter().enumerate() {
            let (x, y) = at;
            if let Some(interval) = panel.crossovers[number].interval {
                let (low, high) = (axes.x.at(interval.low), axes.x.at(interval.high));
                let cap = (0.0, 0.35 * font);
                error_bar(scene, [(low, y), (high, y)], cap, BLACK, 0.09 * font);
            }
            if is_ring {
                let look = ShapeStyle {
                    fill: None,
                    stroke: Some(Stroke { colour: BLACK, width: 0.1 * font, dashes: &[] }),
                };
                scene.marks.push(Mark::Circle { centre: at, radius: ring, look, hint: None });
            } else {
                scene.line(vec![(x, top), (x, bottom)], GREY, 0.09 * font, &[1.0, 3.0]);
            }
            let text = |(dx, dy): Position| Text {
                at: (x + dx, y + dy + 0.38 * font),
                words: letter(letters + number),
                size: 1.05 * font,
                anchor: Anchor::Middle,
                turned: false,
                halo: true,
            };
            let is_free = |text: &Text| {
                let [l, t, r, b] = text.bounds();
                let inside = left <= l && r <= right && top <= t && b <= bottom;
                inside
                    && covered
                        .iter()
                        .all(|[cl, ct, cr, cb]| r < *cl || *cr < l || b < *ct || *cb < t)
            };
            // The letter is placed next to the ring or, if this place is covered, further away.
            let free = (0..48)
                .map(label_offset)
                .map(|(dx, dy)| text((dx * font, dy * font)))
                .find(is_free);
            let text = free.unwrap_or_else(|| text((0.0, 0.0)));
            covered.push(text.bounds());
            scene.marks.push(Mark::Text(text));
        }
    }
}

/// Returns base two for sizes, numbers of nodes, and parameters that are powers of two.
fn x_base(figure: &Figure, panel: &Panel) -> Base {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let is_base_two = match figure.x {
        Axis::Block | Axis::Nodes => true,
        Axis::Variation | Axis::Faults => false,
        Axis::Parameter(_) => points().all(|point| point.x.log2().fract() == 0.0),
    };
    if is_base_two { Base::Two } else { Base::for_unit(figure.x.unit()) }
}

/// Draws a line with a cap at each end. `cap` is the vector from the middle of a cap to its end.
fn error_bar(
    scene: &mut Scene,
    [a, b]: [Position; 2],
    cap: (f64, f64),
    colour: Colour,
    width: f64,
) {
    let across = |(x, y): Position| vec![(x - cap.0, y - cap.1), (x + cap.0, y + cap.1)];
    for line in [vec![a, b], across(a), across(b)] {
        scene.line(line, colour, width, &[]);
    }
}

/// Returns the candidate position with this number for a letter, relative to its crossover. Each
/// eight consecutive candidates surround the crossover, beginning at the lower right. The next
/// eight are further away.
fn label_offset(number: u32) -> (f64, f64) {
    let (distance, turn) =
        (1.25 + 0.7 * f64::from(number / 8), f64::from(number % 8) * std::f64::consts::FRAC_PI_4);
    (distance * (turn + 0.9).cos(), distance * (turn + 0.9).sin())
}

/// Returns the y values of a point and of both ends of its error bar. On a logarithmic axis, the
/// error bar must not reach 0.
fn heights(figure: &Figure, point: &Point) -> [f64; 3] {
    let least = if figure.log.y() { point.y / 10.0 } else { f64::MIN };
    let (low, high) = point.interval.map_or((point.y, point.y), |i| (i.low, i.high));
    [point.y, low.max(least), high]
}
