//! What plugins and the program had to say.

use super::Target;
use super::paint::{Painter, wrap};
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
    let height = usize::from(area.height);
    let room = area.width.saturating_sub(10);
    // Lines are shown in full, but none takes more than half of the panel.
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
    // The one under the cursor in the middle, where it can be.
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
            (true, _) => painter.cursor(Panel::Log),
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
