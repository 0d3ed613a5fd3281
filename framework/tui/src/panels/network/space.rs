//! Ranks against time: which of them send and receive when, step by step.

use super::view::{Drawn, View};
use crate::hits::Spot;
use crate::paint::{Painter, width};
use crate::session::recording::{Frame, Recording};
use crate::theme::SHADES;
use ratatui::layout::Rect;
use swapmeet_results::duration;

/// What a rank does in a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Does {
    sends: bool,
    receives: bool,
}

/// The part of the schedule that is seen, in us.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Window {
    from: f64,
    to: f64,
}

impl Window {
    /// So much of the whole as `zoom` says, half as much at each, with a moment in its middle where that can be.
    fn around(moment: f64, whole: f64, zoom: u32) -> Self {
        let long = whole / f64::from(1_u32 << zoom.min(30));
        let from = (moment - long / 2.0).clamp(0.0, whole - long);
        Self { from, to: from + long }
    }

    fn column(self, time: f64, columns: u16) -> f64 {
        (time - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE) * f64::from(columns)
    }
}

/// Draws it, around the step that is shown; `None` where steps have no times.
pub(super) fn space(
    painter: &mut Painter<'_, '_>,
    recording: &Recording,
    step: usize,
    view: &View,
    area: Rect,
) -> Option<Drawn> {
    let theme = painter.theme;
    let whole = recording.end(recording.notes.len().checked_sub(1)?).filter(|whole| *whole > 0.0)?;
    let (began, ends) = span(recording, step)?;
    let nodes = recording.topology.nodes().max(1);
    let label = width(&(nodes - 1).to_string());
    let columns = area.width.saturating_sub(label + 3);
    let high = u64::from(area.height.saturating_sub(2)).max(1);
    let side = nodes.div_ceil(high);
    let rows = nodes.div_ceil(side);
    let window = Window::around((began + ends) / 2.0, whole, view.zoom);
    let mut cells = vec![Does::default(); rows as usize * usize::from(columns)];
    let mut missing = false;
    for at in 0..recording.notes.len() {
        let Some((from, to)) = span(recording, at).filter(|(from, to)| *to > window.from && *from < window.to) else {
            continue;
        };
        let Some(frame) = recording.frame(at) else {
            missing = true;
            continue;
        };
        let first = window.column(from, columns).max(0.0).round() as u16;
        // What is too short for a column has one all the same.
        let last = (window.column(to, columns).round() as u16).max(first + 1).min(columns);
        mark(frame, side, &mut |row, does| {
            for column in first..last {
                let cell = &mut cells[row as usize * usize::from(columns) + usize::from(column)];
                *cell = Does { sends: cell.sends || does.sends, receives: cell.receives || does.receives };
            }
        });
    }
    let x = label + 2;
    let here =
        [window.column(began, columns), window.column(ends, columns)].map(|c| c.clamp(0.0, f64::from(columns)) as u16);
    for row in 0..rows {
        let y = row as u16;
        painter.put_right(area, label + 1, y, &(row * side).to_string(), theme.dim);
        for column in 0..columns {
            let is_here = (here[0]..here[1].max(here[0] + 1)).contains(&column);
            let style = if is_here { theme.accent } else { theme.text };
            let (mark, style) = match cells[row as usize * usize::from(columns) + usize::from(column)] {
                Does { sends: true, receives: true } => ('█', style),
                Does { sends: true, receives: false } => ('▀', style),
                Does { sends: false, receives: true } => ('▄', style),
                Does { sends: false, receives: false } => (SHADES[0], theme.dim),
            };
            painter.dot(area, x + column, y, mark, style);
        }
    }
    let y = rows as u16;
    (here[0]..here[1].max(here[0] + 1).min(columns))
        .for_each(|column| painter.dot(area, x + column, y, '▴', theme.accent));
    painter.put(area, x, y + 1, &duration(window.from), theme.dim);
    painter.put_right(area, x + columns, y + 1, &duration(window.to), theme.dim);
    // A click goes to the step under it.
    for column in 0..columns {
        let time = window.from + (window.to - window.from) * (f64::from(column) + 0.5) / f64::from(columns.max(1));
        for row in 0..y {
            painter.hit(area, x + column, row, 1, Spot::Mark(recording.step_at(time)));
        }
    }
    let several = if side > 1 { format!(", a line is {side} ranks") } else { String::new() };
    let missing = if missing { "; steps that are not kept are left out" } else { "" };
    let note = format!("ranks against time: █ sends and receives, ▀ sends, ▄ receives{several}{missing}");
    Some(Drawn { has_heat: false, ..Drawn::heat(note) })
}

/// When a step begins and ends.
fn span(recording: &Recording, step: usize) -> Option<(f64, f64)> {
    let before = step.checked_sub(1).and_then(|before| recording.end(before)).unwrap_or(0.0);
    Some((before, recording.end(step)?))
}

/// Says of each row of ranks what it does in a step.
fn mark(frame: &Frame, side: u64, say: &mut dyn FnMut(u64, Does)) {
    for pair in &frame.pairs {
        say(pair.from / side, Does { sends: true, receives: false });
        say(pair.to / side, Does { sends: false, receives: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_within_the_whole_and_half_as_long_at_each_zoom() {
        assert_eq!(Window::around(10.0, 100.0, 0), Window { from: 0.0, to: 100.0 });
        assert_eq!(Window::around(10.0, 100.0, 1), Window { from: 0.0, to: 50.0 });
        assert_eq!(Window::around(50.0, 100.0, 2), Window { from: 37.5, to: 62.5 });
        assert_eq!(Window::around(99.0, 100.0, 2), Window { from: 75.0, to: 100.0 });
        assert_eq!(Window::around(50.0, 100.0, 2).column(50.0, 80), 40.0);
    }
}
