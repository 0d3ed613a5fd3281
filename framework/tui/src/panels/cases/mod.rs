//! The queue: every case, and how far it is.

mod columns;

use crate::hits::Spot;
use crate::keys::{Binding, ENTER, bind};
use crate::paint::{Painter, clock, cut, first_shown, width, wrap};
use crate::panel::{Keyed, List, Panel};
use crate::session::files::{Saved, write_rows};
use crate::session::queue::{Row, State};
use crate::session::{Request, Session};
use columns::columns;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::path::Path;
use swapmeet_results::{Status, duration, units};

/// Of what else there is to say of a case, less tells nothing.
const LEAST_MORE: u16 = 14;

/// The queue on screen.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    list: List,
    /// The case that was in focus when this was last looked at.
    seen: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Open,
}

impl Keyed for Cases {
    const TAB: &'static str = "Cases";
    const TITLE: &'static str = "Cases";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] =
        &[bind(Action::Open, ENTER, "details of the case").hint("details")];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Open => self.open(session),
        }
    }
}

impl Panel for Cases {
    fn list(&self) -> &List {
        &self.list
    }

    fn list_mut(&mut self) -> &mut List {
        &mut self.list
    }

    fn lines(&self, session: &Session) -> usize {
        self.rows(session).len()
    }

    fn open(&mut self, session: &mut Session) {
        self.look(session);
        session.request = Some(Request::Details);
    }

    /// The case under the cursor is in focus.
    fn look(&mut self, session: &mut Session) {
        if let Some((index, _)) = self.rows(session).get(self.list.cursor) {
            session.focus = Some(*index);
        }
    }

    /// The cursor goes to the case in focus, if the filter shows it.
    fn follow(&mut self, session: &Session) {
        if self.seen == session.focus {
            return;
        }
        self.seen = session.focus;
        if let Some(at) =
            self.rows(session).iter().position(|(index, _)| session.focus == Some(*index))
        {
            self.list.cursor = at;
        }
    }

    fn saves(&self, session: &Session, name: &Path) -> Option<Saved> {
        let rows = session.queue.records();
        let (file, what) = (name.with_extension("csv"), units::count(rows.len(), "row"));
        let about = format!("{what} on screen go beside it, to {}", file.display());
        Some(Saved { file, what, about, content: Box::new(move |file| write_rows(file, &rows)) })
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let tally = session.queue.tally();
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
        title += &self.list.filter.suffix();
        let area = painter.panel(area, &title);
        let rows = self.rows(session);
        if rows.is_empty() {
            let text = if session.queue.rows().is_empty() {
                "No cases yet. Pick what to run in Explore (1), then R runs it."
            } else {
                "No case has these words. Esc shows all."
            };
            return painter.nothing(area, text);
        }
        let top = bar(painter, session, area);
        let area = Rect { y: area.y + top, height: area.height - top, ..area };
        let cursor = self.list.cursor.min(rows.len() - 1);
        let area = Rect { height: area.height - reason(painter, rows[cursor].1, area), ..area };
        let first = first_shown(cursor, rows.len(), usize::from(area.height));
        let shown = || rows.iter().enumerate().skip(first).take(usize::from(area.height));
        let states: Vec<Report> =
            shown().map(|(_, (_, row))| state(painter, session, row)).collect();
        let words = states.iter().map(|state| width(&state.word)).max().unwrap_or(0);
        let bar = u16::from(rows.len() > usize::from(area.height));
        let text_area = Rect { width: area.width.saturating_sub(bar), ..area };
        let in_sight: Vec<&Row> = shown().map(|(_, (_, row))| *row).collect();
        let (columns, gap) =
            columns(&in_sight, session.queue.common(), text_area.width.saturating_sub(5 + words));
        for ((y, (index, (_, row))), state) in (0_u16..).zip(shown()).zip(&states) {
            let here = index == cursor;
            let style = if here { painter.cursor() } else { state.style };
            let plain = if here { style } else { painter.theme.text };
            if here {
                painter.shade(area, y, style);
            }
            painter.put(area, 1, y, mark(&row.state), style);
            painter.put_right(area, 3 + words, y, &state.word, style);
            let mut x = 5 + words;
            for (texts, width) in &columns {
                let cell = Rect { width: (x + width).min(text_area.width), ..area };
                painter.put(
                    cell,
                    x,
                    y,
                    texts.get(usize::from(y)).map_or("", String::as_str),
                    plain,
                );
                x += width + gap;
            }
            x = x + 2 - gap;
            // The beginning of a reason, if that is more than a few letters.
            let room = text_area.width.saturating_sub(x + 1);
            if room >= LEAST_MORE || width(&state.more) <= room {
                painter.put(text_area, x, y, &cut(&state.more, room), style);
            }
            painter.hit(area, 0, y, area.width, Spot::Line(index));
        }
        painter.scrollbar(area, first, rows.len());
    }
}

impl Cases {
    /// The queue's rows that the filter shows, with their places.
    fn rows<'s>(&self, session: &'s Session) -> Vec<(usize, &'s Row)> {
        session
            .queue
            .rows()
            .iter()
            .enumerate()
            .filter(|(_, row)| row.passes(&self.list.filter))
            .collect()
    }
}

/// Why the case under the cursor has no time, in full, at the foot; returns the lines it took.
fn reason(painter: &mut Painter<'_, '_>, row: &Row, area: Rect) -> u16 {
    /// Lines of a reason; details have all of a longer one.
    const MOST: usize = 3;
    let reason = if row.record().is_some() { row.remark() } else { String::new() };
    if reason.is_empty() || area.height < 10 {
        return 0;
    }
    let lines = wrap(&reason, area.width.saturating_sub(2));
    let taken = lines.len().min(MOST) as u16;
    for (y, line) in (area.height - taken..).zip(lines.iter().take(MOST)) {
        painter.put(area, 1, y, line, painter.theme.dim);
    }
    taken + 1
}

/// How much is done, as a bar; returns the lines it took.
fn bar(painter: &mut Painter<'_, '_>, session: &Session, area: Rect) -> u16 {
    let tally = session.queue.tally();
    if !session.queue.is_busy() || area.height < 4 || area.width < 20 {
        return 0;
    }
    let ended = tally.cases - tally.waiting - tally.running;
    let left = session
        .queue
        .left(session.now)
        .map(|left| format!("{} left", clock(left)))
        .unwrap_or_default();
    let text = format!(" {ended}/{} {left}", tally.cases);
    let room = area.width.saturating_sub(width(&text) + 2);
    let full = (usize::from(room) * ended / tally.cases.max(1)) as u16;
    for x in 0..room {
        let (c, style) =
            if x < full { ('█', painter.theme.good) } else { ('░', painter.theme.dim) };
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
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => "✕",
        },
    }
}

/// How far a case is.
struct Report {
    /// In a word: the time it takes on its machine, once that is known.
    word: String,
    /// What else there is to say, where there is room.
    more: String,
    style: Style,
}

fn state(painter: &Painter<'_, '_>, session: &Session, row: &Row) -> Report {
    let theme = painter.theme;
    let (word, more, style) = match &row.state {
        State::Waiting | State::Stopped => (row.word().to_owned(), String::new(), theme.dim),
        // Times on the machine and times of this one never share a column.
        State::Running(since) => {
            let since = clock(session.now.saturating_sub(*since));
            (
                row.word().to_owned(),
                format!("{} for {since}", row.remark()).trim_start().to_owned(),
                theme.warn,
            )
        }
        State::Done(record) => match record.status {
            Status::Ok => {
                (record.time_us.map(duration).unwrap_or_default(), String::new(), theme.good)
            }
            Status::Unsupported => (row.word().to_owned(), row.remark(), theme.dim),
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => {
                (row.word().to_owned(), row.remark(), theme.bad)
            }
        },
    };
    Report { word, more, style }
}
