//! Rings round crossovers, with letters that the legend explains.

use kuva::plot::ScatterPlot;
use kuva::plot::scatter::MarkerShape;
use kuva::render::color::Color;
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// Nothing else in a figure has a circle of this size.
const RADIUS: f64 = 7.25;

/// The letter of the crossover with this number: a, b, .. z, a1, ..
pub fn name(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

/// Rings at these points.
pub fn plot(points: impl Iterator<Item = (f64, f64)>) -> Plot {
    let rings = ScatterPlot::new().with_data(points).with_color("black").with_size(RADIUS);
    Plot::Scatter(rings.with_marker(MarkerShape::Circle).with_marker_opacity(0.0).with_marker_stroke_width(1.2))
}

/// Puts its letter beside each of the `count` rings, which are in the scene in their order.
pub fn letter(scene: &mut Scene, count: usize) {
    let mut places: Vec<(usize, f64, f64)> = Vec::new();
    for (at, element) in scene.elements.iter().enumerate() {
        match element {
            Primitive::Circle { cx, cy, r, .. } if *r == RADIUS => places.push((at, *cx, *cy)),
            Primitive::CircleBatch { cx, cy, r, .. } if *r == RADIUS => {
                places.extend(cx.iter().zip(cy).map(|(x, y)| (at, *x, *y)));
            }
            _ => {}
        }
    }
    // From the last on: what is put in moves what comes after it.
    for (index, (at, x, y)) in places.into_iter().take(count).enumerate().rev() {
        let text = Primitive::Text {
            x: x + 9.0,
            y: y + 14.0,
            content: name(index),
            size: 13,
            anchor: TextAnchor::Start,
            rotate: None,
            bold: true,
            color: Some(Color::from("#000000")),
        };
        scene.elements.insert(at + 1, text);
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn letters_do_not_run_out() {
        assert_eq!([0, 1, 25, 26, 53].map(name), ["a", "b", "z", "a1", "b2"]);
    }
}
