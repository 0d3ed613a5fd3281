//! Marks on a page, and the file formats in which they are written.
//!
//! The marks are our own because no plotting library we tried was sufficient. plotters rounds all
//! positions to whole pixels (curves in a narrow column get steps), has no dashes, and needs the
//! system's fonts to measure text. kuva had to be patched for legends, letters and dashes, and took
//! a third of the compile time. Marks are written directly by tiny-skia and pdf-writer. resvg and
//! svg2pdf, which use the same two libraries, would convert from SVG, but with fonts they take
//! longer to compile than the rest of the workspace.

pub(crate) mod outline;
mod paper;
mod pdf;
mod png;
pub(crate) mod scene;
mod svg;
pub(crate) mod text;

pub use paper::{Length, Paper};
use scene::Scene;

/// Why a picture could not be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawError {
    /// The size is zero or too large.
    #[error("a picture of {width} x {height} pixels can't be drawn")]
    Size { width: f64, height: f64 },
    #[error("the picture could not be written: {0}")]
    Png(String),
}

/// A figure laid out on a page, ready to be written in any format.
#[derive(Debug, Clone)]
pub struct Picture {
    scene: Scene,
    title: String,
    /// The requested width.
    width: Option<Length>,
}

impl Picture {
    pub(crate) fn new(scene: Scene, title: &str, paper: &Paper) -> Self {
        Self { scene, title: title.to_owned(), width: paper.width }
    }

    /// Returns the picture as SVG, with text as text. Its width is limited to that of the
    /// surrounding element.
    pub fn svg(&self) -> String {
        let size = |length: f64| match self.width {
            Some(width) => width.of_pixels(length).to_string(),
            None => format!("{length:.0}"),
        };
        svg::svg(&self.scene, &self.title, (&size(self.scene.width), &size(self.scene.height)))
    }

    /// Returns the picture as PNG, with `scale` pixels for each pixel of the SVG.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, DrawError> {
        png::png(&self.scene, scale)
    }

    /// Returns the picture as a PDF of one page, which has the size of the figure.
    pub fn pdf(&self) -> Vec<u8> {
        pdf::pdf(&self.scene, &self.title)
    }
}
