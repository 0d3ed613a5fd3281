//! The user's default settings, which are in the file `swapmeet.toml`.

use crate::input::{InputError, Text};
use crate::toml_reader::{self, texts};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Plugin directories. They are searched after the directories that are given on the command
    /// line.
    pub plugin_dirs: Vec<PathBuf>,
    pub machine: Option<Text>,
    pub theme: Option<Text>,
    pub view: Option<Text>,
    /// The columns with values that the table of the dashboard shows. If the list is empty, it
    /// shows all.
    pub columns: Vec<Text>,
    pub keys: BTreeMap<String, Text>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Tui {
    theme: Option<Text>,
    view: Option<Text>,
    #[serde(deserialize_with = "texts")]
    columns: Vec<Text>,
    keys: BTreeMap<String, Text>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct File {
    #[serde(deserialize_with = "texts")]
    plugin_dirs: Vec<Text>,
    machine: Option<Text>,
    theme: Option<Text>,
    tui: Tui,
}

/// The owner of a configuration file. This determines whether the file may name plugin directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// The user. Relative plugin directories are resolved against this directory.
    User(&'a Path),
    /// The current directory. Its file may come from another person, so it must not name plugin
    /// directories.
    Folder,
}

impl Config {
    pub fn parse(source: &str, content: &str, owner: Owner<'_>) -> Result<Self, InputError> {
        let File { plugin_dirs, machine, theme, tui } = toml_reader::read(source, content)?;
        let Tui { theme: tui_theme, view, columns, keys } = tui;
        let plugin_dirs = match (owner, plugin_dirs.first()) {
            (Owner::User(folder), _) => {
                plugin_dirs.iter().map(|dir| folder.join(&dir.value)).collect()
            }
            (Owner::Folder, None) => Vec::new(),
            (Owner::Folder, Some(dir)) => {
                let what = "the current folder's swapmeet.toml may not name folders of plugins";
                return Err(dir.error(what).help("put it into your own, or give --plugin-dir"));
            }
        };
        Ok(Self { plugin_dirs, machine, theme: tui_theme.or(theme), view, columns, keys })
    }

    #[must_use]
    pub fn over(self, other: Self) -> Self {
        Self {
            plugin_dirs: if self.plugin_dirs.is_empty() {
                other.plugin_dirs
            } else {
                self.plugin_dirs
            },
            machine: self.machine.or(other.machine),
            theme: self.theme.or(other.theme),
            view: self.view.or(other.view),
            columns: if self.columns.is_empty() { other.columns } else { self.columns },
            keys: other.keys.into_iter().chain(self.keys).collect(),
        }
    }
}
