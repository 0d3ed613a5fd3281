//! Lays out a figure as marks on a page. Many functions draw something below the y coordinate
//! `top`, and return the y coordinate of its lower end.

pub(crate) mod grid;
mod legend;
pub(crate) mod marker;
mod panel;
pub(crate) mod scale;

use crate::appearance::LegendPlace;
use crate::figure::Figure;
use crate::format::FigureFormat;
use crate::marks::scene::{Anchor, Scene};
use crate::marks::text::{width, wrapped};
use crate::marks::{DrawError, Paper, Picture};
use panel::{Axes, Frame};
#[cfg(test)]
use scale::Tick;

pub trait Drawable {
    fn picture(&self, paper: &Paper) -> Picture;

    fn csv(&self) -> Result<String, csv::Error>;

    fn pgfplots(&self, _paper: &Paper) -> Option<String> {
        None
    }

    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    fn legend(&self, paper: &Paper) -> (LegendPlace, f64);

    /// If the legend does not fit at the requested place and was moved, returns a message.
    fn moved_legend(&self, paper: &Paper) -> Option<String> {
        let (place, wide) = self.legend(paper);
        let is_moved = place.fitting(paper.width(self.panels()), wide, paper.font()) != place;
        is_moved.then(|| {
            "the legend is below the panels: there is no room for it on the right".to_owned()
        })
    }

    fn panels(&self) -> usize {
        1
    }

    fn file(&self, format: FigureFormat, paper: &Paper, scale: f64) -> Result<Vec<u8>, DrawError> {
        Ok(match format {
            FigureFormat::Svg => self.picture(paper).svg().into_bytes(),
            FigureFormat::Png => self.picture(paper).png(scale)?,
            FigureFormat::Pdf => self.picture(paper).pdf(),
            FigureFormat::Pgfplots => self.pgfplots(paper).ok_or(DrawError::NoCurves)?.into_bytes(),
            FigureFormat::Csv => {
                self.csv().map_err(|e| DrawError::Csv(e.to_string()))?.into_bytes()
            }
        })
    }
}

impl Drawable for Figure {
    fn picture(&self, paper: &Paper) -> Picture {
        Picture::new(self.scene(paper), &self.title, paper)
    }

    fn csv(&self) -> Result<String, csv::Error> {
        self.table()
    }

    fn legend(&self, paper: &Paper) -> (LegendPlace, f64) {
        let page = paper.width(self.panels.len());
        (self.legend, legend::width_of_names(self, page, paper.font()))
    }

    fn panels(&self) -> usize {
        self.panels.len()
    }

    fn pgfplots(&self, paper: &Paper) -> Option<String> {
        Some(self.for_latex(paper))
    }

    fn remarks(&self) -> Vec<String> {
        self.notes
            .iter()
            .cloned()
            .chain(self.crossover_texts())
            .chain(self.remarks.iter().cloned())
            .collect()
    }
}

impl Figure {
    fn scene(&self, paper: &Paper) -> Scene {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(self.panels.len()), font / 12.0);
        let top = heading(&mut scene, &self.title, font);
        let legend = |scene: &mut Scene, space: (f64, f64), top: f64| {
            legend::names(scene, self, space, top, font)
        };
        let body = |scene: &mut Scene, right: f64, top: f64| {
            let (frames, top) = self.frames(paper, right, top);
            let mut letters = 0;
            for (frame, panel) in frames.iter().zip(&self.panels) {
                frame.draw(scene, self, panel, letters);
                letters += panel.crossovers.len();
            }
            top
        };
        let (place, wide) = Drawable::legend(self, paper);
        let mut top = place.arrange(&mut scene, (top, font), wide, legend, body);
        top = legend::crossovers(&mut scene, self, top, font);
        top = legend::bars(&mut scene, self, top, font);
        scene.height = remarks(&mut scene, &self.remarks, top, font) + font;
        scene
    }

    /// Returns the frames of panels below `top` and left of `width`, and the y of their lower end.
    fn frames(&self, paper: &Paper, width: f64, top: f64) -> (Vec<Frame>, f64) {
        let columns = paper.columns(self.panels.len(), width);
        let (font, gap) = (paper.font(), paper.font());
        let cell = (width - gap) / columns as f64 - gap;
        let (mut frames, mut top) = (Vec::new(), top);
        // A row's longest title determines the space for titles, so that its axes are aligned.
        for row in self.panels.chunks(columns) {
            let titles: Vec<Vec<String>> =
                row.iter().map(|panel| wrapped(&panel.title, font, cell)).collect();
            let title_lines = titles.iter().map(Vec::len).max().unwrap_or(0);
            top += title_lines as f64 * 1.3 * font + 0.7 * font;
            frames.extend(titles.into_iter().enumerate().map(|(column, title)| Frame {
                left: gap + column as f64 * (cell + gap),
                top,
                width: cell,
                height: 0.66 * cell,
                font,
                title,
                title_lines,
            }));
            top += 0.66 * cell + gap;
        }
        (frames, top)
    }

    pub(crate) fn axes(&self, paper: &Paper) -> Vec<Axes> {
        let (frames, _) = self.frames(paper, paper.width(self.panels.len()), 0.0);
        frames.iter().zip(&self.panels).map(|(frame, panel)| frame.axes(self, panel)).collect()
    }

    #[cfg(test)]
    pub(crate) fn axis_labels(&self, paper: &Paper) -> Vec<[Vec<String>; 2]> {
        let axes = self.axes(paper).into_iter();
        let labels = |ticks: Vec<Tick>| {
            let labels = ticks.into_iter().map(|tick| tick.label);
            labels.filter(|label| !label.is_empty()).collect()
        };
        axes.map(|Axes { x_ticks, y_ticks, .. }| [x_ticks, y_ticks].map(labels)).collect()
    }
}

pub(crate) fn heading(scene: &mut Scene, title: &str, font: f64) -> f64 {
    let mut top = font;
    for line in wrapped(title, 1.2 * font, scene.width - 2.0 * font) {
        top += 1.2 * font;
        scene.text((scene.width / 2.0, top), &line, 1.2 * font, Anchor::Middle);
        top += 0.4 * font;
    }
    top
}

/// `place` is the x coordinate of the middle of the title, and its maximum width.
pub(crate) fn panel_title(
    scene: &mut Scene,
    title: &str,
    (middle, most): (f64, f64),
    top: f64,
    font: f64,
) -> f64 {
    let mut top = top;
    for line in wrapped(title, font, most) {
        top += 1.3 * font;
        scene.text((middle, top), &line, font, Anchor::Middle);
    }
    top
}

/// Draws the label of a row, right-aligned at the x coordinate `right`. A single line has its base
/// line at `base`. Several lines are centred around this position, with the distance `spacing`.
pub(crate) fn row_label(
    scene: &mut Scene,
    lines: &[String],
    (right, base): (f64, f64),
    size: f64,
    spacing: f64,
) {
    let first = base - 0.5 * spacing * (lines.len() as f64 - 1.0);
    for (number, line) in lines.iter().enumerate() {
        let at = (right, first + spacing * number as f64);
        scene.text(at, line, size, Anchor::End);
    }
}

pub(crate) fn remarks(scene: &mut Scene, remarks: &[String], top: f64, font: f64) -> f64 {
    let mut top = top;
    for remark in remarks {
        top += 0.3 * font;
        for line in wrapped(&remark.replace('`', ""), font, scene.width - 2.0 * font) {
            top += 1.2 * font;
            scene.text((font, top), &line, font, Anchor::Start);
        }
    }
    top
}

pub(crate) struct LegendRow {
    left: f64,
    pub(crate) right: f64,
    at: (f64, f64),
    further: f64,
    font: f64,
}

impl LegendRow {
    pub(crate) fn new((left, right): (f64, f64), top: f64, font: f64) -> Self {
        Self { left, right, at: (left, top), further: 0.0, font }
    }

    /// Writes an entry to the right of a space of the width `sample`. Returns the space's left end.
    pub(crate) fn entry(&mut self, scene: &mut Scene, sample: f64, words: &str) -> (f64, f64) {
        let font = self.font;
        let lines = wrapped(words, font, self.right - self.left - sample);
        let wide = sample + lines.iter().map(|line| width(line, font)).fold(0.0, f64::max);
        if self.at.0 > self.left && self.at.0 + wide > self.right {
            self.next();
        }
        let (x, y) = self.at;
        for (number, line) in lines.iter().enumerate() {
            let at = (x + sample, y + 1.2 * font * number as f64);
            scene.text(at, line, font, Anchor::Start);
        }
        self.further = self.further.max(lines.len().saturating_sub(1) as f64 * 1.2 * font);
        self.at.0 += wide + 1.6 * font;
        (x, y)
    }

    /// Distributes entries with these widths evenly over as few lines as possible. For example,
    /// seven entries become lines of four and three, not six and one.
    pub(crate) fn balance(&mut self, widths: &[f64]) {
        let gap = 1.6 * self.font;
        let lines = |room: f64| {
            let (mut lines, mut at) = (1, 0.0);
            for width in widths {
                if at > 0.0 && at + width > room {
                    (lines, at) = (lines + 1, 0.0);
                }
                at += width + gap;
            }
            lines
        };
        let room = self.right - self.left;
        let widest = widths.iter().copied().fold(0.0, f64::max).min(room);
        let rooms = (0..=100).map(|step| widest + (room - widest) * f64::from(step) / 100.0);
        let least = rooms.into_iter().find(|narrower| lines(*narrower) <= lines(room));
        self.right = self.left + least.unwrap_or(room);
    }

    pub(crate) fn next(&mut self) {
        self.at = (self.left, self.at.1 + self.further + 1.6 * self.font);
        self.further = 0.0;
    }

    pub(crate) fn end(&self) -> f64 {
        self.at.1 + self.further + 0.5 * self.font
    }
}

/// Returns a, b, ..., z, a1, b1, etc.
pub(crate) fn letter(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_continue_after_z() {
        assert_eq!([0, 1, 25, 26, 53].map(letter), ["a", "b", "z", "a1", "b2"]);
    }
}
