//! Keys that the user has changed in the configuration file.

use crate::keys::{Key, KeyTable};
use std::collections::BTreeMap;

/// The keys of actions that differ from the default. An action is identified by the title of its key
/// table, in lower case, and by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyMap(BTreeMap<(String, String), Key>);

/// Returns the title of the key table and the name of an action such as `sort` or `table.sort`.
fn parts(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("anywhere", name))
}

fn is_titled(table: &KeyTable, place: &str) -> bool {
    table.title.to_lowercase() == place
}

impl KeyMap {
    /// Adds a change, such as `sort` or `table.sort`. The error says which action or key is unknown.
    pub(crate) fn add(&mut self, name: &str, key: &str, tables: &[KeyTable]) -> Result<(), String> {
        let (place, action) = parts(name);
        let key = Key::parse(key)
            .ok_or_else(|| format!("`{key}` is no key: expected a name as in the help (?)"))?;
        let table = tables.iter().find(|table| is_titled(table, place)).ok_or_else(|| {
            let all: Vec<String> = tables.iter().map(|t| t.title.to_lowercase()).collect();
            format!("`{place}` is no list of keys: expected one of {}", all.join(", "))
        })?;
        if !table.rows.iter().any(|row| row.name == action) {
            let all: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
            return Err(format!(
                "`{action}` is no action of {place}: expected one of {}",
                all.join(", ")
            ));
        }
        self.0.insert((place.to_owned(), action.to_owned()), key);
        Ok(())
    }

    /// If another action of the same key table has the key of an action, returns an error message.
    /// The tables have the keys of the user.
    pub(crate) fn conflict(&self, name: &str, tables: &[KeyTable]) -> Option<String> {
        let (place, action) = parts(name);
        let key = self.0.get(&(place.to_owned(), action.to_owned()))?;
        let rows = tables.iter().filter(|table| is_titled(table, place)).flat_map(|t| &t.rows);
        let other = rows.filter(|row| row.name != action).find(|row| row.keys.contains(key))?;
        Some(format!("`{}` is also the key of `{}`", key.name(), other.name))
    }

    fn key_of(&self, table: &KeyTable, action: &str) -> Option<Key> {
        self.0.get(&(table.title.to_lowercase(), action.to_owned())).copied()
    }

    /// Replaces the keys in a key table by those of the user.
    pub(crate) fn rename(&self, table: &mut KeyTable) {
        let own: Vec<_> = table.rows.iter().map(|row| self.key_of(table, &row.name)).collect();
        for (row, key) in table.rows.iter_mut().zip(own) {
            let Some(key) = key else { continue };
            row.keys = vec![key];
            if let Some((keys, ..)) = &mut row.hint {
                *keys = key.name();
            }
        }
    }

    /// Translates a key that the user has pressed to the default key of its action. Also returns the
    /// index of the key table that has the action, if one has. `tables` are those that apply, with
    /// their default keys, and the first of them has precedence. Returns `None` if the key is only
    /// the default key of an action that has another key now.
    pub(crate) fn translate(&self, key: Key, tables: &[KeyTable]) -> Option<(Key, Option<usize>)> {
        for (number, table) in tables.iter().enumerate() {
            let row = table.rows.iter().find(|row| match self.key_of(table, &row.name) {
                Some(own) => own == key,
                None => row.keys.contains(&key),
            });
            if let Some(row) = row {
                return Some((*row.keys.first()?, Some(number)));
            }
        }
        let is_moved = tables.iter().flat_map(|table| &table.rows).any(|r| r.keys.contains(&key));
        (!is_moved).then_some((key, None))
    }
}
