//! Draws the headings of all lists, and the lines of the open list.

use super::{Explore, about_spec};
use crate::click_map::PanelPosition;
use crate::paint::{Painter, cut_middle, widest};
use crate::panel::Panel;
use crate::session::Session;
use crate::session::selection::{ListItem, Section};
use ratatui::layout::Rect;

impl Explore {
    /// Draws the lines of the open list. Returns the number of screen rows that this takes.
    pub(super) fn draw_items(
        &self,
        painter: &mut Painter<'_, '_>,
        session: &Session,
        area: Rect,
    ) -> u16 {
        let theme = painter.theme;
        let (section, items) = (self.section(), self.items(session));
        // The column of names is as wide as the longest visible name, but takes at most three
        // fifths of the area, so that the descriptions have space. A longer name is written over
        // the start of its description. The last screen column is reserved for the scroll bar.
        let cursor = self.list().cursor;
        let height = usize::from(area.height);
        let first = self.list().first_line(items.len(), height);
        let bar = u16::from(items.len() > height);
        let text_area = Rect { width: area.width.saturating_sub(bar), ..area };
        let shown = || items.iter().enumerate().skip(first).take(height);
        let names = widest(shown().map(|(_, item)| name(item))).min(area.width * 3 / 5);
        for (y, (index, item)) in (0..).zip(shown()) {
            let here = index == cursor;
            // The mark shows what Enter does: select or deselect a spec, add a suggestion, or open
            // an experiment file.
            let (mark, style) = match item {
                ListItem::Choice(_, choice) if choice.on => ("[x]", theme.text),
                ListItem::Choice(..) => ("[ ]", theme.dim),
                ListItem::Suggestion(suggestion) if suggestion.ready => ("[ ]", theme.text),
                ListItem::Suggestion(_) => (" + ", theme.text),
                ListItem::Setting(_) => ("", theme.text),
                ListItem::Study(_) => (" ▸ ", theme.text),
            };
            let style = painter.list_line(area, y, index, here, style);
            painter.put(area, 2, y, mark, style);
            let room = text_area.width.saturating_sub(7);
            let end = painter.put(area, 6, y, &cut_middle(&name(item), room), style);
            // A setting shows its value; all other lines show their descriptions.
            let (text, about) = match item {
                ListItem::Setting(setting) => (session.selection.setting(setting), style),
                ListItem::Choice(..) | ListItem::Suggestion(_) | ListItem::Study(_) => {
                    (about_short(item, session, section), if here { style } else { theme.dim })
                }
            };
            painter.put(text_area, end.max(6 + names.max(12)) + 2, y, &text, about);
        }
        // An empty list is drawn as one line, so that the cursor has a position in it.
        if items.is_empty() {
            painter.put(area, 6, 0, "no line matches the filter", theme.dim);
        }
        painter.scrollbar(area, first, items.len());
        (items.len().max(1) as u16).min(area.height)
    }
}

/// Draws the heading of a list. The heading of a closed list also shows the selected entries.
pub(super) fn heading(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    section: Section,
    open: bool,
    area: Rect,
    y: u16,
) {
    // A click on the heading opens or closes the list.
    let theme = painter.theme;
    let style = if open && painter.has_keys() { theme.accent } else { theme.text };
    painter.put(area, 0, y, if open { "▾" } else { "▸" }, style);
    let x = painter.put(area, 2, y, section.title(), style);
    painter.add_click(area, 0, y, area.width, PanelPosition::Heading(section as usize));
    // The heading of a closed list shows its selected entries, so that the whole experiment is
    // always visible.
    let picked: Vec<&str> = session.selection.selected(section).collect();
    let by_blocks = picked.is_empty() && session.selection.is_named_by_blocks(section);
    let text = match (section, open) {
        (Section::Settings, false) => {
            let set = |item: &ListItem<'_>| match item {
                ListItem::Setting(setting) => {
                    Some((setting.key, session.selection.setting(setting)))
                }
                ListItem::Choice(..) | ListItem::Suggestion(_) | ListItem::Study(_) => None,
            };
            let settings = session.selection.items(section, &Default::default());
            let texts = settings.iter().filter_map(set).filter(|(_, value)| !value.is_empty());
            texts.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        (Section::Settings | Section::Studies, true) => String::new(),
        (Section::Studies, false) => {
            format!(
                "{} experiment files",
                session.selection.items(section, &Default::default()).len()
            )
        }
        (_, true) => format!("{} selected", picked.len()),
        (_, false) if by_blocks => "given by the [[case]] tables".to_owned(),
        (_, false) if picked.is_empty() => "none selected".to_owned(),
        (_, false) => picked.join(" "),
    };
    // If nothing is selected in this list, no case can run, so the text has the style of a warning.
    let has_specs = !matches!(section, Section::Settings | Section::Studies);
    let missing = picked.is_empty() && has_specs && !by_blocks;
    painter.put(area, x.max(14) + 1, y, &text, if missing { theme.warn } else { theme.dim });
}

fn name(item: &ListItem<'_>) -> String {
    match item {
        ListItem::Choice(_, choice) => choice.spec.clone(),
        ListItem::Suggestion(suggestion) => suggestion.shown.clone(),
        ListItem::Setting(setting) => setting.key.to_owned(),
        ListItem::Study(study) => study.name.clone(),
    }
}

fn about_short(item: &ListItem<'_>, session: &Session, section: Section) -> String {
    let long = match item {
        ListItem::Choice(_, choice) => about_spec(session, section, &choice.spec),
        ListItem::Suggestion(suggestion) => suggestion.about.clone(),
        ListItem::Setting(setting) => setting.about.to_owned(),
        ListItem::Study(study) => study.about.clone(),
    };
    long.split(';').next().unwrap_or("").to_owned()
}
