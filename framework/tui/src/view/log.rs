//! What plugins and the program had to say.

use super::Target;
use super::paint::{Painter, first_shown, wrap};
use crate::app::App;
use crate::ui::Panel;
use ratatui::layout::Rect;

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let filter = app.filter(Panel::Log);
    let title = if filter.is_empty() { "Log".to_owned() } else { format!("Log /{filter}") };
    let area = painter.panel(area, Panel::Log, &title);
    let lines = app.log_lines();
    if lines.is_empty() {
        let text = if app.log.is_empty() { "Nothing to tell." } else { "No line has these words. Esc shows all." };
        return painter.nothing(area, text);
    }
    let theme = painter.theme;
    let cursor = app.ui.cursors[Panel::Log as usize].min(lines.len() - 1);
    // The line under the cursor is shown in full, others as far as there is room.
    let room = area.width.saturating_sub(10);
    let whole = wrap(&lines[cursor].text, room);
    let extra = (whole.len() - 1).min(usize::from(area.height) / 2);
    let first = first_shown(cursor, lines.len(), usize::from(area.height).saturating_sub(extra));
    let mut y = 0;
    for (index, line) in lines.iter().enumerate().skip(first) {
        if y >= area.height {
            break;
        }
        let here = index == cursor;
        let style = match (here, line.is_warning) {
            (true, _) => painter.cursor(Panel::Log),
            (false, true) => theme.warn,
            (false, false) => theme.text,
        };
        let seconds = line.at.as_secs();
        let from = y;
        let texts = if here { whole.clone() } else { vec![line.text.clone()] };
        for text in texts.iter().take(extra + 1) {
            if here {
                painter.shade(area, y, style);
            }
            painter.put(area, 9, y, text, style);
            painter.hit(area, 0, y, area.width, Target::Row(Panel::Log, index));
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
