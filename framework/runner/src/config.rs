//! The user's default settings in `swapmeet.toml`: machine, theme and plugin directories.

use crate::input::{InputError, Text};
use crate::toml_reader::TomlReader;
use std::path::{Path, PathBuf};

/// The settings of a configuration file. Specs in them have not been parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Plugin directories. They are searched after the directories that the command line names.
    pub plugin_dirs: Vec<PathBuf>,
    /// The machine spec that applies if the user names no machine.
    pub machine: Option<Text>,
    /// The theme of the dashboard that applies if the user names no theme.
    pub theme: Option<Text>,
}

const KEYS: [&str; 3] = ["plugin_dirs", "machine", "theme"];

/// Owner of a configuration file. The owner decides whether the file may name plugin directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// The user of the program. Relative plugin directories in the file are resolved against this
    /// directory.
    User(&'a Path),
    /// The current directory. A configuration file in it may come from another person, so it must
    /// not name plugin directories: plugins are code.
    Folder,
}

impl Config {
    /// Parses a configuration file. `source` is the file's name for error messages.
    pub fn parse(source: &str, content: &str, owner: Owner<'_>) -> Result<Self, InputError> {
        let reader = TomlReader::new(source, content);
        let tree = reader.tree()?;
        let mut config = Self::default();
        for (key, value) in tree.get_ref() {
            match key.get_ref().as_ref() {
                "machine" => config.machine = Some(reader.string(value)?),
                "theme" => config.theme = Some(reader.string(value)?),
                "plugin_dirs" => {
                    match owner {
                        Owner::User(folder) => {
                            let dirs = reader.strings(value)?;
                            config.plugin_dirs =
                                dirs.into_iter().map(|dir| folder.join(dir.value)).collect();
                        }
                        Owner::Folder => {
                            let error = reader.text("", key.span());
                            let error = error.error("the current folder's swapmeet.toml may not name folders of plugins");
                            return Err(error.help("put it into your own, or give --plugin-dir"));
                        }
                    }
                }
                _ => return Err(reader.unknown(key, "swapmeet.toml", KEYS)),
            }
        }
        Ok(config)
    }

    /// Returns this configuration, with the values of `other` for all settings that this one does
    /// not set.
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
        }
    }
}
