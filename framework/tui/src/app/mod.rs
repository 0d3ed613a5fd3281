//! The whole screen: panels that show a session, what lies over them, and how keys and the mouse
//! change all that.

mod actions;
mod mouse;
pub(crate) mod overlay;
mod prompt;

use crate::keys::{Key, Row, Table, ch, digit};
use crate::panel::AnyPanel;
use crate::panels;
use crate::session::{Request, Session, Setup};
use crate::theme::Theme;
use actions::{ANYWHERE, Action};
use crossterm::event::KeyEvent;
use prompt::Prompt;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_results::Record;

/// How the screen is to look.
#[derive(Debug, Clone, Copy)]
pub struct Looks {
    pub theme: Theme,
    /// Whether only ASCII is to be drawn.
    pub ascii: bool,
}

/// How a session ended.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The rows on screen.
    pub records: Vec<Record>,
    /// Whether they are to be left on the normal screen.
    pub leave_rows: bool,
    /// Whether cases were still to run.
    pub interrupted: bool,
    /// Whether some case was invalid, crashed, timed out or failed.
    pub some_failed: bool,
    /// The first row that could not be written, and why.
    pub unwritten: Option<String>,
}

/// How a session is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// With nothing.
    Plainly,
    /// With the results on the normal screen.
    WithRows,
}

/// What only the terminal can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Redraw,
    /// Back to the shell for a while.
    Suspend,
}

/// What is asked before something is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether cases may be left unrun, or rows that are in no file; and how it is left then.
    Leave(Leave),
    /// Whether rows that are in no file may go.
    Run,
}

/// The keys, shown over everything.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Help {
    /// How many lines it is scrolled by.
    pub(crate) scrolled: usize,
    /// Lines that have room, as last drawn.
    pub(crate) page: usize,
}

pub struct App {
    pub(crate) session: Session,
    pub(crate) panels: Vec<Box<dyn AnyPanel>>,
    /// The panel that has the keys.
    pub(crate) active: usize,
    /// The one that shares the screen with those that are always there.
    pub(crate) companion: usize,
    /// Whether the active one has the whole screen.
    pub(crate) expanded: bool,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) help: Option<Help>,
    pub(crate) asked: Option<Question>,
    pub(crate) looks: Looks,
    pub(crate) wish: Option<Wish>,
    leave: Option<Leave>,
}

impl App {
    /// The screen as a session begins.
    pub fn new(setup: Setup, looks: Looks) -> Self {
        // What runs is in the queue; rows of files are to be compared; what is to run is selected
        // first.
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
            asked: None,
            looks,
            wish: None,
            leave: None,
        }
    }

    /// Takes in what happened; true if there is something new to draw.
    pub fn tick(&mut self, now: Duration) -> bool {
        let cases = self.session.queue.rows().len();
        let mut news = self.session.tick(now);
        for panel in &mut self.panels {
            news |= panel.tick(&mut self.session);
        }
        if news {
            if self.session.queue.rows().len() < cases {
                self.panels.iter_mut().for_each(|panel| panel.forget());
            }
            self.settle();
        }
        news
    }

    /// Looks otherwise from now on.
    pub fn look(&mut self, looks: Looks) {
        self.looks = looks;
    }

    /// Whether the picture moves by itself.
    pub fn is_moving(&self) -> bool {
        self.session.is_moving() || self.panels.iter().any(|panel| panel.moves())
    }

    /// How it is to be left, once it is.
    pub fn left(&self) -> Option<Leave> {
        self.leave
    }

    /// What was told last.
    pub fn message(&self) -> Option<&str> {
        self.session.message.as_ref().map(|message| message.text.as_str())
    }

    pub fn outcome(&self) -> Outcome {
        let (session, runs) = (&self.session, &self.session.runs);
        Outcome {
            records: session.queue.records().into_iter().map(Arc::unwrap_or_clone).collect(),
            leave_rows: self.leave == Some(Leave::WithRows),
            interrupted: session.is_interrupted(),
            some_failed: runs.some_failed(),
            unwritten: runs.unwritten().map(str::to_owned),
        }
    }

    /// All keys: those that hold anywhere, those of each panel, those while typing.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let mut tables = vec![Table { title: "Anywhere".to_owned(), rows: self.anywhere() }];
        let own = self
            .panels
            .iter()
            .map(|panel| Table { title: panel.tab().to_owned(), rows: panel.table() });
        tables.extend(own.filter(|table| !table.rows.is_empty()));
        tables.push(Table { title: "While typing".to_owned(), rows: prompt::rows() });
        tables
    }

    /// The keys that hold anywhere, those of the panels among them.
    fn anywhere(&self) -> Vec<Row> {
        let digits: Vec<char> = (0..self.panels.len()).map_while(digit).collect();
        let numbered = digits.iter().zip(&self.panels).map(|(number, panel)| {
            let row = Row::new(ch(*number), panel.title());
            let all = || format!("1-{}", digits[digits.len() - 1]);
            if *number == '1' { row.hinted(all(), "panels", 2) } else { row }
        });
        let after = ANYWHERE
            .iter()
            .position(|binding| binding.action == Action::PreviousPanel)
            .map_or(0, |i| i + 1);
        let mut rows: Vec<Row> = ANYWHERE.iter().map(|binding| binding.row()).collect();
        rows.splice(after..after, numbered);
        rows
    }

    /// The keys for the line at the bottom: those of the place first, then those that one needs to
    /// find the rest.
    pub(crate) fn hints(&self) -> Vec<(String, &'static str, Key)> {
        if self.prompt.is_some() {
            return hints(&prompt::rows());
        }
        let panel = &self.panels[self.active];
        let mut all = hints(&panel.useful(&self.session));
        let mut anywhere = hints(&self.anywhere());
        if panel.unfiltered().is_some() {
            anywhere.retain(|(_, _, key)| *key != actions::FILTER[0]);
        }
        all.append(&mut anywhere);
        all
    }

    /// Gives a panel the keys.
    fn show(&mut self, panel: usize) {
        self.active = panel.min(self.panels.len() - 1);
        if self.active >= panels::FIXED {
            self.companion = self.active;
        }
        self.panels[self.active].clamp(&self.session);
        self.panels[self.active].enter(&mut self.session);
    }

    /// What a panel asked for is done, and panels go along with what has changed.
    fn settle(&mut self) {
        self.session.note_change();
        match self.session.request.take() {
            None => {}
            Some(Request::Text(title, text)) => {
                self.prompt = Some(Prompt::for_panel(&title, &text))
            }
            Some(Request::Details) => self.show(panels::DETAILS),
            Some(Request::Comparison) => self.show(panels::COMPARISON),
        }
        if [self.active, self.companion].iter().any(|panel| self.panels[*panel].shows_schedule()) {
            self.session.want_schedule();
        }
        for panel in &mut self.panels {
            panel.follow(&self.session);
        }
        self.panels[self.active].clamp(&self.session);
    }
}

/// Which panel a key is of, by its place among all.
fn panel_of(event: &KeyEvent, count: usize) -> Option<usize> {
    (0..count).find(|number| digit(*number).is_some_and(|digit| ch(digit).is(event)))
}

/// What stands at the bottom of some rows, the lowest rank first.
fn hints(rows: &[Row]) -> Vec<(String, &'static str, Key)> {
    let hint =
        |row: &Row| row.hint.clone().map(|(keys, word, rank)| (rank, (keys, word, row.keys[0])));
    let mut found: Vec<_> = rows.iter().filter_map(hint).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, hint)| hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::numbered;
    use crossterm::event::KeyCode;
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
            draw: |_, _| Err("nothing is drawn here".to_owned()),
            workers: swapmeet_runner::worker::Workers {
                command: Vec::new(),
                jobs: 1,
                memory_limit: 1 << 30,
            },
            rows: None,
            out: None,
        };
        App::new(setup, Looks { theme: Theme::named("mono").unwrap(), ascii: false })
    }

    fn documentation() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboard.md");
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for table in app().tables() {
            let keys: Vec<&Key> = table.rows.iter().flat_map(|row| &row.keys).collect();
            for (i, key) in keys.iter().enumerate() {
                assert!(!keys[..i].contains(key), "{} twice in {}", key.name(), table.title);
            }
        }
    }

    /// Who adds an eleventh panel has no digit for it: it is reached from the tenth, and nobody
    /// loses a key.
    #[test]
    fn panels_after_the_tenth_are_reached_from_the_one_before() {
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
        let keys: Vec<String> = app().tables().iter().map(Table::markdown).collect();
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

    #[test]
    fn panels_stand_where_others_look_for_them() {
        let tabs: Vec<&str> = app().panels.iter().map(|panel| panel.tab()).collect();
        let named =
            [panels::EXPLORE, panels::CASES, panels::COMPARISON, panels::PARTS, panels::DETAILS];
        assert_eq!(
            named.map(|panel| tabs[panel]),
            ["Explore", "Cases", "Compare", "Parts", "Details"]
        );
    }

    #[test]
    fn every_panel_has_a_name_of_its_own() {
        let tabs: Vec<&str> = app().panels.iter().map(|panel| panel.tab()).collect();
        assert_eq!(
            tabs.iter().collect::<std::collections::BTreeSet<_>>().len(),
            tabs.len(),
            "{tabs:?}"
        );
    }
}
