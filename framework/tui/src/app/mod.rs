//! The application. It has panels that show a session, overlays above the panels, and handlers for
//! keys and the mouse.

mod actions;
pub(crate) mod overlay;
mod prompt;

use crate::keys::{Key, KeyRow, KeyTable, ch, digit};
use crate::panel::AnyPanel;
use crate::panels;
use crate::session::{Request, Session, Setup};
use crate::theme::Theme;
use actions::{ANYWHERE, Action};
use crossterm::event::KeyEvent;
use prompt::{Prompt, Purpose};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_results::Record;

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
    /// Whether the session ended before all cases had ended.
    pub interrupted: bool,
    /// Whether some cases have no row, because the session ended or the user cancelled them.
    pub unfinished: bool,
    /// Whether any case was invalid, crashed, timed out or failed.
    pub some_failed: bool,
    pub saved_as: Option<PathBuf>,
    /// The error message of the first failed attempt to write a row.
    pub unwritten: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitMode {
    Plain,
    PrintRows,
}

/// A request that the application cannot carry out itself, so that the terminal loop does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TerminalRequest {
    Redraw,
    Copy(String),
    Suspend,
}

/// A question that the user must confirm, because rows or running cases would be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirmation {
    Exit(ExitMode),
    Run,
    Stop,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Help {
    pub(crate) scrolled: usize,
    /// The number of visible lines when the overlay was last drawn.
    pub(crate) page: usize,
}

pub struct App {
    pub(crate) session: Session,
    pub(crate) panels: Vec<Box<dyn AnyPanel>>,
    pub(crate) active: usize,
    /// The index of the panel that is shown in the area that several panels share. On a large
    /// screen, some other panels are always visible.
    pub(crate) companion: usize,
    pub(crate) expanded: bool,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) help: Option<Help>,
    pub(crate) confirmation: Option<Confirmation>,
    pub(crate) appearance: Appearance,
    pub(crate) terminal_request: Option<TerminalRequest>,
    exit: Option<ExitMode>,
}

impl App {
    pub fn new(setup: Setup, appearance: Appearance) -> Self {
        // Choose the first active panel. If rows were read from files, it is the comparison. If
        // cases run immediately, it is the queue. Otherwise, it is the explore panel, in which the
        // user selects cases.
        let active = match (&*setup.opened, &*setup.cases) {
            ([_, ..], _) => panels::COMPARISON,
            ([], [_, ..]) => panels::CASES,
            ([], []) => panels::EXPLORE,
        };
        Self {
            session: Session::new(setup),
            panels: panels::all(),
            active,
            companion: panels::PARTS,
            expanded: false,
            prompt: None,
            help: None,
            confirmation: None,
            appearance,
            terminal_request: None,
            exit: None,
        }
    }

    /// Processes all pending events; returns whether the screen has to be redrawn.
    pub fn tick(&mut self, now: Duration) -> bool {
        let cases = self.session.queue.rows().len();
        let mut news = self.session.tick(now);
        for panel in &mut self.panels {
            news |= panel.tick(&mut self.session);
        }
        if news {
            if self.session.queue.rows().len() < cases {
                self.panels.iter_mut().for_each(|panel| panel.reset());
            }
            self.sync();
        }
        news
    }

    pub fn set_appearance(&mut self, appearance: Appearance) {
        self.appearance = appearance;
    }

    /// Returns whether the screen changes even if the user presses no key.
    pub fn is_animated(&self) -> bool {
        self.session.is_animated() || self.panels.iter().any(|panel| panel.is_animated())
    }

    /// Returns whether events may arrive even if the user presses no key.
    pub fn expects_events(&self) -> bool {
        self.is_animated() || self.session.expects_events()
    }

    /// Returns how the dashboard exits; `None` while the user has not decided to exit.
    pub fn exit_mode(&self) -> Option<ExitMode> {
        self.exit
    }

    pub fn message(&self) -> Option<&str> {
        self.session.message.as_ref().map(|message| message.text.as_str())
    }

    pub fn outcome(&self) -> SessionResult {
        let (session, runs) = (&self.session, &self.session.runs);
        SessionResult {
            records: session.queue.records().into_iter().map(Arc::unwrap_or_clone).collect(),
            print_rows: self.exit == Some(ExitMode::PrintRows),
            interrupted: session.is_interrupted(),
            unfinished: session.is_interrupted() || session.queue.tally().stopped > 0,
            some_failed: runs.some_failed(),
            saved_as: runs.saved_as.clone().filter(|_| runs.saved),
            unwritten: runs.unwritten().map(str::to_owned),
        }
    }

    pub(crate) fn tables(&self) -> Vec<KeyTable> {
        let mut tables = vec![KeyTable { title: "Anywhere".to_owned(), rows: self.anywhere() }];
        let own = self
            .panels
            .iter()
            .map(|panel| KeyTable { title: panel.tab().to_owned(), rows: panel.table() });
        tables.extend(own.filter(|table| !table.rows.is_empty()));
        tables.push(KeyTable { title: "While typing".to_owned(), rows: prompt::rows() });
        tables
    }

    fn anywhere(&self) -> Vec<KeyRow> {
        let digits: Vec<char> = (0..self.panels.len()).map_while(digit).collect();
        let numbered = digits.iter().zip(&self.panels).map(|(number, panel)| {
            let row = KeyRow::new(ch(*number), panel.title());
            let all = || format!("1-{}", digits[digits.len() - 1]);
            if *number == '1' { row.hinted(all(), "panels", 2) } else { row }
        });
        let after = ANYWHERE
            .iter()
            .position(|binding| binding.action == Action::PreviousPanel)
            .map_or(0, |i| i + 1);
        let mut rows: Vec<KeyRow> = ANYWHERE.iter().map(|binding| binding.row()).collect();
        rows.splice(after..after, numbered);
        rows
    }

    /// Returns the hints for the bottom line. Each hint has a text for its keys, a word, and one of
    /// its keys. A click on the hint has the same effect as pressing this key. The hints of the
    /// active panel come before the general hints.
    pub(crate) fn hints(&self) -> Vec<(String, &'static str, Key)> {
        if self.prompt.is_some() {
            return hints(&prompt::rows());
        }
        let panel = &self.panels[self.active];
        let mut all = hints(&panel.active_keys(&self.session));
        let mut anywhere = hints(&self.anywhere());
        if panel.no_filter_reason().is_some() {
            anywhere.retain(|(_, _, key)| *key != actions::FILTER[0]);
        }
        all.append(&mut anywhere);
        all
    }

    fn show(&mut self, panel: usize) {
        self.active = panel.min(self.panels.len() - 1);
        if self.active >= panels::FIXED {
            self.companion = self.active;
        }
        self.panels[self.active].clamp(&self.session);
        self.panels[self.active].activated(&mut self.session);
    }

    /// Executes the request of the active panel. Then updates all panels, because the session may
    /// have changed.
    fn sync(&mut self) {
        self.session.record_change();
        if self.active == panels::LOG {
            self.session.log.mark_read();
        }
        match self.session.request.take() {
            None => {}
            Some(Request::Text(title, text)) => {
                self.prompt = Some(Prompt::new(Purpose::Panel, &title, &text));
            }
            Some(Request::Details) => self.show(panels::DETAILS),
            Some(Request::Comparison) => self.show(panels::COMPARISON),
        }
        if [self.active, self.companion].iter().any(|panel| self.panels[*panel].shows_schedule()) {
            self.session.want_schedule();
        }
        for panel in &mut self.panels {
            panel.sync(&self.session);
        }
        self.panels[self.active].clamp(&self.session);
    }
}

fn panel_of(event: &KeyEvent, count: usize) -> Option<usize> {
    (0..count).find(|number| digit(*number).is_some_and(|digit| ch(digit).is(event)))
}

/// Returns the hints of the given table rows, sorted by rank in ascending order.
fn hints(rows: &[KeyRow]) -> Vec<(String, &'static str, Key)> {
    let hint =
        |row: &KeyRow| row.hint.clone().map(|(keys, word, rank)| (rank, (keys, word, row.keys[0])));
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
    use crate::session::chosen::ListKind;
    use crate::session::comparison::{Compared, tests::row};
    use crate::session::queue::PreparedRows;
    use crossterm::event::KeyCode;
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
            notes: Vec::new(),
            is_example: false,
            render: |_, _| Err("nothing is drawn here".to_owned()),
            workers: swapmeet_runner::worker::Workers {
                kind: swapmeet_runner::worker::WorkerKind::Processes(Vec::new()),
                jobs: 1,
                memory_limit: 1 << 30,
            },
            rows: None,
            out: None,
        };
        App::new(setup, Appearance { theme: Theme::named("mono").unwrap(), ascii: false })
    }

    fn documentation() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboard.md");
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn keys_are_unique_within_a_table() {
        for table in app().tables() {
            let keys: Vec<&Key> = table.rows.iter().flat_map(|row| &row.keys).collect();
            for (i, key) in keys.iter().enumerate() {
                assert!(!keys[..i].contains(key), "{} twice in {}", key.name(), table.title);
            }
        }
    }

    /// Only ten panels have digits. The eleventh panel is reached with Tab, and the digits of the
    /// other panels do not change.
    #[test]
    fn panels_after_the_tenth_are_reached_by_tab() {
        let mut app = app();
        while app.panels.len() < 12 {
            app.panels.push(panels::all().remove(0));
        }
        let rows = app.anywhere();
        let digits = rows
            .iter()
            .flat_map(|row| &row.keys)
            .map(|key| key.name())
            .filter(|key| key.parse::<u8>().is_ok());
        assert_eq!(digits.collect::<String>(), "1234567890");
        let hints = app.hints();
        assert!(hints.iter().any(|(keys, word, _)| (keys.as_str(), *word) == ("1-0", "panels")));
        app.show(9);
        app.key(&crate::keys::key(KeyCode::Tab).event());
        assert_eq!(app.active, 10);
    }

    #[test]
    fn the_documentation_has_every_key() {
        let keys: Vec<String> = app().tables().iter().map(KeyTable::markdown).collect();
        let (text, keys) = (documentation(), keys.join("\n"));
        assert!(text.contains(keys.trim_end()), "docs/dashboard.md should have:\n\n{keys}");
    }

    #[test]
    fn the_documentation_has_every_panel() {
        let text = documentation();
        for (number, panel) in app().panels.iter().enumerate() {
            let begins = format!("\n**{}.** ", numbered(number, panel.title()));
            assert!(
                text.contains(&begins),
                "docs/dashboard.md should have a paragraph that begins with {begins:?}"
            );
        }
    }

    /// The text of the filter contains letters that are commands outside of the prompt. For
    /// example, `x` cancels a run.
    #[test]
    fn a_filter_is_text_in_every_panel() {
        let mut app = app();
        for panel in 0..app.panels.len() {
            app.show(panel);
            let theme = app.appearance.theme;
            "/pex t\u{20}".chars().for_each(|c| app.key(&ch(c).event()));
            let title = app.panels[panel].title();
            assert!(app.prompt.is_some() && app.message().is_none(), "{title}");
            assert_eq!((app.active, app.appearance.theme), (panel, theme), "{title}");
            assert!(!app.session.runs.frozen, "{title}");
            app.key(&crate::keys::key(KeyCode::Enter).event());
            assert!(app.prompt.is_none(), "{title}");
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
        use crate::panels::{cases::Cases, comparison::Comparison};
        let mut app = app();
        let rows = (0..50).map(|time| row("a", &format!("ring:{}", time + 4), 0, 1.0));
        app.session.compared = Compared::new(rows.collect(), None);
        let (mut comparison, mut cases) = (Comparison::default(), Cases::default());
        let (lines, order) = (cases.rows(&app.session), comparison.order(&app.session));
        comparison.step(7, &mut app.session);
        cases.step(7, &mut app.session);
        assert_eq!(comparison.list().cursor, 7);
        assert!(Rc::ptr_eq(&order, &comparison.order(&app.session)));
        assert!(Rc::ptr_eq(&lines, &cases.rows(&app.session)));
        comparison.list_mut().filter = Filter::parse("ring:5");
        assert_eq!(comparison.order(&app.session).len(), 5, "ring:5 and ring:50 to ring:53");
        comparison.list_mut().filter = Filter::parse("ring:5 !ring:50");
        app.session.compared.number += 1;
        assert_eq!(comparison.order(&app.session).len(), 4);
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
        let rows = PreparedRows::opened(rows, &Registry::default());
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

    #[test]
    fn panel_indices_match_the_panels() {
        let tabs: Vec<&str> = app().panels.iter().map(|panel| panel.tab()).collect();
        let named = [
            panels::EXPLORE,
            panels::CASES,
            panels::COMPARISON,
            panels::PARTS,
            panels::DETAILS,
            panels::LOG,
        ];
        assert_eq!(
            named.map(|panel| tabs[panel]),
            ["Explore", "Cases", "Compare", "Parts", "Details", "Log"]
        );
    }
}
