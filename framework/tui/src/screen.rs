//! The layout of the screen.

use crate::app::{App, overlay};
use crate::click_map::{ClickMap, ClickTarget};
use crate::keys::{ch, numbered};
use crate::paint::{Painter, clock, cut, width};
use crate::panels::VIEWS;
use crate::theme;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;

/// The smallest screen on which two views are next to each other.
const SPLIT_SIZE: (u16, u16) = (100, 30);

/// The columns for the progress of a run, which precedes the number of unread lines of the log.
const BADGE_ROOM: u16 = 20;

pub fn draw(frame: &mut Frame<'_>, app: &mut App) -> ClickMap {
    let mut clicks = ClickMap::default();
    let area = frame.area();
    let mut painter = Painter::new(frame, &mut clicks, app.appearance.theme);
    if area.width < overlay::MIN_SIZE.0 || area.height < overlay::MIN_SIZE.1 {
        overlay::too_small(&mut painter, app.confirmation.is_some(), area);
    } else {
        let rows =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
                .split(area);
        let progress = tabs(&mut painter, app, rows[0]);
        views(&mut painter, app, rows[1]);
        bottom(&mut painter, app, progress, rows[2]);
        // `F` writes the view as it is drawn here, without overlays.
        app.keep_screen(&painter, rows[1]);
        overlay::draw(&mut painter, app, area);
    }
    if app.appearance.ascii {
        for cell in &mut frame.buffer_mut().content {
            if let Some(plain) = theme::ascii(cell.symbol()) {
                cell.set_symbol(plain);
            }
        }
    }
    clicks
}

/// Draws the tabs and the longest text about the progress that fits. If none fits, returns the
/// shortest one for the bottom line.
fn tabs(painter: &mut Painter<'_, '_>, app: &App, area: Rect) -> Option<(String, Style)> {
    let theme = painter.theme;
    // If the words are too wide, all are cut to the same length.
    let views = &app.views[..VIEWS];
    let words: u16 = views.iter().map(|view| width(view.tab) + 4).sum();
    let most = if words <= area.width { u16::MAX } else { area.width / VIEWS as u16 - 4 };
    let mut x = 0;
    for (number, view) in views.iter().enumerate() {
        let style = if number == app.active { theme.cursor } else { theme.text };
        let name = numbered(number, &cut(view.tab, most));
        let from = x;
        x = painter.put(area, x, 0, &format!(" {name} "), style);
        painter.add_click_target(area, from, 0, x - from, ClickTarget::Tab(number));
    }
    let unread = app.session.log.unread();
    let badge = format!("  L {unread} new");
    if unread > 0 && x + width(&badge) + BADGE_ROOM <= area.width {
        x = painter.put(area, x, 0, &badge, theme.dim);
    }
    let style = if app.session.queue.tally().failed > 0 { theme.bad } else { theme.accent };
    let room = area.width.saturating_sub(x + 2);
    let texts = progress(app);
    match texts.iter().find(|text| width(text) <= room) {
        Some(text) => {
            painter.put_right(area, area.width - 1, 0, text, style);
            None
        }
        None => texts.into_iter().last().map(|text| (text, style)),
    }
}

/// Returns texts about the progress, the longest first.
fn progress(app: &App) -> Vec<String> {
    let tally = app.session.queue.tally();
    if app.session.runs.frozen {
        return vec!["frozen".to_owned()];
    }
    if tally.cases == 0 {
        return vec!["swapmeet".to_owned()];
    }
    let failed = if tally.failed > 0 { format!(" {} failed", tally.failed) } else { String::new() };
    let left = app
        .session
        .queue
        .left(app.session.now)
        .map(|left| format!(" {} left", clock(left)))
        .unwrap_or_default();
    let count = format!("{}/{}", tally.rows(), tally.cases);
    vec![format!("{count} cases{failed}{left}"), format!("{count}{failed}"), count]
}

fn views(painter: &mut Painter<'_, '_>, app: &mut App, area: Rect) {
    let roomy = area.width >= SPLIT_SIZE.0 && area.height + 2 >= SPLIT_SIZE.1;
    if app.expanded || !roomy {
        return app.draw_view(painter, app.active, area);
    }
    let (left, right) = (app.active.min(app.companion), app.active.max(app.companion));
    let halves = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).split(area);
    app.draw_view(painter, left, halves[0]);
    app.draw_view(painter, right, halves[1]);
}

/// Draws one view or overlay, given by its number, into an area.
pub fn draw_panel(frame: &mut Frame<'_>, app: &mut App, number: usize, area: Rect) {
    let mut clicks = ClickMap::default();
    let mut painter = Painter::new(frame, &mut clicks, app.appearance.theme);
    app.draw_view(&mut painter, number, area);
}

/// Draws the message, key hints, and the progress if it has no room next to the tabs.
fn bottom(painter: &mut Painter<'_, '_>, app: &App, progress: Option<(String, Style)>, area: Rect) {
    let theme = painter.theme;
    let mut area = area;
    let session = &app.session;
    let is_shown = session.queue.is_busy() || session.runs.frozen;
    if let Some((text, style)) = progress.filter(|_| is_shown) {
        painter.put_right(area, area.width - 1, 0, &text, style);
        area.width = area.width.saturating_sub(width(&text) + 2);
    }
    let mut x = 1;
    if let Some(message) = &session.message {
        let style = if message.is_bad { theme.bad } else { theme.good };
        x = painter.put(area, x, 0, &message.text, style) + 3;
    }
    // If not all hints fit, the last two are an ellipsis and the key for help.
    let mut hints = app.hints();
    let wide = |(keys, word, _): &(String, &str, _)| {
        width(keys) + if word.is_empty() { 2 } else { width(word) + 3 }
    };
    let needed = |hints: &[_]| hints.iter().map(wide).sum::<u16>().saturating_sub(2);
    let ellipsis = ("…".to_owned(), "", ch('?'));
    if x + needed(&hints) > area.width {
        let help = hints.iter().position(|(_, word, _)| *word == "help");
        let help = help.map(|at| hints.remove(at));
        let last = wide(&ellipsis) + help.as_ref().map_or(0, wide);
        while !hints.is_empty() && x + needed(&hints) + last > area.width {
            hints.pop();
        }
        hints.extend([ellipsis].into_iter().chain(help));
    }
    for (keys, word, key) in hints {
        let from = x;
        x = painter.put(area, x, 0, &keys, theme.accent);
        if !word.is_empty() {
            x = painter.put(area, x + 1, 0, word, theme.dim);
        }
        painter.add_click_target(area, from, 0, x - from, ClickTarget::Key(key));
        x += 2;
    }
}
