//! A picture: marks on a page, in pixels of 1/96 inch. The y axis points downwards.

use super::outline::{Outline, Point};
use super::text::{outline, outline_of_cells, width};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

pub(crate) const BLACK: Colour = Colour(0, 0, 0);
pub(crate) const WHITE: Colour = Colour(255, 255, 255);
pub(crate) const GREY: Colour = Colour(0x88, 0x88, 0x88);
pub(crate) const PALE: Colour = Colour(0xe4, 0xe4, 0xe4);

impl Colour {
    /// Mixes the colour with white. `share` is the proportion of the colour.
    pub(crate) fn paler(self, share: f64) -> Self {
        let mix = |part: u8| (255.0 - (255.0 - f64::from(part)) * share).round() as u8;
        Self(mix(self.0), mix(self.1), mix(self.2))
    }
}

impl std::str::FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let number = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, red, green, blue] =
            number.ok_or("expected a colour such as #0072b2")?.to_be_bytes();
        Ok(Self(red, green, blue))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub colour: Colour,
    pub width: f64,
    /// The lengths of dashes and gaps; empty for a solid line.
    pub dashes: &'static [f64],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShapeStyle {
    pub fill: Option<Colour>,
    pub stroke: Option<Stroke>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub at: Point,
    pub words: String,
    pub size: f64,
    pub anchor: Anchor,
    /// Whether the text is rotated, and reads from bottom to top.
    pub turned: bool,
    /// Whether the text has a white edge, because it is drawn on top of other marks.
    pub halo: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    Lines {
        points: Vec<Point>,
        closed: bool,
        look: ShapeStyle,
        hint: Option<String>,
    },
    Circle {
        centre: Point,
        radius: f64,
        look: ShapeStyle,
        hint: Option<String>,
    },
    Text(Text),
    /// Characters of equal width, from `at` on the base line. `length` is the total width.
    Cells {
        at: Point,
        words: String,
        length: f64,
        colour: Colour,
        is_bold: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    /// The factor by which the dashes of all lines are lengthened.
    pub dash: f64,
    pub marks: Vec<Mark>,
}

impl Text {
    fn extent(&self) -> (f64, f64) {
        let length = width(&self.words, self.size);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        (length, before)
    }

    pub(crate) fn bounds(&self) -> [f64; 4] {
        let (length, before) = self.extent();
        let ((x, y), above, below) = (self.at, 0.76 * self.size, 0.24 * self.size);
        if self.turned {
            [x - above, y + before - length, x + below, y + before]
        } else {
            [x - before, y - above, x - before + length, y + below]
        }
    }

    fn outline(&self) -> Outline {
        let (left, top) = self.at;
        let turned = self.turned;
        let place =
            |along, up| if turned { (left - up, top - along) } else { (left + along, top - up) };
        outline(&self.words, self.size, self.extent().1, place)
    }
}

/// A mark as an outline. In some file formats, circles and texts are drawn as outlines, too.
pub(crate) struct Shape {
    pub outline: Outline,
    pub look: ShapeStyle,
}

impl Scene {
    pub(crate) fn new(width: f64, dash: f64) -> Self {
        Self { width, height: 0.0, dash, marks: Vec::new() }
    }

    pub(crate) fn line(
        &mut self,
        points: Vec<Point>,
        colour: Colour,
        width: f64,
        dashes: &'static [f64],
    ) {
        let look = ShapeStyle { fill: None, stroke: Some(Stroke { colour, width, dashes }) };
        self.marks.push(Mark::Lines { points, closed: false, look, hint: None });
    }

    pub(crate) fn filled(
        &mut self,
        [left, top, right, bottom]: [f64; 4],
        colour: Colour,
        hint: Option<String>,
    ) {
        let look = ShapeStyle { fill: Some(colour), stroke: None };
        let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        self.marks.push(Mark::Lines { points, closed: true, look, hint });
    }

    pub(crate) fn text(&mut self, at: Point, words: &str, size: f64, anchor: Anchor) {
        let words = words.to_owned();
        self.marks.push(Mark::Text(Text { at, words, size, anchor, turned: false, halo: false }));
    }

    pub(crate) fn turned_text(&mut self, at: Point, words: &str, size: f64, anchor: Anchor) {
        let words = words.to_owned();
        self.marks.push(Mark::Text(Text { at, words, size, anchor, turned: true, halo: false }));
    }

    /// Returns the marks as shapes. Letters are shapes, too, so that no font is needed.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.marks.iter().flat_map(|mark| match mark {
            Mark::Lines { points, closed, look, .. } => {
                vec![Shape { outline: Outline::of_lines(points, *closed), look: *look }]
            }
            Mark::Circle { centre, radius, look, .. } => {
                vec![Shape { outline: Outline::of_circle(*centre, *radius), look: *look }]
            }
            Mark::Cells { at, words, colour, is_bold, .. } => {
                // The font has only one weight. A bold letter is drawn with an edge.
                let edge = Stroke { colour: *colour, width: 0.6, dashes: &[] };
                let look = ShapeStyle { fill: Some(*colour), stroke: is_bold.then_some(edge) };
                vec![Shape { outline: outline_of_cells(words, *at), look }]
            }
            Mark::Text(text) => {
                let edge = Stroke { colour: WHITE, width: 0.25 * text.size, dashes: &[] };
                let halo = ShapeStyle { fill: None, stroke: Some(edge) };
                let looks = [
                    text.halo.then_some(halo),
                    Some(ShapeStyle { fill: Some(BLACK), stroke: None }),
                ];
                looks
                    .into_iter()
                    .flatten()
                    .map(|look| Shape { outline: text.outline(), look })
                    .collect()
            }
        })
    }
}
