//! What lies over the panels: the line being typed, the keys, a question; and what is left of a screen too small for all that.

use super::paint::{Painter, width, wrap};
use super::{LEAST, Target};
use crate::app::{App, many};
use crate::keys::{Action, BINDINGS, Scope};
use crate::typed::{Purpose, Typing};
use crate::ui::Question;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// A screen that shows nothing but why.
pub(super) fn too_small(painter: &mut Painter<'_, '_>, area: Rect) {
    let (w, h) = LEAST;
    let lines =
        [format!("{}x{} is too small", area.width, area.height), format!("{w}x{h} is needed"), "q quits".to_owned()];
    // On a single line there is room for one thing only: what is needed.
    let lines = if area.height == 1 { vec![format!("{w}x{h} needed, q quits")] } else { lines.to_vec() };
    let top = area.height.saturating_sub(lines.len() as u16) / 2;
    for (y, line) in (top..).zip(&lines) {
        painter.put(area, area.width.saturating_sub(width(line)) / 2, y, line, painter.theme.text);
    }
}

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    if let Some(typing) = &app.ui.typing {
        line(painter, app, typing, area);
    }
    if let Some(scrolled) = app.ui.help {
        help(painter, scrolled, area);
    }
    if let Some(question) = app.ui.asked {
        let tally = app.queue.tally();
        let unrun = many(tally.waiting + tally.running, "case");
        let rows = many(tally.ok + tally.unsupported + tally.failed, "row");
        let (title, text, keys) = match question {
            Question::Quit => ("Quit", format!("{unrun} still to run. Leave them?"), "y or q: leave   n or Esc: stay"),
            Question::QuitLeaving => (
                "Quit",
                format!("{unrun} still to run. Leave them, and show {rows}?"),
                "y or Q: leave   n or Esc: stay",
            ),
            Question::Run if app.queue.is_busy() => {
                ("Run", format!("{unrun} still to run. Give them up and begin anew?"), "y or R: anew   n or Esc: go on")
            }
            Question::Run => (
                "Run",
                format!("{rows} on screen, in no file. Run without them?"),
                "y: run   n or Esc: keep them (a adds, S saves)",
            ),
        };
        let wide = width(&text).max(width(keys)) + 6;
        let within = boxed(painter, area, title, wide, 4);
        painter.put(within, 2, 0, &text, painter.theme.warn);
        painter.put(within, 2, 1, keys, painter.theme.dim);
    }
}

/// A box in the middle; returns what is within.
fn boxed(painter: &mut Painter<'_, '_>, area: Rect, title: &str, wide: u16, high: u16) -> Rect {
    let (wide, high) = (wide.min(area.width), high.min(area.height));
    let place =
        Rect { x: area.x + (area.width - wide) / 2, y: area.y + (area.height - high) / 2, width: wide, height: high };
    painter.clear(place);
    painter.framed(place, title, painter.theme.accent)
}

/// The line being typed; under it what is wrong with it, at its place, and what would complete it.
fn line(painter: &mut Painter<'_, '_>, app: &App, typing: &Typing, area: Rect) {
    let theme = painter.theme;
    let wide = area.width.saturating_sub(4).min(76);
    let filter = matches!(typing.purpose, Purpose::Filter(_));
    let high = match typing.purpose {
        Purpose::Filter(_) => 3,
        Purpose::Spec(..) => 8,
        Purpose::Setting(_) | Purpose::SaveAs(_) => 6,
    };
    // A filter shows what it leaves while it is typed.
    let place = if filter {
        Rect { y: area.bottom().saturating_sub(high + 1), height: high.min(area.height), ..area }
    } else {
        area
    };
    let within = boxed(painter, place, &typing.title(), wide, high);
    let room = usize::from(within.width.saturating_sub(3));
    let scrolled = typing.input.visual_scroll(room);
    let text = typing.input.value();
    // Scrolling is in columns, of which a wide letter has two.
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
    let at = 1 + typing.input.visual_cursor().saturating_sub(scrolled) as u16;
    painter.shade_cell(within, at, 0, Style::new().add_modifier(Modifier::REVERSED));
    if filter {
        return;
    }
    let mut y = 1;
    if let Some(error) = &typing.error {
        let span = error.place.span.clone();
        let before = text.get(..span.start.min(text.len())).map_or(0, width).saturating_sub(scrolled as u16);
        let long = text.get(span).map_or(1, width).max(1);
        painter.put(within, 1 + before, y, &"^".repeat(usize::from(long)), theme.bad);
        y += 1;
        for part in wrap(&error.message, within.width.saturating_sub(2)).iter().take(2) {
            painter.put(within, 1, y, part, theme.bad);
            y += 1;
        }
        if let Some(help) = &error.help {
            painter.put(within, 1, y, help, theme.warn);
        } else if let Purpose::Spec(section, _) = typing.purpose
            && let Some(offer) = app.picks.offer_of(section, text)
        {
            painter.put(within, 1, y, &offer.shown, theme.dim);
        }
    } else if let Purpose::Spec(section, _) = typing.purpose {
        let about = app.picks.offer_of(section, text).map(|offer| format!("{}  {}", offer.shown, offer.about));
        for part in wrap(&about.unwrap_or_default(), within.width.saturating_sub(2)).iter().take(3) {
            painter.put(within, 1, y, part, theme.dim);
            y += 1;
        }
    }
    if matches!(typing.purpose, Purpose::SaveAs(_)) && typing.error.is_none() {
        let rows = app.queue.records().len();
        let count = usize::try_from(app.picks.count()).unwrap_or(usize::MAX);
        let beside = crate::save::rows_beside(std::path::Path::new(text));
        let lines = [
            format!("{} picked: `swapmeet run` takes the file", many(count, "case")),
            format!("{} on screen go beside it, to {}", many(rows, "row"), beside.display()),
        ];
        for line in lines {
            painter.put(within, 1, y, &line, theme.dim);
            y += 1;
        }
    }
    let found = app.completions();
    if !found.is_empty() {
        let text = format!("Tab: {}", found.join("  "));
        painter.put(within, 1, within.height.saturating_sub(1), &text, theme.dim);
    }
}

/// The lines of help: a heading a place, then its keys.
fn help_lines() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for scope in Scope::ALL {
        if !lines.is_empty() {
            lines.push(Default::default());
        }
        lines.push((String::new(), scope.title().to_owned()));
        for binding in BINDINGS.iter().filter(|b| b.scope == scope) {
            lines.push((binding.keys_text(), binding.help.to_owned()));
        }
    }
    lines
}

/// The keys.
fn help(painter: &mut Painter<'_, '_>, scrolled: usize, area: Rect) {
    let theme = painter.theme;
    let lines = help_lines();
    let keys = lines.iter().map(|(keys, _)| width(keys)).max().unwrap_or(0);
    let texts = lines.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
    let high = (lines.len() as u16 + 2).min(area.height.saturating_sub(2));
    let within = boxed(painter, area, "Keys: arrows scroll, any other key closes", keys + texts + 8, high);
    painter.hits.page = usize::from(within.height);
    let first = scrolled.min(lines.len().saturating_sub(usize::from(within.height)));
    for (y, (keys_text, text)) in (0..within.height).zip(lines.iter().skip(first)) {
        if keys_text.is_empty() {
            painter.put(within, 1, y, text, theme.accent);
        } else {
            painter.put_right(within, 1 + keys, y, keys_text, theme.warn);
            painter.put(within, 3 + keys, y, text, theme.text);
        }
    }
    painter.scrollbar(within, first, lines.len());
    let close = Target::Hint(Action::Back);
    for y in 0..within.height {
        painter.hit(within, 0, y, within.width, close);
    }
}
