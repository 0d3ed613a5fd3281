//! A line being typed: a spec, a setting, a filter, a file's name. What is wrong with it is known while it is typed.

use crate::app::App;
use crate::keys::{Action, Scope, action};
use crate::model::picks::Section;
use crate::save;
use crate::typed::{Purpose, Typing};
use crate::ui::Panel;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::Path;
use swapmeet_core::spec::Spec;
use swapmeet_results::Record;
use tui_input::{Input, InputRequest};

impl App {
    /// Takes a key while a line is typed.
    pub(crate) fn type_key(&mut self, event: &KeyEvent) {
        match action(Scope::Typing, event) {
            Some(Action::Accept) => self.accept(),
            Some(Action::Cancel) => self.cancel(),
            Some(Action::Complete) => self.complete(),
            Some(other) => self.act(other),
            None => {
                if let (Some(typing), Some(request)) = (&mut self.ui.typing, request(event)) {
                    typing.input.handle(request);
                    self.typed();
                }
            }
        }
    }

    /// Takes text that came at once.
    pub fn paste(&mut self, text: &str) {
        let Some(typing) = &mut self.ui.typing else { return };
        // Lines were apart: in a line of text, a space keeps them so.
        let text = text.split(|c: char| c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        for c in text.trim().chars() {
            typing.input.handle(InputRequest::InsertChar(c));
        }
        self.typed();
    }

    /// Looks at what was typed so far.
    fn typed(&mut self) {
        let Some(typing) = &mut self.ui.typing else { return };
        let text = typing.input.value().to_owned();
        typing.error = None;
        match typing.purpose {
            Purpose::Filter(panel) => {
                self.ui.filters[panel as usize] = text;
                self.rearranged();
            }
            Purpose::SaveAs(_) => typing.purpose = Purpose::SaveAs(false),
            // A file is read once it is named, not at every letter of its name.
            Purpose::Spec(..) if text.contains("matrix:") || text.contains("graph:") => {}
            Purpose::Spec(section, _) => typing.error = self.picks.check(section, &text, &self.registry).err(),
            Purpose::Setting(setting) => typing.error = self.picks.clone().set(setting, &text).err(),
        }
    }

    /// Begins to type, with what is wrong with the beginning already known.
    pub(crate) fn type_in(&mut self, purpose: Purpose, text: &str) {
        self.ui.typing = Some(Typing::new(purpose, text));
    }

    fn cancel(&mut self) {
        // A filter is in force while it is typed.
        if let Some(Typing { purpose: Purpose::Filter(panel), before, .. }) = self.ui.typing.take() {
            self.ui.filters[panel as usize] = before;
            self.rearranged();
        }
    }

    fn accept(&mut self) {
        let Some(mut typing) = self.ui.typing.take() else { return };
        let text = typing.input.value().trim().to_owned();
        let refused = match typing.purpose {
            Purpose::Spec(section, instead) => match self.picks.check(section, &text, &self.registry) {
                Ok(spec) => {
                    let place = self.picks.put(section, spec, instead);
                    self.ui.filters[Panel::Explore as usize].clear();
                    self.ui.items[section as usize] = place;
                    None
                }
                Err(error) => Some(error),
            },
            Purpose::Setting(setting) => self.picks.set(setting, &text).err(),
            Purpose::Filter(_) => None,
            Purpose::SaveAs(over) => {
                let path = Path::new(&text);
                let refusal = save::refusal(path, over, self.out.as_deref());
                if refusal.is_none() {
                    self.save_as(path);
                }
                typing.purpose = Purpose::SaveAs(true);
                refusal.map(|why| swapmeet_runner::input::Text::flag("file", &text).error(why))
            }
        };
        if refused.is_some() {
            typing.error = refused;
            self.ui.typing = Some(typing);
        }
    }

    fn save_as(&mut self, path: &Path) {
        let experiment = self.picks.experiment(self.baseline.as_deref());
        let rows: Vec<Record> = self.queue.records().iter().map(|r| (**r).clone()).collect();
        match save::save(path, &experiment, &rows) {
            Ok(()) => {
                self.saved = true;
                let beside = save::rows_beside(path);
                let text = format!(
                    "saved {} ({} case{}) and {} ({})",
                    path.display(),
                    self.picks.count(),
                    if self.picks.count() == 1 { "" } else { "s" },
                    beside.display(),
                    crate::app::many(rows.len(), "row")
                );
                self.tell(&text, false);
                self.tell_log(&text, false);
            }
            Err(error) => self.tell(&format!("{}: {error}", path.display()), true),
        }
    }

    /// What a list offers for the word typed so far, as whole specs.
    pub fn completions(&self) -> Vec<String> {
        let Some(Typing { purpose: Purpose::Spec(section, _), input, .. }) = &self.ui.typing else { return Vec::new() };
        let text = input.value();
        let offers = self.picks.offers(*section).iter().filter(|o| o.prefill.starts_with(text) && o.prefill != text);
        let mut found: Vec<String> = offers.map(|o| o.prefill.clone()).collect();
        // After the name: the keys that it takes.
        let keys: Vec<&str> = match section {
            Section::Machines => swapmeet_core::cost::machine::parameters().iter().map(|p| p.key).collect(),
            Section::Algorithms => {
                let name = Spec::parse("algorithm", text.split(':').next().unwrap_or("")).ok();
                let known = name.and_then(|spec| self.registry.algorithms().find(|a| a.name == spec.name()));
                known.map(|a| a.params.iter().map(|p| p.key.as_str()).collect()).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if let Some((name, rest)) = text.split_once(':') {
            let done = rest.rfind(',').map_or(0, |i| i + 1);
            let key = &rest[done..];
            let fit = keys.iter().filter(|k| k.starts_with(key) && !rest.contains(&format!("{k}=")));
            found.extend(fit.map(|k| format!("{name}:{}{k}=", &rest[..done])));
        }
        found
    }

    fn complete(&mut self) {
        let found = self.completions();
        let Some(first) = found.first() else { return };
        // As far as all agree; if that is no news, the first.
        let common = found.iter().fold(first.as_str(), |common, other| {
            let same = common.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
            &common[..same]
        });
        let Some(typing) = &mut self.ui.typing else { return };
        let text = if common.len() > typing.input.value().len() { common } else { first };
        typing.input = Input::new(text.to_owned());
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
        KeyCode::Char(c) if !control && !event.modifiers.contains(KeyModifiers::ALT) => R::InsertChar(c),
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
