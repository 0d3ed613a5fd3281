//! Lays a figure out as marks on a page, and writes them.
//!
//! Our own marks, and not a plotting library's, because none tried draws what is needed: plotters puts everything on whole pixels (a curve at the
//! width of a column of print has steps), has no dashes of its own and knows how long words are only by the system's fonts; kuva's scene had to be
//! patched for legends, letters and dashes and took a third of all compile time. Marks go straight to tiny-skia and pdf-writer, which resvg and svg2pdf
//! end in, instead of by way of SVG's text: with fonts those two take more to compile than the rest of the workspace.

mod legend;
mod marker;
mod panel;
mod paper;
mod pdf;
mod png;
mod scale;
pub(crate) mod scene;
mod svg;
mod text;

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

impl Figure {
    /// As SVG, with text as text. It is as wide as what it stands in, at most.
    pub fn svg(&self, paper: &Paper) -> String {
        let scene = self.scene(paper);
        let size = |length: f64| match paper.width {
            Some(width) => width.of_pixels(length).to_string(),
            None => format!("{length:.0}"),
        };
        svg::svg(&scene, &self.title, (&size(scene.width), &size(scene.height)))
    }

    /// As PNG, `scale` pixels to one of the SVG.
    pub fn png(&self, paper: &Paper, scale: f64) -> Result<Vec<u8>, DrawError> {
        png::png(&self.scene(paper), scale)
    }

    /// As PDF, of one page that is as large as the figure.
    pub fn pdf(&self, paper: &Paper) -> Vec<u8> {
        pdf::pdf(&self.scene(paper), &self.title)
    }

    /// Title, panels in two columns, legend, crossovers in words: from top to bottom, each below all of what comes before it.
    pub(crate) fn scene(&self, paper: &Paper) -> Scene {
        let (columns, width) = (paper.columns(self.panels.len()), paper.width(self.panels.len()));
        let (font, gap) = (paper.font(), paper.font());
        let mut scene = Scene::new(width, font / 12.0);
        let mut top = gap;
        for line in wrapped(&self.title, 1.2 * font, width - 2.0 * gap) {
            top += 1.2 * font;
            scene.text((width / 2.0, top), &line, 1.2 * font, Anchor::Middle);
            top += 0.4 * font;
        }
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
        scene.height = legend::bars(&mut scene, self, top, font) + gap;
        scene
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
