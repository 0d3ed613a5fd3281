//! Text input: a value that a panel has requested, a filter, a command or a file name.

use super::App;
use crate::filter::Filter;
use crate::keys::{Binding, ENTER, Key, KeyRow, bind, ctrl, find, key};
use crate::panel::wrap_index;
use crate::picture::ScreenPicture;
use crate::session::RenderKind;
use crate::session::chosen::Chosen;
use crate::session::files::{OutputFile, refusal, save};
use crate::session::packed::PackedRow;
use crossterm::event::{Event, KeyCode, KeyEvent};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_runner::input::{InputError, Text};
use tui_input::backend::crossterm::to_input_request;
use tui_input::{Input, InputRequest};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Panel,
    Filter,
    Command,
    SaveAs,
    Render,
}

#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) purpose: Purpose,
    pub(crate) title: String,
    pub(crate) input: Input,
    pub(crate) error: Option<InputError>,
    /// The text that Esc restores.
    before: String,
    pub(crate) at: usize,
    /// Whether a figure or report is being written. The input stays open until this has succeeded.
    pub(crate) is_writing: bool,
    /// Whether Enter overwrites existing files, after a warning.
    overwrites: bool,
}

/// A command of the palette: a row of a key table.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// The view and the picture that have the key; `None` for every view.
    pub(crate) place: Option<(usize, usize)>,
    /// The panel or view that has the key; empty for every view.
    pub(crate) title: &'static str,
    pub(crate) row: KeyRow,
}

/// Phrases in help texts, with other words by which users search.
const SYNONYMS: [(&str, &str); 14] = [
    ("save the selection", "export write file toml csv"),
    ("as a figure", "export save plot picture svg png pdf html"),
    ("baseline", "reference relative"),
    ("zoom", "magnify"),
    ("show one view", "zoom maximise full expand split"),
    ("cancel", "stop abort kill"),
    ("copy", "clipboard yank"),
    ("select or deselect", "plugin pick choose"),
    ("show the log", "plugin messages warnings"),
    ("undo", "revert"),
    ("quit", "exit leave close"),
    ("freeze", "pause hold"),
    ("theme", "colour color dark light"),
    ("filter", "search find"),
];

impl Prompt {
    pub(super) fn new(purpose: Purpose, title: &str, text: &str) -> Self {
        Self {
            purpose,
            title: title.to_owned(),
            input: text.into(),
            error: None,
            before: text.to_owned(),
            at: 0,
            is_writing: false,
            overwrites: false,
        }
    }

    pub(super) fn for_file(
        purpose: Purpose,
        title: &str,
        extension: &str,
        chosen: &Chosen,
    ) -> Self {
        let name = chosen.name().replace(|c: char| !c.is_alphanumeric() && !"-_.".contains(c), "-");
        Self::new(purpose, title, &format!("{name}.{extension}"))
    }
}

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
    bind(Action::Accept, ENTER, "accept the text").hint("accept"),
    bind(Action::Cancel, &[key(KeyCode::Esc)], "discard the text").hint("cancel"),
    bind(Action::Complete, &[key(KeyCode::Tab)], "complete the word").hint("complete"),
    bind(Action::Up, &[key(KeyCode::Up)], "previous command"),
    bind(Action::Down, &[key(KeyCode::Down)], "next command"),
    bind(Action::QuitNow, &[ctrl('c')], "quit immediately"),
];

pub(super) const TITLE: &str = "While typing";

pub(super) fn rows() -> Vec<KeyRow> {
    KEYS.iter().map(Binding::row).collect()
}

impl App {
    pub(super) fn type_key(&mut self, event: &KeyEvent) {
        match find(KEYS, Key::of(event)) {
            Some(Action::Accept) => self.accept(),
            Some(Action::Cancel) => self.cancel(),
            Some(Action::Complete) => self.complete(),
            Some(Action::Up) => self.choose_command(-1),
            Some(Action::Down) => self.choose_command(1),
            Some(Action::QuitNow) => self.exit = Some(super::ExitMode::Plain),
            None => {
                let request = to_input_request(&Event::Key(*event));
                if let (Some(prompt), Some(request)) = (&mut self.prompt, request) {
                    prompt.input.handle(request);
                    self.typed();
                }
            }
        }
    }

    pub fn paste(&mut self, text: &str) {
        let Some(prompt) = &mut self.prompt else { return };
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
        (prompt.error, prompt.at, prompt.overwrites, prompt.is_writing) = (None, 0, false, false);
        match prompt.purpose {
            Purpose::Command | Purpose::SaveAs | Purpose::Render => {}
            Purpose::Filter => {
                let filter = Filter::parse(prompt.input.value());
                self.filter(filter);
            }
            Purpose::Panel => {
                let text = prompt.input.value().trim().to_owned();
                let error = self.panel().check(&text, &self.session);
                if let Some(prompt) = &mut self.prompt {
                    prompt.error = error;
                }
            }
        }
    }

    pub(super) fn cancel(&mut self) {
        // The filter has had its effect while it was typed.
        if let Some(Prompt { purpose: Purpose::Filter, before, .. }) = self.prompt.take() {
            self.filter(Filter::parse(&before));
        }
    }

    fn accept(&mut self) {
        let Some(mut prompt) = self.prompt.take_if(|prompt| !prompt.is_writing) else { return };
        let text = prompt.input.value().trim().to_owned();
        prompt.error = match prompt.purpose {
            Purpose::Panel => self.accept_in_panel(&text).err(),
            Purpose::Filter => None,
            Purpose::Command => match self.commands(&text).get(prompt.at) {
                Some(command) => {
                    self.perform(command);
                    None
                }
                None => Some(Text::flag("command", &text).error("no matching command".to_owned())),
            },
            // The first Enter warns, and the second overwrites existing files.
            purpose @ (Purpose::SaveAs | Purpose::Render) => {
                let written = self.output_files(purpose, Path::new(&text)).and_then(|files| {
                    let out = self.session.runs.out.as_deref();
                    if let Some(why) = refusal(&files, prompt.overwrites, out) {
                        prompt.overwrites = true;
                        return Err(why);
                    }
                    if purpose == Purpose::SaveAs {
                        return self.save(&files, &text);
                    }
                    files.into_iter().for_each(|file| self.session.write(file));
                    prompt.is_writing = true;
                    Ok(())
                });
                written.err().map(|why| Text::flag("file", &text).error(why))
            }
        };
        if prompt.error.is_some() || prompt.is_writing {
            self.prompt = Some(prompt);
        }
    }

    /// Closes the input of a figure or report that has been written, or shows the error in it.
    pub(super) fn end_writing(&mut self, written: Result<(), String>) {
        let Some(mut prompt) = self.prompt.take_if(|prompt| prompt.is_writing) else { return };
        if let Err(why) = written {
            prompt.is_writing = false;
            prompt.error = Some(Text::flag("file", prompt.input.value()).error(why));
            self.prompt = Some(prompt);
        }
    }

    /// Returns the files that Enter writes.
    pub(crate) fn output_files(
        &self,
        purpose: Purpose,
        name: &Path,
    ) -> Result<Vec<OutputFile>, String> {
        let session = &self.session;
        if purpose == Purpose::SaveAs {
            return Ok(vec![session.experiment_file(name), session.rows_file(name)]);
        }
        let all = session.queue.records();
        // A figure has the rows of the groups on the screen that pass the filter.
        let (figure, filter) = (self.panel().figure(session), &self.panel().list().filter);
        let passes = |row: &Arc<PackedRow>| {
            filter.text().is_empty()
                || session.compared.line_of(&row.key).is_some_and(|line| {
                    let line = &session.compared.lines[line];
                    session.passes(filter, &line.stats.algorithm, "")
                })
        };
        let is_shown = |row: &Arc<PackedRow>| {
            let group = session.compared.group_of(&row.key.setting);
            figure.as_ref().is_none_or(|(_, groups)| {
                group.is_some_and(|group| groups.contains(&group)) && passes(row)
            })
        };
        let ending = name.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_report = ending == "html";
        if all.is_empty() && (is_report || figure.is_some()) {
            return Err("there are no rows to draw yet".to_owned());
        }
        let rows: Vec<Arc<PackedRow>> =
            all.into_iter().filter(|row| is_report || is_shown(row)).collect();
        if rows.is_empty() && !is_report && figure.is_some() {
            return Err("no row passes the filter: / changes it".to_owned());
        }
        let endings =
            "expected a name that ends in .html (a report), .svg, .png or .pdf (a figure)";
        let kind = match (ending, figure) {
            ("html", _) => RenderKind::Report,
            ("svg" | "png" | "pdf", Some((kind, _))) => kind,
            ("svg" | "png" | "pdf", None) => {
                let is_light = self.appearance.theme.name == "light";
                RenderKind::Screen(ScreenPicture::new(&self.screen, is_light))
            }
            _ => return Err(endings.to_owned()),
        };
        Ok(vec![session.rendered_file(name, kind, rows)])
    }

    fn accept_in_panel(&mut self, text: &str) -> Result<(), InputError> {
        let mut accepted = Ok(());
        self.with_panel(|panel, session| {
            panel.accept(text, session).unwrap_or_else(|error| {
                accepted = Err(error);
                Vec::new()
            })
        });
        accepted
    }

    fn save(&mut self, files: &[OutputFile], name: &str) -> Result<(), String> {
        let text = save(files).map_err(|error| format!("{name}: {error}"))?;
        self.session.runs.saved = true;
        self.session.chosen.set_file(PathBuf::from(name));
        self.session.runs.saved_as = Some(Path::new(name).with_extension("csv"));
        self.session.report(&text, false);
        Ok(())
    }

    pub(crate) fn commands(&self, words: &str) -> Vec<Command> {
        let filter = Filter::parse(words);
        let mut all: Vec<Command> = Vec::new();
        let mut add = |place, title: &'static str, rows: Vec<KeyRow>| {
            let table = if title.is_empty() { super::ANYWHERE_TITLE } else { title };
            let rows = self.keys.table(table, rows).rows;
            all.extend(rows.into_iter().map(|row| Command { place, title, row }));
        };
        for (at, view) in self.views.iter().enumerate() {
            add(Some((at, view.picture())), view.tab, view.rows());
            for (number, panel) in view.panels().iter().enumerate() {
                add(Some((at, view.picture_with(number))), panel.title(), panel.table());
            }
        }
        add(None, "", super::anywhere(&self.views));
        all.retain(|command| {
            let text = format!("{} {}", command.title, command.row.help);
            let synonyms = SYNONYMS.iter().filter(|(word, _)| text.contains(word));
            let synonyms: Vec<&str> = synonyms.map(|(_, synonyms)| *synonyms).collect();
            filter.passes(&format!("{text} {}", synonyms.join(" ")))
        });
        let panel = self.panel().title();
        all.sort_by_key(|command| command.title != panel);
        all
    }

    fn choose_command(&mut self, by: isize) {
        let Some(Prompt { purpose: Purpose::Command, input, at, .. }) = &self.prompt else {
            return;
        };
        let at = wrap_index(*at, by, self.commands(input.value()).len());
        if let Some(prompt) = &mut self.prompt {
            prompt.at = at;
        }
    }

    pub(crate) fn completions(&self) -> Vec<String> {
        match &self.prompt {
            Some(Prompt { purpose: Purpose::Panel, input, .. }) => {
                self.panel().completions(input.value(), &self.session)
            }
            _ => Vec::new(),
        }
    }

    fn complete(&mut self) {
        let found = self.completions();
        let Some(first) = found.first() else { return };
        // Insert the longest common prefix or, if it is typed already, the first suggestion.
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
