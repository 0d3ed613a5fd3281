//! What keys mean anywhere, and what they do to the screen.

use super::prompt::Command;
use super::{App, Help, Leave, Prompt, Question, Wish, panel_of};
use crate::filter::Filter;
use crate::keys::{Binding, DOWN, FIRST, Key, LAST, LEFT, RIGHT, UP, bind, ch, ctrl, find, key};
use crossterm::event::{KeyCode as K, KeyEvent, KeyEventKind};

/// What a key can ask for anywhere but while typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Help,
    /// Leave, once it is clear that nothing is lost.
    Quit,
    QuitNow,
    /// Leave, and print the results on the normal screen.
    QuitLeaving,
    /// Run what is selected, from the start.
    Run,
    /// Run what is selected and not on screen yet.
    Add,
    Stop,
    Baseline,
    Save,
    Draw,
    Undo,
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
    /// Close what is open, step by step.
    Back,
}

pub(super) const FILTER: &[Key] = &[ch('/')];

/// The table. One who knows where to find the keys, the way out, and how to run and to get
/// elsewhere, finds the rest.
pub(super) const ANYWHERE: &[Binding<Action>] = &[
    bind(Action::Help, &[ch('?'), key(K::F(1))], "show these keys; any key closes them")
        .hint("help")
        .ranked(0),
    bind(
        Action::Quit,
        &[ch('q')],
        "leave; asks first while cases run or rows are in no file: y or q again leaves",
    )
    .hint("quit")
    .ranked(0),
    bind(
        Action::Run,
        &[ch('R'), key(K::F(5))],
        "run what is picked anew; asks first if that loses rows",
    )
    .hint("run")
    .ranked(1),
    bind(Action::Add, &[ch('a')], "run what is picked and has no row yet").hint("add").ranked(1),
    bind(Action::Stop, &[ch('x')], "give up what runs, which gets no row; begin nothing more")
        .hint("stop"),
    bind(Action::Baseline, &[ch('b')], "compare with this algorithm; again: with the fastest"),
    bind(
        Action::Save,
        &[ch('S'), ctrl('s')],
        "save what is picked as an experiment, rows as CSV beside it",
    )
    .hint("save"),
    bind(
        Action::Draw,
        &[ch('F')],
        "write a figure of what the panel shows, or a report, of the rows on screen",
    ),
    bind(
        Action::Undo,
        &[ch('u')],
        "take back the last change of what is picked, compared with or tried",
    )
    .hint("undo"),
    bind(Action::Command, &[ch(':')], "find any of these keys by words, and press it")
        .hint("commands"),
    bind(Action::Filter, FILTER, "show only lines with these words; Esc shows all").hint("filter"),
    bind(Action::Expand, &[ch('e')], "give the panel the whole screen, or share it again")
        .hint("expand"),
    bind(Action::Freeze, &[ch(' '), ch('f')], "hold the picture still; runs go on, rows are kept"),
    bind(Action::NextPanel, &[key(K::Tab)], "to the next panel").hint("next panel"),
    bind(Action::PreviousPanel, &[key(K::BackTab)], "to the panel before"),
    bind(Action::Up, UP, "one up"),
    bind(Action::Down, DOWN, "one down"),
    bind(Action::Left, LEFT, "one to the left"),
    bind(Action::Right, RIGHT, "one to the right"),
    bind(Action::PageUp, &[key(K::PageUp), ctrl('b')], "a page up"),
    bind(Action::PageDown, &[key(K::PageDown), ctrl('f')], "a page down"),
    bind(Action::First, FIRST, "to the first"),
    bind(Action::Last, LAST, "to the last"),
    bind(Action::Theme, &[ch('t')], "the next theme"),
    bind(Action::Redraw, &[ctrl('l')], "draw everything anew"),
    bind(Action::Suspend, &[ctrl('z')], "back to the shell for a while (`fg` returns)"),
    bind(Action::Back, &[key(K::Esc)], "close what is open: input, filter, expanded panel"),
    bind(Action::QuitLeaving, &[ch('Q')], "leave, and print the results on the normal screen"),
    bind(Action::QuitNow, &[ctrl('c')], "leave at once; finished rows are on disk"),
];

impl App {
    pub fn key(&mut self, event: &KeyEvent) {
        if event.kind == KeyEventKind::Release {
            return;
        }
        let anywhere = find(ANYWHERE, event);
        if self.prompt.is_some() {
            self.type_key(event);
        } else if self.asked.is_some() {
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
        self.settle();
    }

    /// Does what a row of the tables stands for, in the panel that it is of.
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
        let loses = self.run_loses();
        let (panel, session) = (&mut self.panels[self.active], &mut self.session);
        let page = panel.list().page.max(2) as isize - 1;
        match action {
            Action::Quit => self.quit(Leave::Plainly),
            Action::QuitLeaving => self.quit(Leave::WithRows),
            Action::QuitNow => self.leave = Some(Leave::Plainly),
            Action::Help => self.help = Some(Help::default()),
            Action::Back => self.back(),
            Action::Up => panel.step(-1, session),
            Action::Down => panel.step(1, session),
            Action::PageUp => panel.step(-page, session),
            Action::PageDown => panel.step(page, session),
            Action::First => panel.go_to_end(false, session),
            Action::Last => panel.go_to_end(true, session),
            Action::Left => panel.sideways(-1, session),
            Action::Right => panel.sideways(1, session),
            Action::NextPanel => self.show((self.active + 1) % self.panels.len()),
            Action::PreviousPanel => {
                self.show((self.active + self.panels.len() - 1) % self.panels.len())
            }
            Action::Expand => self.expanded = !self.expanded,
            Action::Filter => match panel.unfiltered() {
                Some(why) => session.tell(why, false),
                None => self.prompt = Some(Prompt::for_filter(panel.list().filter.text())),
            },
            Action::Freeze if session.runs.frozen => session.thaw(),
            Action::Freeze => session.runs.frozen = true,
            Action::Run if loses => self.asked = Some(Question::Run),
            Action::Run => session.run(),
            Action::Add => session.add(),
            Action::Stop => session.stop(),
            Action::Baseline => {
                let name = panel.algorithm(session);
                session.mark_baseline(name);
            }
            Action::Save => self.prompt = Some(Prompt::for_saving(&session.selection)),
            Action::Undo => session.undo(),
            Action::Command => self.prompt = Some(Prompt::for_command()),
            Action::Draw => self.prompt = Some(Prompt::for_drawing(&session.selection)),
            Action::Theme => {
                self.looks.theme = self.looks.theme.next();
                session.tell(&format!("theme: {}", self.looks.theme.name), false);
            }
            Action::Redraw => self.wish = Some(Wish::Redraw),
            Action::Suspend => self.wish = Some(Wish::Suspend),
        }
    }

    fn quit(&mut self, how: Leave) {
        let leaves_rows = how == Leave::WithRows;
        if self.session.queue.is_busy() || (!leaves_rows && self.has_unsaved()) {
            self.asked = Some(Question::Leave(how));
        } else {
            self.leave = Some(how);
        }
    }

    /// Whether to run anew loses rows that are nowhere else, or work.
    fn run_loses(&self) -> bool {
        self.session.queue.is_busy() || self.has_unsaved()
    }

    /// Whether there are rows that are in no file.
    fn has_unsaved(&self) -> bool {
        let (tally, runs) = (self.session.queue.tally(), &self.session.runs);
        let rows = tally.cases - tally.waiting - tally.running - tally.stopped;
        rows > 0 && runs.out.is_none() && !runs.saved
    }

    /// Does what a question was about, if the answer is yes or the same key again.
    fn answer(&mut self, event: &KeyEvent, action: Option<Action>) {
        let Some(question) = self.asked.take() else { return };
        let yes = matches!(event.code, K::Char('y' | 'Y'));
        match (question, action) {
            (_, Some(Action::QuitNow)) => self.leave = Some(Leave::Plainly),
            // Whoever asks for more than the question did gets it.
            (Question::Leave(_), Some(Action::QuitLeaving)) => self.leave = Some(Leave::WithRows),
            (Question::Leave(how), again)
                if yes || (how == Leave::Plainly && again == Some(Action::Quit)) =>
            {
                self.leave = Some(how);
            }
            (Question::Run, again) if yes || again == Some(Action::Run) => self.session.run(),
            (Question::Leave(_) | Question::Run, _) => {}
        }
    }

    /// Help scrolls, or closes.
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
            self.session.thaw();
        } else {
            panel.back(&mut self.session);
        }
    }

    /// Narrows down what the panel with the keys shows; what is under its cursor by now is looked
    /// at.
    pub(super) fn filter(&mut self, filter: Filter) {
        let panel = &mut self.panels[self.active];
        panel.list_mut().filter = filter;
        panel.clamp(&self.session);
        panel.look(&mut self.session);
    }
}
