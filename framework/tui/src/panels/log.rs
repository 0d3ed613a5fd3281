//! The log panel: messages of plugins and of the program.

use crate::keys::Binding;
use crate::paint::{Painter, scroll_start, wrap};
use crate::panel::{Keyed, List, NO_MATCH, Panel, list_in_field};
use crate::session::{LogLine, Requests, Session};
use ratatui::layout::Rect;
use std::convert::Infallible;

#[derive(Debug, Default)]
pub(crate) struct Log {
    list: List,
    /// Two counts at the last update: the number of all lines that the log has received, and the
    /// number of lines that it still keeps.
    seen: (usize, usize),
}

impl Keyed for Log {
    const TITLE: &'static str = "Log";
    type Action = Infallible;
    const KEYS: &'static [Binding<Infallible>] = &[];

    fn act(&mut self, action: Infallible, _: &Session) -> Requests {
        match action {}
    }
}

impl Panel for Log {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.shown(session).len()
    }

    /// If the cursor is on the last line, moves it to new lines as they arrive. Otherwise, the
    /// cursor stays on the same line. The index of this line decreases when old lines are dropped.
    fn sync(&mut self, session: &Session) {
        let (written, there) = (session.log.written(), session.log.lines().len());
        let before = std::mem::replace(&mut self.seen, (written, there));
        let cursor = &mut self.list.cursor;
        if self.list.filter.text().is_empty() && *cursor + 1 == before.1 {
            *cursor = there.saturating_sub(1);
        } else {
            let dropped = (written - there).saturating_sub(before.0 - before.1);
            *cursor = cursor.saturating_sub(dropped);
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let area = painter.filtered_panel(area, "Log", &self.list.filter);
        let lines = self.shown(session);
        if lines.is_empty() {
            let none = session.log.lines().is_empty();
            let text = if none { "The log is empty." } else { NO_MATCH };
            return painter.placeholder(area, text);
        }
        let theme = painter.theme;
        let cursor = self.list.cursor.min(lines.len() - 1);
        let height = usize::from(area.height);
        // Each line is wrapped, but takes at most half of the panel. Only lines near the cursor can
        // be visible.
        let rows_of = |index: usize| {
            let mut texts = wrap(&lines[index].in_words(), area.width.saturating_sub(10));
            texts.truncate((height / 2).max(1));
            texts.into_iter().enumerate().map(move |(row, text)| (index, row, text))
        };
        let near = cursor.saturating_sub(height)..(cursor + height + 1).min(lines.len());
        let rows: Vec<(usize, usize, String)> = near.flat_map(rows_of).collect();
        let at = rows.iter().position(|(index, ..)| *index == cursor).unwrap_or(0);
        let first = scroll_start(at, rows.len(), height);
        for (y, (index, row, text)) in (0..area.height).zip(&rows[first..]) {
            let line = lines[*index];
            let here = *index == cursor;
            let style = if line.is_warning { theme.warn } else { theme.text };
            let style = painter.list_line(area, y, *index, here, style);
            if *row == 0 {
                let seconds = line.at.as_secs();
                let time = format!("{:>3}:{:02}", seconds / 60, seconds % 60);
                painter.put(area, 1, y, &time, if here { style } else { theme.dim });
            }
            painter.put(area, 9, y, text, style);
        }
        painter.scrollbar(area, rows[first].0, lines.len());
    }
}

impl Log {
    fn shown<'s>(&self, session: &'s Session) -> Vec<&'s LogLine> {
        session.log.lines().iter().filter(|line| self.list.filter.passes(&line.text)).collect()
    }
}
