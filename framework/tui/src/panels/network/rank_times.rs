//! A plot of ranks against time, which shows how each rank spends its time. Only models in which
//! each rank has its own clock have these times.

use super::time_plot::{TimePlot, TimeWindow};
use super::view::{PictureInfo, View};
use crate::paint::Painter;
use crate::session::recording::{Ranks, Recording, intervals, steps_of};
use crate::theme::Theme;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_core::cost::kind::{Kind, Times};
use swapmeet_results::duration;

/// The displayed step is in the middle and is highlighted for each rank.
pub(super) fn rank_times(
    painter: &mut Painter<'_, '_>,
    recording: &Recording,
    ranks: &Ranks,
    step: usize,
    view: &View,
    area: Rect,
) -> Option<PictureInfo> {
    let theme = painter.theme;
    let (began, ends, last) = ranks.span(step)?;
    let plot = TimePlot::of(recording, view, (began, ends), area)?;
    let columns = usize::from(plot.columns);
    // For each cell, add up the time of each kind. The entries of a rank are sorted by time, so
    // entries outside the visible interval of time can be skipped.
    let mut cells = vec![Cell::default(); plot.rows as usize * columns];
    let mut seen = Times::default();
    for (rank, entries) in (0_u64..).zip(&ranks.entries) {
        let row = &mut cells[(rank / plot.side) as usize * columns..][..columns];
        let first = entries.partition_point(|entry| entry.ended <= plot.window.from);
        for entry in entries[first..].iter().take_while(|entry| entry.posted < plot.window.to) {
            let [first_step, last_step] = steps_of(entry);
            let is_shown = (first_step..=last_step).contains(&step);
            for (kind, from, to) in
                intervals(entry.kinds, entry.posted, entry.started - entry.posted)
            {
                spread(plot.window, plot.columns, from, to, &mut |column, share| {
                    row[column].kinds[kind] += share;
                    row[column].is_shown |= is_shown;
                    seen[kind] += share;
                });
            }
        }
    }
    // A cell shows the kind of time that takes the largest part of the time of its ranks. A click
    // on the cell goes to the step that is in progress at this time.
    let cell = |row: u64, column: u16| {
        let cell = &cells[row as usize * columns + usize::from(column)];
        let Some(kind) = most(&cell.kinds) else { return (' ', theme.dim) };
        mark_and_style(&theme, kind, cell.is_shown)
    };
    let step_of = |row: u64, time: f64| {
        let entries = ranks.entries.get((row * plot.side) as usize).map_or(&[][..], Vec::as_slice);
        let at = entries
            .partition_point(|entry| entry.ended < time)
            .min(entries.len().saturating_sub(1));
        entries.get(at).map_or(step, |entry| steps_of(entry)[0])
    };
    plot.draw(painter, area, &cell, &step_of);
    // The step ends when the slowest rank has finished it, so the note names this rank.
    let joined = match ranks.joined {
        0 | 1 => String::new(),
        joined => format!("; up to {joined} steps joined"),
    };
    let note = format!(
        "rank {last} is the last to end this step, at {}{}{joined}",
        duration(ends),
        plot.several()
    );
    Some(PictureInfo { has_heat: false, kinds: Some(seen), ..PictureInfo::heat(note) })
}

/// Returns the mark and the style of a kind of time. The displayed step has full colours. Other
/// steps are shaded, or dim in themes without colours.
fn mark_and_style(theme: &Theme, kind: Kind, is_shown: bool) -> (char, Style) {
    let (mark, style) = theme.part(kind);
    match (is_shown, kind == Kind::Peer) {
        (true, true) => (mark, theme.accent),
        (true, false) => (mark, style),
        (false, false) if theme.coloured => ('▒', style),
        (false, _) => (mark, theme.dim),
    }
}

/// The time of each kind that the ranks of one row spend within one column.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    kinds: Times,
    is_shown: bool,
}

pub(super) fn most(kinds: &Times) -> Option<Kind> {
    let (most, time) = kinds.each().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (time > 0.0).then_some(most)
}

/// Calls `visit` for each column that an interval overlaps, with the index of the column and the
/// fraction of the column that the interval covers.
pub(super) fn spread(
    window: TimeWindow,
    columns: u16,
    from: f64,
    to: f64,
    visit: &mut dyn FnMut(usize, f64),
) {
    let ends = [from, to].map(|time| window.column(time, columns).clamp(0.0, f64::from(columns)));
    let mut at = ends[0];
    while at < ends[1] {
        let next = (at.floor() + 1.0).min(ends[1]);
        visit(at as usize, next - at);
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_displayed_step_is_highlighted_in_every_theme() {
        for theme in Theme::names().map(|name| Theme::named(name).unwrap()) {
            let all = Kind::ALL.map(|kind| mark_and_style(&theme, kind, true));
            let others = Kind::ALL.map(|kind| mark_and_style(&theme, kind, false));
            assert!(all.iter().zip(&others).all(|(one, other)| one != other), "{}", theme.name);
            assert!((0..all.len()).all(|i| (0..i).all(|j| all[i] != all[j])), "{}", theme.name);
        }
    }

    #[test]
    fn intervals_are_divided_among_columns() {
        let mut shares = [0.0; 4];
        spread(TimeWindow { from: 0.0, to: 40.0 }, 4, 5.0, 25.0, &mut |column, share| {
            shares[column] += share;
        });
        assert_eq!(shares, [0.5, 1.0, 0.5, 0.0]);
        spread(TimeWindow { from: 0.0, to: 40.0 }, 4, 35.0, 99.0, &mut |column, share| {
            shares[column] += share;
        });
        assert_eq!(shares, [0.5, 1.0, 0.5, 0.5]);
    }
}
