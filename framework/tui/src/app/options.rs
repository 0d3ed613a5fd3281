//! The options of the dashboard in the configuration file. Each of them is checked when it is set,
//! so that an error can name its place in the file.

use super::key_map::KeyMap;
use super::tables;
use crate::panels::{self, table};

#[derive(Debug, Clone, Default)]
pub struct Options {
    pub(super) keys: KeyMap,
    /// The index of the first view.
    pub(super) view: Option<usize>,
    /// The titles of the columns of values that the table shows. If it is empty, all of them.
    pub(super) columns: Vec<String>,
    pub(super) state: Option<String>,
}

fn unknown(what: &str, name: &str, all: &[String]) -> String {
    format!("no {what} `{name}`: expected one of {}", all.join(", "))
}

impl Options {
    /// Sets the keys of actions: pairs of a name such as `help` or `table.sort`, and a key. The
    /// error has the name of an action, and the reason why it cannot have its key.
    pub fn set_keys(&mut self, keys: &[(&str, &str)]) -> Result<(), (String, String)> {
        let mut tables = tables(&panels::views());
        let failed = |name: &str, why| (name.to_owned(), why);
        for (name, key) in keys {
            self.keys.add(name, key, &tables).map_err(|why| failed(name, why))?;
        }
        tables.iter_mut().for_each(|table| self.keys.rename(table));
        match keys.iter().find_map(|(name, _)| Some((name, self.keys.conflict(name, &tables)?))) {
            Some((name, why)) => Err(failed(name, why)),
            None => Ok(()),
        }
    }

    /// Sets the first view, by the word on its tab. The error names all views.
    pub fn set_view(&mut self, name: &str) -> Result<(), String> {
        let tabs: Vec<String> =
            panels::views().iter().map(|view| view.tab.to_lowercase()).collect();
        self.view = tabs.iter().position(|tab| *tab == name.to_lowercase());
        if self.view.is_some() { Ok(()) } else { Err(unknown("view", name, &tabs)) }
    }

    /// Adds a column to the columns of values that the table shows. The error names all of them.
    pub fn add_column(&mut self, title: &str) -> Result<(), String> {
        let titles: Vec<String> = table::value_columns().map(str::to_owned).collect();
        if !titles.iter().any(|known| known == title) {
            return Err(unknown("column", title, &titles));
        }
        self.columns.push(title.to_owned());
        Ok(())
    }

    /// Sets the state of an earlier session, as [`App::state`](crate::App::state) returns it.
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
