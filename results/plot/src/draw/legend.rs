//! The legend: below the panels, so that it covers nothing; each entry with its line and its marker, as they are drawn.

use super::rings;
use crate::style::{Style, style};
use kuva::plot::scatter::MarkerShape;
use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

const ROW: f64 = 22.0;
const SAMPLE: f64 = 44.0;
/// Width of a letter of 12 pixels, generously.
const LETTER: f64 = 7.4;
const TEXT: u32 = 12;

/// Adds the legend below all else, in as many columns as there is room for, then a line for each crossover.
pub fn add_below(scene: &mut Scene, names: &[String], crossovers: &[String]) {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
    let column = SAMPLE + 10.0 + longest * LETTER + 24.0;
    let most = ((scene.width - 40.0) / column).floor().clamp(1.0, names.len().max(1) as f64) as usize;
    // As many rows as that takes, evenly filled: five entries are three and two, not four and one.
    let columns = names.len().div_ceil(names.len().div_ceil(most).max(1)).max(1);
    let left = ((scene.width - columns as f64 * column) / 2.0).max(10.0);
    let top = scene.height + 4.0;
    for (i, name) in names.iter().enumerate() {
        let (x, y) = (left + (i % columns) as f64 * column, top + (i / columns) as f64 * ROW + ROW / 2.0);
        let look = style(i);
        scene.add(Primitive::Line {
            x1: x,
            y1: y,
            x2: x + SAMPLE,
            y2: y,
            stroke: Color::from(look.colour),
            stroke_width: 1.5,
            stroke_dasharray: (!look.dashes.is_empty()).then(|| look.dashes.to_owned()),
        });
        scene.add(marker(look, x + SAMPLE / 2.0, y));
        scene.add(text(x + SAMPLE + 10.0, y + 4.0, name.clone(), false));
    }
    let mut bottom = top + names.len().div_ceil(columns) as f64 * ROW;
    for (index, words) in crossovers.iter().enumerate() {
        bottom += ROW * 0.9;
        scene.add(text(left, bottom, rings::name(index), true));
        scene.add(text(left + 24.0, bottom, words.clone(), false));
    }
    scene.height = bottom + 12.0;
}

fn text(x: f64, y: f64, content: String, bold: bool) -> Primitive {
    Primitive::Text { x, y, content, size: TEXT, anchor: TextAnchor::Start, rotate: None, bold, color: None }
}

/// A marker as the library draws it at points.
fn marker(look: Style, x: f64, y: f64) -> Primitive {
    const R: f64 = 4.0;
    let at = |dx: f64, dy: f64| format!("{:.2},{:.2}", x + dx * R, y + dy * R);
    let closed = |corners: &[(f64, f64)]| {
        let corners: Vec<String> = corners.iter().map(|(dx, dy)| at(*dx, *dy)).collect();
        format!("M {} Z", corners.join(" L "))
    };
    let colour = Color::from(look.colour);
    let filled = |d: String| {
        Primitive::Path(Box::new(PathData {
            d,
            fill: Some(colour.clone()),
            stroke: colour.clone(),
            stroke_width: 0.5,
            opacity: None,
            stroke_dasharray: None,
        }))
    };
    let strokes = |ends: [(f64, f64); 4]| {
        let [a, b, c, d] = ends.map(|(dx, dy)| at(dx, dy));
        Primitive::Path(Box::new(PathData {
            d: format!("M {a} L {b} M {c} L {d}"),
            fill: None,
            stroke: colour.clone(),
            stroke_width: 1.5,
            opacity: None,
            stroke_dasharray: None,
        }))
    };
    match look.marker {
        MarkerShape::Square => filled(closed(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])),
        MarkerShape::Triangle => filled(closed(&[(0.0, -1.0), (0.87, 0.7), (-0.87, 0.7)])),
        MarkerShape::TriangleDown => filled(closed(&[(0.0, 1.0), (0.87, -0.7), (-0.87, -0.7)])),
        MarkerShape::Diamond => filled(closed(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)])),
        MarkerShape::Star => {
            let corner = |i: u32| {
                let (radius, turn) =
                    (if i.is_multiple_of(2) { 1.3 } else { 0.55 }, f64::from(i) * std::f64::consts::PI / 5.0);
                (radius * turn.sin(), -radius * turn.cos())
            };
            filled(closed(&(0..10).map(corner).collect::<Vec<_>>()))
        }
        MarkerShape::Cross => strokes([(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)]),
        MarkerShape::Plus => strokes([(-1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]),
        _ => Primitive::Circle {
            cx: x,
            cy: y,
            r: R,
            fill: colour.clone(),
            fill_opacity: None,
            stroke: None,
            stroke_width: None,
        },
    }
}
