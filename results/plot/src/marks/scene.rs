//! What a picture is made of, whatever it is written as: marks on a page, in pixels of 1/96 inch, y
//! downwards.

use super::outline::{Outline, Point};
use super::text::{outline, width};

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

pub(crate) const BLACK: Colour = Colour(0, 0, 0);
/// White, as the page.
pub(crate) const WHITE: Colour = Colour(255, 255, 255);
/// For frames and ticks.
pub(crate) const GREY: Colour = Colour(0x88, 0x88, 0x88);
/// For lines across a panel.
pub(crate) const PALE: Colour = Colour(0xe4, 0xe4, 0xe4);

impl Colour {
    /// Mixed with white: so much of itself, from 0 to 1.
    pub(crate) fn paler(self, share: f64) -> Self {
        let mix = |part: u8| (255.0 - (255.0 - f64::from(part)) * share).round() as u8;
        Self(mix(self.0), mix(self.1), mix(self.2))
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub colour: Colour,
    pub width: f64,
    /// Dash, gap, dash, ..; none for a solid line.
    pub dashes: &'static [f64],
}

/// How a shape is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Look {
    pub fill: Option<Colour>,
    pub stroke: Option<Stroke>,
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Its first letter.
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

/// Words on the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// Where its base line is.
    pub at: Point,
    pub words: String,
    pub size: f64,
    /// What of it is at its place.
    pub anchor: Anchor,
    /// Whether it goes upwards.
    pub turned: bool,
    /// Whether it stands on other marks: then it has a white edge.
    pub halo: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// Points joined by straight lines.
    Lines {
        points: Vec<Point>,
        /// Whether the last is joined to the first.
        closed: bool,
        look: Look,
        /// What a reader who points at it is told.
        hint: Option<String>,
    },
    Circle {
        centre: Point,
        radius: f64,
        look: Look,
        /// What a reader who points at it is told.
        hint: Option<String>,
    },
    Text(Text),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    /// By how much dashes are longer than they are given.
    pub dash: f64,
    /// From the lowest to the topmost.
    pub marks: Vec<Mark>,
}

impl Text {
    /// How long it is, and how much of that is before its place.
    fn extent(&self) -> (f64, f64) {
        let length = width(&self.words, self.size);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        (length, before)
    }

    /// Left, top, right and bottom of what it covers.
    pub(crate) fn bounds(&self) -> [f64; 4] {
        let (length, before) = self.extent();
        let ((x, y), above, below) = (self.at, 0.76 * self.size, 0.24 * self.size);
        if self.turned {
            [x - above, y + before - length, x + below, y + before]
        } else {
            [x - before, y - above, x - before + length, y + below]
        }
    }

    /// Its letters, where they stand.
    fn outline(&self) -> Outline {
        let (left, top) = self.at;
        let turned = self.turned;
        let place =
            |along, up| if turned { (left - up, top - along) } else { (left + along, top - up) };
        outline(&self.words, self.size, self.extent().1, place)
    }
}

/// A border as lines and curves, for what knows nothing of circles and letters.
pub(crate) struct Shape {
    pub outline: Outline,
    /// How it is drawn.
    pub look: Look,
}

impl Scene {
    pub(crate) fn new(width: f64, dash: f64) -> Self {
        Self { width, height: 0.0, dash, marks: Vec::new() }
    }

    /// Adds a line without hint.
    pub(crate) fn line(
        &mut self,
        points: Vec<Point>,
        colour: Colour,
        width: f64,
        dashes: &'static [f64],
    ) {
        let look = Look { fill: None, stroke: Some(Stroke { colour, width, dashes }) };
        self.marks.push(Mark::Lines { points, closed: false, look, hint: None });
    }

    /// Adds a filled box with a hint.
    pub(crate) fn filled(
        &mut self,
        [left, top, right, bottom]: [f64; 4],
        colour: Colour,
        hint: Option<String>,
    ) {
        let look = Look { fill: Some(colour), stroke: None };
        let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        self.marks.push(Mark::Lines { points, closed: true, look, hint });
    }

    pub(crate) fn text(&mut self, at: Point, words: &str, size: f64, anchor: Anchor) {
        let words = words.to_owned();
        self.marks.push(Mark::Text(Text { at, words, size, anchor, turned: false, halo: false }));
    }

    /// Everything as shapes, letters too: what reads them needs no font.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.marks.iter().flat_map(|mark| match mark {
            Mark::Lines { points, closed, look, .. } => {
                vec![Shape { outline: Outline::of_lines(points, *closed), look: *look }]
            }
            Mark::Circle { centre, radius, look, .. } => {
                vec![Shape { outline: Outline::of_circle(*centre, *radius), look: *look }]
            }
            Mark::Text(text) => {
                let edge = Stroke { colour: WHITE, width: 0.25 * text.size, dashes: &[] };
                let halo = Look { fill: None, stroke: Some(edge) };
                let looks =
                    [text.halo.then_some(halo), Some(Look { fill: Some(BLACK), stroke: None })];
                looks
                    .into_iter()
                    .flatten()
                    .map(|look| Shape { outline: text.outline(), look })
                    .collect()
            }
        })
    }
}
