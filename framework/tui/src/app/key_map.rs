//! Keys that the user has changed in the configuration file.

use crate::keys::{Key, KeyTable};

/// The keys of actions that differ from the default. A place is the title of a key table, in lower
/// case, or `anywhere`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyMap(Vec<Change>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    place: String,
    action: String,
    /// The keys of the action by default.
    before: Vec<Key>,
    key: Key,
}

impl KeyMap {
    /// Adds a change, such as `sort` or `table.sort`. The error says which action or key is unknown.
    pub(crate) fn add(&mut self, name: &str, key: &str, tables: &[KeyTable]) -> Result<(), String> {
        let (place, action) = name.split_once('.').unwrap_or(("anywhere", name));
        let new = Key::parse(key)
            .ok_or_else(|| format!("`{key}` is no key: expected a name as in the help (?)"))?;
        let table =
            tables.iter().find(|table| table.title.to_lowercase() == place).ok_or_else(|| {
                let all: Vec<String> = tables.iter().map(|t| t.title.to_lowercase()).collect();
                format!("`{place}` is no list of keys: expected one of {}", all.join(", "))
            })?;
        let row = table.rows.iter().find(|row| row.name == action).ok_or_else(|| {
            let all: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
            format!("`{action}` is no action of {place}: expected one of {}", all.join(", "))
        })?;
        let (place, action) = (place.to_owned(), action.to_owned());
        self.0.push(Change { place, action, before: row.keys.clone(), key: new });
        Ok(())
    }

    /// Replaces the keys in a key table by those of the user.
    pub(crate) fn rename(&self, table: &mut KeyTable) {
        let place = table.title.to_lowercase();
        for change in self.0.iter().filter(|change| change.place == place) {
            for row in table.rows.iter_mut().filter(|row| row.name == change.action) {
                row.keys = vec![change.key];
                if let Some((keys, ..)) = &mut row.hint {
                    *keys = change.key.name();
                }
            }
        }
    }

    /// Translates a key that the user has pressed to the default key of its action. Returns `None`
    /// if the key is the default key of an action that has another key now. `places` are the key
    /// tables that apply.
    pub(crate) fn translate(&self, key: Key, places: &[String]) -> Option<Key> {
        let applies = |change: &&Change| places.contains(&change.place);
        let mut changes = self.0.iter().filter(applies);
        if let Some(change) = changes.find(|change| change.key == key) {
            return change.before.first().copied();
        }
        let is_moved = self.0.iter().filter(applies).any(|change| change.before.contains(&key));
        (!is_moved).then_some(key)
    }
}
