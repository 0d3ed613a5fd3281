//! Keys that work in every view, and the mouse.

use super::prompt::{Command, Purpose};
use super::{App, Confirmation, ExitMode, Help, Prompt, TerminalRequest};
use crate::click_map::{ClickMap, ClickTarget, PanelPosition};
use crate::filter::Filter;
use crate::keys::{
    Binding, DOWN, FIRST, Key, LAST, LEFT, RIGHT, UP, bind, ch, ctrl, digit, find, key, translate,
};
use crate::panels::{Overlay, VIEWS};
use crate::session::Requests;
use crossterm::event::{
    KeyCode as K, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind,
};
use swapmeet_results::units;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Help,
    Quit,
    QuitNow,
    QuitPrinting,
    Run,
    Add,
    Retry,
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
    Details,
    Log,
    EqualCharges,
    NextView,
    PreviousView,
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
    Back,
}

/// The key table for all views.
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
        .hint("run missing")
        .ranked(3),
    bind(Action::Retry, &[ch('!')], "run the failed cases again").hint("retry failed"),
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
    bind(
        Action::Render,
        &[ch('F')],
        "write what is on the screen as a figure, or a report of all rows",
    ),
    bind(Action::Details, &[ch('d')], "show the details of the selected case"),
    bind(Action::Log, &[ch('L')], "show the log").hint("log"),
    bind(
        Action::EqualCharges,
        &[ch('E')],
        "charge all algorithms equally for rearrangement; again: as the machine does",
    )
    .hint("equal charges"),
    bind(Action::Copy, &[ch('y')], "copy the command that runs the selection"),
    bind(Action::Undo, &[ch('u')], "undo the last change of selection, baseline or sliders")
        .hint("undo"),
    bind(Action::Redo, &[ctrl('r')], "redo the change that was undone last"),
    bind(Action::Command, &[ch(':')], "search all keys by words and run one").hint("commands"),
    bind(Action::Filter, &[ch('/')], "filter lines by words (!word: without it); Esc shows all")
        .hint("filter"),
    bind(Action::Expand, &[ch('e')], "show one view, or two next to each other").hint("split"),
    bind(Action::Freeze, &[ch('f')], "freeze the screen; cases continue in the background"),
    bind(Action::NextView, &[key(K::Tab)], "go to the next view"),
    bind(Action::PreviousView, &[key(K::BackTab)], "go to the previous view"),
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
    bind(Action::Back, &[key(K::Esc)], "close the input, overlay or filter")
        .hint("close")
        .ranked(0),
    bind(Action::QuitPrinting, &[ch('Q')], "quit and print the results on the normal screen"),
    bind(Action::QuitNow, &[ctrl('c')], "quit immediately, without confirmation"),
];

const MANY_CASES: u64 = 1_000;

impl App {
    pub fn key(&mut self, event: &KeyEvent) {
        if event.kind != KeyEventKind::Release {
            self.press_key(event);
            self.sync();
        }
    }

    fn press_key(&mut self, event: &KeyEvent) {
        let (key, tables) = (Key::of(event), self.tables_in_use());
        let Some((default, table)) = translate(key, &tables) else { return };
        if self.prompt.is_some() {
            let translated = default.event();
            return self.type_key(if default == key { event } else { &translated });
        }
        // The last table applies in every view.
        self.command_key(default, table == Some(tables.len() - 1));
    }

    /// Handles the default key of an action. `is_anywhere` is set if the action applies in every
    /// view: the panel may have another action with this key.
    fn command_key(&mut self, key: Key, is_anywhere: bool) {
        let anywhere = find(ANYWHERE, key);
        if self.confirmation.is_some() {
            return self.answer(key, anywhere);
        }
        if self.help.is_some() && anywhere != Some(Action::QuitNow) {
            return self.scroll_help(anywhere);
        }
        if anywhere != Some(Action::Freeze) {
            self.session.message = None;
        }
        if !is_anywhere && self.press(key) {
            return;
        }
        let view = (0..VIEWS).find(|view| digit(*view).is_some_and(|digit| ch(digit) == key));
        let picture = self.views[self.current()].picture_of(key);
        match (view, picture.filter(|_| !is_anywhere), anywhere) {
            (Some(view), _, _) => self.show(view),
            (None, Some(picture), _) => {
                self.views[self.active].show(picture);
                self.activate(self.active);
            }
            (None, None, Some(action)) => self.act(action),
            (None, None, None) => {}
        }
    }

    fn press(&mut self, key: Key) -> bool {
        let mut is_handled = false;
        self.with_panel(|panel, session| {
            let requests = panel.press(key, session);
            is_handled = requests.is_some();
            requests.unwrap_or_default()
        });
        is_handled
    }

    /// Runs a command of the palette in the view that has it.
    pub(super) fn perform(&mut self, command: &Command) {
        if let Some((view, picture)) = command.place {
            self.overlay = None;
            self.views[view].show(picture);
            self.activate(view);
        }
        self.command_key(command.row.default_key(), command.place.is_none());
    }

    fn act(&mut self, action: Action) {
        let page = self.panel().list().page.max(2) as isize - 1;
        match action {
            Action::Quit => self.quit(ExitMode::Plain),
            Action::QuitPrinting => self.quit(ExitMode::PrintRows),
            Action::QuitNow => self.exit = Some(ExitMode::Plain),
            Action::Help => self.help = Some(Help::default()),
            Action::Back => self.back(),
            Action::Up => self.with_panel(|panel, session| panel.step(-1, session)),
            Action::Down => self.with_panel(|panel, session| panel.step(1, session)),
            Action::PageUp => self.with_panel(|panel, session| panel.step(-page, session)),
            Action::PageDown => self.with_panel(|panel, session| panel.step(page, session)),
            Action::First => self.with_panel(|panel, session| panel.go_to_end(false, session)),
            Action::Last => self.with_panel(|panel, session| panel.go_to_end(true, session)),
            Action::Left => self.with_panel(|panel, session| panel.sideways(-1, session)),
            Action::Right => self.with_panel(|panel, session| panel.sideways(1, session)),
            Action::NextView => self.activate((self.active + 1) % VIEWS),
            Action::PreviousView => self.activate((self.active + VIEWS - 1) % VIEWS),
            Action::Details => self.overlay = Some(Overlay::Details),
            Action::Log => self.overlay = Some(Overlay::Log),
            Action::Expand => self.expanded = !self.expanded,
            Action::Filter if self.panel().has_filter() => {
                let title = "filter: words; pex|gen: either; !pex: without";
                let text = self.panel().list().filter.text().to_owned();
                self.prompt = Some(Prompt::new(Purpose::Filter, title, &text));
            }
            Action::Filter => self.session.show_message("nothing to filter here", false),
            Action::Freeze if self.session.runs.frozen => self.session.unfreeze(),
            Action::Freeze => self.session.runs.frozen = true,
            Action::Run => match self.question(Confirmation::Run) {
                Some(_) => self.confirmation = Some(Confirmation::Run),
                None => self.session.run(),
            },
            Action::Add => self.session.add(),
            Action::Retry => self.session.retry(),
            Action::Stop if self.session.queue.is_busy() => {
                self.confirmation = Some(Confirmation::Stop);
            }
            Action::Stop => self.session.stop(),
            Action::EqualCharges => self.session.switch_charges(),
            Action::Baseline => {
                let name = self.panel().algorithm(&self.session);
                self.session.mark_baseline(name);
            }
            Action::Save => {
                let title = "save the experiment as";
                let prompt = Prompt::for_file(Purpose::SaveAs, title, "toml", &self.session.chosen);
                self.prompt = Some(prompt);
            }
            Action::Copy => match self.session.chosen.command(&self.session.plugin_dirs) {
                Ok(command) => {
                    self.session.report(&format!("copied: {command}"), false);
                    self.terminal_request = Some(TerminalRequest::Copy(command));
                }
                Err(why) => self.session.show_message(why, true),
            },
            Action::Undo => self.session.undo(false),
            Action::Redo => self.session.undo(true),
            Action::Command => self.prompt = Some(Prompt::new(Purpose::Command, "command", "")),
            Action::Render => {
                let title = "write a figure or report to";
                let prompt = Prompt::for_file(Purpose::Render, title, "svg", &self.session.chosen);
                self.prompt = Some(prompt);
            }
            Action::Theme => {
                self.appearance.theme = self.appearance.theme.next();
                self.session.show_message(&format!("theme: {}", self.appearance.theme.name), false);
            }
            Action::Redraw => self.terminal_request = Some(TerminalRequest::Redraw),
            Action::Suspend => self.terminal_request = Some(TerminalRequest::Suspend),
        }
    }

    fn quit(&mut self, how: ExitMode) {
        match self.question(Confirmation::Exit(how)) {
            Some(_) => self.confirmation = Some(Confirmation::Exit(how)),
            None => self.exit = Some(how),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.session.queue.is_busy() && !self.session.runs.is_example
    }

    /// Returns the title of a question, its text and its keys; `None` if nothing would be lost, and
    /// no run of many cases would start.
    pub(super) fn question(
        &self,
        confirmation: Confirmation,
    ) -> Option<(&'static str, String, &'static str)> {
        let (session, tally) = (&self.session, self.session.queue.tally());
        let unrun = units::count(tally.open(), "case");
        let rows = units::count(tally.rows(), "row");
        let is_opened = session.runs.is_opened && tally.rows() > 0;
        Some(match confirmation {
            Confirmation::Exit(ExitMode::Plain) if self.is_busy() => {
                let text = format!("{unrun} not finished. Quit anyway?");
                ("Quit", text, "y or q: quit   n or Esc: stay")
            }
            Confirmation::Exit(ExitMode::PrintRows) if self.is_busy() => {
                let text = format!("{unrun} not finished. Quit and print {rows}?");
                ("Quit", text, "y or Q: quit   n or Esc: stay")
            }
            Confirmation::Exit(ExitMode::Plain) if self.has_unsaved() => {
                let text = format!("{rows} on screen not saved. Quit anyway?");
                ("Quit", text, "y or q: quit   n or Esc: stay (S saves, Q prints)")
            }
            Confirmation::Run if self.is_busy() => {
                let text = format!("{unrun} not finished. Cancel and start a new run?");
                ("Run", text, "y or R: new run   n or Esc: continue")
            }
            Confirmation::Run if self.has_unsaved() => {
                let text = format!("{rows} on screen not saved. Discard and run?");
                ("Run", text, "y or R: run   n or Esc: keep them (a adds, S saves)")
            }
            Confirmation::Run if is_opened => {
                let text = format!("Replace {rows} from files by {}?", session.chosen.size());
                ("Run", text, "y or R: run   n or Esc: keep them (a adds)")
            }
            Confirmation::Run if session.chosen.count() > MANY_CASES => {
                let selected = session.chosen.size();
                let text = format!("{selected} selected, more than {MANY_CASES}. Run them?");
                ("Run", text, "y or R: run   n or Esc: cancel")
            }
            Confirmation::Stop if session.queue.is_busy() => {
                let text = format!("{unrun} not finished. Cancel them?");
                ("Cancel", text, "y or x: cancel   n or Esc: continue")
            }
            _ => return None,
        })
    }

    /// Returns whether rows that the user has requested are in no file.
    fn has_unsaved(&self) -> bool {
        let (tally, runs) = (self.session.queue.tally(), &self.session.runs);
        tally.rows() > 0 && runs.out.is_none() && !runs.saved && !runs.is_example
    }

    /// Handles the answer to a question. The key that caused it confirms like `y`.
    fn answer(&mut self, key: Key, action: Option<Action>) {
        let Some(question) = self.confirmation.take() else { return };
        let yes = [ch('y'), ch('Y')].contains(&key);
        match (question, action) {
            (_, Some(Action::QuitNow)) => self.exit = Some(ExitMode::Plain),
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
        let current = self.current();
        if self.views[current].panel_mut().close() {
            return;
        }
        if !self.panel().list().filter.text().is_empty() {
            self.filter(Filter::default());
        } else if self.overlay.take().is_none() && self.session.runs.frozen {
            self.session.unfreeze();
        }
    }

    pub(super) fn filter(&mut self, filter: Filter) {
        self.with_panel(|panel, session| {
            panel.list_mut().filter = filter;
            panel.clamp(session);
            Requests::new()
        });
    }
}

const WHEEL_LINES: isize = 3;

impl App {
    /// Handles a mouse event, given the clickable areas of the last frame.
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
        // A click closes a text input, except on one of its hints.
        if self.prompt.is_some() && !matches!(target, ClickTarget::Key(_)) {
            self.cancel();
        }
        match target {
            ClickTarget::Key(key) => self.press_key(&key.event()),
            ClickTarget::Panel(panel, position) => {
                let current = self.panel().current_line(&self.session);
                let again =
                    panel == self.current() && current.map(PanelPosition::Line) == Some(position);
                if panel < VIEWS {
                    self.overlay = None;
                    self.activate(panel);
                }
                self.with_panel(|panel, session| match position {
                    PanelPosition::Line(_) if again => panel.open(session),
                    PanelPosition::Line(line) => panel.go_to(line, session),
                    PanelPosition::Anywhere
                    | PanelPosition::Heading(_)
                    | PanelPosition::Mark(_) => panel.click(position, session),
                });
            }
            ClickTarget::Tab(view) => self.show(view),
        }
    }

    fn wheel(&mut self, target: ClickTarget, by: isize) {
        if let Some(help) = &mut self.help {
            help.scrolled = help.scrolled.saturating_add_signed(by);
        } else if let (ClickTarget::Panel(panel, _), None) = (target, &self.prompt) {
            if panel < VIEWS {
                self.overlay = None;
                self.activate(panel);
            }
            self.with_panel(|panel, session| panel.step(by, session));
        }
    }
}
