//! All about one case: how to repeat it, its schedule's phases, every column of its row.

use super::paint::{Painter, width, wrap};
use crate::app::App;
use crate::facts;
use crate::model::comparison::Line;
use crate::model::queue::Row;
use crate::ui::Panel;
use ratatui::layout::Rect;

/// Which repetition it is, where there are several: a line of the comparison is the mean of all.
fn of_repetitions(app: &App, row: &Row) -> String {
    let is = |line: &&Line| row.record().is_some_and(|record| line.is_of(record));
    match app.compared.lines.iter().find(is).and_then(|line| line.time.as_ref()).map(|time| time.n) {
        Some(count) if count > 1 => format!(" of repetition {} of {count}", row.case.repetition + 1),
        _ => String::new(),
    }
}

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let Some((_, row)) = app.focused() else {
        let area = painter.panel(area, Panel::Details, "Details");
        return painter.nothing(area, "No case yet. Enter on a line of Cases (2) or Comparison (3) shows it here.");
    };
    let filter = app.filter(Panel::Details);
    let filtered = if filter.is_empty() { String::new() } else { format!(" /{filter}") };
    let title = format!(
        "Details{}: {} on {}, {}, {}{filtered}",
        of_repetitions(app, row),
        row.case.algorithm,
        row.case.topology.spec(),
        row.case.workload,
        row.case.machine
    );
    let area = painter.panel(area, Panel::Details, &title);
    let theme = painter.theme;
    let all = facts::entries(app);
    if all.is_empty() {
        return painter.nothing(area, "Nothing here has these words. Esc shows all.");
    }
    let names =
        all.iter().filter(|e| !e.value.is_empty()).map(|e| width(&e.name)).max().unwrap_or(0).min(area.width / 3);
    let room = area.width.saturating_sub(names + 4);
    let texts: Vec<Vec<String>> = all.iter().map(|entry| wrap(&entry.value, room)).collect();
    let mut left = usize::from(area.height);
    let last_page = texts.iter().rev().take_while(|lines| {
        let fits = lines.len() <= left;
        left = left.saturating_sub(lines.len());
        fits
    });
    let farthest = all.len() - last_page.count().clamp(1, all.len());
    let first = painter.scrolled(Panel::Details, app.ui.cursors[Panel::Details as usize], farthest);
    let mut y = 0;
    for (entry, lines) in all.iter().zip(&texts).skip(first) {
        if y >= area.height {
            break;
        }
        let heading = entry.value.is_empty() && entry.name.chars().all(|c| c.is_uppercase() || c == ' ');
        let style = if heading { theme.accent } else { theme.dim };
        let cell = if heading { area } else { Rect { width: (1 + names).min(area.width), ..area } };
        painter.put(cell, 1, y, &entry.name, style);
        for line in lines {
            painter.put(area, names + 3, y, line, theme.text);
            y += 1;
        }
    }
    painter.scrollbar(area, first, all.len());
}
