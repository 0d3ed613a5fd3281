//! Keys and key tables, which bind keys to actions. Key handling, the help, the hints in the bottom
//! line and the command palette all use them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::BTreeMap;
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

/// The names of keys that are neither characters nor function keys.
const NAMES: [(KeyCode, &str); 15] = [
    (KeyCode::Char(' '), "Space"),
    (KeyCode::BackTab, "Shift-Tab"),
    (KeyCode::PageUp, "PgUp"),
    (KeyCode::PageDown, "PgDn"),
    (KeyCode::Delete, "Del"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
    (KeyCode::Enter, "Enter"),
    (KeyCode::Tab, "Tab"),
    (KeyCode::Backspace, "Backspace"),
    (KeyCode::Esc, "Esc"),
];

impl Key {
    pub(crate) fn event(self) -> KeyEvent {
        let control = if self.control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        KeyEvent::new(self.code, control)
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
        let named = NAMES.iter().find(|(_, name)| *name == text).map(|(code, _)| *code);
        let code = named.or(function)?;
        Some(Self { code, control })
    }

    pub(crate) fn of(event: &KeyEvent) -> Self {
        Self { code: event.code, control: event.modifiers.contains(KeyModifiers::CONTROL) }
    }

    pub(crate) fn name(self) -> String {
        let named = NAMES.iter().find(|(code, _)| *code == self.code);
        let name = match (named, self.code) {
            (Some((_, name)), _) => (*name).to_owned(),
            (None, KeyCode::Char(c)) if self.control => c.to_ascii_uppercase().to_string(),
            (None, KeyCode::Char(c)) => c.to_string(),
            (None, KeyCode::F(n)) => format!("F{n}"),
            (None, other) => format!("{other:?}"),
        };
        if self.control { format!("Ctrl-{name}") } else { name }
    }
}

pub(crate) fn digit(view: usize) -> Option<char> {
    "12345".chars().nth(view)
}

pub(crate) fn numbered(view: usize, name: &str) -> String {
    digit(view).map_or(name.to_owned(), |digit| format!("{digit} {name}"))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding<A: 'static> {
    pub(crate) action: A,
    keys: &'static [Key],
    help: &'static str,
    hint: Option<Hint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hint {
    /// The text for the keys, if the hint covers two opposite actions.
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

    pub(crate) fn row(&self) -> KeyRow {
        let first = || self.keys.first().map(|key| key.name()).unwrap_or_default();
        let hint = self
            .hint
            .map(|hint| (hint.keys.map_or_else(first, str::to_owned), hint.word, hint.rank));
        let name = action_name(&format!("{:?}", self.action));
        KeyRow { name, keys: self.keys.to_vec(), own: None, help: self.help, hint }
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

pub(crate) fn find<A: Copy + Debug>(table: &[Binding<A>], key: Key) -> Option<A> {
    table.iter().find(|binding| binding.keys.contains(&key)).map(|binding| binding.action)
}

#[derive(Debug, Clone)]
pub(crate) struct KeyRow {
    /// The name in the configuration file.
    pub(crate) name: String,
    keys: Vec<Key>,
    /// The key that replaces the default keys in the configuration file.
    own: Option<Key>,
    pub(crate) help: &'static str,
    /// The keys, the word and the rank of the hint. Hints with a low rank come first.
    pub(crate) hint: Option<(String, &'static str, u8)>,
}

impl KeyRow {
    pub(crate) fn new(name: String, key: Key, help: &'static str) -> Self {
        Self { name, keys: vec![key], own: None, help, hint: None }
    }

    pub(crate) fn default_key(&self) -> Key {
        self.keys[0]
    }

    pub(crate) fn keys(&self) -> &[Key] {
        self.own.as_ref().map_or(&self.keys, std::slice::from_ref)
    }

    /// Adds a hint, which also covers the rows that follow.
    #[must_use]
    pub(crate) fn hinted(mut self, keys: String, word: &'static str, rank: u8) -> Self {
        self.hint = Some((keys, word, rank));
        self
    }
}

#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<KeyRow>,
}

/// The keys of the configuration file. An action is identified by the title of its key table, in
/// lower case, and by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyMap(BTreeMap<(String, String), Key>);

/// Returns the title of the key table and the name of an action such as `sort` or `table.sort`.
fn parts(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("anywhere", name))
}

impl KeyMap {
    /// Adds a key of an action such as `sort` or `table.sort`. The error says which action or key is
    /// unknown.
    pub(crate) fn add(&mut self, name: &str, key: &str, tables: &[KeyTable]) -> Result<(), String> {
        let (place, action) = parts(name);
        let key = Key::parse(key)
            .ok_or_else(|| format!("`{key}` is no key: expected a name as in the help (?)"))?;
        let mut titled = tables.iter().filter(|table| table.title.to_lowercase() == place);
        let table = titled.next().ok_or_else(|| {
            let all: Vec<String> = tables.iter().map(|t| t.title.to_lowercase()).collect();
            format!("`{place}` is no list of keys: expected one of {}", all.join(", "))
        })?;
        if !table.rows.iter().any(|row| row.name == action) {
            let all: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
            let all = all.join(", ");
            return Err(format!("`{action}` is no action of {place}: expected one of {all}"));
        }
        self.0.insert((place.to_owned(), action.to_owned()), key);
        Ok(())
    }

    pub(crate) fn table(&self, title: &'static str, mut rows: Vec<KeyRow>) -> KeyTable {
        for row in &mut rows {
            let Some(key) = self.0.get(&(title.to_lowercase(), row.name.clone())) else { continue };
            row.own = Some(*key);
            if let Some((keys, ..)) = &mut row.hint {
                *keys = key.name();
            }
        }
        KeyTable { title, rows }
    }
}

/// If another action of the same table has the key that the configuration file gives to an action,
/// returns an error message.
pub(crate) fn conflict(name: &str, tables: &[KeyTable]) -> Option<String> {
    let (place, action) = parts(name);
    let rows = &tables.iter().find(|table| table.title.to_lowercase() == place)?.rows;
    let key = rows.iter().find(|row| row.name == action)?.own?;
    let other = rows.iter().find(|row| row.name != action && row.keys().contains(&key))?;
    Some(format!("`{}` is also the key of `{}`", key.name(), other.name))
}

/// Translates a key that the user has pressed to the default key of its action. Also returns the
/// index of the table that has the action, if one has. The first table has precedence. Returns
/// `None` if the key is only the default key of an action that has another key now.
pub(crate) fn translate(key: Key, tables: &[KeyTable]) -> Option<(Key, Option<usize>)> {
    for (number, table) in tables.iter().enumerate() {
        if let Some(row) = table.rows.iter().find(|row| row.keys().contains(&key)) {
            return Some((row.default_key(), Some(number)));
        }
    }
    let mut rows = tables.iter().flat_map(|table| &table.rows);
    (!rows.any(|row| row.keys.contains(&key))).then_some((key, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_changes_the_meaning_of_a_letter() {
        let event = |modifiers| KeyEvent::new(KeyCode::Char('c'), modifiers);
        const TABLE: &[Binding<()>] = &[bind((), &[ctrl('c')], "")];
        assert_eq!(find(TABLE, Key::of(&event(KeyModifiers::CONTROL))), Some(()));
        assert_eq!(find(TABLE, Key::of(&event(KeyModifiers::NONE))), None);
    }

    #[test]
    fn a_key_is_the_event_it_stands_for() {
        let named = [KeyCode::F(5), KeyCode::BackTab, KeyCode::PageUp, KeyCode::Enter];
        let named = named.map(key).into_iter();
        for key in named.chain([ch('x'), ch(' '), ch('G'), ctrl('b')]) {
            assert_eq!(Key::parse(&key.name()), Some(key));
            assert_eq!(Key::of(&key.event()), key);
        }
        assert_eq!((Key::parse("Hyper-x"), Key::parse("")), (None, None));
    }
}
