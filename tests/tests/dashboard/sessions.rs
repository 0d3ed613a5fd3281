//! A dashboard session without a terminal, for tests of panels.

#[path = "../../../framework/tui/src/contrast.rs"]
mod contrast;

use contrast::contrast;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::{Frame, Terminal};
use std::path::PathBuf;
use std::time::Duration;
use swapmeet_results::Record;
use swapmeet_runner::case::CaseGrid;
use swapmeet_runner::describe::PluginReader;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::lookup::experiment_of;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::worker::{WorkerKind, Workers};
use swapmeet_tests::{plugin_file, program};
use swapmeet_tui::{App, Appearance, ClickMap, Options, Setup, Theme, draw, draw_panel};

/// A symbol that no panel draws, with which tests find cells outside of a panel.
pub(super) const MARKER: &str = "¤";

pub(super) fn experiment(text: &str) -> Experiment {
    Experiment::parse("test", text).unwrap()
}

/// A dashboard session without a terminal.
pub(super) struct Session {
    pub app: App,
}

/// Returns workers of the same kind as the processes that read plugins.
fn workers(reader: &PluginReader) -> Workers {
    match reader {
        PluginReader::InProcess => swapmeet::worker_in_thread(),
        PluginReader::Child { .. } => Workers {
            kind: WorkerKind::Processes(vec![program().into(), "worker".into()]),
            jobs: 1,
            memory_limit: 4 << 30,
        },
    }
}

impl Session {
    /// Starts a session with some of the bundled plugins and an experiment, to which a default
    /// workload and machine are added.
    pub(super) fn new(text: &str) -> Self {
        // A fixed list of plugins keeps the snapshots independent of new plugins.
        let plugins = ["classic", "hypercube", "liu", "suh_shin", "thakur"];
        let file = |name| plugin_file(&format!("swapmeet_plugin_{name}"));
        Self::with(&plugins.map(file), &PluginReader::InProcess, text)
    }

    pub(super) fn run(text: &str) -> Self {
        let mut session = Self::new(text);
        session.type_and_wait("R");
        session
    }

    /// Starts a session that continues with the state of another one.
    pub(super) fn with_state(text: &str, state: &str) -> Self {
        let plugins =
            ["classic", "thakur"].map(|name| plugin_file(&format!("swapmeet_plugin_{name}")));
        let mut options = Options::default();
        options.set_state(state.to_owned());
        Self::start(&plugins, &PluginReader::InProcess, text, options)
    }

    pub(super) fn with(plugins: &[PathBuf], reader: &PluginReader, text: &str) -> Self {
        Self::start(plugins, reader, text, Options::default())
    }

    /// Starts a session whose cases are an example that the user has not requested. They run at once.
    pub(super) fn example(text: &str) -> Self {
        let plugins =
            ["classic", "synthesis"].map(|name| plugin_file(&format!("swapmeet_plugin_{name}")));
        let setup = Self::setup(&plugins, &PluginReader::InProcess, text);
        let grid = CaseGrid::new(&setup.experiment, &setup.registry).unwrap();
        let setup = Setup { cases: grid.iter().collect(), is_example: true, ..setup };
        Self::open(setup, Options::default())
    }

    /// Starts a session that shows rows from files.
    pub(super) fn opened(opened: Vec<Record>) -> Self {
        let plugins =
            ["classic", "thakur"].map(|name| plugin_file(&format!("swapmeet_plugin_{name}")));
        let setup = Self::setup(&plugins, &PluginReader::InProcess, "");
        let experiment = experiment_of(opened.iter(), &setup.registry);
        let mut session = Self::open(Setup { opened, experiment, ..setup }, Options::default());
        session.settle();
        session
    }

    fn start(plugins: &[PathBuf], reader: &PluginReader, text: &str, options: Options) -> Self {
        Self::open(Self::setup(plugins, reader, text), options)
    }

    fn open(setup: Setup, options: Options) -> Self {
        let appearance = Appearance { theme: Theme::named("default").unwrap(), ascii: false };
        Self { app: App::new(setup, options, appearance) }
    }

    fn setup(plugins: &[PathBuf], reader: &PluginReader, text: &str) -> Setup {
        let mut experiment = experiment(text);
        for (list, default) in
            [(&mut experiment.workloads, "uniform:64"), (&mut experiment.machines, "paragon")]
        {
            if list.is_empty() {
                list.push(swapmeet_runner::input::Text::flag("default", default));
            }
        }
        Setup {
            registry: Registry::named(plugins, reader).unwrap(),
            plugin_dirs: Vec::new(),
            experiment,
            cases: Vec::new(),
            found: Vec::new(),
            opened: Vec::new(),
            follow: Vec::new(),
            notes: Vec::new(),
            is_example: false,
            default_machine: None,
            render: |_, _| Err("nothing is drawn without the program".to_owned()),
            workers: workers(reader),
            rows: None,
            out: None,
        }
    }

    pub(super) fn plain(&mut self) {
        self.app.set_appearance(Appearance { theme: Theme::named("mono").unwrap(), ascii: true });
    }

    pub(super) fn key(&mut self, code: KeyCode) {
        self.draw(80, 24);
        self.app.key(&KeyEvent::new(code, KeyModifiers::NONE));
    }

    pub(super) fn control(&mut self, c: char) {
        self.app.key(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    }

    pub(super) fn keys(&mut self, text: &str) {
        text.chars().for_each(|c| self.key(KeyCode::Char(c)));
    }

    pub(super) fn type_and_wait(&mut self, text: &str) {
        self.keys(text);
        self.settle();
    }

    /// Processes events until no work is in progress.
    pub(super) fn settle(&mut self) {
        loop {
            self.app.tick(Duration::ZERO);
            if !self.app.expects_events() {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn draw(&mut self, width: u16, height: u16) -> (Buffer, ClickMap) {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut clicks = ClickMap::default();
        terminal.draw(|frame| clicks = draw(frame, &mut self.app)).unwrap();
        (terminal.backend().buffer().clone(), clicks)
    }

    /// Draws one panel into an area of a larger buffer that is filled with [`MARKER`].
    pub(super) fn draw_panel(&mut self, panel: usize, area: Rect) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(260, 90)).unwrap();
        let draw = |frame: &mut Frame<'_>| {
            for cell in &mut frame.buffer_mut().content {
                cell.set_symbol(MARKER);
            }
            draw_panel(frame, &mut self.app, panel, area);
        };
        terminal.draw(draw).unwrap();
        terminal.backend().buffer().clone()
    }

    /// Returns the screen as text. Times that differ between runs are replaced.
    pub(super) fn screen(&mut self, width: u16, height: u16) -> String {
        let (buffer, _) = self.draw(width, height);
        lines(&buffer).iter().map(|line| without_clock(line)).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn is_coloured(&mut self, width: u16, height: u16) -> bool {
        let (buffer, _) = self.draw(width, height);
        buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    }

    /// Returns the colour of the first occurrence of a text in a theme, as red, green and blue.
    pub(super) fn colour_of(&mut self, theme: &str, text: &str) -> [u8; 3] {
        self.app.set_appearance(Appearance { theme: Theme::named(theme).unwrap(), ascii: false });
        let (buffer, _) = self.draw(200, 60);
        let lines = lines(&buffer);
        let (row, line) = lines.iter().enumerate().find(|(_, line)| line.contains(text)).unwrap();
        let column = line[..line.find(text).unwrap()].chars().count();
        contrast::rgb(buffer[(column as u16, row as u16)].fg, [0; 3])
    }

    /// Draws the screen in the theme with this name. Returns the first character whose contrast is
    /// below the minimum of WCAG 2, with its row.
    pub(super) fn unreadable(&mut self, theme: &str, width: u16, height: u16) -> Option<String> {
        self.app.set_appearance(Appearance { theme: Theme::named(theme).unwrap(), ascii: false });
        let (buffer, _) = self.draw(width, height);
        let contrast = |cell: &Cell| contrast(cell.fg, cell.bg, theme == "light");
        let is_bad = |cell: &Cell| cell.symbol() != " " && contrast(cell) < 4.5;
        let at = buffer.content.iter().position(is_bad)?;
        let row = lines(&buffer).swap_remove(at / usize::from(width));
        let cell = &buffer.content[at];
        Some(format!("{theme}: {:.1} of `{}` in {row}", contrast(cell), cell.symbol()))
    }

    pub(super) fn cursor_row(&mut self, width: u16, height: u16) -> usize {
        let (buffer, _) = self.draw(width, height);
        let is_cursor = |row: &&[Cell]| row[1..].iter().any(|cell| cell.bg == Color::Cyan);
        let rows: Vec<&[Cell]> = buffer.content.chunks(usize::from(width)).collect();
        // The first row contains the tabs.
        rows.iter().skip(1).position(is_cursor).expect("a cursor") + 1
    }

    /// Returns the line under the cursor without the frame.
    pub(super) fn cursor_line(&mut self, width: u16, height: u16) -> String {
        let row = self.cursor_row(width, height);
        self.screen(width, height)
            .lines()
            .nth(row)
            .unwrap()
            .trim_matches(['│', ' ', '†'])
            .to_owned()
    }

    fn mouse_on(&mut self, width: u16, height: u16, text: &str, kind: MouseEventKind) {
        let (buffer, clicks) = self.draw(width, height);
        let lines = lines(&buffer);
        // Find the first line that contains the text.
        let (row, line) = lines.iter().enumerate().find(|(_, line)| line.contains(text)).unwrap();
        let column = line[..line.find(text).unwrap()].chars().count();
        let event = MouseEvent {
            kind,
            column: column as u16,
            row: row as u16,
            modifiers: KeyModifiers::NONE,
        };
        self.app.mouse(&event, &clicks);
    }

    /// Clicks on the first occurrence of a text.
    pub(super) fn click_on(&mut self, width: u16, height: u16, text: &str) {
        self.mouse_on(width, height, text, MouseEventKind::Down(MouseButton::Left));
    }

    /// Turns the mouse wheel down while the mouse is over the first occurrence of a text.
    pub(super) fn wheel_on(&mut self, width: u16, height: u16, text: &str, notches: usize) {
        for _ in 0..notches {
            self.mouse_on(width, height, text, MouseEventKind::ScrollDown);
        }
    }
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned())
        .collect()
}

/// Replaces times of this computer, which differ between runs.
fn without_clock(line: &str) -> String {
    for column in ["plan_ms", "wall_ms"] {
        if let Some(at) = line.find(column) {
            return format!("{}{column} ..", &line[..at]);
        }
    }
    line.to_owned()
}
