//! The options in the configuration file. They are checked when they are set, so that an error can
//! name its place in the file.

use super::tables;
use crate::keys::{KeyMap, conflict};
use crate::panels::{self, table};

#[derive(Debug, Clone, Default)]
pub struct Options {
    pub(super) keys: KeyMap,
    pub(super) view: Option<usize>,
    pub(super) columns: Vec<String>,
    pub(super) state: Option<String>,
}

fn unknown(what: &str, name: &str, all: &[String]) -> String {
    format!("no {what} `{name}`: expected one of {}", all.join(", "))
}

impl Options {
    /// Sets the keys of actions such as `help` or `table.sort`. The error has the name of an
    /// action, and the reason why it cannot have its key.
    pub fn set_keys(&mut self, keys: &[(&str, &str)]) -> Result<(), (String, String)> {
        let views = panels::views();
        let defaults = tables(&views, &KeyMap::default());
        for (name, key) in keys {
            self.keys.add(name, key, &defaults).map_err(|why| ((*name).to_owned(), why))?;
        }
        let tables = tables(&views, &self.keys);
        let failed =
            |(name, _): &(&str, &str)| Some(((*name).to_owned(), conflict(name, &tables)?));
        keys.iter().find_map(failed).map_or(Ok(()), Err)
    }

    /// Sets the first view, by the word on its tab.
    pub fn set_view(&mut self, name: &str) -> Result<(), String> {
        let tabs: Vec<String> =
            panels::views().iter().map(|view| view.tab.to_lowercase()).collect();
        self.view = tabs.iter().position(|tab| *tab == name.to_lowercase());
        if self.view.is_some() { Ok(()) } else { Err(unknown("view", name, &tabs)) }
    }

    /// Adds a column of values to those that the table shows.
    pub fn add_column(&mut self, title: &str) -> Result<(), String> {
        let titles: Vec<String> = table::value_columns().map(str::to_owned).collect();
        if !titles.iter().any(|known| known == title) {
            return Err(unknown("column", title, &titles));
        }
        self.columns.push(title.to_owned());
        Ok(())
    }

    pub fn set_state(&mut self, state: String) {
        self.state = Some(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_errors_that_list_the_known_ones() {
        let mut options = Options::default();
        assert_eq!((options.set_view("Table"), options.view), (Ok(()), Some(1)));
        let why = options.set_view("tabel").unwrap_err();
        assert_eq!(why, "no view `tabel`: expected one of choose, table, winners, why, what if");
        assert_eq!(options.add_column("steps"), Ok(()));
        let why = options.add_column("stpes").unwrap_err();
        assert!(why.starts_with("no column `stpes`: expected one of time, ratio, "), "{why}");
    }

    #[test]
    fn two_actions_of_a_list_cannot_have_the_same_key() {
        let set = |keys: &[(&str, &str)]| Options::default().set_keys(keys);
        let (name, why) = set(&[("theme", "T"), ("help", "q")]).unwrap_err();
        assert_eq!((&*name, &*why), ("help", "`q` is also the key of `quit`"));
        assert_eq!(set(&[("help", "q"), ("quit", "?")]), Ok(()));
        // A key of a panel has precedence over the same key of all views.
        assert_eq!(set(&[("table.sort", "q")]), Ok(()));
    }
}
