//! What to run: lists of specs, settings and studies, one of them open; the parameters of a spec as
//! a form.

mod form;

use crate::hits::Spot;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch, key};
use crate::paint::{Painter, cut, cut_middle, first_shown, width, wrap};
use crate::panel::{Keyed, List, Panel};
use crate::session::files::{Saved, as_toml};
use crate::session::offers::Study;
use crate::session::selection::{Item, Section, Setting};
use crate::session::{Request, Session};
use crossterm::event::KeyCode;
use form::Form;
use ratatui::layout::Rect;
use std::io::Write;
use std::path::Path;
use swapmeet_results::units;
use swapmeet_runner::input::InputError;

/// The lists, and which is open.
#[derive(Debug, Default)]
pub(crate) struct Explore {
    open: usize,
    lists: [List; Section::ALL.len()],
    /// What a line is being typed for.
    asked: Option<Asked>,
    /// The parameters of a spec, in the place of its list.
    form: Option<Form>,
}

/// What a line is typed for.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// A spec for a list, in place of another if it says which.
    Spec(Section, Option<usize>),
    Setting(Setting),
    /// The value of a parameter of the form.
    Field,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Choose,
    Edit,
    Type,
    Remove,
    Form,
    Left,
    Right,
}

impl Keyed for Explore {
    const TAB: &'static str = "Explore";
    const TITLE: &'static str = "Explore";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Choose, &[ch(' ')], "pick what the cursor is on, or drop it").hint("pick"),
        bind(Action::Edit, ENTER, "change the spec under the cursor, or type one of its kind")
            .hint("edit"),
        bind(Action::Type, &[ch('i')], "type a spec").hint("type"),
        bind(Action::Remove, &[ch('d'), key(KeyCode::Delete)], "take a spec out of the list"),
        bind(
            Action::Form,
            &[ch('p')],
            "the parameters of an algorithm or machine, as a form; again: take what it says",
        )
        .hint("parameters"),
        bind(Action::Left, LEFT, "open the list before; of a form's line the value before"),
        bind(Action::Right, RIGHT, "open the next list; of a form's line the next value")
            .pair("←→", "lists"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        if self.form.is_some() {
            return self.act_in_form(action, session);
        }
        match action {
            Action::Choose => self.choose(session),
            Action::Form => self.open_form(session),
            Action::Edit => self.edit(session),
            Action::Type if self.section() == Section::Settings => self.edit(session),
            Action::Type => self.ask(Asked::Spec(self.section(), None), "", session),
            Action::Remove => {
                if let Some(Item::Choice(index, _)) = self.item(session) {
                    session.selection.remove(self.section(), index);
                    self.clamp(session);
                }
            }
            Action::Left => self.show(self.open.saturating_sub(1), session),
            Action::Right => self.show(self.open + 1, session),
        }
    }
}

impl Panel for Explore {
    fn list(&self) -> &List {
        self.form.as_ref().map_or(&self.lists[self.open], |form| &form.list)
    }

    fn list_mut(&mut self) -> &mut List {
        self.form.as_mut().map_or(&mut self.lists[self.open], |form| &mut form.list)
    }

    fn lines(&self, session: &Session) -> usize {
        self.form.as_ref().map_or_else(|| self.items(session).len(), Form::lines)
    }

    fn unfiltered(&self) -> Option<&'static str> {
        self.form.as_ref().map(|_| "a form has few lines: up and down go from one to the next")
    }

    /// Esc leaves the form with nothing changed.
    fn close(&mut self) -> bool {
        self.form.take().is_some()
    }

    /// Moves the cursor by lines, and at the end of a list on to the next.
    fn step(&mut self, by: isize, session: &mut Session) {
        let last = self.lines(session).saturating_sub(1);
        let at = self.list().cursor;
        let next = at.saturating_add_signed(by).min(last);
        self.list_mut().cursor = next;
        if at != next || by.abs() != 1 || self.form.is_some() {
            return;
        }
        if by > 0 && self.open + 1 < Section::ALL.len() {
            self.show(self.open + 1, session);
            self.list_mut().cursor = 0;
        } else if by < 0 && self.open > 0 {
            self.show(self.open - 1, session);
            self.list_mut().cursor = self.lines(session).saturating_sub(1);
        }
    }

    fn forget(&mut self) {}

    fn open(&mut self, session: &mut Session) {
        self.act(if self.form.is_some() { Action::Edit } else { Action::Choose }, session);
    }

    fn click(&mut self, spot: Spot, session: &mut Session) {
        if let Spot::Heading(section) = spot {
            self.form = None;
            self.show(section, session);
        }
    }

    fn algorithm(&self, session: &Session) -> Option<String> {
        match (self.section(), self.item(session)) {
            (Section::Algorithms, Some(Item::Choice(_, choice))) => Some(choice.spec.clone()),
            (Section::Algorithms, Some(Item::Offer(offer))) => Some(offer.prefill.clone()),
            (Section::Algorithms, _) => None,
            _ => session.focused().map(|(_, row)| row.specs()[0].to_owned()),
        }
    }

    fn check(&self, text: &str, session: &Session) -> Option<InputError> {
        match self.asked? {
            // A file is read once it is named, not at every letter of its name.
            Asked::Spec(Section::Studies, _) => None,
            Asked::Spec(..) if text.contains("matrix:") || text.contains("graph:") => None,
            Asked::Spec(section, _) => {
                session.selection.check(section, text, &session.registry).err()
            }
            Asked::Setting(setting) => session.selection.clone().set(setting, text).err(),
            Asked::Field => None,
        }
    }

    fn accept(&mut self, text: &str, session: &mut Session) -> Result<(), InputError> {
        match self.asked {
            None => {}
            Some(Asked::Setting(setting)) => session.selection.set(setting, text)?,
            Some(Asked::Field) => {
                if let Some(form) = &mut self.form {
                    form.set(text, session)?;
                }
            }
            Some(Asked::Spec(Section::Studies, _)) => session.load(&Study::file(text)),
            Some(Asked::Spec(section, instead)) => {
                // Of several, the first takes the place of what was edited.
                let (mut place, mut instead) = (0, instead);
                for spec in session.selection.check(section, text, &session.registry)? {
                    place = session.selection.put(section, spec, instead.take());
                }
                self.lists[section as usize] = List { cursor: place, ..List::default() };
            }
        }
        Ok(())
    }

    fn completions(&self, text: &str, session: &Session) -> Vec<String> {
        match self.asked {
            Some(Asked::Spec(section, _)) => {
                session.selection.completions(section, text, &session.registry)
            }
            _ => Vec::new(),
        }
    }

    fn explain(&self, text: &str, session: &Session) -> Option<[String; 2]> {
        let Some(Asked::Spec(section, _)) = self.asked else { return None };
        let offer = session.selection.offer_of(section, text)?;
        Some([offer.shown.clone(), format!("{}  {}", offer.shown, offer.about)])
    }

    fn saves(&self, session: &Session, name: &Path) -> Option<Saved> {
        let what =
            units::count(usize::try_from(session.selection.count()).unwrap_or(usize::MAX), "case");
        let about = format!("{what} picked: `swapmeet run` takes the file");
        let text = as_toml(&session.selection.experiment(session.baseline.as_deref()));
        let content = Box::new(move |file: &mut dyn Write| file.write_all(text.as_bytes()));
        Some(Saved { file: name.to_owned(), what, about, content })
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let count = usize::try_from(session.selection.count()).unwrap_or(usize::MAX);
        let title = format!(
            "Explore: {} picked{}",
            units::count(count, "case"),
            self.list().filter.suffix()
        );
        let area = painter.panel(area, &title);
        let theme = painter.theme;
        let sections = Section::ALL.len() as u16;
        let about_lines = wrap(&self.about_item(session), area.width.saturating_sub(2));
        // Lines at the foot that explain the line under the cursor: lists are worth more than a
        // long text is.
        let about = match area.height.saturating_sub(sections + 1) {
            0..7 => 0,
            7..16 => 3,
            _ => 5,
        };
        let open_lines = area.height.saturating_sub(sections + about + u16::from(about > 0));
        let mut y = 0;
        for section in Section::ALL {
            let open = section == self.section();
            heading(painter, session, section, open, area, y);
            y += 1;
            if let Some(form) = self.form.as_ref().filter(|_| open) {
                let height = (area.height - y).saturating_sub(sections - 1 - section as u16);
                y += form.draw(painter, Rect { y: area.y + y, height, ..area });
            } else if open {
                let list = Rect {
                    x: area.x,
                    y: area.y + y,
                    width: area.width,
                    height: open_lines.min(area.height.saturating_sub(y)),
                };
                y += self.draw_items(painter, session, list);
            }
        }
        if about > 0 && self.form.is_none() {
            let foot = Rect { y: area.y + area.height - about, height: about, ..area };
            for (y, line) in (0..about).zip(&about_lines) {
                let cut_off = y + 1 == about && about_lines.len() > usize::from(about);
                let text = if cut_off {
                    cut(&format!("{line} …"), area.width.saturating_sub(2))
                } else {
                    line.clone()
                };
                painter.put(foot, 1, y, &text, theme.dim);
            }
        }
    }
}

impl Explore {
    fn section(&self) -> Section {
        Section::ALL[self.open]
    }

    fn items<'s>(&self, session: &'s Session) -> Vec<Item<'s>> {
        session.selection.items(self.section(), &self.list().filter)
    }

    /// The line under the cursor.
    fn item<'s>(&self, session: &'s Session) -> Option<Item<'s>> {
        self.items(session).get(self.list().cursor).copied()
    }

    /// Opens a list. The words that narrowed another one down mean nothing there.
    fn show(&mut self, section: usize, session: &Session) {
        let section = section.min(Section::ALL.len() - 1);
        if section != self.open {
            self.list_mut().filter = Default::default();
            self.open = section;
        }
        self.clamp(session);
    }

    fn open_form(&mut self, session: &mut Session) {
        let section = self.section();
        let (spec, instead) = match self.item(session) {
            Some(Item::Choice(index, choice)) => (choice.spec.clone(), Some(index)),
            Some(Item::Offer(offer)) => (offer.prefill.clone(), None),
            Some(Item::Setting(_) | Item::Study(_)) | None => (String::new(), None),
        };
        self.form = Form::of(session, section, &spec, instead);
        if self.form.is_none() {
            session.tell("only algorithms that take parameters, and machines, have a form", false);
        }
    }

    fn act_in_form(&mut self, action: Action, session: &mut Session) {
        let Some(form) = &mut self.form else { return };
        let turned = match action {
            Action::Left | Action::Right => form.turn(matches!(action, Action::Right), session),
            Action::Remove => form.set("", session),
            Action::Choose | Action::Edit | Action::Type => {
                if let Some((key, value)) = form.field() {
                    let (title, text) = (key.to_owned(), value.to_owned());
                    self.asked = Some(Asked::Field);
                    session.request = Some(Request::Text(title, text));
                }
                Ok(())
            }
            Action::Form => {
                let (section, spec, instead) = (form.section, form.spec(), form.instead);
                self.form = None;
                let place = session.selection.put(section, spec, instead);
                self.lists[section as usize].cursor = place;
                Ok(())
            }
        };
        if let Err(error) = turned {
            session.tell(&error.message, true);
        }
    }

    fn ask(&mut self, what: Asked, text: &str, session: &mut Session) {
        let title = match what {
            Asked::Spec(section, _) => section.singular(),
            Asked::Setting(setting) => setting.name(),
            Asked::Field => "value",
        };
        self.asked = Some(what);
        session.request = Some(Request::Text(title.to_owned(), text.to_owned()));
    }

    fn choose(&mut self, session: &mut Session) {
        let section = self.section();
        match self.item(session) {
            Some(Item::Choice(index, _)) => session.selection.toggle(section, index),
            Some(Item::Offer(offer)) if offer.ready => {
                let spec = offer.prefill.clone();
                session.tell(&format!("picked {spec}"), false);
                session.selection.put(section, spec, None);
                // What was picked is at the top now; the cursor goes on to what stood below it.
                self.list_mut().cursor += 1;
                self.clamp(session);
            }
            Some(Item::Study(study)) => {
                let study = study.clone();
                session.load(&study);
            }
            Some(Item::Offer(_) | Item::Setting(_)) | None => self.edit(session),
        }
    }

    fn edit(&mut self, session: &mut Session) {
        let section = self.section();
        let (what, text) = match self.item(session) {
            Some(Item::Study(_)) => return self.choose(session),
            Some(Item::Choice(index, choice)) => {
                (Asked::Spec(section, Some(index)), choice.spec.clone())
            }
            Some(Item::Offer(offer)) => (Asked::Spec(section, None), offer.prefill.clone()),
            Some(Item::Setting(setting)) => {
                (Asked::Setting(setting), session.selection.setting(setting))
            }
            None => (Asked::Spec(section, None), String::new()),
        };
        self.ask(what, &text, session);
    }

    /// What the line under the cursor is.
    fn about_item(&self, session: &Session) -> String {
        match self.item(session) {
            Some(Item::Choice(_, choice)) => about_spec(session, self.section(), &choice.spec),
            Some(Item::Offer(offer)) if !offer.ready => format!("{}; Enter types one", offer.about),
            Some(Item::Offer(offer)) => offer.about.clone(),
            Some(Item::Setting(setting)) => setting.about().to_owned(),
            Some(Item::Study(study)) => {
                format!("{}; Enter picks what it lists, i names another file", study.about)
            }
            None => String::new(),
        }
    }

    /// The lines of the open list; returns how many were drawn.
    fn draw_items(&self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) -> u16 {
        let theme = painter.theme;
        let (section, items) = (self.section(), self.items(session));
        let cursor = self.list().cursor;
        let height = usize::from(area.height);
        let first = first_shown(cursor, items.len(), height);
        let bar = u16::from(items.len() > height);
        let text_area = Rect { width: area.width.saturating_sub(bar), ..area };
        let names =
            items.iter().map(|item| width(&name(item))).max().unwrap_or(0).min(area.width * 3 / 5);
        for (y, (index, item)) in (0..).zip(items.iter().enumerate().skip(first).take(height)) {
            let here = index == cursor;
            let (mark, style) = match item {
                Item::Choice(_, choice) if choice.on => ("[x]", theme.text),
                Item::Choice(..) => ("[ ]", theme.dim),
                Item::Offer(offer) if offer.ready => ("[ ]", theme.text),
                Item::Offer(_) => (" + ", theme.text),
                Item::Setting(_) => ("", theme.text),
                Item::Study(_) => (" ▸ ", theme.text),
            };
            let style = if here { painter.cursor() } else { style };
            if here {
                painter.shade(area, y, style);
            }
            painter.put(area, 2, y, mark, style);
            painter.put(area, 6, y, &cut_middle(&name(item), names), style);
            let (text, about) = match item {
                Item::Setting(setting) => (session.selection.setting(*setting), style),
                Item::Choice(..) | Item::Offer(_) | Item::Study(_) => {
                    (about_short(item, session, section), if here { style } else { theme.dim })
                }
            };
            painter.put(text_area, 6 + names.max(12) + 2, y, &text, about);
            painter.hit(area, 0, y, area.width, Spot::Line(index));
        }
        if items.is_empty() {
            painter.put(area, 6, 0, "nothing here has these words", theme.dim);
        }
        painter.scrollbar(area, first, items.len());
        (items.len().max(1) as u16).min(area.height)
    }
}

/// A list's name, and, while it is closed, what is picked of it.
fn heading(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    section: Section,
    open: bool,
    area: Rect,
    y: u16,
) {
    let theme = painter.theme;
    let style = if open && painter.has_keys() { theme.accent } else { theme.text };
    painter.put(area, 0, y, if open { "▾" } else { "▸" }, style);
    let x = painter.put(area, 2, y, section.title(), style);
    painter.hit(area, 0, y, area.width, Spot::Heading(section as usize));
    let picked: Vec<&str> = session
        .selection
        .choices(section)
        .iter()
        .filter(|p| p.on)
        .map(|p| p.spec.as_str())
        .collect();
    let text = match (section, open) {
        (Section::Settings, false) => {
            let set = |item: &Item<'_>| match item {
                Item::Setting(setting) => {
                    Some((setting.name(), session.selection.setting(*setting)))
                }
                Item::Choice(..) | Item::Offer(_) | Item::Study(_) => None,
            };
            let settings = session.selection.items(section, &Default::default());
            let texts = settings.iter().filter_map(set).filter(|(_, value)| !value.is_empty());
            texts.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        (Section::Settings | Section::Studies, true) => String::new(),
        (Section::Studies, false) => {
            format!(
                "{} experiment files to begin with",
                session.selection.items(section, &Default::default()).len()
            )
        }
        (_, true) => format!("{} picked", picked.len()),
        (_, false) if picked.is_empty() => "none picked".to_owned(),
        (_, false) => picked.join(" "),
    };
    let missing = picked.is_empty() && !matches!(section, Section::Settings | Section::Studies);
    painter.put(area, x.max(14) + 1, y, &text, if missing { theme.warn } else { theme.dim });
}

fn name(item: &Item<'_>) -> String {
    match item {
        Item::Choice(_, choice) => choice.spec.clone(),
        Item::Offer(offer) => offer.shown.clone(),
        Item::Setting(setting) => setting.name().to_owned(),
        Item::Study(study) => study.name.clone(),
    }
}

fn about_spec(session: &Session, section: Section, spec: &str) -> String {
    session.selection.offer_of(section, spec).map(|offer| offer.about.clone()).unwrap_or_default()
}

/// What a line is, until the first semicolon.
fn about_short(item: &Item<'_>, session: &Session, section: Section) -> String {
    let long = match item {
        Item::Choice(_, choice) => about_spec(session, section, &choice.spec),
        Item::Offer(offer) => offer.about.clone(),
        Item::Setting(setting) => setting.about().to_owned(),
        Item::Study(study) => study.about.clone(),
    };
    long.split(';').next().unwrap_or("").to_owned()
}
