//! Marks on a page, and the file formats in which they are written.
//!
//! We tried several plotting libraries, but none was sufficient. plotters rounds positions to whole
//! pixels, has no dashes, and needs the fonts of the system. kuva had to be patched for legends,
//! letters in cells and dashed lines, and took a third of the workspace's compile time. PNG is
//! written by tiny-skia, and PDF by pdf-writer. resvg and svg2pdf, which use these two, could
//! convert SVG, but with fonts they take longer to compile than the rest of the workspace.

pub(crate) mod outline;
mod paper;
mod pdf;
mod png;
pub(crate) mod scene;
mod svg;
pub(crate) mod text;

pub use paper::{Length, Paper};
use scene::Scene;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawError {
    #[error("a picture of {width} x {height} pixels can't be drawn")]
    Size { width: f64, height: f64 },
    #[error("the picture could not be written: {0}")]
    Png(String),
    #[error("the table could not be written: {0}")]
    Csv(String),
    #[error("pgfplots draws curves: for another kind use svg, png, pdf or csv")]
    NoCurves,
}

/// A figure that was laid out on a page. It can be written in any format.
#[derive(Debug, Clone)]
pub struct Picture {
    scene: Scene,
    title: String,
    width: Option<Length>,
}

impl Picture {
    pub(crate) fn new(scene: Scene, title: &str, paper: &Paper) -> Self {
        Self { scene, title: title.to_owned(), width: paper.width }
    }

    #[cfg(test)]
    pub(crate) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns SVG, with texts as text elements. In an HTML page, the picture is never enlarged.
    pub fn svg(&self) -> String {
        let size = |length: f64| match self.width {
            Some(width) => width.of_pixels(length).to_string(),
            None => format!("{length:.0}"),
        };
        svg::svg(&self.scene, &self.title, (&size(self.scene.width), &size(self.scene.height)))
    }

    /// Returns PNG, in which each pixel of the SVG has `scale` by `scale` pixels.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, DrawError> {
        png::png(&self.scene, scale)
    }

    pub fn pdf(&self) -> Vec<u8> {
        pdf::pdf(&self.scene, &self.title)
    }
}
