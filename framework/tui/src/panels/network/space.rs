//! Ranks against time where they go step by step: which of them send and receive when.

use super::plot::Plot;
use super::view::{Drawn, View};
use crate::paint::Painter;
use crate::session::recording::{Frame, Recording};
use crate::theme::SHADES;
use ratatui::layout::Rect;

/// What a rank does in a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Does {
    sends: bool,
    receives: bool,
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
    let whole =
        recording.end(recording.notes.len().checked_sub(1)?).filter(|whole| *whole > 0.0)?;
    let plot = Plot::of(recording, view, span(recording, step)?, whole, area);
    let (window, columns) = (plot.window, plot.columns);
    let mut cells = vec![Does::default(); plot.rows as usize * usize::from(columns)];
    let mut missing = false;
    for at in 0..recording.notes.len() {
        let Some((from, to)) =
            span(recording, at).filter(|(from, to)| *to > window.from && *from < window.to)
        else {
            continue;
        };
        let Some(frame) = recording.frame(at) else {
            missing = true;
            continue;
        };
        let first = window.column(from, columns).max(0.0).round() as u16;
        // What is too short for a column has one all the same.
        let last = (window.column(to, columns).round() as u16).max(first + 1).min(columns);
        mark(frame, plot.side, &mut |row, does| {
            for column in first..last {
                let cell = &mut cells[row as usize * usize::from(columns) + usize::from(column)];
                *cell = Does {
                    sends: cell.sends || does.sends,
                    receives: cell.receives || does.receives,
                };
            }
        });
    }
    let cell = |row: u64, column: u16| {
        let style = if plot.is_here(column) { theme.accent } else { theme.text };
        match cells[row as usize * usize::from(columns) + usize::from(column)] {
            Does { sends: true, receives: true } => ('█', style),
            Does { sends: true, receives: false } => ('▀', style),
            Does { sends: false, receives: true } => ('▄', style),
            Does { sends: false, receives: false } => (SHADES[0], theme.dim),
        }
    };
    plot.draw(painter, area, &cell, &|_, time| recording.step_at(time));
    let missing = if missing { "; steps that are not kept are left out" } else { "" };
    let note = format!(
        "ranks against time: █ sends and receives, ▀ sends, ▄ receives{}{missing}",
        plot.several()
    );
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
