//! The queue panel, which shows all cases and their states.

mod columns;

use crate::keys::{Binding, ENTER, bind};
use crate::memo::Memo;
use crate::paint::{Painter, clock, cut, widest, width, wrap};
use crate::panel::{Keyed, List, Panel, list_in_field};
use crate::session::files::{OutputFile, write_rows};
use crate::session::queue::{CaseRow, CaseState};
use crate::session::{Request, Session};
use columns::columns;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::path::Path;
use std::rc::Rc;
use swapmeet_results::{Status, duration, units};

/// The minimum number of columns for the reason of a failure. If fewer columns are free, the reason
/// is not shown.
const LEAST_MORE: u16 = 14;

/// The maximum number of lines for the reason of a failure. The details panel shows the full text.
const MOST_REASON_LINES: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct Cases {
    list: List,
    /// The index of the case that was in focus at the last update.
    seen: Option<usize>,
    /// The indices of the rows that pass the filter. The inputs are the text of the filter, and a
    /// number that changes whenever the result may change.
    shown: Memo<(String, u64), Vec<usize>>,
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
        &[bind(Action::Open, ENTER, "show the details of the case").hint("details")];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Open => self.open(session),
        }
    }
}

impl Panel for Cases {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.rows(session).len()
    }

    fn wanted_rows(&self, session: &Session) -> usize {
        self.lines(session) + 1 + MOST_REASON_LINES + 1
    }

    fn open(&mut self, session: &mut Session) {
        self.cursor_moved(session);
        session.request = Some(Request::Details);
    }

    fn cursor_moved(&mut self, session: &mut Session) {
        if let Some(index) = self.rows(session).get(self.list.cursor) {
            session.focus = Some(*index);
        }
    }

    fn sync(&mut self, session: &Session) {
        if self.seen == session.focus {
            return;
        }
        self.seen = session.focus;
        if let Some(at) = self.rows(session).iter().position(|index| session.focus == Some(*index))
        {
            self.list.cursor = at;
        }
    }

    fn output_file(&self, session: &Session, name: &Path) -> Option<OutputFile> {
        let rows = session.queue.records();
        let (file, what) = (name.with_extension("csv"), units::count(rows.len(), "row"));
        let about = format!("{} ({what}) are saved to {}", session.rows_in_words(), file.display());
        Some(OutputFile {
            file,
            summary: what,
            preview: about,
            content: Box::new(move |file| write_rows(file, &rows)),
        })
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        // The title shows the number of cases in each state. States without cases are left out.
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
        // If there are no cases, show which key to press.
        let rows = self.rows(session);
        let row = |index: &usize| &session.queue.rows()[*index];
        if rows.is_empty() {
            let text = if session.queue.rows().is_empty() {
                "No cases yet. Select cases in Explore (1), then press R to run them."
            } else {
                "No case matches the filter. Esc shows all."
            };
            return painter.placeholder(area, text);
        }
        // Draw the progress bar above the table. Below the table, write why the case under the
        // cursor has no time.
        let top = bar(painter, session, area);
        let area = Rect { y: area.y + top, height: area.height.saturating_sub(top), ..area };
        let cursor = self.list.cursor.min(rows.len() - 1);
        let area = Rect {
            height: area.height.saturating_sub(reason(painter, row(&rows[cursor]), area)),
            ..area
        };
        // The widths of columns depend only on the rows that are visible.
        let first = self.list.first_line(rows.len(), usize::from(area.height));
        let shown = || {
            let rows = rows.iter().map(row).enumerate();
            rows.skip(first).take(usize::from(area.height))
        };
        let states: Vec<CaseDisplay> =
            shown().map(|(_, row)| state(painter, session, row)).collect();
        let words = widest(states.iter().map(|state| &state.word));
        let bar = u16::from(rows.len() > usize::from(area.height));
        let text_area = Rect { width: area.width.saturating_sub(bar), ..area };
        let in_sight: Vec<&CaseRow> = shown().map(|(_, row)| row).collect();
        // Reserve space for the steps and the elapsed times of running cases, which are always
        // shown.
        let shorts = widest(states.iter().map(|state| &state.short));
        let used = 5 + words + if shorts > 0 { shorts + 3 } else { 0 };
        let (columns, gap) =
            columns(&in_sight, session.queue.common(), text_area.width.saturating_sub(used));
        // Each line consists of a mark, the state, the columns, and the beginning of additional
        // text, such as the reason of a failure.
        for ((y, (index, row)), state) in (0_u16..).zip(shown()).zip(&states) {
            let here = index == cursor;
            let style = painter.list_line(area, y, index, here, state.style);
            let plain = if here { style } else { painter.theme.text };
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
            // Draw the beginning of the additional text if there is enough space after the columns.
            let room = text_area.width.saturating_sub(x + 1);
            if width(&state.more) > room && !state.short.is_empty() {
                painter.put(text_area, x, y, &cut(&state.short, room), style);
            } else if room >= LEAST_MORE || width(&state.more) <= room {
                painter.put(text_area, x, y, &cut(&state.more, room), style);
            }
        }
        painter.scrollbar(area, first, rows.len());
    }
}

impl Cases {
    pub(crate) fn rows(&self, session: &Session) -> Rc<Vec<usize>> {
        let (filter, rows) = (&self.list.filter, session.queue.rows());
        // Without a filter, the result depends only on the number of rows, not on their states.
        let is_all = filter.text().is_empty();
        let changes = if is_all { rows.len() as u64 } else { session.queue.changes() };
        self.shown.get((filter.text().to_owned(), changes), || {
            if is_all { (0..rows.len()).collect() } else { session.queue.passing(filter) }
        })
    }
}

fn reason(painter: &mut Painter<'_, '_>, row: &CaseRow, area: Rect) -> u16 {
    let reason = if row.record().is_some() { row.remark() } else { String::new() };
    if reason.is_empty() || area.height < 10 {
        return 0;
    }
    let lines = wrap(&reason, area.width.saturating_sub(2)).len();
    let height = lines.min(MOST_REASON_LINES) as u16;
    let foot = Rect { y: area.bottom() - height, height, ..area };
    painter.paragraph(foot, &reason, painter.theme.dim);
    height + 1
}

fn bar(painter: &mut Painter<'_, '_>, session: &Session, area: Rect) -> u16 {
    let tally = session.queue.tally();
    if !session.queue.is_busy() || area.height < 4 || area.width < 20 {
        return 0;
    }
    let ended = tally.cases - tally.open();
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

fn mark(state: &CaseState) -> &'static str {
    match state {
        CaseState::Waiting => "·",
        CaseState::Running(..) => "▸",
        CaseState::Stopped => "-",
        CaseState::Done(record) => match record.status {
            Status::Ok => "✓",
            Status::Unsupported => "-",
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => "✕",
        },
    }
}

struct CaseDisplay {
    word: String,
    more: String,
    /// A short text, which is shown if `more` does not fit. Other columns are shortened to make
    /// room for it. Empty if there is no short text.
    short: String,
    style: Style,
}

fn state(painter: &Painter<'_, '_>, session: &Session, row: &CaseRow) -> CaseDisplay {
    let theme = painter.theme;
    let mut short = String::new();
    let (word, more, style) = match &row.state {
        CaseState::Waiting | CaseState::Stopped => {
            (row.word().to_owned(), String::new(), theme.dim)
        }
        // The elapsed time is time on this machine, and the predicted time is time on the modelled
        // machine. They are shown in different columns, so that users do not confuse them.
        CaseState::Running(since) => {
            let since = clock(session.now.saturating_sub(*since));
            let step = match row.pace.steps {
                0 => String::new(),
                step => format!("step {step}, "),
            };
            short = format!("{step}{since}");
            (
                row.word().to_owned(),
                format!("{} for {since}", row.remark()).trim_start().to_owned(),
                theme.warn,
            )
        }
        CaseState::Done(record) => match record.status {
            Status::Ok => {
                // As in the comparison, `~` marks a time that does not include the changes of the
                // what-if panel. The queue shows the times that were written to the file.
                let mark = if session.what_if.affects(row) { "~" } else { "" };
                let time = record.time_us.map(|time| format!("{mark}{}", duration(time)));
                (time.unwrap_or_default(), String::new(), theme.good)
            }
            Status::Unsupported => (row.word().to_owned(), row.remark(), theme.dim),
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => {
                (row.word().to_owned(), row.remark(), theme.bad)
            }
        },
    };
    CaseDisplay { word, more, short, style }
}
