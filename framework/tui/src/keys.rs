//! Keys and key tables.
//!
//! A key table binds keys to actions. There is one general table, and one table for each panel. Key
//! handling, the help overlay, the bottom line and the search for keys all use these tables.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt::Debug;

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

    /// Parses the name of a key, such as `x`, `Ctrl-S`, `PgUp` or `F5`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (control, text) = text.strip_prefix("Ctrl-").map_or((false, text), |rest| (true, rest));
        let mut chars = text.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            let c = if control { c.to_ascii_lowercase() } else { c };
            return Some(Self { code: KeyCode::Char(c), control });
        }
        let function = text.strip_prefix('F').and_then(|n| n.parse().ok()).map(KeyCode::F);
        let code = match text {
            "Space" => KeyCode::Char(' '),
            "Shift-Tab" => KeyCode::BackTab,
            "PgUp" => KeyCode::PageUp,
            "PgDn" => KeyCode::PageDown,
            "Del" => KeyCode::Delete,
            _ => {
                let named = [
                    KeyCode::Up,
                    KeyCode::Down,
                    KeyCode::Left,
                    KeyCode::Right,
                    KeyCode::Home,
                    KeyCode::End,
                    KeyCode::Enter,
                    KeyCode::Tab,
                    KeyCode::Backspace,
                    KeyCode::Esc,
                ];
                named.into_iter().find(|code| format!("{code:?}") == text).or(function)?
            }
        };
        Some(Self { code, control })
    }

    pub(crate) fn of(event: &KeyEvent) -> Self {
        Self { code: event.code, control: event.modifiers.contains(KeyModifiers::CONTROL) }
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

/// Returns the digit that shows the view with this index. Overlays have no digit.
pub(crate) fn digit(view: usize) -> Option<char> {
    "12345".chars().nth(view)
}

pub(crate) fn numbered(view: usize, name: &str) -> String {
    digit(view).map_or(name.to_owned(), |digit| format!("{digit} {name}"))
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

pub(crate) const fn bind<A: Copy + Debug>(
    action: A,
    keys: &'static [Key],
    help: &'static str,
) -> Binding<A> {
    Binding { action, keys, help, hint: None }
}

impl<A: Copy + Debug> Binding<A> {
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
        let name = action_name(&format!("{:?}", self.action));
        KeyRow { name, keys: self.keys.to_vec(), help: self.help.to_owned(), hint }
    }
}

/// Returns the name of an action in the configuration file: `MuchMore` becomes `much-more`.
fn action_name(variant: &str) -> String {
    let mut name = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

pub(crate) fn find<A: Copy + Debug>(table: &[Binding<A>], event: &KeyEvent) -> Option<A> {
    table.iter().find(|binding| binding.is(event)).map(|binding| binding.action)
}

#[derive(Debug, Clone)]
pub(crate) struct KeyRow {
    /// The name of the action in the configuration file.
    pub(crate) name: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) help: String,
    /// The hint in the bottom line: its keys, a word, and its rank. Hints with a lower rank are
    /// shown first.
    pub(crate) hint: Option<(String, &'static str, u8)>,
}

impl KeyRow {
    pub(crate) fn new(name: String, key: Key, help: &str) -> Self {
        Self { name, keys: vec![key], help: help.to_owned(), hint: None }
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

impl KeyTable {
    pub(crate) fn new(title: &str, rows: Vec<KeyRow>) -> Self {
        Self { title: title.to_owned(), rows }
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
        let named = [KeyCode::F(5), KeyCode::BackTab, KeyCode::PageUp, KeyCode::Enter];
        let named = named.map(key).into_iter();
        for key in named.chain([ch('x'), ch(' '), ch('G'), ctrl('b')]) {
            assert!(key.is(&key.event()), "{}", key.name());
            assert_eq!(Key::parse(&key.name()), Some(key));
            assert_eq!(Key::of(&key.event()), key);
        }
        assert_eq!((Key::parse("Hyper-x"), Key::parse("")), (None, None));
    }
}
