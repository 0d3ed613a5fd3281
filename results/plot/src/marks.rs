//! Marks on a page, and the files they are written as.
//!
//! Our own marks, and not a plotting library's, because none tried draws what is needed: plotters
//! puts everything on whole pixels (a curve at the width of a column of print has steps), has no
//! dashes of its own and knows how long words are only by the system's fonts; kuva's scene had to
//! be patched for legends, letters and dashes and took a third of all compile time. Marks go
//! straight to tiny-skia and pdf-writer, which resvg and svg2pdf end in, instead of by way of SVG's
//! text: with fonts those two take more to compile than the rest of the workspace.

pub(crate) mod outline;
mod paper;
mod pdf;
mod png;
pub(crate) mod scene;
mod svg;
pub(crate) mod text;

pub use paper::{Length, Paper};
use scene::Scene;

/// A picture that could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawError {
    /// Too large, or nothing.
    #[error("a picture of {width} x {height} pixels can't be drawn")]
    Size { width: f64, height: f64 },
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
