//! What a user sets once, in `swapmeet.toml`: a machine and a theme where none is named, and
//! folders of plugins.

use crate::input::{InputError, Text};
use crate::toml_reader::TomlReader;
use std::path::{Path, PathBuf};

/// A configuration as written: nothing in it has been looked up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Searched after those of the command line.
    pub plugin_dirs: Vec<PathBuf>,
    /// The machine where none is named.
    pub machine: Option<Text>,
    /// The dashboard's theme where none is named.
    pub theme: Option<Text>,
}

const KEYS: [&str; 3] = ["plugin_dirs", "machine", "theme"];

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// The user's, in this folder: folders of plugins are named from there.
    User(&'a Path),
    /// The current folder's, which somebody else may have made: code comes from nowhere that the
    /// user didn't name.
    Folder,
}

impl Config {
    /// Reads one from the text of a file; `source` is the file's name, for errors.
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

    /// This, and where it says nothing, `other`.
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
