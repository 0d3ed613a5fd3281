//! The queue.

use super::paint::{Painter, cut, first_shown, width, wrap};
use super::{Target, clock};
use crate::app::App;
use crate::model::queue::{Common, Row, State};
use crate::model::short::Short;
use crate::ui::Panel;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_results::{Status, duration};

/// Of what else there is to say of a case, less tells nothing.
const LEAST_MORE: u16 = 14;

/// What tells cases apart: a text of each case in sight, and how wide all are.
type Column = (Vec<String>, u16);

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
    let cursor = app.ui.cursors[Panel::Cases as usize].min(rows.len() - 1);
    let area = Rect { height: area.height - reason(painter, rows[cursor].1, area), ..area };
    let first = first_shown(cursor, rows.len(), usize::from(area.height));
    let shown = || rows.iter().enumerate().skip(first).take(usize::from(area.height));
    let states: Vec<Told> = shown().map(|(_, (_, row))| state(painter, app, row)).collect();
    let words = states.iter().map(|state| width(&state.word)).max().unwrap_or(0);
    let bar = u16::from(rows.len() > usize::from(area.height));
    let text_area = Rect { width: area.width.saturating_sub(bar), ..area };
    let in_sight: Vec<&Row> = shown().map(|(_, (_, row))| *row).collect();
    let (columns, gap) = columns(&in_sight, app.queue.common(), text_area.width.saturating_sub(5 + words));
    for ((y, (index, (_, row))), state) in (0_u16..).zip(shown()).zip(&states) {
        let here = index == cursor;
        let style = if here { painter.cursor(Panel::Cases) } else { state.style };
        let plain = if here { style } else { painter.theme.text };
        if here {
            painter.shade(area, y, style);
        }
        painter.put(area, 1, y, mark(&row.state), style);
        painter.put_right(area, 3 + words, y, &state.word, style);
        let mut x = 5 + words;
        for (texts, width) in &columns {
            let cell = Rect { width: (x + width).min(text_area.width), ..area };
            painter.put(cell, x, y, texts.get(usize::from(y)).map_or("", String::as_str), plain);
            x += width + gap;
        }
        x = x + 2 - gap;
        // The beginning of a reason, if that is more than a few letters.
        let room = text_area.width.saturating_sub(x + 1);
        if room >= LEAST_MORE || width(&state.more) <= room {
            painter.put(text_area, x, y, &cut(&state.more, room), style);
        }
        painter.hit(area, 0, y, area.width, Target::Row(Panel::Cases, index));
    }
    painter.scrollbar(area, first, rows.len());
}

/// What tells cases apart. Where there is little room that goes which all have in common, then long specs are cut as far as they stay
/// different, then further, then the last goes; whatever room that frees is the others' again. Returns what is between columns, too.
fn columns(rows: &[&Row], common: &Common, room: u16) -> (Vec<Column>, u16) {
    /// Specs narrower than this are hard to read.
    const NARROW: usize = 10;
    /// Specs narrower than this tell little.
    const LEAST: usize = 6;
    /// Narrower than this, what tells cases apart is better left out.
    const UGLY: usize = 4;
    let again = rows.iter().any(|row| row.case.repetition > 0);
    let texts: [&dyn Fn(&Row) -> String; 5] = [
        &|row| row.case.algorithm.to_string(),
        &|row| row.case.topology.spec(),
        &|row| row.case.workload.to_string(),
        // Counted from 1, as details do.
        &|row| if again { format!("#{}", u64::from(row.case.repetition) + 1) } else { String::new() },
        &|row| row.case.machine.to_string(),
    ];
    let [_, topology, workload, machine] = common.each_ref().map(Option::is_some);
    let mut wanted: Vec<(Vec<String>, bool)> = Vec::new();
    for (text, is_common) in texts.into_iter().zip([false, topology, workload, false, machine]) {
        let texts: Vec<String> = rows.iter().map(|row| text(row)).collect();
        if texts.iter().any(|text| !text.is_empty()) {
            wanted.push((texts, is_common));
        }
    }
    let widths = |wanted: &[(Vec<String>, bool)]| -> Vec<u16> {
        wanted.iter().map(|(texts, _)| texts.iter().map(|text| width(text)).max().unwrap_or(0)).collect()
    };
    while taken(&widths(&wanted), 2) > room {
        let Some(common) = wanted.iter().rposition(|(_, is_common)| *is_common) else { break };
        wanted.remove(common);
    }
    let least = |texts: &[String]| Short::least(texts.iter().map(String::as_str), NARROW);
    let (widths, gap) = loop {
        let full = widths(&wanted);
        if taken(&full, 2) <= room {
            break (full, 2);
        }
        let different: Vec<u16> = wanted.iter().map(|(texts, _)| least(texts) as u16).collect();
        let narrow = vec![LEAST as u16; full.len()];
        let ugly = vec![UGLY as u16; full.len()];
        let ways = [(&different, 2), (&different, 1), (&narrow, 1), (&ugly, 1)];
        let shrunk = ways.into_iter().find_map(|(least, gap)| Some((shrink(&full, least, gap, room)?, gap)));
        match shrunk {
            Some(found) => break found,
            None if wanted.len() > 2 => drop(wanted.pop()),
            None => break (narrow, 1),
        }
    };
    let short = |(texts, _): &(Vec<String>, bool), wide| Short::of(texts.iter().map(String::as_str), usize::from(wide));
    let mut shorts: Vec<Short> = wanted.iter().zip(&widths).map(|(column, wide)| short(column, *wide)).collect();
    // Texts that are cut where they agree may not need all that they have: the next that is cut gets it.
    let needed = |(texts, _): &(Vec<String>, bool), short: &Short| -> u16 {
        texts.iter().map(|text| width(short.get(text))).max().unwrap_or(0)
    };
    let mut widths: Vec<u16> = wanted.iter().zip(&shorts).map(|(column, short)| needed(column, short)).collect();
    for at in 0..widths.len() {
        let free = room.saturating_sub(taken(&widths, gap));
        shorts[at] = short(&wanted[at], widths[at] + free);
        widths[at] = needed(&wanted[at], &shorts[at]);
    }
    let columns = wanted.into_iter().zip(widths).zip(shorts);
    let columns =
        columns.map(|(((texts, _), wide), short)| (texts.iter().map(|t| short.get(t).to_owned()).collect(), wide));
    (columns.collect(), gap)
}

/// Columns with spaces between them.
fn taken(widths: &[u16], gap: u16) -> u16 {
    widths.iter().map(|wide| wide + gap).sum::<u16>().saturating_sub(gap)
}

/// Takes from the widest what there is no room for; `None` if that makes some narrower than they may be.
fn shrink(full: &[u16], least: &[u16], gap: u16, room: u16) -> Option<Vec<u16>> {
    let mut widths = full.to_vec();
    while taken(&widths, gap) > room {
        let over = widths.iter_mut().zip(least).filter(|(wide, least)| **wide > **least);
        *over.max_by_key(|(wide, _)| **wide)?.0 -= 1;
    }
    Some(widths)
}

/// Why the case under the cursor has no time, in full, at the foot; returns the lines it took.
fn reason(painter: &mut Painter<'_, '_>, row: &Row, area: Rect) -> u16 {
    /// Lines of a reason; details have all of a longer one.
    const MOST: usize = 3;
    let reason = row.record().map_or("", |r| r.reason.as_str());
    if reason.is_empty() || area.height < 10 {
        return 0;
    }
    let lines = wrap(reason, area.width.saturating_sub(2));
    let taken = lines.len().min(MOST) as u16;
    for (y, line) in (area.height - taken..).zip(lines.iter().take(MOST)) {
        painter.put(area, 1, y, line, painter.theme.dim);
    }
    taken + 1
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
