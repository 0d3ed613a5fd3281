//! The screen: a pure function of the session. What can be clicked is returned, so that the mouse needs no memory of the layout.

mod cases;
mod comparison;
mod curves;
pub(crate) mod details;
mod explore;
mod log;
mod network;
mod overlay;
mod paint;
mod parts;

use crate::app::App;
use crate::keys::{Action, hints};
use crate::model::comparison::Column;
use crate::ui::Panel;
use paint::Painter;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use std::time::Duration;

/// The smallest screen that shows anything.
pub const LEAST: (u16, u16) = (44, 12);
/// From this size on, panels share the screen.
pub const ROOMY: (u16, u16) = (110, 34);

/// What a click hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Somewhere in a panel, or its tab.
    Panel(Panel),
    /// A line of a panel.
    Row(Panel, usize),
    /// The heading of a list of the pickers.
    Section(usize),
    /// A line of a list of the pickers.
    Item(usize, usize),
    /// A heading of the comparison.
    Header(Column),
    /// A step of the schedule.
    Step(usize),
    /// A key's word at the bottom.
    Hint(Action),
}

/// What was drawn where.
#[derive(Debug, Default)]
pub struct Hits {
    spots: Vec<(Rect, Target)>,
    /// Lines of the panel that has the keys.
    pub page: usize,
    /// How many columns of the comparison can be skipped before the last is in sight.
    pub across: usize,
    /// How far the panel that has the keys can be scrolled, if it is one that scrolls: then its last page is full.
    pub farthest: Option<usize>,
}

impl Hits {
    /// What is at a place, the last thing drawn first.
    pub fn at(&self, x: u16, y: u16) -> Option<Target> {
        let here = |area: &Rect| area.contains((x, y).into());
        self.spots.iter().rev().find(|(area, _)| here(area)).map(|(_, target)| *target)
    }

    fn add(&mut self, area: Rect, target: Target) {
        self.spots.push((area, target));
    }
}

/// Draws the session.
pub fn draw(frame: &mut Frame<'_>, app: &App) -> Hits {
    let mut hits = Hits::default();
    let area = frame.area();
    let mut painter = Painter::new(frame, &mut hits, app);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        overlay::too_small(&mut painter, area);
    } else {
        let rows = Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).split(area);
        tabs(&mut painter, app, rows[0]);
        panels(&mut painter, app, rows[1]);
        bottom(&mut painter, app, rows[2]);
        overlay::draw(&mut painter, app, area);
    }
    if app.ui.ascii {
        for cell in &mut frame.buffer_mut().content {
            if let Some(plain) = crate::theme::ascii(cell.symbol()) {
                cell.set_symbol(plain);
            }
        }
    }
    hits
}

/// Tabs on the left, how far the run is on the right, in as many words as there is room for.
fn tabs(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let theme = painter.theme;
    let words: u16 = Panel::ALL.iter().map(|p| paint::width(p.tab()) + 3).sum();
    let mut x = 0;
    for panel in Panel::ALL {
        let here = panel == app.ui.panel;
        let name = if words <= area.width || here { format!(" {}", panel.tab()) } else { String::new() };
        let from = x;
        x = painter.put(
            area,
            x,
            0,
            &format!(" {}{name}", panel.number()),
            if here { theme.cursor } else { theme.text },
        );
        painter.hit(area, from, 0, x - from, Target::Panel(panel));
    }
    let style = if app.queue.tally().failed > 0 { theme.bad } else { theme.accent };
    let room = area.width.saturating_sub(x + 2);
    if let Some(text) = progress(app).iter().find(|text| paint::width(text) <= room) {
        painter.put_right(area, area.width - 1, 0, text, style);
    }
}

/// How far the run is, in fewer and fewer words.
fn progress(app: &App) -> Vec<String> {
    let tally = app.queue.tally();
    if app.ui.frozen {
        return vec![format!("held still, {} behind", app.held_back.len()), "held".to_owned()];
    }
    if tally.cases == 0 {
        return vec!["swapmeet".to_owned()];
    }
    let failed = if tally.failed > 0 { format!(" {} failed", tally.failed) } else { String::new() };
    let left = app.queue.left(app.now).map(|left| format!(" {} left", clock(left))).unwrap_or_default();
    let count = format!("{}/{}", tally.ok + tally.unsupported + tally.failed, tally.cases);
    vec![format!("{count} cases{failed}{left}"), format!("{count}{failed}"), count]
}

/// A duration as a clock has it.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{:.1} s", time.as_secs_f64()),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        _ => format!("{}:{:02} h", seconds / 3600, seconds / 60 % 60),
    }
}

/// All panels that have room; one, if it is to have all of it.
fn panels(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let roomy = area.width >= ROOMY.0 && area.height + 2 >= ROOMY.1;
    if app.ui.expanded || !roomy {
        return panel(painter, app, app.ui.panel, area);
    }
    let left = (area.width * 2 / 5).min(64);
    let columns = Layout::horizontal([Constraint::Length(left), Constraint::Fill(1)]).split(area);
    let halves = |area: Rect| Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).split(area);
    let (left, right) = (halves(columns[0]), halves(columns[1]));
    panel(painter, app, Panel::Explore, left[0]);
    panel(painter, app, Panel::Cases, left[1]);
    panel(painter, app, Panel::Comparison, right[0]);
    panel(painter, app, app.ui.companion, right[1]);
}

fn panel(painter: &mut Painter<'_, '_>, app: &App, panel: Panel, area: Rect) {
    painter.hits.add(area, Target::Panel(panel));
    match panel {
        Panel::Explore => explore::draw(painter, app, area),
        Panel::Cases => cases::draw(painter, app, area),
        Panel::Comparison => comparison::draw(painter, app, area),
        Panel::Curves => curves::draw(painter, app, area),
        Panel::Parts => parts::draw(painter, app, area),
        Panel::Network => network::draw(painter, app, area),
        Panel::Details => details::draw(painter, app, area),
        Panel::Log => log::draw(painter, app, area),
    }
}

/// The last thing to be told, or the keys of the place.
fn bottom(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let theme = painter.theme;
    if let Some((text, bad)) = &app.ui.message {
        painter.put(area, 1, 0, text, if *bad { theme.bad } else { theme.good });
        return;
    }
    let mut x = 1;
    for (key, binding) in hints(app.scope()) {
        let word = binding.hint;
        // What there is only one of, nobody needs a key for.
        let idle = match (app.ui.panel, binding.action) {
            (Panel::Network, Action::NextGroup | Action::Turn) => app.planes() < 2,
            (Panel::Curves, Action::NextGroup) => app.families.len() < 2,
            (Panel::Curves, Action::Down) => painter.hits.farthest.is_none_or(|farthest| farthest == 0),
            (Panel::Comparison, Action::Right) => painter.hits.across == 0,
            (Panel::Parts, Action::NextGroup) => app.compared.groups.len() < 2,
            _ => false,
        };
        if idle {
            continue;
        }
        let wanted = paint::width(&key) + paint::width(word) + 1;
        if x + wanted > area.width {
            break;
        }
        let from = x;
        x = painter.put(area, x, 0, &key, theme.accent);
        x = painter.put(area, x + 1, 0, word, theme.dim);
        painter.hit(area, from, 0, x - from, Target::Hint(binding.action));
        x += 2;
    }
}
