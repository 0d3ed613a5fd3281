//! Keys that work in every panel, and the mouse. A click selects a line, a second click on the same
//! line opens it, and the wheel scrolls.

use super::prompt::{Command, Purpose};
use super::{App, Confirmation, ExitMode, Help, Prompt, TerminalRequest, panel_of};
use crate::click_map::{ClickMap, ClickTarget, PanelPosition};
use crate::filter::Filter;
use crate::keys::{Binding, DOWN, FIRST, Key, LAST, LEFT, RIGHT, UP, bind, ch, ctrl, find, key};
use crossterm::event::{
    KeyCode as K, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Help,
    /// Exit. If cases still run or rows are unsaved, the user must confirm first.
    Quit,
    QuitNow,
    QuitPrinting,
    Run,
    /// Run only the selected cases that have no row yet.
    Add,
    Stop,
    Baseline,
    Save,
    Copy,
    Render,
    Undo,
    Redo,
    Command,
    Filter,
    Expand,
    Freeze,
    NextPanel,
    PreviousPanel,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    First,
    Last,
    Theme,
    Redraw,
    Suspend,
    /// Close the innermost open element, such as a form, a filter or an expanded panel.
    Back,
}

pub(super) const FILTER: &[Key] = &[ch('/')];

/// The key table for all panels. The bottom line shows hints with low ranks first. The keys for
/// help, for quitting, for running and for switching panels have the lowest ranks.
pub(super) const ANYWHERE: &[Binding<Action>] = &[
    bind(Action::Help, &[ch('?'), key(K::F(1))], "show all keys; any key closes the list")
        .hint("help")
        .ranked(0),
    bind(
        Action::Quit,
        &[ch('q')],
        "quit; asks for confirmation if cases run or rows are unsaved (y or q confirms)",
    )
    .hint("quit")
    .ranked(0),
    bind(
        Action::Run,
        &[ch('R'), key(K::F(5))],
        "run all selected cases; asks for confirmation if rows would be lost",
    )
    .hint("run")
    .ranked(1),
    bind(Action::Add, &[ch('a')], "run the selected cases that have no row yet")
        .hint("add")
        .ranked(1),
    bind(
        Action::Stop,
        &[ch('x')],
        "cancel the run after confirmation (y or x confirms); unfinished cases get no row",
    )
    .hint("stop"),
    bind(Action::Baseline, &[ch('b')], "make this algorithm the baseline; again: the fastest"),
    bind(
        Action::Save,
        &[ch('S'), ctrl('s')],
        "save the selection as an experiment and the rows as CSV",
    )
    .hint("save"),
    bind(Action::Render, &[ch('F')], "write a figure of this panel, or a report of all rows"),
    bind(Action::Copy, &[ch('y')], "copy the command that runs the selection"),
    bind(Action::Undo, &[ch('u')], "undo the last change of selection, baseline or sliders")
        .hint("undo"),
    bind(Action::Redo, &[ctrl('r')], "redo the change that was undone last"),
    bind(Action::Command, &[ch(':')], "search all keys by words and run one").hint("commands"),
    bind(Action::Filter, FILTER, "filter lines by words (!word: without it); Esc shows all")
        .hint("filter"),
    bind(Action::Expand, &[ch('e')], "expand the panel to the whole screen, or restore it")
        .hint("expand"),
    bind(
        Action::Freeze,
        &[ch(' '), ch('f')],
        "freeze the screen; cases continue in the background",
    ),
    bind(Action::NextPanel, &[key(K::Tab)], "go to the next panel").hint("next panel"),
    bind(Action::PreviousPanel, &[key(K::BackTab)], "go to the previous panel"),
    bind(Action::Up, UP, "move up"),
    bind(Action::Down, DOWN, "move down"),
    bind(Action::Left, LEFT, "move left"),
    bind(Action::Right, RIGHT, "move right"),
    bind(Action::PageUp, &[key(K::PageUp), ctrl('b')], "move up one page"),
    bind(Action::PageDown, &[key(K::PageDown), ctrl('f')], "move down one page"),
    bind(Action::First, FIRST, "go to the first line"),
    bind(Action::Last, LAST, "go to the last line"),
    bind(Action::Theme, &[ch('t')], "switch to the next theme"),
    bind(Action::Redraw, &[ctrl('l')], "redraw the screen"),
    bind(Action::Suspend, &[ctrl('z')], "suspend to the shell (`fg` returns)"),
    bind(Action::Back, &[key(K::Esc)], "close the input, filter or expanded panel"),
    bind(Action::QuitPrinting, &[ch('Q')], "quit and print the results on the normal screen"),
    bind(Action::QuitNow, &[ctrl('c')], "quit immediately, without confirmation"),
];

impl App {
    pub fn key(&mut self, event: &KeyEvent) {
        if event.kind == KeyEventKind::Release {
            return;
        }
        let anywhere = find(ANYWHERE, event);
        if self.prompt.is_some() {
            self.type_key(event);
        } else if self.confirmation.is_some() {
            self.answer(event, anywhere);
        } else if self.help.is_some() && anywhere != Some(Action::QuitNow) {
            self.scroll_help(anywhere);
        } else {
            if anywhere != Some(Action::Freeze) {
                self.session.message = None;
            }
            if !self.panels[self.active].press(event, &mut self.session) {
                let number = panel_of(event, self.panels.len());
                match (number, anywhere) {
                    (Some(number), _) => self.show(number),
                    (None, Some(action)) => self.act(action),
                    (None, None) => {}
                }
            }
        }
        self.sync();
    }

    /// Runs a command that the user has chosen from the command palette. The command runs in the
    /// panel that defines it.
    pub(super) fn perform(&mut self, command: &Command) {
        let Some(event) = command.row.keys.first().map(|key| key.event()) else { return };
        if let Some(panel) = command.panel {
            self.show(panel);
            self.panels[panel].press(&event, &mut self.session);
        } else if let Some(panel) = panel_of(&event, self.panels.len()) {
            self.show(panel);
        } else if let Some(action) = find(ANYWHERE, &event) {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        let loses = self.is_busy() || self.has_unsaved();
        let (panel, session) = (&mut self.panels[self.active], &mut self.session);
        let page = panel.list().page.max(2) as isize - 1;
        match action {
            Action::Quit => self.quit(ExitMode::Plain),
            Action::QuitPrinting => self.quit(ExitMode::PrintRows),
            Action::QuitNow => self.exit = Some(ExitMode::Plain),
            Action::Help => self.help = Some(Help::default()),
            Action::Back => self.back(),
            // Movement. Each panel defines what it does for a step up, down, left or right.
            Action::Up => panel.step(-1, session),
            Action::Down => panel.step(1, session),
            Action::PageUp => panel.step(-page, session),
            Action::PageDown => panel.step(page, session),
            Action::First => panel.go_to_end(false, session),
            Action::Last => panel.go_to_end(true, session),
            Action::Left => panel.sideways(-1, session),
            Action::Right => panel.sideways(1, session),
            // Views: select, expand or filter a panel.
            Action::NextPanel => self.show((self.active + 1) % self.panels.len()),
            Action::PreviousPanel => {
                self.show((self.active + self.panels.len() - 1) % self.panels.len());
            }
            Action::Expand => self.expanded = !self.expanded,
            Action::Filter => {
                self.prompt = Some(match panel.no_filter_reason() {
                    Some(why) => Prompt::new(Purpose::NoFilter, why, ""),
                    None => {
                        let title = "filter: words; pex|gen: either; !pex: without";
                        Prompt::new(Purpose::Filter, title, panel.list().filter.text())
                    }
                });
            }
            // Runs: start, add to, stop or freeze a run.
            Action::Freeze if session.runs.frozen => session.unfreeze(),
            Action::Freeze => session.runs.frozen = true,
            // A new run would cancel running cases and discard unsaved rows, so ask the user first.
            Action::Run if loses => self.confirmation = Some(Confirmation::Run),
            Action::Run => session.run(),
            Action::Add => session.add(),
            Action::Stop if session.queue.is_busy() => self.confirmation = Some(Confirmation::Stop),
            Action::Stop => session.stop(),
            Action::Baseline => {
                let name = panel.algorithm(session);
                session.mark_baseline(name);
            }
            // Other commands: open a prompt, undo, or change the appearance.
            Action::Save => {
                let title = "save the experiment as";
                let prompt = Prompt::for_file(Purpose::SaveAs, title, "toml", &session.chosen);
                self.prompt = Some(prompt);
            }
            Action::Copy => match session.chosen.command(&session.plugin_dirs) {
                Ok(command) => {
                    session.show_message(&format!("copied: {command}"), false);
                    self.terminal_request = Some(TerminalRequest::Copy(command));
                }
                Err(why) => session.show_message(why, true),
            },
            Action::Undo => session.undo(),
            Action::Redo => session.redo(),
            Action::Command => self.prompt = Some(Prompt::new(Purpose::Command, "command", "")),
            Action::Render => {
                let title = "write a figure or report to";
                let prompt = Prompt::for_file(Purpose::Render, title, "svg", &session.chosen);
                self.prompt = Some(prompt);
            }
            Action::Theme => {
                self.appearance.theme = self.appearance.theme.next();
                session.show_message(&format!("theme: {}", self.appearance.theme.name), false);
            }
            Action::Redraw => self.terminal_request = Some(TerminalRequest::Redraw),
            Action::Suspend => self.terminal_request = Some(TerminalRequest::Suspend),
        }
    }

    fn quit(&mut self, how: ExitMode) {
        let leaves_rows = how == ExitMode::PrintRows;
        if self.is_busy() || (!leaves_rows && self.has_unsaved()) {
            self.confirmation = Some(Confirmation::Exit(how));
        } else {
            self.exit = Some(how);
        }
    }

    /// Returns whether cases are running that the user has requested, and not only the example.
    fn is_busy(&self) -> bool {
        self.session.queue.is_busy() && !self.session.runs.is_example
    }

    /// Returns whether there are rows that the user has requested and that are in no file yet.
    fn has_unsaved(&self) -> bool {
        let (tally, runs) = (self.session.queue.tally(), &self.session.runs);
        tally.rows() > 0 && runs.out.is_none() && !runs.saved && !runs.is_example
    }

    /// Handles a key while a question waits for confirmation. `y` confirms, and so does the key
    /// that caused the question.
    fn answer(&mut self, event: &KeyEvent, action: Option<Action>) {
        let Some(question) = self.confirmation.take() else { return };
        let yes = matches!(event.code, K::Char('y' | 'Y'));
        match (question, action) {
            (_, Some(Action::QuitNow)) => self.exit = Some(ExitMode::Plain),
            // If `q` waits for confirmation, `Q` exits and prints the rows.
            (Confirmation::Exit(_), Some(Action::QuitPrinting)) => {
                self.exit = Some(ExitMode::PrintRows);
            }
            (Confirmation::Exit(how), again)
                if yes || (how == ExitMode::Plain && again == Some(Action::Quit)) =>
            {
                self.exit = Some(how);
            }
            (Confirmation::Run, again) if yes || again == Some(Action::Run) => self.session.run(),
            (Confirmation::Stop, again) if yes || again == Some(Action::Stop) => {
                self.session.stop();
            }
            (Confirmation::Exit(_) | Confirmation::Run | Confirmation::Stop, _) => {}
        }
    }

    fn scroll_help(&mut self, action: Option<Action>) {
        let Some(help) = &mut self.help else { return };
        let page = help.page.max(2) - 1;
        let line = help.scrolled;
        help.scrolled = match action {
            Some(Action::Up) => line.saturating_sub(1),
            Some(Action::Down) => line + 1,
            Some(Action::PageUp) => line.saturating_sub(page),
            Some(Action::PageDown) => line + page,
            Some(Action::First) => 0,
            Some(Action::Last) => usize::MAX / 2,
            Some(_) | None => return self.help = None,
        };
    }

    fn back(&mut self) {
        let panel = &mut self.panels[self.active];
        if panel.close() {
            return;
        }
        if !panel.list().filter.text().is_empty() {
            self.filter(Filter::default());
        } else if self.expanded {
            self.expanded = false;
        } else if self.session.runs.frozen {
            self.session.unfreeze();
        } else {
            panel.back(&mut self.session);
        }
    }

    /// Filters the lines of the active panel. The line under its cursor may change, so this also
    /// updates everything that depends on that line.
    pub(super) fn filter(&mut self, filter: Filter) {
        let panel = &mut self.panels[self.active];
        panel.list_mut().filter = filter;
        panel.clamp(&self.session);
        panel.cursor_moved(&mut self.session);
    }
}

const WHEEL_LINES: isize = 3;

impl App {
    /// Handles a mouse event. `clicks` contains the clickable areas of the last frame.
    pub fn mouse(&mut self, event: &MouseEvent, clicks: &ClickMap) {
        let Some(target) = clicks.at(event.column, event.row) else { return };
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(target),
            MouseEventKind::ScrollUp => self.wheel(target, -WHEEL_LINES),
            MouseEventKind::ScrollDown => self.wheel(target, WHEEL_LINES),
            _ => {}
        }
        self.sync();
    }

    fn click(&mut self, target: ClickTarget) {
        if self.confirmation.is_some() || self.help.is_some() {
            (self.confirmation, self.help) = (None, None);
            return;
        }
        if self.prompt.is_some() {
            return;
        }
        match target {
            ClickTarget::Key(key) => self.key(&key.event()),
            ClickTarget::Panel(panel, position) => {
                let again = self.active == panel
                    && position == PanelPosition::Line(self.panels[panel].list().cursor);
                self.show(panel);
                let (panel, session) = (&mut self.panels[panel], &mut self.session);
                match position {
                    PanelPosition::Line(line) => {
                        panel.list_mut().cursor = line;
                        panel.clamp(session);
                        panel.cursor_moved(session);
                        if again {
                            panel.open(session);
                        }
                    }
                    PanelPosition::Anywhere
                    | PanelPosition::Heading(_)
                    | PanelPosition::Mark(_) => panel.click(position, session),
                }
            }
        }
    }

    fn wheel(&mut self, target: ClickTarget, by: isize) {
        if let Some(help) = &mut self.help {
            help.scrolled = help.scrolled.saturating_add_signed(by);
        } else if let (ClickTarget::Panel(panel, _), None) = (target, &self.prompt) {
            self.show(panel);
            self.panels[panel].step(by, &mut self.session);
        }
    }
}
