use crate::marks::outline::Point;
use crate::marks::scene::{Mark, ShapeStyle, Stroke};
use crate::marks::text::CELL_FONT;
use crate::style::Style;

/// `size` is half the height of the marker.
pub(crate) fn marker(style: Style, (x, y): Point, size: f64, hint: Option<String>) -> Mark {
    // A hollow marker is a shape with a stroke. Other marks than shapes are letters.
    let (solid, is_hollow) = match style.marker {
        '○' => ('●', true),
        '□' => ('■', true),
        '△' => ('▲', true),
        '◇' => ('◆', true),
        '▽' => ('▼', true),
        '☆' => ('★', true),
        other => (other, false),
    };
    let outline = Stroke { colour: style.colour, width: 0.3 * size, dashes: &[] };
    let filled = match is_hollow {
        true => ShapeStyle { fill: None, stroke: Some(outline) },
        false => ShapeStyle { fill: Some(style.colour), stroke: None },
    };
    let at = |(dx, dy): (f64, f64)| (x + dx * size, y + dy * size);
    let shape =
        |corners: &[(f64, f64)]| (corners.iter().map(|corner| at(*corner)).collect(), true, filled);
    // The two strokes of a cross are one line, which passes through the centre twice.
    let strokes = |[a, b, c, d]: [(f64, f64); 4]| {
        let stroke = Stroke { colour: style.colour, width: 0.4 * size, dashes: &[] };
        (
            [a, b, (0.0, 0.0), c, d].iter().map(|end| at(*end)).collect(),
            false,
            ShapeStyle { fill: None, stroke: Some(stroke) },
        )
    };
    let (points, closed, look) = match solid {
        '●' => return Mark::Circle { centre: (x, y), radius: size, look: filled, hint },
        '■' => shape(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        '▲' => shape(&[(0.0, -1.1), (1.0, 0.8), (-1.0, 0.8)]),
        '▼' => shape(&[(0.0, 1.1), (1.0, -0.8), (-1.0, -0.8)]),
        '◆' => shape(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
        '✖' => strokes([(-1.0, -1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)]),
        '✚' => strokes([(-1.2, 0.0), (1.2, 0.0), (0.0, -1.2), (0.0, 1.2)]),
        '★' => {
            let tip = |i: u32| {
                let radius = if i.is_multiple_of(2) { 1.35 } else { 0.55 };
                let turn = f64::from(i) * std::f64::consts::PI / 5.0;
                (radius * turn.sin(), -radius * turn.cos())
            };
            shape(&(0..10).map(tip).collect::<Vec<_>>())
        }
        letter => {
            return Mark::Cells {
                at: (x - 0.3 * CELL_FONT, y + 0.36 * CELL_FONT),
                words: letter.to_string(),
                length: 0.6 * CELL_FONT,
                colour: style.colour,
                is_bold: true,
            };
        }
    };
    Mark::Lines { points, closed, look, hint }
}
