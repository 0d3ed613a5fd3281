//! How long words are, where they are broken, and the outlines of letters.
//!
//! Lengths are those of DejaVu Sans, which PNG and PDF are drawn with and which is wider than what browsers put in its place: what has room
//! here has room there.

use super::scene::{Anchor, Point, Text};
use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// One step along a border.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// To the start of the next piece.
    Move(Point),
    Line(Point),
    /// A cubic curve: two control points and the end.
    Curve(Point, Point, Point),
    /// Straight back to where the piece began.
    Close,
}

/// A border, step by step.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outline(pub Vec<Step>);

impl Outline {
    pub(crate) fn of_lines(points: &[Point], closed: bool) -> Self {
        let mut steps: Vec<Step> = points.iter().map(|point| Step::Line(*point)).collect();
        if let Some(first) = points.first() {
            steps[0] = Step::Move(*first);
        }
        steps.extend(closed.then_some(Step::Close));
        Self(steps)
    }

    /// Round a centre, in four curves.
    pub(crate) fn of_circle((x, y): Point, r: f64) -> Self {
        /// How far control points are from the ends of a quarter's curve that is nearest to a circle.
        const REACH: f64 = 0.552_284_75;
        let at = |dx: f64, dy: f64| (x + dx * r, y + dy * r);
        let quarter = |(ax, ay): Point, (bx, by): Point| {
            Step::Curve(at(ax + REACH * bx, ay + REACH * by), at(bx + REACH * ax, by + REACH * ay), at(bx, by))
        };
        let corners = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)];
        let quarters = corners.windows(2).map(|pair| quarter(pair[0], pair[1]));
        Self([Step::Move(at(1.0, 0.0))].into_iter().chain(quarters).chain([Step::Close]).collect())
    }
}

fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(dejavu::sans::regular(), 0).ok()).as_ref()
}

/// Each letter's glyph, with how far it is from the first and how wide, for a size of 1. A letter that the font lacks is its empty box.
fn glyphs<'a>(face: &'a Face<'_>, words: &'a str) -> impl Iterator<Item = (GlyphId, f64, f64)> + 'a {
    let em = f64::from(face.units_per_em());
    words.chars().scan(0.0, move |at, letter| {
        let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
        let advance = f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) / em;
        let from = *at;
        *at += advance;
        Some((glyph, from, advance))
    })
}

/// How long words are.
pub(crate) fn width(words: &str, size: f64) -> f64 {
    face().map_or(0.0, |face| glyphs(face, words).map(|(_, _, advance)| advance).sum::<f64>() * size)
}

/// Words in lines of at most this length. They are broken after spaces and within specs after their punctuation, or anywhere if need be.
pub(crate) fn wrapped(words: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut line_with = |piece: &str| {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && width(&format!("{}{}", lines[last], piece.trim_end()), size) > most {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last] += piece;
    };
    for piece in words.split_inclusive([' ', ',', ':', '=', '/', '(']) {
        if width(piece, size) <= most {
            line_with(piece);
        } else {
            piece.chars().for_each(|letter| line_with(letter.encode_utf8(&mut [0; 4])));
        }
    }
    lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// The outlines of all letters of a text, where they stand.
pub(super) fn outline(text: &Text) -> Outline {
    let mut pen = Pen { steps: Vec::new(), last: (0.0, 0.0), text, scale: 0.0, from: 0.0 };
    let Some(face) = face() else { return Outline::default() };
    pen.scale = text.size / f64::from(face.units_per_em());
    let length = width(&text.words, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => length / 2.0,
        Anchor::End => length,
    };
    for (glyph, at, _) in glyphs(face, &text.words) {
        pen.from = at * text.size - before;
        // A space has no outline.
        let _ = face.outline_glyph(glyph, &mut pen);
    }
    Outline(pen.steps)
}

/// Follows a letter's outline, which the font gives in its own units, y upwards.
struct Pen<'a> {
    steps: Vec<Step>,
    last: Point,
    text: &'a Text,
    scale: f64,
    from: f64,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> Point {
        let (along, up) = (self.from + f64::from(x) * self.scale, f64::from(y) * self.scale);
        let (left, top) = self.text.at;
        if self.text.turned { (left - up, top - along) } else { (left + along, top - up) }
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.last = self.at(x, y);
        self.steps.push(Step::Move(self.last));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.last = self.at(x, y);
        self.steps.push(Step::Line(self.last));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (from, control, to) = (self.last, self.at(x1, y1), self.at(x, y));
        // A quadratic curve as a cubic one: its control points lie two thirds of the way to the one there was.
        let toward = |end: Point| (end.0 + (control.0 - end.0) * 2.0 / 3.0, end.1 + (control.1 - end.1) * 2.0 / 3.0);
        self.steps.push(Step::Curve(toward(from), toward(to), to));
        self.last = to;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.last = self.at(x, y);
        self.steps.push(Step::Curve(self.at(x1, y1), self.at(x2, y2), self.last));
    }

    fn close(&mut self) {
        self.steps.push(Step::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_where_they_may_be() {
        let lines = |words: &str, most: f64| wrapped(words, 10.0, most).join("|");
        assert_eq!(lines("torus:8x8, uniform, paragon", 1000.0), "torus:8x8, uniform, paragon");
        assert_eq!(lines("torus:8x8, uniform, paragon", 110.0), "torus:8x8, uniform,|paragon");
        assert_eq!(lines("torus-permutation:variant=all-ports", 110.0), "torus-permutation:|variant=all-ports");
        let letters = wrapped("aaaaaaaaaaaaaaaaaaaa", 10.0, 30.0);
        assert!(letters.len() > 3 && letters.concat().len() == 20, "{letters:?}");
        assert!(letters.iter().all(|line| width(line, 10.0) <= 30.0));
    }

    #[test]
    fn lengths_are_those_of_the_font() {
        // DejaVu Sans: a digit takes 1303 of 2048 units, a space 651
        assert!((width("12", 2048.0) - 2606.0).abs() < 1e-9);
        assert!((width("1 2", 2048.0) - 3257.0).abs() < 1e-9);
        assert!(width("µ", 10.0) > 5.0);
    }
}
