//! Text input, help and confirmations, and the message of a screen that is too small.

use super::prompt::{Prompt, Purpose};
use super::{App, Help};
use crate::keys::{KeyRow, KeyTable};
use crate::paint::{Painter, cut, scroll_start, widest, width, wrap};
use crate::panels::VIEWS;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use std::path::Path;

pub(crate) const MIN_SIZE: (u16, u16) = (44, 12);

pub(crate) fn too_small(painter: &mut Painter<'_, '_>, quitting: bool, area: Rect) {
    let (w, h) = MIN_SIZE;
    let quits = if quitting { "q again quits" } else { "q quits" };
    let lines = [
        format!("{}x{} is too small", area.width, area.height),
        format!("{w}x{h} is needed"),
        quits.to_owned(),
    ];
    let lines =
        if area.height == 1 { vec![format!("{w}x{h} needed, {quits}")] } else { lines.to_vec() };
    let top = area.height.saturating_sub(lines.len() as u16) / 2;
    for (y, line) in (top..).zip(&lines) {
        painter.put(area, area.width.saturating_sub(width(line)) / 2, y, line, painter.theme.text);
    }
}

pub(crate) fn draw(painter: &mut Painter<'_, '_>, app: &mut App, area: Rect) {
    if let Some(overlay) = app.overlay {
        let place = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
        painter.clear(place);
        app.draw_view(painter, VIEWS + overlay as usize, place);
    }
    if let Some(prompt) = &app.prompt {
        line(painter, app, prompt, area);
    }
    if app.help.is_some() {
        let mut tables = app.tables();
        let (panel, view) = (app.panel().title(), app.views[app.active].tab);
        tables.sort_by_key(|table| (table.title != panel, table.title != view));
        if let Some(help) = &mut app.help {
            draw_help(painter, help, &tables, area);
        }
    }
    if let Some((title, text, keys)) = app.confirmation.and_then(|asked| app.question(asked)) {
        let wide = width(&text).max(width(keys)) + 6;
        let within = boxed(painter, area, title, wide, 4);
        painter.put(within, 2, 0, &text, painter.theme.warn);
        painter.put(within, 2, 1, keys, painter.theme.dim);
    }
}

fn boxed(painter: &mut Painter<'_, '_>, area: Rect, title: &str, wide: u16, high: u16) -> Rect {
    let (wide, high) = (wide.min(area.width), high.min(area.height));
    let place = Rect {
        x: area.x + (area.width - wide) / 2,
        y: area.y + (area.height - high) / 2,
        width: wide,
        height: high,
    };
    painter.clear(place);
    painter.framed(place, title, painter.theme.accent)
}

fn line(painter: &mut Painter<'_, '_>, app: &App, prompt: &Prompt, area: Rect) {
    let theme = painter.theme;
    let wide = area.width.saturating_sub(4).min(76);
    let filter = prompt.purpose == Purpose::Filter;
    let high = match prompt.purpose {
        Purpose::Filter => 3,
        Purpose::Panel => 8,
        Purpose::SaveAs | Purpose::Render => 6,
        Purpose::Command => (area.height * 2 / 3).clamp(8, 20),
    };
    // At the bottom, the input of a filter does not hide the lines.
    let place = if filter {
        Rect { y: area.bottom().saturating_sub(high + 1), height: high.min(area.height), ..area }
    } else {
        area
    };
    let within = boxed(painter, place, &prompt.title, wide, high);
    let room = usize::from(within.width.saturating_sub(3));
    let scrolled = prompt.input.visual_scroll(room);
    let text = prompt.input.value();
    let mut skipped = 0;
    let shown: String = text
        .chars()
        .skip_while(|c| {
            let skip = skipped < scrolled;
            skipped += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
            skip
        })
        .collect();
    painter.put(within, 1, 0, &shown, theme.text);
    let at = 1 + prompt.input.visual_cursor().saturating_sub(scrolled) as u16;
    let cursor = Rect { x: within.x + at, width: 1, ..within };
    painter.shade(cursor, 0, Style::new().add_modifier(Modifier::REVERSED));
    if filter {
        return;
    }
    if prompt.purpose == Purpose::Command && prompt.error.is_none() {
        let list = Rect { y: within.y + 1, height: within.height.saturating_sub(1), ..within };
        return commands(painter, app, prompt, list);
    }
    let mut y = 1;
    let mut write = |painter: &mut Painter<'_, '_>, text: &str, style: Style| {
        painter.put(within, 1, y, text, style);
        y += 1;
    };
    let is_of_panel = prompt.purpose == Purpose::Panel;
    let known = is_of_panel.then(|| app.panel().explain(text, &app.session)).flatten();
    let columns = within.width.saturating_sub(2);
    if let Some(error) = &prompt.error {
        let span = error.place.span.clone();
        let before =
            text.get(..span.start.min(text.len())).map_or(0, width).saturating_sub(scrolled as u16);
        let long = text.get(span).map_or(1, width).max(1);
        let marks = " ".repeat(usize::from(before)) + &"^".repeat(usize::from(long));
        write(painter, &marks, theme.bad);
        for part in wrap(&error.message, columns).iter().take(2) {
            write(painter, part, theme.bad);
        }
        match (&error.help, known) {
            (Some(help), _) => write(painter, help, theme.warn),
            (None, Some([short, _])) => write(painter, &short, theme.dim),
            (None, None) => {}
        }
    } else if let Some([_, about]) = known {
        for part in wrap(&about, columns).iter().take(3) {
            write(painter, part, theme.dim);
        }
    } else if prompt.is_writing {
        write(painter, "writing ...", theme.dim);
    } else if matches!(prompt.purpose, Purpose::SaveAs | Purpose::Render) {
        let (texts, style) = match app.output_files(prompt.purpose, Path::new(text)) {
            Ok(files) => (files.into_iter().map(|file| file.preview).collect(), theme.dim),
            Err(why) => (vec![why], theme.warn),
        };
        for part in texts.iter().flat_map(|text| wrap(text, columns)) {
            write(painter, &part, style);
        }
    }
    let found = app.completions();
    if !found.is_empty() {
        let text = format!("Tab: {}", found.join("  "));
        painter.put(within, 1, within.height.saturating_sub(1), &text, theme.dim);
    }
}

fn commands(painter: &mut Painter<'_, '_>, app: &App, prompt: &Prompt, area: Rect) {
    let theme = painter.theme;
    let found = app.commands(prompt.input.value());
    if found.is_empty() {
        painter.put(area, 1, 0, "no matching command", theme.dim);
    }
    // A text that is too long for its line is at the bottom.
    let wide = area.width.saturating_sub(12);
    let text = |command: &super::prompt::Command| match command.title.is_empty() {
        true => command.row.help.to_owned(),
        false => format!("{}: {}", command.title, command.row.help),
    };
    let about = found.get(prompt.at).map(&text).filter(|text| width(text) > wide);
    let rows =
        about.as_ref().map_or(0, |text| wrap(text, area.width.saturating_sub(2)).len() as u16);
    let foot = Rect { y: area.bottom().saturating_sub(rows), height: rows, ..area };
    painter.paragraph(foot, &about.unwrap_or_default(), theme.dim);
    let area = Rect { height: area.height.saturating_sub(rows), ..area };
    let first = scroll_start(prompt.at, found.len(), usize::from(area.height));
    for (y, (index, command)) in (0..area.height).zip(found.iter().enumerate().skip(first)) {
        let style = if index == prompt.at { theme.cursor } else { theme.text };
        if index == prompt.at {
            painter.shade(area, y, style);
        }
        let key_style = if index == prompt.at { style } else { theme.warn };
        painter.put_right(area, 9, y, &command.row.keys()[0].name(), key_style);
        painter.put(area, 11, y, &cut(&text(command), wide), style);
    }
    painter.scrollbar(area, first, found.len());
}

fn draw_help(painter: &mut Painter<'_, '_>, help: &mut Help, tables: &[KeyTable], area: Rect) {
    let theme = painter.theme;
    let names =
        |row: &KeyRow| row.keys().iter().map(|key| key.name()).collect::<Vec<_>>().join(" ");
    let keys = widest(tables.iter().flat_map(|table| &table.rows).map(names));
    // The keys and the text of each line. A heading has no keys, and a continuation line empty
    // ones.
    let mut lines: Vec<(Option<String>, String)> = Vec::new();
    for table in tables {
        if !lines.is_empty() {
            lines.push(Default::default());
        }
        lines.push((None, table.title.to_owned()));
        for row in &table.rows {
            let texts = wrap(row.help, area.width.saturating_sub(keys + 8));
            let keys = std::iter::once(names(row)).chain(std::iter::repeat(String::new()));
            lines.extend(keys.map(Some).zip(texts));
        }
    }
    let texts = widest(lines.iter().map(|(_, text)| text));
    let high = (lines.len() as u16 + 2).min(area.height.saturating_sub(2));
    let within =
        boxed(painter, area, "Keys: arrows scroll, any other key closes", keys + texts + 8, high);
    help.page = usize::from(within.height);
    help.scrolled = help.scrolled.min(lines.len().saturating_sub(help.page));
    for (y, (keys_text, text)) in (0..within.height).zip(lines.iter().skip(help.scrolled)) {
        if let Some(keys_text) = keys_text {
            painter.put_right(within, 1 + keys, y, keys_text, theme.warn);
            painter.put(within, 3 + keys, y, text, theme.text);
        } else {
            painter.put(within, 1, y, text, theme.accent);
        }
    }
    painter.scrollbar(within, help.scrolled, lines.len());
}
