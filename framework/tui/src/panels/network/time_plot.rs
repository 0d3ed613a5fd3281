//! A plot of ranks against time. A row represents one or several ranks, and a column represents an
//! interval of time.

use super::view::View;
use crate::click_map::PanelPosition;
use crate::paint::{Painter, width};
use crate::session::recording::Recording;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_results::duration;

/// An interval of time, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeWindow {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl TimeWindow {
    /// Returns an interval with `moment` in the middle if possible. At zoom level 0, its length is
    /// `whole`. Each further level halves the length.
    fn around(moment: f64, whole: f64, zoom: u32) -> Self {
        let long = whole / f64::from(1_u32 << zoom.min(30));
        let from = (moment - long / 2.0).clamp(0.0, whole - long);
        Self { from, to: from + long }
    }

    pub(super) fn column(self, time: f64, columns: u16) -> f64 {
        (time - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE) * f64::from(columns)
    }

    fn time(self, column: f64, columns: u16) -> f64 {
        self.from + (self.to - self.from) * column / f64::from(columns.max(1))
    }
}

pub(super) struct TimePlot {
    pub(super) window: TimeWindow,
    /// The number of ranks of each row.
    pub(super) side: u64,
    pub(super) rows: u64,
    pub(super) columns: u16,
    /// The first column of the displayed step, and the column after its last column.
    here: [u16; 2],
    label: u16,
}

impl TimePlot {
    /// Creates a plot with the displayed step in the middle. If the user zooms in, the plot shows
    /// only a window of the whole time. Returns `None` if the steps have no times.
    pub(super) fn of(
        recording: &Recording,
        view: &View,
        (began, ends): (f64, f64),
        area: Rect,
    ) -> Option<Self> {
        let whole = recording.end(recording.steps.len().checked_sub(1)?)?;
        if whole <= 0.0 {
            return None;
        }
        let nodes = recording.topology.nodes().max(1);
        let label = width(&(nodes - 1).to_string());
        let columns = area.width.saturating_sub(label + 3);
        let side = nodes.div_ceil(u64::from(area.height.saturating_sub(2)).max(1));
        let window = TimeWindow::around((began + ends) / 2.0, whole, view.zoom);
        let here = [began, ends]
            .map(|time| window.column(time, columns).clamp(0.0, f64::from(columns)) as u16);
        let here = [here[0], here[1].max(here[0] + 1)];
        Some(Self { window, side, rows: nodes.div_ceil(side), columns, here, label })
    }

    pub(super) fn is_here(&self, column: u16) -> bool {
        (self.here[0]..self.here[1]).contains(&column)
    }

    /// Draws the plot. `cell` returns the mark and the style of a cell. `step_at` returns the step
    /// to display after a click, given the row of the click and its position on the time axis.
    pub(super) fn draw(
        &self,
        painter: &mut Painter<'_, '_>,
        area: Rect,
        cell: &dyn Fn(u64, u16) -> (char, Style),
        step_at: &dyn Fn(u64, f64) -> usize,
    ) {
        let theme = painter.theme;
        let x = self.label + 2;
        for (y, row) in (0_u16..).zip(0..self.rows) {
            painter.put_right(area, self.label + 1, y, &(row * self.side).to_string(), theme.dim);
            for column in 0..self.columns {
                let (mark, style) = cell(row, column);
                painter.dot(area, x + column, y, mark, style);
                let time = self.window.time(f64::from(column) + 0.5, self.columns);
                painter.add_click(area, x + column, y, 1, PanelPosition::Mark(step_at(row, time)));
            }
        }
        let y = self.rows as u16;
        (self.here[0]..self.here[1].min(self.columns))
            .for_each(|column| painter.dot(area, x + column, y, '▴', theme.accent));
        painter.put(area, x, y + 1, &duration(self.window.from), theme.dim);
        painter.put_right(area, x + self.columns, y + 1, &duration(self.window.to), theme.dim);
    }

    /// Returns a note for the legend if a row represents several ranks.
    pub(super) fn several(&self) -> String {
        if self.side > 1 { format!("; a row is {} ranks", self.side) } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_zoom_level_halves_the_window() {
        assert_eq!(TimeWindow::around(10.0, 100.0, 0), TimeWindow { from: 0.0, to: 100.0 });
        assert_eq!(TimeWindow::around(10.0, 100.0, 1), TimeWindow { from: 0.0, to: 50.0 });
        assert_eq!(TimeWindow::around(50.0, 100.0, 2), TimeWindow { from: 37.5, to: 62.5 });
        assert_eq!(TimeWindow::around(99.0, 100.0, 2), TimeWindow { from: 75.0, to: 100.0 });
        assert_eq!(TimeWindow::around(50.0, 100.0, 2).column(50.0, 80), 40.0);
    }
}
