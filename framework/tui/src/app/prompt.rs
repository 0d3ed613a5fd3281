//! A line being typed: what a panel asked for, a filter, a file's name. What is wrong with it is
//! known while it is typed.

use super::App;
use crate::filter::Filter;
use crate::keys::{Binding, ENTER, Row, bind, ctrl, find, key};
use crate::panel::around;
use crate::session::files::{Saved, refusal, save, sheet};
use crate::session::selection::{Selection, Setting};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::Path;
use swapmeet_runner::input::{InputError, Text};
use tui_input::{Input, InputRequest};

/// What a line is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The panel with the keys asked for it.
    Panel,
    /// What it shows is narrowed down.
    Filter,
    /// What to do, found by words.
    Command,
    /// The file to save to; whether one that is there may be written over.
    SaveAs(bool),
    /// The file that a report or figure goes to; the same.
    Draw(bool),
}

/// A line being typed.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) purpose: Purpose,
    pub(crate) title: String,
    /// The text, and the cursor in it.
    pub(crate) input: Input,
    pub(crate) error: Option<InputError>,
    /// As it was before.
    before: String,
    /// Which of the commands found.
    pub(crate) at: usize,
}

/// A row of the keys' tables, as the palette has it.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// Where it means that; anywhere if it is no panel's.
    pub(crate) panel: Option<usize>,
    /// The panel's name, or none.
    pub(crate) place: &'static str,
    pub(crate) row: Row,
}

impl Prompt {
    fn new(purpose: Purpose, title: &str, text: &str) -> Self {
        Self {
            purpose,
            title: title.to_owned(),
            input: text.into(),
            error: None,
            before: text.to_owned(),
            at: 0,
        }
    }

    pub(super) fn for_panel(title: &str, text: &str) -> Self {
        Self::new(Purpose::Panel, title, text)
    }

    pub(super) fn for_filter(text: &str) -> Self {
        Self::new(Purpose::Filter, "filter", text)
    }

    pub(super) fn for_command() -> Self {
        Self::new(Purpose::Command, "do what", "")
    }

    /// Saving begins with the experiment's name.
    pub(super) fn for_saving(selection: &Selection) -> Self {
        Self::new(
            Purpose::SaveAs(false),
            "save the experiment as",
            &format!("{}.toml", file_name(selection)),
        )
    }

    /// So does a figure.
    pub(super) fn for_drawing(selection: &Selection) -> Self {
        Self::new(
            Purpose::Draw(false),
            "write a figure or report to",
            &format!("{}.svg", file_name(selection)),
        )
    }
}

/// An experiment's name as a file's.
fn file_name(selection: &Selection) -> String {
    selection
        .setting(Setting::Name)
        .replace(|c: char| !c.is_alphanumeric() && !"-_.".contains(c), "-")
}

/// What a key can ask for while typing; every other key is text.
#[derive(Debug, Clone, Copy)]
enum Action {
    Accept,
    Cancel,
    Complete,
    Up,
    Down,
    QuitNow,
}

const KEYS: &[Binding<Action>] = &[
    bind(Action::Accept, ENTER, "take what was typed").hint("take"),
    bind(Action::Cancel, &[key(KeyCode::Esc)], "leave everything as it was").hint("cancel"),
    bind(Action::Complete, &[key(KeyCode::Tab)], "complete the word").hint("complete"),
    bind(Action::Up, &[key(KeyCode::Up)], "the command before"),
    bind(Action::Down, &[key(KeyCode::Down)], "the next command"),
    bind(Action::QuitNow, &[ctrl('c')], "leave at once"),
];

pub(super) fn rows() -> Vec<Row> {
    KEYS.iter().map(Binding::row).collect()
}

impl App {
    /// Takes a key while a line is typed.
    pub(super) fn type_key(&mut self, event: &KeyEvent) {
        match find(KEYS, event) {
            Some(Action::Accept) => self.accept(),
            Some(Action::Cancel) => self.cancel(),
            Some(Action::Complete) => self.complete(),
            Some(Action::Up) => self.choose_command(-1),
            Some(Action::Down) => self.choose_command(1),
            Some(Action::QuitNow) => self.leave = Some(super::Leave::Plainly),
            None => {
                if let (Some(prompt), Some(request)) = (&mut self.prompt, request(event)) {
                    prompt.input.handle(request);
                    self.typed();
                }
            }
        }
    }

    /// Takes text that came at once.
    pub fn paste(&mut self, text: &str) {
        let Some(prompt) = &mut self.prompt else { return };
        // Lines were apart: in a line of text, a space keeps them so.
        let text = text
            .split(|c: char| c.is_control())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        for c in text.trim().chars() {
            prompt.input.handle(InputRequest::InsertChar(c));
        }
        self.typed();
    }

    fn typed(&mut self) {
        let Some(prompt) = &mut self.prompt else { return };
        (prompt.error, prompt.at) = (None, 0);
        match prompt.purpose {
            Purpose::Command => {}
            Purpose::Filter => {
                let filter = Filter::of(prompt.input.value());
                self.filter(filter);
            }
            Purpose::SaveAs(_) => prompt.purpose = Purpose::SaveAs(false),
            Purpose::Draw(_) => prompt.purpose = Purpose::Draw(false),
            Purpose::Panel => {
                prompt.error =
                    self.panels[self.active].check(prompt.input.value().trim(), &self.session)
            }
        }
    }

    fn cancel(&mut self) {
        // A filter is in force while it is typed.
        if let Some(Prompt { purpose: Purpose::Filter, before, .. }) = self.prompt.take() {
            self.filter(Filter::of(&before));
        }
    }

    fn accept(&mut self) {
        let Some(mut prompt) = self.prompt.take() else { return };
        let text = prompt.input.value().trim().to_owned();
        prompt.error = match prompt.purpose {
            Purpose::Panel => self.panels[self.active].accept(&text, &mut self.session).err(),
            Purpose::Filter => None,
            Purpose::Command => match self.commands(&text).get(prompt.at) {
                Some(command) => {
                    self.perform(command);
                    None
                }
                None => Some(
                    Text::flag("command", &text).error("no key's help has these words".to_owned()),
                ),
            },
            Purpose::SaveAs(over) => {
                let files = self.saves(Path::new(&text));
                let refusal = refusal(&files, over, self.session.runs.out.as_deref());
                if refusal.is_none() {
                    self.save(&files, &text);
                }
                prompt.purpose = Purpose::SaveAs(true);
                refusal.map(|why| Text::flag("file", &text).error(why))
            }
            Purpose::Draw(over) => {
                let refused = match self.sheet(Path::new(&text)) {
                    Err(why) => Some(why),
                    Ok(file) => match refusal(
                        std::slice::from_ref(&file),
                        over,
                        self.session.runs.out.as_deref(),
                    ) {
                        None => {
                            self.session.write(file);
                            None
                        }
                        why => {
                            prompt.purpose = Purpose::Draw(true);
                            why
                        }
                    },
                };
                refused.map(|why| Text::flag("file", &text).error(why))
            }
        };
        if prompt.error.is_some() {
            self.prompt = Some(prompt);
        }
    }

    /// The files of the session, saved under a name.
    pub(crate) fn saves(&self, name: &Path) -> Vec<Saved> {
        self.panels.iter().filter_map(|panel| panel.saves(&self.session, name)).collect()
    }

    /// The report or figure that goes to a file of this name.
    pub(crate) fn sheet(&self, name: &Path) -> Result<Saved, String> {
        let (session, figure) = (&self.session, self.panels[self.active].figure(&self.session));
        let rows = session.queue.records();
        if rows.is_empty() {
            return Err("there are no rows yet to draw".to_owned());
        }
        sheet(name, figure, session.baseline.as_deref(), rows, session.draw)
    }

    fn save(&mut self, files: &[Saved], name: &str) {
        match save(files) {
            Ok(text) => {
                self.session.runs.saved = true;
                self.session.tell(&text, false);
                self.session.note(&text, false);
            }
            Err(error) => self.session.tell(&format!("{name}: {error}"), true),
        }
    }

    /// The rows of all tables that have some words; those of the panel with the keys first.
    pub(crate) fn commands(&self, words: &str) -> Vec<Command> {
        let filter = Filter::of(words);
        let of_panels = self.panels.iter().enumerate().flat_map(|(at, panel)| {
            panel.table().into_iter().map(move |row| Command {
                panel: Some(at),
                place: panel.tab(),
                row,
            })
        });
        let anywhere =
            self.anywhere().into_iter().map(|row| Command { panel: None, place: "", row });
        let mut all: Vec<Command> = of_panels.chain(anywhere).collect();
        all.retain(|command| filter.passes(&format!("{} {}", command.place, command.row.help)));
        all.sort_by_key(|command| command.panel != Some(self.active));
        all
    }

    fn choose_command(&mut self, by: isize) {
        let Some(Prompt { purpose: Purpose::Command, input, at, .. }) = &self.prompt else {
            return;
        };
        let at = around(*at, by, self.commands(input.value()).len());
        if let Some(prompt) = &mut self.prompt {
            prompt.at = at;
        }
    }

    /// What the panel with the keys offers for the word typed so far.
    pub(crate) fn completions(&self) -> Vec<String> {
        match &self.prompt {
            Some(Prompt { purpose: Purpose::Panel, input, .. }) => {
                self.panels[self.active].completions(input.value(), &self.session)
            }
            _ => Vec::new(),
        }
    }

    fn complete(&mut self) {
        let found = self.completions();
        let Some(first) = found.first() else { return };
        // As far as all agree; if that is no news, the first.
        let common = found.iter().fold(first.as_str(), |common, other| {
            let same = common
                .chars()
                .zip(other.chars())
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| a.len_utf8())
                .sum();
            &common[..same]
        });
        let Some(prompt) = &mut self.prompt else { return };
        let text = if common.len() > prompt.input.value().len() { common } else { first };
        prompt.input = Input::new(text.to_owned());
        self.typed();
    }
}

/// What a key does to a line of text.
fn request(event: &KeyEvent) -> Option<InputRequest> {
    use InputRequest as R;
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char('w') if control => R::DeletePrevWord,
        KeyCode::Char('u') if control => R::DeleteLine,
        KeyCode::Char('k') if control => R::DeleteTillEnd,
        KeyCode::Char('a') if control => R::GoToStart,
        KeyCode::Char('e') if control => R::GoToEnd,
        KeyCode::Char(c) if !control && !event.modifiers.contains(KeyModifiers::ALT) => {
            R::InsertChar(c)
        }
        KeyCode::Backspace => R::DeletePrevChar,
        KeyCode::Delete => R::DeleteNextChar,
        KeyCode::Left if control => R::GoToPrevWord,
        KeyCode::Right if control => R::GoToNextWord,
        KeyCode::Left => R::GoToPrevChar,
        KeyCode::Right => R::GoToNextChar,
        KeyCode::Home => R::GoToStart,
        KeyCode::End => R::GoToEnd,
        _ => return None,
    })
}
