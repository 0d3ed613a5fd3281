//! The queue.

use super::paint::{Painter, cut_middle, first_shown, width};
use super::{Target, clock};
use crate::app::App;
use crate::model::queue::{Row, State};
use crate::ui::Panel;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_results::{Status, duration};

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let tally = app.queue.tally();
    let filter = app.filter(Panel::Cases);
    let mut title = "Cases".to_owned();
    for (count, word) in [
        (tally.ok, "ok"),
        (tally.unsupported, "unsupported"),
        (tally.failed, "failed"),
        (tally.running, "running"),
        (tally.waiting, "waiting"),
        (tally.stopped, "stopped"),
    ] {
        if count > 0 {
            title += &format!("{} {count} {word}", if title.len() == 5 { ":" } else { "," });
        }
    }
    if !filter.is_empty() {
        title += &format!(" /{filter}");
    }
    let area = painter.panel(area, Panel::Cases, &title);
    let rows = app.case_rows();
    if rows.is_empty() {
        let text = if app.queue.rows().is_empty() {
            "No cases yet. Pick what to run in Explore (1), then R runs it."
        } else {
            "No case has these words. Esc shows all."
        };
        return painter.nothing(area, text);
    }
    let top = bar(painter, app, area);
    let area = Rect { y: area.y + top, height: area.height - top, ..area };
    let cursor = app.ui.cursors[Panel::Cases as usize];
    let first = first_shown(cursor, rows.len(), usize::from(area.height));
    let shown = || rows.iter().enumerate().skip(first).take(usize::from(area.height));
    let columns: [fn(&Row) -> String; 4] = [
        |row| row.case.algorithm.to_string(),
        |row| row.case.topology.spec(),
        |row| row.case.workload.to_string(),
        |row| match row.case.repetition {
            0 => row.case.machine.to_string(),
            r => format!("{} #{r}", row.case.machine),
        },
    ];
    let most = area.width / 3;
    let widths = columns.map(|text| shown().map(|(_, (_, row))| width(&text(row))).max().unwrap_or(0).min(most));
    let states = shown().map(|(_, (_, row))| width(&state(painter, app, row).word)).max().unwrap_or(0);
    for (y, (index, (_, row))) in (0..).zip(shown()) {
        let state = state(painter, app, row);
        let here = index == cursor;
        let style = if here { painter.cursor(Panel::Cases) } else { state.style };
        let plain = if here { style } else { painter.theme.text };
        if here {
            painter.shade(area, y, style);
        }
        painter.put(area, 1, y, mark(&row.state), style);
        painter.put_right(area, 3 + states, y, &state.word, style);
        let mut x = 5 + states;
        for (text, width) in columns.iter().zip(widths) {
            let cell = Rect { width: (x + width).min(area.width), ..area };
            painter.put(cell, x, y, &cut_middle(&text(row), width), plain);
            x += width + 2;
        }
        painter.put(area, x, y, &state.more, style);
        painter.hit(area, 0, y, area.width, Target::Row(Panel::Cases, index));
    }
    painter.scrollbar(area, first, rows.len());
}

/// How much is done, as a bar; returns the lines it took.
fn bar(painter: &mut Painter<'_, '_>, app: &App, area: Rect) -> u16 {
    let tally = app.queue.tally();
    if !app.queue.is_busy() || area.height < 4 || area.width < 20 {
        return 0;
    }
    let ended = tally.cases - tally.waiting - tally.running;
    let left = app.queue.left(app.now).map(|left| format!("{} left", clock(left))).unwrap_or_default();
    let text = format!(" {ended}/{} {left}", tally.cases);
    let room = area.width.saturating_sub(width(&text) + 2);
    let full = (usize::from(room) * ended / tally.cases.max(1)) as u16;
    for x in 0..room {
        let (c, style) = if x < full { ('█', painter.theme.good) } else { ('░', painter.theme.dim) };
        painter.dot(area, 1 + x, 0, c, style);
    }
    painter.put(area, 1 + room, 0, &text, painter.theme.text);
    1
}

fn mark(state: &State) -> &'static str {
    match state {
        State::Waiting => "·",
        State::Running(..) => "▸",
        State::Stopped => "-",
        State::Done(record) => match record.status {
            Status::Ok => "✓",
            Status::Unsupported => "-",
            _ => "✕",
        },
    }
}

/// How far a case is.
struct Told {
    /// In a word: the time it takes on its machine, once that is known.
    word: String,
    /// What else there is to say, where there is room.
    more: String,
    style: Style,
}

fn state(painter: &Painter<'_, '_>, app: &App, row: &Row) -> Told {
    let theme = painter.theme;
    let (word, more, style) = match &row.state {
        State::Waiting | State::Stopped => (row.word().to_owned(), String::new(), theme.dim),
        State::Running(since, step) => {
            let at = if *step > 0 { format!("at step {step}") } else { String::new() };
            (clock(app.now.saturating_sub(*since)), at, theme.warn)
        }
        State::Done(record) => match record.status {
            Status::Ok => (record.time_us.map(duration).unwrap_or_default(), String::new(), theme.good),
            Status::Unsupported => (row.word().to_owned(), record.reason.clone(), theme.dim),
            _ => (row.word().to_owned(), record.reason.clone(), theme.bad),
        },
    };
    Told { word, more, style }
}
