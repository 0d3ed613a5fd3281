//! Screen layout: tabs, panels, the bottom line and overlays.

use crate::app::{App, overlay};
use crate::click_map::{ClickMap, ClickTarget, PanelPosition};
use crate::keys::{digit, numbered};
use crate::paint::{Painter, clock, width};
use crate::panels;
use crate::theme;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;

const MULTI_PANEL_SIZE: (u16, u16) = (110, 34);

/// The number of columns that must remain for the progress of a run. If the badge of the log, which
/// shows the number of unread lines, would leave fewer columns, it is not drawn.
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
        panels(&mut painter, app, rows[1]);
        bottom(&mut painter, app, progress, rows[2]);
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

/// Draws the tabs and, at the right, the progress of the run. The progress has texts of several
/// lengths; the longest text that fits is used. If none fits, returns the shortest text with its
/// style, which is then drawn in the bottom line.
fn tabs(painter: &mut Painter<'_, '_>, app: &App, area: Rect) -> Option<(String, Style)> {
    let theme = painter.theme;
    let words: u16 = app.panels.iter().map(|panel| width(panel.tab()) + 3).sum();
    // The badge of the log is the number of its unread lines.
    let unread = app.session.log.unread();
    let badge = if unread > 0 { format!(" ({unread})") } else { String::new() };
    let has_badge = words + width(&badge) + BADGE_ROOM <= area.width;
    let mut x = 0;
    for (number, panel) in app.panels.iter().enumerate() {
        let here = number == app.active;
        let short = digit(number).map_or("·".to_owned(), String::from);
        let mut name =
            if words <= area.width || here { numbered(number, panel.tab()) } else { short };
        if number == panels::LOG && has_badge {
            name += &badge;
        }
        let from = x;
        x = painter.put(
            area,
            x,
            0,
            &format!(" {name}"),
            if here { theme.cursor } else { theme.text },
        );
        painter.add_click_target(
            area,
            from,
            0,
            x - from,
            ClickTarget::Panel(number, PanelPosition::Anywhere),
        );
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

/// Returns several texts about the progress of the run. The longest text is first.
fn progress(app: &App) -> Vec<String> {
    let tally = app.session.queue.tally();
    if app.session.runs.frozen {
        return vec![
            format!("frozen, {} events pending", app.session.runs.held_back()),
            "frozen".to_owned(),
        ];
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

/// Draws several panels if there is enough space. Otherwise, draws only the active panel.
fn panels(painter: &mut Painter<'_, '_>, app: &mut App, area: Rect) {
    let roomy = area.width >= MULTI_PANEL_SIZE.0 && area.height + 2 >= MULTI_PANEL_SIZE.1;
    if app.expanded || !roomy {
        return panel(painter, app, app.active, area);
    }
    let left = (area.width * 2 / 5).min(64);
    let columns = Layout::horizontal([Constraint::Length(left), Constraint::Fill(1)]).split(area);
    for (numbers, area) in [([0, 1], columns[0]), ([2, app.companion], columns[1])] {
        let wanted = numbers.map(|number| app.panels[number].wanted_rows(&app.session));
        for (number, area) in numbers.into_iter().zip(stacked(wanted, area)) {
            panel(painter, app, number, area);
        }
    }
}

/// Divides an area between two panels, given the number of rows that they want inside their
/// borders. A panel that needs less than half of the area gets only the rows that it needs, and the
/// other panel gets the remaining rows. If both panels need less, the second panel gets the
/// remaining rows. If no panel needs less, each gets half.
fn stacked(wanted: [usize; 2], area: Rect) -> [Rect; 2] {
    const LEAST: u16 = 8;
    let half = area.height / 2;
    let [needed, other] = wanted
        .map(|rows| u16::try_from(rows.saturating_add(2)).unwrap_or(u16::MAX).clamp(LEAST, half));
    let first = if needed < half { needed } else { area.height - other };
    [
        Rect { height: first, ..area },
        Rect { y: area.y + first, height: area.height - first, ..area },
    ]
}

pub fn draw_panel(frame: &mut Frame<'_>, app: &mut App, panel: usize, area: Rect) {
    let mut clicks = ClickMap::default();
    let mut painter = Painter::new(frame, &mut clicks, app.appearance.theme);
    self::panel(&mut painter, app, panel, area);
}

fn panel(painter: &mut Painter<'_, '_>, app: &mut App, panel: usize, area: Rect) {
    painter.begin(panel, panel == app.active, area);
    app.panels[panel].draw(painter, &app.session, area);
    painter.end();
    app.panels[panel].list_mut().page = usize::from(area.height.saturating_sub(2));
}

/// Draws the current message and, in the remaining width, the key hints. If the progress of a run
/// or the word `frozen` has no room next to the tabs, it is drawn at the right end of the bottom
/// line.
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
    for (keys, word, key) in app.hints() {
        let wanted = width(&keys) + width(word) + 1;
        if x + wanted > area.width {
            break;
        }
        let from = x;
        x = painter.put(area, x, 0, &keys, theme.accent);
        x = painter.put(area, x + 1, 0, word, theme.dim);
        painter.add_click_target(area, from, 0, x - from, ClickTarget::Key(key));
        x += 2;
    }
}
