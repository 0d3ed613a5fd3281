//! The log panel: messages of plugins and of the program.

use crate::click_map::PanelPosition;
use crate::keys::Binding;
use crate::paint::{Painter, wrap};
use crate::panel::{Keyed, List, Panel, list_in_field};
use crate::session::{LogLine, Session};
use ratatui::layout::Rect;
use std::convert::Infallible;

/// The log panel.
#[derive(Debug, Default)]
pub(crate) struct Log {
    list: List,
    /// Two counts at the last update: the number of all lines that the log has received, and the
    /// number of lines that it still keeps.
    seen: (usize, usize),
}

impl Keyed for Log {
    const TAB: &'static str = "Log";
    const TITLE: &'static str = "Log";
    type Action = Infallible;
    const KEYS: &'static [Binding<Infallible>] = &[];

    fn act(&mut self, action: Infallible, _: &mut Session) {
        match action {}
    }
}

impl Panel for Log {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.shown(session).len()
    }

    fn reset(&mut self) {}

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
        let area = painter.panel(area, &format!("Log{}", self.list.filter.suffix()));
        let lines = self.shown(session);
        if lines.is_empty() {
            let none = session.log.lines().is_empty();
            return painter.placeholder(
                area,
                if none {
                    "The log is empty."
                } else {
                    "No line matches the filter. Esc shows all."
                },
            );
        }
        let theme = painter.theme;
        let cursor = self.list.cursor.min(lines.len() - 1);
        let height = usize::from(area.height);
        let room = area.width.saturating_sub(10);
        // Wrap each line to show its full text, but use at most half of the panel for one line.
        let most = (height / 2).max(1);
        let whole = |index: usize| {
            let mut texts = wrap(&lines[index].text, room);
            texts.truncate(most);
            texts
        };
        let mut after = 0;
        let mut below = cursor + 1;
        while below < lines.len() && after < height / 2 {
            after += whole(below).len();
            below += 1;
        }
        // Find the first line to show, so that the line under the cursor is in the middle if
        // possible.
        let mut left = height.saturating_sub(whole(cursor).len() + after.min(height / 2));
        let mut first = cursor;
        while first > 0 {
            let above = whole(first - 1).len();
            if above > left {
                break;
            }
            left -= above;
            first -= 1;
        }
        let mut y = 0;
        for (index, line) in lines.iter().enumerate().skip(first) {
            if y >= area.height {
                break;
            }
            let here = index == cursor;
            let style = match (here, line.is_warning) {
                (true, _) => painter.cursor(),
                (false, true) => theme.warn,
                (false, false) => theme.text,
            };
            let seconds = line.at.as_secs();
            let from = y;
            for text in &whole(index) {
                if here {
                    painter.shade(area, y, style);
                }
                painter.put(area, 9, y, text, style);
                painter.add_click(area, 0, y, area.width, PanelPosition::Line(index));
                y += 1;
            }
            painter.put(
                area,
                1,
                from,
                &format!("{:>3}:{:02}", seconds / 60, seconds % 60),
                if here { style } else { theme.dim },
            );
        }
        painter.scrollbar(area, first, lines.len());
    }
}

impl Log {
    /// Returns the lines that pass the filter.
    fn shown<'s>(&self, session: &'s Session) -> Vec<&'s LogLine> {
        session.log.lines().iter().filter(|line| self.list.filter.passes(&line.text)).collect()
    }
}
