//! A bar chart of the times of steps. The parts of a bar are the kinds of time, such as start-up or
//! contention.

use crate::click_map::PanelPosition;
use crate::paint::{Painter, width};
use crate::session::recording::Recording;
use ratatui::layout::Rect;
use std::ops::Range;
use swapmeet_core::cost::kind::{Kind, Times};
use swapmeet_results::duration;

/// Returns the height of the chart. Most of the free height is left to the picture.
pub(super) fn height(free: u16) -> u16 {
    match free {
        0..2 => 0,
        2..9 => 1,
        9..16 => 4,
        16..28 => 6,
        _ => 8,
    }
}

/// Returns the steps that each column of the chart shows. A column shows one step if all steps fit,
/// and otherwise several steps.
pub(super) fn columns(steps: usize, room: usize) -> Vec<Range<usize>> {
    let columns = steps.min(room);
    (0..columns)
        .map(|x| x * steps / columns..((x + 1) * steps / columns).max(x * steps / columns + 1))
        .collect()
}

/// Returns the width of a bar. A few steps have wide bars, if a caption next to them still fits.
fn wide(bars: usize, room: u16, caption: u16) -> u16 {
    const MOST: u16 = 4;
    (room.saturating_sub(caption + 3) / (bars as u16).max(1)).clamp(1, MOST)
}

/// Draws the chart. If a column represents several steps, its bar shows the longest of them. The
/// last row marks the displayed step.
pub(super) fn chart(
    painter: &mut Painter<'_, '_>,
    recording: &Recording,
    step: usize,
    longest: f64,
    area: Rect,
) {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let theme = painter.theme;
    let high = area.height.saturating_sub(1);
    let time = |step: usize| recording.time(step).unwrap_or(0.0);
    let room = area.width.saturating_sub(2);
    let columns = columns(recording.steps.len(), usize::from(room));
    let of_what = if recording.ranks.is_some() {
        "mean time of ranks in each step"
    } else {
        "time of each step"
    };
    let text = format!("{of_what}, maximum {} (w goes there)", duration(longest));
    let each = wide(columns.len(), room, width(&text));
    // The height of a bar is measured in eighths of a row. A bar consists of the kinds of time.
    for (number, steps) in (0_u16..).zip(&columns) {
        let x = 1 + number * each;
        let longest_of = steps.clone().max_by(|a, b| time(*a).total_cmp(&time(*b)));
        let times = longest_of.and_then(|step| recording.times(step)).unwrap_or_default();
        let whole = times.total();
        let eighths =
            if longest > 0.0 { (whole / longest * f64::from(high * 8)).round() as u16 } else { 0 };
        for row in 0..eighths.div_ceil(8) {
            let filled = (eighths - row * 8).min(8);
            // A character has only one colour. Use the kind of time that is in the middle of the
            // filled area of the character.
            let at = (f64::from(row * 8) + f64::from(filled) / 2.0) / f64::from(eighths) * whole;
            let part = part_at(&times, at);
            let (full, style) = theme.part(part);
            let mark = if theme.coloured { EIGHTHS[usize::from(filled) - 1] } else { full };
            (x..x + each).for_each(|x| painter.dot(area, x, high - 1 - row, mark, style));
        }
        // The user can click anywhere in the column, even above a short bar.
        for y in 0..area.height {
            painter.add_click(area, x, y, each, PanelPosition::Mark(steps.start));
        }
        if steps.contains(&step) {
            (x..x + each).for_each(|x| painter.dot(area, x, high, '▴', theme.accent));
        }
    }
    // If there is enough space to the right of the bars, write a caption that explains the scale.
    let from = columns.len() as u16 * each + 3;
    if from + width(&text) < area.width {
        painter.put(area, from, high.saturating_sub(1), &text, theme.dim);
    }
}

/// Returns the kind of time that is in progress `at` µs after the start of a step. The kinds are
/// assumed to follow one another.
fn part_at(times: &Times, at: f64) -> Kind {
    let mut sum = 0.0;
    let mut last = Kind::Startup;
    for (kind, time) in times.each().filter(|(_, time)| *time > 0.0) {
        (last, sum) = (kind, sum + time);
        if sum > at {
            break;
        }
    }
    last
}

/// Returns the kinds of time that are not 0, the longest first.
fn by_time(times: &Times) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| times[*kind] > 0.0).collect();
    kinds.sort_by(|a, b| times[*b].total_cmp(&times[*a]));
    kinds
}

/// Writes how the time of a step is divided into kinds, and when the step ends. The kind that takes
/// longest is first, because a narrow panel has no room for all kinds. If ranks have their
/// own clocks, the times are means of all ranks, and the step ends when the last rank has finished
/// it.
pub(super) fn in_words(
    painter: &mut Painter<'_, '_>,
    times: &Times,
    recording: &Recording,
    step: usize,
    area: Rect,
) {
    let theme = painter.theme;
    let mean = if recording.ranks.is_some() { " per rank" } else { "" };
    let end =
        recording.end(step).map(|end| format!("  ends at {}", duration(end))).unwrap_or_default();
    let text = format!("{}{mean}{end}", duration(times.total()));
    let mut x = painter.put(area, 1, 0, &text, theme.text) + 1;
    for part in by_time(times) {
        let (c, style) = theme.part(part);
        x = painter.put(area, x + 1, 0, &c.to_string(), style);
        let text = format!("{} {}", part.name(), duration(times[part]));
        x = painter.put(area, x + 1, 0, &text, theme.dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_exactly_one_column() {
        assert_eq!(columns(3, 10), [0..1, 1..2, 2..3]);
        for (steps, room) in [(100, 7), (7, 7), (8, 7), (1, 1)] {
            let all: Vec<usize> = columns(steps, room).into_iter().flatten().collect();
            assert_eq!(all, (0..steps).collect::<Vec<_>>(), "{steps} in {room}");
        }
    }

    #[test]
    fn few_steps_have_wide_bars() {
        assert_eq!([1, 6, 21, 60, 200].map(|bars| wide(bars, 110, 50)), [4, 4, 2, 1, 1]);
    }

    #[test]
    fn moments_belong_to_consecutive_parts() {
        let [first, second] = [Kind::Startup, Kind::Propagation];
        let times = Times::of([(first, 2.0), (second, 3.0)]);
        let parts = [0.0, 1.9, 2.0, 4.9, 5.0].map(|at| part_at(&times, at));
        assert_eq!(parts, [first, first, second, second, second]);
        assert_eq!(by_time(&times), [second, first]);
    }
}
