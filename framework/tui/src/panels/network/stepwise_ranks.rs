//! A plot of ranks against time, which shows when each rank sends and receives. It is used for
//! models in which ranks do not have their own clocks.

use super::time_plot::TimePlot;
use super::view::{PictureInfo, View};
use crate::paint::Painter;
use crate::session::recording::{Frame, Recording};
use crate::theme::SHADES;
use ratatui::layout::Rect;

/// What the ranks of one row do within one column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Activity {
    sends: bool,
    receives: bool,
}

/// Draws the plot with the displayed step in the middle. Returns `None` if the steps have no times.
pub(super) fn stepwise_ranks(
    painter: &mut Painter<'_, '_>,
    recording: &Recording,
    step: usize,
    view: &View,
    area: Rect,
) -> Option<PictureInfo> {
    // If the user zooms in, the plot shows only a window of the whole time. The displayed step is
    // in the middle of this window.
    let theme = painter.theme;
    let whole =
        recording.end(recording.summaries.len().checked_sub(1)?).filter(|whole| *whole > 0.0)?;
    let plot = TimePlot::of(recording, view, span(recording, step)?, whole, area);
    let (window, columns) = (plot.window, plot.columns);
    let mut cells = vec![Activity::default(); plot.rows as usize * usize::from(columns)];
    // For each step, mark the columns of the step in the rows of the ranks that send or receive.
    // The full data of a large schedule is only available for some steps.
    let mut missing = false;
    for at in 0..recording.summaries.len() {
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
        // A step that is shorter than a column is drawn in one column.
        let last = (window.column(to, columns).round() as u16).max(first + 1).min(columns);
        mark(frame, plot.side, &mut |row, does| {
            for column in first..last {
                let cell = &mut cells[row as usize * usize::from(columns) + usize::from(column)];
                *cell = Activity {
                    sends: cell.sends || does.sends,
                    receives: cell.receives || does.receives,
                };
            }
        });
    }
    // A filled upper half of a cell means that the rank sends. A filled lower half means that it
    // receives.
    let cell = |row: u64, column: u16| {
        let style = if plot.is_here(column) { theme.accent } else { theme.text };
        match cells[row as usize * usize::from(columns) + usize::from(column)] {
            Activity { sends: true, receives: true } => ('█', style),
            Activity { sends: true, receives: false } => ('▀', style),
            Activity { sends: false, receives: true } => ('▄', style),
            Activity { sends: false, receives: false } => (SHADES[0], theme.dim),
        }
    };
    plot.draw(painter, area, &cell, &|_, time| recording.step_at(time));
    let missing = if missing { "; steps outside the window are omitted" } else { "" };
    let note = format!(
        "ranks against time: █ sends and receives, ▀ sends, ▄ receives{}{missing}",
        plot.several()
    );
    Some(PictureInfo { has_heat: false, ..PictureInfo::heat(note) })
}

/// Returns the start time and the end time of a step.
fn span(recording: &Recording, step: usize) -> Option<(f64, f64)> {
    let before = step.checked_sub(1).and_then(|before| recording.end(before)).unwrap_or(0.0);
    Some((before, recording.end(step)?))
}

/// Calls `say` for each sender and receiver in a step, with the row of the rank and its activity.
fn mark(frame: &Frame, side: u64, say: &mut dyn FnMut(u64, Activity)) {
    for pair in &frame.pairs {
        say(pair.from / side, Activity { sends: true, receives: false });
        say(pair.to / side, Activity { sends: false, receives: true });
    }
}
