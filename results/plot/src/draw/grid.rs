//! Draws maps whose cells form a grid. Each row of the grid has a label on its left.

use super::{panel_title, row_label};
use crate::marks::scene::{Anchor, Scene};
use crate::marks::text::{width, wrapped};

pub(crate) struct Grid<'a> {
    pub title: &'a str,
    pub rows: &'a [String],
    pub columns: usize,
    /// The minimum height of a row, in multiples of the font size.
    pub least_height: f64,
    pub name: Option<&'a str>,
}

pub(crate) struct GridPlace {
    pub left: f64,
    pub wide: f64,
    pub bottom: f64,
}

impl Grid<'_> {
    /// Returns the left end of the columns, to the right of the longest label, and their width.
    pub(crate) fn columns_at(&self, right: f64, font: f64) -> (f64, f64) {
        let longest = self.rows.iter().map(|row| width(row, 0.9 * font)).fold(0.0, f64::max);
        let left = font + longest.min(0.35 * right) + 0.6 * font;
        (left, (right - font - left) / self.columns.max(1) as f64)
    }

    /// Draws the grid below `top` and to the left of `right`. `cell` draws a cell. It receives the
    /// row, the column, and the left, top, right and bottom edges of the cell.
    pub(crate) fn draw(
        &self,
        scene: &mut Scene,
        (right, top): (f64, f64),
        font: f64,
        mut cell: impl FnMut(&mut Scene, usize, usize, [f64; 4]),
    ) -> GridPlace {
        let small = 0.9 * font;
        let mut top = panel_title(scene, self.title, (right / 2.0, right - 2.0 * font), top, font);
        match self.name {
            Some(name) => {
                top += 1.5 * font;
                scene.text((font, top), name, small, Anchor::Start);
                top += 0.6 * font;
            }
            None => top += 0.7 * font,
        }
        let (left, wide) = self.columns_at(right, font);
        for (number, row) in self.rows.iter().enumerate() {
            let lines = wrapped(row, small, left - 1.5 * font);
            let high = (1.1 * font * lines.len() as f64 + 0.4 * font).max(self.least_height * font);
            let base = top + high / 2.0 + 0.33 * font;
            row_label(scene, &lines, (left - 0.6 * font, base), small, 1.1 * font);
            for column in 0..self.columns {
                let start = left + column as f64 * wide;
                cell(scene, number, column, [start, top, start + wide, top + high]);
            }
            top += high;
        }
        GridPlace { left, wide, bottom: top }
    }
}
