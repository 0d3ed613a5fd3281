//! Keys and key tables.
//!
//! A key table binds keys to actions. There is one general table, and one table for each panel. Key
//! handling, the help overlay, the bottom line and docs/dashboard.md all use these tables.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers. There is no modifier for Shift, because Shift changes the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    code: KeyCode,
    control: bool,
}

pub(crate) const fn ch(c: char) -> Key {
    Key { code: KeyCode::Char(c), control: false }
}

pub(crate) const fn ctrl(c: char) -> Key {
    Key { code: KeyCode::Char(c), control: true }
}

pub(crate) const fn key(code: KeyCode) -> Key {
    Key { code, control: false }
}

pub(crate) const UP: &[Key] = &[key(KeyCode::Up), ch('k')];
pub(crate) const DOWN: &[Key] = &[key(KeyCode::Down), ch('j')];
pub(crate) const LEFT: &[Key] = &[key(KeyCode::Left), ch('h')];
pub(crate) const RIGHT: &[Key] = &[key(KeyCode::Right), ch('l')];
pub(crate) const FIRST: &[Key] = &[ch('g'), key(KeyCode::Home)];
pub(crate) const LAST: &[Key] = &[ch('G'), key(KeyCode::End)];
pub(crate) const PREVIOUS: &[Key] = &[ch('['), key(KeyCode::Left), ch('h')];
pub(crate) const NEXT: &[Key] = &[ch(']'), key(KeyCode::Right), ch('l')];
pub(crate) const ENTER: &[Key] = &[key(KeyCode::Enter)];

impl Key {
    pub(crate) fn is(self, event: &KeyEvent) -> bool {
        event.code == self.code && event.modifiers.contains(KeyModifiers::CONTROL) == self.control
    }

    pub(crate) fn event(self) -> KeyEvent {
        KeyEvent::new(
            self.code,
            if self.control { KeyModifiers::CONTROL } else { KeyModifiers::NONE },
        )
    }

    pub(crate) fn name(self) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) if self.control => c.to_ascii_uppercase().to_string(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Delete => "Del".to_owned(),
            KeyCode::F(n) => format!("F{n}"),
            other => format!("{other:?}"),
        };
        if self.control { format!("Ctrl-{name}") } else { name }
    }
}

/// Returns the digit that selects the panel with this index. The tenth panel has the digit 0. Later
/// panels have no digit.
pub(crate) fn digit(panel: usize) -> Option<char> {
    "1234567890".chars().nth(panel)
}

pub(crate) fn numbered(panel: usize, name: &str) -> String {
    digit(panel).map_or(name.to_owned(), |digit| format!("{digit} {name}"))
}

/// A row of a key table: an action and the keys that trigger it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding<A: 'static> {
    pub(crate) action: A,
    keys: &'static [Key],
    help: &'static str,
    hint: Option<Hint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hint {
    /// The text for the keys that the hint shows. The text is only set if the hint covers two
    /// opposite actions.
    keys: Option<&'static str>,
    word: &'static str,
    rank: u8,
}

pub(crate) const fn bind<A: Copy>(
    action: A,
    keys: &'static [Key],
    help: &'static str,
) -> Binding<A> {
    Binding { action, keys, help, hint: None }
}

impl<A: Copy> Binding<A> {
    pub(crate) const fn hint(mut self, word: &'static str) -> Self {
        self.hint = Some(Hint { keys: None, word, rank: u8::MAX });
        self
    }

    pub(crate) const fn pair(mut self, keys: &'static str, word: &'static str) -> Self {
        self.hint = Some(Hint { keys: Some(keys), word, rank: u8::MAX });
        self
    }

    pub(crate) const fn ranked(mut self, rank: u8) -> Self {
        if let Some(hint) = &mut self.hint {
            hint.rank = rank;
        }
        self
    }

    fn is(&self, event: &KeyEvent) -> bool {
        self.keys.iter().any(|key| key.is(event))
    }

    pub(crate) fn row(&self) -> KeyRow {
        let first = || self.keys.first().map(|key| key.name()).unwrap_or_default();
        let hint = self
            .hint
            .map(|hint| (hint.keys.map_or_else(first, str::to_owned), hint.word, hint.rank));
        KeyRow { keys: self.keys.to_vec(), help: self.help.to_owned(), hint }
    }
}

pub(crate) fn find<A: Copy>(table: &[Binding<A>], event: &KeyEvent) -> Option<A> {
    table.iter().find(|binding| binding.is(event)).map(|binding| binding.action)
}

#[derive(Debug, Clone)]
pub(crate) struct KeyRow {
    pub(crate) keys: Vec<Key>,
    pub(crate) help: String,
    /// The hint in the bottom line: its keys, a word, and its rank. Hints with a lower rank are
    /// shown first.
    pub(crate) hint: Option<(String, &'static str, u8)>,
}

impl KeyRow {
    pub(crate) fn new(key: Key, help: &str) -> Self {
        Self { keys: vec![key], help: help.to_owned(), hint: None }
    }

    /// Adds a hint to this row. The hint also covers the rows that follow.
    #[must_use]
    pub(crate) fn hinted(mut self, keys: String, word: &'static str, rank: u8) -> Self {
        self.hint = Some((keys, word, rank));
        self
    }
}

#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    pub(crate) title: String,
    pub(crate) rows: Vec<KeyRow>,
}

#[cfg(test)]
impl KeyTable {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("| {} | |\n| --- | --- |\n", self.title);
        for row in &self.rows {
            let keys: Vec<String> =
                row.keys.iter().map(|key| format!("`{}`", key.name())).collect();
            text += &format!("| {} | {} |\n", keys.join(" "), row.help);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_changes_the_meaning_of_a_letter() {
        let event = |modifiers| KeyEvent::new(KeyCode::Char('c'), modifiers);
        const TABLE: &[Binding<()>] = &[bind((), &[ctrl('c')], "")];
        assert_eq!(find(TABLE, &event(KeyModifiers::CONTROL)), Some(()));
        assert_eq!(find(TABLE, &event(KeyModifiers::NONE)), None);
    }

    #[test]
    fn a_key_is_the_event_it_stands_for() {
        for key in [ch('x'), ctrl('b'), key(KeyCode::F(5))] {
            assert!(key.is(&key.event()), "{}", key.name());
        }
    }
}
