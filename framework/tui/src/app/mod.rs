//! The application: views that show a session, overlays, keys and the mouse.

mod actions;
mod options;
pub(crate) mod overlay;
mod prompt;

use crate::keys::{Binding, Key, KeyMap, KeyRow, KeyTable, ch, digit};
use crate::paint::Painter;
use crate::panel::AnyPanel;
use crate::panels::{self, Overlay, View};
use crate::session::packed::CaseKey;
use crate::session::{Request, Requests, Session, Setup};
use crate::theme::Theme;
use actions::{ANYWHERE, Action};
pub use options::Options;
use prompt::{Prompt, Purpose};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use swapmeet_results::{CaseId, Record};

#[derive(Debug, Clone, Copy)]
pub struct Appearance {
    pub theme: Theme,
    pub ascii: bool,
}

#[derive(Debug, Clone, Default)]
pub struct SessionResult {
    pub records: Vec<Record>,
    /// Whether to print the rows on the normal screen after the session.
    pub print_rows: bool,
    /// Whether some cases have no row.
    pub unfinished: bool,
    pub some_failed: bool,
    pub saved_as: Option<PathBuf>,
    /// The error message of the first row that could not be written.
    pub unwritten: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitMode {
    Plain,
    PrintRows,
}

/// A request that the terminal loop carries out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TerminalRequest {
    Redraw,
    Copy(String),
    Suspend,
}

/// A question that the user must confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirmation {
    Exit(ExitMode),
    Run,
    Stop,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Help {
    pub(crate) scrolled: usize,
    pub(crate) page: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct State {
    view: usize,
    pictures: Vec<usize>,
    expanded: bool,
    selected: Option<CaseId>,
    #[serde(default)]
    panels: Vec<String>,
}

pub struct App {
    pub(crate) session: Session,
    /// The views, followed by the overlays.
    pub(crate) views: Vec<View>,
    pub(crate) active: usize,
    pub(crate) companion: usize,
    pub(crate) expanded: bool,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) help: Option<Help>,
    pub(crate) confirmation: Option<Confirmation>,
    pub(crate) appearance: Appearance,
    pub(crate) terminal_request: Option<TerminalRequest>,
    keys: KeyMap,
    /// The views as they were last drawn.
    screen: Buffer,
    exit: Option<ExitMode>,
}

impl App {
    pub fn new(setup: Setup, options: Options, appearance: Appearance) -> Self {
        // The first view has the answer or, if there are neither rows nor cases, chooses cases.
        let is_empty = setup.opened.is_empty() && setup.cases.is_empty() && setup.follow.is_empty();
        let first = if is_empty { panels::CHOOSE } else { panels::WINNERS };
        let first = options.view.filter(|_| !is_empty).unwrap_or(first);
        let mut app = Self {
            session: Session::new(setup, options.columns),
            views: panels::views().into_iter().chain(panels::overlays()).collect(),
            active: first,
            companion: if first == panels::WINNERS { panels::WHY } else { panels::WINNERS },
            expanded: true,
            overlay: None,
            prompt: None,
            help: None,
            confirmation: None,
            appearance,
            terminal_request: None,
            keys: options.keys,
            screen: Buffer::default(),
            exit: None,
        };
        match options.state.map(|state| serde_json::from_str(&state)) {
            Some(Ok(state)) => app.restore(state),
            Some(Err(error)) => {
                app.session.add_log(&format!("the saved state cannot be read: {error}"), true);
            }
            None => {}
        }
        app
    }

    /// Returns the state that [`Options::set_state`] restores.
    pub fn state(&self) -> String {
        let panels = self.views.iter().flat_map(View::panels);
        let state = State {
            view: self.active,
            pictures: self.views.iter().map(View::picture).collect(),
            expanded: self.expanded,
            selected: self.session.selected.as_ref().map(CaseKey::id),
            panels: panels.map(|panel| panel.state()).collect(),
        };
        serde_json::to_string(&state).unwrap_or_default()
    }

    fn restore(&mut self, state: State) {
        for (view, picture) in self.views.iter_mut().zip(state.pictures) {
            view.show(picture);
        }
        let panels = self.views.iter_mut().flat_map(View::panels_mut);
        panels.zip(state.panels).for_each(|(panel, state)| panel.restore(&state));
        self.active = state.view.min(panels::VIEWS - 1);
        self.expanded = state.expanded;
        if let Some(selected) = state.selected {
            self.session.select_later(selected);
        }
    }

    pub(crate) fn keep_screen(&mut self, painter: &Painter<'_, '_>, area: Rect) {
        self.screen = painter.copy(area);
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        let width = usize::from(self.screen.area.width.max(1));
        let mut lines = self
            .screen
            .content
            .chunks(width)
            .map(|cells| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>());
        lines.any(|line| line.contains(text)) || self.message().is_some_and(|m| m.contains(text))
    }

    /// Processes pending events; returns whether the screen has to be redrawn.
    pub fn tick(&mut self, now: Duration) -> bool {
        let mut news = self.session.tick(now);
        if let Some(written) = self.session.written.take() {
            self.end_writing(written);
        }
        let shown = self.shown();
        let mut requests = Requests::new();
        // Only the visible panels change on their own.
        for view in shown {
            let (changed, more) = self.views[view].panel_mut().tick(&self.session);
            news |= changed;
            requests.extend(more);
        }
        self.carry_out(requests);
        if news {
            self.sync();
        }
        news
    }

    fn shown(&self) -> Vec<usize> {
        if self.expanded { vec![self.active] } else { vec![self.active, self.companion] }
    }

    pub fn set_appearance(&mut self, appearance: Appearance) {
        self.appearance = appearance;
    }

    /// Returns whether the screen changes even if the user presses no key.
    pub fn is_animated(&self) -> bool {
        let views = self.shown().into_iter().map(|view| self.views[view].panel());
        self.session.is_animated() || views.into_iter().any(|panel| panel.is_animated())
    }

    /// Returns whether events may arrive even if the user presses no key.
    pub fn expects_events(&self) -> bool {
        self.is_animated() || self.session.expects_events()
    }

    /// Returns how the dashboard exits; `None` if it does not.
    pub fn exit_mode(&self) -> Option<ExitMode> {
        self.exit
    }

    pub fn message(&self) -> Option<&str> {
        self.session.message.as_ref().map(|message| message.text.as_str())
    }

    pub fn outcome(&self) -> SessionResult {
        let (session, runs) = (&self.session, &self.session.runs);
        let is_unfinished = self.is_busy() || session.queue.tally().stopped > 0;
        SessionResult {
            records: session.queue.records().iter().map(|row| row.record()).collect(),
            print_rows: self.exit == Some(ExitMode::PrintRows),
            unfinished: is_unfinished && !runs.is_example,
            some_failed: runs.some_failed,
            saved_as: runs.saved_as.clone().filter(|_| runs.saved),
            unwritten: runs.unwritten.clone(),
        }
    }

    /// Draws a view or overlay, given by its number, into an area.
    pub(crate) fn draw_view(&mut self, painter: &mut Painter<'_, '_>, number: usize, area: Rect) {
        painter.begin(number, number == self.current(), area);
        let panel = self.views[number].panel_mut();
        panel.draw(painter, &self.session, area);
        painter.end();
        panel.list_mut().page = usize::from(area.height.saturating_sub(2));
    }

    /// Returns the number of the overlay or view that handles keys.
    pub(crate) fn current(&self) -> usize {
        self.overlay.map_or(self.active, |overlay| panels::VIEWS + overlay as usize)
    }

    /// Returns the panel that handles keys.
    pub(crate) fn panel(&self) -> &dyn AnyPanel {
        self.views[self.current()].panel()
    }

    /// Carries out the requests that a function returns for the panel that handles keys.
    fn with_panel(&mut self, work: impl FnOnce(&mut dyn AnyPanel, &Session) -> Requests) {
        let current = self.current();
        let requests = work(self.views[current].panel_mut(), &self.session);
        self.carry_out(requests);
    }

    fn carry_out(&mut self, requests: Requests) {
        for request in requests {
            match self.session.carry_out(request) {
                Some(Request::Ask(title, text)) => {
                    self.prompt = Some(Prompt::new(Purpose::Panel, &title, &text));
                }
                Some(Request::Details) => self.overlay = Some(Overlay::Details),
                Some(other) => unreachable!("{other:?} is carried out by the session"),
                None => {}
            }
        }
    }

    pub(crate) fn tables(&self) -> Vec<KeyTable> {
        tables(&self.views, &self.keys)
    }

    /// Returns the key tables that apply now. The first one has precedence.
    fn tables_in_use(&self) -> Vec<KeyTable> {
        if self.prompt.is_some() {
            return vec![self.keys.table(prompt::TITLE, prompt::rows())];
        }
        let view = &self.views[self.current()];
        vec![
            self.keys.table(view.panel().title(), view.panel().table()),
            self.keys.table(view.tab, view.rows()),
            self.keys.table(ANYWHERE_TITLE, anywhere(&self.views)),
        ]
    }

    /// Returns the hints for the bottom line: the text for the keys, a word, and one of the keys.
    pub(crate) fn hints(&self) -> Vec<(String, &'static str, Key)> {
        let (panel, session) = (self.panel(), &self.session);
        let mut tables = self.tables_in_use();
        if let [of_panel, _, anywhere] = &mut *tables {
            let active = panel.active_keys(session);
            of_panel.rows.retain(|row| active.contains(&row.name));
            anywhere.rows.retain(|row| match row.name.as_str() {
                "filter" => panel.has_filter(),
                "back" => self.overlay.is_some(),
                "stop" => session.queue.is_busy(),
                "retry" => session.queue.tally().failed > 0,
                "equal-charges" => session.has_unequal_charges(),
                _ => true,
            });
        }
        tables.iter().flat_map(|table| hints(&table.rows)).collect()
    }

    /// Shows a view or, if it is already shown, its next picture.
    fn show(&mut self, view: usize) {
        if self.overlay.take().is_none() && view == self.active {
            let picture = self.views[view].picture();
            self.views[view].show(picture + 1);
        }
        self.activate(view);
    }

    fn activate(&mut self, view: usize) {
        if view != self.active {
            self.companion = self.active;
        }
        self.active = view.min(panels::VIEWS - 1);
        self.views[self.active].panel_mut().clamp(&self.session);
    }

    fn sync(&mut self) {
        self.session.record_change();
        // A question is withdrawn when it no longer applies, such as after the end of a run.
        self.confirmation = self.confirmation.filter(|asked| self.question(*asked).is_some());
        if self.overlay == Some(Overlay::Log) {
            self.session.log.mark_read();
        }
        let shown = self.shown();
        if shown.into_iter().any(|view| self.views[view].panel().shows_schedule())
            || self.overlay == Some(Overlay::Details)
        {
            self.session.want_schedule();
        }
        for panel in self.views.iter_mut().flat_map(View::panels_mut) {
            panel.sync(&self.session);
        }
        let current = self.current();
        self.views[current].panel_mut().clamp(&self.session);
    }
}

const ANYWHERE_TITLE: &str = "Anywhere";

/// Returns all key tables.
fn tables(views: &[View], keys: &KeyMap) -> Vec<KeyTable> {
    let mut tables = vec![keys.table(ANYWHERE_TITLE, anywhere(views))];
    for view in views {
        let panels = view.panels().iter().map(|panel| keys.table(panel.title(), panel.table()));
        for table in std::iter::once(keys.table(view.tab, view.rows())).chain(panels) {
            match tables.last_mut().filter(|last| last.title == table.title) {
                Some(last) => last.rows.extend(table.rows),
                None => tables.push(table),
            }
        }
    }
    tables.push(keys.table(prompt::TITLE, prompt::rows()));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn anywhere(views: &[View]) -> Vec<KeyRow> {
    let numbered = views.iter().enumerate().filter_map(|(number, view)| {
        let key = digit(number)?;
        let row = KeyRow::new(format!("view-{key}"), ch(key), view.tab);
        Some(if number == 0 { row.hinted(format!("1-{}", panels::VIEWS), "views", 2) } else { row })
    });
    let previous = |binding: &Binding<Action>| binding.action == Action::PreviousView;
    let after = ANYWHERE.iter().position(previous).map_or(0, |i| i + 1);
    let mut rows: Vec<KeyRow> = ANYWHERE.iter().map(Binding::row).collect();
    rows.splice(after..after, numbered);
    rows
}

/// Returns the hints of rows, sorted by rank.
fn hints(rows: &[KeyRow]) -> Vec<(String, &'static str, Key)> {
    let hint = |row: &KeyRow| {
        row.hint.clone().map(|(keys, word, rank)| (rank, (keys, word, row.keys()[0])))
    };
    let mut found: Vec<_> = rows.iter().filter_map(hint).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, hint)| hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::keys::{ctrl, numbered};
    use crate::panel::Panel;
    use crate::panels::table::{Entry, Table};
    use crate::session::chosen::ListKind;
    use crate::session::comparison::tests::{compared, row};
    use crate::session::queue::PreparedRows;
    use crossterm::event::KeyCode;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::rc::Rc;
    use swapmeet_runner::experiment::Experiment;
    use swapmeet_runner::registry::Registry;

    fn app() -> App {
        let setup = Setup {
            registry: Registry::default(),
            plugin_dirs: Vec::new(),
            experiment: Experiment::parse("none", "").unwrap(),
            cases: Vec::new(),
            found: Vec::new(),
            opened: Vec::new(),
            follow: Vec::new(),
            notes: Vec::new(),
            is_example: false,
            default_machine: None,
            render: |_, _| Err("nothing is drawn here".to_owned()),
            workers: swapmeet_runner::worker::Workers {
                kind: swapmeet_runner::worker::WorkerKind::Processes(Vec::new()),
                jobs: 1,
                memory_limit: 1 << 30,
            },
            rows: None,
            out: None,
        };
        let appearance = Appearance { theme: Theme::named("mono").unwrap(), ascii: false };
        App::new(setup, Options::default(), appearance)
    }

    fn documentation() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboard.md");
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn keys_are_unique_within_a_table() {
        for table in app().tables() {
            let keys: Vec<&Key> = table.rows.iter().flat_map(KeyRow::keys).collect();
            for (i, key) in keys.iter().enumerate() {
                assert!(!keys[..i].contains(key), "{} twice in {}", key.name(), table.title);
            }
        }
    }

    #[test]
    fn views_have_numbers_and_words() {
        let app = app();
        let digits: String = anywhere(&app.views)
            .iter()
            .flat_map(KeyRow::keys)
            .map(|key| key.name())
            .filter(|key| key.parse::<u8>().is_ok())
            .collect();
        assert_eq!(digits, "12345");
        let hints = app.hints();
        assert!(hints.iter().any(|(keys, word, _)| (keys.as_str(), *word) == ("1-5", "views")));
        let tabs: Vec<&str> = app.views[..panels::VIEWS].iter().map(|view| view.tab).collect();
        let named = [panels::CHOOSE, panels::WINNERS, panels::WHY].map(|view| tabs[view]);
        assert_eq!((named, tabs.len()), (["Choose", "Winners", "Why"], panels::VIEWS));
    }

    /// A key of the configuration file replaces the default key, also in the help and in the hints.
    #[test]
    fn keys_can_be_changed() {
        let mut app = app();
        let tables = app.tables();
        app.keys.add("help", "H", &tables).unwrap();
        app.keys.add("table.sort", "o", &tables).unwrap();
        let press = |app: &mut App, key: Key| app.key(&key.event());
        press(&mut app, ch('?'));
        assert!(app.help.is_none());
        press(&mut app, ch('H'));
        assert!(app.help.is_some());
        press(&mut app, ch('H'));
        press(&mut app, ch('2'));
        press(&mut app, ch('o'));
        assert_eq!(app.message(), Some("sorted by group, fastest first"));
        assert!(app.hints().iter().any(|(keys, word, _)| (keys.as_str(), *word) == ("o", "sort")));
        let why = |name, key| KeyMap::default().add(name, key, &tables).unwrap_err();
        assert!(why("table.fly", "x").contains("expected one of open, sort, reverse"));
        assert!(why("tabel.sort", "x").contains("`tabel` is no list of keys"));
        assert!(why("help", "Hyper").contains("`Hyper` is no key"));
    }

    #[test]
    fn the_help_shows_every_key() {
        let mut app = app();
        app.key(&ch('?').event());
        let mut terminal = Terminal::new(TestBackend::new(160, 400)).unwrap();
        let draw = |frame: &mut ratatui::Frame<'_>| {
            crate::screen::draw(frame, &mut app);
        };
        terminal.draw(draw).unwrap();
        let shown = terminal.backend().to_string();
        for table in app.tables() {
            for row in &table.rows {
                let keys: Vec<String> = row.keys().iter().map(|key| key.name()).collect();
                let is_row =
                    |line: &&str| line.contains(&keys.join(" ")) && line.contains(row.help);
                assert!(shown.lines().any(|line| is_row(&line)), "{keys:?}: {}", row.help);
            }
        }
    }

    #[test]
    fn the_documentation_has_every_panel() {
        let text = documentation();
        for (number, view) in app().views[..panels::VIEWS].iter().enumerate() {
            let begins = format!("\n**{}.** ", numbered(number, view.tab));
            assert!(
                text.contains(&begins),
                "docs/dashboard.md should have a paragraph that begins with {begins:?}"
            );
        }
    }

    /// The text of the filter contains letters that are commands outside of the prompt. For
    /// example, `x` cancels a run. Views without lines have no filter.
    #[test]
    fn a_filter_is_text_in_every_view_that_has_one() {
        let mut app = app();
        for view in 0..panels::VIEWS {
            app.activate(view);
            let theme = app.appearance.theme;
            let title = app.views[view].tab;
            app.key(&ch('/').event());
            assert_eq!(app.prompt.is_some(), app.panel().has_filter(), "{title}");
            if !app.panel().has_filter() {
                assert_eq!(app.message(), Some("nothing to filter here"), "{title}");
                continue;
            }
            "pex t\u{20}".chars().for_each(|c| app.key(&ch(c).event()));
            assert!(app.prompt.is_some() && app.message().is_none(), "{title}");
            assert_eq!((app.active, app.appearance.theme), (view, theme), "{title}");
            assert!(!app.session.runs.frozen, "{title}");
            app.key(&crate::keys::key(KeyCode::Enter).event());
            assert!(app.prompt.is_none(), "{title}");
        }
    }

    /// Space plays a schedule or selects a line. Nowhere does it freeze the screen.
    #[test]
    fn space_never_freezes() {
        let mut app = app();
        for view in 0..panels::VIEWS {
            app.activate(view);
            app.key(&ch(' ').event());
            assert!(!app.session.runs.frozen, "{}", app.views[view].tab);
            app.key(&crate::keys::key(KeyCode::Esc).event());
        }
    }

    /// Users search for commands by their own words.
    #[test]
    fn commands_are_found_by_synonyms() {
        let app = app();
        let found = |words: &str| app.commands(words).len();
        for word in ["export", "baseline", "zoom", "cancel", "copy", "plugin", "stop", "clipboard"]
        {
            assert!((1..8).contains(&found(word)), "{word}: {}", found(word));
        }
        assert_eq!(found("no-such-word"), 0);
    }

    /// Lists that depend on all rows are computed once and reused for later keys and frames.
    #[test]
    fn keys_do_no_work_for_each_row() {
        let mut app = app();
        let rows = || (0..50).map(|time| row("a", &format!("ring:{}", time + 4), 0, 1.0));
        let prepared = PreparedRows::opened(rows().collect(), Vec::new(), &Registry::default());
        app.session.queue.enqueue(prepared, Duration::ZERO);
        app.session.compared = compared(rows().collect(), None);
        let mut table = Table::default();
        let order = table.order(&app.session);
        let requests = table.go_to(7, &app.session);
        app.carry_out(requests);
        let selected = app.session.selected_row().map(|(_, row)| row.specs()[1].to_owned());
        assert_eq!(selected.as_deref(), Some("ring:11"));
        assert!(Rc::ptr_eq(&order, &table.order(&app.session)));
        table.list_mut().filter = Filter::parse("ring:5");
        let lines = |table: &Table, app: &App| {
            let is_line = |entry: &&Entry| matches!(entry, Entry::Line(_));
            table.order(&app.session).iter().filter(is_line).count()
        };
        assert_eq!(lines(&table, &app), 5, "ring:5 and ring:50 to ring:53");
        table.list_mut().filter = Filter::parse("ring:5 !ring:50");
        app.session.compared.number += 1;
        assert_eq!(lines(&table, &app), 4);
    }

    /// The analysis of many rows takes seconds. Until its result arrives, the panels show the
    /// previous values, so drawing them again 30 times a second would be wasted work.
    #[test]
    fn the_screen_is_not_drawn_while_the_analysis_runs() {
        let mut app = app();
        app.session.mark_baseline(Some("a".to_owned()));
        assert_eq!((app.expects_events(), app.is_animated()), (true, false));
        let began = std::time::Instant::now();
        while !app.tick(began.elapsed()) {
            assert!(app.expects_events() && began.elapsed() < Duration::from_secs(60));
        }
        assert!(!app.expects_events());
    }

    /// Until the first analysis of rows from a file ends, the session has rows but no results.
    #[test]
    fn panels_say_that_rows_are_compared() {
        let mut app = app();
        let rows = (0..3).map(|seed| row("a", "ring:4", seed, 1.0)).collect();
        let rows = PreparedRows::opened(rows, Vec::new(), &Registry::default());
        app.session.queue.enqueue(rows, Duration::ZERO);
        let text = |app: &App| app.session.text_without_results("No rows yet.");
        assert_eq!(text(&app), "No rows yet.");
        app.session.mark_baseline(Some("a".to_owned()));
        assert_eq!(text(&app), "Comparing 3 rows ...");
    }

    #[test]
    fn undone_changes_can_be_redone() {
        let mut app = app();
        let press = |app: &mut App, key: Key| app.key(&key.event());
        let put = |app: &mut App, spec: &str| {
            app.session.chosen.put(ListKind::Topologies, spec.to_owned(), None);
            app.sync();
        };
        let selected = |app: &App| app.session.chosen.choices(ListKind::Topologies).len();
        put(&mut app, "ring:4");
        put(&mut app, "ring:8");
        (0..2).for_each(|_| press(&mut app, ch('u')));
        assert_eq!(selected(&app), 0);
        press(&mut app, ctrl('r'));
        assert_eq!((selected(&app), app.message()), (1, Some("redone: selection")));
        press(&mut app, ctrl('r'));
        assert_eq!(selected(&app), 2);
        press(&mut app, ctrl('r'));
        assert_eq!(app.message(), Some("nothing to redo"));
        press(&mut app, ch('u'));
        put(&mut app, "ring:9");
        press(&mut app, ctrl('r'));
        assert_eq!(app.message(), Some("nothing to redo"), "a new change discards undone ones");
    }
}
