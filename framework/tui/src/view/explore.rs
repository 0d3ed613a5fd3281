//! The pickers: five lists, one of them open.

use super::Target;
use super::paint::{Painter, cut, cut_middle, first_shown, width, wrap};
use crate::app::{App, many};
use crate::model::picks::{Item, Section};
use crate::ui::Panel;
use ratatui::layout::Rect;

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let filter = app.filter(Panel::Explore);
    let filtered = if filter.is_empty() { String::new() } else { format!(" /{filter}") };
    let count = usize::try_from(app.picks.count()).unwrap_or(usize::MAX);
    let title = format!("Explore: {} picked{filtered}", many(count, "case"));
    let area = painter.panel(area, Panel::Explore, &title);
    let theme = painter.theme;
    let sections = Section::ALL.len() as u16;
    let about_lines = wrap(&about_item(app), area.width.saturating_sub(2));
    // Lines at the foot that explain the line under the cursor: lists are worth more than a long text is.
    let about = match area.height.saturating_sub(sections + 1) {
        0..7 => 0,
        7..16 => 3,
        _ => 5,
    };
    let open_lines = area.height.saturating_sub(sections + about + u16::from(about > 0));
    let mut y = 0;
    for section in Section::ALL {
        let open = section == app.section();
        heading(painter, app, section, open, area, y);
        y += 1;
        if open {
            let list = Rect {
                x: area.x,
                y: area.y + y,
                width: area.width,
                height: open_lines.min(area.height.saturating_sub(y)),
            };
            y += items(painter, app, section, list);
        }
    }
    if about > 0 {
        let foot = Rect { y: area.y + area.height - about, height: about, ..area };
        for (y, line) in (0..about).zip(&about_lines) {
            let cut_off = y + 1 == about && about_lines.len() > usize::from(about);
            let text = if cut_off { cut(&format!("{line} …"), area.width.saturating_sub(2)) } else { line.clone() };
            painter.put(foot, 1, y, &text, theme.dim);
        }
    }
}

/// A list's name, and, while it is closed, what is picked of it.
fn heading(painter: &mut Painter<'_, '_>, app: &App, section: Section, open: bool, area: Rect, y: u16) {
    let theme = painter.theme;
    let style = if open && painter.has_keys(Panel::Explore) { theme.accent } else { theme.text };
    painter.put(area, 0, y, if open { "▾" } else { "▸" }, style);
    let x = painter.put(area, 2, y, section.title(), style);
    painter.hit(area, 0, y, area.width, Target::Section(section as usize));
    let picked: Vec<&str> = app.picks.picks(section).iter().filter(|p| p.on).map(|p| p.spec.as_str()).collect();
    let text = match (section, open) {
        (Section::Settings, false) => {
            let set = |item: &Item<'_>| match item {
                Item::Setting(setting) => Some((setting.name(), app.picks.setting(*setting))),
                _ => None,
            };
            let settings = app.picks.items(section, "");
            let texts = settings.iter().filter_map(set).filter(|(_, value)| !value.is_empty());
            texts.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        (Section::Settings, true) => String::new(),
        (_, true) => format!("{} picked", picked.len()),
        (_, false) if picked.is_empty() => "none picked".to_owned(),
        (_, false) => picked.join(" "),
    };
    let missing = picked.is_empty() && section != Section::Settings;
    painter.put(area, x.max(14) + 1, y, &text, if missing { theme.warn } else { theme.dim });
}

/// The lines of the open list; returns how many were drawn.
fn items(painter: &mut Painter<'_, '_>, app: &App, section: Section, area: Rect) -> u16 {
    let theme = painter.theme;
    let items = app.items(section);
    let cursor = app.ui.items[section as usize];
    let height = usize::from(area.height);
    let first = first_shown(cursor, items.len(), height);
    let bar = u16::from(items.len() > height);
    let text_area = Rect { width: area.width.saturating_sub(bar), ..area };
    let names = items.iter().map(|item| width(&name(item))).max().unwrap_or(0).min(area.width * 3 / 5);
    for (y, (index, item)) in (0..).zip(items.iter().enumerate().skip(first).take(height)) {
        let here = index == cursor;
        let (mark, style) = match item {
            Item::Pick(_, pick) if pick.on => ("[x]", theme.text),
            Item::Pick(..) => ("[ ]", theme.dim),
            Item::Offer(offer) if offer.ready => ("[ ]", theme.text),
            Item::Offer(_) => (" + ", theme.text),
            Item::Setting(_) => ("", theme.text),
        };
        let style = if here { painter.cursor(Panel::Explore) } else { style };
        if here {
            painter.shade(area, y, style);
        }
        painter.put(area, 2, y, mark, style);
        painter.put(area, 6, y, &cut_middle(&name(item), names), style);
        let (text, about) = match item {
            Item::Setting(setting) => (app.picks.setting(*setting), style),
            _ => (about_short(item, app, section), if here { style } else { theme.dim }),
        };
        painter.put(text_area, 6 + names.max(12) + 2, y, &text, about);
        painter.hit(area, 0, y, area.width, Target::Item(section as usize, index));
    }
    if items.is_empty() {
        painter.put(area, 6, 0, "nothing here has these words", theme.dim);
    }
    painter.scrollbar(area, first, items.len());
    (items.len().max(1) as u16).min(area.height)
}

fn name(item: &Item<'_>) -> String {
    match item {
        Item::Pick(_, pick) => pick.spec.clone(),
        Item::Offer(offer) => offer.shown.clone(),
        Item::Setting(setting) => setting.name().to_owned(),
    }
}

fn about_spec(app: &App, section: Section, spec: &str) -> String {
    app.picks.offer_of(section, spec).map(|offer| offer.about.clone()).unwrap_or_default()
}

/// What a line is, until the first semicolon.
fn about_short(item: &Item<'_>, app: &App, section: Section) -> String {
    let long = match item {
        Item::Pick(_, pick) => about_spec(app, section, &pick.spec),
        Item::Offer(offer) => offer.about.clone(),
        Item::Setting(setting) => setting.about().to_owned(),
    };
    long.split(';').next().unwrap_or("").to_owned()
}

/// What the line under the cursor is.
fn about_item(app: &App) -> String {
    match app.item() {
        Some(Item::Pick(_, pick)) => about_spec(app, app.section(), &pick.spec),
        Some(Item::Offer(offer)) if !offer.ready => format!("{}; Enter types one", offer.about),
        Some(Item::Offer(offer)) => offer.about.clone(),
        Some(Item::Setting(setting)) => setting.about().to_owned(),
        None => String::new(),
    }
}
