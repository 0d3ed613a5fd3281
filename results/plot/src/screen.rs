//! Pictures of the screen of a terminal, in which all characters have the same width.

use crate::format::FigureFormat;
use crate::marks::scene::{Colour, Mark, Scene};
use crate::marks::text::CELL;
use crate::marks::{DrawError, Paper, Picture};

/// Consecutive characters in a row of the terminal, with the same appearance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenRun {
    pub at: (u16, u16),
    pub words: String,
    pub columns: u16,
    pub front: Colour,
    pub back: Colour,
    pub is_bold: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenPicture {
    pub columns: u16,
    pub rows: u16,
    pub ground: Colour,
    pub runs: Vec<ScreenRun>,
}

impl ScreenPicture {
    fn picture(&self) -> Picture {
        let [wide, high] = CELL;
        let mut scene = Scene::new(f64::from(self.columns) * wide, 1.0);
        scene.height = f64::from(self.rows) * high;
        scene.filled([0.0, 0.0, scene.width, scene.height], self.ground, None);
        for run in &self.runs {
            let (x, y) = (f64::from(run.at.0) * wide, f64::from(run.at.1) * high);
            let length = f64::from(run.columns) * wide;
            if run.back != self.ground {
                scene.filled([x, y, x + length, y + high], run.back, None);
            }
            if !run.words.trim().is_empty() {
                scene.marks.push(Mark::Cells {
                    at: (x, y + 0.76 * high),
                    words: run.words.clone(),
                    length,
                    colour: run.front,
                    is_bold: run.is_bold,
                });
            }
        }
        Picture::new(scene, "The dashboard", &Paper::default())
    }

    /// Returns the picture as a file. Errors if the format has no such pictures, or if it is too
    /// large.
    pub fn file(&self, format: FigureFormat, scale: f64) -> Result<Vec<u8>, DrawError> {
        match format {
            FigureFormat::Svg => Ok(self.picture().svg().into_bytes()),
            FigureFormat::Png => self.picture().png(scale),
            FigureFormat::Pdf => Ok(self.picture().pdf()),
            FigureFormat::Pgfplots | FigureFormat::Csv => Err(DrawError::NoCurves),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::outline::Step;

    fn screen() -> ScreenPicture {
        let [black, green] = [Colour(0, 0, 0), Colour(0, 205, 0)];
        let run = |at, words: &str, front, back| ScreenRun {
            at,
            words: words.to_owned(),
            columns: words.chars().count() as u16,
            front,
            back,
            is_bold: false,
        };
        let runs = vec![run((0, 0), "a < b", green, black), run((2, 1), "▸⣿", black, green)];
        ScreenPicture { columns: 12, rows: 2, ground: black, runs }
    }

    #[test]
    fn a_picture_has_every_text_with_its_colour() {
        let svg = String::from_utf8(screen().file(FigureFormat::Svg, 1.0).unwrap()).unwrap();
        assert!(svg.contains(" fill=\"#00cd00\"") && svg.contains(">a &lt; b</text>"), "{svg}");
        assert!(svg.contains("points=\"16,17 32,17 32,34 16,34\""), "{svg}");
        let png = screen().file(FigureFormat::Png, 2.0).unwrap();
        let pixels = tiny_skia::Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (192, 68));
        let is_green = |x, y| pixels.pixel(x, y).is_some_and(|p| (p.red(), p.green()) == (0, 205));
        assert!(is_green(33, 67) && !is_green(31, 67), "the background of the second text");
        assert!(screen().file(FigureFormat::Pdf, 1.0).unwrap().starts_with(b"%PDF"));
    }

    /// Each character is 1233/2048 of the font size wide, even if the font lacks it.
    #[test]
    fn characters_stay_in_their_cells() {
        let picture = screen().picture();
        let shapes: Vec<_> = picture.scene().shapes().collect();
        let columns = |outline: &crate::marks::outline::Outline| {
            let xs = outline.0.iter().filter_map(|step| match step {
                Step::Move((x, _)) | Step::Line((x, _)) | Step::Curve(_, _, (x, _)) => Some(*x),
                Step::Close => None,
            });
            xs.fold((f64::INFINITY, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)))
        };
        let (least, most) = columns(&shapes[1].outline);
        assert!((0.0..4.0).contains(&least) && 36.0 < most && most <= 40.0, "{least} {most}");
        let (least, most) = columns(&shapes[3].outline);
        assert!(16.0 <= least && 24.0 < most && most <= 32.5, "{least} {most}");
    }
}
