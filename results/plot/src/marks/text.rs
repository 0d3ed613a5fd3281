//! Lengths, line breaks and outlines of texts in DejaVu Sans, the font of PNG and PDF. In SVG, a
//! browser may use another font. This font is usually narrower, so that the text still fits.

use super::outline::{Outline, Point, Step};
use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The maximum number of letters of a text. A file of rows can have a name of a megabyte, whose
/// outlines would take minutes.
const MOST_LETTERS: usize = 2000;

fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(dejavu::sans::regular(), 0).ok()).as_ref()
}

/// Returns each glyph with its position and width at font size 1. Missing letters are empty boxes.
fn glyphs<'a>(
    face: &'a Face<'_>,
    words: &'a str,
) -> impl Iterator<Item = (GlyphId, f64, f64)> + 'a {
    let em = f64::from(face.units_per_em());
    words.chars().take(MOST_LETTERS).scan(0.0, move |at, letter| {
        let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
        let advance = f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) / em;
        let from = *at;
        *at += advance;
        Some((glyph, from, advance))
    })
}

pub(crate) fn width(words: &str, size: f64) -> f64 {
    face()
        .map_or(0.0, |face| glyphs(face, words).map(|(_, _, advance)| advance).sum::<f64>() * size)
}

/// Breaks a text after spaces into lines of at most `most` pixels. Words that are too long are
/// broken elsewhere. If the text has more than [`MOST_LETTERS`] letters, its end is replaced by `
/// ..`.
pub(crate) fn wrapped(words: &str, size: f64, most: f64) -> Vec<String> {
    if words.chars().nth(MOST_LETTERS).is_some() {
        let kept: String = words.chars().take(MOST_LETTERS - 3).collect();
        return wrapped(&format!("{kept} .."), size, most);
    }
    /// A text is broken after these letters. Later entries are for pieces that are still too long.
    const BREAKS: [&[char]; 3] = [&[' '], &[','], &[':', '=', '/', '(', '-']];
    fn pieces<'a>(text: &'a str, breaks: &[&[char]], fits: &dyn Fn(&str) -> bool) -> Vec<&'a str> {
        match breaks.split_first() {
            _ if fits(text) => vec![text],
            Some((first, others)) => {
                text.split_inclusive(*first).flat_map(|piece| pieces(piece, others, fits)).collect()
            }
            None => text.split_inclusive(|_| true).collect(),
        }
    }
    let fits = |piece: &str| width(piece.trim_end(), size) <= most;
    let mut lines = vec![String::new()];
    for piece in pieces(words, &BREAKS, &fits) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && !fits(&format!("{}{piece}", lines[last])) {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last] += piece;
    }
    lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Returns the outlines of a text. The text begins `before` pixels to the left of its position.
/// `place` maps a point of a letter to the page. The point is given as its distance along the base
/// line and its height.
pub(super) fn outline(
    words: &str,
    size: f64,
    before: f64,
    place: impl Fn(f64, f64) -> Point,
) -> Outline {
    let Some(face) = face() else { return Outline::default() };
    let scale = size / f64::from(face.units_per_em());
    let mut pen = Pen { steps: Vec::new(), last: (0.0, 0.0), place, scale, from: 0.0 };
    for (glyph, at, _) in glyphs(face, words) {
        pen.from = at * size - before;
        // A glyph has no outline if it is a space.
        let _ = face.outline_glyph(glyph, &mut pen);
    }
    Outline(pen.steps)
}

/// The width and the height of a cell of a terminal, in pixels.
pub(crate) const CELL: [f64; 2] = [8.0, 17.0];

/// At this size, a character of DejaVu Sans Mono (1233/2048 of the size wide) fills a cell.
pub(crate) const CELL_FONT: f64 = CELL[0] * 2048.0 / 1233.0;

/// Returns the outlines of a text whose characters fill one cell each. DejaVu Sans Mono lacks
/// Braille patterns, so these are drawn in DejaVu Sans.
pub(super) fn outline_of_cells(words: &str, (x, y): Point) -> Outline {
    static MONO: OnceLock<Option<Face<'static>>> = OnceLock::new();
    let mono = MONO.get_or_init(|| Face::parse(dejavu::sans_mono::regular(), 0).ok()).as_ref();
    let (Some(mono), Some(sans)) = (mono, face()) else { return Outline::default() };
    let mut steps = Vec::new();
    for (number, letter) in (0_u32..).zip(words.chars().take(MOST_LETTERS)) {
        let face = if mono.glyph_index(letter).is_some() { mono } else { sans };
        let Some(glyph) = face.glyph_index(letter) else { continue };
        let scale = CELL_FONT / f64::from(face.units_per_em());
        let advance = f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) * scale;
        let place = |along: f64, up: f64| (x + along, y - up);
        let from = f64::from(number) * CELL[0] + (CELL[0] - advance) / 2.0;
        let mut pen = Pen { steps, last: (0.0, 0.0), place, scale, from };
        let _ = face.outline_glyph(glyph, &mut pen);
        steps = pen.steps;
    }
    Outline(steps)
}

/// Converts to the page the outline of a letter, which has its own units and an upward y axis.
struct Pen<P> {
    steps: Vec<Step>,
    last: Point,
    place: P,
    scale: f64,
    from: f64,
}

impl<P: Fn(f64, f64) -> Point> Pen<P> {
    fn at(&self, x: f32, y: f32) -> Point {
        (self.place)(self.from + f64::from(x) * self.scale, f64::from(y) * self.scale)
    }
}

impl<P: Fn(f64, f64) -> Point> OutlineBuilder for Pen<P> {
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
        // The given curve is quadratic, with one control point. The same curve as a cubic one has
        // two control points, each at 2/3 of the way from an end to that control point.
        let toward = |end: Point| {
            (end.0 + (control.0 - end.0) * 2.0 / 3.0, end.1 + (control.1 - end.1) * 2.0 / 3.0)
        };
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
        assert_eq!(
            lines("torus-permutation:variant=all-ports", 110.0),
            "torus-permutation:|variant=all-ports"
        );
        assert_eq!(
            lines("with rearrangement=packed, all", 130.0),
            "with|rearrangement=packed,|all",
            "a word that fits into a line is not broken"
        );
        assert_eq!(
            lines("torus:4x4x4, moe:experts=64,top=8,bytes=7KiB, free", 150.0),
            "torus:4x4x4,|moe:experts=64,top=8,|bytes=7KiB, free",
            "a key and its value stay together"
        );
        let letters = wrapped("aaaaaaaaaaaaaaaaaaaa", 10.0, 30.0);
        assert!(letters.len() > 3 && letters.concat().len() == 20, "{letters:?}");
        assert!(letters.iter().all(|line| width(line, 10.0) <= 30.0));
    }

    #[test]
    fn long_texts_are_cut() {
        let lines = wrapped(&"m".repeat(1_000_000), 10.0, 300.0);
        assert_eq!(lines.concat().chars().count(), MOST_LETTERS);
        assert!(lines.last().is_some_and(|line| line.ends_with("..")), "{lines:?}");
        assert_eq!(width(&"m".repeat(1_000_000), 10.0), width(&"m".repeat(MOST_LETTERS), 10.0));
    }

    #[test]
    fn text_widths_match_the_font() {
        // The width of a digit is 1303/2048 of the font size, and that of a space 651/2048.
        assert!((width("12", 2048.0) - 2606.0).abs() < 1e-9);
        assert!((width("1 2", 2048.0) - 3257.0).abs() < 1e-9);
        assert!(width("µ", 10.0) > 5.0);
    }
}
