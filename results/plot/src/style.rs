//! Styles of curves. A style has a colour, dashes and a marker. Any two styles in a figure differ
//! in the marker or the colour and, for grey prints, in the marker or the dashes.

use crate::marks::scene::Colour;
use std::collections::BTreeMap;
use std::sync::Arc;
use swapmeet_results::{AlgorithmStyles, mark};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// The colour. People with any common kind of colour blindness can distinguish all eight
    /// colours. Six of them are those of Okabe and Ito without black and yellow. The other two,
    /// wine and brown, differ much from these.
    pub colour: Colour,
    /// The lengths of dashes and gaps; empty for a solid line.
    pub dashes: &'static [f64],
    /// The mark, which is also that of the dashboard ([`mark`]).
    pub marker: char,
}

const LOOKS: usize = 8;
/// The colours of curves. None is grey or black, because maps and grids use grey.
const COLOURS: [Colour; LOOKS] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x88, 0x22, 0x55),
    Colour(0xa0, 0x5a, 0x2c),
];
const DASHES: [&[f64]; 6] = [
    &[],
    &[8.0, 4.0],
    &[2.0, 3.0],
    &[10.0, 3.0, 2.0, 3.0],
    &[16.0, 5.0],
    &[8.0, 3.0, 2.0, 3.0, 2.0, 3.0],
];
fn style_number(index: usize) -> Style {
    // After eight styles, the markers repeat, but with other dashes and colours. After 24 styles,
    // marker and dashes would repeat together, so dashes are shifted by one.
    Style {
        colour: COLOURS[(index + index / LOOKS) % LOOKS],
        dashes: DASHES[(index + index / 24) % DASHES.len()],
        marker: mark(index),
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Styles(Arc<BTreeMap<String, Style>>);

impl Styles {
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::numbered(AlgorithmStyles::new(names).numbers())
    }

    pub(crate) fn coloured(mut self, colours: &[(String, Colour)]) -> Self {
        let styles = Arc::make_mut(&mut self.0);
        for (name, colour) in colours {
            if let Some(style) = styles.get_mut(name) {
                style.colour = *colour;
            }
        }
        self
    }

    /// The dashboard calls this, so that its figures have the same styles as its panels.
    pub fn numbered(numbers: &[(String, usize)]) -> Self {
        let style = |(name, index): &(String, usize)| (name.clone(), style_number(*index));
        Self(Arc::new(numbers.iter().map(style).collect()))
    }

    pub fn get(&self, name: &str) -> Style {
        self.0.get(name).copied().unwrap_or_else(|| style_number(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MOST_CURVES;
    use std::collections::HashSet;
    use swapmeet_results::STYLES;

    #[test]
    fn curves_differ_by_colour_and_marker_and_also_without_colour() {
        let names: Vec<String> = (0..MOST_CURVES).map(|i| format!("algorithm-{i}")).collect();
        let styles = Styles::new(names.iter().map(String::as_str));
        let distinct = |look: fn(Style) -> String| {
            names.iter().map(|name| look(styles.get(name))).collect::<HashSet<String>>().len()
        };
        assert_eq!(MOST_CURVES, 24);
        assert_eq!(distinct(|style| format!("{:?} {:?}", style.colour, style.marker)), 24);
        assert_eq!(distinct(|style| format!("{:?} {:?}", style.dashes, style.marker)), 24);
        let all = |look: fn(Style) -> String| (0..STYLES).map(style_number).map(look).collect();
        let looks: [HashSet<String>; 2] = [
            all(|style| format!("{:?} {:?}", style.colour, style.marker)),
            all(|style| format!("{:?} {:?}", style.dashes, style.marker)),
        ];
        assert_eq!(looks.map(|looks| looks.len()), [STYLES; 2]);
    }

    /// Returns CIE L*a*b* coordinates for a kind of vision that multiplies linear RGB by `vision`.
    fn seen(colour: Colour, vision: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = [colour.0, colour.1, colour.2].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        let times = |matrix: [[f64; 3]; 3], of: [f64; 3]| {
            matrix.map(|row| row.iter().zip(of).map(|(a, b)| a * b).sum::<f64>())
        };
        let rgb = times(vision, linear).map(|part| part.clamp(0.0, 1.0));
        let xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let [x, y, z] = times(xyz, rgb);
        let [x, y, z] = [x / 0.95047, y, z / 1.08883]
            .map(|t| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The matrices are those of Machado, Oliveira and Fernandes (2009) for complete protanopia and
    /// deuteranopia. A distance of 2.3 between two colours is just noticeable.
    #[test]
    fn colours_differ_for_colour_blind_people() {
        let visions = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ];
        let (black, grey) = (Colour(0, 0, 0), Colour(0x88, 0x88, 0x88));
        for vision in visions {
            for (number, one) in COLOURS.iter().enumerate() {
                let distance = |other: &Colour| {
                    let (a, b) = (seen(*one, vision), seen(*other, vision));
                    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
                };
                for other in &COLOURS[number + 1..] {
                    assert!(distance(other) > 17.0, "{one:?} {other:?}: {}", distance(other));
                }
                assert!(distance(&black) > 20.0 && distance(&grey) > 5.0, "{one:?}");
            }
        }
    }

    #[test]
    fn styles_in_order_begin_with_the_first() {
        let styles = Styles::numbered(&[("b".to_owned(), 0), ("a".to_owned(), 1)]);
        assert_eq!([styles.get("b"), styles.get("a")], [style_number(0), style_number(1)]);
    }

    #[test]
    fn an_algorithm_keeps_its_style_next_to_others() {
        let colour = |names: &[&str], name| Styles::new(names.iter().copied()).get(name).colour;
        let alone = ["pex", "suh-shin", "bruck"].map(|name| colour(&[name], name));
        assert_eq!(
            ["pex", "suh-shin", "bruck"].map(|name| colour(&["pex", "suh-shin", "bruck"], name)),
            alone
        );
        assert_eq!(
            HashSet::from(alone.map(|c| (c.0, c.1, c.2))).len(),
            3,
            "their letters give them looks of their own"
        );
    }
}
