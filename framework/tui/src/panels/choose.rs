//! The view of choices. It has lists of specs, settings and experiment files, of which one list is open.
//! A form shows the parameters of a spec.

mod form;

use crate::click_map::PanelPosition;
use crate::keys::{Binding, ENTER, LEFT, RIGHT, bind, ch, key};
use crate::paint::{Painter, below, cut_middle, scroll_start, widest, width};
use crate::panel::{Keyed, List, Panel};
use crate::session::chosen::{ListItem, ListKind, is_size};
use crate::session::suggestions::ExperimentFile;
use crate::session::{Request, Requests, Session};
use crossterm::event::KeyCode;
use form::Form;
use ratatui::layout::Rect;
use swapmeet_runner::experiment::{SETTINGS, Setting};
use swapmeet_runner::input::InputError;

const DESCRIPTION_ROWS: u16 = 5;

#[derive(Debug, Default)]
pub(crate) struct Choose {
    open: usize,
    lists: [List; ListKind::ALL.len()],
    input_target: Option<InputTarget>,
    last: Option<String>,
    /// The form that is shown instead of the open list.
    form: Option<Form>,
}

#[derive(Debug, Clone, Copy)]
enum InputTarget {
    /// A spec of this list. The index is that of the spec to replace. If it is `None`, the spec is
    /// added to the list.
    Spec(ListKind, Option<usize>),
    Setting(&'static Setting),
    Field,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Choose,
    All,
    Edit,
    Type,
    Remove,
    Form,
    Fit,
    Left,
    Right,
}

impl Keyed for Choose {
    const TITLE: &'static str = "Choose";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Choose, &[ch(' ')], "select or deselect the line under the cursor")
            .hint("select"),
        bind(
            Action::All,
            &[ch('A')],
            "deselect all lines that pass the filter; if none is selected, select all",
        )
        .hint("all"),
        bind(Action::Edit, ENTER, "edit the spec under the cursor, or complete a suggestion")
            .hint("edit"),
        bind(Action::Type, &[ch('i')], "type a new spec").hint("type"),
        bind(Action::Remove, &[ch('d'), key(KeyCode::Delete)], "remove the spec from the list"),
        bind(
            Action::Form,
            &[ch('p')],
            "edit the parameters of an algorithm or machine in a form; again: accept them",
        )
        .hint("parameters"),
        bind(
            Action::Fit,
            &[ch('w')],
            "select a workload of the collective of the algorithm that was selected last",
        ),
        bind(Action::Left, LEFT, "open the previous list; in a form: previous value"),
        bind(Action::Right, RIGHT, "open the next list; in a form: next value").pair("←→", "lists"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        if self.form.is_some() {
            return self.act_in_form(action, session);
        }
        match action {
            Action::Choose => self.choose(session),
            Action::All => self.choose_all(session),
            Action::Form => self.open_form(session),
            Action::Edit => self.edit(session),
            Action::Type if matches!(self.kind(), ListKind::Settings | ListKind::Collectives) => {
                self.edit(session)
            }
            Action::Type => self.ask(InputTarget::Spec(self.kind(), None), ""),
            Action::Remove => match self.item(session) {
                Some(ListItem::Choice(index, _)) => vec![Request::Remove(self.kind(), index)],
                _ => Requests::new(),
            },
            Action::Fit => self.fit(session),
            Action::Left => self.show(self.open.saturating_sub(1), session),
            Action::Right => self.show(self.open + 1, session),
        }
    }

    fn is_idle(&self, action: Action, _: &Session) -> bool {
        self.form.is_some() && matches!(action, Action::Choose | Action::All | Action::Fit)
    }
}

impl Panel for Choose {
    fn list(&self) -> &List {
        self.form.as_ref().map_or(&self.lists[self.kind() as usize], |form| &form.list)
    }

    fn list_mut(&mut self) -> &mut List {
        let kind = self.kind() as usize;
        self.form.as_mut().map_or(&mut self.lists[kind], |form| &mut form.list)
    }

    fn lines(&self, session: &Session) -> usize {
        self.form.as_ref().map_or_else(|| self.items(session).len(), Form::lines)
    }

    fn has_filter(&self) -> bool {
        self.form.is_none()
    }

    fn close(&mut self) -> bool {
        self.form.take().is_some()
    }

    /// Moves the cursor. At the end of a list, moves it to the next list.
    fn step(&mut self, by: isize, session: &Session) -> Requests {
        let last = self.lines(session).saturating_sub(1);
        let at = self.list().cursor;
        let next = at.saturating_add_signed(by).min(last);
        self.list_mut().cursor = next;
        if at != next || by.abs() != 1 || self.form.is_some() {
            return Requests::new();
        }
        if by > 0 && self.open + 1 < ListKind::ALL.len() {
            self.show(self.open + 1, session);
            self.list_mut().cursor = 0;
        } else if by < 0 && self.open > 0 {
            self.show(self.open - 1, session);
            self.list_mut().cursor = self.lines(session).saturating_sub(1);
        }
        Requests::new()
    }

    fn open(&mut self, session: &Session) -> Requests {
        self.act(if self.form.is_some() { Action::Edit } else { Action::Choose }, session)
    }

    fn click(&mut self, position: PanelPosition, session: &Session) -> Requests {
        if let PanelPosition::Heading(kind) = position {
            self.form = None;
            self.show(kind, session);
        }
        Requests::new()
    }

    fn sync(&mut self, session: &Session) {
        self.clamp(session);
    }

    fn algorithm(&self, session: &Session) -> Option<String> {
        match (self.kind(), self.item(session)) {
            (ListKind::Algorithms, Some(ListItem::Choice(_, choice))) => Some(choice.spec.clone()),
            (ListKind::Algorithms, Some(ListItem::Suggestion(suggestion))) => {
                Some(suggestion.prefill.clone())
            }
            (ListKind::Algorithms, _) => None,
            _ => session.selected_row().map(|(_, row)| row.specs()[0].to_owned()),
        }
    }

    fn check(&self, text: &str, session: &Session) -> Option<InputError> {
        match self.input_target? {
            // Check a file name only after it has been typed. Checking it after each key would read
            // a file each time.
            InputTarget::Spec(ListKind::ExperimentFiles, _) => None,
            InputTarget::Spec(..) if text.contains("matrix:") || text.contains("graph:") => None,
            InputTarget::Spec(kind, _) => session.chosen.check(kind, text, &session.registry).err(),
            InputTarget::Setting(setting) => session.chosen.clone().set(setting, text).err(),
            InputTarget::Field => None,
        }
    }

    fn accept(&mut self, text: &str, session: &Session) -> Result<Requests, InputError> {
        let mut requests = Requests::new();
        match self.input_target {
            None => {}
            Some(InputTarget::Setting(setting)) => {
                session.chosen.clone().set(setting, text)?;
                requests.push(Request::Set(setting, text.to_owned()));
            }
            Some(InputTarget::Field) => {
                if let Some(form) = &mut self.form {
                    form.set(text, session)?;
                }
            }
            Some(InputTarget::Spec(ListKind::ExperimentFiles, _)) => {
                requests.push(Request::Load(ExperimentFile::file(text)));
            }
            Some(InputTarget::Spec(kind, instead)) => {
                // Sizes without the name of a workload replace the chosen ones.
                if kind == ListKind::Workloads && is_size(text) {
                    requests.push(Request::Deselect(kind));
                }
                // If the text contains several specs, the first of them replaces the edited spec,
                // and the others are added.
                let (mut chosen, mut instead) = (session.chosen.clone(), instead);
                for spec in session.chosen.check(kind, text, &session.registry)? {
                    let place = chosen.put(kind, spec.clone(), instead);
                    requests.push(Request::Put(kind, spec, instead.take()));
                    self.lists[kind as usize] = List::at(place);
                }
            }
        }
        Ok(requests)
    }

    fn completions(&self, text: &str, session: &Session) -> Vec<String> {
        match self.input_target {
            Some(InputTarget::Spec(kind, _)) => {
                session.chosen.completions(kind, text, &session.registry)
            }
            _ => Vec::new(),
        }
    }

    fn explain(&self, text: &str, session: &Session) -> Option<[String; 2]> {
        if let Some(InputTarget::Setting(setting)) = self.input_target {
            return Some([setting.about.to_owned(), setting.about.to_owned()]);
        }
        let Some(InputTarget::Spec(kind, _)) = self.input_target else { return None };
        let suggestion = session.chosen.suggestion_for(kind, text)?;
        Some([suggestion.shown.clone(), format!("{}  {}", suggestion.shown, suggestion.about)])
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let title = format!("{}: {} selected", Self::TITLE, session.chosen.size());
        let area = painter.filtered_panel(area, &title, &self.list().filter);
        // On a small screen, the headings far from the open list make room for its lines.
        let headings = area.height.saturating_sub(3).clamp(1, ListKind::ALL.len() as u16);
        let first = scroll_start(self.open, ListKind::ALL.len(), headings.into());
        // Reserve rows for the description of the line under the cursor, but leave most of the area
        // to the lists.
        let about = match area.height.saturating_sub(headings + 1) {
            0..12 => 0,
            12..16 => 2,
            16..24 => 3,
            _ => DESCRIPTION_ROWS,
        };
        let open_lines = area.height.saturating_sub(headings + about + u16::from(about > 0));
        let mut y = 0;
        for (at, kind) in (0..headings).zip(&ListKind::ALL[first..]) {
            let kind = *kind;
            let open = kind == self.kind();
            heading(painter, session, kind, open, area, y);
            y += 1;
            if let Some(form) = self.form.as_ref().filter(|_| open) {
                let height = (area.height.saturating_sub(y)).saturating_sub(headings - 1 - at);
                y += form.draw(painter, Rect { y: area.y + y, height, ..area });
            } else if open {
                let rest = below(area, y);
                let list = Rect { height: open_lines.min(rest.height), ..rest };
                y += self.draw_items(painter, session, list);
            }
        }
        if about > 0 && self.form.is_none() {
            let foot = below(area, area.height - about);
            painter.paragraph(foot, &self.about_item(session), painter.theme.dim);
        }
    }
}

impl Choose {
    fn kind(&self) -> ListKind {
        ListKind::ALL[self.open]
    }

    fn items<'s>(&self, session: &'s Session) -> Vec<ListItem<'s>> {
        session.chosen.items(self.kind(), &self.list().filter)
    }

    fn item<'s>(&self, session: &'s Session) -> Option<ListItem<'s>> {
        self.items(session).get(self.list().cursor).copied()
    }

    fn show(&mut self, kind: usize, session: &Session) -> Requests {
        let kind = kind.min(ListKind::ALL.len() - 1);
        if kind != self.open {
            self.list_mut().filter = Default::default();
            self.open = kind;
        }
        self.clamp(session);
        Requests::new()
    }

    fn open_form(&mut self, session: &Session) -> Requests {
        let kind = self.kind();
        let (spec, instead) = match self.item(session) {
            Some(ListItem::Choice(index, choice)) => (choice.spec.clone(), Some(index)),
            Some(ListItem::Suggestion(suggestion)) => (suggestion.prefill.clone(), None),
            Some(ListItem::Setting(_) | ListItem::ExperimentFile(_) | ListItem::Collective(..))
            | None => (String::new(), None),
        };
        self.form = Form::new(session, kind, &spec, instead);
        if self.form.is_none() {
            let text = "only machines and algorithms with parameters have a form";
            return vec![Request::Say(text.to_owned())];
        }
        Requests::new()
    }

    fn act_in_form(&mut self, action: Action, session: &Session) -> Requests {
        let mut requests = Requests::new();
        let Some(form) = &mut self.form else { return requests };
        let turned = match action {
            Action::Left | Action::Right => form.turn(matches!(action, Action::Right), session),
            Action::Remove => form.set("", session),
            Action::Choose | Action::Edit | Action::Type => {
                if let Some((key, value)) = form.field() {
                    let (title, text) = (key.to_owned(), value.to_owned());
                    self.input_target = Some(InputTarget::Field);
                    requests.push(Request::Ask(title, text));
                }
                Ok(())
            }
            Action::All | Action::Fit => Ok(()),
            Action::Form => {
                let (kind, spec, instead) = (form.kind, form.spec(), form.instead);
                self.form = None;
                self.lists[kind as usize].cursor =
                    session.chosen.clone().put(kind, spec.clone(), instead);
                requests.push(Request::Put(kind, spec, instead));
                Ok(())
            }
        };
        requests.extend(turned.err().map(|error| Request::Warn(error.message)));
        requests
    }

    fn ask(&mut self, what: InputTarget, text: &str) -> Requests {
        let title = match what {
            InputTarget::Spec(kind, _) => kind.singular(),
            InputTarget::Setting(setting) => setting.key,
            InputTarget::Field => "value",
        };
        self.input_target = Some(what);
        vec![Request::Ask(title.to_owned(), text.to_owned())]
    }

    fn choose(&mut self, session: &Session) -> Requests {
        let kind = self.kind();
        match self.item(session) {
            Some(ListItem::Choice(index, choice)) => {
                let mut requests = vec![Request::Toggle(kind, index)];
                if !choice.on {
                    requests.extend(self.offer_workload(kind, &choice.spec.clone(), session));
                }
                requests
            }
            Some(ListItem::Suggestion(suggestion)) if suggestion.ready => {
                let spec = suggestion.prefill.clone();
                // The suggestion becomes a spec at the top of the list. Move the cursor to the line
                // that follows the suggestion.
                self.list_mut().cursor += 1;
                let mut requests = vec![
                    Request::Say(format!("selected {spec}")),
                    Request::Put(kind, spec.clone(), None),
                ];
                requests.extend(self.offer_workload(kind, &spec, session));
                requests
            }
            Some(ListItem::ExperimentFile(file)) => vec![Request::Load(file.clone())],
            Some(ListItem::Collective(kind, _)) => vec![Request::ChooseCollective(kind)],
            Some(ListItem::Suggestion(_) | ListItem::Setting(_)) | None => self.edit(session),
        }
    }

    fn choose_all(&mut self, session: &Session) -> Requests {
        let (kind, filter) = (self.kind(), self.list().filter.clone());
        let last = self.items(session).last().map(name);
        let mut requests = vec![Request::ToggleAll(kind, filter.clone())];
        if session.chosen.clone().toggle_all(kind, &filter).1
            && let Some(spec) = last
        {
            requests.extend(self.offer_workload(kind, &spec, session));
        }
        requests
    }

    /// Called after an algorithm was selected. If no selected workload has its collective, shows a
    /// message with the key that selects such a workload.
    fn offer_workload(&mut self, kind: ListKind, spec: &str, session: &Session) -> Requests {
        if kind != ListKind::Algorithms {
            return Requests::new();
        }
        self.last = Some(spec.to_owned());
        let matching = session.chosen.matching_workload(spec, &session.registry);
        // Even with the longest name of an algorithm, this message fits in 80 columns.
        let offer = matching.map(|(word, workload)| {
            Request::Warn(format!("{spec} needs {word}: w selects {workload}"))
        });
        offer.into_iter().collect()
    }

    fn fit(&mut self, session: &Session) -> Requests {
        let Some(spec) = self.last.clone().or_else(|| self.algorithm(session)) else {
            return Requests::new();
        };
        match session.chosen.matching_workload(&spec, &session.registry) {
            Some((_, workload)) => {
                vec![Request::Say(format!("selected {workload}")), Request::FitWorkloads(workload)]
            }
            None => vec![Request::Say(format!("the workloads fit {spec}"))],
        }
    }

    fn edit(&mut self, session: &Session) -> Requests {
        let kind = self.kind();
        let (what, text) = match self.item(session) {
            Some(ListItem::ExperimentFile(_) | ListItem::Collective(..)) => {
                return self.choose(session);
            }
            Some(ListItem::Choice(index, choice)) => {
                (InputTarget::Spec(kind, Some(index)), choice.spec.clone())
            }
            Some(ListItem::Suggestion(suggestion)) => {
                (InputTarget::Spec(kind, None), suggestion.prefill.clone())
            }
            Some(ListItem::Setting(setting)) => {
                (InputTarget::Setting(setting), session.chosen.setting(setting))
            }
            None => (InputTarget::Spec(kind, None), String::new()),
        };
        self.ask(what, &text)
    }

    fn about_item(&self, session: &Session) -> String {
        match self.item(session) {
            None => String::new(),
            Some(item) => {
                let about = about(&item, session, self.kind());
                match item {
                    ListItem::Suggestion(suggestion) if !suggestion.ready => {
                        format!("{about}; press Enter to type it")
                    }
                    ListItem::ExperimentFile(_) => {
                        format!("{about}; Enter selects its contents, i opens another file")
                    }
                    ListItem::Collective(kind, _) => format!("{}: {about}", kind.word),
                    _ => about.to_owned(),
                }
            }
        }
    }

    fn draw_items(&self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) -> u16 {
        let theme = painter.theme;
        let (kind, items) = (self.kind(), self.items(session));
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
                ListItem::ExperimentFile(_) => (" ▸ ", theme.text),
                ListItem::Collective(_, true) => ("(•)", theme.text),
                ListItem::Collective(_, false) => ("( )", theme.dim),
            };
            let style = painter.list_line(area, y, index, here, style);
            painter.put(area, 2, y, mark, style);
            let room = text_area.width.saturating_sub(7);
            let end = painter.put(area, 6, y, &cut_middle(&name(item), room), style);
            // A setting shows its value; all other lines show their descriptions.
            let (text, about) = match item {
                ListItem::Setting(setting) => (session.chosen.setting(setting), style),
                _ => {
                    let about = about(item, session, kind).split(';').next().unwrap_or("");
                    (about.to_owned(), if here { style } else { theme.dim })
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

fn heading(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    kind: ListKind,
    open: bool,
    area: Rect,
    y: u16,
) {
    let theme = painter.theme;
    let style = if open && painter.has_keys() { theme.accent } else { theme.text };
    painter.put(area, 0, y, if open { "▾" } else { "▸" }, style);
    let x = painter.put(area, 2, y, kind.title(), style);
    let at = ListKind::ALL.iter().position(|other| *other == kind).unwrap_or(0);
    painter.add_click(area, 0, y, area.width, PanelPosition::Heading(at));
    // The heading of a closed list shows its selected entries, so that the whole experiment is
    // always visible.
    let picked: Vec<&str> = session.chosen.applying(kind).collect();
    let by_tables =
        picked.is_empty() && kind != ListKind::Systems && session.chosen.is_named_by_tables(kind);
    let by_systems = by_tables && session.chosen.has_systems();
    let text = match (kind, open) {
        (ListKind::Settings, false) => {
            let texts =
                SETTINGS.iter().map(|setting| (setting.key, session.chosen.setting(setting)));
            let texts = texts.filter(|(_, value)| !value.is_empty());
            texts.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        (ListKind::Settings | ListKind::ExperimentFiles, true) => String::new(),
        (ListKind::Collectives, true) => {
            "Enter chooses one, with all algorithms that may fit".to_owned()
        }
        (ListKind::Collectives, false) => {
            session.chosen.collective().map_or("several", |kind| kind.word).to_owned()
        }
        (ListKind::Algorithms, false) if session.chosen.is_all_that_fit() => {
            format!("all {} that may fit", picked.len())
        }
        (ListKind::ExperimentFiles, false) => {
            format!("{} experiment files", session.chosen.items(kind, &Default::default()).len())
        }
        (_, true) => format!("{} selected", picked.len()),
        (ListKind::Topologies | ListKind::Machines, false) if by_systems => {
            "given by the systems".to_owned()
        }
        (_, false) if by_tables => "given by the [[case]] tables".to_owned(),
        (_, false) if picked.is_empty() => "none selected".to_owned(),
        (_, false) => {
            let all = picked.join(" ");
            match &*picked {
                // A long list has its ends and its length.
                [first, _, .., last] if width(&all) + x.max(14) + 1 > area.width => {
                    format!("{first} .. {last} ({} selected)", picked.len())
                }
                _ => all,
            }
        }
    };
    // If nothing is selected in this list, no case can run, so the text has the style of a warning.
    let has_specs = ListKind::SPECS.contains(&kind);
    let missing = picked.is_empty() && has_specs && !by_tables && kind != ListKind::Systems;
    painter.put(area, x.max(14) + 1, y, &text, if missing { theme.warn } else { theme.dim });
}

fn name(item: &ListItem<'_>) -> String {
    match item {
        ListItem::Choice(_, choice) => choice.spec.clone(),
        ListItem::Suggestion(suggestion) => suggestion.shown.clone(),
        ListItem::Setting(setting) => setting.key.to_owned(),
        ListItem::ExperimentFile(file) => file.name.clone(),
        ListItem::Collective(kind, _) => kind.word.to_owned(),
    }
}

/// Returns a description, of which the part before the first `;` is a short one.
fn about<'s>(item: &ListItem<'s>, session: &'s Session, kind: ListKind) -> &'s str {
    match item {
        ListItem::Choice(_, choice) => {
            let known = session.chosen.suggestion_for(kind, &choice.spec);
            known.map_or("", |suggestion| &suggestion.about)
        }
        ListItem::Suggestion(suggestion) => &suggestion.about,
        ListItem::Setting(setting) => setting.about,
        ListItem::ExperimentFile(file) => &file.about,
        ListItem::Collective(kind, _) => kind.help,
    }
}
