//! Finds plugin files and the algorithms that they offer.

use crate::describe::PluginReader;
use crate::plugin::file::KnownDigest;
use crate::plugin::{Algorithm, Plugin, PluginError, linked};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_core::spec::near_matches;

/// Prefix of the file names of bundled plugins. In the program's directory, other libraries are
/// ignored.
const BUNDLED_PREFIX: &str = "libswapmeet_plugin_";
/// The environment variable with plugin directories, which are separated as in `PATH`.
pub const PATH_VARIABLE: &str = "SWAPMEET_PLUGIN_PATH";

/// Pairs of a name by which users of MPI libraries look for an algorithm, and the name of this
/// algorithm here. Rows contain only the second name.
pub const OTHER_NAMES: &[(&str, &str)] = &[("cyclic", "gen")];

/// The place where a plugin was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A path given by the option `--plugin-dir`.
    Named,
    /// A directory from [`PATH_VARIABLE`].
    Variable,
    /// The user's data directory.
    UserData,
    /// A directory that belongs to the program, such as the directory of its executable.
    Program,
    /// Linked into the program.
    Linked,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => "--plugin-dir",
            Self::Variable => PATH_VARIABLE,
            Self::UserData => "user's data folder",
            Self::Program => "beside the program",
            Self::Linked => "in the program",
        })
    }
}

/// All plugins that were found, and an index of their algorithms by name.
#[derive(Debug, Default)]
pub struct Registry {
    plugins: Vec<Plugin>,
    /// The origin of each entry of `plugins`.
    origins: Vec<Origin>,
    algorithms: BTreeMap<String, Arc<Algorithm>>,
    log: Vec<String>,
}

/// The reason why plugins could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// A file given by the user is not a plugin.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// A path given by the user does not exist.
    #[error("{path}: no such plugin file or folder")]
    Missing { path: PathBuf },
    /// The process that reads plugins could not be started.
    #[error("no process could be started to read plugins: {0}")]
    Reading(std::io::Error),
    /// A directory given by the user cannot be read.
    #[error("plugin folder {path}: {reason}")]
    Folder {
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
}

/// The error for an unknown algorithm name, with similar names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAlgorithm {
    pub name: String,
    pub near: Vec<String>,
}

impl Registry {
    /// Searches for plugins in this order:
    ///
    /// 1. the directories and files in `named` (`--plugin-dir`);
    /// 2. the directories of [`PATH_VARIABLE`];
    /// 3. the user's data directory;
    /// 4. the program's directories;
    /// 5. the plugins that are linked into the program, except those that the program's directories
    ///    contain as files.
    ///
    /// If two plugins offer the same algorithm, the one that was found first is used.
    ///
    /// Errors in paths given by the user are returned. Other files that are not plugins are skipped
    /// with a line in the log.
    pub fn find(named: &[PathBuf], reader: &PluginReader) -> Result<Self, RegistryError> {
        let mut search = Search::default();
        search.named(named)?;
        for folder in std::env::var_os(PATH_VARIABLE).iter().flat_map(std::env::split_paths) {
            if folder.is_dir() {
                search.scan(&folder, Origin::Variable, |_| true)?;
            } else if !folder.as_os_str().is_empty() {
                search.log.push(format!(
                    "warning: {PATH_VARIABLE} names {}, which is not a folder",
                    folder.display()
                ));
            }
        }
        for (folder, origin) in [
            (data_folder(), Origin::UserData),
            (program_folder("plugins"), Origin::Program),
            (program_folder("../lib/swapmeet/plugins"), Origin::Program),
        ] {
            if let Some(folder) = folder.filter(|f| f.is_dir()) {
                search.scan(&folder, origin, |_| true)?;
            }
        }
        if let Some(folder) = program_folder("") {
            search.scan(&folder, Origin::Program, |name| name.starts_with(BUNDLED_PREFIX))?;
        }
        search.read_with_linked(reader)
    }

    /// Searches for plugins in these directories and files, and in the program itself. Reads the
    /// plugins in this process.
    pub fn bundled(named: &[PathBuf]) -> Result<Self, RegistryError> {
        let mut search = Search::default();
        search.named(named)?;
        search.read_with_linked(&PluginReader::InProcess)
    }

    /// Searches for plugins only in these directories and files.
    pub fn named(named: &[PathBuf], reader: &PluginReader) -> Result<Self, RegistryError> {
        let mut search = Search::default();
        search.named(named)?;
        search.read(reader)
    }

    /// Loads one plugin file into this process. If the file has the metadata of `known`, its digest
    /// is not computed again.
    pub(crate) fn of(file: &Path, known: KnownDigest<'_>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        registry.add(Plugin::load_known(file, Some(known))?, Origin::Named);
        Ok(registry)
    }

    fn add(&mut self, plugin: Plugin, origin: Origin) {
        let place = plugin.path.canonicalize().ok();
        let same = |p: &Plugin| place.is_some() && p.path.canonicalize().ok() == place;
        if self.plugins.iter().any(same) {
            return;
        }
        for algorithm in &plugin.algorithms {
            if let Some(first) = self.algorithms.get(&algorithm.name) {
                if first.plugin != algorithm.plugin {
                    self.log.push(format!(
                        "`{}` of {} is hidden by that of plugin `{}`, which was found first",
                        algorithm.name,
                        plugin.path.display(),
                        first.plugin.name
                    ));
                }
                continue;
            }
            self.algorithms.insert(algorithm.name.clone(), Arc::clone(algorithm));
        }
        self.plugins.push(plugin);
        self.origins.push(origin);
    }

    /// Returns the algorithm with this name. If no algorithm has this name, searches
    /// [`OTHER_NAMES`].
    pub fn algorithm(&self, name: &str) -> Result<Arc<Algorithm>, UnknownAlgorithm> {
        let other = || OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let found = self.algorithms.get(name).or_else(|| self.algorithms.get(other()?.1));
        found.cloned().ok_or_else(|| UnknownAlgorithm {
            name: name.to_owned(),
            near: near_matches(name, self.algorithms.keys().map(String::as_str)),
        })
    }

    /// Returns all algorithms, sorted by name.
    pub fn algorithms(&self) -> impl Iterator<Item = &Arc<Algorithm>> {
        self.algorithms.values()
    }

    /// Returns all plugins in the order in which they were found.
    pub fn plugins(&self) -> &[Plugin] {
        &self.plugins
    }

    /// Returns all plugins with their origins.
    pub fn origins(&self) -> impl Iterator<Item = (&Plugin, Origin)> {
        self.plugins.iter().zip(self.origins.iter().copied())
    }

    /// Returns messages about plugins that were skipped, are hidden by other plugins, or were not
    /// found.
    pub fn log(&self) -> &[String] {
        &self.log
    }
}

/// The plugin files to load, in order of precedence.
#[derive(Default)]
struct Search {
    /// For each file its path, its origin, and whether the user named the file itself and not only
    /// its directory.
    files: Vec<(PathBuf, Origin, bool)>,
    log: Vec<String>,
}

impl Search {
    fn named(&mut self, named: &[PathBuf]) -> Result<(), RegistryError> {
        for path in named {
            if path.is_dir() {
                self.scan(path, Origin::Named, |_| true)?;
            } else if path.exists() {
                self.files.push((path.clone(), Origin::Named, true));
            } else {
                return Err(RegistryError::Missing { path: path.clone() });
            }
        }
        Ok(())
    }

    fn scan(
        &mut self,
        folder: &Path,
        origin: Origin,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(), RegistryError> {
        let refused = |e: std::io::Error| RegistryError::Folder {
            path: folder.to_owned(),
            reason: e.to_string(),
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(refused)? {
            files.push(entry.map_err(refused)?.path());
        }
        // The system returns the entries of a directory in arbitrary order.
        files.sort();
        for path in files {
            let library = path.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION);
            let name =
                path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            if !library || !wanted(&name) {
                continue;
            }
            self.files.push((path, origin, false));
        }
        Ok(())
    }

    /// Reads the plugin files, and then the plugins that are linked into the program, except those
    /// that the program's directories contain as files.
    fn read_with_linked(self, reader: &PluginReader) -> Result<Registry, RegistryError> {
        let mut registry = self.read(reader)?;
        let is_beside = |(plugin, origin): (&Plugin, Origin), name: &str| {
            origin == Origin::Program && plugin.name == name
        };
        let missing = linked::all()
            .into_iter()
            .filter(|(plugin, _)| !registry.origins().any(|beside| is_beside(beside, plugin.name)));
        let linked = Search {
            files: missing.map(|(_, path)| (path, Origin::Linked, true)).collect(),
            log: Vec::new(),
        };
        linked.read_into(&mut registry, reader)?;
        Ok(registry)
    }

    fn read(mut self, reader: &PluginReader) -> Result<Registry, RegistryError> {
        let mut registry = Registry { log: std::mem::take(&mut self.log), ..Registry::default() };
        self.read_into(&mut registry, reader)?;
        Ok(registry)
    }

    fn read_into(
        self,
        registry: &mut Registry,
        reader: &PluginReader,
    ) -> Result<(), RegistryError> {
        let files: Vec<PathBuf> = self.files.iter().map(|(path, ..)| path.clone()).collect();
        for ((_, origin, named), plugin) in
            self.files.into_iter().zip(reader.read(&files).map_err(RegistryError::Reading)?)
        {
            match plugin {
                Ok(plugin) => registry.add(plugin, origin),
                Err(error) if named => return Err(error.into()),
                Err(error) => registry.log.push(format!("skipped {error}")),
            }
        }
        Ok(())
    }
}

/// Returns the user's plugin directory: `$XDG_DATA_HOME/swapmeet/plugins`, by default
/// `~/.local/share/swapmeet/plugins`.
fn data_folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local/share"));
    let base = absolute("XDG_DATA_HOME").or_else(home)?;
    Some(base.join("swapmeet/plugins"))
}

fn program_folder(relative: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    Some(program.parent()?.join(relative))
}
