//! Lays a figure out as marks on a page, and writes them.
//!
//! Our own marks, and not a plotting library's, because none tried draws what is needed: plotters puts everything on whole pixels (a curve at the
//! width of a column of print has steps), has no dashes of its own and knows how long words are only by the system's fonts; kuva's scene had to be
//! patched for legends, letters and dashes and took a third of all compile time. Marks go straight to tiny-skia and pdf-writer, which resvg and svg2pdf
//! end in, instead of by way of SVG's text: with fonts those two take more to compile than the rest of the workspace.

mod legend;
pub(crate) mod marker;
mod panel;
mod paper;
mod pdf;
mod png;
mod scale;
pub(crate) mod scene;
mod svg;
pub(crate) mod text;

use crate::figure::Figure;
use panel::Frame;
pub use paper::{Length, Paper};
use scene::{Anchor, Scene};
use text::wrapped;

/// A picture that could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawError {
    /// Too large, or nothing.
    #[error("a picture of {width} x {height} pixels can't be drawn")]
    Size {
        /// Pixels across.
        width: f64,
        /// Pixels down.
        height: f64,
    },
    /// From the encoder.
    #[error("the picture could not be written: {0}")]
    Png(String),
}

/// A figure laid out on a page, to be written as any of these.
#[derive(Debug, Clone)]
pub struct Picture {
    scene: Scene,
    title: String,
    /// How wide it was asked to be.
    width: Option<Length>,
}

impl Picture {
    pub(crate) fn new(scene: Scene, title: &str, paper: &Paper) -> Self {
        Self { scene, title: title.to_owned(), width: paper.width }
    }

    /// As SVG, with text as text. It is as wide as what it stands in, at most.
    pub fn svg(&self) -> String {
        let size = |length: f64| match self.width {
            Some(width) => width.of_pixels(length).to_string(),
            None => format!("{length:.0}"),
        };
        svg::svg(&self.scene, &self.title, (&size(self.scene.width), &size(self.scene.height)))
    }

    /// As PNG, `scale` pixels to one of the SVG.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, DrawError> {
        png::png(&self.scene, scale)
    }

    /// As PDF, of one page that is as large as the figure.
    pub fn pdf(&self) -> Vec<u8> {
        pdf::pdf(&self.scene, &self.title)
    }
}

/// Whatever can be put on paper.
pub trait Drawn {
    /// The figure on paper.
    fn picture(&self, paper: &Paper) -> Picture;

    /// What is drawn, as a table.
    fn csv(&self) -> Result<String, csv::Error>;

    /// As a picture of pgfplots, if that can draw it.
    fn pgfplots(&self) -> Option<String> {
        None
    }

    /// What there is to say about it, beside it.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Drawn for Figure {
    fn picture(&self, paper: &Paper) -> Picture {
        Picture::new(self.scene(paper), &self.title, paper)
    }

    fn csv(&self) -> Result<String, csv::Error> {
        self.table()
    }

    fn pgfplots(&self) -> Option<String> {
        Some(self.for_latex())
    }

    fn remarks(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(self.crossings()).chain(self.unlike.iter().cloned()).collect()
    }
}

impl Figure {
    /// Title, panels in two columns, legend, crossovers in words: from top to bottom, each below all of what comes before it.
    fn scene(&self, paper: &Paper) -> Scene {
        let (columns, width) = (paper.columns(self.panels.len()), paper.width(self.panels.len()));
        let (font, gap) = (paper.font(), paper.font());
        let mut scene = Scene::new(width, font / 12.0);
        let mut top = heading(&mut scene, &self.title, font);
        let cell = (width - gap) / columns as f64 - gap;
        let mut letters = 0;
        for row in self.panels.chunks(columns) {
            let titles: Vec<Vec<String>> = row.iter().map(|panel| wrapped(&panel.title, font, cell)).collect();
            let lines = titles.iter().map(Vec::len).max().unwrap_or(0) as f64;
            for (column, (panel, title)) in row.iter().zip(titles).enumerate() {
                let left = gap + column as f64 * (cell + gap);
                for (number, line) in title.iter().enumerate() {
                    let at = (left + cell / 2.0, top + (number as f64 + 1.0) * 1.3 * font);
                    scene.text(at, line, font, Anchor::Middle);
                }
                let frame =
                    Frame { left, top: top + lines * 1.3 * font + 0.7 * font, width: cell, height: 0.66 * cell, font };
                frame.draw(&mut scene, self, panel, letters);
                letters += panel.crossings.len();
            }
            top += lines * 1.3 * font + 0.7 * font + 0.66 * cell + gap;
        }
        top = legend::names(&mut scene, self, top, font);
        top = legend::crossings(&mut scene, self, top, font);
        top = legend::bars(&mut scene, self, top, font);
        scene.height = remarks(&mut scene, &self.unlike, top, font) + gap;
        scene
    }
}

/// A title at the head of the page; returns where it ends.
pub(crate) fn heading(scene: &mut Scene, title: &str, font: f64) -> f64 {
    let mut top = font;
    for line in wrapped(title, 1.2 * font, scene.width - 2.0 * font) {
        top += 1.2 * font;
        scene.text((scene.width / 2.0, top), &line, 1.2 * font, Anchor::Middle);
        top += 0.4 * font;
    }
    top
}

/// What there is to say below all else; returns where it ends.
pub(crate) fn remarks(scene: &mut Scene, remarks: &[String], top: f64, font: f64) -> f64 {
    let mut top = top;
    for remark in remarks {
        top += 0.3 * font;
        for line in wrapped(remark, font, scene.width - 4.0 * font) {
            top += 1.2 * font;
            scene.text((2.0 * font, top), &line, font, Anchor::Start);
        }
    }
    top
}

/// Entries of a legend beside each other, on as many lines as they need.
pub(crate) struct Row {
    left: f64,
    right: f64,
    /// Where the next entry begins, and its base line.
    at: (f64, f64),
    font: f64,
}

impl Row {
    pub(crate) fn new(scene: &Scene, top: f64, font: f64) -> Self {
        Self { left: font, right: scene.width - font, at: (font, top), font }
    }

    /// Where an entry of this width begins.
    pub(crate) fn place(&mut self, wide: f64) -> (f64, f64) {
        if self.at.0 > self.left && self.at.0 + wide > self.right {
            self.next();
        }
        let at = self.at;
        self.at.0 += wide + 1.6 * self.font;
        at
    }

    /// Goes to the next line.
    pub(crate) fn next(&mut self) {
        self.at = (self.left, self.at.1 + 1.6 * self.font);
    }

    /// Where the last line ends.
    pub(crate) fn end(&self) -> f64 {
        self.at.1 + 0.5 * self.font
    }
}

/// The letter of the crossover with this number: a, b, .. z, a1, ..
fn letter(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_do_not_run_out() {
        assert_eq!([0, 1, 25, 26, 53].map(letter), ["a", "b", "z", "a1", "b2"]);
    }
}
