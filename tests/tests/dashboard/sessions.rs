//! A session without a terminal.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::{Frame, Terminal};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;
use std::time::Duration;
use swapmeet_runner::describe::PluginReader;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::registry::Registry;
use swapmeet_tests::build;
use swapmeet_tui::{App, Appearance, ClickMap, Setup, Theme, draw, draw_panel};

/// A symbol that no panel draws.
pub(super) const MARKER: &str = "¤";

/// An experiment of a text.
pub(super) fn experiment(text: &str) -> Experiment {
    Experiment::parse("test", text).unwrap()
}

/// A session with the bundled plugins.
pub(super) struct Session {
    pub app: App,
}

impl Session {
    /// A session that begins with an experiment picked; workload and machine if it names none.
    pub(super) fn new(text: &str) -> Self {
        // Pictures of the pickers stay the same when a plugin is added.
        let plugins = ["classic", "hypercube", "liu", "suh_shin", "thakur"];
        let file = |name| build().join(format!("{DLL_PREFIX}swapmeet_plugin_{name}{DLL_SUFFIX}"));
        Self::with(&plugins.map(file), &PluginReader::InProcess, text)
    }

    /// The same with these plugins.
    pub(super) fn with(plugins: &[PathBuf], reader: &PluginReader, text: &str) -> Self {
        let mut experiment = experiment(text);
        for (list, default) in
            [(&mut experiment.workloads, "uniform:64"), (&mut experiment.machines, "paragon")]
        {
            if list.is_empty() {
                list.push(swapmeet_runner::input::Text::flag("default", default));
            }
        }
        let setup = Setup {
            registry: Registry::named(plugins, reader).unwrap(),
            plugin_dirs: Vec::new(),
            experiment,
            cases: Vec::new(),
            found: Vec::new(),
            opened: Vec::new(),
            render: |_, _| Err("nothing is drawn without the program".to_owned()),
            workers: swapmeet_runner::worker::Workers {
                command: vec![build().join("swapmeet"), "worker".into()],
                jobs: 1,
                memory_limit: 4 << 30,
            },
            rows: None,
            out: None,
        };
        Self {
            app: App::new(
                setup,
                Appearance { theme: Theme::named("default").unwrap(), ascii: false },
            ),
        }
    }

    /// No colours, no Unicode.
    pub(super) fn plain(&mut self) {
        self.app.set_appearance(Appearance { theme: Theme::named("mono").unwrap(), ascii: true });
    }

    /// Presses a key, once there was something to look at.
    pub(super) fn key(&mut self, code: KeyCode) {
        self.draw(80, 24);
        self.app.key(&KeyEvent::new(code, KeyModifiers::NONE));
    }

    pub(super) fn control(&mut self, c: char) {
        self.app.key(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    }

    /// Types characters, one after another.
    pub(super) fn keys(&mut self, text: &str) {
        text.chars().for_each(|c| self.key(KeyCode::Char(c)));
    }

    /// Waits until all work is done.
    pub(super) fn settle(&mut self) {
        loop {
            self.app.tick(Duration::ZERO);
            if !self.app.is_moving() {
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

    /// The screen as text. What the clock says is left out.
    pub(super) fn screen(&mut self, width: u16, height: u16) -> String {
        let (buffer, _) = self.draw(width, height);
        lines(&buffer).iter().map(|line| without_clock(line)).collect::<Vec<_>>().join("\n")
    }

    /// Whether anything on the screen has a colour.
    pub(super) fn is_coloured(&mut self, width: u16, height: u16) -> bool {
        let (buffer, _) = self.draw(width, height);
        buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    }

    /// Which line of the screen has the cursor of the panel with the keys.
    pub(super) fn cursor_row(&mut self, width: u16, height: u16) -> usize {
        let (buffer, _) = self.draw(width, height);
        let is_cursor = |row: &&[Cell]| row[1..].iter().any(|cell| cell.bg == Color::Cyan);
        let rows: Vec<&[Cell]> = buffer.content.chunks(usize::from(width)).collect();
        // The tabs have one, too.
        rows.iter().skip(1).position(is_cursor).unwrap() + 1
    }

    /// What that line says, without the frame.
    pub(super) fn cursor_line(&mut self, width: u16, height: u16) -> String {
        let row = self.cursor_row(width, height);
        self.screen(width, height).lines().nth(row).unwrap().trim_matches(['│', ' ']).to_owned()
    }

    fn mouse_on(&mut self, width: u16, height: u16, text: &str, kind: MouseEventKind) {
        let (buffer, clicks) = self.draw(width, height);
        let lines = lines(&buffer);
        // The last line that has it: tabs come before panels.
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

    /// Clicks on the first place that has a text.
    pub(super) fn click_on(&mut self, width: u16, height: u16, text: &str) {
        self.mouse_on(width, height, text, MouseEventKind::Down(MouseButton::Left));
    }

    /// Turns the wheel down over the first place that has a text.
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

/// Times of this machine differ from run to run.
fn without_clock(line: &str) -> String {
    for column in ["plan_ms", "wall_ms"] {
        if let Some(at) = line.find(column) {
            return format!("{}{column} ..", &line[..at]);
        }
    }
    line.to_owned()
}
