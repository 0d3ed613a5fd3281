//! A plot of ranks against time for models in which ranks do not have their own clocks. It shows
//! when each rank sends and receives, the kinds of time in each step, and the borders between
//! steps.

use super::rank_times::{most, spread};
use super::time_plot::TimePlot;
use super::view::{PictureInfo, View};
use crate::paint::Painter;
use crate::session::recording::{Frame, Recording, intervals};
use crate::theme::SHADES;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use swapmeet_core::cost::kind::{Kind, Times};

/// The activity of the ranks of one row of the plot within one column.
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
    let theme = painter.theme;
    let plot = TimePlot::of(recording, view, span(recording, step)?, area)?;
    let (window, columns) = (plot.window, plot.columns);
    let mut cells = vec![Activity::default(); plot.rows as usize * usize::from(columns)];
    // The kinds of time are the same for all ranks, so they are counted once for each column, and
    // not for each cell.
    let (mut kinds, mut seen) = (vec![Times::default(); usize::from(columns)], Times::default());
    let mut begins = vec![false; usize::from(columns)];
    // For each step, mark the columns of the step in the rows of the ranks that send or receive. Of
    // a large schedule, only some steps are recorded in full.
    let mut missing = false;
    for at in 0..recording.steps.len() {
        let Some((from, to)) =
            span(recording, at).filter(|(from, to)| *to > window.from && *from < window.to)
        else {
            continue;
        };
        let times = recording.times(at).unwrap_or_default();
        for (kind, from, to) in intervals(times, from, f64::INFINITY) {
            spread(window, columns, from, to, &mut |column, share| {
                kinds[column][kind] += share;
                seen[kind] += share;
            });
        }
        let first = window.column(from, columns).max(0.0).round() as u16;
        // A step that is shorter than a column is drawn in one column.
        let last = (window.column(to, columns).round() as u16).max(first + 1).min(columns);
        // The border takes a column, so narrow steps have none.
        if last.saturating_sub(first) >= NARROWEST && at > 0 && from > window.from {
            begins[usize::from(first)] = true;
        }
        let Some(frame) = recording.frame(at) else {
            missing = true;
            continue;
        };
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
    // The colour of a cell, or its mark in themes without colours, is the kind of time that takes
    // most of the column. With colours, a filled upper half means that the rank sends, and a filled
    // lower half means that it receives. During rearrangements and barriers, all ranks are busy, so
    // the cells of all ranks are filled.
    let cell = |row: u64, column: u16| {
        let at = usize::from(column);
        if begins[at] {
            return ('│', theme.dim);
        }
        let Some(kind) = most(&kinds[at]) else { return (' ', theme.dim) };
        let (mark, style) = theme.part(kind);
        let style = if plot.is_here(column) { style.add_modifier(Modifier::BOLD) } else { style };
        let is_of_all = matches!(kind, Kind::Barrier | Kind::Rearrangement);
        match cells[row as usize * usize::from(columns) + at] {
            _ if is_of_all => (mark, style),
            Activity { sends: false, receives: false } => (SHADES[0], theme.dim),
            _ if !theme.coloured => (mark, style),
            Activity { sends: true, receives: true } => ('█', style),
            Activity { sends: true, receives: false } => ('▀', style),
            Activity { sends: false, receives: true } => ('▄', style),
        }
    };
    plot.draw(painter, area, &cell, &|_, time| recording.step_at(time));
    let missing = if missing { "; steps outside the window are omitted" } else { "" };
    let note = format!(
        "{}│ a step begins{}{missing}",
        if theme.coloured { "█ sends and receives; ▀ sends; ▄ receives; " } else { "" },
        plot.several()
    );
    Some(PictureInfo { has_heat: false, kinds: Some(seen), ..PictureInfo::heat(note) })
}

/// The minimum number of columns of a step that has a border.
const NARROWEST: u16 = 3;

/// Returns the start time and the end time of a step.
fn span(recording: &Recording, step: usize) -> Option<(f64, f64)> {
    let before = step.checked_sub(1).and_then(|before| recording.end(before)).unwrap_or(0.0);
    Some((before, recording.end(step)?))
}

/// Calls `visit` for each sender and receiver in a step, with the row of the rank and its activity.
fn mark(frame: &Frame, side: u64, visit: &mut dyn FnMut(u64, Activity)) {
    for pair in &frame.pairs {
        visit(pair.from / side, Activity { sends: true, receives: false });
        visit(pair.to / side, Activity { sends: false, receives: true });
    }
}
