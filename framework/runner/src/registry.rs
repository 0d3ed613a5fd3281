//! Finds plugin files and the algorithms that they offer.

use crate::describe::PluginReader;
use crate::plugin::file::KnownDigest;
use crate::plugin::{Algorithm, Plugin, PluginError, linked};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_core::spec::near_matches;

/// Prefix of bundled plugin files. Other libraries in the program's directory are ignored.
const BUNDLED_PREFIX: &str = "libswapmeet_plugin_";
/// The environment variable with plugin directories, which are separated as in `PATH`.
pub const PATH_VARIABLE: &str = "SWAPMEET_PLUGIN_PATH";

const SKIPPED: &str = "skipped ";

/// Names that users of MPI libraries know, each with this project's name of the algorithm.
pub const OTHER_NAMES: &[(&str, &str)] = &[("cyclic", "gen")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A path given by the option `--plugin-dir`.
    Named,
    Variable,
    UserData,
    /// A directory that belongs to the program, such as the directory of its executable.
    Program,
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

#[derive(Debug, Default)]
pub struct Registry {
    plugins: Vec<Plugin>,
    origins: Vec<Origin>,
    /// For each algorithm name, the algorithms with this name in the order of the search, and
    /// whether their plugin is bundled.
    algorithms: BTreeMap<String, Vec<(Arc<Algorithm>, bool)>>,
    places: HashSet<PathBuf>,
    names: SharedNames,
    log: Vec<String>,
}

/// The meaning of a name that algorithms of several plugins have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SharedNames {
    /// The name alone is an error. `PLUGIN/ALGORITHM` selects one of the algorithms.
    #[default]
    Refused,
    /// The algorithm that was found first replaces the bundled one, as requested by the user.
    ReplaceBundled,
}

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error("{path}: no such plugin file or folder")]
    Missing { path: PathBuf },
    #[error("no process could be started to read plugins: {0}")]
    Reading(std::io::Error),
    #[error("plugin folder {path}: {reason}")]
    Folder { path: PathBuf, reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAlgorithm {
    /// There is no such algorithm. `near` are similar names, and `skipped` are messages about
    /// plugin files that were skipped.
    Unknown { name: String, near: Vec<String>, skipped: Vec<String> },
    /// Several plugins have an algorithm of this name. `plugins` are their names and files.
    Shared { name: String, plugins: Vec<(String, PathBuf)> },
}

impl Registry {
    /// Searches for plugins in this order:
    /// 1. the directories and files in `named` (`--plugin-dir`);
    /// 2. the directories of [`PATH_VARIABLE`];
    /// 3. the user's data directory;
    /// 4. the program's directories;
    /// 5. the linked plugins, except those that the program's directories contain as files.
    ///
    /// If several plugins offer an algorithm of the same name, `names` determines its meaning.
    /// Returns an error if a path given by the user is wrong. Other files that are not plugins are
    /// skipped, and the log gets a line about each.
    pub fn find(
        named: &[PathBuf],
        reader: &PluginReader,
        names: SharedNames,
    ) -> Result<Self, RegistryError> {
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
        search.read_with_linked(reader, names)
    }

    /// Searches these directories and files, the program's directories, and the linked plugins.
    /// Reads plugins in this process.
    pub fn bundled(named: &[PathBuf], names: SharedNames) -> Result<Self, RegistryError> {
        let mut search = Search::default();
        search.named(named)?;
        search.read_with_linked(&PluginReader::InProcess, names)
    }

    pub fn named(named: &[PathBuf], reader: &PluginReader) -> Result<Self, RegistryError> {
        let mut search = Search::default();
        search.named(named)?;
        search.read(reader)
    }

    /// Loads plugin files into this process. A digest is computed again only if the metadata of the
    /// file has changed.
    pub(crate) fn from_files<'a>(
        files: impl Iterator<Item = (&'a Path, KnownDigest<'a>)>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for (file, known) in files {
            registry.add(Plugin::load_known(file, Some(known))?, Origin::Named);
        }
        Ok(registry)
    }

    fn add(&mut self, plugin: Plugin, origin: Origin) {
        if plugin.path.canonicalize().is_ok_and(|place| !self.places.insert(place)) {
            return;
        }
        let is_bundled = matches!(origin, Origin::Program | Origin::Linked);
        for algorithm in &plugin.algorithms {
            let same = self.algorithms.entry(algorithm.name.clone()).or_default();
            // The same build of a plugin can be in two files. The second one adds no algorithms.
            if same.iter().any(|(first, _)| first.plugin == algorithm.plugin) {
                continue;
            }
            if let Some((first, _)) = same.first() {
                self.log.push(format!(
                    "`{}` is the name of two algorithms: of plugin `{}` ({}) and of plugin `{}` ({})",
                    algorithm.name,
                    first.plugin.name,
                    first.file.display(),
                    algorithm.plugin.name,
                    algorithm.file.display(),
                ));
            }
            same.push((Arc::clone(algorithm), is_bundled));
        }
        self.plugins.push(plugin);
        self.origins.push(origin);
    }

    /// Returns the algorithm with this name. The name may have the form `PLUGIN/ALGORITHM`, or be
    /// one of [`OTHER_NAMES`].
    pub fn algorithm(&self, name: &str) -> Result<Arc<Algorithm>, NoAlgorithm> {
        let (plugin, short) =
            name.rsplit_once('/').map_or((None, name), |(plugin, short)| (Some(plugin), short));
        let other = || OTHER_NAMES.iter().find(|(other, _)| *other == short);
        let same = self.algorithms.get(short).or_else(|| self.algorithms.get(other()?.1));
        let found: Vec<_> = same
            .into_iter()
            .flatten()
            .filter(|(algorithm, _)| plugin.is_none_or(|plugin| algorithm.plugin.name == plugin))
            .collect();
        let replaces = self.names == SharedNames::ReplaceBundled
            && found.iter().filter(|(_, is_bundled)| !is_bundled).count() == 1;
        match &found[..] {
            [] => Err(NoAlgorithm::Unknown {
                name: name.to_owned(),
                near: near_matches(short, self.algorithms.keys().map(String::as_str)),
                skipped: self
                    .log
                    .iter()
                    .filter(|line| line.starts_with(SKIPPED))
                    .cloned()
                    .collect(),
            }),
            [(algorithm, _)] => Ok(Arc::clone(algorithm)),
            [(algorithm, false), ..] if replaces => Ok(Arc::clone(algorithm)),
            _ => Err(NoAlgorithm::Shared {
                name: name.to_owned(),
                plugins: found
                    .iter()
                    .map(|(a, _)| (a.plugin.name.clone(), a.file.clone()))
                    .collect(),
            }),
        }
    }

    pub fn has_build(&self, digest: &str) -> bool {
        self.algorithms.values().flatten().any(|(a, _)| a.plugin.digest == digest)
    }

    pub fn bundled_digests(&self) -> impl Iterator<Item = &str> {
        let bundled = self.algorithms.values().flatten().filter(|(_, is_bundled)| *is_bundled);
        bundled.map(|(algorithm, _)| algorithm.plugin.digest.as_str())
    }

    pub fn prefer_builds(&mut self, digests: &[String]) {
        for same in self.algorithms.values_mut() {
            let is_preferred = |a: &Algorithm| digests.contains(&a.plugin.digest);
            let preferred = same.iter().filter(|(a, _)| is_preferred(a));
            let plugins: Vec<String> = preferred.map(|(a, _)| a.plugin.name.clone()).collect();
            same.retain(|(a, _)| is_preferred(a) || !plugins.contains(&a.plugin.name));
        }
    }

    /// Returns the name that selects this algorithm. It is `PLUGIN/ALGORITHM` if several algorithms
    /// have its name.
    pub fn spec_name(&self, algorithm: &str, plugin: &str) -> String {
        match self.algorithm(algorithm) {
            Err(NoAlgorithm::Shared { .. }) => format!("{plugin}/{algorithm}"),
            _ => algorithm.to_owned(),
        }
    }

    /// Returns all algorithms that can be selected by a name, sorted by name. If several plugins
    /// share a name that is refused, all their algorithms are included.
    pub fn algorithms(&self) -> impl Iterator<Item = &Arc<Algorithm>> {
        let is_shared =
            |name: &str| matches!(self.algorithm(name), Err(NoAlgorithm::Shared { .. }));
        self.algorithms.iter().flat_map(move |(name, same)| {
            let count = if is_shared(name) { same.len() } else { 1 };
            same.iter().take(count).map(|(algorithm, _)| algorithm)
        })
    }

    pub fn plugins(&self) -> &[Plugin] {
        &self.plugins
    }

    pub fn origins(&self) -> impl Iterator<Item = (&Plugin, Origin)> {
        self.plugins.iter().zip(self.origins.iter().copied())
    }

    /// Returns messages about plugins that were skipped, that share names, or that were not found.
    pub fn log(&self) -> &[String] {
        &self.log
    }
}

#[derive(Default)]
struct Search {
    /// Each file with its origin, and whether the user named the file itself. If false, the user or
    /// the program named its directory.
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

    /// Reads the plugin files, and then those linked plugins that the program's directories do not
    /// contain as files.
    fn read_with_linked(
        self,
        reader: &PluginReader,
        names: SharedNames,
    ) -> Result<Registry, RegistryError> {
        let mut registry = Registry { names, ..self.read(reader)? };
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
                Err(error) => registry.log.push(format!("{SKIPPED}{error}")),
            }
        }
        Ok(())
    }
}

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
